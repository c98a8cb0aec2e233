"""One Milvus server, two published vaults and one gateway for all tests that end none of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gateway_lab import ANA, BEN, OPS, Gateway, Team, gateway, publish
from milvus_server import REASON, MilvusServer, shared_server

__all__ = ["shared_server"]

PREFIX = "team"


@pytest.fixture(scope="session")
def team_server(shared_server: MilvusServer) -> MilvusServer:
    pytest.importorskip("prometheus_client", reason=REASON)
    return shared_server


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
