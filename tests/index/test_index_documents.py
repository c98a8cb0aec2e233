"""What a note's chunks share in the keyword index."""

import json
from dataclasses import replace

import pytest

from vault_indexer.chunk import PROPERTIES
from vault_indexer.index.jobs import SHARED_TERMS, keyword_documents
from vault_indexer.model import Chunk, JsonValue, NoteRow
from vault_indexer.store.keywords import KeywordDocument


def chunk(index: int, text: str = "kestrel", **extra: JsonValue) -> Chunk:
    is_context = extra.pop("is_context", False)
    made = Chunk(f"c{index}", index, "Part > One", 0, 9, 1, 1, text, "none", context="ctx", extra=extra)
    return replace(made, embed=not is_context)


def stored_note(path: str, title: str, *lists: object) -> NoteRow:
    aliases, tags, properties = map(json.dumps, lists)
    return NoteRow(0, path, title, "", properties, aliases, tags, 0)


def documents_of(note: NoteRow, *chunks: Chunk) -> list[KeywordDocument]:
    return list(keyword_documents(note, enumerate(chunks, start=10)))


def test_a_document_has_each_field_of_its_note_and_chunk() -> None:
    note = stored_note("dir/Note.md", "Title", ["Alias"], ["tag", "other"], {"material": "basalt"})
    first, second = documents_of(note, chunk(0), chunk(1))
    assert (first.key, second.key) == (10, 11)
    for document in (first, second):
        assert document.title == ["title"]
        assert document.aliases == ["alias"]
        assert document.tags == ["tag", "other"]
        assert document.headers == ["part", "one"]
        assert {"dir", "note"} <= set(document.path)
        assert document.content == ["ctx", "kestrel"]
    assert {"material", "basalt"} <= set(first.properties)
    assert second.properties == []


@pytest.mark.parametrize(
    ("chunks", "firsts"),
    [
        ((chunk(0), chunk(1)), [True, False]),
        ((chunk(0), chunk(1, child_index=0), chunk(2, child_index=0)), [True, True, False]),
        ((chunk(0), chunk(1, child_index=1)), [True, False]),
        (
            (chunk(0, level=0, is_context=True), chunk(1, child_index=0), chunk(2, child_index=1)),
            [True, False],
        ),
    ],
)
def test_the_words_of_a_note_are_whole_in_its_first_chunk_and_that_ones_first_child(
    chunks: tuple[Chunk, ...], firsts: list[bool]
) -> None:
    many = " ".join(f"w{number}x" for number in range(SHARED_TERMS + 1))
    note = stored_note("n.md", many, many.split(), many.split(), {"a": "basalt"})
    documents = documents_of(note, *chunks)
    for name in ("title", "aliases", "tags"):
        lengths = [len(getattr(document, name)) for document in documents]
        assert [length > SHARED_TERMS for length in lengths] == firsts
        assert min(lengths) == SHARED_TERMS
    assert [bool(document.properties) for document in documents] == firsts


def test_of_properties_that_are_the_text_only_what_is_written_otherwise_is_added() -> None:
    note = stored_note("n.md", "n", [], [], {"material": "basalt", "place": "Iceland"})
    (document,) = documents_of(note, chunk(0, "material: basalt", **{PROPERTIES: True}))
    assert set(document.properties) == {"place", "iceland"}
    (plain,) = documents_of(note, chunk(0, "material: basalt"))
    assert {"material", "basalt", "place", "iceland"} <= set(plain.properties)
