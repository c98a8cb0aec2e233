"""The limit of calls to the language model holds for all worker processes of a daemon together."""

import pickle
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_server import ModelServer, model_server
from waiting import wait_until

from vault_indexer.config import Settings
from vault_indexer.daemon.assembly import SharedBudget
from vault_indexer.index.jobs import PrepareJob, WarmJob
from vault_indexer.index.note_workers import WorkerSpec
from vault_indexer.providers.wordllama import wordllama_model
from vault_indexer.store.catalog.note_rows import PreparedNote

pytestmark = pytest.mark.long

MOST = 2
PARAGRAPHS = 4


@pytest.fixture
def server() -> Iterator[ModelServer]:
    pytest.importorskip("llama_index.llms.openai_like")
    with model_server() as running:
        running.slow = "kiln"
        yield running


def worker_of(vault: Path, server: ModelServer) -> WorkerSpec:
    """The worker of a vault with one note, each paragraph of which gets a preamble."""
    vault.mkdir()
    text = "\n\n".join(f"Paragraph {n} of {vault.name} is about the kiln." for n in range(PARAGRAPHS))
    (vault / "Note.md").write_text(text)
    settings = Settings.model_validate(
        {
            "llm": {"provider": "openai", "model": "test", "url": f"{server.url}/v1"},
            "chunking": {
                "strategy": "paragraph",
                "paragraph": {"max_chars": 60, "min_chars": 0},
                "contextual": {"granularity": "chunk", "max_workers": MOST},
            },
        }
    )
    own = vault.with_name(f"{vault.name}-index")
    return WorkerSpec(vault, settings, wordllama_model(), None, (), own / "llm-cache", own / "llm-calls")


def test_workers_of_two_vaults_share_the_limit_of_calls(tmp_path: Path, server: ModelServer) -> None:
    """Edits of one vault, and a build of another in a process of its own, which gets a pickled budget."""
    budget = SharedBudget(Settings().index, tmp_path / "llm-calls")
    budgets = (budget, pickle.loads(pickle.dumps(budget)))
    workers = [worker_of(tmp_path / name, server) for name in ("one", "two")]
    pools = [one.make_pool(worker, 1) for one, worker in zip(budgets, workers, strict=True)]
    done: list[PreparedNote] = []

    def prepare(number: int) -> None:
        for _, result in pools[number].run([PrepareJob(("Note.md",))]):
            assert isinstance(result, list)
            done.extend(one for one in result if isinstance(one, PreparedNote))

    threads = [threading.Thread(target=prepare, args=(number,)) for number in range(2)]
    try:
        for pool in pools:
            list(pool.run([WarmJob()]))
        for thread in threads:
            thread.start()
        wait_until(lambda: len(server.requests) == MOST)
        with pytest.raises(AssertionError, match="a third call"):
            wait_until(lambda: len(server.requests) > MOST, "a third call", 1.0)
        server.let_all.set()
        for thread in threads:
            thread.join()
    finally:
        server.let_all.set()
        for pool in pools:
            pool.close()
    assert len(done) == 2
    assert len(server.requests) == 2 * PARAGRAPHS
