"""`none`: the whole note, without its frontmatter, is one chunk."""

from __future__ import annotations

from vault_indexer.chunk.cutting import Draft, Outline, assemble, trim_drafts
from vault_indexer.model import Chunk, Note

STRATEGY = "none"


class WholeNoteChunker:
    """One chunk a note: for short notes, and where a search should rank notes, not passages."""

    strategy = STRATEGY

    def chunk(self, note: Note) -> list[Chunk]:
        """The one chunk, or none if the note is blank."""
        drafts = trim_drafts(note.text, [Draft(note.body_start, len(note.text))])
        return assemble(note, STRATEGY, drafts, Outline(note))
