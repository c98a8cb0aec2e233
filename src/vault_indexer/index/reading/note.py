"""From a file's bytes to the note that is split and stored: parsed, and its language known."""

from __future__ import annotations

from dataclasses import replace

from vault_indexer.index.reading.source_file import source_note
from vault_indexer.model import Note, language_of_path
from vault_indexer.parse import parse_any
from vault_indexer.text.language import detect_note


def note_from(path: str, data: bytes) -> Note:
    """The parsed note, its language declared by itself or else detected in its body ("" if unsure, and of a
    source file).

    Raises NoteError.
    """
    if language_of_path(path):
        return source_note(path, data)
    note = parse_any(path, data)
    return replace(note, language=note.language or detect_note(note.text[note.body_start :]))
