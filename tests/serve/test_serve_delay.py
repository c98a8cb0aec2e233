"""An answer goes out when it is there."""

from __future__ import annotations

import asyncio
import socket

from vault_indexer.serve.server import bind


async def has_no_delay(listener: socket.socket) -> bool:
    """Whether the system sends what is written to an accepted connection at once."""
    found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async with await asyncio.start_server(accept, sock=listener):
        _, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        try:
            return bool(await found)
        finally:
            writer.close()


def test_no_part_of_an_answer_waits_for_the_client_to_acknowledge_another() -> None:
    """Else head and body, two writes, are 40 ms apart on every connection that is kept."""
    assert asyncio.run(has_no_delay(bind(0)))
