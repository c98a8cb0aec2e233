"""What counts as a change of a configuration; one that changes with every look is read all the same."""

from __future__ import annotations

import os
import threading
from pathlib import Path
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
    assert is_read.wait(30)
    follower.stop()


class Changing:
    """A file that changes at some looks."""

    def __init__(self, looks: str) -> None:
        self.looks = looks
        self.looked = 0

    def has_changed(self) -> bool:
        self.looked += 1
        return self.looks[self.looked - 1 :][:1] == "c"


def test_a_file_that_has_just_changed_is_read_at_the_next_look() -> None:
    watch, read_at, is_read = Changing("-c-"), list[int](), threading.Event()

    def read_again() -> None:
        read_at.append(watch.looked)
        is_read.set()

    follower = ConfigFollower(cast("ConfigWatch", watch), read_again, "test")
    follower.start()
    assert is_read.wait(30)
    follower.stop()
    assert read_at == [3]


def test_a_file_changes_that_appears_disappears_or_is_another(tmp_path: Path) -> None:
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    first.write_text("a")
    loop = tmp_path / "loop.toml"
    watch = ConfigWatch([first, second, loop, first / "below a file"])

    def look() -> tuple[bool, tuple[Path, ...]]:
        return watch.has_changed(), watch.disappeared

    assert look() == (False, ())
    second.write_text("b")
    assert [look(), look()] == [(True, ()), (False, ())]
    first.write_text("longer")
    assert look() == (True, ())
    os.utime(first, ns=(1, 1))
    assert look() == (True, ())
    first.chmod(0o600)
    assert look() == (True, ())
    second.unlink()
    assert [look(), look()] == [(True, (second,)), (False, ())]
    loop.symlink_to(loop)
    assert [look(), look()] == [(True, ()), (False, ())], "what cannot be read is there"
    other = tmp_path / "other.toml"
    other.write_text("longer")
    other.replace(first)
    assert look() == (True, ())
