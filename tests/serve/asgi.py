"""A client of an ASGI application in this process, and of the API of some vaults."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vault_indexer.config.settings import ServerSettings
from vault_indexer.daemon.discovery import DaemonInfo
from vault_indexer.serve.api.respond import AgentActions, no_actions
from vault_indexer.serve.app import Site, make_app
from vault_indexer.serve.http.guard import Message, Receive, Send
from vault_indexer.vaults import Vaults

PORT, TOKEN = 4711, "the-token"
INFO = DaemonInfo(1, f"http://127.0.0.1:{PORT}", TOKEN, "", "")
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


async def no_content(_scope: Message, _receive: Receive, send: Send) -> None:
    """An application that answers with nothing."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


async def request(
    app: Any, target: str, method: str = "GET", body: object = None, *, token: str = TOKEN, **client: Any
) -> Exchange:
    """The answer of an application to a request of a program with this token."""
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    headers = [(b"host", b"127.0.0.1:%d" % PORT), (b"content-length", b"%d" % len(data))]
    headers += [(b"authorization", f"Bearer {token}".encode())] if token else []
    if body is not None:
        headers += [(b"content-type", b"application/json"), (b"accept", b"application/json")]
    return await exchange(app, target, method, data, headers=headers, **client)


def ask_vaults(
    vaults: Vaults,
    target: str,
    method: str = "GET",
    body: object = None,
    *,
    app: Any = None,
    settings: ServerSettings | None = None,
    stopping: Callable[[], bool] = lambda: False,
    actions_of: Callable[[str], AgentActions] = no_actions,
    **client: Any,
) -> Exchange:
    """The answer to one request about these vaults, of an application that is made for it or given."""
    site = Site(vaults, INFO, settings or ServerSettings(), actions_of)
    return asyncio.run(request(app or make_app(site, stopping), target, method, body, **client))
