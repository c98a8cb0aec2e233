"""The file of the catalog's checksums, where it is whole and says too little."""

import json
import sqlite3
import zlib
from array import array
from contextlib import closing
from pathlib import Path

import pytest

from vault_indexer.errors import DamagedError
from vault_indexer.store.catalog.integrity import (
    Log,
    PageSums,
    damaged_pages,
    is_sound,
    load_sums,
    page_size_of,
    read_log,
    record_page_checksums,
    recovered_sums,
    save_sums,
    sums_path,
    updated_checksums,
)

SALT = b"saltsalt"


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


def catalog_of(folder: Path, *pages: bytes) -> Path:
    """A file of pages of 512 bytes, each filled with one of these."""
    catalog = folder / "catalog.db"
    header = b"SQLite format 3\0" + (512).to_bytes(2, "big") + bytes(494)
    catalog.write_bytes(header + b"".join(page * 512 for page in pages))
    return catalog


def crcs_of(catalog: Path) -> list[int]:
    content = catalog.read_bytes()
    return [zlib.crc32(content[start : start + 512]) for start in range(0, len(content), 512)]


def test_sums_are_those_of_the_pages_however_many_there_are(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, *(bytes([number % 251]) for number in range(5000)))
    record_page_checksums(catalog)
    assert load_sums(catalog) == PageSums(array("I", crcs_of(catalog)))
    assert damaged_pages(catalog, load_sums(catalog)) == []


@pytest.mark.parametrize("place", [0, 20, 30, 40, -1])
def test_sums_that_are_damaged_themselves_say_so(tmp_path: Path, place: int) -> None:
    catalog = catalog_of(tmp_path, b"a", b"b")
    record_page_checksums(catalog)
    content = bytearray(sums_path(catalog).read_bytes())
    content[place] ^= 1
    sums_path(catalog).write_bytes(content)
    with pytest.raises(DamagedError, match=r"cannot verify checksums: the checksums are damaged"):
        load_sums(catalog)
    assert not is_sound(catalog)


def test_only_the_pages_that_are_named_and_new_ones_get_other_sums(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, b"a", b"b", b"c")
    former = PageSums(array("I", crcs_of(catalog)), "salt", 5, 4)
    catalog = catalog_of(tmp_path, b"x", b"y", b"z", b"new", b"newer")
    fresh = crcs_of(catalog)
    made = updated_checksums(catalog, former, {2, 99})
    assert made == PageSums(
        array("I", [former.crcs[0], fresh[1], *former.crcs[2:], *fresh[4:]]), "salt", 5, 4
    )
    assert len(former.crcs) == 4, "the former ones stay as they are"
    shorter = updated_checksums(catalog_of(tmp_path, b"x"), former, set())
    assert shorter.crcs == former.crcs[:2]


@pytest.mark.parametrize(
    ("salt", "logged", "is_lost"),
    [("a", 5, False), ("a", 6, False), ("a", 4, True), ("b", 9, True), ("", 0, True)],
)
def test_a_log_of_which_a_part_was_copied_may_lose_nothing(
    tmp_path: Path, salt: str, logged: int, is_lost: bool
) -> None:
    sums, log = PageSums(salt="a", logged=5, copied=4), Log(salt)
    if is_lost:
        with pytest.raises(DamagedError, match="has lost changes that were half copied"):
            recovered_sums(tmp_path, sums, log, logged)
    else:
        recovered_sums(tmp_path, sums, log, logged)
    recovered_sums(tmp_path, PageSums(salt="a", logged=5, copied=5), Log("b"), 0)


def frame(page: int, salt: bytes = SALT, size: int = 512) -> bytes:
    return page.to_bytes(4, "big") + b"size" + salt + b"checksum" + bytes(size)


def test_the_pages_of_a_log_end_where_it_has_begun_again(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path)
    log = tmp_path / "catalog.db-wal"
    assert read_log(catalog) == Log()
    header = b"magicver" + (512).to_bytes(4, "big") + b"ckpt" + SALT + b"checksum"
    for content, pages in (
        (b"", None),
        (header[:-1], None),
        (header, ()),
        (header + frame(3), (3,)),
        (header + frame(3) + frame(1) + frame(3), (3, 1, 3)),
        (header + frame(3) + frame(2, b"formerly") + frame(1), (3,)),
        (header + frame(3) + frame(7)[:23], (3,)),
    ):
        log.write_bytes(content)
        assert read_log(catalog) == (Log() if pages is None else Log(SALT.hex(), pages))


def test_a_catalog_is_sound_if_what_differs_is_in_its_log(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, b"a", b"b")
    assert not is_sound(catalog), "nobody knows its sums"
    record_page_checksums(catalog)
    assert is_sound(catalog)
    catalog_of(tmp_path, b"a", b"x")
    assert not is_sound(catalog)
    header = b"magicver" + (512).to_bytes(4, "big") + b"ckpt" + SALT + b"checksum"
    (tmp_path / "catalog.db-wal").write_bytes(header + frame(3))
    assert is_sound(catalog)
    catalog.unlink()
    assert not is_sound(catalog)
