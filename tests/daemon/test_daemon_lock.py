"""An index folder that somebody deletes is noticed, made again once, and locked again."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from loop_by_hand import Clock

from vault_indexer.daemon.lock import IndexFolderGuard, IndexLock
from vault_indexer.errors import IndexUnusableError, LockedError
from vault_indexer.store import Generation, IndexDir


class Guarded:
    """An index folder with one generation and its guard."""

    def __init__(self, root: Path) -> None:
        self.clock = Clock()
        self.index_dir = IndexDir(root)
        self.generation = self.index_dir.finish(self.index_dir.begin())
        self.generation.catalog.touch()
        self.lock = IndexLock(root, "a test")
        self.lock.acquire()
        self.guard = IndexFolderGuard(self.index_dir, self.lock, self.clock)

    def looks(self, *seconds: float, generation: Generation | None = None) -> list[str]:
        """What the guard says after each pause."""
        said = []
        for passed in seconds:
            self.clock.now += passed
            said.append(self.guard.loss(generation or self.generation))
        return said


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Guarded]:
    made = Guarded(tmp_path / "index")
    yield made
    made.lock.release()


def test_a_loss_is_one_when_it_is_seen_twice_a_second_apart(guarded: Guarded) -> None:
    assert guarded.looks(0, 1) == ["", ""]
    guarded.generation.catalog.unlink()
    gone = f"{guarded.generation.catalog} of the index was deleted"
    assert guarded.looks(1, 0.9, 0.1) == ["", "", gone]
    assert guarded.guard.loss(None) == ""
    guarded.generation.catalog.touch()
    assert guarded.looks(1, 1) == ["", ""]
    shutil.rmtree(guarded.index_dir.root)
    assert guarded.looks(1, 1) == ["", f"the index folder {guarded.index_dir.root} was deleted"]


def test_a_folder_that_another_made_again_is_lost_too(guarded: Guarded) -> None:
    root = guarded.index_dir.root
    root.rename(root.with_name("old"))
    shutil.copytree(root.with_name("old"), root)
    assert guarded.looks(1, 1) == ["", f"the index folder {root} was deleted"]


def test_a_catalog_that_cannot_be_looked_at_is_not_lost(guarded: Guarded, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert guarded.looks(1, 1, generation=Generation(1, tmp_path / "loop")) == ["", ""]
    (tmp_path / "file").touch()
    assert guarded.looks(1, 1, generation=Generation(1, tmp_path / "file"))[1].endswith("was deleted")


def test_a_folder_is_made_again_and_locked_once_an_hour(guarded: Guarded) -> None:
    root = guarded.index_dir.root
    shutil.rmtree(root)
    guarded.guard.restore("it was deleted")
    assert guarded.lock.is_current
    with pytest.raises(LockedError, match="is in use by process"):
        IndexLock(root, "another").acquire()
    guarded.clock.now += 3599
    with pytest.raises(
        IndexUnusableError, match=r"^it was deleted a second time within 3599 s: the daemon ends;"
    ):
        guarded.guard.restore("it was deleted")
    guarded.clock.now += 1
    inode = (root / "lock").stat().st_ino
    guarded.guard.restore("it was deleted")
    assert (root / "lock").stat().st_ino == inode, "a lock that is held is not taken again"


def test_who_holds_a_lock_is_another_process_where_nothing_says_more(guarded: Guarded) -> None:
    other = IndexLock(guarded.index_dir.root, "another")
    for text in ("", "[]", '{"pid": "x", "purpose": ""}', '{"pid": 7}'):
        (guarded.index_dir.root / "lock.holder").write_text(text)
        assert other.holder() == "another process"
    (guarded.index_dir.root / "lock.holder").write_text('{"pid": 7, "purpose": "a test"}')
    assert other.holder() == "process 7 (a test)"


def test_a_lock_that_cannot_be_taken_says_why(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with pytest.raises(IndexUnusableError) as raised:
        IndexLock(tmp_path, "a test").acquire()
    assert str(raised.value).startswith(f"cannot lock {tmp_path / 'lock'}: ")
    assert not IndexLock(tmp_path, "a test").is_current
