"""Filter expressions of Milvus, made from values alone: no text of a user is ever part of the syntax.

Milvus has templates for this (`filter_params`); Milvus Lite does not, so values are quoted here.
"""

from __future__ import annotations

from collections.abc import Iterable

from vault_indexer.errors import UsageError
from vault_indexer.store.retrieval import Selection

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
"""What both Milvus' grammar and Milvus Lite's know inside double quotes."""


def text_literal(value: str) -> str:
    """The text as a literal. Raises UsageError for what no server can hold: half a surrogate pair, a zero."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("a filter holds text that is not valid Unicode") from error
    if "\0" in value:
        raise UsageError("a filter holds the character U+0000")
    return f'"{value.translate(_ESCAPES)}"'


def text_in(field: str, values: Iterable[str]) -> str:
    """The field is one of the texts."""
    return f"{field} in [{', '.join(map(text_literal, values))}]"


def number_in(field: str, values: Iterable[int]) -> str:
    """The field is one of the numbers."""
    return f"{field} in [{', '.join(str(int(value)) for value in values)}]"


def selection_parts(selection: Selection) -> list[str]:
    """The conditions of a selection; each must hold."""
    parts = [f"array_contains(tags, {text_literal(tag)})" for tag in selection.folded_tags]
    if selection.folders:
        parts.append(" or ".join(map(_in_folder, selection.folders)))
    if selection.paths:
        parts.append(text_in("path", selection.paths))
    if selection.note_ids:
        parts.append(number_in("note_id", selection.note_ids))
    if selection.kinds:
        parts.append(text_in("kind", selection.kinds))
    return parts


def _in_folder(folder: str) -> str:
    """The path begins with the folder: a range of an indexed field, which costs less than a look at each
    row. "0" follows "/"."""
    return f"(path >= {text_literal(folder + '/')} and path < {text_literal(folder + '0')})"


def all_of(parts: Iterable[str]) -> str:
    """The expression that all parts hold."""
    return " and ".join(f"({part})" for part in parts)
