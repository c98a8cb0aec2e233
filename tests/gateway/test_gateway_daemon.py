"""The daemon publishes to Milvus: freshness, faults of the server, and what is found here meanwhile."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from gateway_lab import Team
from milvus_server import MilvusServer
from tcp_proxy import TcpProxy, tcp_proxy
from vault_at_work import Place, daemon, holding, opened, place, wait_for

from vault_gateway.milvus import MilvusConnection, MilvusRetriever, MilvusVaults, VaultState
from vault_gateway.milvus.retrieval import Selection, VaultScope
from vault_gateway.owner import IdentityFile
from vault_gateway.unpublish import take_over
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.errors import LockedError
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService
from vault_indexer.text.query import analyze_query

resource = pytest.importorskip("resource", reason="limits of POSIX")

pytestmark = pytest.mark.long

NOT_PUBLISHED = "publishing to Milvus failed and will be retried; local search is not affected"


@dataclass
class Published:
    """A vault whose daemon publishes through a proxy, and a client that asks the server itself."""

    where: Place
    proxy: TcpProxy
    server: MilvusServer
    vaults: MilvusVaults

    def configure(self, backend: str = "milvus") -> None:
        team = Team(self.where.vault, self.proxy.uri, self.vaults.prefix)
        self.where.configure(team.keeper("keeper", backend))
        self.where.tune("[milvus]\ntimeout_s = 2\n")

    @property
    def vault(self) -> str:
        identity = IdentityFile(self.where.index_dir).read()
        return identity.vault if identity else ""

    def state(self) -> VaultState:
        state = self.vaults.state(self.vault)
        assert state is not None
        return state

    def found(self, word: str) -> list[str]:
        """The notes in which the server finds a word."""
        state = self.vaults.state(self.vault)
        if state is None:
            return []
        retriever = MilvusRetriever(self.vaults.connection, state.collection, [state])
        hits = retriever.best(VaultScope.of([self.vault]), analyze_query(word, ("en",)), Selection())
        return [hit.path for hit in hits]

    def rows(self, collection: str) -> int:
        """All rows, active or not."""
        return self.vaults.connection.count(collection, 'vault != ""')


def made(folder: Path, server: MilvusServer, prefix: str) -> Iterator[Published]:
    with tcp_proxy(server.port) as proxy:
        vaults = MilvusVaults(MilvusConnection(server.uri), prefix)
        published = Published(place(folder), proxy, server, vaults)
        published.configure()
        yield published


@pytest.fixture
def published(tmp_path: Path, shared_server: MilvusServer, prefixes: Iterator[str]) -> Iterator[Published]:
    yield from made(tmp_path, shared_server, next(prefixes))


@pytest.fixture(scope="module")
def kept(
    tmp_path_factory: pytest.TempPathFactory, shared_server: MilvusServer, prefixes: Iterator[str]
) -> Iterator[Published]:
    """One for the tests whose daemon runs all the time."""
    yield from made(tmp_path_factory.mktemp("kept"), shared_server, next(prefixes))


@pytest.fixture(scope="module")
def service(kept: Published) -> Iterator[VaultService]:
    with daemon(kept.where) as service:
        wait_for_server(service)
        yield service


def notices(service: VaultService) -> str:
    return "; ".join(service.search(SearchRequest("bread")).notices)


def wait_for_server(service: VaultService) -> None:
    """Until it answers with all that is in the index."""
    wait_for(lambda: service.status().pending == 0)


def test_a_change_is_pending_until_the_server_answers_with_it(kept: Published, service: VaultService) -> None:
    assert kept.found("dough") == ["Bread.md"]
    state, status = kept.state(), service.status()
    assert (state.name, state.keeper, state.languages) == ("vault", "keeper", ("en",))
    assert (state.generation, state.chunks) == (status.generation, status.counts.chunks)
    assert state.weights == ""  # one model for all vaults of a server
    kept.where.write("Bread.md", "# Bread\n\nThe marmalade is on the table.\n")
    wait_for(lambda: holding(service, "marmalade"))
    wait_for_server(service)
    assert (kept.found("marmalade"), kept.found("dough")) == (["Bread.md"], [])
    assert NOT_PUBLISHED not in notices(service)


@pytest.mark.parametrize("fault", ["hang", "refuse"])
def test_edits_and_searches_go_on_while_the_server_does_not_answer(
    kept: Published, service: VaultService, fault: str
) -> None:
    getattr(kept.proxy, fault)()
    for number in range(3):
        kept.where.write(f"{fault} {number}.md", f"# New\n\nA wheelbarrow{number} of {fault}gravel.\n")
        wait_for(partial(holding, service, f"wheelbarrow{number}"))
    assert service.status().pending
    wait_for(lambda: NOT_PUBLISHED in notices(service))
    assert "Milvus at http://127.0.0.1" in service.status().detail
    kept.proxy.let_pass()
    wait_for_server(service)
    assert set(kept.found(f"{fault}gravel")) == {f"{fault} {number}.md" for number in range(3)}
    wait_for(lambda: NOT_PUBLISHED not in notices(service))


def test_a_server_whose_disk_is_full_gets_the_rest_later(kept: Published, service: VaultService) -> None:
    process = kept.server.process
    assert process is not None
    usual = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
    try:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, usual[1]))
        kept.where.write("Later.md", "# Later\n\nA harpsichord.\n")
        wait_for(lambda: holding(service, "harpsichord") and NOT_PUBLISHED in notices(service))
        assert service.status().pending
    finally:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, usual)
    wait_for_server(service)
    assert kept.found("harpsichord") == ["Later.md"]


def test_a_lost_collection_is_written_again_with_the_next_edit(
    kept: Published, service: VaultService
) -> None:
    connection = kept.vaults.connection
    for name in connection.call("list_collections"):
        if str(name).startswith(kept.vaults.prefix):
            for alias in connection.call("list_aliases", name)["aliases"]:
                connection.call("drop_alias", alias)
            connection.call("drop_collection", name)
    assert kept.found("fan") == []
    kept.where.write("Music.md", "# Music\n\nA trombone.\n")
    wait_for(lambda: holding(service, "trombone"))
    wait_for_server(service)
    assert (kept.found("trombone"), kept.found("fan")) == (["Music.md"], ["Oven.md"])


def test_a_rebuild_is_published_beside_and_leaves_nothing_behind(
    kept: Published, service: VaultService
) -> None:
    before = kept.state()
    service.rebuild(lambda _: None, RebuildOptions(refit=False))
    wait_for(lambda: kept.state() != before)
    wait_for_server(service)
    after = kept.state()
    assert after.generation == before.generation + 1
    assert after.epoch > before.epoch
    assert kept.found("fan") == ["Oven.md"]
    assert kept.rows(after.collection) == after.chunks


def test_an_index_catches_up_when_it_starts_and_another_one_has_to_take_over(published: Published) -> None:
    where = published.where
    published.proxy.refuse()
    with daemon(where) as service:
        assert holding(service, "dough") == {"Bread.md"}
        wait_for(lambda: NOT_PUBLISHED in notices(service))
        published.proxy.let_pass()
        wait_for_server(service)
        assert published.found("dough") == ["Bread.md"]
    before = published.state()
    where.write("Later.md", "# Later\n\nA harpsichord.\n")
    with opened(where) as service:
        assert holding(service, "harpsichord") == {"Later.md"}
    assert published.found("harpsichord") == []
    with daemon(where) as service:
        wait_for_server(service)
    assert published.found("harpsichord") == ["Later.md"]
    of_first = published.state()
    assert of_first.epoch == before.epoch, "a change is applied, not everything written again"

    where.index_dir.rename(where.index_dir.with_name("old index"))
    (where.vault / "Bread.md").unlink()
    with daemon(where) as service:
        wait_for(lambda: "has been published by another index since" in notices(service))
        assert "take it over with --take-over" in service.status().detail
        assert published.vaults.state(before.vault) == of_first, "the index that is refused writes nothing"
        with pytest.raises(LockedError):
            take_over(where.target({}), {})
    assert take_over(where.target({}), {})
    with daemon(where) as service:
        wait_for_server(service)
    assert published.found("dough") == []
    assert published.rows(of_first.collection) == published.state().chunks


def test_a_vault_is_removed_by_command_while_no_daemon_publishes_it(published: Published) -> None:
    with daemon(published.where) as service:
        wait_for_server(service)
        state = published.state()
        neighbour = replace(state, vault="neighbour", place="of another folder")
        published.vaults.put(neighbour, None)
        assert unpublish(published.where).returncode == 3
    assert published.found("dough") == ["Bread.md"]
    published.configure("embedded")
    with daemon(published.where):
        done = unpublish(published.where)
    assert (done.returncode, done.stdout) == (0, "")
    assert f"indexer gateway --config FILE unpublish {state.vault}\n" in done.stderr, "hides a restored copy"
    assert published.vaults.state(state.vault) is None
    assert published.rows(state.collection) == 0
    assert published.vaults.state("neighbour") == neighbour, "another vault stays"
    assert unpublish(published.where).stderr.count(" is not published on ") == 1


def unpublish(where: Place) -> subprocess.CompletedProcess[str]:
    """The command, as a person runs it."""
    options = ("--vault", where.vault, "--index-dir", where.index_dir, "--config", where.config)
    command = [sys.executable, "-m", "vault_indexer", "gateway", "unpublish", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
