"""Access control and load limits, applied before routing to every route, including reads.

Every page in the user's browser can reach a server on loopback. Requests from a page of another origin, from
a name rebound to 127.0.0.1, and from a program without the token are all rejected here. Starlette's own
CORSMiddleware adds headers but blocks nothing, so it is not used.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from contextvars import ContextVar
from dataclasses import field
from http import HTTPStatus
from typing import Any, cast

from vault_indexer.serve.api.openapi import PROBLEM
from vault_indexer.system import record

MAX_BODY_BYTES = 1 << 20
MAX_QUERY_STRING_BYTES = 32 << 10
"""Enough for the longest query and the longest path, with each of their bytes percent-encoded as three."""

PREFLIGHT_SECONDS = 600
MAX_LONG_LIVED = 16
"""The maximum number of concurrent requests without a time limit. Each may occupy one of the 40 threads that
answer."""

MAX_QUICK = 16
"""The maximum number of concurrent requests that are answered from memory."""

MAX_WAITING = 64
"""The maximum number of queued requests; each keeps its connection open."""

_NEW_PHRASES = {413: "Content Too Large", 422: "Unprocessable Content"}
"""Phrases of RFC 9110 that Python has only since 3.13."""

NOT_STORED = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
"""Headers of every answer without rules of its own: it is private, so no cache stores it, and no browser
interprets it as another type than the declared one."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
Headers = Mapping[str, tuple[str, ...]]

GIVEN_UP: ContextVar[threading.Event | None] = ContextVar("given_up", default=None)
"""The event of the request that a handler works on. It is set when no client waits for the answer any more,
because it has disconnected or received a 504."""


@record
class GuardRules:
    """The rules for accepting requests. `long_lived` paths have no time limit and a separate load limit;
    `quick` paths have only the latter, so that searches, which may occupy all other places, do not delay
    them.

    `public` paths can be read without the token: the files of the page, which contain nothing about the
    vault. A browser requests them before the page's script has the token.

    A server with many users has `knows_token` instead of the single `token`. `hosts` contains additional
    values of the header Host, in lower case, for a server behind a proxy.
    """

    token: str
    port: int
    allowed_origins: frozenset[str]
    max_concurrent: int
    timeout_s: float
    wait_s: float = 10.0
    """The maximum time that a request waits while the limit of requests is reached."""

    long_lived: frozenset[str] = frozenset()
    quick: frozenset[str] = frozenset()
    public: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    checks_host: Callable[[str], bool] = lambda _: True
    """Whether the Host of a request to this path is checked."""

    has_pass: Callable[[Message], bool] = lambda _: False
    """Whether the address of a request (its ASGI scope) replaces the token; see `vault_files`."""

    knows_token: Callable[[str], bool] | None = None
    methods: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The allowed methods of each path; other paths are left to the application."""

    where_token: str = "the token is in daemon.json"
    """The hint in the refusal of a request without a token."""

    def accepts(self, token: str) -> bool:
        """Whether a request with this token is accepted. The comparison takes the same time for every wrong
        token."""
        if self.knows_token is not None:
            return self.knows_token(token)
        return hmac.compare_digest(token.encode("latin-1", "replace"), self.token.encode())


@record
class Refusal:
    """An answer instead of the handler's; 204 accepts a preflight."""

    status: int
    kind: str
    message: str
    headers: tuple[tuple[str, str], ...] = ()


def refusal(rules: GuardRules, scope: Message, headers: Headers) -> Refusal | None:
    """The refusal of a request, decided from its head alone; None if it is accepted."""
    method: str = scope["method"]
    is_public = method in ("GET", "HEAD") and scope["path"] in rules.public
    return (
        (_wrong_host(rules, headers) if rules.checks_host(scope["path"]) else None)
        # Before the token: a page of another origin must not learn whether its token is right.
        or _wrong_origin(rules, headers)
        or _preflight(method, headers)
        or (None if is_public or rules.has_pass(scope) else _no_token(rules, headers))
        or _wrong_method(rules, method, scope["path"])
        or _too_long(scope["query_string"], headers)
        or _no_json(method, headers)
    )


def _wrong_host(rules: GuardRules, headers: Headers) -> Refusal | None:
    """A rebound name appears in Host. Only the names of loopback with this port are accepted."""
    ours = {f"{name}:{rules.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    hosts = headers.get("host", ())
    # Exactly one: with two, a proxy and this server could use different ones.
    if len(hosts) == 1 and hosts[0].lower() in ours | rules.hosts:
        return None
    names = ", ".join(sorted(rules.hosts))
    return Refusal(
        421,
        "host",
        f"the header Host must be 127.0.0.1:{rules.port}, localhost:{rules.port} or [::1]:{rules.port}"
        + (f", or one of: {names}" if names else ""),
    )


def _wrong_origin(rules: GuardRules, headers: Headers) -> Refusal | None:
    """The origin of the page that this server sends equals the request's Host, which has already been
    checked: a page at one loopback name is foreign at another name."""
    hosts = headers.get("host", ())
    own = {f"http://{hosts[0]}"} if len(hosts) == 1 else set[str]()
    if rules.allowed_origins | own >= {*headers.get("origin", ())}:
        return None
    return Refusal(403, "origin", "the origin of this page is not listed in server.allowed_origins")


def _preflight(method: str, headers: Headers) -> Refusal | None:
    """Before a cross-origin request, a browser asks without the token which methods and headers are
    allowed."""
    if method != "OPTIONS" or not headers.get("origin") or "access-control-request-method" not in headers:
        return None
    granted = [
        ("access-control-allow-methods", "GET, POST"),
        ("access-control-allow-headers", "authorization, content-type, if-none-match"),
        ("access-control-max-age", str(PREFLIGHT_SECONDS)),
    ]
    if headers.get("access-control-request-private-network") == ("true",):
        granted.append(("access-control-allow-private-network", "true"))
    return Refusal(204, "", "", tuple(granted))


def _no_token(rules: GuardRules, headers: Headers) -> Refusal | None:
    return None if rules.accepts(token_of(headers)) else wrong_token(rules.where_token)


def wrong_token(where_token: str) -> Refusal:
    """The refusal of a request without the right token; `where_token` tells the user where to find it."""
    return Refusal(
        401,
        "token",
        f"the header Authorization: Bearer TOKEN is missing or wrong; {where_token}",
        (("www-authenticate", "Bearer"),),
    )


def token_of(headers: Headers) -> str:
    """The token of a request; "" if there is none, or more than one."""
    given = headers.get("authorization", ())
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == "bearer" else ""


def _wrong_method(rules: GuardRules, method: str, path: str) -> Refusal | None:
    allowed = rules.methods.get(path)
    if allowed is None or method in allowed:
        return None
    listed = ", ".join(sorted(allowed))
    return Refusal(405, "request", f"{path} only supports {listed}, not {method[:20]}", (("allow", listed),))


def _too_long(query: bytes, headers: Headers) -> Refusal | None:
    if len(query) > MAX_QUERY_STRING_BYTES:
        return Refusal(
            414,
            "too_long",
            f"the query string has {len(query)} bytes: at most {MAX_QUERY_STRING_BYTES} are allowed",
        )
    declared = headers.get("content-length", ("0",))[0]
    # 20 digits are enough to exceed the limit, and a longer number takes time to read.
    if not declared.isdecimal() or int(declared[:20]) > MAX_BODY_BYTES:
        return _TOO_LARGE
    return None


_TOO_LARGE = Refusal(413, "too_large", f"the body has more than {MAX_BODY_BYTES} bytes")
_RETRY = (("retry-after", "1"),)
_BUSY = Refusal(503, "busy", "too many requests at once: try again", _RETRY)
_STOPPING = Refusal(503, "stopping", "the server is stopping")
_BUSY_LONG = Refusal(
    503,
    "busy",
    f"more than {MAX_LONG_LIVED} long requests at once (ask, rebuild, verify, events, mcp): try again",
    _RETRY,
)


def _late(rules: GuardRules) -> Refusal:
    return Refusal(504, "timeout", f"no answer within {rules.timeout_s:g} seconds")


def _no_json(method: str, headers: Headers) -> Refusal | None:
    """A form or plain text can be posted across origins without a preflight; JSON cannot."""
    if method in ("GET", "HEAD", "OPTIONS"):
        return None
    kinds = headers.get("content-type", ())
    if len(kinds) == 1 and kinds[0].partition(";")[0].strip().lower() == "application/json":
        return None
    return Refusal(415, "content_type", "the header Content-Type must be application/json")


class Guard:
    """ASGI middleware around the whole application, on the server's event loop: Host, Origin, token,
    load, time."""

    def __init__(self, app: App, rules: GuardRules) -> None:
        self._app = app
        self._rules = rules
        self._places = _Places(rules.max_concurrent, rules.wait_s)
        self._long_places = _Places(MAX_LONG_LIVED, rules.wait_s)
        self._quick_places = _Places(MAX_QUICK, rules.wait_s)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            # 1008 means "policy violation" (RFC 6455): there are no web sockets here.
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Message, receive: Receive, send: Send) -> None:
        send = _with_headers(send, NOT_STORED)
        headers = headers_by_name(scope["headers"])
        refused = refusal(self._rules, scope, headers)
        origins = headers.get("origin", ())
        # A page of a foreign origin or at a wrong host must not be able to read even the refusal.
        if origins and (refused is None or refused.status not in (403, 421)):
            send = _with_headers(send, _headers_for(origins[0]))
        if refused is not None:
            await refuse(send, refused)
            return
        once = _Once(send)
        try:
            await self._accepted(scope, headers, receive, once)
        except asyncio.CancelledError:  # the server ends and no longer waits for this answer
            if not once.started:
                await once.refuse(_STOPPING)

    async def _accepted(self, scope: Message, headers: Headers, receive: Receive, once: _Once) -> None:
        if scope["path"] in self._rules.long_lived:
            await self._serve_long_lived(scope, headers, receive, once.send)
            return
        places = self._quick_places if scope["path"] in self._rules.quick else self._places
        if await places.take():
            await self._in_time(places, scope, headers, receive, once)
        else:
            await once.refuse(_BUSY)

    async def _serve_long_lived(self, scope: Message, headers: Headers, receive: Receive, send: Send) -> None:
        if not await self._long_places.take():
            await refuse(send, _BUSY_LONG)
            return
        GIVEN_UP.set(threading.Event())
        try:
            await self._serve_limited(scope, headers, receive, send)
        finally:
            self._long_places.release()

    async def _in_time(
        self, places: _Places, scope: Message, headers: Headers, receive: Receive, once: _Once
    ) -> None:
        """Answers 504 after the time limit. Work that continues in a thread keeps its place until it ends, so
        that abandoned requests cannot accumulate."""
        given_up = threading.Event()
        GIVEN_UP.set(given_up)
        task = asyncio.ensure_future(self._serve_limited(scope, headers, receive, once.send))
        # Released by the task, not here: it may continue after the 504.
        task.add_done_callback(lambda _: places.release())
        done, _ = await asyncio.wait({task}, timeout=self._rules.timeout_s)
        if done:
            task.result()
        # An answer that has begun cannot be replaced by another status.
        elif not once.started:
            given_up.set()
            await once.refuse(_late(self._rules))
        else:
            await task

    async def _serve_limited(self, scope: Message, headers: Headers, receive: Receive, send: Send) -> None:
        """Reads the body first, since its declared length may be wrong or missing, then passes it on
        whole."""
        body = b""
        if "transfer-encoding" in headers or headers.get("content-length", ("0",))[0] != "0":
            try:
                async with asyncio.timeout(self._rules.timeout_s):
                    found = await _body(receive)
            except TimeoutError:
                await refuse(send, _late(self._rules))
                return
            if found is None:
                return
            body = found
            if len(body) > MAX_BODY_BYTES:
                await refuse(send, _TOO_LARGE)
                return
        # After the body, the only message that can arrive is the disconnect.
        watch = asyncio.ensure_future(_give_up_when_gone(receive))
        try:
            await self._app(scope, replay(body, receive), send)
        finally:
            # Otherwise it would take the next message of the connection.
            watch.cancel()


class _Places:
    """Limits concurrent requests. Up to `MAX_WAITING` more wait in a queue, each for at most `wait_s`."""

    def __init__(self, limit: int, wait_s: float) -> None:
        self._free = asyncio.Semaphore(limit)
        self._wait_s = wait_s
        self._waiting = 0

    async def take(self) -> bool:
        """Takes a place, immediately or when one is free. Returns whether there was one in time."""
        if self._free.locked() and self._waiting >= MAX_WAITING:
            return False
        self._waiting += 1
        try:
            async with asyncio.timeout(self._wait_s):
                await self._free.acquire()
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1
        return True

    def release(self) -> None:
        self._free.release()


async def _give_up_when_gone(receive: Receive) -> None:
    """Sets the request's event when the client closes the connection."""
    given_up = GIVEN_UP.get()
    while given_up is not None:
        message = await receive()
        if message["type"] == "http.disconnect":
            given_up.set()
            return


async def _body(receive: Receive) -> bytes | None:
    """The body; None if the client has disconnected. Reading ends if it is too long."""
    body = b""
    while len(body) <= MAX_BODY_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += cast("bytes", message.get("body", b""))
        if not message.get("more_body", False):
            break
    return body


class _Once:
    """Passes on the application's messages until the request has been refused."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False
        self._is_refused = False

    async def send(self, message: Message) -> None:
        if not self._is_refused:
            self.started = True
            await self._send(message)

    async def refuse(self, refused: Refusal) -> None:
        self.started = self._is_refused = True
        await refuse(self._send, refused)


def replay(body: bytes, receive: Receive) -> Receive:
    """Returns a function that receives the whole body, and then the client's messages."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return pending.pop() if pending else await receive()

    return next_message


def headers_by_name(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    headers: dict[str, tuple[str, ...]] = {}
    for name, value in raw:
        key = name.decode("latin-1").lower()
        headers[key] = (*headers.get(key, ()), value.decode("latin-1").strip())
    return headers


def _with_headers(send: Send, added: Sequence[tuple[bytes, bytes]]) -> Send:
    """Adds headers to every answer, including errors, unless the answer has them."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = message.get("headers", ())
            present = {name.lower() for name, _ in headers}
            message = {**message, "headers": [*headers, *(one for one in added if one[0] not in present)]}
        await send(message)

    return send_with_headers


def _headers_for(origin: str) -> Sequence[tuple[bytes, bytes]]:
    """The headers without which a page of an allowed origin cannot read an answer."""
    return (
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", b"etag"),
        (b"vary", b"Origin"),  # a cache must not give one origin's answer to another
    )


def json_headers(body: bytes, media_type: str = "application/json") -> list[tuple[bytes, bytes]]:
    return [(b"content-type", media_type.encode()), (b"content-length", str(len(body)).encode())]


def problem_details(status: int, kind: str, message: str) -> dict[str, object]:
    """The body of every error, a `Failure`. The type is "about:blank" because `error.kind` already names the
    error."""
    title = _NEW_PHRASES.get(status) or HTTPStatus(status).phrase
    error = {"kind": kind, "message": message}
    return {"type": "about:blank", "title": title, "status": status, "detail": message, "error": error}


async def refuse(send: Send, refused: Refusal) -> None:
    body = b""
    headers = [(name.encode(), value.encode()) for name, value in refused.headers]
    if refused.status != 204:
        body = json.dumps(problem_details(refused.status, refused.kind, refused.message)).encode()
        headers += json_headers(body, PROBLEM)
    if refused.status in (413, 504):
        headers.append((b"connection", b"close"))  # the rest of the body is not read
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
