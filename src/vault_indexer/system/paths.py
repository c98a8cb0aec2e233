r"""What file systems make of a path: names that mean devices, long paths, several spellings of one file.

The rules of Windows are functions of text, so that they can be tested anywhere.
"""

from __future__ import annotations

import ntpath
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

_LONGEST = 240
"""Windows takes 259 characters in a path, 247 in that of a folder, unless the path has the long form."""

_LONG = "\\\\?\\"
_RESERVED = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[0-9¹²³])( *\..*| *)", re.IGNORECASE)
_SIGNS = re.compile(r'[<>:"|?*\\\x00-\x1f]')


def folder_slug(folder: Path) -> str:
    """A short name made of a folder's name: at most 40 lower-case letters, digits and hyphens; "vault" where
    nothing is left."""
    made = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")[:40].strip("-")
    return made or "vault"


def windows_long_path(path: str) -> str:
    r"""A path in the form that Windows takes at any length (`\\?\C:\…`), if it is long; else unchanged. Only
    absolute paths have that form, with backslashes and without `.` and `..`."""
    if len(path) < _LONGEST or path.startswith(_LONG):
        return path
    absolute = ntpath.normpath(path)
    if not ntpath.isabs(absolute) or not ntpath.splitdrive(absolute)[0]:
        return path
    if absolute.startswith("\\\\"):
        return f"{_LONG}UNC\\{absolute[2:]}"
    return f"{_LONG}{absolute}"


def windows_fault(name: str) -> str:
    """Why Windows has no file of this name in a folder ("" if it may): a device has it, a part of a file
    (`note.md:stream`), or it would lose the dot or blank at its end and name another file."""
    if _RESERVED.fullmatch(name):
        return "Windows keeps this name for a device"
    if found := _SIGNS.search(name):
        return f"Windows has no file with {found[0]!r} in its name"
    if name.endswith((".", " ")) and name.strip("."):
        return "Windows has no file whose name ends in a dot or a blank"
    return ""


if sys.platform == "win32":
    long_path = windows_long_path
    name_fault = windows_fault

else:

    def long_path(path: str) -> str:
        """The path as this system takes it at any length."""
        return path

    def name_fault(name: str) -> str:  # noqa: ARG001 - Windows looks at it
        """Why this system has no file of this name ("" if it may)."""
        return ""


def same_name(one: str, other: str) -> bool:
    """Whether a file system that ignores case and the form of letters (APFS, NTFS without the latter) may
    take two names for one."""
    return _folded(one) == _folded(other)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def other_spellings(name: str) -> list[str]:
    """Names that lead to the same file only where the file system ignores case, or the form of letters."""
    forms = (name.swapcase(), unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name))
    return [form for form in dict.fromkeys(forms) if form != name]


class Spelling:
    """How the names in folders are spelled, for paths that may be spelled otherwise.

    A file system that ignores case opens `note.md` as well when the file is called `Note.md`. A watcher may
    then report a name that no listing gives, and after a rename of the case alone both names seem to be
    there. One object lasts as long as one look at the folders: it remembers listings. `identify` gives what
    two names of one file have in common, or raises OSError where there is none; `names_in` lists a folder.
    """

    def __init__(
        self,
        identify: Callable[[str], tuple[int, int]],
        names_in: Callable[[str], Iterable[str]],
    ) -> None:
        self._identify = identify
        self._names_in = names_in
        self._listed: dict[str, Sequence[str]] = {}

    def of(self, top: str, path: str) -> str:
        """The path below `top` as the listings of its folders spell it. Unchanged where nothing is there, and
        where the file system tells the spellings apart: that costs a failing look or two for each part."""
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
    """The folder's path without symbolic links, spelled as its file system spells it: one folder has one,
    however it was typed. What does not exist stays as it was typed."""
    resolved = folder.resolve()
    spelling = Spelling(_identity, os.listdir)
    anchor = resolved.anchor
    spelled = spelling.of(anchor.rstrip("/"), resolved.relative_to(anchor).as_posix())
    return Path(anchor, spelled)


def _identity(path: str) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_dev, found.st_ino
