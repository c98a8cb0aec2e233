"""`none`: the whole note, without its frontmatter, is one chunk."""

from __future__ import annotations

from vault_indexer.chunk.cutting import Draft, DraftChunker, Outline, trim_drafts
from vault_indexer.model import Note


class WholeNoteChunker(DraftChunker[None]):
    """One chunk per note: for short notes, and for searches that should rank notes instead of passages."""

    strategy = "none"

    def drafts(self, note: Note, outline: Outline) -> list[Draft]:  # noqa: ARG002 - of the frame
        """The single chunk, or none if the note is blank."""
        return trim_drafts(note.text, [Draft(note.body_start, len(note.text))])
