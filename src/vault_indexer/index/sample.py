"""A sample of the vault's text, for statistics that need no parsing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vault_indexer.errors import NoteError
from vault_indexer.index.plan import is_indexed
from vault_indexer.vault.read import read_note
from vault_indexer.vault.walk import Scan

MAX_NOTES = 2_000
_PIECE_CHARS = 1_000
_MAX_BYTES = 256 * 1024


def sample_texts(vault: Path, found: Scan, max_notes: int = MAX_NOTES) -> Iterator[str]:
    """Pieces of about a chunk's size from notes spread evenly over the vault, the same ones every time."""
    paths = [file.path for file in found.files if is_indexed(file) and file.stat.size <= _MAX_BYTES]
    step = max(1, len(paths) // max_notes)
    for path in paths[::step][:max_notes]:
        try:
            text = read_note(vault, path, _MAX_BYTES).data.decode("utf-8", "replace")
        except NoteError:
            continue
        for start in range(0, len(text), _PIECE_CHARS):
            yield text[start : start + _PIECE_CHARS]
