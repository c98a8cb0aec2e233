"""One Milvus server, two published vaults and one gateway for all tests that end none of them."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest
from gateway_lab import ANA, BEN, OPS, Gateway, Team, gateway, publish
from milvus_server import REASON, MilvusServer, shared_server
from waiting import wait_until

__all__ = ["shared_server"]


@pytest.fixture(scope="module")
def prefixes(request: pytest.FixtureRequest) -> Iterator[str]:
    """Prefixes of collections. No two tests have one in common, as all of a worker use one server: modules
    have names of their own, and each prefix is given once."""
    return (f"{request.path.stem}_{number}" for number in count())


@pytest.fixture(scope="module")
def new_team(
    team_server: MilvusServer, prefixes: Iterator[str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Team]:
    """Makes a team without vaults, with a folder and collections of its own."""
    return lambda: Team(tmp_path_factory.mktemp("team"), team_server.uri, next(prefixes))


@pytest.fixture(scope="session")
def team_server(shared_server: MilvusServer) -> MilvusServer:
    pytest.importorskip("prometheus_client", reason=REASON)
    return shared_server


@pytest.fixture(scope="session")
def team(team_server: MilvusServer, tmp_path_factory: pytest.TempPathFactory) -> Team:
    team = Team(tmp_path_factory.mktemp("team"), team_server.uri, "team")
    publish(team, "kitchen")
    publish(team, "observatory")
    return team


@pytest.fixture(scope="session")
def shared_gateway(team: Team) -> Iterator[Gateway]:
    with gateway(team, [ANA, BEN, OPS]) as one:
        # The first probe loads the client of the server, which may take longer than one probe may.
        wait_until(lambda: one.get("/readyz").status == 200, "the gateway is ready")
        yield one
