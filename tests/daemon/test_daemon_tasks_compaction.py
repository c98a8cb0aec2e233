"""A new base of the vectors is made beside the edits, which neither wait for it nor are lost by it."""

import logging
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from compaction_crash_child import STEPS
from loop_by_hand import Clock
from reliability_lab import (
    assembly_of,
    assert_equal,
    child_environment,
    make_vault,
    opened,
    told_by,
    told_by_a_fresh_build,
)
from waiting import wait_until

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.daemon.sync import EVERYTHING, VaultSync
from vault_indexer.daemon.tasks.compaction import CompactionTask, MergeTask
from vault_indexer.daemon.tasks.upkeep import Upkeep
from vault_indexer.index.derived import CompactionJob
from vault_indexer.index.workers.pool import Failed, JobWorker, run_job
from vault_indexer.index.writer import IndexWriter
from vault_indexer.store.catalog import CatalogWriter
from vault_indexer.store.vectors.index import load_snapshot
from vault_indexer.system.processes import ProcessLimits


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault", random.Random("compaction"), 8)


@pytest.fixture
def index(vault: Path, tmp_path: Path) -> Path:
    with opened(assembly_of(vault, tmp_path / "index")):
        return tmp_path / "index"


@pytest.fixture
def live(vault: Path, index: Path) -> Iterator[VaultSync]:
    with closing(VaultSync(assembly_of(vault, index), live=False)) as vault_sync:
        assert vault_sync.open_current() == ()
        yield vault_sync


def current_of(live: VaultSync) -> OpenGeneration:
    assert live.current is not None
    return live.current


def writer_of(live: VaultSync) -> IndexWriter:
    return current_of(live).writer


def edit(live: VaultSync, name: str, text: str) -> None:
    (live.assembly.vault / name).write_text(text)
    live.sync(EVERYTHING)


def consistent(live: VaultSync) -> None:
    """The vectors that are searched, and their file, are those of the catalog, each once."""
    writer = writer_of(live)
    with writer.holder.lease() as snapshot:
        held = snapshot.vectors
        assert held.live_keys() == set(snapshot.catalog.nonzero_vector_keys(writer.model))
        assert held.size == len(held.live_keys())
    assert live.verify(repair=False) == ()


def base_seq(live: VaultSync) -> int:
    return load_snapshot(writer_of(live).generation.vectors).seq


def under_way(task: Upkeep) -> bool:
    return task.doing is not None


def is_done(task: Upkeep) -> bool:
    """After another step."""
    task.step(is_idle=False)
    return not under_way(task)


def begun(live: VaultSync) -> IndexWriter:
    """A compaction whose file is written, and not yet in use. None is due in an index that was just built."""
    writer = writer_of(live)
    assert CompactionTask(ProcessLimits()).next_work(current_of(live)) is None
    assert JobWorker().handle(writer.derived.begin_compaction()) is None
    return writer


@pytest.mark.long
def test_an_edit_is_found_while_a_compaction_is_under_way(live: VaultSync) -> None:
    task = Upkeep(live, [CompactionTask(ProcessLimits(), is_due=lambda _writer: True)])
    edit(live, "first.md", "# First\n\nBasalt before it.\n")
    first, before = writer_of(live).holder, base_seq(live)
    try:
        task.step(is_idle=False)
        assert not under_way(task)
        task.step(is_idle=True)
        assert under_way(task)
        wait_until(writer_of(live).generation.next_vectors.exists)  # the base of that state
        edit(live, "second.md", "# Second\n\nUnheardof quartz beside it.\n")
        (live.assembly.vault / "first.md").unlink()
        live.sync(EVERYTHING)
        assert base_seq(live) == before
        with first.lease() as snapshot:
            assert len(snapshot.keywords.keys_containing(["unheardof"])) == 1
        consistent(live)
        wait_until(lambda: is_done(task))
        with first.lease() as snapshot:
            assert before < base_seq(live) == snapshot.seq - 2, "two commits came after it was begun"
        consistent(live)
        assert not writer_of(live).generation.next_vectors.exists()
    finally:
        task.end()


@pytest.mark.long
def test_deletions_and_edits_made_meanwhile_count(vault: Path, live: VaultSync, tmp_path: Path) -> None:
    writer = begun(live)
    edit(live, "new.md", "# New\n\nQuartz and marble.\n")
    gone, *_, changed = sorted(vault.rglob("*.md"))
    gone.unlink()
    changed.write_text("# Changed\n\nTimber only.\n")
    live.sync(EVERYTHING)
    assert writer.derived.adopt_base(writer.derived.load_next_base())
    consistent(live)
    live.close()
    with opened(assembly_of(vault, tmp_path / "index")) as session:
        assert_equal(told_by(session), told_by_a_fresh_build(vault, tmp_path / "fresh"))


def test_a_base_that_was_overtaken_is_dropped(live: VaultSync) -> None:
    writer = begun(live)
    made = writer.derived.load_next_base()
    edit(live, "new.md", "# New\n\nQuartz.\n")
    writer.purge()
    newer = base_seq(live)
    assert not writer.generation.next_vectors.exists(), "it holds what was purged"
    assert not writer.derived.adopt_base(made)
    assert base_seq(live) == newer
    consistent(live)


def test_a_base_that_the_list_of_changes_does_not_reach_is_dropped(live: VaultSync) -> None:
    writer = begun(live)
    made = writer.derived.load_next_base()
    edit(live, "new.md", "# New\n\nQuartz.\n")
    with closing(CatalogWriter(writer.generation.catalog)) as catalog:
        catalog.trim_changes(catalog.seq)
    assert not writer.derived.adopt_base(made)
    assert not writer.generation.next_vectors.exists()
    consistent(live)


@pytest.mark.parametrize("step", [pytest.param(step, marks=pytest.mark.long) for step in STEPS])
def test_a_kill_in_each_step_loses_nothing(step: str, vault: Path, index: Path, tmp_path: Path) -> None:
    child = [sys.executable, str(Path(__file__).with_name("compaction_crash_child.py")), step]
    ended = subprocess.run(
        [*child, str(vault), str(index)], env=child_environment(), capture_output=True, text=True, check=False
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    session = LocalSession(assembly_of(vault, index))
    try:
        kept, _ = session.open_as_is()
        assert kept.current is not None
        writer = kept.current.writer
        assert writer.derived.take_healed() == [], "whatever was left is of use as it is"
        assert not list(writer.generation.folder.glob("vectors.faiss.*"))
        consistent(kept)
        if "ack" in ended.stdout:
            with writer.holder.lease() as snapshot:
                assert snapshot.catalog.note("during.md") and not snapshot.catalog.note("before.md")
        session.wait_fresh(0)
        assert_equal(told_by(session), told_by_a_fresh_build(vault, tmp_path / "fresh"))
    finally:
        session.close()


class DamagingWorker:
    """Writes the base, of which a byte is changed then."""

    def handle(self, job: CompactionJob) -> Failed | None:
        result = run_job(job, self)
        content = bytearray(job.generation.next_vectors.read_bytes())
        content[-1] ^= 1
        job.generation.next_vectors.write_bytes(content)
        return result


class RefusingWorker:
    """Says that it cannot write the base."""

    def handle(self, job: CompactionJob) -> Failed:
        return Failed(f"{job.generation.next_vectors.name}: no space left")


@pytest.mark.long
@pytest.mark.parametrize(("start", "said"), [(DamagingWorker, ""), (RefusingWorker, "no space left")])
def test_a_base_that_cannot_be_written_or_is_damaged_is_not_used_and_made_later(
    live: VaultSync,
    caplog: pytest.LogCaptureFixture,
    start: Callable[[], DamagingWorker | RefusingWorker],
    said: str,
) -> None:
    caplog.set_level(logging.INFO)
    task = Upkeep(live, [CompactionTask(ProcessLimits(), start=start, is_due=lambda _writer: True)])
    before = base_seq(live)
    edit(live, "new.md", "# New\n\nQuartz.\n")
    task.step(is_idle=True)
    wait_until(lambda: is_done(task))
    assert said in caplog.text
    task.step(is_idle=True)
    assert not under_way(task), "it is tried again later"
    assert base_seq(live) == before
    consistent(live)


@pytest.mark.long
def test_segments_are_merged_by_another_process_when_edits_rest(live: VaultSync) -> None:
    for note in sorted(live.assembly.vault.rglob("*.md"))[1:]:  # the first segment is mostly deleted
        note.write_text(f"{note.read_text()}\nEdited.\n")
    live.sync(EVERYTHING)
    writer, clock = writer_of(live), Clock()
    task = Upkeep(live, [MergeTask(ProcessLimits(), clock)])

    def keys() -> list[int]:
        with writer.holder.lease() as snapshot:
            return list(snapshot.keywords.keys)

    before = keys()
    assert writer.derived.needs_merge
    for is_idle in (False, True):
        task.step(is_idle=is_idle)
        assert not under_way(task)
    clock.now += 10

    def merged() -> bool:
        task.step(is_idle=True)
        return not writer.derived.needs_merge

    wait_until(merged)
    assert (under_way(task), keys()) == (False, before)
    task.step(is_idle=True)
    assert not under_way(task), "there is nothing left to do"
