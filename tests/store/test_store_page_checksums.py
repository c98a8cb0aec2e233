"""The file of the catalog's checksums, where it is whole and says too little."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from vault_indexer.errors import DamagedError
from vault_indexer.store.catalog.page_checksums import (
    PageSums,
    damaged_pages,
    load_sums,
    page_size_of,
    record_page_checksums,
    save_sums,
    sums_path,
)


@pytest.mark.parametrize("key", ["salt", "logged", "copied"])
def test_a_header_without_a_key_is_damage(tmp_path: Path, key: str) -> None:
    catalog = tmp_path / "catalog.db"
    save_sums(catalog, PageSums(salt="abc", logged=3, copied=2))
    assert (load_sums(catalog).logged, load_sums(catalog).copied) == (3, 2)
    file = sums_path(catalog)
    magic, _, line = file.read_bytes().rstrip(b"\n").partition(b"{")
    header = json.loads(b"{" + line)
    del header[key]
    short = json.dumps(header).encode()
    start = magic.rstrip().rpartition(b" ")[0]
    file.write_bytes(start + b" %08x " % zlib.crc32(b"", zlib.crc32(short)) + short + b"\n")
    with pytest.raises(DamagedError, match=key):
        load_sums(catalog)


def test_of_the_pages_that_are_not_in_the_log_those_that_differ_are_damaged(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.db"
    with closing(sqlite3.connect(catalog)) as db:
        db.execute("CREATE TABLE t (x)")
        db.execute("INSERT INTO t VALUES (zeroblob(20000))")
        db.commit()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    record_page_checksums(catalog)
    sums, content = load_sums(catalog), bytearray(catalog.read_bytes())
    content[size + 10] ^= 1
    content[2 * size + 10] ^= 1
    catalog.write_bytes(content)
    assert damaged_pages(catalog, sums) == [2, 3]
    assert damaged_pages(catalog, sums, {2}) == [3]
    assert damaged_pages(catalog, sums, {2, 3}) == []
    catalog.write_bytes(content[:-size])
    assert damaged_pages(catalog, sums, {2, 3}) == [len(sums.crcs)], "one that is missing"


@pytest.mark.parametrize(
    ("header", "size"),
    [(512, 512), (4096, 4096), (32768, 32768), (1, 65536), (256, 4096), (0, 4096), (1280, 4096), (768, 4096)],
)
def test_the_size_of_a_page_is_a_power_of_two_or_that_of_any_new_catalog(
    tmp_path: Path, header: int, size: int
) -> None:
    catalog = tmp_path / "catalog.db"
    catalog.write_bytes(b"SQLite format 3\0" + header.to_bytes(2, "big") + bytes(82))
    assert page_size_of(catalog) == size
    catalog.write_bytes(b"SQLite")
    assert page_size_of(catalog) == 4096
