"""What waits, rests and is told for how long: over clocks that only the test moves."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from loop_by_hand import Clock
from waiting import DEADLINE_S, wait_until

from vault_indexer.daemon.config_watch import ConfigFollower, ConfigWatch
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.state import ActiveFaults, Cause, Pause, RecentNotices, StallWatch
from vault_indexer.errors import DiskFullError, IndexUnusableError, VaultError


def state_of(pause: Pause) -> tuple[bool, datetime | None]:
    return pause.active, pause.until


def texts_of(faults: ActiveFaults) -> list[str]:
    return list(faults.texts)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_each_failure_in_a_row_waits_twice_as_long_up_to_a_bound(clock: Clock) -> None:
    retry = Retry(3.0, 10.0, clock)
    assert (retry.is_due, retry.remaining_s) == (True, 0.0)
    waits = []
    for _ in range(4):
        retry.record_failure()
        waits.append(retry.remaining_s)
    assert waits == [3.0, 6.0, 10.0, 10.0]
    clock.now += 9.5
    assert (retry.is_due, retry.remaining_s) == (False, 0.5)
    clock.now += 0.5
    assert (retry.is_due, retry.remaining_s) == (True, 0.0)
    clock.now += 5.0
    assert retry.remaining_s == 0.0
    retry.wait_again()
    assert retry.remaining_s == 10.0
    retry.reset()
    assert retry.is_due
    retry.wait_again()
    assert retry.remaining_s == 3.0
    retry.record_failure()
    assert retry.remaining_s == 6.0
    retry.wait(1.0)
    assert retry.remaining_s == 1.0


@pytest.mark.parametrize("error", [None, VaultError("x"), DiskFullError("x")])
def test_a_wait_without_a_folder_ends_with_its_time(clock: Clock, error: Exception | None) -> None:
    retry = Retry(3.0, 10.0, clock)
    retry.record_failure(error)
    assert not retry.is_due
    clock.now += 3.0
    assert retry.is_due


def test_after_a_full_disk_the_wait_ends_when_there_is_a_mebibyte_more_room(
    clock: Clock, tmp_path: Path
) -> None:
    room = [100]
    retry = Retry(3.0, 10.0, clock, tmp_path, lambda _: room[0])
    retry.record_failure(DiskFullError("x"))
    looks = []
    for more in (0, (1 << 20) - 1, 1 << 20):
        room[0] = 100 + more
        looks.append(retry.is_due)
    assert looks == [False, False, True]
    retry.record_failure(VaultError("x"))
    room[0] = 1 << 40
    assert not retry.is_due, "what failed then was no full disk"


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


def test_who_waits_for_a_pause_is_woken(clock: Clock) -> None:
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

        wait_until(is_woken, "whoever waits is woken")


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


def test_a_file_of_the_configuration_changes_appears_and_disappears(tmp_path: Path) -> None:
    first, second = tmp_path / "a.toml", tmp_path / "b.toml"
    first.write_text("1")
    watch = ConfigWatch(iter([first, second]))
    assert (watch.has_changed(), watch.disappeared) == (False, ())
    os.utime(first, ns=(1, 1))
    assert [watch.has_changed(), watch.has_changed()] == [True, False]
    second.write_text("2")
    assert [watch.has_changed(), watch.has_changed()] == [True, False]
    first.unlink()
    assert (watch.has_changed(), watch.disappeared) == (True, (first,))
    assert (watch.has_changed(), watch.disappeared) == (False, ())
    first.symlink_to(first)
    with pytest.raises(OSError) as raised:
        first.stat()
    assert raised.value.errno == errno.ELOOP
    assert (watch.has_changed(), watch.disappeared) == (True, ())


class Looks:
    """A configuration of which a look finds that it changed, or not, in this order, and then never again."""

    def __init__(self, *changes: bool) -> None:
        self._changes = list(changes)
        self.number = 0
        self.over = threading.Event()

    def has_changed(self) -> bool:
        self.number += 1
        if not self._changes:
            self.over.set()
            return False
        return self._changes.pop(0)


@pytest.mark.parametrize(
    ("changes", "read_at"),
    [
        ((False, False), []),
        ((True, False), [2]),
        ((True, True, False), [3]),
        ((True,) * 4, [5]),
        ((True,) * 5, [5]),
        ((True, False, False, True, False), [2, 5]),
        ((True, False, True, False), [2, 4]),
    ],
)
def test_a_configuration_is_read_when_it_rests_or_after_some_looks(
    changes: tuple[bool, ...], read_at: list[int]
) -> None:
    looks, read = Looks(*changes), list[int]()
    follower = ConfigFollower(cast("ConfigWatch", looks), lambda: read.append(looks.number), "test", 0.001)
    follower.start()
    (thread,) = [one for one in threading.enumerate() if one.name == "test"]
    assert thread.daemon, "a process does not wait for it"
    assert looks.over.wait(DEADLINE_S)
    follower.stop()
    assert read == read_at
