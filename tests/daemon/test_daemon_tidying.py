"""Keyword segments are merged when edits rest, in another process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from vault_at_work import NOTES, Place, opened, place, wait_for

from vault_indexer.bootstrap import Assembly
from vault_indexer.daemon.merge_task import MergeTask
from vault_indexer.daemon.sync import EVERYTHING, VaultSync
from vault_indexer.index.writer import IndexWriter
from vault_indexer.system.process_limits import ProcessLimits


@pytest.fixture
def where(tmp_path: Path) -> Place:
    return place(tmp_path)


@pytest.fixture
def live(where: Place) -> Iterator[IndexWriter]:
    """Every note was edited but one: the first segment is mostly deleted."""
    with opened(where):
        pass
    with closing(VaultSync(Assembly.of(where.target()), hold_deletes=False)) as kept:
        assert kept.open_current() == ()
        for name in list(NOTES)[1:]:
            where.write(name, f"{NOTES[name]}\nEdited.\n")
        kept.sync(EVERYTHING)
        assert kept.current is not None
        assert kept.current.writer.needs_merge
        yield kept.current.writer


@pytest.fixture
def now() -> list[float]:
    return [100.0]


@pytest.fixture
def tidying(now: list[float]) -> Iterator[MergeTask]:
    made = MergeTask(ProcessLimits(), clock=lambda: now[0])
    yield made
    made.end()


def keys(live: IndexWriter) -> list[int]:
    with live.holder.lease() as snapshot:
        found: list[int] = snapshot.keywords.keys.tolist()
    return found


def under_way(tidying: MergeTask) -> bool:
    return tidying.busy


def test_a_merge_begins_after_some_rest_and_changes_no_content(
    live: IndexWriter, tidying: MergeTask, now: list[float]
) -> None:
    before = keys(live)
    tidying.step(live, idle=False)
    tidying.step(live, idle=True)
    assert not under_way(tidying)
    now[0] += 10
    tidying.step(live, idle=True)
    assert under_way(tidying)

    def merged() -> bool:
        tidying.step(live, idle=True)
        return not live.needs_merge

    wait_for(merged)
    assert (under_way(tidying), keys(live)) == (False, before)
    tidying.step(live, idle=True)
    assert not under_way(tidying), "there is nothing left to do"


@pytest.mark.long
def test_a_merge_ends_when_its_generation_is_closed(live: IndexWriter, tidying: MergeTask) -> None:
    before = keys(live)
    tidying.step(live, idle=True)
    assert under_way(tidying)
    tidying.step(None, idle=True)
    assert not under_way(tidying)
    live.refresh()
    assert keys(live) == before
