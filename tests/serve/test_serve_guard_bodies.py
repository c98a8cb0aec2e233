"""The guard before a request is answered: bodies that come late, that are too large or that end early."""

import asyncio
import json
from collections.abc import Iterable

import pytest
from asgi import exchange

from vault_indexer.serve.http.guard import (
    MAX_BODY_BYTES,
    PREFLIGHT_SECONDS,
    Guard,
    GuardRules,
    Message,
    Receive,
    Send,
)

RULES = GuardRules("secret", 80, frozenset({"app://obsidian.md"}), 4, 0.05)
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


def ask(
    app: Echo,
    received: Iterable[Message] = (),
    headers: Iterable[tuple[bytes, bytes]] = JSON,
    method: str = "POST",
    kind: str = "http",
) -> list[Message]:
    """What is sent back to a client that sends these messages and then nothing."""
    asked = exchange(
        Guard(app, RULES),
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
    start, *bodies = ask(app, parts, CHUNKED)
    content = json.loads(b"".join(one.get("body", b"") for one in bodies))
    assert start["status"] == status
    assert content == found if status == 200 else content["error"]["kind"] == found
    assert app.asked == (status == 200)


def test_a_client_that_leaves_before_its_body_ends_is_not_answered() -> None:
    app = Echo()
    leaving = [part(b"ab", more=True), {"type": "http.disconnect"}]
    assert ask(app, leaving, CHUNKED) == []
    assert ask(app, leaving, (*JSON, (b"content-length", b"3"))) == []
    assert app.asked == 0


def test_other_protocols_are_closed_and_the_lifespan_is_the_applications() -> None:
    app = Echo()
    assert ask(app, kind="websocket") == [{"type": "websocket.close", "code": 1008}]
    assert app.asked == 0
    assert ask(app, kind="lifespan") == [{"type": "lifespan.answered"}]


@pytest.mark.parametrize("private", [b"true", b"false"])
def test_a_page_of_an_allowed_origin_may_reach_a_private_network(private: bytes) -> None:
    headers = [
        (b"host", b"localhost:80"),
        (b"origin", b"app://obsidian.md"),
        (b"access-control-request-method", b"POST"),
        (b"access-control-request-private-network", private),
    ]
    start, body = ask(Echo(), headers=headers, method="OPTIONS")
    granted = dict(start["headers"])
    assert start["status"] == 204
    assert granted[b"access-control-max-age"] == str(PREFLIGHT_SECONDS).encode()
    assert (body["body"], granted.keys() & {b"content-type", b"content-length"}) == (b"", set())
    assert granted.get(b"access-control-allow-private-network") == (b"true" if private == b"true" else None)


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
    start = ask(Echo(), [part(b"")], headers, method="GET")[0]
    said = dict(start["headers"])
    assert start["status"] == status
    assert said.get(b"access-control-allow-origin") == (origin if may_read else None)
    assert said.get(b"vary") == (b"Origin" if may_read else None)
    assert (said[b"cache-control"], said[b"x-content-type-options"]) == (b"no-store", b"nosniff")
