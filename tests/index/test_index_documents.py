"""What a note's chunks share in the keyword index."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vault_indexer.chunk import PROPERTIES, chunker_for
from vault_indexer.config import Settings
from vault_indexer.index.jobs import SHARED_TERMS, NoteWords, keyword_documents
from vault_indexer.model import Chunk, JsonValue
from vault_indexer.parse import parse_note
from vault_indexer.store.keywords import KeywordDocument


def test_a_note_of_very_many_tags_is_found_by_each_without_repeating_all_in_every_chunk() -> None:
    names = [f"tag{number}x" for number in range(2000)]
    body = "".join(f"# Part {number}\n\n{'kestrel ' * 150}\n\n" for number in range(20))
    front = "---\ntags: [" + ", ".join(names) + "]\naliases: [Falcon]\n---\n"
    note = parse_note("n.md", (front + body).encode())
    chunks = chunker_for(Settings().chunking).chunk(note)
    words = NoteWords(note.path, note.title, note.aliases, note.tags, "")
    documents = list(keyword_documents(words, enumerate(chunks)))
    assert len(documents) > 10
    assert set(names) <= set(documents[0].tags)
    assert all(len(document.tags) == SHARED_TERMS for document in documents[1:])
    assert all(document.aliases == documents[0].aliases for document in documents)


def test_properties_are_words_of_the_first_chunk_alone() -> None:
    body = "".join(f"# Part {number}\n\n{'kestrel ' * 150}\n\n" for number in range(4))
    note = parse_note("n.md", ("---\nmaterial: basalt\nplace: Iceland\n---\n" + body).encode())
    chunks = chunker_for(Settings().chunking).chunk(note)
    words = NoteWords(note.path, note.title, note.aliases, note.tags, "", note.frontmatter)
    documents = list(keyword_documents(words, enumerate(chunks)))
    assert len(documents) > 2
    assert {"basalt", "iceland"} <= set(documents[0].properties) | set(documents[0].content)
    assert all(not document.properties for document in documents[1:])


def chunk(index: int, text: str = "kestrel", **extra: JsonValue) -> Chunk:
    is_context = extra.pop("is_context", False)
    made = Chunk(f"c{index}", index, "Part > One", 0, 9, 1, 1, text, "none", context="ctx", extra=extra)
    return replace(made, embed=not is_context)


def documents_of(words: NoteWords, *chunks: Chunk) -> list[KeywordDocument]:
    return list(keyword_documents(words, enumerate(chunks, start=10)))


def test_a_document_has_each_field_of_its_note_and_chunk() -> None:
    words = NoteWords("dir/Note.md", "Title", ("Alias",), ("tag", "other"), "", {"material": "basalt"})
    first, second = documents_of(words, chunk(0), chunk(1))
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
    words = NoteWords("n.md", many, many.split(), many.split(), "", {"a": "basalt"})
    documents = documents_of(words, *chunks)
    for name in ("title", "aliases", "tags"):
        lengths = [len(getattr(document, name)) for document in documents]
        assert [length > SHARED_TERMS for length in lengths] == firsts
        assert min(lengths) == SHARED_TERMS
    assert [bool(document.properties) for document in documents] == firsts


def test_of_properties_that_are_the_text_only_what_is_written_otherwise_is_added() -> None:
    words = NoteWords("n.md", "n", (), (), "", {"material": "basalt", "place": "Iceland"})
    (document,) = documents_of(words, chunk(0, "material: basalt", **{PROPERTIES: True}))
    assert set(document.properties) == {"place", "iceland"}
    (plain,) = documents_of(words, chunk(0, "material: basalt"))
    assert {"material", "basalt", "place", "iceland"} <= set(plain.properties)
