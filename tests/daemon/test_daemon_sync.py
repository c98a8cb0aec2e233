"""The index is brought in step with the vault: what is read, believed and told, scan by scan."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from loop_by_hand import Clock, loop_by_hand
from reliability_lab import InProcessPool, in_one_process, pools_of
from vault_at_work import NOTES, WORDLLAMA, Place, current_of, fresh_export, notes_of, opened, place, silent

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.sync import EVERYTHING, ChangeFeed, UnreadNotes, VaultSync, status_of
from vault_indexer.errors import VaultError
from vault_indexer.index.jobs import Job, Outcome, Pool, PrepareJob
from vault_indexer.index.plan import PART_NOTES, Applied
from vault_indexer.index.workers.pool import Died
from vault_indexer.model import IndexCounts, NoteChanges, Problem, Progress, SearchRequest, SkippedFile

BY_WORDS = "---\nchunking: word\n---\nquince jelly sets slowly now\n"
OTHER_OPTIONS = ("chunking.word.chunk_size is now 80",)


def sync_of(where: Place, clock: Clock, *, live: bool = True) -> closing[VaultSync]:
    return closing(VaultSync(in_one_process(where.target()), live=live, clock=clock))


@pytest.fixture
def live(where: Place, clock: Clock) -> Iterator[VaultSync]:
    """As the daemon has it, after its first scan."""
    with sync_of(where, clock) as made:
        assert made.open_current() == ()
        made.sync(EVERYTHING)
        yield made


@pytest.fixture
def in_parts(tmp_path: Path, clock: Clock) -> Iterator[VaultSync]:
    """Of five notes without an index, whose first build ends early."""
    where = place(tmp_path, {f"{number}.md": f"# {number}\n\nRye.\n" for number in range(5)})
    where.configure(WORDLLAMA)
    assembly = replace(in_one_process(where.target()), first_bytes=1)
    assembly.index_dir.prepare()
    with closing(VaultSync(assembly, live=True, clock=clock)) as source:
        yield source


def reasons_of(source: VaultSync) -> tuple[str, ...]:
    """Why the open index does not fit the configuration."""
    return current_of(source).reasons


def configure(where: Place, live: VaultSync, toml: str) -> None:
    where.configure(WORDLLAMA + toml)
    live.reconfigure(live.assembly.with_reloaded_config())


def write_scans(where: Place, size: int) -> None:
    """Sixteen documents of which nothing can be read."""
    for number in range(16):
        with (where.vault / f"scan {number}.pdf").open("wb") as file:
            file.truncate(size)


def test_without_an_index_nothing_is_known(tmp_path: Path, clock: Clock) -> None:
    where = place(tmp_path)
    with sync_of(where, clock) as source:
        assert source.open_current() == ("there is no index yet",)
        assert source.sync(EVERYTHING) == (Applied(), None)
        assert (source.quarantine(), source.notes_without_model()) == ({}, {})
        assert source.has_unconfirmed_losses() is False
        assert source.verify(repair=True) == (
            Problem("catalog", "missing", "there is no index: run `indexer rebuild`"),
        )
        status = status_of(source, "building", 3)
        assert (status.state, status.pending, status.generation, status.seq) == ("building", 3, 0, 0)
        assert (status.vault, status.index_dir) == (str(where.vault), str(where.index_dir))
        assert status.skipped == ()
        assert (status.counts, status.detail, status.manifest) == (IndexCounts(0, 0, 0, 0), "", {})


def test_a_strategy_that_is_new_to_the_index_counts_from_then_on(where: Place, live: VaultSync) -> None:
    configure(where, live, "[chunking.word]\nchunk_size = 80\n")
    where.write("Plain.md", "# Plain\n\nMarmalade.\n")
    live.sync(EVERYTHING)
    assert reasons_of(live) == ()
    where.write("Quince.md", BY_WORDS)
    applied, _ = live.sync(EVERYTHING)
    assert applied.strategies == {"word"}
    assert reasons_of(live) == OTHER_OPTIONS


def test_the_loop_rebuilds_where_a_note_brings_a_strategy_of_other_options(where: Place) -> None:
    with loop_by_hand(where) as kept:
        where.configure(f"{WORDLLAMA}[chunking.word]\nchunk_size = 80\n")
        kept.run(1.0)
        before = kept.loop.state.reasons
        kept.save("Quince.md", BY_WORDS)
        for _ in range(40):
            kept.run(0.25)
            if kept.loop.state.reasons:
                break
        assert (before, kept.loop.state.reasons) == ((), OTHER_OPTIONS)


def test_a_vault_that_becomes_a_site_and_is_none_again_is_rebuilt(
    where: Place, live: VaultSync, clock: Clock
) -> None:
    where.write("mkdocs.yml", "site_name: Fruit\n")
    live.sync(EVERYTHING)
    assert reasons_of(live) == ("links.style is now mkdocs",)
    (where.vault / "mkdocs.yml").unlink()
    live.sync(EVERYTHING)
    clock.now += 60
    live.release_due()
    assert reasons_of(live) == ()
    configure(where, live, '[links]\nstyle = "hugo"\n')
    assert reasons_of(live) == ("links.style is now hugo",)


@pytest.mark.parametrize("is_live", [True, False])
def test_a_command_asks_the_language_model_and_an_edit_does_not_wait_for_it(
    where: Place, clock: Clock, is_live: bool
) -> None:
    asks: list[bool] = []

    class Pool(InProcessPool):
        def each(self, job: Job) -> Iterator[tuple[Job, Outcome | Died]]:
            asks.extend([job.ask] if isinstance(job, PrepareJob) else [])
            yield from super().each(job)

    assembly = replace(Assembly.of(where.target()), make_pool=pools_of(Pool))
    with closing(VaultSync(assembly, live=is_live, clock=clock)) as source:
        assert source.open_current() == ()
        where.write("New.md", "Rye.\n")
        source.sync(EVERYTHING)
        assert asks == [not is_live]


def test_notes_that_are_new_are_counted_until_they_are_read(where: Place, live: VaultSync) -> None:
    assert live.unread is None
    for name in ("A.md", "B.md"):
        where.write(name, f"# {name}\n")
    where.write("Bread.md", "# Bread\n\nToast.\n")
    seen: list[tuple[int, UnreadNotes | None]] = []
    applied, found = live.sync(EVERYTHING, lambda left: seen.append((left, live.unread)))
    assert applied.indexed == ("A.md", "B.md", "Bread.md")
    assert found is not None
    assert [left for left, _ in seen] == sorted((left for left, _ in seen), reverse=True)
    assert seen[-1] == (0, UnreadNotes(0, 5))
    assert all(unread == UnreadNotes(min(2, left), 5) for left, unread in seen)
    where.write("Bread.md", "# Bread\n\nToast again.\n")
    changed: list[UnreadNotes | None] = []
    live.sync(EVERYTHING, lambda _: changed.append(live.unread))
    assert set(changed) == {None} == {live.unread}, "what only changed has been in the index"


def test_documents_are_announced_when_an_index_of_a_version_without_them_is_opened(
    where: Place, clock: Clock, live: VaultSync
) -> None:
    generation, manifest = current_of(live).generation, current_of(live).manifest
    parsers = {name: version for name, version in manifest.parsers.items() if name != "documents"}
    generation.write_manifest(manifest.model_copy(update={"parsers": parsers}).to_toml())
    for size in (2_000_000, 2_000_001):  # known as files, as those of such a version are
        live.sync(EVERYTHING)
        write_scans(where, size)
    live.close()
    with sync_of(where, clock) as again:
        assert again.open_current()
        announced = "16 documents are read for the first time"
        assert again.documents_notice.startswith(announced)
        left = again.sync(EVERYTHING, between_parts=lambda: "documents")[0].left
        assert len(left) >= 15, "a slow machine reads the first"
        assert again.documents_notice.startswith(announced)
        again.sync(left)
        assert again.documents_notice == ""


class BusyPool:
    """A pool that runs a job at once, and tells at the third look; `look` is called at each before."""

    def __init__(self, pool: Pool, look: Callable[[], None]) -> None:
        self._pool, self._look, self._left = pool, look, 2
        self.close = pool.close

    def begin(self, job: Job) -> None:
        self._pool.begin(job)
        self._done = self._pool.result()

    def result(self) -> tuple[Job, Outcome | Died] | None:
        if not self._left:
            return self._done
        self._left -= 1
        self._look()
        return None


def read_slowly(vault_sync: VaultSync, look: Callable[[], None]) -> None:
    writer = current_of(vault_sync).writer
    assert writer.document_pool is not None
    writer.document_pool = cast(Pool, BusyPool(writer.document_pool, look))


def test_a_note_is_indexed_while_a_document_is_read(where: Place, live: VaultSync) -> None:
    where.write("Letter.txt", "quinces\n")
    seen: list[set[str]] = []

    def save() -> None:
        where.write("Saved.md", "# Saved\n")
        live.sync(["Saved.md"])
        seen.append(notes_of(live))

    read_slowly(live, lambda: None)
    live.sync(EVERYTHING, between_parts=save)
    assert "Saved.md" in seen[0]
    assert "Letter.txt" not in seen[-1]
    assert "Letter.txt" in notes_of(live)


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_document_that_changes_while_it_is_read_is_as_it_is_then(where: Place, is_deleted: bool) -> None:
    with loop_by_hand(where) as kept:

        def change() -> None:
            if is_deleted:
                kept.delete("Letter.txt")
            else:
                kept.save("Letter.txt", "medlars\n")
            kept.clock.now += 2

        kept.save("Letter.txt", "quinces\n")
        read_slowly(kept.vault_sync, change)
        kept.run(8.0)
        assert kept.indexed_text("Letter.txt") == (None if is_deleted else "medlars\n")


@pytest.mark.long
def test_a_note_excluded_while_many_are_read_is_never_indexed(where: Place) -> None:
    seen: set[str] = set()
    with loop_by_hand(where) as kept:

        def exclude() -> None:
            seen.update(notes_of(kept.vault_sync))
            if "New 199.md" in seen and not (where.vault / ".indexerignore").exists():
                kept.save(".indexerignore", "Secret.md\n")

        kept.faults.meanwhile = exclude  # the last saved are read first
        new = [f"New {number:03}.md" for number in range(200)]
        for name in ("Secret.md", *new):
            kept.save(name, f"quinces of {name}\n")
        kept.run(10.0)
        assert (where.vault / ".indexerignore").exists()
        assert "Secret.md" not in seen | notes_of(kept.vault_sync)
        assert set(new) <= notes_of(kept.vault_sync)
        assert kept.loop.pending() == 0


@pytest.mark.parametrize("is_excluded", [False, True])
def test_a_note_that_goes_while_documents_are_read_is_gone_before_they_are_all_read(
    where: Place, is_excluded: bool
) -> None:
    letters = {f"Letter {number}.txt" for number in range(20)}
    with loop_by_hand(where) as kept:
        kept.faults.seconds = 2.0
        for name in letters:
            kept.save(name, f"quinces of {name}\n")
        kept.run(5.0)
        if is_excluded:
            kept.save(".indexerignore", "Bread.md\n")
        else:
            kept.delete("Bread.md")
        kept.run(15.0)
        read = letters & notes_of(kept.vault_sync)
        assert "Bread.md" not in notes_of(kept.vault_sync)
        assert read < letters
        assert kept.loop.pending() >= len(letters - read)
        kept.run(60.0, tick_s=1.0)
        assert letters <= notes_of(kept.vault_sync)
        assert kept.loop.pending() == 0


@pytest.mark.parametrize("had_documents", [False, True])
def test_the_first_documents_are_announced_and_wait_for_mains_power(
    where: Place, clock: Clock, caplog: pytest.LogCaptureFixture, had_documents: bool
) -> None:
    power = iter([True, True, False, False])
    if had_documents:
        where.write("known.txt", "quinces\n")
        with sync_of(where, clock, live=False) as command:
            command.open_current()
            command.sync(EVERYTHING)
    with closing(
        VaultSync(in_one_process(where.target()), live=True, clock=clock, on_battery=lambda: next(power))
    ) as live:
        live.open_current()
        where.write("few.txt", "medlars\n")
        where.write("Plums.md", "# Plums\n")
        write_scans(where, 2_000_000)
        caplog.set_level("INFO", "vault_indexer.daemon")
        live.sync(EVERYTHING)
        if had_documents:
            assert {"few.txt", "Plums.md"} <= notes_of(live)
            assert (live.documents_notice, live.documents_wait) == ("", False)
            return
        notice = "17 documents are read for the first time, which takes about 1 minute"
        assert live.documents_notice == f"{notice}, once the machine has mains power"
        assert "Plums.md" in notes_of(live)
        assert "few.txt" not in notes_of(live)
        assert not live.take_power()  # still on its battery
        assert not live.take_power()  # not looked at again so soon
        clock.now += 61
        assert live.take_power()
        live.sync(EVERYTHING)
        assert "few.txt" in notes_of(live)
        assert (live.documents_notice, live.documents_wait) == ("", False)
        assert [record.message for record in caplog.records if "documents" in record.message] == [
            f"{notice}, once the machine has mains power",
            notice,
        ]


def test_a_scan_of_a_part_looks_at_that_part_alone(where: Place, live: VaultSync) -> None:
    where.write("Bread.md", "# Bread\n\nToast.\n")
    where.write("Garden/Beans.md", "# Beans\n")
    where.write("Plums.md", "# Plums\n")
    applied, _ = live.sync(["Garden", "Plums.md"])
    assert set(applied.indexed) == {"Garden/Beans.md", "Plums.md"}
    assert live.sync(EVERYTHING)[0].indexed == ("Bread.md",)


def test_a_file_that_vanished_is_held_and_then_deleted(where: Place, live: VaultSync, clock: Clock) -> None:
    (where.vault / "Bread.md").unlink()
    assert live.sync(EVERYTHING)[0].removed == ()
    assert live.dirty.held == 1
    live.release_due()
    assert "Bread.md" in notes_of(live)
    clock.now += live.assembly.settings.watch.delete_hold_s
    live.release_due()
    assert (notes_of(live), live.dirty.held) == (NOTES.keys() - {"Bread.md"}, 0)


def test_a_file_that_is_back_in_time_is_kept(where: Place, live: VaultSync, clock: Clock) -> None:
    (where.vault / "Bread.md").unlink()
    live.sync(EVERYTHING)
    where.write("Bread.md", NOTES["Bread.md"])
    clock.now += 60
    live.release_due()
    assert notes_of(live) == NOTES.keys()
    live.sync(EVERYTHING)
    assert live.dirty.held == 0


def test_a_command_deletes_at_once(where: Place, clock: Clock) -> None:
    (where.vault / "Bread.md").unlink()
    with sync_of(where, clock, live=False) as source:
        assert source.open_current() == ()
        assert source.sync(EVERYTHING)[0].removed == ("Bread.md",)
        assert source.dirty.held == 0


def test_a_vault_that_looks_empty_is_not_believed_at_once(
    where: Place, live: VaultSync, clock: Clock
) -> None:
    shutil.move(where.vault / "Garden", where.vault.parent / "Garden")
    for name in ("Bread.md", "Oven.md"):
        (where.vault / name).unlink()
    assert live.has_unconfirmed_losses() is True
    with pytest.raises(VaultError) as raised:
        live.check_losses()
    empty = "the vault looks empty (3 files expected). The index is kept."
    assert str(raised.value) == f"Not rebuilt: {empty} (--force rebuilds anyway)"
    live.sync(EVERYTHING)
    assert (live.degraded, notes_of(live), live.dirty.held) == (empty, set(NOTES), 0)
    assert status_of(live, "ready", 0).detail == empty
    assert live.take_confirmation() is False
    clock.now += 1.75
    assert live.take_confirmation() is False
    clock.now += 0.25
    assert [live.take_confirmation(), live.take_confirmation()] == [True, False]
    clock.now += 4.75
    assert live.take_confirmation() is False
    clock.now += 0.25
    assert live.take_confirmation() is True
    live.sync(["Garden"])
    assert notes_of(live) == set(NOTES), "a part of the vault confirms nothing"
    live.sync(EVERYTHING)
    assert (live.degraded, notes_of(live)) == ("", set())
    assert live.take_confirmation() is False


def test_a_vault_that_cannot_be_read_leaves_the_index_as_it_is(where: Place, live: VaultSync) -> None:
    where.vault.rename(where.vault.with_name("away"))
    applied, found = live.sync(EVERYTHING)
    assert (applied, found) == (Applied(), None)
    assert "vault" in live.degraded
    assert live.has_unconfirmed_losses() is True
    assert notes_of(live) == NOTES.keys()
    where.vault.with_name("away").rename(where.vault)
    live.sync(EVERYTHING)
    assert (live.degraded, live.has_unconfirmed_losses()) == ("", False)


def is_written(folder: Path, word: bytes) -> bool:
    """Whether a file in the folder holds the word (texts are packed, titles and terms are not)."""
    return any(word in file.read_bytes().lower() for file in folder.rglob("*") if file.is_file())


def test_an_excluded_note_goes_at_once_and_leaves_no_trace(where: Place, live: VaultSync) -> None:
    (where.vault / "oven.png").write_bytes(b"png")
    where.write("Secret.md", "# Zirconium\n\nNobody else may read it.\n")
    live.sync(EVERYTHING)
    assert is_written(where.index_dir, b"zirconium")
    active = current_of(live).generation
    older = shutil.copytree(active.folder, active.folder.with_name(f"{active.number - 1:04}"))
    where.write(".indexerignore", "Secret.md\noven.png\n")
    assert live.reconfigure(live.assembly) is True
    assert live.reconfigure(live.assembly) is False
    assert live.sync(EVERYTHING)[0].removed == ("Secret.md", "oven.png")
    assert live.dirty.held == 0
    assert not is_written(where.index_dir, b"zirconium")
    assert not older.exists(), "an older generation holds the note, too"


def test_a_note_is_read_again_as_it_is_now(where: Place, live: VaultSync) -> None:
    where.write("Bread.md", "# Bread\n\nToast.\n")
    where.write("Oven.md", "# Oven\n\nCold.\n")
    live.reread("Bread.md")
    assert live.sync(EVERYTHING)[0].indexed == ("Oven.md",)


def test_a_check_names_what_differs_and_repairs_it(where: Place, live: VaultSync) -> None:
    assert live.verify(repair=False) == ()
    where.write("Bread.md", "# Bread\n\nToast.\n")
    told: list[Progress] = []
    (problem,) = live.verify(repair=False, report=told.append)
    assert "Bread.md" in f"{problem}"
    assert {one.stage for one in told} >= {"verify catalog", "verify vault", "verify indices"}
    assert live.verify(repair=False) == (problem,), "looking repairs nothing"
    assert live.verify(repair=True) == (problem,)
    assert (live.verify(repair=False), live.damaged) == ((), "")


def test_files_that_are_not_indexed_are_named_with_their_reason(where: Place, live: VaultSync) -> None:
    (where.vault / "Large.md").write_bytes(b"x" * 100)
    os.truncate(where.vault / "Large.md", 1 << 40)
    live.sync(EVERYTHING)
    status = status_of(live, "ready", 2)
    (skipped,) = status.skipped
    assert isinstance(skipped, SkippedFile)
    assert (skipped.path, bool(skipped.reason)) == ("Large.md", True)
    assert (status.counts.notes, status.pending) == (3, 2)
    assert (status.generation, status.vectors_owed) == (1, 0)
    assert status.seq > 0
    assert status.manifest


def test_losses_that_become_more_are_confirmed_from_the_last_of_them_on(
    where: Place, live: VaultSync, clock: Clock
) -> None:
    for number in range(27):
        where.write(f"Part {number:02}.md", f"Rye of the day {number}.\n")
    live.sync(EVERYTHING)
    before = notes_of(live)
    for number in range(27):
        (where.vault / f"Part {number:02}.md").unlink()
    live.sync(EVERYTHING)
    assert live.degraded == ""
    assert live.dirty.held == 27, "27 of 30 are a large part, and believed"
    (where.vault / "Oven.md").unlink()
    live.sync(EVERYTHING)
    more = "28 of 30 files are gone at once. The index is kept."
    assert live.degraded == more
    clock.now += 1.5
    (where.vault / "Bread.md").unlink()
    live.sync(EVERYTHING)
    clock.now += 1.0
    live.sync(EVERYTHING)
    assert notes_of(live) == before, "one of them is known for a second alone"
    assert live.degraded == more.replace("28", "29")
    clock.now += 1.0
    live.sync(EVERYTHING)
    assert live.degraded == ""
    assert notes_of(live) == before - {"Oven.md", "Bread.md"} - {f"Part {n:02}.md" for n in range(27)}


def move_and_change(where: Place) -> None:
    (where.vault / "Bread.md").rename(where.vault / "Loaf.md")
    where.write("Loaf.md", "# Loaf\n\nSliced.\n")


def delete_what_is_excluded_as_a_folder(where: Place) -> None:
    where.write(".indexerignore", "Bread.md/\n")
    (where.vault / "Bread.md").unlink()


@pytest.mark.parametrize(
    ("act", "indexed", "removed", "held"),
    [
        (lambda where: (where.vault / "Bread.md").rename(where.vault / "L.md"), ("L.md",), ("Bread.md",), 0),
        (lambda where: (where.vault / "oven.png").rename(where.vault / "o.png"), (), ("oven.png",), 0),
        (move_and_change, ("Loaf.md",), (), 1),
        (delete_what_is_excluded_as_a_folder, (), (), 1),
    ],
)
def test_what_moved_is_not_held_unless_it_changed(
    where: Place,
    live: VaultSync,
    act: Callable[[Place], object],
    indexed: tuple[str, ...],
    removed: tuple[str, ...],
    held: int,
) -> None:
    (where.vault / "oven.png").write_bytes(b"png")
    live.sync(EVERYTHING)
    act(where)
    live.reconfigure(live.assembly)
    applied, _ = live.sync(EVERYTHING)
    assert (applied.indexed, applied.removed, live.dirty.held) == (indexed, removed, held)


@pytest.mark.posix("a file that is open is removed")
def test_the_text_of_an_excluded_note_goes_when_no_search_needs_it_any_more(
    where: Place, live: VaultSync
) -> None:
    where.write("Secret.md", "# Zirconium\n\nNobody else may read it.\n")
    live.sync(EVERYTHING)
    generation, holder = current_of(live).generation, current_of(live).writer.holder
    folder = generation.folder
    assert is_written(folder, b"zirconium")
    where.write(".indexerignore", "Secret.md\n")
    live.reconfigure(live.assembly)
    with holder.lease() as snapshot:
        live.sync(EVERYTHING)
        assert snapshot.catalog.note("Secret.md") is not None
    live.purge_if_needed()
    assert not is_written(folder, b"zirconium")
    purged = generation.catalog.read_bytes()
    live.purge_if_needed()
    assert generation.catalog.read_bytes() == purged, "what is clean is not written again"


def test_a_first_part_answers_and_says_how_many_notes_it_lacks(in_parts: VaultSync) -> None:
    assembly = in_parts.assembly
    assert in_parts.open_current() == ("there is no index yet",)
    part, built = assembly.build_next(silent, recompute_weights=True, newest_only=True)
    left = 5 - built.notes
    assert 0 < built.left_out == left
    seen: list[tuple[int, UnreadNotes | None]] = []
    in_parts.activate(part, built, lambda remaining: seen.append((remaining, in_parts.unread)))
    assert seen[-1] == (0, UnreadNotes(0, 5))
    assert all(unread == UnreadNotes(min(left, remaining), 5) for remaining, unread in seen)
    assert (in_parts.unread, len(notes_of(in_parts))) == (None, 5)
    assert assembly.index_dir.current() == part
    again, built = assembly.build_next(silent, recompute_weights=True)
    assert (built.left_out, built.notes) == (0, 5)
    in_parts.activate(again, built)
    assert assembly.index_dir.current() == current_of(in_parts).generation == again


@pytest.mark.parametrize("newest_only", [True, False])
def test_what_a_first_part_lacks_is_known_before_the_vault_is_looked_at(
    in_parts: VaultSync, newest_only: bool
) -> None:
    assembly = in_parts.assembly
    made, built = assembly.build_next(silent, recompute_weights=True, newest_only=newest_only)
    assembly.vault.rename(assembly.vault.with_name("away"))
    in_parts.activate(made, built)
    assert in_parts.unread == (UnreadNotes(5 - built.notes, 5) if newest_only else None)
    assert "vault" in in_parts.degraded


def test_a_feed_names_the_notes_that_changed_between_two_states() -> None:
    feed = ChangeFeed(most=4)
    assert feed.since(0, 3) == NoteChanges(3)
    feed.add(4, ["a.md", "b.md"], [])
    feed.add(6, ["a.md"], ["b.md"])
    assert feed.since(3, 6) == NoteChanges(6, ("a.md",), ("b.md",))
    assert feed.since(4, 6) == NoteChanges(6, ("a.md",), ("b.md",))
    assert feed.since(3, 4) == NoteChanges(4, ("a.md", "b.md"))
    assert feed.since(1, 4).more
    feed.add(9, ["c.md"], [])
    assert feed.since(3, 9).more
    assert feed.since(4, 9) == NoteChanges(9, ("a.md", "c.md"), ("b.md",))
    feed.add(10, ["1.md", "2.md", "3.md", "4.md", "5.md"], [])
    assert feed.since(9, 10) == NoteChanges(10, ("2.md", "3.md", "4.md", "5.md"), more=True)
    assert feed.since(10, 10) == NoteChanges(10)


@pytest.mark.long
def test_a_save_while_thousands_of_notes_go_in_is_found_before_the_rest(tmp_path: Path) -> None:
    where = place(tmp_path)
    with opened(where):
        pass
    names = [f"Log {n:04}.md" for n in range(2 * PART_NOTES + 10)]
    for name in names:
        where.write(name, f"# {name}\n\nBread was baked. [[Oven]] [[{names[-1]}]]\n")
    vault_sync = VaultSync(Assembly.of(where.target()), live=True)
    vault_sync.open_current()
    found: list[tuple[set[str], int]] = []

    def save() -> None:
        """Of what is in already, of what is still to come, and of what is neither."""
        for name in (names[0], names[-1], "New.md"):
            where.write(name, f"# Saved\n\nSaid basalt{len(found)}. [[Oven]]\n")
        (where.vault / names[1]).unlink(missing_ok=True)
        vault_sync.sync({names[0], names[1], names[-1], "New.md"})
        reader, word = current_of(vault_sync).reader, f"basalt{len(found)}"
        with reader.holder.lease() as snapshot:
            hits = reader.searcher.search(snapshot, SearchRequest(word)).hits
            notes = snapshot.catalog.counts().notes
        holding = [hit for hit in hits if word in hit.content]
        found.append(({path for hit in holding for path in (hit.path, *hit.copies)}, notes))

    vault_sync.sync(EVERYTHING, between_parts=save)
    saved = {names[0], names[-1], "New.md"}
    assert len(found) > 1
    assert all(paths == saved for paths, _ in found)
    assert found[0][1] < PART_NOTES + 20, "most of the others were still to come"
    vault_sync.dirty.take_held()
    vault_sync.close()

    with opened(where) as service:
        assert service.verify() == ()
        assert list(service.export()) == fresh_export(where)
