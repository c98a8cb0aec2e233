"""The files of an index folder: by which a client finds a daemon, what is believed of them, and the lock."""

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_cases import check_golden
from loop_by_hand import Clock

from vault_indexer.daemon.discovery import (
    DaemonInfo,
    KeptAddress,
    announced_daemon,
    forget_start,
    read_address,
    read_index_pointer,
    remove_daemon,
    shared_daemon_dir,
    write_address,
    write_daemon,
    write_index_pointer,
    write_open_file,
)
from vault_indexer.daemon.lock import IndexFolderGuard, IndexLock
from vault_indexer.errors import IndexUnusableError, LockedError
from vault_indexer.store import Generation, IndexDir

INFO = DaemonInfo(os.getpid(), "http://127.0.0.1:7", "the-token", "/v", "2026-01-01", ("/bin/x", "serve"))


def announce(folder: Path, **changed: object) -> None:
    """Write `daemon.json` with other values; None leaves one out."""
    known = {"pid": os.getpid(), "url": INFO.url, "token": "t", "vault": "/v", "started": "", **changed}
    text = json.dumps({name: value for name, value in known.items() if value is not None})
    (folder / "daemon.json").write_text(text)


@pytest.mark.posix("modes of files")
def test_an_announcement_is_read_as_it_was_written_by_its_owner_alone(tmp_path: Path) -> None:
    assert announced_daemon(tmp_path) is None
    write_daemon(tmp_path, INFO)
    assert announced_daemon(tmp_path) == INFO
    start = json.loads((tmp_path / "start.json").read_text())
    assert start == {"vault": "/v", "command": ["/bin/x", "serve"]}
    for name in ("daemon.json", "start.json"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    forget_start(tmp_path)
    forget_start(tmp_path)
    write_daemon(tmp_path, DaemonInfo(os.getpid(), INFO.url, "t", "", ""))
    assert [file.name for file in tmp_path.iterdir()] == ["daemon.json"], "no command, no start.json"


def test_of_what_a_file_says_so_much_is_believed_as_the_golden_says(tmp_path: Path) -> None:
    def announced(changed: str) -> str:
        announce(tmp_path, **json.loads(changed))
        info = announced_daemon(tmp_path)
        return "nothing" if info is None else f"command {info.command}"

    def address(text: str) -> str:
        (tmp_path / "address.json").write_text(text)
        kept = read_address(tmp_path)
        return "nothing" if kept is None else f"port {kept.port}, token {kept.token!r}"

    golden = Path(__file__).parent / "fixtures" / "discovery.md"
    check_golden(golden, {"Announcements": announced, "Addresses": address})


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "[" * 100_000])
def test_a_damaged_file_says_nothing(tmp_path: Path, text: str) -> None:
    for name in ("daemon.json", "address.json"):
        (tmp_path / name).write_text(text)
    assert (announced_daemon(tmp_path), read_address(tmp_path)) == (None, None)


@pytest.mark.posix("modes of files")
def test_a_file_that_others_may_write_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o770)
    assert announced_daemon(tmp_path) is None, "nothing is announced there"
    announce(tmp_path)
    with pytest.raises(IndexUnusableError) as raised:
        announced_daemon(tmp_path)
    assert str(raised.value) == (
        f"index folder {tmp_path} is not used: other users may write it (mode 770); make sure that only you "
        "can write it (chown, chmod go-w), or name another with --index-dir"
    )
    tmp_path.chmod(0o700)
    (tmp_path / "daemon.json").chmod(0o660)
    assert announced_daemon(tmp_path) is None


@pytest.mark.portable
def test_a_process_takes_back_its_own_announcement_alone(tmp_path: Path) -> None:
    write_daemon(tmp_path, INFO)
    assert announced_daemon(tmp_path) == INFO
    write_open_file(tmp_path, "x")
    remove_daemon(tmp_path, os.getpid() + 1)
    assert (tmp_path / "daemon.json").exists()
    remove_daemon(tmp_path, os.getpid())
    assert [file.name for file in tmp_path.iterdir()] == ["start.json"]
    remove_daemon(tmp_path, os.getpid())


@pytest.mark.posix("modes of files")
def test_the_page_that_opens_a_vault_holds_its_address_escaped(tmp_path: Path) -> None:
    path = write_open_file(tmp_path, 'http://127.0.0.1:7/#t="><script>')
    text = path.read_text()
    assert text.count("http://127.0.0.1:7/#t=&quot;&gt;&lt;script&gt;") == 2
    assert "<script" not in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_address_is_kept_and_written_when_it_changes(tmp_path: Path) -> None:
    assert read_address(tmp_path) is None
    write_address(tmp_path, KeptAddress(7, "t"))
    assert read_address(tmp_path) == KeptAddress(7, "t")
    before = (tmp_path / "address.json").stat().st_ino
    write_address(tmp_path, KeptAddress(7, "t"))
    assert (tmp_path / "address.json").stat().st_ino == before
    write_address(tmp_path, KeptAddress(8, "t"))
    assert read_address(tmp_path) == KeptAddress(8, "t")


@pytest.mark.posix("XDG_STATE_HOME")
def test_an_index_is_found_by_its_vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    vault, index = tmp_path / "vault", tmp_path / "index"
    vault.mkdir()
    assert read_index_pointer(vault) is None
    write_index_pointer(vault, tmp_path / "former")
    write_index_pointer(vault, index)
    assert read_index_pointer(vault) == read_index_pointer(vault / ".") == index
    assert read_index_pointer(tmp_path) is None
    (pointer,) = (tmp_path / "state" / "vault-indexer" / "daemons").iterdir()
    assert stat.S_IMODE(pointer.stat().st_mode) == 0o600
    assert stat.S_IMODE(pointer.parent.stat().st_mode) == 0o700
    pointer.write_text("index")
    assert read_index_pointer(vault) is None, "a relative folder is that of whoever reads it"


@pytest.mark.posix("XDG_STATE_HOME")
def test_each_configuration_has_its_own_shared_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    own, one, other = (shared_daemon_dir(file) for file in (None, tmp_path / "a.toml", tmp_path / "b.toml"))
    assert own == tmp_path / "vault-indexer" / "daemons" / "all"
    assert one.parent == other.parent == own.parent
    assert one == shared_daemon_dir(tmp_path / "x" / ".." / "a.toml") != other
    assert (one.name[:4], len(one.name)) == ("all-", 20)


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


@pytest.mark.posix("a file that is open is removed")
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


@pytest.mark.posix("symbolic links")
def test_a_catalog_that_cannot_be_looked_at_is_not_lost(guarded: Guarded, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert guarded.looks(1, 1, generation=Generation(1, tmp_path / "loop")) == ["", ""]
    (tmp_path / "file").touch()
    assert guarded.looks(1, 1, generation=Generation(1, tmp_path / "file"))[1].endswith("was deleted")


@pytest.mark.posix("a file that is open is removed")
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
