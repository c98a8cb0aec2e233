"""Checksums for every page of the catalog. SQLite has none, so it reads a flipped bit as data.

The file changes only when its owner checkpoints the write-ahead log (automatic checkpoints are off), so the
checksums are written at the same time, to `catalog.sums` in the same folder. The order makes a crash
harmless: pages are copied, then their checksums are written, and only a later commit restarts the log. A page
that is still in the log is not checked: SQLite checks the log's own checksums and will copy the page again.

The sums also record which log was copied, and how much of it. If that log is now shorter, it was damaged
after part of it had been copied, and the file contains a mixture of states.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vault_indexer.errors import DamagedError, DiskFullError, IndexUnusableError, UnavailableError
from vault_indexer.system import FULL_ERRORS, free_bytes, record, write_atomically

_MAGIC = b"vault-indexer page sums 1 "
# Offsets and layouts from https://www.sqlite.org/fileformat2.html
_PAGE_SIZE_AT = struct.Struct(">16xH")
_LOG_HEADER = struct.Struct(">8xII8s8x")
_FRAME = struct.Struct(">I4x8s8x")
_READ = 1 << 20


@record
class Log:
    """The write-ahead log as found on disk: its identity, and the page of each frame, valid or not."""

    salt: str = ""
    pages: tuple[int, ...] = ()


@dataclass(slots=True)
class PageSums:
    """`crcs[n]` is the CRC-32 of page n + 1. `salt` identifies the log of the last checkpoint, which had
    copied `copied` of `logged` frames into the file."""

    crcs: array[int] = field(default_factory=lambda: array("I"))
    salt: str = ""
    logged: int = 0
    copied: int = 0


def sums_path(catalog: Path) -> Path:
    return catalog.with_suffix(".sums")


def record_page_checksums(catalog: Path) -> None:
    """Writes the checksums of a catalog that has no log and no writer."""
    save_sums(catalog, PageSums(array("I", _page_crcs(catalog))))


def save_sums(catalog: Path, sums: PageSums) -> None:
    """Writes the sums durably and atomically. Raises OSError."""
    payload = sums.crcs.tobytes()
    header = {"salt": sums.salt, "logged": sums.logged, "copied": sums.copied}
    line = json.dumps(header).encode()
    checksum = zlib.crc32(payload, zlib.crc32(line))
    write_atomically(sums_path(catalog), _MAGIC + b"%08x " % checksum + line + b"\n" + payload)


def load_sums(catalog: Path) -> PageSums:
    """Raises DamagedError if the checksums are missing or themselves damaged."""
    path = sums_path(catalog)
    try:
        first, _, payload = path.read_bytes().partition(b"\n")
        checksum, _, line = first.removeprefix(_MAGIC).partition(b" ")
        if not first.startswith(_MAGIC) or checksum != b"%08x" % zlib.crc32(payload, zlib.crc32(line)):
            raise ValueError("the checksums are damaged")
        header = json.loads(line)
        crcs = array("I")
        crcs.frombytes(payload)
        return PageSums(crcs, str(header["salt"]), int(header["logged"]), int(header["copied"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"index {catalog}: cannot verify checksums: {error}") from error


def read_log(catalog: Path) -> Log:
    """Returns the frames of the log in order, including those that SQLite would reject."""
    try:
        with catalog.with_name(catalog.name + "-wal").open("rb") as file:
            header = file.read(_LOG_HEADER.size)
            if len(header) < _LOG_HEADER.size:
                return Log()
            page_size, _, salt = _LOG_HEADER.unpack(header)
            pages = []
            while len(frame := file.read(_FRAME.size)) == _FRAME.size:
                page, frame_salt = _FRAME.unpack(frame)
                if frame_salt != salt:
                    break  # a remnant from before the log was restarted
                pages.append(page)
                file.seek(page_size, 1)
            return Log(salt.hex(), tuple(pages))
    except FileNotFoundError:
        return Log()


def recovered_sums(catalog: Path, sums: PageSums, log: Log, logged: int) -> None:
    """Raises DamagedError if the log of the last checkpoint has since lost frames that matter.

    `logged` is the number of frames of `log` that SQLite accepted.
    """
    # The same log must still be as long as at the checkpoint. A new log is legitimate only if the old one had
    # been copied completely.
    lost = logged < sums.logged if log.salt == sums.salt else sums.copied < sums.logged
    if lost:
        raise DamagedError(f"index {catalog}: its write-ahead log has lost changes that were half copied")


def updated_checksums(catalog: Path, sums: PageSums, pages: Collection[int]) -> PageSums:
    """Returns the sums, updated from the file for `pages` and for all pages without a checksum."""
    size = page_size_of(catalog)
    count = catalog.stat().st_size // size
    wanted = {page for page in pages if page <= count} | set(range(len(sums.crcs) + 1, count + 1))
    crcs = sums.crcs[:count]
    crcs.extend([0] * (count - len(crcs)))
    with catalog.open("rb") as file:
        for page in sorted(wanted):
            file.seek((page - 1) * size)
            crcs[page - 1] = zlib.crc32(file.read(size))
    return PageSums(crcs, sums.salt, sums.logged, sums.copied)


def damaged_pages(catalog: Path, sums: PageSums, ignored: Collection[int] = ()) -> list[int]:
    """Returns the numbers (from 1) of the pages that do not match their checksum, except the `ignored` ones.
    Checks about 1 GB/s."""
    found = array("I", _page_crcs(catalog))
    # The comparison of whole arrays is much faster than the loop below, and usually sufficient.
    if found == sums.crcs:
        return []
    longest = max(len(found), len(sums.crcs))
    return [
        page
        for page in range(1, longest + 1)
        if page not in ignored
        and (page > len(found) or page > len(sums.crcs) or found[page - 1] != sums.crcs[page - 1])
    ]


def is_sound(catalog: Path) -> bool:
    """Whether every page of the catalog matches its checksum or is in the log. Works while another process is
    writing: a checkpoint in progress looks like damage for a moment, so a failed check is repeated."""
    for _ in range(2):
        try:
            sums, log = load_sums(catalog), read_log(catalog)
            # Pages in the log will be copied again, so their state in the file does not matter.
            if not damaged_pages(catalog, sums, set(log.pages)):
                return True
        except (OSError, DamagedError):
            continue
    return False


def page_size_of(catalog: Path) -> int:
    """Returns the page size from the header. A header without a valid size is damaged; 4096 then makes the
    page check fail."""
    with catalog.open("rb") as file:
        header = file.read(_PAGE_SIZE_AT.size)
    size = int(_PAGE_SIZE_AT.unpack(header)[0]) if len(header) == _PAGE_SIZE_AT.size else 0
    # SQLite stores 65,536, which does not fit the two bytes, as 1.
    size = 65_536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else 4096


def _page_crcs(catalog: Path) -> Iterator[int]:
    size = page_size_of(catalog)
    with catalog.open("rb") as file:
        while block := memoryview(file.read(_READ)):
            yield from [zlib.crc32(block[start : start + size]) for start in range(0, len(block), size)]


SqliteError = sqlite3.Error

_PRIMARY_CODE = 0xFF
"""These bits of an extended result code are the primary code: https://www.sqlite.org/rescode.html"""

_NEARLY_FULL_BYTES = 1 << 20
"""SQLite reports a full disk as "disk I/O error" if it occurs in the memory shared by readers, which SQLite
extends by 32 KiB at a time."""


def unusable(catalog: Path, error: Exception) -> UnavailableError:
    """Converts an error of SQLite (or an OSError) in this catalog to an error of the index.

    A malformed file is reported as DatabaseError itself. A full disk, a lock or a failed read is one of its
    subclasses and no reason to rebuild. A full disk becomes a DiskFullError.
    """
    if is_full(catalog, error):
        return DiskFullError(f"index {catalog}: {error}")
    kind = DamagedError if type(error) is sqlite3.DatabaseError else IndexUnusableError
    return kind(f"index {catalog}: {error}")


def is_full(place: Path, error: Exception) -> bool:
    """Whether the error was caused by a full disk at this path."""
    if isinstance(error, OSError):
        return error.errno in FULL_ERRORS
    code = getattr(error, "sqlite_errorcode", None)
    if not isinstance(error, sqlite3.Error) or code is None:
        return False
    primary = code & _PRIMARY_CODE
    if primary == sqlite3.SQLITE_IOERR:
        return free_bytes(place) < _NEARLY_FULL_BYTES
    return bool(primary == sqlite3.SQLITE_FULL)
