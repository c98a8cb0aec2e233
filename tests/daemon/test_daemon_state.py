"""What a daemon says of itself at one moment, from all that the texts are made of."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from golden_cases import check_golden
from loop_by_hand import Clock
from waiting import DEADLINE_S, wait_until

from vault_indexer.daemon.state import Cause, Fault, LoopState, Pause, RecentNotices, StateHolder
from vault_indexer.daemon.sync import UnreadNotes
from vault_indexer.errors import DiskFullError, IndexUnusableError, VaultError
from vault_indexer.model import Progress

FAULT = {Cause.BUILD: Fault("a fault")}
HALFWAY = Progress("chunks", 1200, 2400, 7000, 3.5)


def state_of(written: str) -> LoopState:
    """A state by its fields, as JSON: a value of several parts is a list, and the faults are by cause."""
    given = json.loads(written)
    made: dict[str, Callable[..., object]] = {"progress": Progress, "unread": UnreadNotes}
    made["paused_until"] = datetime.fromisoformat
    for name, value in given.items():
        if name == "faults":
            given[name] = {Cause(cause): Fault(*parts) for cause, parts in value.items()}
        elif isinstance(value, list):
            given[name] = made[name](*value) if name in made else tuple(value)
    return LoopState(**given)


def test_a_state_is_said_as_in_the_golden() -> None:
    def wrong(written: str) -> str:
        state = state_of(written)
        return f"{state.detail or 'nothing'} | {state.wrong}"

    def pause(written: str) -> str:
        state = state_of(written)
        assert state.under_way == (state.build_text,) == (state.pause_text,)
        return state.pause_text

    check_golden(
        Path(__file__).parent / "fixtures" / "state.md",
        {
            "The worst gives the state its name": lambda written: state_of(written).name,
            "All that is wrong is said once": wrong,
            "Pending changes wait for the first of these": lambda written: state_of(written).waits_for,
            "A pause is said with its end and what waits": pause,
            "A build is said with how far it is": lambda written: " | ".join(state_of(written).under_way),
        },
    )


def test_a_first_part_that_answers_is_as_far_as_its_notes() -> None:
    assert LoopState(progress=HALFWAY).reading_progress is None
    unread = UnreadNotes(left=2, total=5)
    assert LoopState(unread=unread).reading_progress == Progress("notes", 3, 5, 0, 0.0)
    built = LoopState(progress=HALFWAY, unread=unread).reading_progress
    assert built == Progress("notes", 3, 5, 7000, 3.5)


def ends(pause: Pause) -> tuple[bool, datetime | None]:
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
    assert ends(pause) == (False, None)
    pause.begin(None)
    assert ends(pause) == (True, None)
    pause.begin(90.25)
    expected = datetime.now(UTC) + timedelta(seconds=90)
    assert pause.until is not None
    assert abs(pause.until - expected) < timedelta(seconds=30)
    assert pause.until.microsecond == 0
    clock.now += 90.0
    assert pause.active
    assert pause.until is not None
    clock.now += 0.25
    assert ends(pause) == (False, None)
    pause.begin(10.0)
    pause.end()
    assert ends(pause) == (False, None)


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
