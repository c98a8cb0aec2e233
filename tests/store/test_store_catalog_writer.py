"""What a writer of the catalog leaves on disk: rows, its log, and what it says of damage; what the log of
changes says of the commits since, and how far back it reaches."""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.errors import DamagedError, IndexUnusableError
from vault_indexer.model import Chunk, FileRow, chunk_key
from vault_indexer.parse import parse_note
from vault_indexer.store.catalog import (
    CatalogReader,
    CatalogWriter,
    Changes,
    PreparedNote,
    ResolvedLink,
    is_sound,
    note_rows,
)
from vault_indexer.store.catalog.integrity import record_page_checksums, sums_path
from vault_indexer.store.catalog.note_rows import ADDED, EMBEDDED, REMOVED

MODEL = "test/model/2"
ONE = b"\x00\x3c\x00\x3c"
LONG_LOG = 4 << 20

TEXT = (Path(__file__).parent / "fixtures" / "pond.md").read_text("utf-8")


def nowhere(target: str, _source: str) -> ResolvedLink:
    return ResolvedLink(target.lower(), None, ambiguous=False)


def prepared(
    path: str, text: str = TEXT, *, mtime_ns: int = 1, digests: tuple[bytes, ...] = (b"1",)
) -> PreparedNote:
    chunks = [
        Chunk(f"{path}_{n}", n, "", n, n + 1, 1, 1, text[n : n + 1], "none") for n in range(len(digests))
    ]
    rows = note_rows(parse_note(path, text.encode()), chunks, digests, [b"\x01\x00"] * len(chunks))
    row = FileRow(path, len(text), mtime_ns, 0, 0, f"of {path}", "note")
    return PreparedNote(row, rows, dict.fromkeys(digests, ONE), 0, 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "catalog.db"


@pytest.fixture
def writer(path: Path) -> Iterator[CatalogWriter]:
    with closing(CatalogWriter(path)) as writer:
        yield writer


def rows_by_table(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of a note, but for its vectors and for the log."""
    names = ("notes", "texts", "headings", "blocks", "block_spans", "tasks", "tags", "links", "chunks")
    with CatalogReader(path) as catalog:
        return {name: catalog.rows(f"SELECT * FROM {name}") for name in (*names, "chunk_words", "files")}


def put(writer: CatalogWriter, note: PreparedNote) -> int:
    with writer.commit():
        return writer.put_note(note, nowhere, MODEL)


def test_a_note_that_is_removed_leaves_its_vectors_alone(writer: CatalogWriter, path: Path) -> None:
    put(writer, prepared("other.md", digests=(b"2", b"3")))
    alone = rows_by_table(path)
    assert all(alone.values())
    put(writer, prepared("garden.md"))
    assert all(len(rows) > len(alone[name]) for name, rows in rows_by_table(path).items())
    with writer.commit():
        writer.remove_file("garden.md")
        writer.remove_file("none.md")
    assert rows_by_table(path) == alone
    with CatalogReader(path) as catalog:
        assert set(catalog.vectors(MODEL, [b"1", b"2"])) == {b"1", b"2"}
        assert catalog.changes(2) == Changes(removed={chunk_key(2, 0)})


def test_a_note_takes_the_place_of_the_former_one_under_a_new_id(writer: CatalogWriter, path: Path) -> None:
    assert put(writer, prepared("garden.md", digests=(b"1", b"2"))) == 1
    assert put(writer, prepared("garden.md", "# New\n", mtime_ns=2)) == 2
    with CatalogReader(path) as catalog:
        assert [note.note_id for note in catalog.all_notes()] == [2]
        assert catalog.links_from("garden.md") == []
        assert catalog.chunk_keys() == {chunk_key(2, 0)}
        assert catalog.changes(1) == Changes({chunk_key(2, 0)}, {chunk_key(1, 0), chunk_key(1, 1)})
        assert (catalog.seq, writer.seq) == (2, 2)
    with writer.commit():
        writer.remove_note("garden.md")
    assert put(writer, prepared("garden.md")) == 3, "no id is used again"


def test_a_file_that_is_seen_again_sets_the_time_of_its_note(writer: CatalogWriter, path: Path) -> None:
    put(writer, prepared("garden.md"))
    put(writer, prepared("other.md"))
    with writer.commit():
        writer.put_file(replace(prepared("garden.md").file, mtime_ns=7, seen_ns=8, reason="why"))
    with CatalogReader(path) as catalog:
        assert {note.path: note.mtime_ns for note in catalog.all_notes()} == {"garden.md": 7, "other.md": 1}
        seen = FileRow("garden.md", len(TEXT), 7, 0, 0, "of garden.md", "note", "why", 8)
        assert catalog.file("garden.md") == seen
    with writer.commit():
        writer.forget_digest("garden.md")
    with CatalogReader(path) as catalog:
        assert catalog.file("garden.md") == replace(seen, digest="", mtime_ns=0), "the next scan reads it"
        assert catalog.file("other.md") == prepared("other.md").file


def test_links_are_resolved_again_by_their_keys(writer: CatalogWriter, path: Path) -> None:
    put(writer, prepared("garden.md"))
    asked: list[tuple[str, str]] = []

    def resolve(target: str, source: str) -> ResolvedLink:
        asked.append((target, source))
        return ResolvedLink(target.lower(), "pond.md" if target == "Pond" else None, ambiguous=True)

    assert sorted(writer.link_keys()) == ["gone", "pond"]
    with writer.commit():
        assert writer.relink(["pond", "none"], resolve) == 2
        assert writer.relink(["pond"], resolve) == 0
        assert writer.relink(["gone"], resolve) == 1, "it has become ambiguous"
    assert asked == [("Pond", "garden.md")] * 4 + [("Gone", "garden.md")]
    with CatalogReader(path) as catalog:
        found = [(link.target, link.resolved, link.ambiguous) for link in catalog.links_from("garden.md")]
    assert found == [("Pond", "pond.md", True), ("Pond", "pond.md", True), ("Gone", None, True)]


def test_vectors_that_no_text_has_are_forgotten(writer: CatalogWriter, path: Path) -> None:
    put(writer, prepared("garden.md", digests=(b"1", b"2")))
    with writer.commit():
        writer.put_vectors({b"3": ONE, b"4": ONE}, "other/model")
        writer.put_vectors({b"1": bytes(4)}, MODEL)
        writer.put_vectors({}, "no/model")
    with writer.commit():
        assert writer.purge_vectors() == 2
        assert writer.purge_vectors() == 0
    with CatalogReader(path) as catalog:
        assert catalog.vectors(MODEL, [b"1", b"2"]) == {b"1": ONE, b"2": ONE}, "the first one stays"
        assert catalog.rows("SELECT name FROM models ORDER BY name") == [("other/model",), (MODEL,)]


def test_a_model_keeps_its_number_when_the_catalog_is_opened_again(path: Path) -> None:
    for digest in (b"1", b"2"):
        with closing(CatalogWriter(path)) as writer, writer.commit():
            writer.put_vectors({digest: ONE}, MODEL)
    with CatalogReader(path) as catalog:
        assert set(catalog.vectors(MODEL, [b"1", b"2"])) == {b"1", b"2"}
        assert catalog.seq == 2


def test_a_commit_that_sqlite_refuses_changes_nothing(writer: CatalogWriter, path: Path) -> None:
    with (
        pytest.raises(IndexUnusableError, match=f"index {re.escape(str(path))}: no such table: none"),
        writer.commit(),
    ):
        writer.put_file(prepared("lost.md").file)
        writer.release().execute("DELETE FROM none")
    with writer.commit():
        writer.put_file(prepared("kept.md").file)
    with CatalogReader(path) as catalog:
        assert [row.path for row in catalog.files()] == ["kept.md"]
        assert (catalog.seq, writer.seq) == (1, 1)


def test_a_closed_catalog_is_neither_written_nor_checkpointed(path: Path) -> None:
    writer = CatalogWriter(path)
    writer.close()
    with pytest.raises(IndexUnusableError, match="closed"), writer.commit():
        pass
    with pytest.raises(IndexUnusableError, match="closed"):
        writer.checkpoint()


def test_checksums_that_could_not_be_written_come_before_the_next_commit(
    writer: CatalogWriter, path: Path
) -> None:
    put(writer, prepared("first.md"))
    sums = sums_path(path)
    sums.rename(path.with_name("aside"))
    (sums / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match=r"catalog\.sums"):
        writer.checkpoint()
    with pytest.raises(IndexUnusableError, match=r"catalog\.sums"), writer.commit():
        pytest.fail("the log would begin again")
    (sums / "in the way").rmdir()
    sums.rmdir()
    put(writer, prepared("second.md"))
    assert is_sound(path)
    assert writer.seq == 2


@pytest.mark.parametrize(("size", "is_long"), [(0, False), (LONG_LOG, False), (LONG_LOG + 1, True)])
def test_a_log_of_some_megabytes_is_long(path: Path, size: int, is_long: bool) -> None:
    writer = CatalogWriter(path)
    put(writer, prepared("garden.md"))
    assert not writer.log_is_long
    writer.release().close()
    path.with_name("catalog.db-wal").write_bytes(b"")
    os.truncate(path.with_name("catalog.db-wal"), size)
    assert writer.log_is_long is is_long
    path.with_name("catalog.db-wal").unlink()
    assert not writer.log_is_long


def test_a_log_is_emptied_unless_a_reader_needs_it(writer: CatalogWriter, path: Path) -> None:
    log = path.with_name("catalog.db-wal")
    put(writer, prepared("first.md"))
    with CatalogReader(path):
        put(writer, prepared("second.md"))
        assert not writer.checkpoint()
        assert not writer.empty_log()
        assert log.stat().st_size
    assert writer.empty_log()
    assert log.stat().st_size == 0
    assert is_sound(path)
    with CatalogReader(path) as catalog:
        assert catalog.note_paths() == ["first.md", "second.md"]


def test_a_writer_that_closes_beside_a_reader_leaves_a_sound_catalog(path: Path) -> None:
    writer = CatalogWriter(path)
    put(writer, prepared("first.md"))
    with CatalogReader(path) as catalog:
        put(writer, prepared("second.md"))
        writer.close()
        assert catalog.note_paths() == ["first.md"]
    with closing(CatalogWriter(path)) as again:
        assert again.corruption() == ""
    with CatalogReader(path) as catalog:
        assert catalog.note_paths() == ["first.md", "second.md"]


def flip(path: Path, *pages: int) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek(4096 * (page - 1) + 2000)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 1]))


def test_damaged_pages_are_counted_and_some_of_them_named(writer: CatalogWriter, path: Path) -> None:
    put(writer, prepared("garden.md"))
    writer.checkpoint()
    assert writer.corruption() == ""
    flip(path, 2)
    assert writer.corruption() == "1 of its pages are damaged, among them 2"
    flip(path, 5, 4, 9)
    assert writer.corruption() == "4 of its pages are damaged, among them 2, 4, 5"
    assert writer.empty_log()
    assert writer.corruption() == "4 of its pages are damaged, among them 2, 4, 5"
    assert not is_sound(path)


def test_a_damaged_catalog_is_not_opened_to_be_written(path: Path) -> None:
    with closing(CatalogWriter(path)) as writer:
        put(writer, prepared("garden.md"))
    flip(path, 3, 4)
    with pytest.raises(DamagedError, match=f"index {re.escape(str(path))}: 2 of its pages are damaged"):
        CatalogWriter(path)
    flip(path, 3, 4)
    with closing(CatalogWriter(path)) as writer:
        assert writer.seq == 1
    sums_path(path).unlink()
    with pytest.raises(DamagedError, match="cannot verify checksums"):
        CatalogWriter(path)


def test_a_new_catalog_says_of_which_version_it_is(writer: CatalogWriter, path: Path) -> None:
    with CatalogReader(path) as catalog:
        assert dict(catalog.rows("SELECT key, value FROM meta")) == {"version": 4, "seq": 0, "trimmed": 0}
    assert writer.seq == 0


def test_every_sync_of_a_commit_is_a_full_one(writer: CatalogWriter) -> None:
    for pragma, value in (("synchronous", 2), ("fullfsync", 1)):
        assert writer._db.execute(f"PRAGMA {pragma}").fetchone() == (value,)


def test_a_build_writes_no_log_and_leaves_a_sound_catalog(path: Path) -> None:
    writer = CatalogWriter(path, bulk=True)
    with writer.commit():
        assert writer.put_note(prepared("garden.md"), nowhere, MODEL, 7) == 7
    with writer.commit():
        writer.remove_note("none.md")
        writer.put_note(prepared("garden.md"), nowhere, MODEL)
    assert not path.with_name("catalog.db-wal").exists()
    writer.close()
    assert is_sound(path)
    with CatalogReader(path) as catalog:
        assert catalog.note_ids() == [8]
        assert catalog.rows("SELECT * FROM changes") == []
        assert catalog.rows("PRAGMA journal_mode") == [("wal",)]
        assert (catalog.changes(1), catalog.changes(2)) == (None, Changes())


def linked(path: str) -> FileRow:
    return FileRow(path, 1, 1, 0, 0, "", "linked")


def test_files_of_several_places_come_by_path_each_once(writer: CatalogWriter, path: Path) -> None:
    paths = ["b/z.md", "b/a.md", "b.md", "a/x.md", "b0.md", "c.md", "a/b/y.md"]
    with writer.commit():
        for one in paths:
            writer.put_file(linked(one))
    with CatalogReader(path) as catalog:
        within = [row.path for row in catalog.files_within(["b", "a", "a/b", "c.md"])]
        assert within == ["a/b/y.md", "a/x.md", "b/a.md", "b/z.md", "c.md"]
        assert [row.path for row in catalog.files()] == sorted(paths)


def test_a_log_that_cannot_be_trimmed_stays_and_the_catalog_can_be_written(
    writer: CatalogWriter, path: Path
) -> None:
    full = "CREATE TRIGGER full BEFORE DELETE ON changes BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
    with closing(sqlite3.connect(path)) as other:
        other.execute("INSERT INTO changes VALUES (1, 7, 1)")
        other.execute(full)
        other.commit()
    with pytest.raises(IndexUnusableError, match="disk is full"):
        writer.trim_changes(1)
    with writer.commit():
        writer.put_file(linked("after.md"))
    with CatalogReader(path) as catalog:
        assert [row.path for row in catalog.files()] == ["after.md"]
        assert catalog.rows("SELECT seq, key FROM changes WHERE key = 7") == [(1, 7)]


_numbers = count()


def put_note(writer: CatalogWriter, path: str, *, chunks: int = 2, has_vectors: bool = True) -> None:
    """A note of chunks whose texts nobody else has."""
    note = prepared(path, digests=tuple(f"{next(_numbers):06}".encode() for _ in range(chunks)))
    writer.put_note(note if has_vectors else replace(note, vectors={}), nowhere, MODEL)


def changes_since(path: Path, seq: int) -> Changes | None:
    with CatalogReader(path) as catalog:
        return catalog.changes(seq)


STEPS = st.lists(
    st.tuples(st.sampled_from(("vectors", "words", "remove", "embed", "nothing")), st.sampled_from("ab")),
    max_size=8,
)


@given(steps=STEPS)
def test_changes_lead_from_any_state_to_the_last(steps: list[tuple[str, str]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "catalog.db"
        states: list[tuple[int, set[int], set[int]]] = []
        with closing(CatalogWriter(path)) as writer:
            for kind, name in steps:
                with CatalogReader(path) as catalog:
                    owed = catalog.missing_vectors(MODEL)
                    states.append((catalog.seq, catalog.chunk_keys(), set(owed)))
                with writer.commit():
                    if kind in ("vectors", "words"):
                        put_note(writer, name, has_vectors=kind == "vectors")
                    elif kind == "remove":
                        writer.remove_note(name)
                    elif kind == "embed":
                        writer.put_vectors(dict.fromkeys(owed.values(), ONE), MODEL)
                        writer.log_embedded(owed)
        with CatalogReader(path) as catalog:
            keys, owed_now = catalog.chunk_keys(), set(catalog.missing_vectors(MODEL))
            for seq, before, owed_before in states:
                changes = catalog.changes(seq)
                assert changes is not None
                assert (before - changes.removed) | changes.added == keys
                assert changes.added.isdisjoint(before)
                assert changes.removed <= before
                assert (owed_before & keys) - owed_now <= changes.embedded <= keys - owed_now


def test_a_log_reaches_back_to_where_it_was_trimmed_and_never_further(
    writer: CatalogWriter, path: Path
) -> None:
    for _ in range(3):
        with writer.commit():
            put_note(writer, "a", chunks=1)
    assert changes_since(path, 0) is not None
    writer.trim_changes(2)
    writer.trim_changes(1)  # by an index that is further behind
    assert changes_since(path, 1) is None
    changes = changes_since(path, 2)
    assert changes is not None
    assert (len(changes.added), len(changes.removed)) == (1, 1)
    assert changes_since(path, 4) is None, "a state that the catalog has lost is compared"


def test_a_catalog_of_before_says_how_far_its_log_reaches_once_it_is_written(path: Path) -> None:
    """Builds did not record it: what is there is a log that begins after the build, or none."""
    with closing(CatalogWriter(path, bulk=True)) as writer, writer.commit():
        put_note(writer, "a")
    for since, reaches in ((0, False), (1, True)):
        with closing(sqlite3.connect(path)) as other:
            other.execute("DELETE FROM meta WHERE key = 'trimmed'")
            other.commit()
        record_page_checksums(path)
        with closing(CatalogWriter(path)) as writer:
            assert (changes_since(path, since) is not None) is reaches
            with writer.commit():
                put_note(writer, "a")
            assert (changes_since(path, since) is not None) is reaches


def test_a_chunk_that_came_and_went_is_in_no_set() -> None:
    changes = Changes()
    assert not Changes().touches_text
    for key, operation in ((1, EMBEDDED), (2, EMBEDDED), (2, REMOVED), (3, ADDED), (3, EMBEDDED)):
        changes.note(key, operation)
    assert changes == Changes({3}, {2}, {1, 3})
    assert changes.touches_text
    changes.note(3, REMOVED)
    assert changes == Changes(set(), {2}, {1})
    assert changes.touches_text
    assert Changes(added={1}).touches_text
    assert not Changes(embedded={1}).touches_text
