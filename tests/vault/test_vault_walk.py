import errno
import inspect
import os
import socket
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from golden_cases import check_golden
from hypothesis import given
from hypothesis import strategies as st
from unprivileged import folder_of_a_plain_user

from vault_indexer.errors import VaultError
from vault_indexer.model import FileKind, SizeLimits
from vault_indexer.vault import Decision, IgnoreRules, Scan, scan, walk
from vault_indexer.vault.diff import diff
from vault_indexer.vault.files import RootIdentity
from vault_indexer.vault.ignore import compile_ignore_list
from vault_indexer.vault.walk import Entry, SystemFiles, doubt_about, file_names, walk_folders

LIMIT = 5 * 1024 * 1024


def look(vault: Path, within: tuple[str, ...] = ("",), files: SystemFiles | None = None) -> Scan:
    return scan(vault, IgnoreRules(), limits=SizeLimits(LIMIT), within=within, files=files)


def put(vault: Path, *paths: str) -> None:
    for path in paths:
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(path, encoding="utf-8")


def paths_of(found: Scan) -> list[str]:
    return [file.path for file in found.files]


def test_all_files_sorted_with_their_stat_and_kind(tmp_path: Path) -> None:
    put(tmp_path, "b.md", "a/z.md", "a.md", "a/pic.png", "map.canvas", "Cafe\u0301.md", ".git/x.md")
    found = look(tmp_path)
    assert paths_of(found) == ["Cafe\u0301.md", "a.md", "a/pic.png", "a/z.md", "b.md", "map.canvas"]
    status = (tmp_path / "a/z.md").stat()
    known = found.files[3].stat
    assert (known.size, known.mtime_ns, known.inode) == (status.st_size, status.st_mtime_ns, status.st_ino)
    assert [file.kind for file in found.files[1:3]] == [FileKind.NOTE, FileKind.DOCUMENT]
    assert found.root == RootIdentity.of(tmp_path.stat())
    assert found.skipped == ()


@pytest.mark.posix("symbolic links")
def test_symbolic_links(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    put(vault, "real/Note.md")
    put(outside, "Secret.md")
    (vault / "alias.md").symlink_to("real/Note.md")
    (vault / "out.md").symlink_to(outside / "Secret.md")
    (vault / "out").symlink_to(outside)
    (vault / "gone.md").symlink_to("nowhere.md")
    (vault / "loop").symlink_to(".")
    (vault / "self.md").symlink_to("self.md")
    found = look(vault)
    assert {file.path: file.decision for file in found.files} == {
        "real/Note.md": Decision.INDEX,
        "alias.md": Decision.LINK_ONLY,
    }
    skipped = dict(found.skipped)
    assert set(skipped) == {"out.md", "out", "gone.md", "loop", "self.md"}
    assert "out of the vault" in skipped["out.md"]
    assert "out of the vault" in skipped["out"]
    assert "dangling" in skipped["gone.md"]
    assert "own path" in skipped["loop"]


@pytest.mark.posix("symbolic links")
def test_a_root_that_is_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    put(tmp_path / "real", "a.md")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real/alias.md").symlink_to("a.md")
    assert paths_of(look(tmp_path / "link")) == ["a.md", "alias.md"]


def test_large_files_stay_linkable_and_are_named(tmp_path: Path) -> None:
    with (tmp_path / "big.md").open("wb") as file:
        file.truncate(6 * 1024 * 1024)
    with (tmp_path / "big.mp4").open("wb") as file:
        file.truncate(6 * 1024 * 1024)
    found = look(tmp_path)
    assert [(file.path, file.decision) for file in found.files] == [
        ("big.md", Decision.LINK_ONLY),
        ("big.mp4", Decision.LINK_ONLY),
    ]
    reason = "too large: 6,291,456 bytes, the limit (files.max_file_bytes) is 5,242,880"
    assert found.skipped == (("big.md", reason),)


@pytest.mark.posix("pipes")
def test_pipes_and_sockets_are_named_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    server = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(tmp_path)  # a socket's path must be short
    server.bind("sock.md")
    os.chdir(here)
    assert look(tmp_path).skipped == (("pipe.md", "not a plain file"), ("sock.md", "not a plain file"))
    server.close()


@pytest.mark.posix("names of bytes")
def test_a_name_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("x", encoding="utf-8")
    assert look(tmp_path).skipped == (("caf\\xe9.md", "its name is not valid UTF-8"),)
    assert look(tmp_path).files == ()


@pytest.mark.posix("modes of files")
def test_an_unreadable_folder_is_not_an_empty_one() -> None:
    with folder_of_a_plain_user() as vault:
        put(vault, "open/a.md", "closed/b.md", "closed/deep/c.md")
        (vault / "closed").chmod(0)
        found = look(vault)
        assert paths_of(found) == ["open/a.md"]
        assert found.unreadable_folders == {"closed"}
        assert found.skipped == (("closed", "unreadable folder: Permission denied"),)
        assert not found.covers("closed/b.md")
        assert not found.covers("closed/deep/c.md")
        assert found.covers("open/gone.md")
        assert found.covers("closed.md")
        one = look(vault, within=("closed/b.md",))
        assert not one.covers("closed/b.md")


@pytest.mark.posix("modes of files")
def test_an_unusable_root_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match=r"^no such vault: .*/missing$"):
        look(tmp_path / "missing")
    put(tmp_path, "file.md")
    with pytest.raises(VaultError, match=r"^the vault is not a folder: .*file\.md$"):
        look(tmp_path / "file.md")
    with pytest.raises(VaultError, match=r"^no such vault"):
        look(tmp_path / "file.md" / "below")
    with folder_of_a_plain_user() as vault:
        (vault / "v").mkdir(mode=0)
        with pytest.raises(VaultError, match=r"^the vault cannot be read: .*/v: Permission denied$"):
            look(vault / "v")


def test_a_scan_of_some_paths_vouches_for_those_alone(tmp_path: Path) -> None:
    put(tmp_path, "a/x.md", "a/y.md", "b/z.md", ".git/h.md", "c.md")
    found = look(
        tmp_path, within=("a", "a/x.md", "c.md", "b/gone.md", ".git", ".git/h.md", "no/such/place.md")
    )
    assert paths_of(found) == ["a/x.md", "a/y.md", "c.md"]
    assert found.covers("a/old.md")
    assert found.covers("b/gone.md")
    assert found.covers("no/such/place.md")
    assert not found.covers("b/z.md")
    assert not found.covers("ab.md")


def test_a_path_through_a_linked_folder_is_not_found_twice(tmp_path: Path) -> None:
    put(tmp_path, "real/x.md")
    (tmp_path / "link").symlink_to("real")
    assert look(tmp_path, within=("link/x.md",)).files == ()


def test_evicted_files_are_known_but_not_gone(tmp_path: Path) -> None:
    put(tmp_path, "here.md", "a/.Away.md.icloud")
    for found in (look(tmp_path), look(tmp_path, within=("a/Away.md",))):
        assert [file.path for file in found.evicted] == ["a/Away.md"]
        assert found.skipped == (("a/Away.md", "not downloaded"),)
        assert not found.covers("a/Away.md")


def test_rules_hold_for_the_file_that_a_placeholder_stands_for(tmp_path: Path) -> None:
    put(tmp_path, ".left out.md.icloud", ".kept.md.icloud")
    rules = IgnoreRules(exclude=(compile_ignore_list(["left*.md", "kept.md/"]),))
    assert [file.path for file in scan(tmp_path, rules, limits=SizeLimits(LIMIT)).evicted] == ["kept.md"]


@pytest.mark.posix("a path of any length")
def test_deep_folders_do_not_exhaust_the_stack(tmp_path: Path) -> None:
    folder, depth = tmp_path, 250
    for _ in range(depth):
        folder /= "d"
        folder.mkdir()
    (folder / "n.md").touch()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + depth // 2)
    try:
        assert paths_of(look(tmp_path)) == ["d/" * depth + "n.md"]
        assert IgnoreRules().decide("d/" * depth + "n.md", is_dir=False) is Decision.INDEX
    finally:
        sys.setrecursionlimit(limit)


class TroubledFiles(SystemFiles):
    """The file system, where some paths of the vault cannot be looked at; a listing names also `ghosts`."""

    def __init__(self, vault: Path, errors: Mapping[str, OSError], ghosts: Sequence[Entry] = ()) -> None:
        self._errors = {f"{vault}/{path}": error for path, error in errors.items()}
        self._ghosts = ghosts
        self.before_listing: Callable[[], None] = lambda: None

    def lstat(self, path: str) -> os.stat_result:
        if path in self._errors:
            raise self._errors[path]
        return super().lstat(path)

    @contextmanager
    def scandir(self, path: str) -> Iterator[Iterator[Entry]]:
        self.before_listing()
        if path in self._errors:
            raise self._errors[path]
        with super().scandir(path) as entries:
            yield chain(entries, self._ghosts)


@dataclass(frozen=True)
class Ghost:
    """An entry that was listed, and whose file is gone by now, or only in the cloud."""

    name: str
    flags: int = 0

    def is_symlink(self) -> bool:
        return False

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:  # noqa: ARG002
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:  # noqa: ARG002
        if not self.flags:
            raise FileNotFoundError(errno.ENOENT, "gone", self.name)
        mode = stat.S_IFREG | 0o600
        return cast(os.stat_result, SimpleNamespace(**STATUS, st_mode=mode, st_flags=self.flags))


STATUS = {"st_size": 3, "st_mtime_ns": 4, "st_ctime_ns": 5, "st_ino": 6}


def test_a_file_that_vanishes_while_it_is_listed_is_not_there(tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    ghosts = Ghost("gone.md"), Ghost(".gone.md.icloud")
    found = look(tmp_path, files=TroubledFiles(tmp_path, {}, ghosts))
    assert paths_of(found) == ["a.md"]
    assert (found.skipped, found.evicted) == ((), ())
    assert found.covers("gone.md")


def test_a_file_in_the_cloud_is_named_and_its_absence_says_nothing(tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    found = look(tmp_path, files=TroubledFiles(tmp_path, {}, [Ghost("far.md", flags=0x4000_0000)]))
    assert paths_of(found) == ["a.md"]
    assert found.skipped == (("far.md", "not downloaded"),)
    ((status, kind, decision),) = [(one.stat, one.kind, one.decision) for one in found.evicted]
    assert (status.path, status.size, status.mtime_ns, status.inode) == ("far.md", 3, 4, 6)
    assert (kind, decision) == (FileKind.NOTE, Decision.LINK_ONLY)
    assert not found.covers("far.md")
    assert found.covers("near.md")


@pytest.mark.parametrize("gone", [FileNotFoundError(), NotADirectoryError()])
def test_a_folder_that_goes_while_it_is_listed_is_not_there_but_the_root_has_to_be(
    tmp_path: Path, gone: OSError
) -> None:
    put(tmp_path, "a/x.md", "b.md")
    found = look(tmp_path, files=TroubledFiles(tmp_path, {"a": gone}))
    assert paths_of(found) == ["b.md"]
    assert (found.skipped, found.unreadable_folders) == ((), frozenset())
    assert found.covers("a/x.md")
    with pytest.raises(VaultError, match=r"the vault cannot be read: .*: .*"):
        look(tmp_path, files=TroubledFiles(tmp_path, {"": gone}))


def test_a_path_below_a_folder_that_cannot_be_looked_at_is_not_gone(tmp_path: Path) -> None:
    put(tmp_path, "a/b/x.md", "a/b/y.md", "c.md")
    denied = PermissionError(errno.EACCES, "Permission denied")
    for errors, unreadable in (({"a": denied}, "a/b"), ({"a/b/x.md": denied}, "a/b")):
        found = look(tmp_path, ("a/b/x.md", "c.md"), TroubledFiles(tmp_path, errors))
        assert paths_of(found) == ["c.md"]
        assert found.skipped == ((unreadable, "unreadable folder: Permission denied"),)
        assert found.unreadable_folders == {unreadable}
        assert not found.covers("a/b/x.md")
        assert found.covers("c.md")


def test_a_vault_that_is_replaced_meanwhile_is_not_believed(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    put(vault, "a.md")
    files = TroubledFiles(vault, {})

    def replace() -> None:
        vault.rename(tmp_path / "old")
        vault.mkdir()

    files.before_listing = replace
    with pytest.raises(VaultError, match="the vault was replaced while it was scanned"):
        look(vault, files=files)


@pytest.mark.posix("errors of the system")
@pytest.mark.parametrize("name", ["x" * 300, "zero\0"])
def test_a_vault_whose_name_no_system_takes_is_one_clear_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(VaultError, match=r"^the vault cannot be read: .*: ([A-Z]|embedded null)[^\n]+$"):
        look(tmp_path / name)


@pytest.mark.posix("symbolic links")
def test_a_link_to_what_is_no_file_is_named_unless_it_is_excluded(tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to.md").symlink_to("pipe")
    (tmp_path / ".hidden.md").symlink_to("nowhere")
    found = look(tmp_path)
    assert paths_of(found) == ["a.md"]
    assert found.skipped == (("pipe", "not a plain file"), ("to.md", "not a plain file"))


@pytest.mark.parametrize(
    ("folders", "folder", "expected"),
    [
        (["a/b", ".git/x", "c"], "", ["", "a", "a/b", "c"]),
        (["a/b/d", "c"], "a", ["a", "a/b", "a/b/d"]),
        ([], "gone", ["gone"]),
    ],
)
def test_folders_that_are_entered_come_parents_first(
    tmp_path: Path, folders: list[str], folder: str, expected: list[str]
) -> None:
    for name in folders:
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path)
    found = list(walk_folders(tmp_path, IgnoreRules(), folder))
    assert sorted(found) == expected
    assert all(found.index(path.rpartition("/")[0]) < found.index(path) for path in found if "/" in path)


Listing = list[tuple[str, "Listing | None"]]
"""The entries of a folder in the order of its listing; a file has no entries."""

NAMES = st.text("aB-. 0é\U0001f600\udce9", min_size=1, max_size=3).filter(lambda name: name.strip("."))
LISTINGS: st.SearchStrategy[Listing] = st.recursive(
    st.just([]),
    lambda inner: st.lists(st.tuples(NAMES, st.none() | inner), max_size=5).map(lambda one: one + one[:2]),
    max_leaves=8,
)


@dataclass(frozen=True)
class ListedEntry:
    name: str
    listing: Listing | None
    device: int

    def is_symlink(self) -> bool:
        return False

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:  # noqa: ARG002
        return self.listing is not None

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:  # noqa: ARG002
        mode = stat.S_IFREG if self.listing is None else stat.S_IFDIR
        return cast(os.stat_result, SimpleNamespace(**STATUS, st_mode=mode, st_dev=self.device))


class ListedFiles(SystemFiles):
    """A file system whose folders are listed as a test says; those that `mounted` names are other ones."""

    def __init__(self, vault: Path, listing: Listing, mounted: Sequence[str] = ()) -> None:
        self._vault, self._listing, self._mounted = vault, listing, mounted
        self.device = vault.stat().st_dev

    @contextmanager
    def scandir(self, path: str) -> Iterator[Iterator[Entry]]:
        found = self._listing
        for part in filter(None, path.removeprefix(str(self._vault)).split("/")):
            found = next(below for name, below in found if name == part and below is not None)
        yield iter([ListedEntry(name, below, self.device + (name in self._mounted)) for name, below in found])


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vault")


@given(listing=LISTINGS)
def test_any_listing_gives_each_path_once_and_in_order(empty: Path, listing: Listing) -> None:
    """A name may be listed twice, as by a folder that changes meanwhile, in any order, and be no UTF-8."""
    found = look(empty, files=ListedFiles(empty, listing))
    assert len(diff([], [file.stat for file in found.files]).added) == len(found.files)
    assert len(dict(found.skipped)) == len(found.skipped)
    assert look(empty, files=ListedFiles(empty, listing * 2)).files == found.files


@pytest.mark.posix("other file systems below a folder")
@pytest.mark.parametrize(
    ("home", "system", "read", "skipped"),
    [
        ("", "", ["here.md", "proc/cpu.md", "usb/there.md"], []),
        ("", "proc", ["here.md", "usb/there.md"], ["proc"]),
        (".", "", ["here.md"], ["proc", "usb"]),
        ("below", "", ["here.md"], ["proc", "usb"]),
    ],
)
def test_other_file_systems_are_read_unless_they_are_the_systems_or_below_home(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    home: str,
    system: str,
    read: list[str],
    skipped: list[str],
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / home if home else "/nowhere"))
    monkeypatch.setattr(walk, "system_folders", lambda: frozenset({str(tmp_path / system)}))
    listing: Listing = [("here.md", None), ("usb", [("there.md", None)]), ("proc", [("cpu.md", None)])]
    found = look(tmp_path, files=ListedFiles(tmp_path, listing, mounted=("usb", "proc")))
    assert (paths_of(found), [path for path, _ in found.skipped]) == (read, skipped)


@pytest.mark.posix("the variable HOME")
def test_folders_that_are_hardly_meant_as_a_vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "notes/a.md", "home/notes/b.md", "chroot/proc/x", *(f"many/{n}.md" for n in range(4)))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(walk, "MANY_FILES", 3)
    monkeypatch.setattr(walk, "system_folders", lambda: frozenset({str(tmp_path / "chroot/proc")}))

    def doubt(folder: str) -> str:
        return doubt_about(tmp_path / folder).replace(str(tmp_path), "ROOT")

    check_golden(Path(__file__).parent / "fixtures" / "doubts.md", {"": doubt})
    assert sorted(file_names(tmp_path / "home", IgnoreRules())) == ["b.md"]
