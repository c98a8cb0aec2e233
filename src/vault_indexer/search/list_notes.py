"""Lists the notes of an index, filtered by folder, tag or time of change."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from vault_indexer.contract.requests import NotesRequest
from vault_indexer.errors import UsageError
from vault_indexer.model import Completion, Completions, JsonValue, ListedNote, NoteList
from vault_indexer.search.query import MOMENTS, OPERATORS, moment_ns
from vault_indexer.store.catalog import CatalogReader, folder_condition, tag_condition
from vault_indexer.text.fold import did_you_mean, fold, normalize, tag_name
from vault_indexer.text.phrases import iso_time

Values = list[str | int]

_ORDERS = {"path": "path", "recent": "mtime_ns DESC, path"}


def list_notes(catalog: CatalogReader, request: NotesRequest) -> NoteList:
    """Returns the notes that match. Raises UsageError for an unknown folder or tag and an invalid time."""
    conditions, values = ["1"], Values()
    if folder := request.folder.strip().strip("/"):
        below, bounds = folder_condition("path", folder)
        if not catalog.rows(f"SELECT 1 FROM notes WHERE {below} LIMIT 1", bounds):
            raise UsageError(
                f"no note of the index is in a folder {folder!r}{_hint(folder, catalog.folders())}"
            )
        conditions.append(below)
        values += bounds
    if tag := tag_name(request.tag.strip()):
        has_tag, names = tag_condition(tag)
        if not catalog.rows(f"SELECT 1 FROM tags WHERE {has_tag} LIMIT 1", names):
            raise UsageError(f"no note of the index has the tag {tag!r}{_hint(tag, catalog.tags())}")
        conditions.append(f"note_id IN (SELECT note_id FROM tags WHERE {has_tag})")
        values += names
    if request.since.strip():
        conditions.append("mtime_ns >= ?")
        values.append(_since_ns(request.since))
    chosen = f"FROM notes WHERE {' AND '.join(conditions)}"
    columns = (
        f"SELECT path, title, mtime_ns, tags, aliases {chosen} ORDER BY {_ORDERS[request.order]} "
        "LIMIT ? OFFSET ?"
    )
    if words := fold(normalize(request.name)).split():
        # -1 is no limit: the names decide which notes match, so the page is cut afterwards.
        found = _named(catalog.rows(columns, [*values, -1, 0]), words)
        if request.order == "path":
            found.sort(key=lambda match: match[0])
        notes = [note for _, note in found]
        return NoteList(tuple(notes[request.offset :][: request.limit]), len(notes))
    ((count,),) = catalog.rows(f"SELECT count(*) {chosen}", values)
    rows = catalog.rows(columns, [*values, request.limit, request.offset])
    return NoteList(tuple(_listed(row) for row in rows), int(count))


def _listed(row: Sequence[Any], alias: str = "") -> ListedNote:
    path, title, mtime_ns, tags, _ = row
    return ListedNote(path, title, iso_time(mtime_ns), tuple(json.loads(tags)), alias)


def _named(
    rows: Iterable[Sequence[Any]], words: Sequence[str]
) -> list[tuple[tuple[int, int, str], ListedNote]]:
    """Returns the notes with all words in one of their names, each with a key that orders them: a title,
    file name or alias that is the words, begins with them, has words that do, or contains them; then a path.
    Short names come first among equals."""
    found = []
    for row in rows:
        path, title, _, _, aliases = row
        stem = path.removesuffix(".md")
        names = [title, stem.rpartition("/")[2], *json.loads(aliases)]
        ranks = [(_name_rank(name, words), len(name), at) for at, name in enumerate(names)]
        rank, length, at = min(ranks)
        if rank == _NO_NAME:
            rank, length, at = max(_name_rank(stem, words), _PATH_ONLY), len(path), 0
        if rank < _NO_NAME:
            # Only an alias is added: the title and the file name are listed anyway.
            found.append(((rank, length, path), _listed(row, names[at] if at > 1 else "")))
    return found


_PATH_ONLY, _NO_NAME = 4, 5


def _name_rank(name: str, words: Sequence[str]) -> int:
    folded, wanted = fold(normalize(name)), " ".join(words)
    if any(word not in folded for word in words):
        return _NO_NAME
    if folded.startswith(wanted):
        return 0 if folded == wanted else 1
    begins = all(re.search(rf"(?<!\w){re.escape(word)}", folded) for word in words)
    return 2 if begins else 3


def _since_ns(since: str) -> int:
    try:
        return moment_ns(since, datetime.now().astimezone())
    except (ValueError, OverflowError):
        raise UsageError(f"since = {since!r}: not a time: write {MOMENTS}") from None


def _hint(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name, {one: one for one in known})


# Completes the end of a query: operators, and the tags, properties, values and folders of the vault.


_FOLDER = re.compile(r'path:("[^"]*|[^\s"()]*)')
_TAG = re.compile(r"(?:tag:#?|#)([^\s\"()#]*)")
_VALUE = re.compile(r"\[([^\[\]:\"\n]+):\s*(\"[^\"\]]*|[^\[\]\"():<>]*)")
_NAME = re.compile(r"\[([^\[\]:\"\n]*)")
_TERM = re.compile(
    r"""(?P<open>(?P<operator>[a-z][a-z-]*:)?\() | (?P<close>\)) | \s+ | -(?=[^\s-])
    | (?:[a-z][a-z-]*:)?"(?:\\.|[^"\\])*" | \[(?:"[^"]*"|[^\]"])*\]
    | (?P<unfinished>(?:[a-z][a-z-]*:)?"[\s\S]* | \[[\s\S]* | [^\s()][^\s)]*)""",
    re.VERBOSE,
)
"""The next term of a query, or what separates two. Only an unfinished term can be completed."""

_BEGIN = re.compile(r"(?:^|[\s(])-?$")
"""A place where a term can begin: there, every operator is offered."""


def complete_query(catalog: CatalogReader, text: str, limit: int) -> Completions:
    """Returns at most `limit` completions of `text`, the query up to the cursor, the most frequent first.
    Each replaces the last term, which begins after a minus sign, a parenthesis or a space."""
    term, within = _last_term(text)
    whole = within + term
    for pattern, offer in ((_FOLDER, _folders), (_TAG, _tags), (_VALUE, _values), (_NAME, _names)):
        match = pattern.fullmatch(whole)
        if match:
            offered = sorted(offer(catalog, *match.groups()), key=lambda one: (-one.count, one.text))
            items = [replace(one, text=one.text[len(within) :]) for one in offered[:limit]]
            return Completions(term, tuple(items))
    begins = _BEGIN.search(text) is not None
    if begins:
        whole, term = within, ""  # a minus sign alone is a term so far
    matching = (name for name in OPERATORS if (term or begins) and name.startswith(whole))
    items = [Completion(f"{name}:", "operator", 0, OPERATORS[name]) for name in matching]
    return Completions(term if items else "", tuple(items[:limit]))


def _last_term(text: str) -> tuple[str, str]:
    """Returns the term that the text ends in, "" if none is unfinished, and the operator with its colon whose
    parentheses it is in, if any: `tag:(#a OR #b` ends in `#b` within `tag:`."""
    term, operators = "", [""]
    for match in _TERM.finditer(text):
        term = match["unfinished"] or ""
        if match["open"]:
            operators.append(match["operator"] or operators[-1])
        elif match["close"] and len(operators) > 1:
            operators.pop()
    return term, operators[-1]


def _tags(catalog: CatalogReader, prefix: str) -> Iterator[Completion]:
    wanted = prefix.casefold()
    for tag, count in catalog.tags().items():
        if wanted in tag:
            yield Completion(f"tag:#{tag}", "tag", count)


def _folders(catalog: CatalogReader, prefix: str) -> Iterator[Completion]:
    wanted = prefix.strip('"').casefold()
    for folder, count in catalog.folders().items():
        if wanted in folder.casefold() and '"' not in folder:
            yield Completion(f'path:"{folder}/"', "folder", count)


def _names(catalog: CatalogReader, prefix: str) -> Iterator[Completion]:
    wanted = prefix.strip().casefold()
    counts = Counter(name for properties in catalog.properties() for name in properties)
    for name, count in counts.items():
        if wanted in name.casefold() and not re.search(r"[\[\]:\"\n]", name):
            yield Completion(f"[{name}]", "property", count)


def _values(catalog: CatalogReader, name: str, prefix: str) -> Iterator[Completion]:
    folded, wanted = name.strip().casefold(), prefix.strip('"').casefold()
    counts = Counter(
        value
        for properties in catalog.properties()
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
