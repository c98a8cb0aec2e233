"""Running the HTTP API on loopback until a signal ends it."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from vault_indexer.config.settings import ServerSettings
from vault_indexer.daemon.discovery import DAEMON_FILE, DaemonInfo, remove_daemon, write_daemon
from vault_indexer.errors import DaemonError, IndexUnusableError
from vault_indexer.serve.connections import KEEP_ALIVE_S, Acceptor, Connection, connection_limit
from vault_indexer.serve.http import NO_PARTS, ServerOptions, ServerParts, make_app
from vault_indexer.service import VaultService
from vault_indexer.system import ENDING_SIGNALS

if TYPE_CHECKING:
    from types import FrameType

    import uvicorn

_LOOPBACK = "127.0.0.1"
_TICKS_PER_S = 10
"""Of uvicorn's main loop."""

_GRACE_S = 1
"""Seconds that answers under way have at the end; the whole end takes at most two."""


def bind(port: int) -> socket.socket:
    """A socket that listens on loopback; port 0 lets the system choose. Raises DaemonError."""
    # The protocol is named, for asyncio turns Nagle's algorithm off on such sockets only: with it, each
    # answer after the first of a connection is 40 ms late.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # a port just left is free again; elsewhere this would share a live one
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_LOOPBACK, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise DaemonError(
            f"port {port} cannot be taken: {error.strerror or error}; stop what uses it, or set server.port "
            "to another one (0 lets the system choose)"
        ) from error
    return listener


def run(
    service: VaultService,
    listener: socket.socket,
    settings: ServerSettings,
    ready: Callable[[DaemonInfo], None],
    parts: ServerParts = NO_PARTS,
    start_command: Sequence[str] = (),
) -> None:
    """Answer until SIGTERM or SIGINT. `ready` is called once when requests are answered. `parts` are what
    the server offers beyond asking the service, `start_command` is what `daemon.json` names for starting
    this daemon again. Raises the error of the service if that has to end."""
    import uvicorn

    port: int = listener.getsockname()[1]
    state = service.status()
    index_dir = Path(state.index_dir)
    info = DaemonInfo(
        pid=os.getpid(),
        url=f"http://{_LOOPBACK}:{port}",
        token=secrets.token_urlsafe(32),
        vault=state.vault,
        started=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        command=tuple(start_command),
    )
    serving: list[uvicorn.Server] = []
    options = ServerOptions(
        info.token, port, settings, lambda: any(one.should_exit for one in serving), parts
    )
    config = uvicorn.Config(
        make_app(service, options),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=_GRACE_S,
        timeout_keep_alive=KEEP_ALIVE_S,
        http=Connection,
        ws="none",
        log_level="error",  # a line for each malformed request would let any client fill the log
        h11_max_incomplete_event_size=64 << 10,
    )

    class Server(uvicorn.Server):
        """Accepts a bounded number of connections, and tells when it does."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002
            await super().startup([])
            if self.started:
                connections = self.server_state.connections
                limit = connection_limit(settings.max_concurrent)
                acceptor = Acceptor(listener, self._connect, connections, limit)
                self._accepting = asyncio.create_task(acceptor.run())
                ready(info)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            self._accepting.cancel()
            await asyncio.wait({self._accepting})
            await super().shutdown(sockets)

        def _connect(self) -> Connection:
            return Connection(config, self.server_state, self.lifespan.state)

        async def on_tick(self, counter: int) -> bool:
            if counter % _TICKS_PER_S == 0:
                announce_again(index_dir, info)
            self.should_exit = self.should_exit or service.failure is not None
            return await super().on_tick(counter)

    server = Server(config)
    serving.append(server)
    server.run(sockets=[listener])
    if service.failure is not None:
        raise service.failure


def announce(index_dir: Path, info: DaemonInfo) -> None:
    """Write `daemon.json`. Raises IndexUnusableError."""
    try:
        write_daemon(index_dir, info)
    except OSError as error:
        raise IndexUnusableError(f"cannot write {index_dir}/daemon.json: {error.strerror}") from error


def announce_again(index_dir: Path, info: DaemonInfo) -> None:
    """Write `daemon.json` where it was deleted together with its folder and the folder is there again."""
    if index_dir.is_dir() and not (index_dir / DAEMON_FILE).exists():
        with suppress(OSError):
            write_daemon(index_dir, info)


@contextmanager
def announce_daemon(index_dir: Path) -> Iterator[None]:
    """For the time of the block this process may be announced; at its end it no longer is."""
    try:
        yield
    finally:
        remove_daemon(index_dir, os.getpid())


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does: quietly, with everything closed on the way out.

    uvicorn catches both signals while it runs and raises them again afterwards, when they only confirm
    what has already happened.
    """

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = [(number, signal.signal(number, interrupt)) for number in ENDING_SIGNALS]
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.flush()
    finally:
        for number, handler in before:
            signal.signal(number, handler)
