"""The rows of a note: what is packed comes back, through a catalog in memory and as published bytes, too."""

import json
import zlib
from contextlib import closing
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_gateway.candidates import snapshot_of_notes
from vault_gateway.published_note import PublishedNote, pack_note, unpack_note
from vault_indexer.model import Chunk, FileRow, chunk_key
from vault_indexer.parse import parse_note
from vault_indexer.store import VaultStatistics
from vault_indexer.store.catalog import NoteTableRows, StoredNote, catalog_of, note_rows, stored_notes
from vault_indexer.store.catalog.note_rows import pack_spans, unpack_spans
from vault_indexer.store.keywords import Vocabulary

TEXT = """---
aliases: [Beds, Ñandú]
tags: [Soil, soil, area/green]
secret: words
---
# Garden

- [ ] dig ^dig

[[Pond|the pond]] and [[Gone]]
"""
ONE, TWO = b"\x00\x3c\x00\x3c", b"\x00\x3c\x00\x00"


def rows_of(path: str = "a/Garden.md", text: str = TEXT) -> NoteTableRows:
    chunks = [
        Chunk("g0", 0, "Garden", 0, 9, 1, 2, text[:9], "heading", extra={"level": 0}, embed=False),
        Chunk("g1", 1, "Garden > é", 9, 20, 2, 3, text[9:20], "semantic", "over", "context", "before"),
    ]
    note = parse_note(path, text.encode())
    return note_rows(note, chunks, [None, b"digest"], [b"", b"\x01\x00\x07\x00"])


@given(st.lists(st.integers(0, 2**31 - 1), max_size=20).map(sorted))
def test_spans_come_back(positions: list[int]) -> None:
    spans = list(zip(positions[::2], positions[1::2], strict=False))
    assert unpack_spans(pack_spans(spans)) == spans


def test_each_part_of_a_note_has_its_rows() -> None:
    rows = rows_of()
    title, language, frontmatter, aliases, tags, diagnostics = rows.note
    assert (rows.path, title, language) == ("a/Garden.md", "Garden", "")
    assert json.loads(str(frontmatter))["secret"] == "words"
    assert str(aliases) == '["Beds","Ñandú"]'
    assert json.loads(str(tags))[-1] == "area/green"
    assert diagnostics == "[]"
    assert zlib.decompress(rows.text).decode() == TEXT
    assert rows.headings == [(1, "Garden", TEXT.index("# Garden"), TEXT.index("\n\n- ["), 6, False)]
    assert [row[0] for row in rows.blocks] == ["dig"]
    assert rows.tags == ["area/green", "soil"]
    assert [row[:4] for row in rows.links] == [
        ("wikilink", "Pond", "", "the pond"),
        ("wikilink", "Gone", "", None),
    ]
    assert [(start, done) for start, _, done in rows.tasks] == [(TEXT.index("- [ ] dig"), False)]
    assert rows.chunks == [
        ("g0", 0, "Garden", 0, 9, 1, 2, "heading", "", "", "", '{"level":0}', None),
        ("g1", 1, "Garden > é", 9, 20, 2, 3, "semantic", "over", "context", "before", "{}", b"digest"),
    ]
    assert rows.strategies == {"heading", "semantic"}
    assert rows.words == [b"", b"\x01\x00\x07\x00"]


def stored(note_id: int = 7, path: str = "a/Garden.md") -> StoredNote:
    return StoredNote(note_id, 99, rows_of(path), ("b/Pond.md", None))


def test_notes_of_a_catalog_in_memory_are_those_that_were_put_into_it() -> None:
    notes = [stored(), stored(3, "b/Other.md")]
    with closing(catalog_of(notes)) as catalog:
        found = list(stored_notes(catalog, [9, 7, 3, 7]))
        assert [file.path for file in catalog.files()] == ["a/Garden.md", "b/Other.md"]
        assert catalog.file("a/Garden.md") == FileRow("a/Garden.md", 0, 99, 0, 0, "", "note")
        assert [link.resolved for link in catalog.links_from("a/Garden.md")] == ["b/Pond.md", None]
        assert [link.ambiguous for link in catalog.links_from("a/Garden.md")] == [False, False]
        assert catalog.seq == 1
    assert [one.note_id for one in found] == [3, 7]
    assert [one.modified_ns for one in found] == [99, 99]
    for made, kept in zip(found, reversed(notes), strict=True):
        assert made.resolved == kept.resolved
        for each in fields(NoteTableRows):
            assert list(getattr(made.rows, each.name)) == list(getattr(kept.rows, each.name)), each.name


def test_a_note_with_diagnostics_and_one_without_anything() -> None:
    odd = note_rows(parse_note("a.md", b"---\n{: x\n---\nWords\n"), (), ())
    found = json.loads(str(odd.note[-1]))
    assert found
    assert all(kind and detail is not None and isinstance(line, int) for kind, detail, line in found)
    bare = StoredNote(1, 2, note_rows(parse_note("a.md", b""), (), ()), ())
    with closing(catalog_of([bare])) as catalog:
        (note,) = stored_notes(catalog, [1])
    assert (note.rows.headings, note.rows.tasks, note.rows.tags, note.rows.words) == ((), (), [], ())
    assert note.resolved == ()


def published(note_id: int = 7) -> PublishedNote:
    first = chunk_key(note_id, 0)
    terms = {
        first + 1: {"content": ["dig", "dig", "pond"], "title": ["garden"]},
        first: {"content": ["soil"]},
    }
    return PublishedNote(stored(note_id), terms, {first: ONE, first + 1: TWO})


def test_a_published_note_comes_back_with_its_terms_counted() -> None:
    note = published()
    assert (note.note_id, note.keys) == (7, (chunk_key(7, 0), chunk_key(7, 1)))
    found = unpack_note(9, pack_note(note, with_text=True), 2)
    first = chunk_key(9, 0)
    assert found.has_text
    assert found.stored.note_id == 9
    assert found.stored.modified_ns == 99
    assert found.stored.resolved == ("b/Pond.md", None)
    assert dict(found.documents) == {
        first: {"content": {"soil": 1}},
        first + 1: {"content": {"dig": 2, "pond": 1}, "title": {"garden": 1}},
    }
    assert found.vectors == ((first, ONE), (first + 1, TWO))
    assert zlib.decompress(found.stored.rows.text).decode() == TEXT
    for name in ("path", "note", "headings", "blocks", "block_spans", "tasks", "tags", "links", "words"):
        assert list(getattr(found.stored.rows, name)) == list(getattr(note.stored.rows, name)), name
    assert [row[:-1] for row in found.stored.rows.chunks] == [row[:-1] for row in note.stored.rows.chunks]
    assert [row[-1] for row in found.stored.rows.chunks] == [None, b"\1"]


def test_without_text_places_and_words_stay_and_all_else_goes() -> None:
    note = published()
    found = unpack_note(7, pack_note(note, with_text=False), 2)
    rows, kept = found.stored.rows, note.stored.rows
    assert not found.has_text
    assert zlib.decompress(rows.text).decode() == "\n".join(" " * len(line) for line in TEXT.split("\n"))
    assert rows.note == (*kept.note[:2], "{}", *kept.note[3:])
    assert (rows.links, found.stored.resolved) == ([], ())
    assert [row[8:11] for row in rows.chunks] == [("", "", ""), ("", "", "")]
    assert [row[:8] for row in rows.chunks] == [row[:8] for row in kept.chunks]
    assert (rows.headings, list(rows.tags)) == (kept.headings, list(kept.tags))
    assert dict(found.documents)[chunk_key(7, 1)]["content"] == {"dig": 2, "pond": 1}


def test_vectors_of_another_length_and_another_format_are_refused() -> None:
    data = pack_note(published(), with_text=True)
    wrong = [(data, 3), *((damaged, 2) for n in (1, 4, 8) for damaged in (data[:-n], data + bytes(n)))]
    for damaged, dimension in wrong:
        with pytest.raises(ValueError, match="the vectors of a published note have another length"):
            unpack_note(7, damaged, dimension)
    for number in (0, 2):
        with pytest.raises(ValueError, match=f"cannot be read: a published note of format {number}"):
            unpack_note(7, bytes([number]) + data[1:], 2)


def test_a_note_of_more_than_64_mib_of_json_is_refused() -> None:
    data = pack_note(replace(published(), vectors={}), with_text=True)
    content = zlib.decompress(data[5:])

    def padded(size: int) -> bytes:
        packed = zlib.compress(b" " * (size - len(content)) + content, 1)
        return data[:1] + len(packed).to_bytes(4, "little") + packed

    assert unpack_note(7, padded(64 << 20), 2).stored.rows.path == "a/Garden.md"
    with pytest.raises(ValueError, match="a published note cannot be read"):
        unpack_note(7, padded((64 << 20) + 1), 2)


STATISTICS = VaultStatistics(
    12,
    {"de": 3, "en": 9, "": 4},
    Vocabulary.of({"garden": 3, "~gard": 4}),
    np.array([[1, 0], [0.5, 2]], np.float32),
)


def test_statistics_come_back_as_they_were() -> None:
    found = VaultStatistics.from_bytes(STATISTICS.to_bytes("one"))
    assert (found.documents, found.notes_by_language) == (12, {"de": 3, "en": 9, "": 4})
    assert found.languages.in_order == ("en", "de")
    assert found.languages.shares == {"en": 0.75, "de": 0.25}
    assert (found.vocabulary.frequency("garden"), found.vocabulary.frequency("~gard")) == (3, 4)
    assert found.background.tolist() == [[1, 0], [0.5, 2]]
    assert found.background.dtype == np.float32
    assert STATISTICS.to_bytes("one") != STATISTICS.to_bytes("other")


def test_statistics_that_are_cut_or_none_are_refused() -> None:
    whole = replace(STATISTICS, background=np.empty((0, 2), np.float32)).to_bytes("one")
    assert VaultStatistics.from_bytes(whole).background.shape == (0, 2)
    for data in (*(whole[:-cut] for cut in (1, 5, 30, 60)), b"", b"x" * 40, b"\x00" * 8):
        with pytest.raises(ValueError, match="statistics of a vault cannot be read"):
            VaultStatistics.from_bytes(data)


def test_chosen_notes_are_one_state_with_the_statistics_of_their_vault() -> None:
    notes = [unpack_note(number, pack_note(published(number), with_text=True), 2) for number in (9, 7)]
    notes[0] = replace(notes[0], stored=replace(notes[0].stored, rows=rows_of("b/Other.md")))
    snapshot = snapshot_of_notes(notes, STATISTICS, 2)
    with closing(snapshot.catalog):
        assert (snapshot.seq, snapshot.languages) == (1, ("en", "de"))
        assert snapshot.catalog.note_ids() == [7, 9]
        keys = [chunk_key(note, at) for note in (7, 9) for at in (0, 1)]
        assert snapshot.keywords.keys.tolist() == snapshot.vectors.keys.tolist() == keys
        assert snapshot.vectors.background is STATISTICS.background
        assert snapshot.statistics is STATISTICS
        assert snapshot.keywords.lexicon.with_prefix("g", 9) == [("garden", 3)]
        assert snapshot.graph.neighbours(["a/Garden.md"]) == {"a/Garden.md": {"b/Pond.md"}}
    with closing((bare := snapshot_of_notes([], STATISTICS, 2)).catalog):
        assert (bare.vectors.size, len(bare.keywords)) == (0, 0)
