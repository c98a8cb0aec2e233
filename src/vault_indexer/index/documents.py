"""From chunks to documents of the keyword index: the same for a build, an edit and a repair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vault_indexer.chunk import PROPERTIES
from vault_indexer.model import Chunk, JsonValue, Note, NoteRow, note_id_of
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.keywords import KeywordDocument
from vault_indexer.text.tokens import analyze

_OWN_FIELDS = frozenset({"tags", "tag", "aliases", "alias", "title"})
_LINK = re.compile(r"\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")

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
    properties: Mapping[str, JsonValue] = field(default_factory=dict)


def note_words(note: Note | NoteRow) -> NoteWords:
    """The shared words of a note, as parsed or as the catalog has it."""
    return NoteWords(note.path, note.title, note.aliases, note.tags, note.language, note.frontmatter)


def keyword_documents(words: NoteWords, chunks: Iterable[tuple[int, Chunk]]) -> Iterator[KeywordDocument]:
    """One document a chunk, given with its key. The note's properties belong to its first chunk."""
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
            properties=_properties(words, chunk),
        )


def _properties(words: NoteWords, chunk: Chunk) -> list[str]:
    """The names and values of the properties, for the first chunk; nothing where they are its text."""
    if chunk.chunk_index or chunk.extra.get(PROPERTIES) or not words.properties:
        return []
    lines = (
        f"{name} {' '.join(property_texts(value))}"
        for name, value in words.properties.items()
        if name.lower() not in _OWN_FIELDS
    )
    return analyze("\n".join(lines), words.language)


def property_texts(value: JsonValue) -> Iterator[str]:
    """The text of a property's value: of a list each item's, of a table that of names and values; a link as
    what it shows."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from property_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from property_texts(inner)
    elif isinstance(value, str):
        yield _LINK.sub(lambda link: link[2] or link[1], value)
    elif value is not None:
        yield str(value).lower() if isinstance(value, bool) else str(value)


def documents_of(catalog: CatalogReader, keys: Iterable[int]) -> Iterator[KeywordDocument]:
    """The documents of chunks by key, from the catalog alone; unknown keys are left out."""
    wanted = set(keys)
    notes = catalog.notes({note_id_of(key) for key in wanted})
    for note_id in sorted(notes):
        own = [(row.key, row.chunk) for row in catalog.chunks_of(note_id) if row.key in wanted]
        yield from keyword_documents(note_words(notes[note_id]), own)
