"""The file of a base: keys and vectors, each as it lies in memory, under one checksum.

    magic, CRC-32 of all that follows (8 hexadecimal digits), a line of JSON, then
    keys (int64) and vectors (float16)

It is written and read in pieces, straight from and into the arrays, so that neither needs a second copy.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from vault_indexer.errors import IndexUnusableError
from vault_indexer.system import atomic_file, batches

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vault_indexer.arrays import Halves, Keys

    Room = Callable[[int, int], Halves]

_MAGIC = b"vault-indexer vectors 2 "
_CRC_DIGITS = 8
_PIECE = 4 << 20
_LONGEST_HEADER = 4096


@dataclass(frozen=True, slots=True)
class BaseContent:
    """What a file holds: `vectors` has one row a key."""

    seq: int
    keys: Keys
    vectors: Halves


def write_base(path: Path, content: BaseContent) -> None:
    """Durably and as a whole. Raises OSError."""
    header = {"seq": content.seq, "count": len(content.keys), "dimension": content.vectors.shape[1]}
    line = json.dumps(header).encode() + b"\n"
    arrays: list[NDArray[np.generic]] = [content.keys, content.vectors]
    with atomic_file(path) as file:
        file.write(_MAGIC + b"0" * _CRC_DIGITS + b" " + line)
        crc = zlib.crc32(line)
        for array in arrays:
            for piece in _pieces(array):
                crc = zlib.crc32(piece, crc)
                file.write(piece)
        file.seek(len(_MAGIC))
        file.write(b"%08x" % crc)


def read_base(path: Path, room: Room) -> BaseContent:
    """Read a file into arrays; `room` gives the one for a number of vectors and their dimension. Raises
    IndexUnusableError if the file is missing, cut or changed."""
    try:
        with path.open("rb") as file:
            first = file.readline(_LONGEST_HEADER)
            crc, _, line = first.removeprefix(_MAGIC).partition(b" ")
            if not first.startswith(_MAGIC) or len(crc) != _CRC_DIGITS:
                raise ValueError("not a vector file of this version")
            header = json.loads(line)
            count, dimension = int(header["count"]), int(header["dimension"])
            keys, vectors = np.empty(count, np.int64), room(count, dimension)
            arrays: list[NDArray[np.generic]] = [keys, vectors]
            if path.stat().st_size != len(first) + sum(array.nbytes for array in arrays):
                raise ValueError("its size does not fit")
            found = zlib.crc32(line)
            for array in arrays:
                found = _fill(array, file, found)
            if crc != b"%08x" % found:
                raise ValueError("checksum does not fit")
            seq = int(header["seq"])
    except (OSError, ValueError, KeyError, TypeError, MemoryError) as error:
        raise IndexUnusableError(f"vector index {path}: {error}") from error
    return BaseContent(seq, keys, vectors)


def _pieces(array: NDArray[np.generic]) -> Iterator[memoryview]:
    """The bytes of an array, some at a time."""
    return batches(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, _PIECE)


def _fill(array: NDArray[np.generic], file: BinaryIO, crc: int) -> int:
    """Fill the array from the file. Returns the checksum so far."""
    for piece in _pieces(array):
        if file.readinto(piece) != len(piece):  # type: ignore[attr-defined]
            raise ValueError("it ends too early")
        crc = zlib.crc32(piece, crc)
    return crc
