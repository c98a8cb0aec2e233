"""Notes that were cut while their language model was down are cut again when it answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from openai_server import ModelServer, model_server
from vault_at_work import Place, daemon, hits, opened, place, wait_for

from vault_indexer.daemon.rechunk_task import RechunkTask
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

NOTES = {f"Note {n:02}.md": f"# Part {n}\n\nPlain words about item{n}.\n" for n in range(6)}
REASON = "cut without its language model, which gave no answer; it is asked again"


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


@dataclass
class Scripted:
    """What `RechunkTask` asks of the index; the model answers for the notes of `answered`."""

    waiting: list[str]
    answered: frozenset[str] = frozenset()
    requested: list[str] = field(default_factory=list)

    def notes_without_model(self) -> tuple[str, ...]:
        return tuple(self.waiting)

    def rechunk(self, path: str) -> None:
        self.requested.append(path)
        if path in self.answered:
            self.waiting.remove(path)


def rechunked_at(vault_sync: Scripted, seconds: int) -> list[int]:
    """When notes were split again."""
    clock, moments = Clock(), []
    task = RechunkTask(cast(VaultSync, vault_sync), clock, first_s=10)
    for second in range(seconds):
        clock.now, before = second, len(vault_sync.requested)
        task.step(idle=True)
        if len(vault_sync.requested) > before:
            moments.append(second)
    return moments


def test_a_model_that_stays_down_is_asked_less_and_less_and_each_note_in_its_turn() -> None:
    vault_sync = Scripted(sorted(NOTES))
    assert rechunked_at(vault_sync, 200) == [0, 20, 60, 140]
    assert vault_sync.requested == sorted(NOTES)[:4]


def test_once_it_answers_the_others_follow_at_once() -> None:
    vault_sync = Scripted(sorted(NOTES), answered=frozenset(NOTES))
    assert rechunked_at(vault_sync, 30) == list(range(6))
    assert vault_sync.waiting == []


def test_nothing_is_split_again_beside_an_edit() -> None:
    vault_sync = Scripted(sorted(NOTES))
    RechunkTask(cast(VaultSync, vault_sync), Clock()).step(idle=False)
    assert vault_sync.requested == []
