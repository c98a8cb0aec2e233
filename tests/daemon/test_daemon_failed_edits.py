"""Edits that fail are found soon after the first success, whatever else goes on failing."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_by_hand import Clock, LoopByHand, loop_by_hand
from vault_at_work import NOTES, Place, hits, opened, place, silent, wait_for
from waiting import DEADLINE_S

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.rebuild import CheckRequest
from vault_indexer.daemon.tasks.reread import QuarantineRetry
from vault_indexer.daemon.tasks.upkeep import Upkeep
from vault_indexer.errors import ProviderError, UnavailableError
from vault_indexer.model import Problem
from vault_indexer.vault.dirty import FailedEdits, Quarantine

SOON_S = 5.0


def test_saves_that_failed_for_a_while_are_found_after_the_first_success(kept: LoopByHand) -> None:
    kept.faults.everything = True
    for n in range(7):
        kept.save(f"Failed {n}.md", "Contains cerium.\n")
        kept.run(1.0)
    assert kept.loop.pending() >= 7
    assert kept.loop.state.is_indexing
    assert list(kept.notices) == ["indexing failed: the model is down"]
    kept.faults.everything = False
    kept.run(SOON_S)
    assert kept.holding("cerium") == {f"Failed {n}.md" for n in range(7)}
    assert (kept.loop.pending(), kept.loop.state.is_indexing) == (0, False)
    assert not kept.notices


def test_a_pause_is_no_time_without_progress(kept: LoopByHand) -> None:
    kept.faults.everything = True
    kept.save("Failed.md", "Contains cerium.\n")
    kept.run(55.0)
    assert kept.loop.pending() == 1
    kept.loop.pause(None)
    asked = CheckRequest(silent, repair=False)
    kept.loop.request(asked)
    with ThreadPoolExecutor(1) as pool:
        step = pool.submit(kept.loop.step)
        assert isinstance(asked.answer.exception(DEADLINE_S), UnavailableError), "indexing rests"
        kept.clock.now += 100.0
        kept.loop.resume()
        step.result(DEADLINE_S)
    assert (kept.loop.pending(), kept.loop.state.stalled_s) == (1, 0.0)
    kept.run(59.0)
    assert kept.loop.state.stalled_s == 0.0
    kept.run(2.0)
    assert 60.0 <= kept.loop.state.stalled_s < 62.0


def test_a_note_that_fails_by_itself_holds_up_no_other_of_its_batch(kept: LoopByHand) -> None:
    kept.faults.poison = {"Note 3.md"}
    for n in range(6):
        kept.save(f"Note {n}.md", "Contains cerium.\n")
    kept.run(4 * SOON_S)  # no other save succeeds meanwhile
    assert kept.holding("cerium") == {f"Note {n}.md" for n in range(6) if n != 3}
    assert kept.loop.pending() == 1
    assert list(kept.notices) == ["indexing failed: the model is down"]
    kept.save("Other.md", "Contains holmium.\n")
    kept.run(1.0)
    assert kept.holding("holmium") == {"Other.md"}
    kept.faults.poison.clear()
    kept.save("Note 3.md", "Contains cerium, and is mended.\n")
    kept.run(1.0)
    assert "Note 3.md" in kept.holding("cerium")
    assert kept.loop.pending() == 0
    assert not kept.notices


@pytest.mark.long
def test_a_save_that_fails_while_thousands_are_read_is_found_after_them(kept: LoopByHand) -> None:
    for n in range(200):
        kept.where.write(f"Many/Note {n:03}.md", f"Note {n} is long.\n")

    jobs: list[int] = []

    def save_once() -> None:
        """In the second part, after the note was read with the first, and before the third."""
        jobs.append(1)
        if len(jobs) == 3:
            kept.faults.poison = {"Bread.md"}
            kept.save("Bread.md", "Contains cerium.\n")

    kept.faults.meanwhile, kept.faults.seconds = save_once, 0.5
    kept.request_scan()
    kept.run(2.0)
    assert kept.holding("long") >= {"Many/Note 199.md"}
    assert kept.loop.pending() == 1
    assert kept.early == []
    kept.faults.mend()
    kept.run(4 * SOON_S)
    assert kept.holding("cerium") == {"Bread.md"}
    assert kept.loop.pending() == 0


def test_a_new_note_that_a_scan_could_not_read_is_missing_until_it_is_read(kept: LoopByHand) -> None:
    kept.where.write("New.md", "Contains cerium.\n")
    kept.faults.poison = {"New.md"}
    kept.request_scan()
    kept.run(2.0)
    assert kept.vault_sync.unread is not None
    kept.faults.mend()
    kept.run(4 * SOON_S)
    assert kept.holding("cerium") == {"New.md"}
    assert kept.vault_sync.unread is None


def test_a_save_during_a_build_that_cannot_be_read_after_it_stays_pending(kept: LoopByHand) -> None:
    built = kept.vault_sync.assembly.build_next(silent, recompute_weights=False)
    kept.where.write("New.md", "Contains cerium.\n")
    kept.faults.poison = {"New.md"}
    with pytest.raises(ProviderError):
        kept.vault_sync.activate(*built)
    assert kept.loop.pending() > 0
    kept.faults.mend()
    kept.run(SOON_S)
    assert kept.holding("cerium") == {"New.md"}
    assert kept.loop.pending() == 0


def test_a_note_whose_worker_was_killed_twice_is_found_soon(kept: LoopByHand) -> None:
    kept.faults.deadly = {"Note.md"}
    kept.save("Note.md", "Contains cerium.\n")
    kept.run(1.5)
    assert [*kept.vault_sync.quarantine()] == ["Note.md"]
    assert kept.loop.pending() == 1, "it may have been something else that killed it"
    kept.faults.deadly.clear()
    kept.run(SOON_S)
    assert kept.holding("cerium") == {"Note.md"}
    assert kept.loop.pending() == 0


@pytest.mark.parametrize("later_ns", [0, 10**9], ids=["in the same moment", "later"])
def test_a_note_that_was_saved_again_while_it_killed_its_worker_is_found_soon(
    kept: LoopByHand, later_ns: int
) -> None:
    """Its second change is not "another note that was indexed"."""
    kept.faults.deadly = {"Note.md"}
    for at, word in enumerate(("cerium", "thulium")):
        kept.save("Note.md", f"Contains {word}.\n")
        os.utime(kept.where.vault / "Note.md", ns=(0, 10**18 + at * later_ns))
        kept.run(3.0)
    kept.faults.deadly.clear()
    kept.save("Other.md", "Contains holmium.\n")
    kept.run(SOON_S)
    assert kept.holding("thulium") == {"Note.md"}


def test_a_note_that_kills_its_worker_again_is_set_aside_by_name(kept: LoopByHand) -> None:
    kept.faults.deadly = {"Note.md"}
    kept.save("Note.md", "Contains cerium.\n")
    kept.run(60.0, tick_s=1.0)
    assert kept.loop.pending() == 0
    assert [*kept.vault_sync.quarantine()] == ["Note.md"]
    with closing(VaultSync(kept.vault_sync.assembly, live=True, clock=kept.clock)) as next_run:
        assert next_run.open_current() == ()
        assert [*next_run.quarantine()] == ["Note.md"]
        assert (next_run.dirty.aside.untried, len(next_run.dirty)) == (0, 0), "it was tried before"
    kept.faults.deadly.clear()
    kept.save("Other.md", "Contains holmium.\n")
    kept.run(SOON_S)
    assert kept.holding("cerium") == {"Note.md"}, "another note was indexed: it is tried at once"


@pytest.mark.long
def test_a_save_in_a_storm_of_folders_waits_for_no_scan(kept: LoopByHand) -> None:
    """Each job takes half a second, and folders are renamed all the time: a scan takes longer than the
    bound."""
    for n in range(300):
        kept.where.write(f"Old/Note {n:03}.md", f"Note {n} is long.\n")
    saved: dict[int, float] = {}
    found: dict[int, float] = {}

    def storm() -> None:
        now, number = kept.clock.now, len(saved)
        if number < 4 and saved.keys() == found.keys():
            kept.save("Saved.md", f"Contains cerium{number}x.\n")
            saved[number] = now
        folder = next(path for path in kept.where.vault.iterdir() if len(path.name) == 3 and path.is_dir())
        folder.rename(folder.with_name({"Old": "New", "New": "Old"}[folder.name]))
        kept.hints[-1].sink.folder_gone("Old")
        kept.save(f"Made/{now}.md", "Beside it.\n")
        found.update({n: now for n in saved.keys() - found.keys() if kept.holding(f"cerium{n}x")})

    kept.faults.meanwhile, kept.faults.seconds = storm, 0.5
    kept.hints[-1].sink.folder_gone("Old")
    kept.run(60.0)
    assert len(found) == 4
    assert max(found[n] - saved[n] for n in found) <= SOON_S


@pytest.mark.long
def test_owed_vectors_and_a_note_that_was_set_aside_share_a_process(built: Place, tmp_path: Path) -> None:
    shutil.copytree(built.vault.parent, tmp_path, dirs_exist_ok=True)
    where = Place(tmp_path / "vault", tmp_path / "index", tmp_path / "config.toml")
    with loop_by_hand(where, slow=True) as kept:
        assert kept.vault_sync.current is not None
        writer = kept.vault_sync.current.writer
        kept.faults.deadly = {"Hostile.md"}
        kept.save("Hostile.md", "Contains cerium.\n")
        kept.run(1.0)
        for n in range(60):
            kept.save(f"Many/Note {n:02}.md", f"Note {n} is one of a great many notes.\n")
        kept.run(1.0, tick_s=1.0)
        owed = writer.missing_vectors
        assert owed > 0
        kept.faults.deadly.clear()
        kept.run(10.0)
        assert writer.missing_vectors == 0
        assert kept.holding("cerium") == {"Hostile.md"}
        assert kept.loop.pending() == 0
        assert not kept.notices


@given(
    st.sets(st.sampled_from("abcdefghij"), min_size=1),
    st.sets(st.sampled_from("abcdefghij")),
    st.lists(st.booleans(), max_size=12),
)
def test_all_that_does_not_fail_by_itself_is_tried_soon_after_a_success(
    failed: set[str], poison: set[str], outages: list[bool]
) -> None:
    """Whatever the history of tries: after a success, each path that would succeed does so within the time
    that two tries of the rest may wait."""
    clock = Clock()
    edits = FailedEdits(clock)
    edits.fail(failed)

    def try_due(*, outage: bool) -> None:
        group = edits.next_due()
        if group is None:
            return
        if outage or group & poison:
            edits.fail(group)
        else:
            edits.drop(group)
            edits.retry_all()

    for outage in outages:
        clock.now += 1
        try_due(outage=outage)
    edits.retry_all()
    for _ in range(40):
        clock.now += 0.1
        try_due(outage=False)
    edits.drop(poison)
    assert len(edits) == 0


REASON = "took over 0.2 s of processor time"
HOSTILE = " ".join(f"w{n}" for n in range(400_000))  # seconds of processor time: no word comes twice


@pytest.mark.long
def test_a_note_over_its_budget_is_set_aside_and_read_again_later(tmp_path: Path) -> None:
    where = place(tmp_path, {**NOTES, "Hostile.md": f"# Hostile\n\nzirconium {HOSTILE}\n"})
    where.tune("[index]\nmax_note_seconds = 0.2\n")
    with opened(where, processes=True) as service:
        (skipped,) = service.status().skipped
        assert (skipped.path, skipped.reason) == ("Hostile.md", f"set aside: {REASON}")
        assert service.status().counts.notes == len(NOTES)
        assert hits(service, "fan")[0].path == "Oven.md"
        assert service.verify(repair=False) == (Problem("vault", "set aside", REASON, "Hostile.md"),)
    clock = Clock()
    with closing(VaultSync(Assembly.of(where.target()), live=False)) as vault_sync:
        assert vault_sync.open_current() == ()
        vault_sync.dirty.aside = Quarantine(clock)
        vault_sync.dirty.aside.use(vault_sync.quarantine())
        retry = Upkeep(vault_sync, [QuarantineRetry(vault_sync)])
        where.write("Hostile.md", "# Tame\n\nzirconium\n")  # nobody watches
        retry.step(is_idle=True)
        clock.now += 2
        retry.step(is_idle=False)
        assert (retry.doing, [*vault_sync.quarantine()]) == (None, ["Hostile.md"])

        def is_read() -> bool:
            retry.step(is_idle=True)
            return not vault_sync.quarantine()

        wait_for(is_read)
        assert vault_sync.current is not None
        with vault_sync.current.writer.holder.lease() as snapshot:
            assert snapshot.catalog.note("Hostile.md") is not None
        assert vault_sync.verify(repair=False) == ()
