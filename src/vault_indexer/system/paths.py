"""The interpretation of paths by file systems: names that mean devices, long paths, several spellings of one
file, the time of its creation; and the folders of this program.

The rules of Windows are functions of text, so that they can be tested anywhere.
"""

from __future__ import annotations

import errno
import hashlib
import ntpath
import os
import re
import stat
import struct
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

_LONGEST = 240
"""Windows takes 259 characters in a path, 247 in that of a folder, unless the path has the long form."""

_LONG = "\\\\?\\"
_RESERVED = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[0-9¹²³])( *\..*| *)", re.IGNORECASE)
_SIGNS = re.compile(r'[<>:"|?*\\\x00-\x1f]')


def folder_slug(folder: Path) -> str:
    """A short name made of a folder's name: at most 40 lower-case letters, digits and hyphens; "vault" if
    nothing is left."""
    made = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")[:40].strip("-")
    return made or "vault"


def windows_long_path(path: str) -> str:
    r"""A path in the form that Windows accepts at any length (`\\?\C:\…`), if it is long; else unchanged.
    Only absolute paths have that form, with backslashes and without `.` and `..`."""
    if len(path) < _LONGEST or path.startswith(_LONG):
        return path
    absolute = ntpath.normpath(path)
    if not ntpath.isabs(absolute) or not ntpath.splitdrive(absolute)[0]:
        return path
    if absolute.startswith("\\\\"):
        return f"{_LONG}UNC\\{absolute[2:]}"
    return f"{_LONG}{absolute}"


def windows_short_path(path: str) -> str:
    r"""A path without the long form of `windows_long_path`."""
    if path.startswith(f"{_LONG}UNC\\"):
        return f"\\\\{path[len(_LONG) + 4 :]}"
    return path.removeprefix(_LONG)


def windows_fault(name: str) -> str:
    """Why Windows has no file of this name in a folder ("" if it may): a device has it, a part of a file
    (`note.md:stream`), or it would lose the dot or blank at its end and name another file."""
    if _RESERVED.fullmatch(name):
        return "Windows reserves this name for a device"
    if found := _SIGNS.search(name):
        return f"Windows has no file with {found[0]!r} in its name"
    if name.endswith((".", " ")) and name.strip("."):
        return "Windows has no file whose name ends in a dot or a blank"
    return ""


def long_path(path: str) -> str:
    """The path as this system takes it at any length."""
    return windows_long_path(path) if sys.platform == "win32" else path


def real_path(path: str) -> str:
    """The path without symbolic links, as `os.path.realpath` gives it, at any length. Raises OSError."""
    if sys.platform == "win32":
        return windows_short_path(os.path.realpath(windows_long_path(path)))
    return os.path.realpath(path)


def resolved(path: Path) -> Path:
    """The path without symbolic links, as far as there are files. `Path.resolve` raises RuntimeError for a
    loop of links before Python 3.13; reading such a file raises OSError."""
    return Path(os.path.realpath(path))


def icloud_placeholder(path: str) -> str:
    """The placeholder that iCloud before macOS 14 puts in place of a file."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.icloud"


def name_fault(name: str) -> str:
    """Why this system has no file of this name ("" if it may)."""
    return windows_fault(name) if sys.platform == "win32" else ""


def same_name(one: str, other: str) -> bool:
    """Whether a file system that ignores case and the form of letters (APFS, NTFS without the latter) may
    take two names for one."""
    return _folded(one) == _folded(other)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def other_spellings(name: str) -> list[str]:
    """Names that lead to the same file only if the file system ignores case, or the form of letters."""
    forms = (name.swapcase(), unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name))
    return [form for form in dict.fromkeys(forms) if form != name]


class Spelling:
    """The spelling of names in folders, for paths that may be spelled differently.

    A file system that ignores case opens `note.md` as well when the file is called `Note.md`. A watcher may
    then report a name that is in no listing, and after a rename of the case alone both names seem to exist.
    An object is used for a single pass over the folders, because it caches listings. `identify` returns the
    common identity of two names of one file, or raises OSError if there is none; `names_in` lists a folder.
    """

    def __init__(
        self, identify: Callable[[str], tuple[int, int]], names_in: Callable[[str], Iterable[str]]
    ) -> None:
        self._identify = identify
        self._names_in = names_in
        self._listed: dict[str, Sequence[str]] = {}

    def of(self, top: str, path: str) -> str:
        """The path below `top` as spelled in the listings of its folders. Unchanged if nothing is there, and
        if the file system distinguishes spellings: that costs one or two failed lookups for each part."""
        spelled = ""
        for part in path.split("/"):
            name = self._name(f"{top}/{spelled}".rstrip("/"), part)
            if name is None:
                return path
            spelled = f"{spelled}/{name}" if spelled else name
        return spelled

    def _name(self, folder: str, name: str) -> str | None:
        try:
            identity = self._identify(f"{folder}/{name}")
        except OSError:
            return None
        if not any(self._leads_to(f"{folder}/{other}", identity) for other in other_spellings(name)):
            return name
        if folder not in self._listed:
            try:
                self._listed[folder] = list(self._names_in(folder or "/"))
            except OSError:
                return name
        listed = self._listed[folder]
        return name if name in listed else next((one for one in listed if same_name(one, name)), name)

    def _leads_to(self, path: str, identity: tuple[int, int]) -> bool:
        try:
            return self._identify(path) == identity
        except OSError:
            return False


def canonical_folder(folder: Path) -> Path:
    """The folder's path without symbolic links, spelled as its file system spells it: each folder has one
    such path, however it was typed. A path that does not exist stays as typed."""
    real = resolved(folder)
    spelling = Spelling(_identity, os.listdir)
    anchor = real.anchor
    spelled = spelling.of(anchor.rstrip("/"), real.relative_to(anchor).as_posix())
    return Path(anchor, spelled)


def _identity(path: str) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_dev, found.st_ino


# Whether a file is the user's own: what another user may write is not believed.
#
# The rule is that of ssh: the owner is this user or root, and neither the group nor others may write.
# Windows keeps rights in lists that are not read here; a user's folders there are closed to others.


_BINARY, _NOFOLLOW, _NONBLOCK = (getattr(os, name, 0) for name in ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"))
_READING = os.O_RDONLY | _BINARY | _NOFOLLOW | _NONBLOCK


def owner_fault(path: Path | int) -> str:
    """Why a file, by its path or open, is another user's; "" if it is one's own or root's, or missing."""
    if sys.platform == "win32":  # it tells no owner by a number
        return ""
    try:
        owner = os.stat(path).st_uid  # noqa: PTH116 - also a descriptor
    except OSError:
        return ""
    return "" if owner in (os.geteuid(), 0) else f"it belongs to the user with the number {owner}"


def write_fault(path: Path | int) -> str:
    """Why a file, by its path or open, is not one's own to write; "" if it is, or missing."""
    if sys.platform == "win32":  # the mode says nothing there
        return ""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except OSError:
        return ""
    shared = mode & (stat.S_IWGRP | stat.S_IWOTH)
    return f"other users may write it (mode {stat.S_IMODE(mode):o})" if shared else ""


def read_own(path: Path) -> bytes:
    """The content of a regular file of the user's own. Raises OSError, also for a file that another user owns
    or may write, before anything of it is read. No link is followed."""
    with os.fdopen(os.open(path, _READING), "rb") as file:
        opened = file.fileno()
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if fault := owner_fault(opened) or write_fault(opened):
            raise PermissionError(errno.EPERM, fault, str(path))
        return file.read()


FULL_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT})
"""No space left on the file system; the user's quota on it is used up."""

EDIT_BYTES = 16 << 20
"""What an edit needs beside the derived indices, which it may have to write again: the catalog's log grows to
4 MiB before it is moved into the catalog, and a batch of notes may be larger than that."""


def free_bytes(folder: Path) -> int:
    """The number of bytes that this user can still write to the file system of a folder, which need not exist
    yet. A very large number (2^62) if the system does not report it."""
    import shutil

    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except FileNotFoundError:
            continue
        except OSError:
            break
    return 1 << 62


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder and below, as far as they can be seen."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:  # removed meanwhile
                continue
    return total


def in_words(count: int) -> str:
    """A number of bytes for a person: "0.3 MB", "120 MB", "1.5 GB"."""
    if count >= 10**9:
        return f"{count / 10**9:.1f} GB"
    return f"{count / 10**6:.0f} MB" if count >= 10**7 else f"{count / 10**6:.1f} MB"


APP = "vault-indexer"
VAULT_CONFIG_NAME = ".indexer.toml"


def user_config_file(environ: Mapping[str, str]) -> Path:
    """The user's own configuration, whether or not it exists."""
    return _xdg_folder(environ, "XDG_CONFIG_HOME", "user_config_path") / "config.toml"


def default_index_dir(vault: Path, environ: Mapping[str, str]) -> Path:
    """The index folder of a vault: outside of it, since sync tools would copy it along.

    Named after the vault for people, and by a hash of its resolved path, so that two vaults of one name never
    share an index and one vault reached by two paths has one.
    """
    name = re.sub(r"[^\w.-]+", "-", canonical_folder(vault).name).strip("-.")[:60] or "vault"
    return _xdg_folder(environ, "XDG_STATE_HOME", "user_state_path") / f"{name}-{folder_digest(vault)}"


def folder_digest(folder: Path) -> str:
    """A folder's name in names of files: 16 hexadecimal digits of the SHA-256 of its resolved path."""
    return hashlib.sha256(os.fsencode(canonical_folder(folder))).hexdigest()[:16]


def log_dir(environ: Mapping[str, str]) -> Path:
    """The folder for the logs of a service on a system without a journal."""
    return _xdg_folder(environ, "XDG_STATE_HOME", "user_state_path") / "logs"


def state_folder() -> Path:
    """The folder for this program's records of the vaults and daemons of this user."""
    return _user_folder("user_state_path")


def with_home(path: str | Path) -> Path:
    """The path with a leading `~` resolved. That of an unknown user stays, so the path does not exist."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 (Path.expanduser raises there)


def home_folder() -> Path | None:
    """The home folder of the user, resolved; None if it cannot be determined."""
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):
        return None


def _xdg_folder(environ: Mapping[str, str], variable: str, system: str) -> Path:
    """The folder of the XDG variable if it is an absolute path, else the one that platformdirs returns."""
    chosen = Path(environ.get(variable, ""))
    return chosen / APP if chosen.is_absolute() else _user_folder(system)


def _user_folder(system: str) -> Path:
    """The folder that platformdirs returns. For a user without a home, as in a container with an arbitrary
    user id, it can contain nothing: commands with their own index folder work, others report the error."""
    import platformdirs  # 3 ms

    try:
        return Path(getattr(platformdirs, system)(APP))
    except RuntimeError:  # neither HOME nor a line in /etc/passwd
        return Path(os.devnull, APP)


def creation_time(path: Path) -> float:
    """Returns the creation time of a file, in seconds since 1970. Without a record of it, that is the earlier
    one of the times at which the content and the file changed. Raises OSError."""
    status = path.stat()
    created: float | None = getattr(status, "st_birthtime", None)  # macOS, and Windows from Python 3.12 on
    if created is None:
        created = status.st_ctime if sys.platform == "win32" else _birth_time(path)
    return min(status.st_mtime, status.st_ctime) if created is None else created


_AT_FDCWD, _STATX_BTIME = -100, 0x800
_STATX = struct.Struct("=I76xqI164x")
"""Of `struct statx` of Linux: the mask of what is known, and the seconds and nanoseconds of the birth."""


def _birth_time(path: Path) -> float | None:
    """Asks Linux for the time, which Python's `stat` does not return."""
    import ctypes

    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except (AttributeError, OSError):  # an older C library
        return None
    found = ctypes.create_string_buffer(_STATX.size)
    if statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, found) != 0:
        return None
    mask, seconds, nanoseconds = _STATX.unpack(found.raw)
    return float(seconds + nanoseconds / 1e9) if mask & _STATX_BTIME else None
