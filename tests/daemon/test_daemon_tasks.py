"""When a merge may begin, and whose turn it is where notes wait for their language model."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest
from loop_by_hand import Clock

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.compaction import MergeTask
from vault_indexer.daemon.tasks.reread import RechunkTask
from vault_indexer.index.derived import MergeJob
from vault_indexer.index.jobs import PrepareJob
from vault_indexer.system import ProcessLimits


class Derived:
    needs_merge = True
    published = 0

    def publish(self) -> None:
        self.published += 1


class Merging:
    """Stands for a generation whose keyword index needs a merge."""

    generation = None

    def __init__(self) -> None:
        self.derived = Derived()
        self.writer = self


@pytest.fixture
def merging() -> tuple[Clock, MergeTask, Callable[[], bool]]:
    """A merge that is needed, and whether it would be begun now."""
    clock, current = Clock(), cast(OpenGeneration, Merging())
    task = MergeTask(ProcessLimits(), clock)
    return clock, task, lambda: task.next_work(current) is not None


@pytest.mark.parametrize(("edits", "wait"), [(1, 3.0), (20, 3.0), (59, 2.0), (60, 1.0)])
def test_an_edit_puts_a_merge_off_for_three_seconds_and_edits_that_never_pause_for_a_minute(
    merging: tuple[Clock, MergeTask, Callable[[], bool]], edits: int, wait: float
) -> None:
    clock, task, begins = merging
    assert begins()
    for number in range(edits):
        clock.now += bool(number)
        task.observe(is_idle=False)
        assert not begins()
    clock.now += wait - 0.1
    task.observe(is_idle=True)
    assert not begins()
    clock.now += 0.1
    assert begins()
    task.observe(is_idle=False)
    assert not begins(), "a minute begins again"


def test_a_merge_that_fails_is_tried_again_after_a_minute(
    merging: tuple[Clock, MergeTask, Callable[[], bool]],
) -> None:
    clock, task, begins = merging
    current = Merging()
    open_generation = cast(OpenGeneration, current)
    task.fail(open_generation, cast(MergeJob, None), "no room")
    clock.now += 59.9
    assert not begins()
    clock.now += 0.1
    assert begins()
    task.accept(open_generation, cast(MergeJob, None), None)
    assert current.derived.published == 1
    current.derived.needs_merge = False
    assert task.next_work(open_generation) is None


class Snapshot:
    def __init__(self, seq: int) -> None:
        self.seq = seq

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Waiting:
    """Stands for an index with notes that were split without their language model."""

    def __init__(self, **notes: str) -> None:
        self.notes = notes
        self.seq = 1
        self.reread_notes: list[str] = []
        self.current = self.writer = self.holder = self
        self.spare = None
        self.missing_vectors = 0

    def lease(self) -> Snapshot:
        return Snapshot(self.seq)

    def notes_without_model(self) -> dict[str, str]:
        return dict(self.notes)

    def reread(self, path: str) -> None:
        self.reread_notes.append(path)
        del self.notes[path]
        self.seq += 1


def test_notes_are_split_again_in_turn_once_the_model_has_answered() -> None:
    clock, index = Clock(), Waiting(a="1", b="2", c="3")
    task = RechunkTask(cast(VaultSync, index), clock)
    current = cast(OpenGeneration, index)

    def asked() -> str:
        work = task.next_work(current)
        return work.job.paths[0] if work else ""

    def fail() -> str:
        path = asked()
        task.fail(current, PrepareJob((path,), at_once=0), "it is down")
        return path

    assert task.fault == ""
    assert [fail(), fail(), fail()] == ["a", "b", "c"], "each is asked for once, at once"
    assert task.fault == "3 notes split without the language model, which has not answered yet"
    assert asked() == ""
    for seconds in (59.9, 0.1):
        assert asked() == ""
        clock.now += seconds
    assert fail() == "a"
    index.notes["b"], index.seq = "changed", 2
    assert fail() == "b", "one that has changed is asked for at once"
    clock.now += 59.0
    assert asked() == ""
    clock.now += 120.0
    assert fail() == "c"
    for _ in range(12):
        clock.now += 3600.0
        assert fail(), "no pause is longer than an hour"
    task.accept(current, PrepareJob(("c",), at_once=0), [])
    assert index.reread_notes == ["c"]
    assert asked() == "a", "the model answers: no wait"
    index.notes, index.seq = {}, 9
    assert asked() == ""
    assert task.fault == ""
