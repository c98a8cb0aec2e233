"""A configuration that changes with every look is read all the same."""

from __future__ import annotations

import threading
from typing import cast

from vault_indexer.daemon.config_watch import ConfigFollower, ConfigWatch


class Restless:
    """A file that is touched again and again."""

    def has_changed(self) -> bool:
        return True


def test_a_file_that_is_touched_without_end_is_read() -> None:
    is_read = threading.Event()
    follower = ConfigFollower(cast("ConfigWatch", Restless()), is_read.set, "test")
    follower.start()
    threads = [one.daemon for one in threading.enumerate() if one.name == "test"]
    is_told = is_read.wait(30)
    follower.stop()
    assert is_told
    assert threads == [True], "a process does not wait for it"
