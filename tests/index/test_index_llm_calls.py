"""The limit of calls to the language model holds for all worker processes of a daemon together."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_server import ModelServer, model_server
from waiting import wait_until

from vault_indexer.chunk.llm_client import LimitedLlm
from vault_indexer.config import Settings
from vault_indexer.daemon.tasks.shared_budget import SharedBudget
from vault_indexer.errors import ProviderError
from vault_indexer.index.jobs import PrepareJob, WarmJob
from vault_indexer.index.note_workers import WorkerSpec
from vault_indexer.providers.wordllama import wordllama_model
from vault_indexer.store.catalog.note_rows import PreparedNote

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


class Silent:
    """A model that answers once it may."""

    name = "test/silent"

    def __init__(self) -> None:
        self.asked, self.may = threading.Semaphore(0), threading.Event()

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:  # noqa: ARG002
        self.asked.release()
        assert self.may.wait(timeout_s)
        return prompt


def test_a_smaller_limit_is_not_starved_by_a_larger_one(tmp_path: Path) -> None:
    """The larger one has the places 0 and 1, and takes 1 first; the smaller one has 0 alone."""
    larger, smaller = Silent(), Silent()
    smaller.may.set()
    asking = threading.Thread(
        target=LimitedLlm(larger, tmp_path, 2).complete, args=("",), kwargs={"timeout_s": 60}
    )
    asking.start()
    assert larger.asked.acquire(timeout=60)
    assert LimitedLlm(smaller, tmp_path, 1).complete("answer", timeout_s=60) == "answer"
    larger.may.set()
    asking.join()


def test_where_no_call_can_be_counted_none_is_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way of a folder")
    model = Silent()
    with pytest.raises(ProviderError, match="calls to the language model cannot be limited by"):
        LimitedLlm(model, tmp_path / "file", 1).complete("", timeout_s=60)
    assert not model.asked.acquire(blocking=False)
