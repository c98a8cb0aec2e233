"""Lists the notes of an index, filtered by folder, tag or time of change."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from vault_indexer.contract.requests import NotesRequest
from vault_indexer.errors import UsageError
from vault_indexer.model import Completion, Completions, JsonValue, ListedNote, NoteList
from vault_indexer.search.query import MOMENTS, OPERATORS, moment_ns
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


# Completes the end of a query: operators, and the tags, properties, values and folders of the vault.


_FOLDER = re.compile(r'(?<![\w-])path:("[^"]*|[^\s"()]*)$')
_TAG = re.compile(r"(?<![\w-])(?:tag:#?|#)([^\s\"()#]*)$")
_VALUE = re.compile(r"\[([^\[\]:\"\n]+):\s*(\"[^\"\]]*|[^\[\]\"():<>]*)$")
_NAME = re.compile(r"\[([^\[\]:\"\n]*)$")
_WORD = re.compile(r"(?<![\w\":/#\[-])([a-z][a-z-]*)$")


def complete_query(catalog: CatalogReader, text: str, limit: int) -> Completions:
    """Returns at most `limit` completions of `text`, the query up to the cursor, the most frequent first."""
    for pattern, offer in ((_FOLDER, _folders), (_TAG, _tags), (_VALUE, _values), (_NAME, _names)):
        match = pattern.search(text)
        if match:
            return Completions(match[0], tuple(_best(offer(catalog, *match.groups()), limit)))
    word = _WORD.search(text)
    if word is None:
        return Completions("", ())
    matching = (name for name in OPERATORS if name.startswith(word[1]))
    items = [Completion(f"{name}:", "operator", 0, OPERATORS[name]) for name in matching]
    return Completions(word[0], tuple(items[:limit]))


def _best(found: Iterable[Completion], limit: int) -> list[Completion]:
    return sorted(found, key=lambda completion: (-completion.count, completion.text))[:limit]


def _tags(catalog: CatalogReader, prefix: str) -> Iterator[Completion]:
    wanted = prefix.casefold()
    for tag, count in catalog.rows("SELECT tag, count(*) FROM tags GROUP BY tag"):
        if wanted in tag:
            yield Completion(f"tag:#{tag}", "tag", count)


def _folders(catalog: CatalogReader, prefix: str) -> Iterator[Completion]:
    wanted = prefix.strip('"').casefold()
    counts: Counter[str] = Counter()
    for path in catalog.note_paths():
        parts = path.split("/")[:-1]
        counts.update("/".join(parts[:end]) for end in range(1, len(parts) + 1))
    for folder, count in counts.items():
        if wanted in folder.casefold() and '"' not in folder:
            yield Completion(f'path:"{folder}/"', "folder", count)


def _names(catalog: CatalogReader, prefix: str) -> Iterator[Completion]:
    wanted = prefix.strip().casefold()
    counts = Counter(name for properties in _properties(catalog) for name in properties)
    for name, count in counts.items():
        if wanted in name.casefold() and not re.search(r"[\[\]:\"\n]", name):
            yield Completion(f"[{name}]", "property", count)


def _values(catalog: CatalogReader, name: str, prefix: str) -> Iterator[Completion]:
    folded, wanted = name.strip().casefold(), prefix.strip('"').casefold()
    counts = Counter(
        value
        for properties in _properties(catalog)
        for key, property_value in properties.items()
        if key.casefold() == folded
        for value in _texts(property_value)
    )
    for value, count in counts.items():
        if wanted in value.casefold() and not re.search(r"[\[\]\"\n]", value):
            yield Completion(f'[{name.strip()}:"{value}"]', "value", count)


def _texts(value: JsonValue) -> Iterator[str]:
    for element in value if isinstance(value, list) else [value]:
        if isinstance(element, str | int | float) and len(str(element)) <= 60:
            yield str(element)


def _properties(catalog: CatalogReader) -> Iterator[Mapping[str, JsonValue]]:
    for (text,) in catalog.rows("SELECT frontmatter FROM notes WHERE frontmatter != '{}'"):
        properties: Mapping[str, JsonValue] = json.loads(text)
        yield properties
