"""Completes the end of a query: operators, and the tags, properties, values and folders of the vault."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from vault_indexer.model import Completion, Completions, JsonValue
from vault_indexer.search.query import OPERATORS
from vault_indexer.store.catalog import CatalogReader

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
