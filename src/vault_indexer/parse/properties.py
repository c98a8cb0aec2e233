"""The properties of a note as text, in which words, phrases and expressions are looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from vault_indexer.model import JsonValue

_OWN_FIELDS = frozenset({"tags", "tag", "aliases", "alias", "title"})
"""Properties that are searched as the note's tags, aliases and title."""

_TIME = re.compile(r"\A(\d{4}-\d\d-\d\d)T(?=\d\d:\d\d)")
"""In front of a time of day, a day is a word of its own."""

_LINK = re.compile(r"\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")


def property_lines(properties: Mapping[str, JsonValue]) -> Iterator[str]:
    """Each property as `name: value`. Of a list each item is a line of its own, of a table each of its
    properties; a link is what it shows. Tags, aliases and title are left out."""
    for name, value in properties.items():
        if name.lower() not in _OWN_FIELDS:
            yield from _lines(name, value)


def _lines(name: str, value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        yield name
        for inner_name, inner in value.items():
            yield from _lines(inner_name, inner)
    elif isinstance(value, list):
        yield name
        for inner in value:
            yield from _lines("", inner)
    else:
        text = _text_of(value)
        yield f"{name}: {text}" if name else text


def _text_of(value: str | float | bool | None) -> str:
    if isinstance(value, str):
        return _TIME.sub(r"\1 ", _LINK.sub(lambda link: link[2] or link[1], value), count=1)
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
