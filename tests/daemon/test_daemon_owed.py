"""Words before vectors: what the daemon does while the model is slow, absent or killed with it."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_server import ModelServer, model_server
from vault_at_work import Place, daemon, holding, opened, place, wait_for

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long

# Every note says "kiln", which is what the model is slow with; the queries of these tests do not.
MANY = {f"Note {n:02}.md": f"# Firing {n}\n\nThe kiln was fired with batch{n}.\n" for n in range(40)}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    pytest.importorskip("llama_index.embeddings.openai_like")
    with model_server() as running:
        running.slow = "kiln"
        yield running


@pytest.fixture
def where(tmp_path: Path, server: ModelServer) -> Place:
    made = place(tmp_path, MANY)
    embedding = f'[embedding]\nprovider = "openai"\nmodel = "test"\nurl = "{server.url}/v1"\n'
    made.configure(f"{embedding}[index]\nworkers = 1\n")
    return made


def owed(service: VaultService) -> int:
    return service.status().vectors_owed


def notices(service: VaultService) -> str:
    return "; ".join(service.search(SearchRequest("batch7")).notices)


def exported_by_a_fresh_build(where: Place) -> list[str]:
    with opened(Place(where.vault, where.index_dir.with_name("fresh"), where.config)) as service:
        assert owed(service) == 0
        return list(service.export())


def test_words_are_found_while_the_model_is_held_back_and_an_edit_goes_first(
    where: Place, server: ModelServer
) -> None:
    with daemon(where, processes=True) as service:
        assert owed(service) == 40
        assert holding(service, "batch7") == {"Note 07.md"}
        told = "semantic search is incomplete: 40 of 40 chunks have no embedding yet"
        assert told in notices(service)
        assert service.verify() == ()

        wait_for(lambda: server.asked_for("kiln"))
        where.write("Edited.md", "# Edited\n\nThe kiln cracked: basalt.\n")
        wait_for(lambda: holding(service, "basalt") == {"Edited.md"})
        assert owed(service) == 41

        server.let_pass(2)
        wait_for(lambda: len(server.asked_for("kiln")) >= 3)
        assert "basalt" in str(server.asked_for("kiln")[1].body), "the portion under way, then the edit"
        server.let_all.set()
        wait_for(lambda: owed(service) == 0)
        assert "meaning" not in notices(service)
        assert all(hit.why.vector for hit in service.search(SearchRequest("kiln")).results)
        assert service.verify() == ()
        complete = list(service.export())
    assert complete == exported_by_a_fresh_build(where)


@pytest.mark.slow
def test_a_daemon_that_is_killed_goes_on_where_it_stood(where: Place, server: ModelServer) -> None:
    places = map(str, (where.vault, where.index_dir, where.config))
    child = subprocess.Popen([sys.executable, "-c", _KEEP, *places])
    try:
        server.let_pass(1)
        # The second portion is asked for when the vectors of the first are on disk.
        wait_for(lambda: len(server.asked_for("kiln")) == 2)
    finally:
        child.kill()
        child.wait()
    with daemon(where, processes=True) as service:
        assert owed(service) == 24
        assert holding(service, "batch7") == {"Note 07.md"}
        server.let_all.set()
        wait_for(lambda: owed(service) == 0)
        assert service.verify() == ()
        complete = list(service.export())
    assert complete == exported_by_a_fresh_build(where)


_KEEP = """
import sys, threading
from pathlib import Path
from vault_indexer.bootstrap import open_daemon, resolve_target

if __name__ == "__main__":
    vault, index, config = map(Path, sys.argv[1:])
    environ = {"XDG_CONFIG_HOME": str(config.parent), "XDG_STATE_HOME": str(config.parent)}
    open_daemon(resolve_target(vault, index, config, environ=environ, options={}))
    threading.Event().wait()
"""
