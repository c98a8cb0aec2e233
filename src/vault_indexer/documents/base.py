"""Extracts what can be searched in a base of Obsidian: its views, columns, filters and formulas."""

from __future__ import annotations

from collections.abc import Iterator

from vault_indexer.contract import JsonValue
from vault_indexer.documents.blocks import Inline, MarkdownWriter
from vault_indexer.documents.markdown import Document, Part
from vault_indexer.documents.text import decode_text
from vault_indexer.errors import NoteError
from vault_indexer.text.yaml_values import YamlRefusedError, load_mapping

_JOINED = {"and": " and ", "or": " or ", "not": " or "}


def read_base(data: bytes) -> Document:
    """Read the file as a list of its formulas and a heading for each view."""
    try:
        base = load_mapping(decode_text(data))
    except YamlRefusedError as error:
        raise NoteError(f"damaged: {error.detail}{f' (line {error.line})' if error.line else ''}") from error
    writer = MarkdownWriter()
    for item in _items(base):
        writer.item(0, Inline(item))
    views = base.get("views")
    for view in views if isinstance(views, list) else []:
        if isinstance(view, dict):
            writer.heading(2, Inline(str(view.get("name") or view.get("type") or "View")))
            for item in _items(view):
                writer.item(0, Inline(item))
    return Document((Part(writer.text()),))


def _items(table: object) -> Iterator[str]:
    """Yield what a base or one of its views says, in words."""
    values = table if isinstance(table, dict) else {}
    if filters := filter_text(values.get("filters")):
        yield f"Filter: {filters}"
    order, formulas, shown = (values.get(key) for key in ("order", "formulas", "properties"))
    if isinstance(order, list):
        yield f"Columns: {', '.join(map(str, order))}"
    for name, formula in formulas.items() if isinstance(formulas, dict) else ():
        yield f"{name} = {formula}"
    for name, options in shown.items() if isinstance(shown, dict) else ():
        if isinstance(options, dict) and options.get("displayName"):
            yield f"{name}: {options['displayName']}"


def filter_text(filters: JsonValue) -> str:
    """Return the filters of a base in words."""
    if isinstance(filters, str):
        return filters
    found = []
    for name, inner in filters.items() if isinstance(filters, dict) else ():
        parts = filter(None, map(filter_text, inner if isinstance(inner, list) else [inner]))
        text = _JOINED.get(name, " and ").join(parts)
        found.append(f"not ({text})" if name == "not" else f"({text})" if " " in text else text)
    return " and ".join(found)
