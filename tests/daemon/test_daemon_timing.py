"""When a failure is tried again, and when a changed configuration is read."""

import errno
import os
import threading
from pathlib import Path
from typing import cast

import pytest
from loop_by_hand import Clock
from waiting import DEADLINE_S

from vault_indexer.daemon.config_watch import ConfigFollower, ConfigWatch
from vault_indexer.daemon.retry import Retry
from vault_indexer.errors import DiskFullError, VaultError


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
        ("..", []),
        ("c.", [2]),
        ("cc.", [3]),
        ("cccc", [5]),
        ("ccccc", [5]),
        ("c..c.", [2, 5]),
        ("c.c.", [2, 4]),
    ],
)
def test_a_configuration_is_read_when_it_rests_or_after_some_looks(changes: str, read_at: list[int]) -> None:
    """At each look it has changed (c), or not."""
    looks, read = Looks(*(change == "c" for change in changes)), list[int]()
    follower = ConfigFollower(cast("ConfigWatch", looks), lambda: read.append(looks.number), "test", 0.001)
    follower.start()
    (thread,) = [one for one in threading.enumerate() if one.name == "test"]
    assert thread.daemon, "a process does not wait for it"
    assert looks.over.wait(DEADLINE_S)
    follower.stop()
    assert read == read_at
