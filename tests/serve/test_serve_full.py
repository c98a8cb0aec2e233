"""A client that finds all connections in use is told so."""

from __future__ import annotations

import asyncio
import socket

from vault_indexer.serve.http.connections import Acceptor, Connection
from vault_indexer.serve.server import bind


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
    assert answer.endswith(
        b'{"error": {"kind": "busy", "message": "too many connections are open: try again"}}'
    )
    assert error == 0
