"""Parts of the vault that stand for it: for statistics that need no parsing, and for the first answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from vault_indexer.errors import NoteError
from vault_indexer.index.plan import is_indexed
from vault_indexer.system import batches
from vault_indexer.vault.read import read_note
from vault_indexer.vault.walk import Scan

MAX_NOTES = 2_000
FIRST_BYTES = 2_000_000
"""About two seconds' work on two cores."""

_DRIFT = 1.25
"""Statistics of the vault are made again when it has grown or shrunk by this factor."""

_WORTH_PARTING = 4
"""A vault of more than this many first parts is built in parts."""

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
        yield from batches(text, _PIECE_CHARS)


def has_drifted(notes_before: int, notes_now: int) -> bool:
    """Whether the vault has changed so much in size that statistics of it no longer fit."""
    return not notes_before / _DRIFT <= notes_now <= notes_before * _DRIFT


def first_part(found: Scan, first_bytes: int = FIRST_BYTES) -> Scan:
    """Of a large vault at most `first_bytes` of the notes that changed last, which are those that are
    searched first, and every file that is only a target of links; a small vault whole."""
    notes = [file for file in found.files if is_indexed(file)]
    if sum(file.stat.size for file in notes) <= _WORTH_PARTING * first_bytes:
        return found
    newest = sorted(notes, key=lambda file: file.stat.mtime_ns, reverse=True)
    ends = accumulate(file.stat.size for file in newest)
    chosen = {file.path for file, end in zip(newest, ends, strict=True) if end <= first_bytes}
    return replace(found, files=tuple(f for f in found.files if f.path in chosen or not is_indexed(f)))
