"""The daemon publishes to Milvus: freshness, faults of the server, and what is found here meanwhile."""

import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from milvus_server import MilvusServer, milvus_server
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

pytestmark = pytest.mark.long

NOT_PUBLISHED = "publishing to Milvus failed and will be retried; local search is not affected"


@dataclass
class Published:
    """A vault whose daemon publishes through a proxy, and a client that asks the server itself."""

    where: Place
    proxy: TcpProxy
    server: MilvusServer
    vaults: MilvusVaults

    @property
    def vault(self) -> str:
        identity = IdentityFile(self.where.index_dir).read()
        return identity.vault if identity else ""

    def state(self) -> VaultState | None:
        return self.vaults.state(self.vault)

    def found(self, word: str) -> list[str]:
        """The notes in which the server finds a word."""
        state = self.state()
        if state is None:
            return []
        retriever = MilvusRetriever(self.vaults.connection, state.collection, [state])
        hits = retriever.best(VaultScope.of([self.vault]), analyze_query(word, ("en",)), Selection())
        return [hit.path for hit in hits]


@pytest.fixture
def published(tmp_path: Path, shared_server: MilvusServer) -> Iterator[Published]:
    where = place(tmp_path)
    prefix = "keeper_" + re.sub(r"\W", "_", tmp_path.name)[-40:]
    with tcp_proxy(shared_server.port) as proxy:
        configure(where, proxy.uri, prefix)
        yield Published(
            where, proxy, shared_server, MilvusVaults(MilvusConnection(shared_server.uri), prefix)
        )


def configure(where: Place, uri: str, prefix: str, consistency: str = "session") -> None:
    where.configure(
        f'[embedding]\nprovider = "wordllama"\n'  # whose weights are published, too
        f'[index]\nworkers = 1\nbackend = "milvus"\n[milvus]\nuri = "{uri}"\nkeeper = "keeper"\n'
        f'collection_prefix = "{prefix}"\n'
    )
    where.tune(f'[milvus]\ntimeout_s = 2\nconsistency = "{consistency}"\n')


def notices(service: VaultService) -> str:
    return "; ".join(service.search(SearchRequest("bread")).notices)


def all_published(service: VaultService) -> bool:
    return service.status().pending == 0


@pytest.mark.parametrize("consistency", ["session", "bounded"])
def test_a_change_is_pending_until_the_server_answers_with_it(published: Published, consistency: str) -> None:
    configure(published.where, published.proxy.uri, published.vaults.prefix, consistency)
    with daemon(published.where) as service:
        wait_for(lambda: all_published(service))
        assert published.found("dough") == ["Bread.md"]
        state, counts = published.state(), service.status().counts
        assert state is not None
        assert (state.name, state.keeper, state.languages) == ("vault", "keeper", ("en",))
        assert (state.generation, state.chunks) == (service.status().generation, counts.chunks)
        assert state.weights == ""  # one model for all vaults of a server
        published.where.write("Bread.md", "# Bread\n\nThe marmalade is on the table.\n")
        wait_for(lambda: holding(service, "marmalade") and all_published(service))
        assert published.found("marmalade") == ["Bread.md"]
        assert published.found("dough") == []
        assert NOT_PUBLISHED not in notices(service)


@pytest.mark.parametrize("fault", ["hang", "refuse"])
def test_edits_and_searches_go_on_while_the_server_does_not_answer(published: Published, fault: str) -> None:
    with daemon(published.where) as service:
        wait_for(lambda: all_published(service))
        getattr(published.proxy, fault)()
        for number in range(3):
            published.where.write(f"New {number}.md", f"# New\n\nA wheelbarrow{number} of gravel.\n")
            wait_for(partial(holding, service, f"wheelbarrow{number}"))
        assert service.status().pending
        wait_for(lambda: NOT_PUBLISHED in notices(service))
        assert "Milvus at http://127.0.0.1" in service.status().detail
        published.proxy.let_pass()
        wait_for(lambda: all_published(service))
        assert set(published.found("gravel")) == {"New 0.md", "New 1.md", "New 2.md"}
        wait_for(lambda: NOT_PUBLISHED not in notices(service))


def test_a_server_that_is_killed_and_started_again_has_all_of_it(
    tmp_path: Path, shared_server: MilvusServer
) -> None:
    where = place(tmp_path)
    with milvus_server(tmp_path / "data") as server, tcp_proxy(server.port) as proxy:
        configure(where, proxy.uri, "restarted")
        vaults = MilvusVaults(MilvusConnection(server.uri), "restarted")
        published = Published(where, proxy, server, vaults)
        with daemon(where) as service:
            wait_for(lambda: all_published(service))
            server.kill()
            where.write("Later.md", "# Later\n\nA harpsichord.\n")
            wait_for(lambda: holding(service, "harpsichord") and NOT_PUBLISHED in notices(service))
            server.start()
            wait_for(lambda: all_published(service))
            assert published.found("harpsichord") == ["Later.md"]
            assert published.found("dough") == ["Bread.md"]


def test_a_daemon_that_starts_without_the_server_catches_up(published: Published) -> None:
    published.proxy.refuse()
    with daemon(published.where) as service:
        assert holding(service, "dough") == {"Bread.md"}
        wait_for(lambda: NOT_PUBLISHED in notices(service))
        published.proxy.let_pass()
        wait_for(lambda: all_published(service))
        assert published.found("dough") == ["Bread.md"]


def test_what_was_written_without_a_daemon_is_published_by_the_next(published: Published) -> None:
    with daemon(published.where) as service:
        wait_for(lambda: all_published(service))
    before = published.state()
    published.where.write("Later.md", "# Later\n\nA harpsichord.\n")
    with opened(published.where) as service:
        assert holding(service, "harpsichord") == {"Later.md"}
    assert published.found("harpsichord") == []
    with daemon(published.where) as service:
        wait_for(lambda: all_published(service))
        assert published.found("harpsichord") == ["Later.md"]
    after = published.state()
    assert before is not None
    assert after is not None
    assert after.epoch == before.epoch, "a change is applied, not everything written again"


def test_a_lost_collection_is_written_again_with_the_next_edit(published: Published) -> None:
    with daemon(published.where) as service:
        wait_for(lambda: all_published(service))
        drop_all(published)
        assert published.found("dough") == []
        published.where.write("Later.md", "# Later\n\nA harpsichord.\n")
        wait_for(lambda: holding(service, "harpsichord") and all_published(service))
        assert published.found("harpsichord") == ["Later.md"]
        assert published.found("dough") == ["Bread.md"]


def test_a_rebuild_is_published_beside_and_leaves_nothing_behind(published: Published) -> None:
    with daemon(published.where) as service:
        wait_for(lambda: all_published(service))
        before = published.state()
        service.rebuild(lambda _: None, RebuildOptions(refit=False))
        wait_for(lambda: (published.state() or before) != before and all_published(service))
        after = published.state()
        assert before is not None
        assert after is not None
        assert after.generation == before.generation + 1
        assert after.epoch > before.epoch
        assert published.found("dough") == ["Bread.md"]
        assert rows(published) == after.chunks


def test_an_index_that_was_deleted_does_not_pass_for_the_old_one(published: Published) -> None:
    with daemon(published.where) as service:
        wait_for(lambda: all_published(service))
        before = published.state()
    published.where.index_dir.rename(published.where.index_dir.with_name("old index"))
    (published.where.vault / "Bread.md").unlink()
    with daemon(published.where) as service:
        wait_for(lambda: "has been published by another index since" in notices(service))
        assert "take it over with --take-over" in service.status().detail
        assert before is not None
        assert published.vaults.state(before.vault) == before, "the index that is refused writes nothing"
        with pytest.raises(LockedError):
            take_over(published.where.target({}), {})
    assert take_over(published.where.target({}), {})
    with daemon(published.where) as service:
        wait_for(lambda: all_published(service))
        assert published.found("dough") == []
        state = published.state()
        assert state is not None
        assert rows(published) == state.chunks


def test_a_server_whose_disk_is_full_gets_the_rest_later(published: Published) -> None:
    process = published.server.process
    assert process is not None
    with daemon(published.where) as service:
        wait_for(lambda: all_published(service))
        usual = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        try:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, usual[1]))
            published.where.write("Later.md", "# Later\n\nA harpsichord.\n")
            wait_for(lambda: holding(service, "harpsichord") and NOT_PUBLISHED in notices(service))
            assert service.status().pending
        finally:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, usual)
        wait_for(lambda: all_published(service))
        assert published.found("harpsichord") == ["Later.md"]


def test_a_vault_is_removed_from_the_server_by_command(published: Published) -> None:
    other = MilvusVaults(MilvusConnection(published.server.uri), published.vaults.prefix)
    with daemon(published.where) as service:
        wait_for(lambda: all_published(service))
        state = published.state()
        assert state is not None
        neighbour = replace(state, vault="neighbour", place="of another folder")
        other.put(neighbour, None)
        busy = unpublish(published.where)
        assert busy.returncode == 3
        assert "which would publish the vault again: stop it" in busy.stderr
    assert published.found("dough") == ["Bread.md"]

    done = unpublish(published.where)
    assert (done.returncode, done.stdout) == (0, "")
    assert f"{published.proxy.uri}; its id was {state.vault}.\n" in done.stderr
    assert f"indexer gateway --config FILE unpublish {state.vault}\n" in done.stderr, "hides a restored copy"
    assert other.state(state.vault) is None
    assert rows(published, state.collection) == 0
    assert other.state("neighbour") == neighbour, "another vault stays"
    assert unpublish(published.where).stderr.count(" is not published on ") == 1

    with daemon(published.where) as service:
        wait_for(lambda: all_published(service))
        assert published.found("dough") == ["Bread.md"]
        assert published.vault != state.vault, "no right to the former id comes back"


def test_a_vault_can_be_removed_while_its_daemon_publishes_no_more(published: Published) -> None:
    with daemon(published.where) as service:
        wait_for(lambda: all_published(service))
    written = published.where.config.read_text("utf-8")
    published.where.configure(written.replace('backend = "milvus"', 'backend = "embedded"'))
    with daemon(published.where):
        assert unpublish(published.where).returncode == 0
        assert published.state() is None


def unpublish(where: Place) -> subprocess.CompletedProcess[str]:
    """The command, as a person runs it."""
    options = ("--vault", where.vault, "--index-dir", where.index_dir, "--config", where.config)
    command = [sys.executable, "-m", "vault_indexer", "gateway", "unpublish", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def drop_all(published: Published) -> None:
    connection = published.vaults.connection
    for name in connection.call("list_collections"):
        if str(name).startswith(published.vaults.prefix):
            for alias in connection.call("list_aliases", name)["aliases"]:
                connection.call("drop_alias", alias)
            connection.call("drop_collection", name)


def rows(published: Published, collection: str = "") -> int:
    """All rows of the vault, active or not."""
    if not collection:
        state = published.state()
        assert state is not None
        collection = state.collection
    found = published.vaults.connection.read(
        "query", collection, filter='vault != ""', output_fields=["count(*)"]
    )
    return int(found[0]["count(*)"])
