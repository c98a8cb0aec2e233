"""From chunks to documents of the keyword index: the same for a build, an edit and a repair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vault_indexer.chunk import PROPERTIES
from vault_indexer.model import Chunk, JsonValue, Note, NoteRow, language_of_path, note_id_of
from vault_indexer.parse import property_lines, render_markdown, unescape_prose
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.keywords import KeywordDocument
from vault_indexer.system import batches
from vault_indexer.text.tokens import analyze

SHARED_TERMS = 250
"""Terms of a note's title, aliases, tags or path that each of its chunks is found by; by the others its first
chunk is. The product of words and chunks of one note would else be unbounded."""

_BATCH = 512
_DIVIDED = re.compile(
    r"\w(?:[*~=`]+\w|[*~=`]*(?:!?\[|\\|</?[A-Za-z!])|&[#\w])|(?:[\])]|[A-Za-z\"'/]>|-->|%%)[*~=`]*\w"
)
"""Where markup may divide a word."""


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
    """One document a chunk, given with its key; none of a parent that is context. The note's properties
    belong to its first chunk."""
    title = analyze(words.title, words.language)
    aliases = analyze("\n".join(words.aliases), words.language)
    tags = analyze("\n".join(words.tags), words.language)
    path = analyze(words.path, words.language)
    is_code = bool(language_of_path(words.path))
    for key, chunk in chunks:
        if chunk.is_context:
            continue
        shared = None if _is_first(chunk) else SHARED_TERMS
        if is_code:
            content = analyze(chunk.content, words.language)
        else:
            content = analyze(unescape_prose(chunk.content), words.language)
            content += _divided_words(chunk.content, words.language, content)
        yield KeywordDocument(
            key=key,
            title=title[:shared],
            aliases=aliases[:shared],
            headers=analyze(chunk.header_path, words.language),
            tags=tags[:shared],
            path=path[:shared],
            content=content,
            properties=_properties(words, chunk, content),
        )


def _properties(words: NoteWords, chunk: Chunk, content: Sequence[str]) -> list[str]:
    """The names and values of the properties, for the first chunk. Where they are its text as written, only
    what that writes in another way (an escaped letter, a repeated value)."""
    if not _is_first(chunk) or not words.properties:
        return []
    terms = analyze("\n".join(property_lines(words.properties)), words.language)
    if not chunk.extra.get(PROPERTIES):
        return terms
    written = frozenset(content)
    return [term for term in terms if term not in written]


def _divided_words(markdown: str, language: str, written: Sequence[str]) -> list[str]:
    """The terms of what only a reader sees: words that markup divides, as in `[[cat]]s`."""
    if not _DIVIDED.search(markdown):
        return []
    known = frozenset(written)
    return [term for term in analyze(render_markdown(markdown).text, language) if term not in known]


def _is_first(chunk: Chunk) -> bool:
    """Whether a note's own words count for the chunk: its first, and the first child of that one, which may
    be context."""
    return chunk.chunk_index == 0 or (chunk.chunk_index == 1 and chunk.extra.get("child_index") == 0)


def documents_of(catalog: CatalogReader, keys: Iterable[int]) -> Iterator[KeywordDocument]:
    """The documents of chunks by key, from the catalog alone; unknown keys are left out."""
    wanted = set(keys)
    notes = catalog.notes({note_id_of(key) for key in wanted})
    for note_id in sorted(notes):
        own = [(row.key, row.chunk) for row in catalog.chunks_of(note_id) if row.key in wanted]
        yield from keyword_documents(note_words(notes[note_id]), own)


def all_documents(catalog: CatalogReader) -> Iterator[KeywordDocument]:
    """The documents of all chunks, from the catalog alone, a note at a time."""
    for note_ids in batches(catalog.note_ids(), _BATCH):
        notes = catalog.notes(note_ids)
        for note_id in sorted(notes):
            own = [(row.key, row.chunk) for row in catalog.chunks_of(note_id)]
            yield from keyword_documents(note_words(notes[note_id]), own)
