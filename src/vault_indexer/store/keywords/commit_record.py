"""The small file that names the current state of the keyword index, with a checksum of each of its files."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from vault_indexer.errors import IndexUnusableError
from vault_indexer.system import write_atomically

COMMIT_RECORD_NAME = "COMMIT"
_FORMER_NAME = "SEAL"
"""What it was called at first: read where there is no other."""

_PIECE = 1 << 20


class Checksum(BaseModel):
    """Of one file: its size in bytes and the CRC-32 of its content."""

    model_config = ConfigDict(frozen=True, strict=True)

    size: int
    crc: int


class CommitRecord(BaseModel):
    """`generation` numbers Whoosh's table of contents, `seq` is the last change applied."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    seq: int
    generation: int
    files: dict[str, Checksum]


def write_commit_record(
    folder: Path, seq: int, generation: int, names: Iterable[str], known: Mapping[str, Checksum]
) -> CommitRecord:
    """Makes the state that consists of `names` the current one. `known` saves reading old files again.

    Raises OSError.
    """
    files = {name: known.get(name) or checksum_of(folder / name) for name in sorted(names)}
    record = CommitRecord(seq=seq, generation=generation, files=files)
    body = record.model_dump_json().encode()
    write_atomically(folder / COMMIT_RECORD_NAME, b"%08x\n%s\n" % (zlib.crc32(body), body))
    (folder / _FORMER_NAME).unlink(missing_ok=True)
    return record


def read_commit_record(folder: Path) -> CommitRecord:
    """The current commit record. Raises IndexUnusableError where there is none or it is damaged."""
    path = folder / COMMIT_RECORD_NAME
    try:
        if not path.exists() and (folder / _FORMER_NAME).exists():
            path = folder / _FORMER_NAME
        checksum, _, body = path.read_bytes().rstrip(b"\n").partition(b"\n")
        if checksum != b"%08x" % zlib.crc32(body):
            raise IndexUnusableError(f"keyword index: {path} is damaged (checksum differs)")
        return CommitRecord.model_validate_json(body)
    except OSError as error:
        raise IndexUnusableError(f"keyword index: {path}: {error.strerror}") from error
    except ValidationError as error:
        raise IndexUnusableError(f"keyword index: {path} is not a commit record of this version") from error


def check_files(folder: Path, record: CommitRecord, *, full: bool) -> None:
    """All files there at their size and, if `full`, with their checksum (about 1 GB/s).

    Raises IndexUnusableError naming the file at fault.
    """
    for name, expected in record.files.items():
        path = folder / name
        try:
            same = path.stat().st_size == expected.size
            same = same and (not full or checksum_of(path) == expected)
        except OSError as error:
            raise IndexUnusableError(f"keyword index: {path}: {error.strerror}") from error
        if not same:
            raise IndexUnusableError(f"keyword index: {path} is damaged (size or checksum differs)")


def checksum_of(path: Path) -> Checksum:
    """The checksum of a file, read in pieces. Raises OSError."""
    size = crc = 0
    piece = memoryview(bytearray(_PIECE))
    with path.open("rb", buffering=0) as file:
        while read := file.readinto(piece):
            size, crc = size + read, zlib.crc32(piece[:read], crc)
    return Checksum(size=size, crc=crc)
