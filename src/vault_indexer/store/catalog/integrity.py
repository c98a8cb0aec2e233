"""A checksum for every page of the catalog, because SQLite keeps none: to it, a flipped bit is data.

The file changes only when its owner checkpoints the write-ahead log (automatic checkpoints are off), so the
checksums are written there and then, beside it, into `catalog.sums`. The order makes a crash harmless: pages
are copied, then their checksums are written, and only a later commit restarts the log. A page that is
still in the log is not judged: SQLite checks the log's own checksums, and will copy the page again.

The sums also remember which log was copied how far. A log that holds less than that by now was damaged
after part of it had been copied, and what is in the file is then a mixture of states.
"""

from __future__ import annotations

import io
import json
import sqlite3
import struct
import zlib
from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vault_indexer.errors import DamagedError, DiskFullError, IndexUnusableError, UnavailableError
from vault_indexer.system import FULL_ERRORS, free_bytes, write_atomically

_MAGIC = b"vault-indexer page sums 1 "
_PAGE_SIZE_AT = struct.Struct(">16xH")
_LOG_HEADER = struct.Struct(">8xII8s8x")
_FRAME = struct.Struct(">I4x8s8x")
_READ = 1 << 20


@dataclass(frozen=True, slots=True)
class Log:
    """The write-ahead log as it lies there: its identity, and the page of each frame, valid or not."""

    salt: str = ""
    pages: tuple[int, ...] = ()


@dataclass(slots=True)
class PageSums:
    """`crcs[n]` is the CRC-32 of page n + 1. `salt` names the log of the last checkpoint, of which `copied`
    of `logged` frames had gone into the file."""

    crcs: array[int] = field(default_factory=lambda: array("I"))
    salt: str = ""
    logged: int = 0
    copied: int = 0


def sums_path(catalog: Path) -> Path:
    return catalog.with_suffix(".sums")


def record_page_checksums(catalog: Path) -> None:
    """Write the checksums of a catalog that has no log and that nobody writes."""
    save_sums(catalog, PageSums(array("I", _page_crcs(catalog))))


def save_sums(catalog: Path, sums: PageSums) -> None:
    """Durably, or not at all. Raises OSError."""
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
    """The frames of the log in their order; those that SQLite would not accept are among them."""
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
                    break  # left from before the log was restarted
                pages.append(page)
                file.seek(page_size, 1)
            return Log(salt.hex(), tuple(pages))
    except FileNotFoundError:
        return Log()


def recovered_sums(catalog: Path, sums: PageSums, log: Log, logged: int) -> None:
    """Raises DamagedError if the log of the last checkpoint has since lost frames that matter.

    `logged` is how many frames of `log` SQLite accepted.
    """
    lost = logged < sums.logged if log.salt == sums.salt else sums.copied < sums.logged
    if lost:
        raise DamagedError(f"index {catalog}: its write-ahead log has lost changes that were half copied")


def updated_checksums(catalog: Path, sums: PageSums, pages: Collection[int]) -> PageSums:
    """The sums with those of `pages`, and of all pages that have no sum yet, taken from the file."""
    count = catalog.stat().st_size // page_size_of(catalog)
    wanted = {page for page in pages if page <= count} | set(range(len(sums.crcs) + 1, count + 1))
    crcs = sums.crcs[:count]
    crcs.extend([0] * (count - len(crcs)))
    size = page_size_of(catalog)
    with catalog.open("rb") as file:
        for page in sorted(wanted):
            file.seek((page - 1) * size)
            crcs[page - 1] = zlib.crc32(file.read(size))
    return PageSums(crcs, sums.salt, sums.logged, sums.copied)


def damaged_pages(catalog: Path, sums: PageSums, ignored: Collection[int] = ()) -> list[int]:
    """The pages (from 1) whose content is not what was written, but for the `ignored` ones. About 1 GB/s."""
    found = array("I", _page_crcs(catalog))
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
    """Whether a catalog that perhaps another process is writing can be vouched for: every page is as it was
    written, or in the log. A checkpoint under way looks like damage for a moment, hence the second look."""
    for _ in range(2):
        try:
            sums, log = load_sums(catalog), read_log(catalog)
            if not damaged_pages(catalog, sums, set(log.pages)):
                return True
        except (OSError, DamagedError):
            continue
    return False


def page_size_of(catalog: Path) -> int:
    """As the header says; a header that says nothing sensible is damage, and 4096 will show it."""
    with catalog.open("rb") as file:
        header = file.read(_PAGE_SIZE_AT.size)
    size = int(_PAGE_SIZE_AT.unpack(header)[0]) if len(header) == _PAGE_SIZE_AT.size else 0
    size = 65_536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else 4096


def _page_crcs(catalog: Path) -> Iterator[int]:
    size = page_size_of(catalog)
    block = memoryview(bytearray(_READ))
    with catalog.open("rb", buffering=0) as file:
        while read := _fill(file, block):
            yield from [zlib.crc32(block[start : min(start + size, read)]) for start in range(0, read, size)]


def _fill(file: io.FileIO, block: memoryview) -> int:
    """How many bytes of the block are read: all, or what is left of the file."""
    filled = 0
    while filled < len(block) and (read := file.readinto(block[filled:])):
        filled += read
    return filled


# SQLite's errors as errors of the index.


SqliteError = sqlite3.Error

_PRIMARY_CODE = 0xFF
"""Of an extended result code, these bits are the primary one: https://www.sqlite.org/rescode.html"""

_NEARLY_FULL_BYTES = 1 << 20
"""SQLite reports a full disk as "disk I/O error" where it met it in the memory shared by readers, which it
extends by 32 KiB at a time."""


def unusable(catalog: Path, error: Exception) -> UnavailableError:
    """The error of the index for an error of SQLite (or an OSError) met in this catalog.

    A malformed file is a DatabaseError itself; a full disk, a lock or a failed read is one of its subclasses,
    and no reason to rebuild. A full disk gives a DiskFullError.
    """
    if is_full(catalog, error):
        return DiskFullError(f"index {catalog}: {error}")
    kind = DamagedError if type(error) is sqlite3.DatabaseError else IndexUnusableError
    return kind(f"index {catalog}: {error}")


def is_full(place: Path, error: Exception) -> bool:
    """Whether SQLite, or the system, met a full disk at this place."""
    if isinstance(error, OSError):
        return error.errno in FULL_ERRORS
    code = getattr(error, "sqlite_errorcode", None)
    if not isinstance(error, sqlite3.Error) or code is None:
        return False
    primary = code & _PRIMARY_CODE
    if primary == sqlite3.SQLITE_IOERR:
        return free_bytes(place) < _NEARLY_FULL_BYTES
    return bool(primary == sqlite3.SQLITE_FULL)
