"""Limits the number of open connections, and the time that a client may leave one unused.

asyncio's own accept loop has no limit: when file descriptors run out, it logs a traceback for each waiting
connection, thousands per second, and the index cannot open its files. Here connections are limited to well
below the limit of open files.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import json
import logging
import math
import os
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from vault_indexer.serve.api.openapi import PROBLEM
from vault_indexer.serve.http.guard import NOT_STORED, json_headers, problem_details

_LOG = logging.getLogger(__name__)

REQUEST_S = 5.0
"""The time limit for a request head, and for the rest of a body after its answer."""

_MAX_HEAD_BYTES = 64 << 10

KEEP_ALIVE_S = 30
"""The time after which an unused connection is closed."""

_UNREAD_S = 30.0
"""The time after which a client that does not read its answer is disconnected."""

_FLUSH_S = 5.0
"""The time that a closed connection has to send the rest of its last answer."""

_MOST = 256
_LEAST = 4
_SHARE = 4
"""One free file descriptor in four is for connections: a request may open two files of the index, and the
rest is for the watcher, workers and a rebuild."""

_IDLE_S = 1.0
"""A connection that has been idle for this time may be closed to make room for another one."""

_UNUSED_S = 0.1
"""The same for a connection without a complete request so far."""

_FULL_S = 0.1
_FULL_AT_ONCE = 8
"""At most this many clients at a time get a "server full" response, each within `_FULL_S`; the rest wait in
the accept queue."""

_RETRY_S = 1.0
_SAY_EVERY_S = 60.0
_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


def connection_limit(max_concurrent: int) -> int:
    """The number of connections that this process can keep open, given its limit of open files and its other
    files."""
    most = max(_MOST, 2 * max_concurrent)
    files = _open_files_limit()
    return most if files is None else max(_LEAST, min(most, (files - _open_files()) // _SHARE))


def _open_files_limit() -> int | None:
    if sys.platform == "win32":
        return None  # sockets do not count as open files
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def _open_files() -> int:
    try:
        return len(os.listdir("/dev/fd"))  # noqa: PTH208 - one system call after the other, no objects
    except OSError:
        return 32


class _RequestParser(h11.Connection):
    """Refuses a request with two lengths, which a proxy in front may divide into other requests than h11."""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
        return event


class Connection(H11Protocol):
    """One connection. A client that does not finish its request, or does not read the answer, is
    disconnected.

    uvicorn itself limits only the time between two requests, and cancels that limit at the first byte of the
    next one. The guard limits the time for the body of a request in progress.
    """

    _arrival: asyncio.TimerHandle | None = None
    _departure: asyncio.TimerHandle | None = None
    idle_since: float | None = None
    """The monotonic time since which the client has not sent a complete request head; None while a request is
    answered."""

    source = ""
    """The client, as `source_of` its address."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the time limit for the first request."""
        super().connection_made(transport)
        # Replaces the parser that uvicorn has created.
        self.conn = _RequestParser(h11.SERVER, _MAX_HEAD_BYTES)
        self.source = source_of(self.client)
        self.idle_since = time.monotonic()
        self._arrival = self.loop.call_later(REQUEST_S, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Starts the time limit at the first byte of a request and stops it at the last."""
        super().data_received(data)
        self._watch_arrival()

    def on_response_complete(self) -> None:
        """Marks the connection as idle, unless the next request has already arrived."""
        self.idle_since = time.monotonic()
        super().on_response_complete()
        self._watch_arrival()

    def pause_writing(self) -> None:
        """Starts the time limit for a client that does not read."""
        super().pause_writing()
        self._departure = self.loop.call_later(_UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._departure)

    def timeout_keep_alive_handler(self) -> None:
        """Closes an idle connection, even if its last answer was never read."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(_FLUSH_S, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._arrival)
        _cancel(self._departure)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answers input that is not HTTP in the same format as other errors."""
        body = _error_body(400, "request", msg.rstrip("."))
        response = h11.Response(status_code=400, headers=_error_headers(body))
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch_arrival(self) -> None:
        if self._is_answering:
            self.idle_since = None
        state = self.conn.their_state
        # A body is on its way, or a head is incomplete: in both cases the client owes bytes.
        if state is h11.SEND_BODY or (state is h11.IDLE and self.conn.trailing_data[0]):
            self._arrival = self._arrival or self.loop.call_later(REQUEST_S, self._give_up)
        else:
            _cancel(self._arrival)
            self._arrival = None

    def _give_up(self) -> None:
        self._arrival = None
        if not self._is_answering:
            self.transport.close()
            self.loop.call_later(_FLUSH_S, self.transport.abort)


class Acceptor:
    """Accepts connections until cancelled; owned by the server's event loop.

    At the limit, an idle connection is closed for a new one: of the client with the most connections, the one
    that has been idle longest. If none is idle, the client gets status 503. A client that `has_share` makes
    room for its own connections once it has its share of them. A shortage of file descriptors is logged once
    a minute until it ends.
    """

    def __init__(
        self,
        listener: socket.socket,
        connect: Callable[[], Connection],
        connections: Collection[object],
        limit: int,
        has_share: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`has_share` returns whether a client with this address is limited to half of the connections."""
        self._listener = listener
        self._connect = connect
        self._connections = connections
        self._limit = limit
        self._has_share = has_share
        self._share = max(1, limit // 2)
        self._places = asyncio.Semaphore(_FULL_AT_ONCE)
        self._refusals: set[asyncio.Task[None]] = set()
        self._said: dict[str, float] = {}

    async def run(self) -> None:
        self._listener.setblocking(False)
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, address = await loop.sock_accept(self._listener)
                source = source_of(address)
                if source and self._has_share(address[0]) and self._count()[source] >= self._share:
                    is_open = self._close_idle(source)
                    reason = f"an address has all of its {self._share} connections: more get status 503"
                else:
                    is_open = len(self._connections) < self._limit or self._close_idle()
                    reason = f"all {self._limit} connections are in use: other clients get status 503"
                if is_open:
                    await loop.connect_accepted_socket(self._connect, client)
                elif len(self._connections) < self._limit and self._places.locked():
                    client.close()  # of a client beyond its share, which must not delay the next in the queue
                else:
                    await self._refuse(client, reason)
            except OSError as error:
                if error.errno in _SHORTAGES:
                    self._say("no file descriptor is left for another connection (see ulimit -n)")
                    await asyncio.sleep(_RETRY_S)
                elif not isinstance(error, ConnectionError):  # otherwise the client has already disconnected
                    self._say(f"a connection cannot be accepted: {error}")
                    await asyncio.sleep(_RETRY_S)

    def _count(self) -> Counter[str]:
        return Counter(one.source for one in self._connections if isinstance(one, Connection))

    def _close_idle(self, source: str = "") -> bool:
        """Closes an idle connection, of this client if one is given. Returns whether there was one."""
        now, count = time.monotonic(), self._count()
        idle = [
            # The id breaks ties, because connections themselves cannot be compared.
            (-count[one.source], one.idle_since, id(one), one)
            for one in self._connections
            if isinstance(one, Connection)
            and one.idle_since is not None
            and one.idle_since <= now - (_IDLE_S if one.cycle else _UNUSED_S)
            and source in ("", one.source)
        ]
        if not idle:
            return False
        *_, oldest = min(idle)
        # Not idle any more, so that the next new connection does not select it again while it closes.
        oldest.idle_since = None
        oldest.timeout_keep_alive_handler()
        return True

    async def _refuse(self, client: socket.socket, reason: str) -> None:
        self._say(reason)
        await self._places.acquire()
        task = asyncio.create_task(_say_full(client))
        # Kept, because the event loop has only weak references to tasks.
        self._refusals.add(task)
        task.add_done_callback(self._end_refusal)

    def _end_refusal(self, task: asyncio.Task[None]) -> None:
        self._refusals.discard(task)
        self._places.release()

    def _say(self, message: str) -> None:
        now = time.monotonic()
        if now - self._said.get(message, -math.inf) >= _SAY_EVERY_S:
            self._said[message] = now
            _LOG.warning(message)


def source_of(address: object) -> str:
    """The client that has the address of a socket: a client may use all IPv6 addresses of its network of 64
    bits. "" for a Unix socket."""
    host = str(address[0]) if isinstance(address, tuple) else ""
    if ":" not in host:
        return host
    # Without the zone of a link-local address.
    found = ipaddress.IPv6Address(host.partition("%")[0])
    return str(found.ipv4_mapped or ipaddress.IPv6Network((int(found) >> 64 << 64, 64)))


async def _say_full(client: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    body = _error_body(503, "busy", "too many connections are open: try again")
    headers = [*_error_headers(body), (b"retry-after", b"1")]
    lines = (b"HTTP/1.1 503 Service Unavailable", *(b": ".join(header) for header in headers), b"", b"")
    with client:
        try:
            async with asyncio.timeout(_FULL_S):
                await loop.sock_sendall(client, b"\r\n".join(lines) + body)
                client.shutdown(socket.SHUT_WR)
                # If a socket is closed with an unread request, the connection is reset and the answer is
                # lost.
                while await loop.sock_recv(client, 1 << 16):
                    pass
        except (OSError, TimeoutError):
            pass


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def _error_headers(body: bytes) -> list[tuple[bytes, bytes]]:
    return [*json_headers(body, PROBLEM), (b"connection", b"close"), *NOT_STORED]


def _error_body(status: int, kind: str, message: str) -> bytes:
    return json.dumps(problem_details(status, kind, message)).encode()
