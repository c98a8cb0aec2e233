"""Assembles a gateway, and runs it until a signal ends it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Self

from vault_gateway.access import CurrentUsers, PublishedVaults
from vault_gateway.app import ROUTES, GatewayParts, make_gateway_app
from vault_gateway.bodies import BodySource, KeptBodies, NoBodies
from vault_gateway.calls import MilvusCalls
from vault_gateway.identity import TrustedProxy
from vault_gateway.metrics import GatewayMetrics
from vault_gateway.milvus import MilvusConnection, MilvusVaults, TokenMissingError
from vault_gateway.oidc import OidcTokens
from vault_gateway.readiness import Drain
from vault_gateway.reading import GatewayReader
from vault_gateway.requests import AuditLog
from vault_gateway.search import GatewaySearch
from vault_gateway.settings import GatewayMilvus, GatewayServer, GatewaySettings, load_gateway
from vault_indexer.daemon.config_watch import ConfigWatch
from vault_indexer.errors import ConfigError, ConfigProblem
from vault_indexer.serve.server import bind, bind_unix, serve_app
from vault_indexer.system import record


@record
class GatewayFile:
    """The configuration of a gateway, and a watch for changes that was created before it was read."""

    path: Path
    settings: GatewaySettings
    watch: ConfigWatch

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises ConfigError with every mistake."""
        watch = ConfigWatch([path])
        return cls(path, load_gateway(path), watch)


def run_gateway(
    file: GatewayFile, listener: socket.socket, environ: Mapping[str, str], ready: Callable[[], None]
) -> None:
    """Answers until SIGTERM or SIGINT, and then finishes the requests in progress. `ready` is called once
    when requests are answered; Milvus need not be available yet. The rights follow the file. Raises
    ConfigError for tokens that are not in the environment, and ProviderError if the extra is not
    installed."""
    server = file.settings.server
    port: int = 0 if server.socket else listener.getsockname()[1]
    drain = Drain(server.drain_s)
    with gateway_parts(file, environ) as parts, parts.users.following():
        serve_app(
            lambda stopping: make_gateway_app(parts, port, drain, stopping),
            listener,
            server.max_concurrent,
            ready,
            drained=drain.finish,
            has_share=lambda address: parts.proxy is None or not parts.proxy.is_trusted((address,)),
        )


@contextmanager
def gateway_listener(server: GatewayServer) -> Iterator[socket.socket]:
    """Listens on the configured address during the block. Raises DaemonError."""
    if not server.socket:
        with closing(bind(server.port, server.host)) as listener:
            yield listener
        return
    path = Path(server.socket)
    with closing(bind_unix(path)) as listener:
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def gateway_parts(file: GatewayFile, environ: Mapping[str, str]) -> Iterator[GatewayParts]:
    """The parts of a gateway; it connects only at the first request."""
    settings = file.settings
    metrics = GatewayMetrics(ROUTES)
    with ExitStack() as cleanup:
        bodies: BodySource = NoBodies()
        if settings.bodies == "keepers":
            bodies = kept = KeptBodies(settings.keepers, environ, settings.keeper_timeout_s, metrics)
            cleanup.callback(kept.close)
        connection = server_connection(settings.milvus, environ)
        cleanup.callback(connection.end)
        calls = MilvusCalls(metrics, connection.is_there)
        vaults = MilvusVaults(connection, settings.milvus.collection_prefix)
        users = CurrentUsers(settings, partial(load_gateway, file.path), file.watch, metrics)
        published = PublishedVaults(vaults, calls, users, settings)
        search = GatewaySearch(vaults, published, calls, bodies, settings)
        reader = GatewayReader(vaults, published, calls, search)
        oidc, proxy, audit = None, None, None
        if settings.oidc is not None:
            with _usable("oidc.ca_file", settings.oidc.ca_file):
                oidc = OidcTokens(settings.oidc, metrics.keys_failures.inc)
        if settings.proxy is not None:
            proxy = TrustedProxy(settings.proxy, by_socket=bool(settings.server.socket))
        if settings.audit.file:
            with _usable("audit.file", settings.audit.file):
                audit = AuditLog.of(settings.audit, metrics.audit_failures.inc)
            cleanup.callback(audit.close)
        yield GatewayParts(settings, users, published, search, reader, metrics, oidc, proxy, audit)


@contextmanager
def _usable(key: str, file: str) -> Iterator[None]:
    """Makes an OSError of the block a mistake in the configuration: the file that the key names."""
    try:
        yield
    except OSError as error:
        problem = ConfigProblem(key, file, f"cannot be used: {error.strerror or error}", "file")
        raise ConfigError([problem]) from error


def server_connection(milvus: GatewayMilvus, environ: Mapping[str, str]) -> MilvusConnection:
    """The connection to the configured server. Raises ConfigError for a token that is not in the
    environment."""
    try:
        return MilvusConnection.from_settings(milvus, environ)
    except TokenMissingError as error:
        problem = ConfigProblem("milvus.token_env", milvus.token_env, "is not set", "environment")
        raise ConfigError([problem]) from error
