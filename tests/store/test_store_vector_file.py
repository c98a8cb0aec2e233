"""The file of a base of vectors: built from a stream, written, read, and refused where it is not whole."""

import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from vault_indexer.errors import IndexUnusableError
from vault_indexer.store.vectors import index as vectors

DIMENSION = 64
COUNT = 3_000
MAGIC = b"vault-indexer vectors 2 "

Row = tuple[int, bytes]


class OnePass:
    """Rows that can be had once, as those of a database cursor; it has no length."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self.passes = 0

    def __iter__(self) -> Iterator[Row]:
        self.passes += 1
        yield from self._rows


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    made = np.random.default_rng(1).normal(size=(COUNT, DIMENSION))
    unit = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float16)
    return [(2 * at, row.tobytes()) for at, row in enumerate(unit)]


def test_a_base_from_a_stream_is_that_from_a_list(rows: list[Row], tmp_path: Path) -> None:
    """Zero vectors are left out of both, so a stream may promise more than it gives."""
    given = OnePass([*rows, (2 * COUNT, bytes(2 * DIMENSION))])
    streamed = vectors.build_snapshot(1, DIMENSION, given, 2 * COUNT)
    listed = vectors.build_snapshot(1, DIMENSION, rows)
    assert given.passes == 1
    for name, made in (("streamed", streamed), ("listed", listed)):
        vectors.save_snapshot(made, tmp_path / name)
    assert (tmp_path / "streamed").read_bytes() == (tmp_path / "listed").read_bytes()


def earlier(file: Path, *, codes: bool) -> None:
    """Change a file to the form that it had before decision 83."""
    first, rest = file.read_bytes().split(b"\n", 1)
    header = json.loads(first.removeprefix(MAGIC)[9:])
    line = json.dumps({**header, "rule": "exact to 250000 vectors", "codes": codes}).encode() + b"\n"
    body = rest + bytes(1000 if codes else 0)
    file.write_bytes(MAGIC + b"%08x" % zlib.crc32(line + body) + b" " + line + body)


def test_a_file_of_an_earlier_version_is_read_if_it_holds_the_same(rows: list[Row], tmp_path: Path) -> None:
    """Whoever opens one that is refused makes it again from the catalog."""
    file = tmp_path / "v.faiss"
    made = vectors.build_snapshot(7, DIMENSION, rows[:20])
    vectors.save_snapshot(made, file)
    earlier(file, codes=False)
    loaded = vectors.load_snapshot(file)
    assert (loaded.seq, loaded.live_keys()) == (7, made.live_keys())
    vectors.save_snapshot(made, file)
    earlier(file, codes=True)
    with pytest.raises(IndexUnusableError, match="its size does not fit"):
        vectors.load_snapshot(file)
    vectors.save_snapshot(made, file)
    file.write_bytes(b"vault-indexer vectors 1 " + file.read_bytes()[24:])
    with pytest.raises(IndexUnusableError, match="not a vector file of this version"):
        vectors.load_snapshot(file)


@pytest.mark.parametrize("key", ["seq", "count", "dimension"])
def test_a_header_without_a_key_is_refused_whatever_its_checksum(
    rows: list[Row], tmp_path: Path, key: str
) -> None:
    file = tmp_path / "v.faiss"
    vectors.save_snapshot(vectors.build_snapshot(7, DIMENSION, rows[:20]), file)
    first, body = file.read_bytes().split(b"\n", 1)
    header = json.loads(first.removeprefix(MAGIC)[9:])
    assert header == {"seq": 7, "count": 20, "dimension": DIMENSION}
    del header[key]
    line = json.dumps(header).encode() + b"\n"
    file.write_bytes(MAGIC + b"%08x" % zlib.crc32(line + body) + b" " + line + body)
    with pytest.raises(IndexUnusableError, match=f"vector index {re.escape(str(file))}: '{key}'"):
        vectors.load_snapshot(file)


def test_a_checksum_of_another_length_is_that_of_another_version(rows: list[Row], tmp_path: Path) -> None:
    file = tmp_path / "v.faiss"
    vectors.save_snapshot(vectors.build_snapshot(7, DIMENSION, rows[:20]), file)
    content = file.read_bytes()
    for crc in (content[24:31], b"0" + content[24:32]):
        file.write_bytes(MAGIC + crc + content[32:])
        with pytest.raises(IndexUnusableError, match="not a vector file of this version"):
            vectors.load_snapshot(file)
    file.write_bytes(content[:24] + b"00000000" + content[32:])
    with pytest.raises(IndexUnusableError, match="checksum does not fit"):
        vectors.load_snapshot(file)
    with pytest.raises(IndexUnusableError, match="No such file"):
        vectors.load_snapshot(tmp_path / "none")
