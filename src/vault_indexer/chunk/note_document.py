"""Every note has at least one chunk: where a strategy finds no text, the note's properties are it."""

from __future__ import annotations

from dataclasses import replace

from vault_indexer.chunk.cutting import Draft, Outline, assemble, trim
from vault_indexer.model import Chunk, Note
from vault_indexer.ports import Chunker

PROPERTIES = "properties"
"""Marks, in a chunk's `extra`, the only chunk of a note without a body."""


def chunks_of(chunker: Chunker, note: Note) -> tuple[Chunk, ...]:
    """The chunks of a note; there is at least one. Raises what the chunker raises."""
    return tuple(chunker.chunk(note)) or (_properties_chunk(note, chunker.strategy),)


def _properties_chunk(note: Note, strategy: str) -> Chunk:
    """The properties of a note without a body, as written; that may be no text at all. The note's title is
    embedded with them, so that its meaning counts too."""
    fenced = note.text[: note.body_start].splitlines(keepends=True) or ["", ""]
    start, end = trim(note.text, len(fenced[0]), note.body_start - len(fenced[-1]))
    draft = Draft(start, end, extra={PROPERTIES: True})
    return replace(assemble(note, strategy, [draft], Outline(note))[0], preamble=note.title)
