"""Finds the note, or the part of it, for a name given by the user."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from vault_indexer.contract.marks import check_note_name
from vault_indexer.documents import part_name
from vault_indexer.errors import UnknownNoteError, UsageError
from vault_indexer.model import FileKind, NoteRow, doc_id_of, kind_of
from vault_indexer.parse.frontmatter import body_start
from vault_indexer.parse.resolve import normal
from vault_indexer.store import Snapshot
from vault_indexer.store.graph import LinkPlaces
from vault_indexer.text.fold import did_you_mean


def path_of(snapshot: Snapshot, vault: Path, note: str) -> str:
    """Returns the path of a note, given by its path in the vault or its absolute path, with or without `.md`,
    or by its name or else alias if only one note has it. Raises UsageError for an ambiguous or invalid name,
    and UnknownNoteError."""
    wanted = vault_path(vault, note)
    for path in (wanted, f"{wanted}.md"):
        if snapshot.catalog.note(path):
            return path
    if wanted != wanted.strip():  # no note has the name with these blanks
        return path_of(snapshot, vault, wanted.strip())
    folded = normal(doc_id_of(wanted))
    matches = [
        path for path in snapshot.catalog.note_paths() if f"/{normal(doc_id_of(path))}".endswith(f"/{folded}")
    ]
    if Path(note).is_absolute():
        matches = []  # an absolute path names exactly one file
    elif not matches:
        aliased = snapshot.catalog.rows("SELECT path, aliases FROM notes WHERE aliases <> '[]'")
        alias = normal(wanted)
        matches = [path for path, names in aliased if alias in map(normal, json.loads(names))]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UsageError(f"note {note!r} is ambiguous: {', '.join(sorted(matches)[:5])}")
    hint = note_hint(folded, snapshot.catalog.note_paths())
    raise UnknownNoteError(f"no such note in the index: {note!r}{hint}")


def note_hint(name: str, paths: Iterable[str]) -> str:
    """Returns the end of a message that suggests the note with the most similar name; "" if none is."""
    names = {path: doc_id_of(path).rpartition("/")[2] for path in paths}
    return did_you_mean(doc_id_of(name).rpartition("/")[2], names)


def part_of(snapshot: Snapshot, row: NoteRow, text: str, part: str) -> tuple[int, int]:
    """Returns the span of a block, of a heading with all text under it, or of the note's body if `part` is
    empty.

    Raises UnknownNoteError.
    """
    if not part:
        has_properties = kind_of(row.path) in (FileKind.NOTE, FileKind.DOCUMENT)
        return (body_start(text) if has_properties else 0), len(text)
    numbered = part_name(row.path) if part.isdecimal() else ""  # page 3 may be written as 3
    place = LinkPlaces(snapshot.catalog).find_span(row.path, f"{numbered}={part}" if numbered else part)
    if place.start is None or place.end is None:
        raise UnknownNoteError(f"{row.path}: {place.problem or f'no part {part!r}'}")
    headings = [heading for heading in snapshot.catalog.headings(row.note_id) if heading.start >= place.start]
    if not headings or headings[0].start != place.start:
        return place.start, place.end
    level = headings[0].level
    after = (heading.start for heading in headings[1:] if heading.level <= level and not heading.nested)
    return place.start, next(after, len(text))


def note_of(snapshot: Snapshot, vault: Path, note: str) -> NoteRow:
    """Returns the note for a name. Raises as `path_of`."""
    row = snapshot.catalog.note(path_of(snapshot, vault, note))
    assert row is not None
    return row


def vault_path(vault: Path, note: str) -> str:
    """Returns the name of a note as given, or the path within the vault for an absolute path. No file is
    read.

    Raises UsageError for an empty or too long name, and UnknownNoteError for a path outside the vault.
    """
    check_note_name(note)
    wanted = Path(note)
    if not wanted.is_absolute():
        return note.removeprefix("./")
    plain = Path(os.path.normpath(wanted))
    if plain.is_relative_to(vault):
        return plain.relative_to(vault).as_posix()
    # If the path leads through a symbolic link, a folder above the note may be the same as the vault.
    for folder in reversed(plain.parents):
        if _is_same_folder(folder, vault):
            return plain.relative_to(folder).as_posix()
    raise UnknownNoteError(f"{note!r} is outside the vault")


def _is_same_folder(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):  # missing, or the name contains a NUL
        return False
