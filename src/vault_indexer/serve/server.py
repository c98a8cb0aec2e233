"""Running an HTTP API until a signal ends it."""

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
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vault_indexer.config.settings import ServerSettings
from vault_indexer.daemon.discovery import DAEMON_FILE, DaemonInfo, remove_daemon, write_daemon
from vault_indexer.errors import DaemonError, IndexUnusableError, UsageError
from vault_indexer.serve.connections import KEEP_ALIVE_S, Acceptor, Connection, connection_limit
from vault_indexer.serve.guard import App
from vault_indexer.serve.http import ServerOptions, make_app
from vault_indexer.serve.mcp.actions import NO_ACTIONS, AgentActions
from vault_indexer.service import VaultService

if TYPE_CHECKING:
    from types import FrameType

    import uvicorn

_LOOPBACK = "127.0.0.1"
_TICKS_PER_S = 10
"""Of uvicorn's main loop."""

_SHORTEST_TOKEN = 32
"""Characters of a token that a user chooses; those that are made have 43."""

_GRACE_S = 1
"""Seconds that answers under way have at the end; the whole end takes at most two."""


def bind(port: int, host: str = _LOOPBACK, key: str = "server.port") -> socket.socket:
    """A socket that listens on the address; port 0 lets the system choose. Raises DaemonError, which names
    the key that chooses another port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named, for asyncio turns Nagle's algorithm off on such sockets only: with it, each
    # answer after the first of a connection is 40 ms late.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # a port just left is free again; elsewhere this would share a live one
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise DaemonError(
            f"port {port} cannot be taken: {error.strerror or error}; stop what uses it, or set {key} "
            "to another one (0 lets the system choose)"
        ) from error
    return listener


def run(
    service: VaultService,
    listener: socket.socket,
    settings: ServerSettings,
    ready: Callable[[DaemonInfo], None],
    actions: AgentActions = NO_ACTIONS,
    start_command: Sequence[str] = (),
) -> None:
    """Answer until SIGTERM or SIGINT. `ready` is called once when requests are answered. `actions` are what
    tools of agents may do beyond asking the service, `start_command` is what `daemon.json` names for starting
    this daemon again. Raises the error of the service if that has to end."""
    port: int = listener.getsockname()[1]
    state = service.status()
    index_dir = Path(state.index_dir)
    info = DaemonInfo(
        pid=os.getpid(),
        url=f"http://{_LOOPBACK}:{port}",
        token=_token(settings),
        vault=state.vault,
        started=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        command=tuple(start_command),
    )

    def must_end() -> bool:
        announce_again(index_dir, info)
        return service.failure is not None

    def app(stopping: Callable[[], bool]) -> App:
        return make_app(service, ServerOptions(info.token, port, settings, stopping, actions))

    serve_app(app, listener, settings.max_concurrent, partial(ready, info), must_end)
    if service.failure is not None:
        raise service.failure


def _token(settings: ServerSettings) -> str:
    """A token for this run, or the one that others have been given. Raises UsageError for one that can be
    guessed."""
    if not settings.token_env:
        return secrets.token_urlsafe(32)
    token = os.environ.get(settings.token_env, "")
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"server.token_env: {settings.token_env} holds no token; set it to {_SHORTEST_TOKEN} or more "
            "printable ASCII characters without spaces"
        )
    return token


def serve_app(
    make: Callable[[Callable[[], bool]], App],
    listener: socket.socket,
    max_concurrent: int,
    ready: Callable[[], None],
    must_end: Callable[[], bool] = lambda: False,
) -> None:
    """Answer by an application until SIGTERM or SIGINT, or until `must_end`, which is asked once a second.

    `make` gets a function that says whether the server stops, so that long answers can end.
    """
    import uvicorn

    serving: list[uvicorn.Server] = []
    config = uvicorn.Config(
        make(lambda: any(one.should_exit for one in serving)),
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
                limit = connection_limit(max_concurrent)
                acceptor = Acceptor(listener, self._connect, connections, limit)
                self._accepting = asyncio.create_task(acceptor.run())
                ready()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            self._accepting.cancel()
            await asyncio.wait({self._accepting})
            await super().shutdown(sockets)

        def _connect(self) -> Connection:
            return Connection(config, self.server_state, self.lifespan.state)

        async def on_tick(self, counter: int) -> bool:
            if counter % _TICKS_PER_S == 0 and must_end():
                self.should_exit = True
            return await super().on_tick(counter)

    server = Server(config)
    serving.append(server)
    server.run(sockets=[listener])


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

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.flush()
    finally:
        signal.signal(signal.SIGTERM, before)
