"""Properties of a file that are available without reading it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Mapping

from vault_indexer.system import record

# macOS SF_DATALESS; Windows FILE_ATTRIBUTE_OFFLINE and FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS.
_MACOS_DATALESS = 0x4000_0000
_WINDOWS_NOT_LOCAL = 0x0000_1000 | 0x0040_0000
NOT_DOWNLOADED = "not downloaded"


@record
class FileStat:
    """The stat of a file at one moment. If all fields are equal, its text is assumed to be unchanged.

    `path` is relative to the vault, with `/`, exactly as the file system spells it (not NFC).
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, path: str, status: os.stat_result) -> FileStat:
        changed = status.st_ctime_ns
        if sys.platform == "win32":
            # From Python 3.12 on `st_ctime` tells of an open file when it changed, and of a path when it was
            # created.
            changed = getattr(status, "st_birthtime_ns", changed)
        return cls(path, status.st_size, status.st_mtime_ns, changed, status.st_ino)


@record
class RootIdentity:
    """The identity of the vault's folder. A different pair means a different folder or disk."""

    device: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> RootIdentity:
        return cls(status.st_dev, status.st_ino)


def is_utf8_name(name: str) -> bool:
    """Returns whether the name can be stored and shown. A lone surrogate is a byte that is not UTF-8."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_evicted(status: os.stat_result) -> bool:
    """Returns whether the disk has only a placeholder, and reading would download it (iCloud, OneDrive)."""
    flags, attributes = getattr(status, "st_flags", 0), getattr(status, "st_file_attributes", 0)
    return bool(flags & _MACOS_DATALESS or attributes & _WINDOWS_NOT_LOCAL)


def icloud_placeholder_of(name: str) -> str | None:
    """Returns the name of the file that a placeholder of iCloud represents, or None."""
    if name.startswith(".") and name.endswith(".icloud") and len(name) > len("..icloud"):
        return name[1 : -len(".icloud")]
    return None


def is_regular(status: os.stat_result) -> bool:
    """Returns whether it is a regular file. Opening a pipe or a device may block for ever."""
    return stat.S_ISREG(status.st_mode)


# Recognition of pictures that a page may show, by name and content.


MAX_PICTURE_BYTES = 8 << 20
"""A larger picture is not sent, because pictures are sent as text and a page keeps all its pictures in
memory.
"""

_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".svg": "image/svg+xml",
}
_IS_OF_TYPE: Mapping[str, Callable[[bytes], bool]] = {
    "image/png": lambda data: data.startswith(b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": lambda data: data.startswith(b"\xff\xd8\xff"),
    "image/gif": lambda data: data.startswith((b"GIF87a", b"GIF89a")),
    "image/webp": lambda data: data.startswith(b"RIFF") and data[8:12] == b"WEBP",
    "image/avif": lambda data: data[4:8] == b"ftyp" and data[8:12] in (b"avif", b"avis", b"mif1"),
    "image/svg+xml": lambda data: b"<svg" in data[:4096],
}
"""Checks the first bytes, as browsers do. An SVG has its element somewhere near the start."""


def is_picture_name(path: str) -> bool:
    """Returns whether the name has the suffix of a picture."""
    return _suffix(path) in _TYPES


def picture_type(path: str, data: bytes) -> str | None:
    """Returns the media type of a picture; None if the content does not match the name."""
    media_type = _TYPES.get(_suffix(path))
    return media_type if media_type and _IS_OF_TYPE[media_type](data) else None


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name else ""
