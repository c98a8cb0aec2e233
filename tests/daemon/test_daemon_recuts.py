"""Notes that were cut while their language model was down are cut again when it answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_server import ModelServer, model_server
from vault_at_work import Place, daemon, hits, opened, place, wait_for

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long

NOTES = {f"Note {n:02}.md": f"# Part {n}\n\nPlain words about item{n}.\n" for n in range(6)}
REASON = "split without its language model, which has not answered yet; it is asked again"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    pytest.importorskip("llama_index.llms.openai_like")
    with model_server() as running:
        running.slow = "item"  # what every note says: `broken` makes such questions fail
        running.let_all.set()
        yield running


@pytest.fixture
def where(tmp_path: Path, server: ModelServer) -> Place:
    made = place(tmp_path, NOTES)
    llm = f'[llm]\nprovider = "openai"\nmodel = "test"\nurl = "{server.url}/v1"\n'
    made.configure(f'{llm}[index]\nworkers = 1\n[chunking]\nstrategy = "none"\ncontextual = true\n')
    return made


def without_model(service: VaultService) -> list[str]:
    return [one.path for one in service.status().skipped if one.reason == REASON]


def test_a_daemon_asks_again_at_its_start_and_names_them_until_then(
    where: Place, server: ModelServer
) -> None:
    server.broken = True
    with daemon(where) as service:
        assert without_model(service) == sorted(NOTES)
        assert hits(service, "item5")[0].path == "Note 05.md", "it is searched nevertheless"
        assert service.explain("Note 05", SearchRequest("item5")).path == "Note 05.md"
    server.broken = False
    with daemon(where) as service:
        wait_for(lambda: not without_model(service))
        assert service.verify() == ()
        again = list(service.export())
    with opened(Place(where.vault, where.index_dir.with_name("fresh"), where.config)) as service:
        assert again == list(service.export())


def test_no_save_waits_for_the_model_of_another_note(where: Place, server: ModelServer) -> None:
    with opened(where):
        pass
    with daemon(where, processes=True) as service:
        server.let_all.clear()  # from now on the model holds each answer back
        where.write("Asking.md", "# Asking\n\nPlain words about item99 and cerium.\n")
        wait_for(lambda: hits(service, "cerium")[0].path == "Asking.md")
        wait_for(lambda: any("item99" in str(request) for request in server.requests))
        where.write("Plain.md", "---\nchunking: none\n---\nOf item98 and holmium.\n")
        wait_for(lambda: hits(service, "holmium")[0].path == "Plain.md")
        wait_for(lambda: not service.status().pending)
        assert "Asking.md" in without_model(service)
        assert any("language model" in notice for notice in service.search(SearchRequest("bread")).notices)
        server.let_all.set()
        wait_for(lambda: not without_model(service))
        assert service.verify() == ()
        again = list(service.export())
    with opened(Place(where.vault, where.index_dir.with_name("fresh"), where.config)) as service:
        assert again == list(service.export())
