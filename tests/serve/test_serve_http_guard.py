"""What the guard decides by the head of a request; bodies that are late or too large; the queue."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from asgi import exchange
from golden_cases import check_golden

from vault_indexer.serve.http.guard import (
    MAX_BODY_BYTES,
    MAX_LONG_LIVED,
    MAX_QUERY_STRING_BYTES,
    MAX_QUICK,
    MAX_WAITING,
    Guard,
    GuardRules,
    Message,
    Receive,
    Refusal,
    Send,
    headers_by_name,
    refusal,
    token_of,
    wrong_token,
)

RULES = GuardRules(
    "secret",
    80,
    frozenset({"app://obsidian.md"}),
    4,
    0.05,
    public=frozenset({"/", "/page"}),
    hosts=frozenset({"b.example", "a.example:443"}),
    checks_host=lambda path: path != "/healthz",
    methods={"/v1/x": frozenset({"POST", "GET"}), "/page": frozenset({"GET"})},
    where_token="ask for one",
)


def decide(method: str = "GET", path: str = "/v1/x", query: bytes = b"", **headers: str) -> Refusal | None:
    """What is decided of a request with the right Host and token unless the headers say otherwise; "" leaves
    one out, and "\\n" stands between two of one name."""
    given = {"host": "localhost:80", "authorization": "Bearer secret", **headers}
    raw = [
        (name.replace("_", "-").title().encode(), value.encode("latin-1"))
        for name, values in given.items()
        for value in values.split("\n")
        if value
    ]
    scope = {"method": method, "path": path, "query_string": query}
    return refusal(RULES, scope, headers_by_name(raw))


def shown(request: str) -> str:
    method, path, headers = request.split(" ", 2)
    given = {name.replace("-", "_"): value for name, value in json.loads(headers).items()}
    refused = decide(method, path, **given)
    if refused is None:
        return "allowed"
    told = f"{refused.status} {refused.kind} {refused.message}".strip()
    return told + "".join(f"; {name}: {value}" for name, value in refused.headers)


def token(written: str) -> str:
    given = json.loads(written)
    return token_of(headers_by_name([(b"Authorization", one.encode()) for one in given.split("\n") if one]))


def test_requests_are_refused_as_the_golden_says() -> None:
    check_golden(Path(__file__).parent / "fixtures" / "guard.md", {"": shown, "Tokens": token})
    assert MAX_BODY_BYTES == 1_048_576
    long = decide("POST", content_length="1" + "0" * 5000, content_type="application/json")
    assert long is not None and long.status == 413
    own = replace(RULES, hosts=frozenset())
    alone = refusal(own, {"method": "GET", "path": "/", "query_string": b""}, {})
    assert alone is not None
    assert alone.message == "the header Host must be 127.0.0.1:80, localhost:80 or [::1]:80"


def test_the_refusal_of_a_token_says_where_one_is_from() -> None:
    assert wrong_token("look there") == Refusal(
        401,
        "token",
        "the header Authorization: Bearer TOKEN is missing or wrong; look there",
        (("www-authenticate", "Bearer"),),
    )
    assert GuardRules("t", 1, frozenset(), 1, 1.0).where_token == "the token is in daemon.json"


def test_a_server_with_many_users_knows_their_tokens() -> None:
    many = replace(RULES, knows_token=lambda token: token in ("a", "b"))
    for rules, known in ((RULES, ["secret"]), (many, ["a", "b"])):
        assert [one for one in ("a", "b", "secret", "other", "sécret…") if rules.accepts(one)] == known


def test_a_query_string_has_a_bound() -> None:
    assert MAX_QUERY_STRING_BYTES == 32_768
    assert decide(query=b"x" * MAX_QUERY_STRING_BYTES) is None
    said = "the query string has 32769 bytes: at most 32768 are allowed"
    assert decide(query=b"x" * (MAX_QUERY_STRING_BYTES + 1)) == Refusal(414, "too_long", said)


def test_headers_are_kept_by_name_in_their_order() -> None:
    raw = [(b"Accept", b" a "), (b"X-\xe9", b"\xe9"), (b"ACCEPT", b"b")]
    assert headers_by_name(raw) == {"accept": ("a", "b"), "x-é": ("é",)}


OPEN = GuardRules("secret", 80, frozenset({"app://obsidian.md"}), 4, 0.05)
HEADERS = ((b"host", b"localhost:80"), (b"authorization", b"Bearer secret"))
JSON = (*HEADERS, (b"content-type", b"application/json"))


class Echo:
    """An application that answers with the length of the body that it gets."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.asked += 1
        if scope["type"] != "http":
            await send({"type": f"{scope['type']}.answered"})
            return
        body = (await receive()).get("body", b"")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b'{"length": %d}' % len(body)})


def ask_guard(
    app: Echo,
    received: Iterable[Message] = (),
    headers: Iterable[tuple[bytes, bytes]] = JSON,
    method: str = "POST",
    kind: str = "http",
) -> list[Message]:
    """What is sent back to a client that sends these messages and then nothing."""
    asked = exchange(
        Guard(app, OPEN),
        "/v1/x",
        method,
        headers=headers,
        received=received,
        leaves=asyncio.Event().wait,
        type=kind,
    )
    return asyncio.run(asked).sent


def part(body: bytes, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


CHUNKED = (*JSON, (b"transfer-encoding", b"chunked"))


@pytest.mark.parametrize(
    ("parts", "status", "found"),
    [
        ([part(b"ab", more=True), part(b"c")], 200, {"length": 3}),
        ([part(b"x" * MAX_BODY_BYTES)], 200, {"length": MAX_BODY_BYTES}),
        ([part(b"x" * MAX_BODY_BYTES, more=True), part(b"x")], 413, "too_large"),
        ([part(b"ab", more=True)], 504, "timeout"),
    ],
)
def test_a_body_is_read_whole_first(parts: list[Message], status: int, found: object) -> None:
    app = Echo()
    start, *bodies = ask_guard(app, parts, CHUNKED)
    content = json.loads(b"".join(one.get("body", b"") for one in bodies))
    assert start["status"] == status
    assert content == found if status == 200 else content["error"]["kind"] == found
    assert app.asked == (status == 200)


def test_a_client_that_leaves_before_its_body_ends_is_not_answered() -> None:
    app = Echo()
    leaving = [part(b"ab", more=True), {"type": "http.disconnect"}]
    assert ask_guard(app, leaving, CHUNKED) == []
    assert ask_guard(app, leaving, (*JSON, (b"content-length", b"3"))) == []
    assert app.asked == 0


def test_other_protocols_are_closed_and_the_lifespan_is_the_applications() -> None:
    app = Echo()
    assert ask_guard(app, kind="websocket") == [{"type": "websocket.close", "code": 1008}]
    assert app.asked == 0
    assert ask_guard(app, kind="lifespan") == [{"type": "lifespan.answered"}]


@pytest.mark.parametrize(
    ("host", "origin", "token", "status", "may_read"),
    [
        (b"localhost:80", b"app://obsidian.md", b"secret", 200, True),
        (b"localhost:80", b"http://localhost:80", b"secret", 200, True),
        (b"localhost:80", b"app://obsidian.md", b"other", 401, True),
        (b"localhost:80", b"http://evil.example", b"secret", 403, False),
        (b"evil.example", b"app://obsidian.md", b"secret", 421, False),
        (b"localhost:80", b"", b"secret", 200, False),
    ],
)
def test_a_page_of_an_allowed_origin_may_read_what_it_is_answered(
    host: bytes, origin: bytes, token: bytes, status: int, may_read: bool
) -> None:
    headers = [(b"host", host), (b"authorization", b"Bearer " + token)]
    headers += [(b"origin", origin)] if origin else []
    start = ask_guard(Echo(), [part(b"")], headers, method="GET")[0]
    said = dict(start["headers"])
    assert start["status"] == status
    assert said.get(b"access-control-allow-origin") == (origin if may_read else None)
    assert said.get(b"vary") == (b"Origin" if may_read else None)
    assert (said[b"cache-control"], said[b"x-content-type-options"]) == (b"no-store", b"nosniff")


MOST, LONG, SHORT, QUICK = 3, "/mcp", "/v1/search", "/v1/status"
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
    return (await exchange(guarded, path, headers=HEADERS, received=(), leaves=asyncio.Event().wait)).status


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
