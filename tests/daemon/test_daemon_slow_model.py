"""What the daemon does while a model is slow, absent or killed with it: words before vectors, notes split
without their language model until it answers."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_server import ModelServer, model_server
from vault_at_work import Place, daemon, fresh_export, hits, holding, opened, place, wait_for

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long

# Every note says "kiln", which is what the model is slow with; the queries of these tests do not.
MANY = {f"Note {n:02}.md": f"# Firing {n}\n\nThe kiln was fired with batch{n}.\n" for n in range(40)}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


@pytest.fixture
def where(tmp_path: Path, server: ModelServer) -> Place:
    pytest.importorskip("llama_index.embeddings.openai_like")
    server.slow = "kiln"
    made = place(tmp_path, MANY)
    embedding = f'[embedding]\nprovider = "openai"\nmodel = "test"\nurl = "{server.url}/v1"\n'
    made.configure(f"{embedding}[index]\nworkers = 1\n")
    return made


def owed(service: VaultService) -> int:
    return service.status().vectors_owed


def notices(service: VaultService) -> str:
    return "; ".join(service.search(SearchRequest("batch7")).notices)


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
    assert complete == fresh_export(where)


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
    assert complete == fresh_export(where)


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


NOTES = {f"Note {n:02}.md": f"# Part {n}\n\nPlain words about item{n}.\n" for n in range(6)}
REASON = "split without its language model, which has not answered yet; it is asked again"


@pytest.fixture
def split_by_model(tmp_path: Path, server: ModelServer) -> Place:
    """Notes that are split by what a language model says."""
    pytest.importorskip("llama_index.llms.openai_like")
    server.slow = "item"  # what every note says: `broken` makes such questions fail
    server.let_all.set()
    made = place(tmp_path, NOTES)
    llm = f'[llm]\nprovider = "openai"\nmodel = "test"\nurl = "{server.url}/v1"\n'
    made.configure(f'{llm}[index]\nworkers = 1\n[chunking]\nstrategy = "none"\ncontextual = true\n')
    return made


def without_model(service: VaultService) -> list[str]:
    return [one.path for one in service.status().skipped if one.reason == REASON]


def test_a_daemon_asks_again_at_its_start_and_names_them_until_then(
    split_by_model: Place, server: ModelServer
) -> None:
    server.broken = True
    with daemon(split_by_model) as service:
        assert without_model(service) == sorted(NOTES)
        assert hits(service, "item5")[0].path == "Note 05.md", "it is searched nevertheless"
        assert service.explain("Note 05", SearchRequest("item5")).path == "Note 05.md"
    server.broken = False
    with daemon(split_by_model) as service:
        wait_for(lambda: not without_model(service))
        assert service.verify() == ()
        again = list(service.export())
    assert again == fresh_export(split_by_model)


def test_no_save_waits_for_the_model_of_another_note(split_by_model: Place, server: ModelServer) -> None:
    with opened(split_by_model):
        pass
    with daemon(split_by_model, processes=True) as service:
        server.let_all.clear()  # from now on the model holds each answer back
        split_by_model.write("Asking.md", "# Asking\n\nPlain words about item99 and cerium.\n")
        wait_for(lambda: hits(service, "cerium")[0].path == "Asking.md")
        wait_for(lambda: any("item99" in str(request) for request in server.requests))
        split_by_model.write("Plain.md", "---\nchunking: none\n---\nOf item98 and holmium.\n")
        wait_for(lambda: hits(service, "holmium")[0].path == "Plain.md")
        wait_for(lambda: not service.status().pending)
        assert "Asking.md" in without_model(service)
        assert any("language model" in notice for notice in service.search(SearchRequest("bread")).notices)
        server.let_all.set()
        wait_for(lambda: not without_model(service))
        assert service.verify() == ()
        again = list(service.export())
    assert again == fresh_export(split_by_model)
