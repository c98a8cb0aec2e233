"""Runs an HTTP API until a signal ends it."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from vault_indexer.config.settings import ServerSettings
from vault_indexer.daemon.discovery import (
    ADDRESS_FILE,
    DAEMON_FILE,
    DaemonInfo,
    KeptAddress,
    remove_daemon,
    write_address,
    write_daemon,
)
from vault_indexer.errors import DaemonError, IndexUnusableError, UsageError
from vault_indexer.serve.app import Site, make_app
from vault_indexer.serve.http.connections import KEEP_ALIVE_S, Acceptor, Connection, connection_limit
from vault_indexer.serve.http.guard import App
from vault_indexer.system import ENDING_SIGNALS
from vault_indexer.text.phrases import iso_moment

if TYPE_CHECKING:
    from types import FrameType

    import uvicorn


_LOOPBACK = "127.0.0.1"
_TICKS_PER_S = 10
"""The frequency of uvicorn's main loop."""

_SHORTEST_TOKEN = 32
"""The minimum number of characters of a token that a user chooses; generated tokens have 43."""

_GRACE_S = 1
"""The number of seconds that pending answers have at shutdown, which takes at most two."""


def bind(port: int, host: str = _LOOPBACK, key: str = "server.port") -> socket.socket:
    """Returns a socket that listens on the address; port 0 lets the system choose. Raises DaemonError, which
    names the setting for the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is explicit because asyncio disables Nagle's algorithm only on such sockets: with it, each
    # answer after the first on a connection is 40 ms late.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # a port just released is free again; on other systems this would share a live one
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise DaemonError(
            f"cannot bind to port {port}: {error.strerror or error}; stop the process using it, or set {key} "
            "to another one (0 lets the system choose)"
        ) from error
    return listener


def bind_unix(path: Path) -> socket.socket:
    """Returns a Unix socket that listens at the path, for its owner and group. Replaces a socket without a
    listener. Raises DaemonError."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket() and not _is_answered(path):
            path.unlink()
        listener.bind(str(path))
        path.chmod(0o660)  # no client can connect before it listens
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise DaemonError(f"cannot listen on the socket {path}: {error.strerror or error}") from error
    return listener


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(str(path)) == 0


def bind_again(settings: ServerSettings, kept: KeptAddress | None) -> socket.socket:
    """Returns a socket that listens on the port of the settings. If the system may choose, it uses the port
    of the last daemon, or another one if that is occupied. Raises DaemonError."""
    if settings.port == 0 and kept is not None:
        # Another program may have taken the port since.
        with suppress(DaemonError):
            return bind(kept.port)
    return bind(settings.port)


def daemon_info(
    listener: socket.socket,
    vault: str,
    settings: ServerSettings,
    start_command: Sequence[str] = (),
    kept: KeptAddress | None = None,
) -> DaemonInfo:
    """The announcement of a server of this process on this socket, with its token. `vault` is the folder that
    it serves, "" for several; `start_command` restarts it. The token of the `kept` address is reused if the
    socket listens there: if not, another process occupied the port and may have received the token. Raises
    UsageError for a token that can be guessed."""
    # Port 0 of the settings has become a real one.
    port: int = listener.getsockname()[1]
    token = kept.token if kept is not None and kept.port == port else ""
    return DaemonInfo(
        pid=os.getpid(),
        url=f"http://{_LOOPBACK}:{port}",
        token=_token(settings, token),
        vault=vault,
        started=iso_moment(datetime.now(UTC)),
        command=tuple(start_command),
    )


def run(site: Site, listener: socket.socket, ready: Callable[[DaemonInfo], None]) -> None:
    """Answers until SIGTERM or SIGINT. `ready` is called once when requests are answered. Raises the failure
    of the site if that ends it."""

    def must_end() -> bool:
        site.announce_again()
        return site.failure() is not None

    make, most = partial(make_app, site), site.settings.max_concurrent
    serve_app(make, listener, most, partial(ready, site.info), must_end)
    failure = site.failure()
    if failure is not None:
        raise failure


def address_to_keep(info: DaemonInfo, settings: ServerSettings) -> KeptAddress:
    """The address of this server, for the next one. A token from the environment is not stored."""
    return KeptAddress(urlsplit(info.url).port or 0, "" if settings.token_env else info.token)


def _token(settings: ServerSettings, kept: str) -> str:
    """The token of the settings, else the stored one, else a new one. Raises UsageError for a token in the
    settings that can be guessed."""
    if not settings.token_env:
        return kept if len(kept) >= _SHORTEST_TOKEN else secrets.token_urlsafe(32)
    token = os.environ.get(settings.token_env, "")
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"server.token_env: {settings.token_env} contains no token; set it to {_SHORTEST_TOKEN} or more "
            "printable ASCII characters without spaces"
        )
    return token


async def _at_once() -> None: ...


def serve_app(  # noqa: PLR0913 - the hooks of a server
    make: Callable[[Callable[[], bool]], App],
    listener: socket.socket,
    max_concurrent: int,
    ready: Callable[[], None],
    must_end: Callable[[], bool] = lambda: False,
    drained: Callable[[], Awaitable[None]] = _at_once,
    has_share: Callable[[str], bool] = lambda _: False,
) -> None:
    """Answers with an application until SIGTERM or SIGINT, or until `must_end`, which is called once a
    second, is true.

    `make` gets a function that returns whether the server is stopping, so that long answers can end.
    `drained` is called then; until it returns, requests are accepted and answered. A second Ctrl-C ends that.
    `has_share` reports whether the connections from an address are limited to a share of them all.
    """
    import uvicorn

    serving: list[uvicorn.Server] = []
    config = uvicorn.Config(
        # A list, because the application is made before its server.
        make(lambda: any(one.should_exit for one in serving)),
        log_config=None,
        access_log=False,
        # The guard would pass it on to an application without one.
        lifespan="off",
        # A client needs neither header, and a name and version help an attacker.
        server_header=False,
        date_header=False,
        proxy_headers=False,  # the peer address is authoritative, whatever X-Forwarded-For contains
        timeout_graceful_shutdown=_GRACE_S,
        timeout_keep_alive=KEEP_ALIVE_S,
        http=Connection,
        ws="none",
        log_level="error",  # a line for each malformed request would let any client fill the log
    )

    class Server(uvicorn.Server):
        """Accepts a limited number of connections, and reports when it does."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002
            # No sockets: uvicorn would start asyncio's accept loop, which `Acceptor` replaces.
            await super().startup([])
            if self.started:
                connections = self.server_state.connections
                limit = connection_limit(max_concurrent)
                acceptor = Acceptor(listener, self._connect, connections, limit, has_share)
                self._accepting = asyncio.create_task(acceptor.run())
                ready()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # Connections are accepted until the drain ends: clients may not have noticed the shutdown yet.
            await self._drain()
            self._accepting.cancel()
            await asyncio.wait({self._accepting})
            await super().shutdown(sockets)

        async def _drain(self) -> None:
            draining = asyncio.ensure_future(drained())
            while not draining.done() and not self.force_exit:
                await asyncio.wait({draining}, timeout=1 / _TICKS_PER_S)
            draining.cancel()

        def _connect(self) -> Connection:
            return Connection(config, self.server_state, self.lifespan.state)

        async def on_tick(self, counter: int) -> bool:
            if counter % _TICKS_PER_S == 0 and must_end():
                self.should_exit = True
            return await super().on_tick(counter)

    server = Server(config)
    serving.append(server)
    server.run(sockets=[listener])


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM ends the block like Ctrl-C: quietly, with everything closed on the way out.

    uvicorn catches both signals while it runs and raises them again afterwards, when they only confirm what
    has already happened.
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


class Announcements:
    """The announcements of one server: a `daemon.json` for each index that it serves. Thread-safe; `close`
    removes all of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_folder: dict[Path, DaemonInfo] = {}

    def add(self, index_dir: Path, info: DaemonInfo) -> None:
        """Writes `daemon.json`. Raises IndexUnusableError."""
        with self._lock:
            # First, so that `again` writes the file later if it cannot be written now.
            self._by_folder[index_dir] = info
        try:
            write_daemon(index_dir, info)
        except OSError as error:
            raise IndexUnusableError(f"cannot write {index_dir / DAEMON_FILE}: {error.strerror}") from error

    def keep(self, index_dir: Path, address: KeptAddress) -> None:
        """Writes `address.json`, which remains after the server ends. Raises IndexUnusableError."""
        try:
            write_address(index_dir, address)
        except OSError as error:
            raise IndexUnusableError(f"cannot write {index_dir / ADDRESS_FILE}: {error.strerror}") from error

    def again(self) -> None:
        """Rewrites files that were deleted together with their folder, if the folder exists again."""
        with self._lock:
            known = list(self._by_folder.items())
        for index_dir, info in known:
            # A folder that is still missing is restored by the loop, not here.
            if index_dir.is_dir() and not (index_dir / DAEMON_FILE).exists():
                with suppress(OSError):
                    write_daemon(index_dir, info)

    def remove(self, index_dir: Path) -> None:
        with self._lock:
            # First: `again` would write a file that is missing.
            self._by_folder.pop(index_dir, None)
        remove_daemon(index_dir, os.getpid())

    def close(self) -> None:
        for index_dir in list(self._by_folder):
            self.remove(index_dir)
