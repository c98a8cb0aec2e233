"""Which files are read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_indexer.index.plan import plan
from vault_indexer.model import FileRow
from vault_indexer.vault import IgnoreRules, scan


@pytest.mark.parametrize(("age_s", "is_read_again"), [(1, True), (3, False)])
def test_a_note_that_was_young_when_it_was_read_is_read_again(
    tmp_path: Path, age_s: int, is_read_again: bool
) -> None:
    (tmp_path / "Note.md").write_text("text")
    found = scan(tmp_path, IgnoreRules(), max_file_bytes=1000)
    seen = found.files[0].stat
    changed_ns = max(seen.mtime_ns, seen.ctime_ns)
    row = FileRow(
        seen.path,
        seen.size,
        seen.mtime_ns,
        seen.ctime_ns,
        seen.inode,
        "digest",
        "note",
        seen_ns=changed_ns + age_s * 1_000_000_000,
    )
    assert bool(plan([row], found).read) == is_read_again
