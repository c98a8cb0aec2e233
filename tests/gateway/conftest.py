"""One Milvus server, two published vaults and one gateway for all tests that end none of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gateway_lab import ANA, BEN, OPS, Gateway, Team, gateway, publish
from milvus_server import MilvusServer, milvus_server, shared_server

__all__ = ["shared_server"]

REASON = 'the extra "milvus" is not installed: pip install "vault-indexer[milvus]"'
PREFIX = "team"


@pytest.fixture(scope="session")
def team_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    for module in ("pymilvus", "milvus_lite", "prometheus_client"):
        pytest.importorskip(module, reason=REASON)
    with milvus_server(tmp_path_factory.mktemp("milvus") / "data") as server:
        yield server


@pytest.fixture(scope="session")
def team(team_server: MilvusServer, tmp_path_factory: pytest.TempPathFactory) -> Team:
    folder: Path = tmp_path_factory.mktemp("team")
    team = Team(folder, team_server.uri, PREFIX)
    publish(team, "kitchen")
    publish(team, "observatory")
    return team


@pytest.fixture(scope="session")
def shared_gateway(team: Team) -> Iterator[Gateway]:
    with gateway(team, [ANA, BEN, OPS]) as one:
        yield one
