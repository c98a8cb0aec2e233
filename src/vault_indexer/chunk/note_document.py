"""Every note has at least one chunk: where a strategy finds no text, the note's properties are it.

What has hardly any text has no vector: the model would place it near everything. It is found by its words.
"""

from __future__ import annotations

from dataclasses import replace

from vault_indexer.chunk.cutting import Draft, Outline, assemble, trim
from vault_indexer.model import Chunk, JsonValue, Note
from vault_indexer.ports import Chunker
from vault_indexer.text.scripts import letters

PROPERTIES = "properties"
"""Marks, in a chunk's `extra`, the only chunk of a note without a body."""


LEAST_LETTERS = 20
"""A chunk of fewer letters has no vector."""


def chunks_of(chunker: Chunker, note: Note) -> tuple[Chunk, ...]:
    """The chunks of a note; there is at least one. Raises what the chunker raises."""
    chunks = tuple(chunker.chunk(note))
    if not chunks:
        chunk = _properties_chunk(note, chunker.strategy)
        return (replace(chunk, embed=_letters_of(dict(note.frontmatter)) >= LEAST_LETTERS),)
    return tuple(
        replace(one, embed=False) if one.embed and letters(one.content) < LEAST_LETTERS else one
        for one in chunks
    )


def _letters_of(value: JsonValue) -> int:
    match value:
        case str():
            return letters(value)
        case list():
            return sum(map(_letters_of, value))
        case dict():
            return sum(map(_letters_of, value.values()))
        case _:
            return 0


def _properties_chunk(note: Note, strategy: str) -> Chunk:
    """The properties of a note without a body, as written; that may be no text at all. The note's title is
    embedded with them, so that its meaning counts too."""
    fenced = note.text[: note.body_start].splitlines(keepends=True) or ["", ""]
    start, end = trim(note.text, len(fenced[0]), note.body_start - len(fenced[-1]))
    draft = Draft(start, end, extra={PROPERTIES: True})
    return replace(assemble(note, strategy, [draft], Outline(note))[0], preamble=note.title)
