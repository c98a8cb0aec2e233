"""Keyword segments are merged when edits rest, in another process."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from vault_at_work import NOTES, Place, opened, place, wait_for

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.sync import EVERYTHING, VaultSync
from vault_indexer.daemon.tasks.compaction import MergeTask
from vault_indexer.daemon.tasks.upkeep import Upkeep
from vault_indexer.index.writer import IndexWriter
from vault_indexer.system.processes import ProcessLimits

pytestmark = pytest.mark.long


@pytest.fixture
def where(tmp_path: Path) -> Place:
    return place(tmp_path)


def writer_of(source: VaultSync) -> IndexWriter:
    assert source.current is not None
    return source.current.writer


@pytest.fixture
def source(where: Place) -> Iterator[VaultSync]:
    """Every note was edited but one: the first segment is mostly deleted."""
    with opened(where):
        pass
    with closing(VaultSync(Assembly.of(where.target()), live=False)) as vault_sync:
        assert vault_sync.open_current() == ()
        for name in list(NOTES)[1:]:
            where.write(name, f"{NOTES[name]}\nEdited.\n")
        vault_sync.sync(EVERYTHING)
        assert writer_of(vault_sync).derived.needs_merge
        yield vault_sync


@pytest.fixture
def now() -> list[float]:
    return [100.0]


@pytest.fixture
def merging(source: VaultSync, now: list[float]) -> Iterator[Upkeep]:
    made = Upkeep(source, [MergeTask(ProcessLimits(), lambda: now[0])])
    yield made
    made.end()


def keys(writer: IndexWriter) -> list[int]:
    with writer.holder.lease() as snapshot:
        found: list[int] = snapshot.keywords.keys.tolist()
    return found


def under_way(merging: Upkeep) -> bool:
    return merging.doing is not None


def test_a_merge_begins_after_some_rest_and_changes_no_content(
    source: VaultSync, merging: Upkeep, now: list[float]
) -> None:
    writer = writer_of(source)
    before = keys(writer)
    merging.step(is_idle=False)
    merging.step(is_idle=True)
    assert not under_way(merging)
    now[0] += 10
    merging.step(is_idle=True)
    assert under_way(merging)

    def merged() -> bool:
        merging.step(is_idle=True)
        return not writer.derived.needs_merge

    wait_for(merged)
    assert (under_way(merging), keys(writer)) == (False, before)
    merging.step(is_idle=True)
    assert not under_way(merging), "there is nothing left to do"


def test_a_merge_ends_when_its_generation_is_closed(source: VaultSync, merging: Upkeep) -> None:
    writer = writer_of(source)
    before = keys(writer)
    merging.step(is_idle=True)
    assert under_way(merging)
    closed, source.current = source.current, None
    merging.step(is_idle=True)
    assert not under_way(merging)
    writer.derived.publish()
    assert keys(writer) == before
    source.current = closed
