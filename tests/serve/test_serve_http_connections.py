"""Which connections a server keeps when there are more than it can hold, and what it says of it."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import socket
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import suppress
from functools import partial

import pytest
import uvicorn
from asgi import no_content
from uvicorn.server import ServerState
from waiting import DEADLINE_S, wait_until

from vault_indexer.serve.http.connections import Acceptor, Connection, source_of
from vault_indexer.serve.server import bind

BUSY = {"kind": "busy", "message": "too many connections are open: try again"}
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Server:
    """An acceptor on loopback. `connect` makes the connections instead if it is given; `held` are
    connections beside them."""

    def __init__(
        self,
        limit: int,
        connect: Callable[[], Connection] | None = None,
        has_share: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.state = ServerState()
        self._config = uvicorn.Config(no_content, lifespan="off", log_config=None, http=Connection, ws="none")
        self._config.load()
        self._listener = bind(0)
        self._limit = limit
        self._has_share = has_share
        self._connect = connect or self.connection
        self._clients: list[Client] = []

    def connection(self) -> Connection:
        return Connection(self._config, self.state, {})

    def run(self, talk: Callable[[Server], Awaitable[None]], held: Collection[object] | None = None) -> None:
        """Accept while `talk` runs."""

        async def accept() -> None:
            connections = self.state.connections if held is None else held
            acceptor = Acceptor(self._listener, self._connect, connections, self._limit, self._has_share)
            accepting = asyncio.create_task(acceptor.run())
            try:
                async with asyncio.timeout(DEADLINE_S):
                    await talk(self)
            finally:
                accepting.cancel()
                with suppress(asyncio.CancelledError):
                    await accepting
                for _, writer in self._clients:
                    writer.close()

        with self._listener:
            asyncio.run(accept())

    async def client(self, source: str = "127.0.0.1", sent: bytes = b"") -> Client:
        """A connection from an address of this machine that has sent something."""
        place = self._listener.getsockname()[:2]
        self._clients.append(await asyncio.open_connection(*place, local_addr=(source, 0)))
        self._clients[-1][1].write(sent)
        return self._clients[-1]

    async def hold(self, clients: int, source: str, sent: bytes) -> None:
        """Connections from an address that were accepted."""
        before = len(self.state.connections)
        for _ in range(clients):
            await self.client(source, sent)
        accepted = partial(len, self.state.connections)
        await asyncio.to_thread(wait_until, lambda: accepted() == before + clients, "they are accepted")

    async def ask(self, client: Client) -> bytes:
        """The status line of an answer; b"" where the connection is closed."""
        reader, writer = client
        writer.write(REQUEST)
        status = await reader.readline()
        async for line in reader:
            if line == b"\r\n":
                break
        return status.strip()

    def connections(self) -> list[Connection]:
        """Those that are open, in the order of their last answer."""
        found = [one for one in self.state.connections if isinstance(one, Connection)]
        return sorted(found, key=lambda one: one.idle_since or 0.0)


def age(server: Server, seconds: float) -> None:
    """Its connections have been idle for so much longer; or shorter, however slow the machine is."""
    for one in server.connections():
        assert one.idle_since is not None
        one.idle_since -= seconds


def test_a_client_too_many_is_told_so_and_the_log_once(caplog: pytest.LogCaptureFixture) -> None:
    async def talk(server: Server) -> None:
        for _ in range(2):
            reader, writer = await server.client()
            writer.write(REQUEST)
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
            assert b"retry-after: 1" in head.lower()
            assert b"content-length: %d" % len(body) in head.lower()
            assert json.loads(body)["error"] == BUSY

    Server(2).run(talk, held=[object(), object()])
    assert [one.getMessage() for one in caplog.records] == [
        "all 2 connections are in use: other clients get status 503"
    ]


def test_the_connection_that_was_idle_longest_makes_room() -> None:
    async def talk(server: Server) -> None:
        clients = [await server.client() for _ in range(3)]
        for one in clients:
            assert await server.ask(one) == b"HTTP/1.1 204 No Content"
        for age, connection in zip((3, 5, 2), server.connections(), strict=True):
            assert connection.idle_since is not None
            connection.idle_since -= age
        assert await server.ask(await server.client()) == b"HTTP/1.1 204 No Content"
        assert [await server.ask(one) for one in clients] == [
            b"HTTP/1.1 204 No Content",
            b"",
            b"HTTP/1.1 204 No Content",
        ]

    Server(3).run(talk)


HALF = b"GET / HTTP/1.1\r\nHost: x\r\n"
OTHER = "127.0.0.2"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")


def test_half_a_head_makes_room() -> None:
    async def talk(server: Server) -> None:
        await server.hold(4, "127.0.0.1", HALF)
        age(server, -DEADLINE_S)
        assert await server.ask(await server.client()) == b"HTTP/1.1 503 Service Unavailable"
        age(server, DEADLINE_S + 0.2)
        for _ in range(3):
            assert await server.ask(await server.client()) == b"HTTP/1.1 204 No Content"

    Server(4).run(talk)


@on_linux
def test_the_client_with_the_most_connections_makes_room_first() -> None:
    async def talk(server: Server) -> None:
        few = await server.client(OTHER)
        assert await server.ask(few) == b"HTTP/1.1 204 No Content"
        await server.hold(3, "127.0.0.1", HALF)
        age(server, 2)
        assert await server.ask(await server.client("127.0.0.3")) == b"HTTP/1.1 204 No Content"
        assert await server.ask(few) == b"HTTP/1.1 204 No Content"
        assert len([one for one in server.connections() if one.source == "127.0.0.1"]) == 2

    Server(4).run(talk)


@on_linux
@pytest.mark.parametrize(
    ("has_share", "of_one", "of_another"),
    [
        (lambda _: True, b"HTTP/1.1 503 Service Unavailable", b"HTTP/1.1 204 No Content"),
        (lambda one: one == OTHER, b"HTTP/1.1 204 No Content", b"HTTP/1.1 503 Service Unavailable"),
    ],
    ids=["every client has a share", "a proxy has none"],
)
def test_one_address_has_a_share_of_the_connections(
    has_share: Callable[[str], bool], of_one: bytes, of_another: bytes
) -> None:
    async def talk(server: Server) -> None:
        await server.hold(2, "127.0.0.1", HALF)
        age(server, -DEADLINE_S)
        one = await server.client()
        assert await server.ask(one) == of_one
        if of_one.startswith(b"HTTP/1.1 204"):
            await server.hold(1, "127.0.0.1", HALF)
            age(server, -DEADLINE_S)
        assert await server.ask(await server.client(OTHER)) == of_another

    Server(4, has_share=has_share).run(talk)


@pytest.mark.parametrize(
    ("address", "source"),
    [
        (("192.0.2.7", 80), "192.0.2.7"),
        (("::ffff:192.0.2.7", 80, 0, 0), "192.0.2.7"),
        (("2001:db8:1:2:3::4", 80, 0, 0), "2001:db8:1:2::/64"),
        (("fe80::1%eth0", 80, 0, 2), "fe80::/64"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_client_is_an_address_or_a_network_of_ipv6(address: object, source: str) -> None:
    assert source_of(address) == source


def test_a_connection_that_was_just_used_is_kept() -> None:
    async def talk(server: Server) -> None:
        client = await server.client()
        assert await server.ask(client) == b"HTTP/1.1 204 No Content"
        age(server, -DEADLINE_S)
        assert await server.ask(await server.client()) == b"HTTP/1.1 503 Service Unavailable"
        assert await server.ask(client) == b"HTTP/1.1 204 No Content"

    Server(1).run(talk)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OSError(errno.EMFILE, "too many"),
            "no file descriptor is left for another connection (see ulimit -n)",
        ),
        (OSError(errno.EIO, "broken"), f"a connection cannot be accepted: [Errno {errno.EIO}] broken"),
        (ConnectionResetError("gone"), ""),
    ],
)
def test_an_error_of_one_connection_is_said_once_and_ends_no_other(
    caplog: pytest.LogCaptureFixture, error: OSError, said: str
) -> None:
    failures: Iterator[OSError] = iter([error])

    def connect() -> Connection:
        for one in failures:
            raise one
        return server.connection()

    async def talk(server: Server) -> None:
        for _ in range(2):
            await server.client()
        assert await server.ask(await server.client()) == b"HTTP/1.1 204 No Content"

    server = Server(9, connect)
    with caplog.at_level(logging.WARNING, "vault_indexer"):
        server.run(talk)
    messages = [one.getMessage() for one in caplog.records if one.name.startswith("vault_indexer")]
    assert messages == ([said] if said else [])


def test_who_is_refused_gets_the_answer_whatever_it_has_sent() -> None:
    """A socket closed with a request unread would reset the connection, and the answer might be lost."""

    def connect() -> Connection:
        raise AssertionError("there is no place")

    async def ask() -> tuple[bytes, int]:
        with bind(0) as listener, socket.create_connection(listener.getsockname()) as client:
            client.sendall(b"GET /v1/status HTTP/1.1\r\n\r\n" * 100)
            client.setblocking(False)
            serving = asyncio.create_task(Acceptor(listener, connect, (), 0).run())
            answer = b""
            while part := await asyncio.get_running_loop().sock_recv(client, 1 << 16):
                answer += part
            serving.cancel()
            return answer, client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)

    answer, error = asyncio.run(ask())
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"] == BUSY
    assert error == 0
