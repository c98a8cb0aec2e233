"""Bodies from the catalogs of keepers, and keepers that are away, slow or strange."""

import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

import pytest
from gateway_lab import BEN, Gateway, Team, gateway, notices, results
from serve_api import Api, end, serve
from waiting import wait_until

TOKEN = "a-token-of-a-keeper-that-is-long-enough"
VARIABLE = "TOKEN_OF_A_KEEPER"


@dataclass
class Kept:
    """A vault, the daemon that keeps and publishes it, and where it is published."""

    team: Team
    process: Popen[str]
    api: Api

    def tables(self, port: int | None = None) -> str:
        url = f"http://127.0.0.1:{port or self.api.port}"
        return f'[[keepers]]\nname = "one"\nurl = "{url}"\ntoken_env = "{VARIABLE}"\n'


@pytest.fixture(scope="module")
def kept(team: Team, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    folder: Path = tmp_path_factory.mktemp("kept")
    own = Team(folder, team.uri, "bodies")
    config = (
        f'[index]\nbackend = "milvus"\nworkers = 1\nnice = 0\n[embedding]\nprovider = "wordllama"\n'
        f'[milvus]\nuri = "{team.uri}"\ncollection_prefix = "bodies"\nkeeper = "one"\nstore_bodies = false\n'
        f'[server]\ntoken_env = "{VARIABLE}"\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, TOKEN)
        process, api = serve(folder, config)
        assert api.token == TOKEN
        yield Kept(own, process, api)
        end(process)


def asked(one: Gateway) -> str:
    wait_until(lambda: one.paths(BEN, "telescope"))
    return str(results(one.search(BEN, "telescope rings", by="note"))[0]["content"])


@pytest.mark.long
def test_bodies_come_from_the_catalog_of_the_keeper(kept: Kept) -> None:
    with gateway(kept.team, [BEN], 'bodies = "keepers"', kept.tables()) as one:
        assert "rings of Saturn" in asked(one)
        hit = results(one.search(BEN, "telescope rings"))[0]
        assert "telescope" in str(hit["snippet"])
        assert hit["keeper"] == "one"
        assert TOKEN not in one.search(BEN, "telescope").body.decode()


@pytest.mark.long
def test_a_keeper_that_does_not_answer_costs_the_text_and_no_more(kept: Kept) -> None:
    """One port where nobody listens, and one where nobody answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        port = silent.getsockname()[1]
        for top, tables in (
            ('bodies = "keepers"\nkeeper_timeout_s = 0.5', kept.tables(port)),
            ('bodies = "keepers"\nkeeper_timeout_s = 0.5', kept.tables(1)),
            ('bodies = "milvus"', ""),
        ):
            with gateway(kept.team, [BEN], top, tables) as one:
                assert asked(one) == ""
                found = one.search(BEN, "telescope")
                assert results(found)[0]["path"] == "Sky.md"
                assert results(found)[0]["snippet"] == ""
                assert "without text" in notices(found)
                refused = one.search(BEN, 'telescope "rings of Saturn"')
                assert refused.status == 422
                assert b"is not published, but the query has conditions on it" in refused.body
                assert one.get("/v1/note", BEN, path="Sky.md").status == 422
                assert one.paths(BEN, "telescope path:Sky") == ["Sky.md"]
