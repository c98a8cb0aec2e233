"""The size limit of answers, and their division into pages."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import cast

from vault_indexer.model import JsonValue

MAX_TOKENS = 8_000
"""The limit of a whole result: hosts cut or refuse larger ones (Claude Code warns from 10,000)."""

PAGE_TOKENS = MAX_TOKENS // 2 - 100
"""The limit of a page. A result contains it twice, as text and as structured content, because hosts differ in
which of them they pass to the model."""

_PIECE = re.compile(r"[A-Za-z0-9]+|[ \t]+|[^A-Za-z0-9 \t]")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LIKELY_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9\x80-\U0010ffff]+|[^\x00-\x7f]")
_LETTERS_PER_TOKEN = 4
_LONGEST_WORD = 24
_ALPHABETS = (
    ("\x80", 1.0),  # ASCII
    ("\u0530", 0.75),  # European alphabets
    ("\u2000", 1.4),  # other alphabets
    ("\u2e80", 2.5),  # punctuation and symbols
    ("\U00010000", 1.75),  # East Asia
)
"""The upper bound of a range of characters, and the maximum number of tokens of one of them. Emoji and rare
characters, above all ranges, take a token per byte."""

_RARE = 4.0

_OFFSET_TOKENS = 20
"""The tokens reserved for `next_offset`."""

_SHORTEST = 40
_CUT = " […]"


def tokens_of(text: str) -> int:
    """An upper estimate of the tokens of a text. The vocabulary of the host's model is unknown, so characters
    are counted as by Llama 2, one of the poorest in use."""
    return math.ceil(sum(_tokens_of_piece(piece) for piece in _PIECE.findall(text)))


def _tokens_of_piece(piece: str) -> float:
    if piece[0] in " \t":
        return 0.0 if len(piece) == 1 else 1.0
    if not piece.isascii() or not piece.isalnum():
        return next((tokens for above, tokens in _ALPHABETS if piece < above), _RARE)
    if len(piece) <= _LONGEST_WORD and _WORD.fullmatch(piece):
        return math.ceil(len(piece) / _LETTERS_PER_TOKEN)
    return float(len(piece))  # numbers, names of programs, base64


def likely_tokens(text: str) -> int:
    """An estimate of the tokens of a text with a current vocabulary: within an eighth of cl100k for English,
    code and JSON, and above it for other alphabets."""
    return sum(_likely_tokens_of_piece(piece) for piece in _LIKELY_PIECE.findall(text))


def _likely_tokens_of_piece(piece: str) -> int:
    if not piece.isascii():
        return 1
    length = 7 if piece.isalpha() else 3 if piece.isdigit() else 4
    return math.ceil(len(piece) / length)


def as_text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def page(
    answer: dict[str, JsonValue], lists: Sequence[str], offset: int, limit: int | None = None
) -> dict[str, JsonValue]:
    """The part of an answer that begins at entry `offset` and has at most `limit` entries and PAGE_TOKENS
    tokens.

    Entries are numbered through all of `lists`, in their order. `next_offset` of a page is the start of the
    next one; the last page has none. In an entry that is larger than a page, and in the content outside the
    lists, the longest texts are cut and marked by "[…]".
    """
    beside = {name: [] if name in lists else value for name, value in answer.items()}
    found = cast("dict[str, JsonValue]", fitting(beside, PAGE_TOKENS // 2))
    entries = [(name, entry) for name in lists for entry in cast("list[JsonValue]", answer.get(name) or [])]
    room = PAGE_TOKENS - tokens_of(as_text(found)) - _OFFSET_TOKENS
    taken = 0
    for name, entry in entries[offset : None if limit is None else offset + limit]:
        fit = fitting(entry, room if not taken else PAGE_TOKENS)
        size = tokens_of(as_text(fit)) + 1
        if taken and size > room:
            break
        cast("list[JsonValue]", found[name]).append(fit)
        room -= size
        taken += 1
    if offset + taken < len(entries):
        found["next_offset"] = offset + taken
    return found


def fitting(value: JsonValue, tokens: int) -> JsonValue:
    """The value with its longest texts and lists halved, marked by "[…]", until it has at most `tokens`
    tokens."""
    while tokens_of(as_text(value)) > tokens:
        longest = max(_sizes(value), default=0)
        if longest <= _SHORTEST:
            return value
        value = _shortened(value, longest)
    return value


def _sizes(value: JsonValue) -> list[int]:
    match value:
        case str():
            return [len(value)]
        case list():
            return [len(value), *(size for one in value for size in _sizes(one))]
        case dict():
            return [size for one in value.values() for size in _sizes(one)]
    return []


def _shortened(value: JsonValue, longest: int) -> JsonValue:
    match value:
        case str() if len(value) >= longest:
            return value[: longest // 2] + _CUT
        case list():
            return [
                _shortened(one, longest) for one in value[: longest // 2 if len(value) >= longest else None]
            ]
        case dict():
            return {name: _shortened(one, longest) for name, one in value.items()}
    return value


# Projections of an answer and of its schema: an agent pays for every key that it reads.


Schema = dict[str, JsonValue]

Keep = Mapping[str, "Keep | None"]
"""The keys of an object to keep. None keeps the whole value; a mapping selects keys of the object, or of each
object of the list."""


def keys(*names: str, **nested: Keep | None) -> Keep:
    """Keeps the keys `names` whole, and for each of `nested` the keys that it selects."""
    return {**dict.fromkeys(names), **nested}


def project(value: JsonValue, keep: Keep | None) -> JsonValue:
    """The part of a JSON value that `keep` selects, in the order of `keep`. Missing keys stay missing."""
    if keep is None:
        return value
    if isinstance(value, list):
        return [project(one, keep) for one in value]
    if isinstance(value, dict):
        return {
            name: project(value[name], inner) for name, inner in keep.items() if value.get(name) is not None
        }
    return value


def kept_schema(schema: Schema, keep: Keep | None) -> Schema:
    """The schema of the selected part of a value, without titles and descriptions: the type of every selected
    key, and the required keys. Keys that an object lacks are omitted.

    A value that may be null is omitted when it is null, so null is not one of its types and its key is not
    required: some hosts do not accept a list of types.
    """
    if "anyOf" in schema:
        parts = _without_null(schema)
        return kept_schema(parts[0], keep) if len(parts) == 1 else {}
    if schema.get("type") == "array":
        return {"type": "array", "items": kept_schema(cast("Schema", schema["items"]), keep)}
    if "properties" not in schema:
        return {name: value for name, value in schema.items() if name in ("type", "enum")}
    properties = cast("dict[str, Schema]", schema["properties"])
    names = [name for name in (properties if keep is None else keep) if name in properties]
    present = set(cast("list[str]", schema.get("required", []))) & set(names)
    return {
        "type": "object",
        "properties": {name: kept_schema(properties[name], keep[name] if keep else None) for name in names},
        "required": [name for name in names if name in present and not _may_be_null(properties[name])],
    }


def _without_null(schema: Schema) -> list[Schema]:
    return [one for one in cast("list[Schema]", schema["anyOf"]) if one.get("type") != "null"]


def _may_be_null(schema: Schema) -> bool:
    return "anyOf" in schema and len(_without_null(schema)) < len(cast("list[Schema]", schema["anyOf"]))


def merged_schema(schemas: list[Schema]) -> Schema:
    """One object schema with the properties of all, for an answer that is one of several objects. A key is
    required if all of them require it."""
    properties: dict[str, JsonValue] = {}
    for schema in schemas:
        properties.update(cast("dict[str, JsonValue]", schema["properties"]))
    first, *others = (cast("list[str]", schema["required"]) for schema in schemas)
    required = [name for name in first if all(name in other for other in others)]
    return {"type": "object", "properties": properties, "required": cast("JsonValue", required)}
