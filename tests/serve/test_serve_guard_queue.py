"""More requests at once than are answered at once: they wait in a queue, with a bound and a time."""

import asyncio

import pytest
from asgi import exchange

from vault_indexer.serve.http.guard import (
    MAX_LONG_LIVED,
    MAX_QUICK,
    MAX_WAITING,
    Guard,
    GuardRules,
    Message,
    Receive,
    Send,
)

MOST = 3
LONG = "/mcp"
SHORT = "/v1/search"
QUICK = "/v1/status"
PLACES = {LONG: MAX_LONG_LIVED, SHORT: MOST, QUICK: MAX_QUICK}


class Held:
    """An application that answers when the test lets it."""

    def __init__(self, most: int) -> None:
        self.begun = 0
        self.full = asyncio.Event()
        """`most` requests are under way."""
        self.free = asyncio.Event()
        self._most = most

    async def __call__(self, _scope: Message, _receive: Receive, send: Send) -> None:
        self.begun += 1
        if self.begun == self._most:
            self.full.set()
        await self.free.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def guard(app: Held, wait_s: float) -> Guard:
    rules = GuardRules(
        "secret", 80, frozenset(), MOST, 60.0, wait_s, long_lived=frozenset({LONG}), quick=frozenset({QUICK})
    )
    return Guard(app, rules)


async def ask(guarded: Guard, path: str) -> int:
    """The status of one request."""
    headers = [(b"host", b"localhost:80"), (b"authorization", b"Bearer secret")]
    return (await exchange(guarded, path, headers=headers, received=(), leaves=asyncio.Event().wait)).status


@pytest.mark.parametrize("path", PLACES)
def test_those_that_wait_are_answered_when_others_end(path: str) -> None:
    async def run() -> list[int]:
        app = Held(PLACES[path])
        guarded = guard(app, wait_s=60.0)
        asked = [asyncio.ensure_future(ask(guarded, path)) for _ in range(PLACES[path] + 8)]
        await app.full.wait()
        assert (app.begun, any(one.done() for one in asked)) == (PLACES[path], False)
        app.free.set()
        return await asyncio.gather(*asked)

    assert asyncio.run(run()) == [200] * (PLACES[path] + 8)


@pytest.mark.parametrize("path", PLACES)
def test_the_queue_has_an_end_and_a_time(path: str) -> None:
    async def run() -> None:
        app = Held(2 * PLACES[path])
        patient, hasty = guard(app, wait_s=60.0), guard(app, wait_s=0.05)
        held = [asyncio.ensure_future(ask(patient, path)) for _ in range(PLACES[path] + MAX_WAITING)]
        held += [asyncio.ensure_future(ask(hasty, path)) for _ in range(PLACES[path])]
        await app.full.wait()
        assert await ask(patient, path) == 503, "the queue is full"
        assert await ask(hasty, path) == 503, "no place was free in time"
        app.free.set()
        assert set(await asyncio.gather(*held)) == {200}
        assert [await ask(one, path) for one in (patient, hasty)] == [200, 200]

    asyncio.run(run())


def test_a_quick_answer_needs_none_of_the_places_that_are_taken() -> None:
    async def run() -> None:
        app = Held(MOST + 1)
        guarded = guard(app, wait_s=60.0)
        held = [asyncio.ensure_future(ask(guarded, SHORT)) for _ in range(MOST + 1)]
        held.append(asyncio.ensure_future(ask(guarded, QUICK)))
        await app.full.wait()
        app.free.set()
        assert set(await asyncio.gather(*held)) == {200}

    asyncio.run(run())


@pytest.mark.parametrize("path", PLACES)
def test_a_request_that_a_server_ends_with_is_told_so(path: str) -> None:
    async def run() -> int:
        app = Held(1)
        asked = asyncio.ensure_future(ask(guard(app, wait_s=60.0), path))
        await app.full.wait()
        asked.cancel()
        return await asked

    assert asyncio.run(run()) == 503
