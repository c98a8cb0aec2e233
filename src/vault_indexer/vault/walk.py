"""Scans the current files of the vault. The watcher only gives hints; a scan is authoritative.

Symbolic links are never followed, so no loop can be entered. A link to a file of the vault is a link target
(its text is indexed under its own path). A link to a folder of the vault is ignored, because the files in it
have their own paths. A link that leads out of the vault, or nowhere, is skipped and reported.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Protocol

from vault_indexer.errors import NoteError, VaultError
from vault_indexer.model import FileKind, SizeLimits, kind_of
from vault_indexer.system import Spelling, home_folder, icloud_placeholder, long_path, record, resolved
from vault_indexer.vault.files import (
    NOT_DOWNLOADED,
    FileStat,
    RootIdentity,
    icloud_placeholder_of,
    is_evicted,
    is_regular,
    is_utf8_name,
)
from vault_indexer.vault.ignore import Decision, IgnoreRules, PathRules
from vault_indexer.vault.read import resolve_in_vault, too_large

# The file system operations of a scan: listing folders and reading the stat of files.


class Entry(Protocol):
    """The part of os.DirEntry that a scan uses."""

    @property
    def name(self) -> str: ...

    def is_symlink(self) -> bool: ...

    def is_dir(self, *, follow_symlinks: bool = True) -> bool: ...

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result: ...


class VaultFiles(Protocol):
    """The part of a file system that a scan uses. Paths are absolute; both methods raise OSError."""

    def lstat(self, path: str) -> os.stat_result: ...

    def scandir(self, path: str) -> AbstractContextManager[Iterator[Entry]]: ...


if sys.platform == "win32":

    class _WindowsEntry:
        """An entry that reads the stat of the file itself. Windows' listings contain neither the number of a
        file nor, while it is open, its size, so that each file would appear changed in each scan."""

        def __init__(self, entry: os.DirEntry[str]) -> None:
            self._entry = entry
            self.name = entry.name
            self.is_symlink = entry.is_symlink
            self.is_dir = entry.is_dir

        def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
            return Path(long_path(self._entry.path)).stat(follow_symlinks=follow_symlinks)

    class SystemFiles:
        """The file system of this machine."""

        def lstat(self, path: str) -> os.stat_result:
            return os.lstat(long_path(path))

        @contextmanager
        def scandir(self, path: str) -> Iterator[Iterator[Entry]]:
            with os.scandir(long_path(path)) as entries:
                yield (_WindowsEntry(entry) for entry in entries)

else:

    class SystemFiles:
        """The file system of this machine."""

        def lstat(self, path: str) -> os.stat_result:
            return os.lstat(path)

        def scandir(self, path: str) -> AbstractContextManager[Iterator[Entry]]:
            return os.scandir(path)


# Folders that a vault does not contain, although they are below it.


MANY_FILES = 50_000
"""Indexing a folder with more files than this takes minutes: a command asks first."""

_SYSTEM_FOLDERS = ("/proc", "/sys", "/dev")
_SYSTEM_TYPES = (
    *("binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs"),
    *("fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "rpc_pipefs", "securityfs", "selinuxfs"),
    *("sysfs", "tracefs"),
)
"""Types of file systems whose files are made by the Linux kernel."""


class Border:
    """Decides which folders below a vault are not read: those of the system, and, if the vault is the root of
    the file system or contains the home folder, all that are on other file systems."""

    def __init__(self, vault: Path) -> None:
        self._vault = vault

    def fault(self, entry: Entry, path: str) -> str:
        """Returns the reason why the folder `path` is not read; "" if it is."""
        try:
            if entry.stat(follow_symlinks=False).st_dev == self._device:
                return ""
        except OSError:  # gone: listing it will fail
            return ""
        if _breadth(self._resolved):
            return "on another file system: not read below / or the home folder"
        return "a folder of the system" if str(self._resolved / path) in self._system else ""

    @cached_property
    def _device(self) -> int:
        return self._vault.stat().st_dev  # of the vault's own folder, which may be on a network disk

    @cached_property
    def _resolved(self) -> Path:
        return resolved(self._vault)

    @cached_property
    def _system(self) -> frozenset[str]:
        return system_folders()


def system_folders() -> frozenset[str]:
    """Returns the absolute paths of folders whose files are made by the system."""
    found = set(_SYSTEM_FOLDERS)
    with suppress(OSError), Path("/proc/self/mountinfo").open(encoding="utf-8", errors="replace") as mounts:
        for line in mounts:
            # The number of fields before the dash varies, so fields after it cannot be counted from the
            # start.
            left, _, right = line.partition(" - ")
            if right.split(" ", 1)[0] in _SYSTEM_TYPES:
                found.add(left.split(" ")[4])
    return frozenset(found)


def _breadth(folder: Path) -> str:
    home = home_folder()
    if folder == Path(folder.anchor):
        return "is the root of the file system"
    if home is None or not home.is_relative_to(folder):
        return ""
    return "is your home folder" if folder == home else "contains your home folder"


def doubt_about(vault: Path) -> str:
    """Returns the reason why a folder is hardly meant as a vault, as the rest of a sentence; "" if it may
    well be. Counts the files of a folder, but at most `MANY_FILES`."""
    folder = resolved(vault)
    if breadth := _breadth(folder):
        return breadth
    for system in sorted(system_folders()):
        if Path(system).is_relative_to(folder):
            return f"contains a folder of the system, {system}"
    many = sum(1 for _ in islice(file_names(folder, IgnoreRules()), MANY_FILES + 1)) > MANY_FILES
    return f"contains more than {MANY_FILES:,} files" if many else ""


@record
class ScannedFile:
    """A file with the decision of the rules (never IGNORE)."""

    stat: FileStat
    kind: FileKind
    decision: Decision

    @property
    def path(self) -> str:
        return self.stat.path


@record
class Scan:
    """The result of a scan of the vault, or of the paths `within` ("" for all). `files` is sorted by path.

    `skipped` lists entries that exist but are not read, with the reason. `evicted` files are only in the
    cloud, and their entries in the index stay.
    """

    root: RootIdentity
    within: frozenset[str] = frozenset({""})
    files: tuple[ScannedFile, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    unreadable_folders: frozenset[str] = frozenset()
    evicted: tuple[ScannedFile, ...] = ()
    seconds: float = 0.0
    _evicted_paths: frozenset[str] = field(default=frozenset(), repr=False)

    def covers(self, path: str) -> bool:
        """Returns whether the absence of the path from `files` means that it is gone. A folder that could not
        be listed is not empty, and a file in the cloud is not deleted."""
        if path in self._evicted_paths or not _is_covered(path, self.within):
            return False
        return not self.unreadable_folders or not _is_covered(path, self.unreadable_folders)


def _is_covered(path: str, tops: Collection[str]) -> bool:
    """Returns whether the path, or a folder above it ("" is above all), is in `tops`."""
    if "" in tops or path in tops:
        return True
    end = path.rfind("/")
    while end > 0:
        if path[:end] in tops:
            return True
        end = path.rfind("/", 0, end)
    return False


def root_identity(vault: Path) -> RootIdentity:
    """Returns the identity of the vault's folder. Raises VaultError of one line if it is not a folder."""
    try:
        status = vault.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise VaultError(f"no such vault: {vault}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise VaultError(f"the vault cannot be read: {vault}: {reason}") from error
    if not stat.S_ISDIR(status.st_mode):
        raise VaultError(f"the vault is not a folder: {vault}")
    return RootIdentity.of(status)


def is_readable(folder: Path) -> bool:
    """Returns whether a folder can be listed and the stat of its first entry can be read."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)
                break
    except OSError:
        return False
    return True


def scan(
    vault: Path,
    rules: PathRules,
    *,
    limits: SizeLimits,
    within: Collection[str] = ("",),
    files: VaultFiles | None = None,
) -> Scan:
    """Scans every file at or below the vault paths `within` ("" for all) that the rules do not ignore.

    A path of `within` may be a file, a folder (with everything below it), or gone (the scan then covers the
    path without a file). If the file system has another spelling of the path, the path is gone, and `within`
    of the scan also contains the other spelling. `files` defaults to that of the system. Raises VaultError if
    the vault's root is missing, no folder, or cannot be listed.
    """
    started = time.perf_counter()
    root = root_identity(vault)
    walker = _Walker(vault, rules, limits, files or SystemFiles(), Border(vault))
    # Some file systems ignore case or Unicode form: an event may spell a path differently.
    asked = {top: walker.spelling_of(top) for top in within}
    tops = frozenset(asked) | frozenset(asked.values())
    for top in frozenset(asked.values()):
        if not top or not _is_covered(top.rpartition("/")[0], tops):
            walker.look_at(top)
    if "" in walker.unreadable:
        raise VaultError(f"the vault cannot be read: {vault}: {walker.unreadable['']}")
    # A disk that is unmounted during the scan would look like deleted files.
    if root_identity(vault) != root:
        raise VaultError(f"the vault was replaced while it was scanned: {vault}")
    return Scan(
        root=root,
        within=tops,
        files=_by_path(walker.files),
        skipped=tuple(sorted(dict(walker.skipped).items())),
        unreadable_folders=frozenset(walker.unreadable),
        evicted=_by_path(walker.evicted),
        seconds=time.perf_counter() - started,
        _evicted_paths=frozenset(file.path for file in walker.evicted),
    )


def walk_folders(vault: Path, rules: PathRules, folder: str = "") -> Iterator[str]:
    """Yields the vault paths of `folder` and of all folders below it that are entered, parents first."""
    border = Border(vault)
    pending = [folder]
    while pending:
        here = pending.pop()
        yield here
        prefix = f"{here}/" if here else ""
        with suppress(OSError), SystemFiles().scandir(f"{vault}/{here}") as entries:
            pending += [
                prefix + entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and is_utf8_name(entry.name)
                and rules.decide(prefix + entry.name, is_dir=True) is not Decision.IGNORE
                and not border.fault(entry, prefix + entry.name)
            ]


def file_names(vault: Path, rules: PathRules) -> Iterator[str]:
    """Yields the names of all files in the folders that are entered."""
    for folder in walk_folders(vault, rules):
        with suppress(OSError), SystemFiles().scandir(f"{vault}/{folder}") as entries:
            yield from (entry.name for entry in entries if not entry.is_dir(follow_symlinks=False))


def _by_path(files: list[ScannedFile]) -> tuple[ScannedFile, ...]:
    """Returns the files in the order of their paths, each once: a listing of a folder that changes, or of
    some network and system folders, has a name twice. The last stat counts."""
    found = {file.stat.path: file for file in files}
    return tuple(found[path] for path in sorted(found))


class _OnePath:
    """The entry of a path that did not come from a listing. Raises OSError if the path does not exist."""

    def __init__(self, files: VaultFiles, vault: Path, path: str) -> None:
        self.name = path.rpartition("/")[2]
        self._status = files.lstat(f"{vault}/{path}")

    def is_symlink(self) -> bool:
        return stat.S_ISLNK(self._status.st_mode)

    def is_dir(self, *, follow_symlinks: bool = False) -> bool:  # noqa: ARG002
        return stat.S_ISDIR(self._status.st_mode)

    def stat(self, *, follow_symlinks: bool = False) -> os.stat_result:  # noqa: ARG002
        return self._status


class _Walker:
    """The state of one scan: the lists that it fills."""

    def __init__(
        self, vault: Path, rules: PathRules, limits: SizeLimits, files: VaultFiles, border: Border
    ) -> None:
        self._vault = vault
        self._border = border
        self._files = files
        self._spelling = Spelling(self._identity, self._names_in)
        self._rules = rules
        self._limits = limits
        self._pending: list[str] = []
        self._entered: set[str] = set()
        self.files: list[ScannedFile] = []
        self.skipped: list[tuple[str, str]] = []
        self.evicted: list[ScannedFile] = []
        self.unreadable: dict[str, str] = {}

    def spelling_of(self, path: str) -> str:
        return self._spelling.of(str(self._vault), path) if path else ""

    def _identity(self, place: str) -> tuple[int, int]:
        found = self._files.lstat(place)
        return found.st_dev, found.st_ino

    def _names_in(self, folder: str) -> list[str]:
        with self._files.scandir(folder) as entries:
            return [entry.name for entry in entries]

    def look_at(self, path: str) -> None:
        """Collects the file at a path, or all files below it; nothing if it is gone."""
        if not path:
            self._pending.append("")
        elif self._is_reached_plainly(path.rpartition("/")[0]):
            try:
                self._entry(_OnePath(self._files, self._vault, path), path)
            except (FileNotFoundError, NotADirectoryError):
                # An evicted file is not gone: its placeholder has another name.
                placeholder = icloud_placeholder(path)
                with suppress(OSError):
                    self._entry(_OnePath(self._files, self._vault, placeholder), placeholder)
            except OSError as error:
                self._unreadable(path.rpartition("/")[0], error)
        self._walk_pending()

    def _is_reached_plainly(self, folder: str) -> bool:
        """Returns whether every part is a folder that a walk from the root enters, not a symbolic link."""
        path = ""
        for part in folder.split("/") if folder else ():
            path = f"{path}/{part}" if path else part
            try:
                entry = _OnePath(self._files, self._vault, path)
                if not entry.is_dir() or self._border.fault(entry, path):
                    return False
            except (FileNotFoundError, NotADirectoryError):
                return False
            except OSError as error:
                self._unreadable(folder, error)
                return False
        return True

    def _unreadable(self, folder: str, error: OSError) -> None:
        self.unreadable[folder] = error.strerror or str(error)
        if folder:
            self.skipped.append((folder, f"unreadable folder: {self.unreadable[folder]}"))

    def _walk_pending(self) -> None:
        while self._pending:
            here = self._pending.pop()
            # A listing may contain a name twice (see `_by_path`).
            if here in self._entered:
                continue
            self._entered.add(here)
            prefix = f"{here}/" if here else ""
            try:
                with self._files.scandir(f"{self._vault}/{here}") as entries:
                    for entry in entries:
                        self._entry(entry, prefix + entry.name)
            except (FileNotFoundError, NotADirectoryError) as error:
                if not here:  # the root; a subfolder that has just gone is not an error
                    self._unreadable(here, error)
            except OSError as error:
                self._unreadable(here, error)

    def _entry(self, entry: Entry, path: str) -> None:
        if not is_utf8_name(path):
            shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            self.skipped.append((shown, "its name is not valid UTF-8"))
        # Before the folders: a link to a folder is never entered, so there can be no circle.
        elif entry.is_symlink():
            self._symlink(path)
        elif entry.is_dir(follow_symlinks=False):
            if self._rules.decide(path, is_dir=True) is Decision.IGNORE:
                return
            if fault := self._border.fault(entry, path):
                self.skipped.append((path, fault))
            else:
                self._pending.append(path)
        else:
            self._file(entry, path)

    def _file(self, entry: Entry, path: str) -> None:
        decision = self._rules.decide(path, is_dir=False)
        if decision is Decision.IGNORE:
            self._placeholder(entry, path)
            return
        try:
            status = entry.stat(follow_symlinks=False)
        # Deleted since the folder was listed.
        except FileNotFoundError:
            return
        if not is_regular(status):
            self.skipped.append((path, "not a plain file"))
        elif is_evicted(status):
            self._evicted(path, FileStat.of(path, status))
        else:
            if decision is Decision.INDEX and status.st_size > (limit := self._limits.of(path)):
                # Links may still lead to it.
                self.skipped.append((path, too_large(path, status.st_size, limit)))
                decision = Decision.LINK_ONLY
            self.files.append(ScannedFile(FileStat.of(path, status), kind_of(path), decision))

    def _placeholder(self, entry: Entry, path: str) -> None:
        """Records an evicted file. iCloud before macOS 14 replaces `Name.md` by `.Name.md.icloud`."""
        name = icloud_placeholder_of(entry.name)
        if name is None:
            return
        path = path[: len(path) - len(entry.name)] + name
        if self._rules.decide(path, is_dir=False) is not Decision.IGNORE:
            with suppress(FileNotFoundError):
                self._evicted(path, FileStat.of(path, entry.stat(follow_symlinks=False)))

    def _evicted(self, path: str, status: FileStat) -> None:
        self.evicted.append(ScannedFile(status, kind_of(path), Decision.LINK_ONLY))
        self.skipped.append((path, NOT_DOWNLOADED))

    def _symlink(self, path: str) -> None:
        if self._rules.decide(path, is_dir=False) is Decision.IGNORE:
            return
        try:
            # A link may lead out of the vault, and its target then must not be read.
            status = resolve_in_vault(self._vault, path).stat()
        except NoteError as error:
            self.skipped.append((path, str(error)))
        except OSError:
            self.skipped.append((path, "dangling symbolic link"))
        else:
            if is_regular(status):
                found = ScannedFile(FileStat.of(path, status), kind_of(path), Decision.LINK_ONLY)
                self.files.append(found)
            elif stat.S_ISDIR(status.st_mode):
                self.skipped.append((path, "symbolic link to a folder of the vault, read under its own path"))
            else:
                self.skipped.append((path, "not a plain file"))
