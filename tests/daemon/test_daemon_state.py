"""What a daemon says of itself at one moment, from all that the texts are made of."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from loop_by_hand import Clock
from waiting import DEADLINE_S, wait_until

from vault_indexer.daemon.state import (
    Cause,
    Fault,
    LoopState,
    Pause,
    RecentNotices,
    StateHolder,
)
from vault_indexer.daemon.sync import UnreadNotes
from vault_indexer.errors import DiskFullError, IndexUnusableError, VaultError
from vault_indexer.model import Progress

FAULT = {Cause.BUILD: Fault("a fault")}
NO_DISK = {Cause.INDEXING: Fault("no disk")}
UNWRITABLE = {Cause.BUILD: Fault("no room", degraded=True)}
NOON = datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)
ODD = LoopState(building=True, vault_problem="the vault is gone", faults=FAULT, reasons=("a reason",))
STALLED = "1 change pending for 60 s without progress: waiting for the vault (the vault is gone)"
HALFWAY = Progress("chunks", 1200, 2400, 7000, 3.5)


@pytest.mark.parametrize(
    ("state", "name"),
    [
        (LoopState(), "ready"),
        (LoopState(is_indexing=True), "indexing"),
        (LoopState(pending=3), "ready"),
        (LoopState(has_index=False), "unusable"),
        (LoopState(has_index=False, is_indexing=True), "unusable"),
        (LoopState(building=True), "rebuilding"),
        (LoopState(building=True, has_index=False), "building"),
        (LoopState(building=True, unread=UnreadNotes(0, 3)), "indexing"),
        (LoopState(building=True, unread=UnreadNotes(1, 3), paused=True), "paused"),
        (LoopState(vault_problem="the vault is gone", paused=True), "degraded"),
        (LoopState(faults=UNWRITABLE, paused=True), "degraded"),
        (LoopState(faults=FAULT, reasons=("a reason",)), "ready"),
    ],
)
def test_the_worst_gives_the_state_its_name(state: LoopState, name: str) -> None:
    assert state.name == name


@pytest.mark.parametrize(
    ("state", "detail", "wrong"),
    [
        (LoopState(), "", ()),
        (LoopState(advice="use a smaller model"), "use a smaller model", ()),
        (
            LoopState(
                vault_problem="the vault is gone",
                reasons=("the model changed", "a fault"),
                faults={**FAULT, Cause.CONFIG: Fault("")},
                task_faults=("no disk",),
                pending=1,
                now=60.4,
                advice="no disk",
            ),
            f"the vault is gone; the model changed; a fault; no disk; {STALLED}",
            ("a fault", "no disk", STALLED),
        ),
        (replace(ODD, unread=UnreadNotes(2, 3)), "the vault is gone; a fault", ("a fault",)),
        (LoopState(pending=2, held=1), "", ()),
        (LoopState(now=61.0, held=1), "", ()),
    ],
)
def test_all_that_is_wrong_is_said_once(state: LoopState, detail: str, wrong: tuple[str, ...]) -> None:
    assert (state.detail, state.wrong) == (detail, wrong)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (LoopState(), "files that are still being written"),
        (LoopState(unpublished=1), "the server to which the index is published"),
        (LoopState(unpublished=1, publishing_fault="no server"), "no server"),
        (LoopState(unpublished=1, held=2), "2 deletions held back, in case the files come back"),
        (LoopState(held=2, step_began=0.0, now=59.9), "2 deletions held back, in case the files come back"),
        (LoopState(held=2, step_began=0.0, now=60.0), "a worker process that does not answer"),
        (
            LoopState(step_began=0.0, now=60.0, faults={Cause.INDEXING: Fault("no disk")}),
            "the next try (no disk)",
        ),
        (LoopState(faults={Cause.INDEXING: Fault("no disk")}, building=True), "the index to be built"),
        (ODD, "the vault (the vault is gone)"),
    ],
)
def test_pending_changes_wait_for_the_first_of_these(state: LoopState, reason: str) -> None:
    assert state.waits_for == reason


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (LoopState(paused=True), "until `indexer resume`"),
        (LoopState(paused=True, pending=1), "until `indexer resume`: 1 change is not indexed yet"),
        (
            LoopState(paused=True, paused_until=NOON, pending=2),
            "until 2026-03-01T12:00:05Z: 2 changes are not indexed yet",
        ),
    ],
)
def test_a_pause_is_said_with_its_end_and_what_waits(state: LoopState, text: str) -> None:
    assert state.under_way == (f"indexing is paused {text}",)
    assert state.build_text == state.pause_text == f"indexing is paused {text}"


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (LoopState(), ()),
        (LoopState(progress=HALFWAY, reasons=("a reason",)), ()),
        (LoopState(building=True), ("the index is being rebuilt: it starts",)),
        (LoopState(building=True, reasons=("one", "two")), ("the index is being rebuilt: one; two",)),
        (ODD, ("Warning: the vault is gone", "the index is being rebuilt: a fault")),
        (
            LoopState(building=True, faults=FAULT, progress=HALFWAY),
            ("the index is being rebuilt: 1,200 of 2,400 notes",),
        ),
        (
            replace(ODD, unread=UnreadNotes(left=400, total=1000)),
            ("Warning: the vault is gone", "the index is being built: 600 of 1,000 notes can be searched"),
        ),
        (
            LoopState(unread=UnreadNotes(left=1, total=1)),
            ("the index is being built: 0 of 1 note can be searched",),
        ),
    ],
)
def test_a_build_is_said_with_how_far_it_is(state: LoopState, told: tuple[str, ...]) -> None:
    assert state.under_way == told


def test_a_first_part_that_answers_is_as_far_as_its_notes() -> None:
    assert LoopState(progress=HALFWAY).reading_progress is None
    unread = UnreadNotes(left=2, total=5)
    assert LoopState(unread=unread).reading_progress == Progress("notes", 3, 5, 0, 0.0)
    built = LoopState(progress=HALFWAY, unread=unread).reading_progress
    assert built == Progress("notes", 3, 5, 7000, 3.5)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def state_of(pause: Pause) -> tuple[bool, datetime | None]:
    return pause.active, pause.until


def texts_of(holder: StateHolder) -> list[str]:
    return list(holder.next.fault_texts)


def test_changes_that_do_not_become_fewer_stall_after_a_minute(clock: Clock) -> None:
    holder = StateHolder(clock)
    clock.now += 59.0
    assert holder.read().stalled_s == 0.0
    clock.now += 1.0
    assert holder.read().stalled_s == 60.0
    assert holder.read(paused=True).stalled_s == 0.0
    holder.publish(0)
    clock.now += 30.0
    holder.publish(5)
    clock.now += 30.0
    assert holder.read().stalled_s == 60.0, "nothing moves since there was something to do"
    holder.publish(4)
    clock.now += 40.0
    holder.publish(4)
    holder.publish(7)
    clock.now += 40.0
    assert holder.read().stalled_s == 80.0
    holder.publish(6)
    assert holder.read().stalled_s == 0.0


def test_a_change_is_read_once_it_is_published(clock: Clock) -> None:
    holder = StateHolder(clock, ("a reason",))
    before = holder.read()
    holder.change(happened=("rebuilt",))
    holder.begin_fault(Cause.BUILD, "a fault")
    assert holder.read() == before
    holder.publish(2, building=True)
    expected = replace(before, happened=("rebuilt",), faults=FAULT, pending=2, building=True)
    assert (holder.read(), holder.read(pending=3).pending) == (expected, 3)


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
    holder = StateHolder()
    assert (texts_of(holder), holder.next.fault(Cause.BUILD)) == ([], "")
    assert holder.begin_fault(Cause.INDEXING, " a\n  b ") is True
    assert holder.begin_fault(Cause.INDEXING, "a b") is False
    assert holder.begin_fault(Cause.INDEXING, "a b", degraded=True) is True
    assert holder.begin_fault_with(Cause.CONFIG, "not used", VaultError("one \n two")) == "not used: one; two"
    assert texts_of(holder) == ["not used: one; two", "a b"]
    assert holder.next.name == "degraded"
    holder.end_faults(Cause.INDEXING, Cause.BUILD)
    assert (texts_of(holder), holder.next.name) == (["not used: one; two"], "ready")
    assert (holder.next.fault(Cause.CONFIG), holder.next.fault(Cause.INDEXING)) == ("not used: one; two", "")
    holder.begin_fault(Cause.BUILD, "x")
    holder.end_faults(Cause.BUILD, Cause.CONFIG)
    assert texts_of(holder) == []


@pytest.mark.parametrize(
    ("error", "degraded"),
    [(DiskFullError("x"), True), (IndexUnusableError("x"), True), (VaultError("x"), False)],
)
def test_an_index_that_cannot_be_written_is_degraded(error: Exception, degraded: bool) -> None:
    holder = StateHolder()
    holder.begin_fault_with(Cause.BUILD, "failed", error)
    assert holder.next.faults[Cause.BUILD].degraded is degraded
    holder.begin_fault_with(Cause.BUILD, "failed", KeyError())
    assert holder.next.faults == {Cause.BUILD: Fault("failed: KeyError")}
