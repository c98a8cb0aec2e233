"""From chunks to documents of the keyword index: the same for a build, an edit and a repair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from vault_indexer.model import Chunk, NoteRow, note_id_of
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.keywords import KeywordDocument
from vault_indexer.text.tokens import analyze

SHARED_TERMS = 250
"""Terms of a note's title, aliases, tags or path that each of its chunks is found by; by the others its first
chunk is. The product of words and chunks of one note would else be unbounded."""


@dataclass(frozen=True, slots=True)
class NoteWords:
    """What all chunks of a note share in the keyword index."""

    path: str
    title: str
    aliases: Sequence[str]
    tags: Sequence[str]
    language: str


def note_words(note: NoteRow) -> NoteWords:
    """The shared words of a catalog note."""
    return NoteWords(note.path, note.title, note.aliases, note.tags, note.language)


def keyword_documents(words: NoteWords, chunks: Iterable[tuple[int, Chunk]]) -> Iterator[KeywordDocument]:
    """One document a chunk, given with its key."""
    title = analyze(words.title, words.language)
    aliases = analyze("\n".join(words.aliases), words.language)
    tags = analyze("\n".join(words.tags), words.language)
    path = analyze(words.path, words.language)
    for key, chunk in chunks:
        shared = None if chunk.chunk_index == 0 else SHARED_TERMS
        yield KeywordDocument(
            key=key,
            title=title[:shared],
            aliases=aliases[:shared],
            headers=analyze(chunk.header_path, words.language),
            tags=tags[:shared],
            path=path[:shared],
            content=analyze(chunk.content, words.language),
        )


def documents_of(catalog: CatalogReader, keys: Iterable[int]) -> Iterator[KeywordDocument]:
    """The documents of chunks by key, from the catalog alone; unknown keys are left out."""
    wanted = set(keys)
    notes = catalog.notes({note_id_of(key) for key in wanted})
    for note_id in sorted(notes):
        own = [(row.key, row.chunk) for row in catalog.chunks_of(note_id) if row.key in wanted]
        yield from keyword_documents(note_words(notes[note_id]), own)
