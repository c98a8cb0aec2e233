"""What a note's chunks share in the keyword index."""

from __future__ import annotations

from vault_indexer.chunk import chunker_for
from vault_indexer.config import Settings
from vault_indexer.index.documents import SHARED_TERMS, NoteWords, keyword_documents
from vault_indexer.parse import parse_note


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
