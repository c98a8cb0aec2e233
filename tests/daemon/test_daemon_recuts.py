"""Notes that were cut while their language model was down are cut again when it answers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from openai_server import ModelServer, model_server
from vault_at_work import Place, daemon, hits, opened, place, wait_for

from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.rechunk import RechunkTask
from vault_indexer.daemon.tasks.upkeep import Upkeep
from vault_indexer.index.jobs import PrepareJob
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

NOTES = {f"Note {n:02}.md": f"# Part {n}\n\nPlain words about item{n}.\n" for n in range(6)}
REASON = "split without its language model, which has not answered yet; it is asked again"


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


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


def test_one_command_does_not_wait_for_a_model_that_is_down(where: Place, server: ModelServer) -> None:
    server.broken = True
    # A file that changed less than two seconds before a scan is read again at the next one.
    newest = max(file.stat().st_ctime for file in where.vault.iterdir())
    wait_for(lambda: time.time() > newest + 2)
    with opened(where):
        pass
    asked = len(server.requests)
    with opened(where) as service:
        assert hits(service, "item5")
        assert len(server.requests) == asked


class ScriptedIndex:
    """What `RechunkTask` asks of the index and its spare process; the model answers for the notes of
    `answered`."""

    missing_vectors = 0

    def __init__(self, waiting: Iterable[str], answered: Iterable[str] = ()) -> None:
        self.waiting = dict.fromkeys(waiting, "digest")
        self.answered = frozenset(answered)
        self.requested: list[str] = []
        self.seq = 1
        self.current = self.writer = self.spare = self.holder = self

    @contextmanager
    def lease(self) -> Iterator[ScriptedIndex]:
        yield self

    def begin(self, job: PrepareJob) -> None:
        self.requested.extend(job.paths)

    def result(self) -> tuple[PrepareJob, list[SimpleNamespace]]:
        reason = "" if self.requested[-1] in self.answered else REASON
        return PrepareJob((self.requested[-1],)), [SimpleNamespace(file=SimpleNamespace(reason=reason))]

    def close(self) -> None:
        """The process has ended."""

    def notes_without_model(self) -> dict[str, str]:
        return dict(self.waiting)

    def reread(self, path: str) -> None:
        del self.waiting[path]
        self.seq += 1


def upkeep(index: ScriptedIndex, clock: Clock) -> Upkeep:
    vault_sync = cast(VaultSync, index)
    return Upkeep(vault_sync, [RechunkTask(vault_sync, clock, first_s=10)])


def asked_at(index: ScriptedIndex, seconds: int) -> list[int]:
    """When the model was asked for a note; each answer takes a second."""
    clock, moments = Clock(), []
    task = upkeep(index, clock)
    for second in range(seconds):
        clock.now, before = second, len(index.requested)
        task.step(is_idle=True)
        if len(index.requested) > before:
            moments.append(second)
    return moments


def test_a_model_that_stays_down_is_asked_less_and_less_and_for_each_note_in_its_slot() -> None:
    index = ScriptedIndex(sorted(NOTES))
    assert asked_at(index, 200) == [0, 1, 2, 3, 4, 5, 11, 31, 71, 151]
    assert index.requested == [*sorted(NOTES), *sorted(NOTES)[:4]]


def test_a_note_that_changed_is_asked_for_at_once() -> None:
    index, clock = ScriptedIndex(["A.md"]), Clock()
    task = upkeep(index, clock)
    for _ in range(20):
        task.step(is_idle=True)
    assert index.requested == ["A.md"]
    assert task.faults == ("1 note split without the language model, which has not answered yet",)
    index.waiting["A.md"] = "another digest"
    index.seq += 1
    task.step(is_idle=True)
    assert index.requested == ["A.md", "A.md"]


def test_once_it_answers_the_others_follow_at_once() -> None:
    index = ScriptedIndex(sorted(NOTES), answered=NOTES)
    assert asked_at(index, 30) == [0, 1, 2, 3, 4, 5]
    assert not index.waiting


def test_nothing_is_split_again_beside_an_edit() -> None:
    index = ScriptedIndex(sorted(NOTES))
    upkeep(index, Clock()).step(is_idle=False)
    assert index.requested == []


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
