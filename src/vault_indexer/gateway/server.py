"""Puts a gateway together, and runs it until a signal ends it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from vault_indexer.config.gateway import GatewaySettings
from vault_indexer.errors import ConfigError, ConfigProblem
from vault_indexer.gateway.app import ROUTES, GatewayParts, make_gateway_app
from vault_indexer.gateway.bodies import BodySource, KeptBodies, PublishedBodies
from vault_indexer.gateway.calls import MilvusCalls
from vault_indexer.gateway.metrics import GatewayMetrics
from vault_indexer.gateway.published import PublishedVaults
from vault_indexer.gateway.search import GatewaySearch
from vault_indexer.gateway.users import Users
from vault_indexer.serve.server import serve_app
from vault_indexer.store.milvus import MilvusConnection, MilvusVaults


def run_gateway(
    settings: GatewaySettings, listener: socket.socket, environ: Mapping[str, str], ready: Callable[[], None]
) -> None:
    """Answer until SIGTERM or SIGINT. `ready` is called once when requests are answered; Milvus need not
    answer yet. Raises ConfigError for tokens that are not in the environment, and ProviderError where the
    extra is not installed."""
    port: int = listener.getsockname()[1]
    with gateway_parts(settings, environ) as parts:
        serve_app(lambda _: make_gateway_app(parts, port), listener, settings.server.max_concurrent, ready)


@contextmanager
def gateway_parts(settings: GatewaySettings, environ: Mapping[str, str]) -> Iterator[GatewayParts]:
    """The parts of a gateway; nothing is connected before the first request."""
    metrics = GatewayMetrics(ROUTES)
    calls = MilvusCalls(metrics)
    milvus = settings.milvus
    with ExitStack() as cleanup:
        bodies = _body_source(settings, environ, metrics, cleanup)
        connection = MilvusConnection(
            milvus.uri,
            _milvus_token(settings, environ),
            consistency=milvus.consistency,
            timeout_s=milvus.timeout_s,
        )
        cleanup.callback(connection.close)
        vaults = MilvusVaults(connection, milvus.collection_prefix)
        published = PublishedVaults(vaults, calls, settings.states_s)
        search = GatewaySearch(vaults, published, calls, bodies, settings)
        yield GatewayParts(settings, Users(settings.users), published, search, metrics)


def _body_source(
    settings: GatewaySettings, environ: Mapping[str, str], metrics: GatewayMetrics, cleanup: ExitStack
) -> BodySource:
    if settings.bodies == "milvus":
        return PublishedBodies()
    kept = KeptBodies(settings.keepers, environ, settings.keeper_timeout_s, metrics)
    cleanup.callback(kept.close)
    return kept


def _milvus_token(settings: GatewaySettings, environ: Mapping[str, str]) -> str:
    name = settings.milvus.token_env
    if name and not environ.get(name):
        raise ConfigError([ConfigProblem("milvus.token_env", name, "is not set", "environment")])
    return environ.get(name, "") if name else ""
