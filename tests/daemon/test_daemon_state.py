"""What a daemon says of itself at one moment, from all that the texts are made of."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from loop_by_hand import Clock
from waiting import DEADLINE_S, wait_until

from vault_indexer.daemon.state import ActiveFaults, Cause, DaemonState, Pause, RecentNotices, StallWatch
from vault_indexer.daemon.sync import UnreadNotes
from vault_indexer.errors import DiskFullError, IndexUnusableError, VaultError
from vault_indexer.model import Progress

NOON = datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)
ODD = DaemonState(
    building=True, vault_problem="the vault is gone", faults=("a fault",), reasons=("a reason",)
)
STALLED = "1 change pending for 60 s without progress: waiting for the vault (the vault is gone)"
HALFWAY = Progress("chunks", 1200, 2400, 7000, 3.5)


@pytest.mark.parametrize(
    ("state", "name"),
    [
        (DaemonState(), "ready"),
        (DaemonState(is_indexing=True), "indexing"),
        (DaemonState(pending=3), "ready"),
        (DaemonState(has_index=False), "unusable"),
        (DaemonState(has_index=False, is_indexing=True), "unusable"),
        (DaemonState(building=True), "rebuilding"),
        (DaemonState(building=True, has_index=False), "building"),
        (DaemonState(building=True, unread=UnreadNotes(0, 3)), "indexing"),
        (DaemonState(building=True, unread=UnreadNotes(1, 3), paused=True), "paused"),
        (DaemonState(vault_problem="the vault is gone", paused=True), "degraded"),
        (DaemonState(unwritable=True, paused=True), "degraded"),
        (DaemonState(faults=("a fault",), reasons=("a reason",)), "ready"),
    ],
)
def test_the_worst_gives_the_state_its_name(state: DaemonState, name: str) -> None:
    assert state.name == name


@pytest.mark.parametrize(
    ("state", "detail", "wrong"),
    [
        (DaemonState(), "", ()),
        (DaemonState(advice="use a smaller model"), "use a smaller model", ()),
        (
            DaemonState(
                vault_problem="the vault is gone",
                reasons=("the model changed", "a fault"),
                faults=("a fault", ""),
                task_faults=("no disk",),
                pending=1,
                stalled_s=60.4,
                advice="no disk",
            ),
            f"the vault is gone; the model changed; a fault; no disk; {STALLED}",
            (
                "a fault",
                "no disk",
                STALLED,
            ),
        ),
        (replace(ODD, unread=UnreadNotes(2, 3)), "the vault is gone; a fault", ("a fault",)),
        (DaemonState(pending=2, held=1), "", ()),
        (DaemonState(stalled_s=61.0, held=1), "", ()),
    ],
)
def test_all_that_is_wrong_is_said_once(state: DaemonState, detail: str, wrong: tuple[str, ...]) -> None:
    assert (state.detail, state.wrong) == (detail, wrong)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (DaemonState(), "files that are still being written"),
        (DaemonState(unpublished=1), "the server to which the index is published"),
        (DaemonState(unpublished=1, publishing_fault="no server"), "no server"),
        (DaemonState(unpublished=1, held=2), "2 deletions held back, in case the files come back"),
        (DaemonState(held=2, step_s=59.9), "2 deletions held back, in case the files come back"),
        (DaemonState(held=2, step_s=60.0), "a worker process that does not answer"),
        (DaemonState(step_s=60.0, indexing_fault="no disk"), "the next try (no disk)"),
        (DaemonState(indexing_fault="no disk", building=True), "the index to be built"),
        (ODD, "the vault (the vault is gone)"),
    ],
)
def test_pending_changes_wait_for_the_first_of_these(state: DaemonState, reason: str) -> None:
    assert state.waits_for == reason


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (DaemonState(paused=True), "until `indexer resume`"),
        (DaemonState(paused=True, pending=1), "until `indexer resume`: 1 change is not searched yet"),
        (
            DaemonState(paused=True, paused_until=NOON, pending=2),
            "until 2026-03-01T12:00:05Z: 2 changes are not searched yet",
        ),
    ],
)
def test_a_pause_is_said_with_its_end_and_what_waits(state: DaemonState, text: str) -> None:
    assert state.under_way == (f"indexing is paused {text}",)
    assert state.build_text == state.pause_text == f"indexing is paused {text}"


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (DaemonState(), ()),
        (DaemonState(progress=HALFWAY, reasons=("a reason",)), ()),
        (DaemonState(building=True), ("the index is being rebuilt: it starts",)),
        (
            DaemonState(building=True, reasons=("one", "two")),
            ("the index is being rebuilt: one; two",),
        ),
        (
            ODD,
            ("Warning: the vault is gone", "the index is being rebuilt: a fault"),
        ),
        (
            DaemonState(building=True, faults=("a fault",), progress=HALFWAY),
            ("the index is being rebuilt: 1,200 of 2,400 notes",),
        ),
        (
            replace(ODD, unread=UnreadNotes(left=400, total=1000)),
            ("Warning: the vault is gone", "the index is being built: 600 of 1,000 notes can be searched"),
        ),
        (
            DaemonState(unread=UnreadNotes(left=1, total=1)),
            ("the index is being built: 0 of 1 note can be searched",),
        ),
    ],
)
def test_a_build_is_said_with_how_far_it_is(state: DaemonState, told: tuple[str, ...]) -> None:
    assert state.under_way == told


def test_a_first_part_that_answers_is_as_far_as_its_notes() -> None:
    assert DaemonState(progress=HALFWAY).reading_progress is None
    unread = UnreadNotes(left=2, total=5)
    assert DaemonState(unread=unread).reading_progress == Progress("notes", 3, 5, 0, 0.0)
    built = DaemonState(progress=HALFWAY, unread=unread).reading_progress
    assert built == Progress("notes", 3, 5, 7000, 3.5)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def state_of(pause: Pause) -> tuple[bool, datetime | None]:
    return pause.active, pause.until


def texts_of(faults: ActiveFaults) -> list[str]:
    return list(faults.texts)


def test_changes_that_do_not_become_fewer_stall_after_a_minute(clock: Clock) -> None:
    watch = StallWatch(clock)
    clock.now += 59.0
    assert watch.stalled_s() == 0.0
    clock.now += 1.0
    assert watch.stalled_s() == 60.0
    watch.observe(0)
    clock.now += 30.0
    watch.observe(5)
    clock.now += 30.0
    assert watch.stalled_s() == 60.0, "nothing moves since there was something to do"
    watch.observe(4)
    clock.now += 40.0
    watch.observe(4)
    watch.observe(7)
    clock.now += 40.0
    assert watch.stalled_s() == 80.0
    watch.observe(6)
    assert watch.stalled_s() == 0.0


def test_a_pause_ends_at_a_word_or_when_its_time_is_over(clock: Clock) -> None:
    pause = Pause(clock)
    assert state_of(pause) == (False, None)
    pause.begin(None)
    assert state_of(pause) == (True, None)
    pause.begin(90.25)
    expected = datetime.now(UTC) + timedelta(seconds=90)
    assert pause.until is not None
    assert abs(pause.until - expected) < timedelta(seconds=30)
    assert pause.until.microsecond == 0
    clock.now += 90.0
    assert pause.active
    assert pause.until is not None
    clock.now += 0.25
    assert state_of(pause) == (False, None)
    pause.begin(10.0)
    pause.end()
    assert state_of(pause) == (False, None)


def test_a_thread_that_waits_for_a_pause_is_woken(clock: Clock) -> None:
    pause = Pause(clock)
    pause.wait(DEADLINE_S)
    pause.begin(0.0)
    pause.wait(DEADLINE_S)
    pause.begin(None)
    pause.wait(0.0)
    changes: list[Callable[[], None]] = [lambda: pause.begin(DEADLINE_S), pause.end]
    for change in changes:
        waiting = threading.Thread(target=pause.wait, args=(10 * DEADLINE_S,))
        waiting.start()

        def is_woken(change: Callable[[], None] = change, waiting: threading.Thread = waiting) -> bool:
            change()  # again: it may not have begun to wait
            waiting.join(0.01)
            pause.begin(None)
            return not waiting.is_alive()

        wait_until(is_woken, "the thread is woken")


def test_a_notice_is_shown_for_ten_minutes_from_its_first_answer_on(clock: Clock) -> None:
    notices = RecentNotices(clock)
    assert notices.to_show([]) == ()
    assert notices.to_show(["a"]) == ("a",)
    clock.now += 300.0
    assert notices.to_show(["b", "a"]) == ("b", "a")
    clock.now += 299.0
    assert notices.to_show(["b", "a"]) == ("b", "a")
    clock.now += 1.0
    assert notices.to_show(["b", "a"]) == ("b",)
    clock.now += 300.0
    assert notices.to_show(["b", "a"]) == ()
    assert notices.to_show(["c"]) == ("c",)
    assert notices.to_show(["a"]) == ("a",), "what was over has happened again"


def test_each_cause_has_one_fault_and_they_stand_in_one_order() -> None:
    faults = ActiveFaults()
    assert (texts_of(faults), faults.any_degraded(), faults.get(Cause.BUILD)) == ([], False, "")
    assert faults.begin(Cause.INDEXING, " a\n  b ") is True
    assert faults.begin(Cause.INDEXING, "a b") is False
    assert faults.begin(Cause.INDEXING, "a b", degraded=True) is True
    assert faults.begin_with(Cause.CONFIG, "not used", VaultError("one \n two")) is True
    assert texts_of(faults) == ["not used: one; two", "a b"]
    assert faults.any_degraded() is True
    faults.end(Cause.INDEXING, Cause.BUILD)
    assert (texts_of(faults), faults.any_degraded()) == (["not used: one; two"], False)
    assert (faults.get(Cause.CONFIG), faults.get(Cause.INDEXING)) == ("not used: one; two", "")
    faults.begin(Cause.BUILD, "x")
    faults.end(Cause.BUILD, Cause.CONFIG)
    assert texts_of(faults) == []


@pytest.mark.parametrize(
    ("error", "degraded"),
    [(DiskFullError("x"), True), (IndexUnusableError("x"), True), (VaultError("x"), False)],
)
def test_an_index_that_cannot_be_written_is_degraded(error: Exception, degraded: bool) -> None:
    faults = ActiveFaults()
    faults.begin_with(Cause.BUILD, "failed", error)
    assert faults.any_degraded() is degraded
    faults.begin_with(Cause.BUILD, "failed", KeyError())
    assert (faults.get(Cause.BUILD), faults.any_degraded()) == ("failed: KeyError", False)
