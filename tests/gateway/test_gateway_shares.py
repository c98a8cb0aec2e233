"""One user cannot stop the others: shares, and a breaker that a slow search does not trip."""

import asyncio
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest
from asgi_request import answering, asked
from loop_by_hand import Clock

from vault_gateway.access import Identity
from vault_gateway.calls import MilvusCalls, SingleFlight
from vault_gateway.metrics import GatewayMetrics
from vault_gateway.milvus import CollectionMissingError
from vault_gateway.requests import REQUEST, RequestRecord
from vault_gateway.shares import Shared, UserShares, giving_back
from vault_indexer.errors import BackendError


def shares(clock: Clock, concurrent: int = 2, rate: float = 1.0, burst: int = 3) -> UserShares:
    server = SimpleNamespace(user_concurrent=concurrent, user_rate=rate, user_burst=burst)
    return UserShares(cast("Any", server), clock)


async def begun(taken: UserShares, user: str) -> bool:
    """Whether a request that has been taken is worked on without waiting."""
    done, _ = await asyncio.wait([asyncio.ensure_future(taken.begin(user))], timeout=0)
    return bool(done)


def test_a_user_has_so_many_requests_under_way_and_others_have_theirs() -> None:
    async def scenario() -> None:
        taken = shares(Clock(0.0), burst=9)
        assert [taken.take("ana") for _ in range(3)] == [0.0, 0.0, 1.0]
        assert taken.take("ben") == 0.0
        assert [await begun(taken, name) for name in ("ana", "ben")] == [True, True]
        taken.end("ana")
        assert taken.take("ana") == 0.0

    asyncio.run(scenario())


def test_one_request_of_a_user_is_worked_on_at_a_time() -> None:
    async def scenario() -> None:
        taken = shares(Clock(0.0), concurrent=3, burst=9)
        for _ in range(3):
            taken.take("ana")
        assert await begun(taken, "ana")
        second, third = (asyncio.ensure_future(taken.begin("ana")) for _ in range(2))
        assert not (await asyncio.wait([second], timeout=0))[0]
        third.cancel()  # its connection is gone: its place is free
        await asyncio.gather(third, return_exceptions=True)
        assert [taken.take("ana"), taken.take("ana")] == [0.0, 1.0]
        taken.end("ana")
        await second

    asyncio.run(scenario())


def test_a_user_has_so_many_requests_a_second_after_a_burst() -> None:
    clock = Clock(0.0)
    taken = shares(clock, rate=2.0)

    async def ask() -> float:
        wait_s = taken.take("ana")
        if not wait_s:
            await taken.begin("ana")
            taken.end("ana")
        return wait_s

    async def scenario() -> None:
        assert [await ask() for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
        clock.now = 0.5
        assert [await ask() for _ in range(2)] == [0.0, 0.5]
        clock.now = 60.0
        assert [await ask() for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]

    asyncio.run(scenario())


async def asked_by(app: Any, name: str) -> Any:
    """The first message to a user, or to nobody."""
    REQUEST.set(RequestRecord("id", "search", Identity("token", name) if name else None))
    return await asked(app)


@pytest.mark.parametrize("is_begun", [True, False])
def test_the_place_is_free_when_the_handler_has_ended(*, is_begun: bool) -> None:
    """`is_begun` is false where the guard refuses the request."""
    refusals: list[int] = []
    taken = shares(Clock(0.0), concurrent=1, burst=9)
    begun, ended = asyncio.Event(), asyncio.Event()

    async def handler(_scope: Any, _receive: Any, _send: Any) -> None:
        begun.set()
        await ended.wait()

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        if is_begun:  # answered 504: the handler runs on
            running.append(asyncio.ensure_future(giving_back(handler)(scope, receive, send)))
            await begun.wait()
        await send({"type": "http.response.start", "status": 504, "headers": []})

    running: list[asyncio.Future[None]] = []
    app = Shared(guard, taken, lambda: refusals.append(1))

    async def scenario() -> list[int]:
        statuses = [(await asked_by(app, "ana"))["status"] for _ in range(2)]
        ended.set()
        await asyncio.gather(*running)
        statuses += [(await asked_by(app, name))["status"] for name in ("ana", "")]
        await asyncio.gather(*running)
        return statuses

    found = asyncio.run(scenario())
    assert found == ([504, 429, 504, 504] if is_begun else [504, 504, 504, 504])
    assert len(refusals) == is_begun


def test_a_refusal_says_when_to_try_again() -> None:
    taken = shares(Clock(0.0), rate=0.1, burst=1)
    app = Shared(answering(200), taken, lambda: None)
    assert asyncio.run(asked_by(app, "t"))["status"] == 200
    refused = asyncio.run(asked_by(app, "t"))
    assert refused["status"] == 429
    assert (b"retry-after", b"10") in refused["headers"]


class Breaker:
    """Calls to a server that is there or not."""

    def __init__(self) -> None:
        self.is_there = True
        self.clock = Clock(0.0)
        self.calls = MilvusCalls(GatewayMetrics(frozenset()), lambda: self.is_there, self.clock)

    def run(self, error: Exception | None = None) -> str:
        def call() -> str:
            if error is not None:
                raise error
            return "answer"

        return self.calls.run("search", call)


def test_a_search_that_fails_by_itself_stops_nobody_else() -> None:
    breaker = Breaker()
    with pytest.raises(BackendError, match="it took too long: choose one vault"):
        breaker.run(BackendError("deadline exceeded"))
    assert breaker.run() == "answer"


def test_a_server_that_is_away_is_tried_once_a_second() -> None:
    breaker = Breaker()
    breaker.is_there = False
    with pytest.raises(BackendError, match="does not answer"):
        breaker.run(BackendError("refused"))
    with pytest.raises(BackendError, match="does not answer"):
        breaker.run()
    breaker.clock.now = 1.5
    assert breaker.run() == "answer"
    with pytest.raises(CollectionMissingError):
        breaker.run(CollectionMissingError("gone"))
    assert breaker.run() == "answer"


def test_who_wants_another_key_does_not_wait() -> None:
    flight: SingleFlight[str, int] = SingleFlight()
    began, may_end = threading.Event(), threading.Event()

    def make() -> int:
        began.set()
        assert may_end.wait(30)
        return 7

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(flight.get("slow", make))) for _ in range(3)]
    threads[0].start()
    assert began.wait(30)
    for thread in threads[1:]:
        thread.start()
    assert flight.get("quick", lambda: 1) == 1
    with pytest.raises(KeyError):
        flight.get("wrong", lambda: int({"a": "1"}["x"]))
    may_end.set()
    for thread in threads:
        thread.join()
    assert found == [7, 7, 7]
