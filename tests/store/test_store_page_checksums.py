"""The file of the catalog's checksums, where it is whole and says too little."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from vault_indexer.errors import DamagedError
from vault_indexer.store.catalog.page_checksums import PageSums, load_sums, save_sums, sums_path


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
