"""What a reader says of the notes and files of a catalog, each row and column of it."""

import json
import re
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from vault_indexer.errors import DamagedError, IndexUnusableError
from vault_indexer.model import (
    QUARANTINED,
    SPLIT_WITHOUT_MODEL,
    Chunk,
    ChunkRow,
    FileRow,
    Heading,
    IndexCounts,
    LinkRow,
    NoteRow,
    SkippedFile,
    chunk_key,
)
from vault_indexer.parse import Task, parse_note
from vault_indexer.store.catalog import (
    CatalogCache,
    CatalogReader,
    CatalogWriter,
    PreparedNote,
    ResolvedLink,
    export_lines,
    note_rows,
)

MODEL, OTHER_MODEL = "test/model/2", "test/other/2"
ONE, ZERO = b"\x00\x3c\x00\x3c", bytes(4)

GARDEN = (Path(__file__).parent / "fixtures" / "garden.md").read_text("utf-8")
POND = "# Pond\n\nWater.\n"
LAST = "Words.\n"


def resolve(target: str, _source: str) -> ResolvedLink:
    found = {"Pond": "b/Pond.md", "Pond.md": "b/Pond.md"}.get(target)
    return ResolvedLink(target.lower(), found, ambiguous=target == "Pond.md")


def chunk(note: str, number: int, start: int, end: int, text: str, **more: object) -> Chunk:
    made = Chunk(
        f"{note}_{number}", number, note, start, end, number + 1, number + 2, text[start:end], "heading"
    )
    return replace(made, **more)  # type: ignore[arg-type]


def put(
    writer: CatalogWriter,
    file: FileRow,
    text: str,
    chunks: Sequence[Chunk] = (),
    *,
    hashes: Sequence[bytes | None] = (),
    words: Sequence[bytes] = (),
    vectors: dict[bytes, bytes] | None = None,
    language: str = "",
) -> int:
    note = replace(parse_note(file.path, text.encode()), language=language)
    rows = note_rows(note, chunks, hashes, words)
    with writer.commit():
        return writer.put_note(PreparedNote(file, rows, vectors or {}, 0, 0), resolve, MODEL)


def file(path: str, mtime_ns: int = 1, state: str = "note", reason: str = "") -> FileRow:
    return FileRow(path, 10, mtime_ns, 20, 30, f"digest of {path}", state, reason, 40)


GARDEN_CHUNKS = [
    chunk("Garden", 0, 0, len(GARDEN), GARDEN, extra={"level": 0}, embed=False),
    chunk("Garden", 1, 60, 90, GARDEN, extra={"level": 1}, overlap="o", context="c", preamble="p"),
    chunk("Garden", 2, 90, 100, GARDEN, extra={"level": 1}),
]
POND_CHUNKS = [chunk("Pond", 0, 0, 6, POND, extra={"level": 0}), chunk("Pond", 1, 8, 14, POND)]
WORDS = [b"\x01\x00", b"", b"\x02\x00\x03\x00"]
LAST_CHUNKS = [chunk("Last", 0, 0, 6, LAST)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Notes 1 to 3, of which the last has no vector, and five more files."""
    path = tmp_path_factory.mktemp("catalog") / "catalog.db"
    with closing(CatalogWriter(path)) as writer:
        garden, own = file("a/Garden.md", 5), {b"g1": ONE, b"g2": ZERO}
        digests = [None, *own]
        put(writer, garden, GARDEN, GARDEN_CHUNKS, hashes=digests, words=WORDS, vectors=own, language="en")
        pond = file("b/Pond.md", 6, reason=SPLIT_WITHOUT_MODEL)
        put(writer, pond, POND, POND_CHUNKS, hashes=[b"p0", b"p1"], vectors={b"p0": ONE})
        put(writer, file("c/Pond.md", 7), LAST, LAST_CHUNKS, hashes=[b"l0"])
        with writer.commit():
            writer.put_vectors({b"l0": ONE}, OTHER_MODEL)
            for row in (
                file("z/slow.md", 8, "skipped", f"{QUARANTINED}it took too long"),
                file("z/big.md", 9, "skipped", "too large"),
                file("z/Set aside.md", 9, "note", f"{QUARANTINED}but read"),
                file("z/pic.png", 2, "linked"),
                file("a/pic.png", 3, "linked"),
            ):
                writer.put_file(row)
            writer.put_blob("weights", b"one")
            writer.put_blob("weights", b"two")
    return path


@pytest.fixture(scope="module")
def catalog(path: Path) -> Iterator[CatalogReader]:
    with CatalogReader(path) as catalog:
        yield catalog


K = [chunk_key(note, ordinal) for note, ordinal in ((1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (3, 0))]


def test_notes_are_found_by_path_and_by_id(catalog: CatalogReader) -> None:
    note = catalog.note("a/Garden.md")
    properties = '{"aliases":["Beds"],"tags":["Area/Green","area/green","soil"]}'
    tags = note.tags_json if note else ""
    assert note == NoteRow(1, "a/Garden.md", "Garden", "en", properties, '["Beds"]', tags, 5)
    assert (note.aliases, note.tags[0], note.tags[-1]) == (("Beds",), "Area/Green", "soil")
    assert catalog.note("a/none.md") is None
    assert catalog.notes([3, 1, 9]) == {1: note, 3: catalog.note("c/Pond.md")}
    assert [row.path for row in catalog.all_notes()] == ["a/Garden.md", "b/Pond.md", "c/Pond.md"]
    assert catalog.note_paths() == ["a/Garden.md", "b/Pond.md", "c/Pond.md"]
    assert catalog.note_ids() == [1, 2, 3]
    assert catalog.modified_times([2, 3, 9]) == {2: 6, 3: 7}
    assert catalog.notes_by_language() == {"en": 1, "": 2}
    assert catalog.languages().counts == {"en": 1}


def test_titles_that_several_notes_have(catalog: CatalogReader) -> None:
    assert catalog.shared_titles(["Pond", "Garden", "None"]) == {"Pond"}
    assert catalog.shared_titles(["Garden"]) == frozenset()


def test_everything_is_counted(catalog: CatalogReader) -> None:
    assert catalog.counts() == IndexCounts(3, 6, 3, 1)
    assert catalog.counts() is catalog.counts()
    assert catalog.file_count() == 8
    assert catalog.seq == 4


def test_files_are_as_last_seen(catalog: CatalogReader) -> None:
    assert catalog.file("z/big.md") == file("z/big.md", 9, "skipped", "too large")
    assert catalog.file("z/none.md") is None
    assert [row.path for row in catalog.files()] == [
        *("a/Garden.md", "a/pic.png", "b/Pond.md", "c/Pond.md", "z/Set aside.md", "z/big.md", "z/pic.png"),
        "z/slow.md",
    ]
    assert catalog.top_folders() == ["a", "b", "c", "z"]
    found = catalog.files_at(["z/pic.png", "none", "a/pic.png"])
    assert found == {"z/pic.png": file("z/pic.png", 2, "linked"), "a/pic.png": file("a/pic.png", 3, "linked")}
    assert catalog.attachments().paths == ("z/big.md", "z/slow.md", "a/pic.png", "z/pic.png")
    assert list(catalog.attachments().times) == [9, 8, 3, 2]


def test_files_with_a_reason_are_told_apart_by_their_state(catalog: CatalogReader) -> None:
    assert catalog.skipped_files() == (
        SkippedFile("b/Pond.md", SPLIT_WITHOUT_MODEL, is_indexed=True),
        SkippedFile("z/Set aside.md", f"{QUARANTINED}but read", is_indexed=True),
        SkippedFile("z/big.md", "too large"),
        SkippedFile("z/slow.md", f"{QUARANTINED}it took too long"),
    )
    assert catalog.skipped_files() is catalog.skipped_files()
    assert catalog.notes_without_model() == {"b/Pond.md": "digest of b/Pond.md"}
    assert catalog.quarantine() == {"z/slow.md": (8, "digest of z/slow.md")}


def test_texts_come_as_they_were_indexed(catalog: CatalogReader) -> None:
    assert catalog.text(2) == POND
    assert catalog.text(9) == ""
    assert catalog.texts([1, 3, 9]) == {1: GARDEN, 3: LAST}
    assert catalog.encoded_texts([3], evict=False) == {3: LAST.encode()}


def test_chunks_come_with_all_that_was_stored_of_them(catalog: CatalogReader) -> None:
    parent, *children = GARDEN_CHUNKS
    linking = replace(parent, wikilinks=("Pond", "Nowhere"), markdown_links=("Pond.md",))
    stored = [ChunkRow(key, 1, one) for key, one in zip(K[:3], (linking, *children), strict=True)]
    assert catalog.chunks_of(1) == stored
    assert catalog.chunks([K[1], K[4], 7]) == {K[1]: stored[1], K[4]: ChunkRow(K[4], 2, POND_CHUNKS[1])}
    assert catalog.chunks_of(9) == []
    assert catalog.chunk_shapes(K) == {K[1]: (1, 30), K[2]: (2, 10), K[3]: (0, 6), K[4]: (1, 6), K[5]: (0, 6)}
    by_path = catalog.chunk_keys_at(["b/Pond.md", "none.md", "a/Garden.md"])
    assert by_path == {"b/Pond.md": tuple(K[3:5]), "a/Garden.md": tuple(K[:3])}


def test_keys_of_chunks_by_what_is_done_with_them(catalog: CatalogReader) -> None:
    """A parent whose text is embedded takes part in rankings; one that is context alone does not."""
    assert catalog.chunk_key_array().tolist() == K[1:]
    assert catalog.chunk_keys() == set(K[1:])
    assert catalog.embedded_keys().tolist() == K[1:]
    assert catalog.keys_of_level(0).tolist() == [K[0], K[3]]
    assert catalog.keys_of_level(1).tolist() == K[1:3]
    assert catalog.embedded_count() == 5


def test_a_vector_counts_for_its_model_alone(catalog: CatalogReader) -> None:
    assert catalog.vectors(MODEL, [b"g1", b"g2", b"p1", b"l0"]) == {b"g1": ONE, b"g2": ZERO}
    assert catalog.vectors(OTHER_MODEL, [b"g1", b"l0"]) == {b"l0": ONE}
    assert catalog.vectors("none", [b"g1"]) == {}
    assert catalog.chunk_vectors(MODEL, [*K, 7]) == [(K[1], ONE), (K[2], ZERO), (K[3], ONE)]
    assert list(catalog.all_chunk_vectors(MODEL)) == [(K[1], ONE), (K[2], ZERO), (K[3], ONE)]
    assert catalog.nonzero_vector_keys(MODEL) == [K[1], K[3]]
    assert catalog.missing_vectors(MODEL) == {K[4]: b"p1", K[5]: b"l0"}
    assert list(catalog.missing_vectors(OTHER_MODEL)) == K[1:5]
    assert catalog.missing_vectors(MODEL, [K[5], K[1]]) == {K[5]: b"l0"}
    assert catalog.missing_vectors(MODEL, []) == {}
    assert (catalog.missing_count(MODEL), catalog.missing_count(OTHER_MODEL)) == (2, 4)
    assert catalog.newest_missing(MODEL, 9) == [K[5], K[4]]
    assert catalog.newest_missing(MODEL, 1) == [K[5]]


def test_headings_in_quotes_are_no_part_of_the_outline(catalog: CatalogReader) -> None:
    found = catalog.headings(1)
    outline = [(one.level, one.text, one.nested) for one in found]
    assert outline == [(1, "Garden", False), (2, "Quoted", True), (2, "Beans", False)]
    garden, _, beans = found
    assert catalog.sections([1, 3, 9]) == {1: ((garden,), (garden, beans)), 3: (), 9: ()}
    assert isinstance(found[1], Heading)
    assert found[1].nested is True
    assert catalog.headings_above(1, len(GARDEN)) == (garden, beans)
    assert catalog.headings_between(1, garden.start + 1, beans.start) == []
    assert catalog.headings_between(1, garden.start, beans.start + 1) == [garden, beans]


def test_the_words_of_chunks(path: Path, catalog: CatalogReader) -> None:
    wanted = dict(zip(K[:3], WORDS, strict=True))
    assert catalog.chunk_words(K) == wanted
    cache = CatalogCache()
    with CatalogReader(path, cache) as fresh:
        fresh.load_chunk_words()
        assert {key: cache.words.peek(key) for key in K[:3]} == wanted


def test_blocks_and_tasks_are_known_without_the_text(catalog: CatalogReader) -> None:
    spans = catalog.block_spans([1, 2, 9])
    assert [POND[start:end] for start, end in spans[2]] == ["# Pond", "Water."]
    assert set(spans) == {1, 2}
    dig, sow = GARDEN.index("- [ ] dig"), GARDEN.index("- [x] sow")
    tasks = catalog.tasks([1, 2, 9])
    assert tasks[2] == []
    assert set(tasks) == {1, 2}
    assert [(task.start, task.is_done) for task in tasks[1]] == [(dig, False), (sow, True)]
    assert all(isinstance(task, Task) and isinstance(task.is_done, bool) for task in tasks[1])
    assert catalog.notes_with_task([True]) == catalog.notes_with_task([False, True]) == [1]
    assert catalog.notes_with_task([]) == []


def test_links_come_in_the_order_of_the_text(catalog: CatalogReader) -> None:
    line = GARDEN[: GARDEN.index("[[Pond]]")].count("\n") + 1
    path, pond = "a/Garden.md", "b/Pond.md"
    assert catalog.links_from(path) == [
        LinkRow(1, 0, path, "wikilink", "Pond", "", None, line, "pond", pond, False),
        LinkRow(1, 1, path, "markdown", "Pond.md", "edge", "there|The pond", line, "pond.md", pond, True),
        LinkRow(1, 2, path, "wikilink", "Nowhere", "", None, line, "nowhere", None, False),
    ]
    assert catalog.links_from("b/Pond.md") == []


def test_a_named_value_is_the_one_that_was_kept_last(catalog: CatalogReader) -> None:
    assert catalog.blob("weights") == b"two"
    assert catalog.blob("none") is None


def test_the_export_has_a_line_for_each_file_and_each_note(catalog: CatalogReader) -> None:
    lines = list(export_lines(catalog))
    read = [json.loads(line) for line in lines]
    assert lines == [json.dumps(one, sort_keys=True, separators=(",", ":")) for one in read]
    files, notes = read[:8], read[8:]
    big = {"file": "z/big.md", "size": 10, "digest": "digest of z/big.md"}
    assert files[5] == big | {"state": "skipped", "reason": "too large"}
    garden = notes[0]
    assert [one["note"] for one in notes] == ["a/Garden.md", "b/Pond.md", "c/Pond.md"]
    assert (garden["title"], garden["language"], garden["text"]) == ("Garden", "en", GARDEN)
    assert garden["aliases"] == garden["frontmatter"]["aliases"] == ["Beds"]
    assert [row[1] for row in garden["headings"]] == ["Garden", "Quoted", "Beans"]
    assert [row[0] for row in garden["blocks"]] == ["sown"]
    leads = [(row[1], row[-2], row[-1]) for row in garden["links"]]
    assert leads == [("Pond", "b/Pond.md", 0), ("Pond.md", "b/Pond.md", 1), ("Nowhere", None, 0)]
    chunks = garden["chunks"]
    assert [one["text_hash"] for one in chunks] == ["", b"g1".hex().upper(), b"g2".hex().upper()]
    assert [one["preamble"] for one in chunks] == ["", "p", ""]
    assert all("content" not in one and "chunk_id" in one for one in chunks)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 499, 500, 501, 1001])
def test_a_list_of_any_length_is_looked_up(catalog: CatalogReader, count: int) -> None:
    numbers = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1001)"
    sql = f"{numbers} SELECT x FROM n WHERE x IN (%s) AND x != ?"
    wanted = range(1, count + 1)
    found = [x for (x,) in catalog.rows_in(sql, wanted, 2)]
    assert sorted(found) == [x for x in wanted if x != 2]


def test_rows_come_in_batches_that_hold_all_of_them(catalog: CatalogReader) -> None:
    numbers = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ?) SELECT x FROM n"
    batches = list(catalog.batches(numbers, (10_000,)))
    assert [row[0] for batch in batches for row in batch] == list(range(1, 10_001))
    assert len(batches) > 1
    assert all(batches)


def test_what_sqlite_refuses_names_the_catalog(path: Path) -> None:
    with CatalogReader(path) as catalog:
        for read in (catalog.rows, lambda sql: list(catalog.batches(sql))):
            with pytest.raises(
                IndexUnusableError, match=f"index {re.escape(str(path))}: no such table: none"
            ):
                read("SELECT * FROM none")
        with pytest.raises(IndexUnusableError, match="readonly"):
            catalog.rows("DELETE FROM notes")


def copy_of(path: Path, folder: Path, *statements: str) -> Path:
    """A copy of the catalog that somebody else has changed."""
    copy = folder / "copy.db"
    copy.write_bytes(path.read_bytes())
    with closing(sqlite3.connect(copy)) as other:
        for statement in statements:
            other.execute(statement)
        other.commit()
    return copy


THREE_BYTES, ONE_NUMBER, NOT_UTF_8 = (zlib.compress(one).hex() for one in (bytes(3), bytes(4), b"\xff"))


@pytest.mark.parametrize(
    ("damage", "method", "told"),
    [
        ("UPDATE texts SET text = x'00'", "texts", "text of note 1"),
        ("UPDATE block_spans SET spans = x'00'", "block_spans", "spans of blocks"),
        (f"UPDATE texts SET text = x'{NOT_UTF_8}'", "texts", "not UTF-8"),
        (f"UPDATE block_spans SET spans = x'{THREE_BYTES}'", "block_spans", "spans of blocks"),
        (f"UPDATE block_spans SET spans = x'{ONE_NUMBER}'", "block_spans", "spans of blocks"),
    ],
)
def test_a_value_that_cannot_be_unpacked_is_damage(
    path: Path, tmp_path: Path, damage: str, method: str, told: str
) -> None:
    with CatalogReader(copy_of(path, tmp_path, damage)) as catalog, pytest.raises(DamagedError, match=told):
        getattr(catalog, method)([1])


def test_an_earlier_catalog_says_of_places_titles_and_words_that_it_does_not_know(
    path: Path, tmp_path: Path
) -> None:
    gone = ("TABLE block_spans", "TABLE tasks", "TABLE chunk_words", "INDEX notes_by_title")
    drops = [f"DROP {one}" for one in gone]
    with CatalogReader(copy_of(path, tmp_path, *drops)) as catalog:
        assert catalog.block_spans([1]) == {}
        assert catalog.tasks([1]) == {}
        assert sorted(catalog.notes_with_task([True])) == [1, 2, 3]
        assert catalog.chunk_words(K) == {}
        catalog.load_chunk_words()
        assert catalog.shared_titles(["Pond"]) == frozenset()
        assert catalog.text(3) == LAST


def test_notes_stored_before_places_were_kept_may_have_a_task(path: Path, tmp_path: Path) -> None:
    with CatalogReader(copy_of(path, tmp_path, "DELETE FROM block_spans WHERE note_id = 3")) as catalog:
        assert catalog.notes_with_task([True]) == [1, 3]
        assert set(catalog.tasks([1, 2, 3])) == {1, 2}
        assert set(catalog.block_spans([1, 2, 3])) == {1, 2}


def test_keys_with_a_gap_are_all_found(path: Path, tmp_path: Path) -> None:
    with CatalogReader(copy_of(path, tmp_path, f"DELETE FROM chunks WHERE key = {K[1]}")) as catalog:
        assert catalog.embedded_keys().tolist() == K[2:]
        assert catalog.chunk_key_array().tolist() == K[2:]


def test_a_file_that_is_no_catalog_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no database, but long enough to be looked at " * 30)
    with pytest.raises(DamagedError, match="not a database"):
        CatalogReader(tmp_path / "text.db")
    with closing(sqlite3.connect(tmp_path / "empty.db")) as other:
        other.execute("CREATE TABLE meta (key, value)")
    with pytest.raises(IndexUnusableError):
        CatalogReader(tmp_path / "empty.db")
    with pytest.raises(IndexUnusableError, match="unable to open"):
        CatalogReader(tmp_path / "none.db")
