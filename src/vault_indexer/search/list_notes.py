"""Lists the notes of an index, filtered by folder, tag or time of change."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from vault_indexer.contract.requests import NotesRequest
from vault_indexer.errors import UsageError
from vault_indexer.model import ListedNote, NoteList
from vault_indexer.search.query import MOMENTS, moment_ns
from vault_indexer.store.catalog import CatalogReader, folder_condition, tag_condition
from vault_indexer.text.fold import tag_name
from vault_indexer.text.phrases import iso_time

Values = list[str | int]

_ORDERS = {"path": "path", "recent": "mtime_ns DESC, path"}
_ALIKE = 75.0
"""The similarity, out of 100, from which a name is suggested as the correct spelling. A rule of thumb."""


def list_notes(catalog: CatalogReader, request: NotesRequest) -> NoteList:
    """Returns the notes that match the request. Raises UsageError for a folder without notes, a tag that no
    note has, and an invalid time."""
    conditions, values = ["1"], Values()
    if folder := request.folder.strip().strip("/"):
        below, bounds = folder_condition("path", folder)
        if not catalog.rows(f"SELECT 1 FROM notes WHERE {below} LIMIT 1", bounds):
            raise UsageError(f"no note of the index is in a folder {folder!r}{_folder_hint(catalog, folder)}")
        conditions.append(below)
        values += bounds
    if tag := tag_name(request.tag.strip()):
        has_tag, names = tag_condition(tag)
        if not catalog.rows(f"SELECT 1 FROM tags WHERE {has_tag} LIMIT 1", names):
            raise UsageError(f"no note of the index has the tag {tag!r}{_tag_hint(catalog, tag)}")
        conditions.append(f"note_id IN (SELECT note_id FROM tags WHERE {has_tag})")
        values += names
    if request.since.strip():
        conditions.append("mtime_ns >= ?")
        values.append(_since_ns(request.since))
    chosen = f"FROM notes WHERE {' AND '.join(conditions)}"
    columns = (
        f"SELECT path, title, mtime_ns, tags {chosen} ORDER BY {_ORDERS[request.order]} LIMIT ? OFFSET ?"
    )
    ((count,),) = catalog.rows(f"SELECT count(*) {chosen}", values)
    rows = catalog.rows(columns, [*values, request.limit, request.offset])
    return NoteList(
        tuple(
            ListedNote(path, title, iso_time(mtime_ns), tuple(json.loads(tags)))
            for path, title, mtime_ns, tags in rows
        ),
        int(count),
    )


def _since_ns(since: str) -> int:
    try:
        return moment_ns(since, datetime.now().astimezone())
    except (ValueError, OverflowError):
        raise UsageError(f"since = {since!r}: not a time: write {MOMENTS}") from None


def _folder_hint(catalog: CatalogReader, folder: str) -> str:
    parts = (path.split("/")[:-1] for path in catalog.note_paths())
    folders = {"/".join(names[:end]) for names in parts for end in range(1, len(names) + 1)}
    return _hint(folder, folders)


def _tag_hint(catalog: CatalogReader, tag: str) -> str:
    return _hint(tag, (row[0] for row in catalog.rows("SELECT DISTINCT tag FROM tags")))


def _hint(name: str, known: Iterable[str]) -> str:
    from rapidfuzz.fuzz import ratio
    from rapidfuzz.process import extractOne

    folded = {candidate: candidate.casefold() for candidate in known}
    match = extractOne(name.casefold(), folded, scorer=ratio, score_cutoff=_ALIKE)
    return f"; did you mean {match[2]}?" if match else ""
