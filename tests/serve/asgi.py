"""A client of an ASGI application in this process."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vault_indexer.serve.http.guard import Message

Pairs = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Exchange:
    """All that an application sent in answer to one request."""

    sent: list[Message]

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> Mapping[str, str]:
        """By name in small letters."""
        return {name.decode().lower(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> bytes:
        return b"".join(one.get("body", b"") for one in self.sent)

    @property
    def json(self) -> dict[str, Any]:
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found

    @property
    def error(self) -> tuple[int, str, str]:
        """Status, kind and message."""
        return self.status, self.json["error"]["kind"], self.json["error"]["message"]


async def exchange(
    app: Any,
    target: str = "/",
    method: str = "GET",
    body: bytes = b"",
    *,
    headers: Pairs = (),
    received: Iterable[Message] | None = None,
    told: asyncio.Event | None = None,
    leaves_at: bytes = b"",
    leaves: Callable[[], Awaitable[object]] | None = None,
    **scope: object,
) -> Exchange:
    """The answer to a request, or to these messages instead of its body.

    The client leaves once it is answered: as soon as it gets the text `leaves_at`, or when `leaves` is over.
    `told` is set at the first content. `scope` adds to that of ASGI.
    """
    path, _, query = target.partition("?")
    sent: list[Message] = []
    answered = asyncio.Event()
    whole: Message = {"type": "http.request", "body": body, "more_body": False}
    messages = iter([whole] if received is None else received)

    async def receive() -> Message:
        for one in messages:
            return one
        await (leaves or answered.wait)()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)
        if message["type"] == "http.response.body":
            if not message.get("more_body") or (leaves_at and leaves_at in message["body"]):
                answered.set()
            if told:
                told.set()

    asked = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "method": method,
        "path": path,
        "root_path": "",
        "query_string": query.encode(),
        "headers": list(headers),
        **scope,
    }
    await app(asked, receive, send)
    return Exchange(sent)
