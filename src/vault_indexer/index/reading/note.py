"""From a file's bytes to the note that is split and stored: parsed, and its language known."""

from __future__ import annotations

from dataclasses import replace

from vault_indexer.errors import NoteError
from vault_indexer.index.reading.source_file import source_note
from vault_indexer.model import Note, language_of_path
from vault_indexer.parse import parse_any
from vault_indexer.text.language import detect_note


def parse_file(path: str, data: bytes) -> Note:
    """The parsed note, canvas or source file, by its suffix. Raises NoteError."""
    return source_note(path, data) if language_of_path(path) else parse_any(path, data)


def note_from(path: str, data: bytes) -> Note:
    """The same, its language declared by itself or else detected in its body ("" if unsure, and of a source
    file).

    Raises NoteError.
    """
    note = parse_file(path, data)
    if note.language or language_of_path(path):
        return note
    return replace(note, language=detect_note(note.text[note.body_start :]))


def reason_of(error: NoteError, path: str) -> str:
    """Why the note at this path cannot be indexed, for where the path stands beside it."""
    return str(error).removeprefix(f"{path}: ")
