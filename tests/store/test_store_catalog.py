"""What the catalog promises of its rows, and of a commit that the system refuses."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from vault_indexer.errors import IndexUnusableError
from vault_indexer.model import FileRow
from vault_indexer.store.catalog import CatalogReader, CatalogWriter


def file(path: str) -> FileRow:
    return FileRow(path, 1, 1, 0, 0, "", "linked")


def test_files_of_several_places_come_by_path_each_once(tmp_path: Path) -> None:
    paths = ["b/z.md", "b/a.md", "b.md", "a/x.md", "b0.md", "c.md", "a/b/y.md"]
    with closing(CatalogWriter(tmp_path / "catalog.db")) as writer, writer.commit():
        for path in paths:
            writer.put_file(file(path))
    with closing(CatalogReader(tmp_path / "catalog.db")) as catalog:
        within = [row.path for row in catalog.files_within(["b", "a", "a/b", "c.md"])]
        assert within == ["a/b/y.md", "a/x.md", "b/a.md", "b/z.md", "c.md"]
        assert [row.path for row in catalog.files()] == sorted(paths)


def test_a_log_that_cannot_be_trimmed_stays_and_the_catalog_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    with closing(CatalogWriter(path)) as writer:
        with closing(sqlite3.connect(path)) as other:
            other.execute("INSERT INTO changes VALUES (1, 7, 1)")
            other.execute(
                "CREATE TRIGGER full BEFORE DELETE ON changes BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
            )
            other.commit()
        with pytest.raises(IndexUnusableError, match="disk is full"):
            writer.trim_changes(1)
        with writer.commit():
            writer.put_file(file("after.md"))
    with closing(CatalogReader(path)) as catalog:
        assert [row.path for row in catalog.files()] == ["after.md"]
        assert catalog.rows("SELECT seq, key FROM changes WHERE key = 7") == [(1, 7)]
