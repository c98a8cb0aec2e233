"""The size limit of answers, and their division into pages."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import cast

from vault_indexer.model import JsonValue

DEFAULT_TOKENS = 4_000
"""The limit of a result that names none: hosts cut or refuse large ones (Claude Code warns from 10,000)."""

MAX_TOKENS = 20_000
"""The largest limit that a call can name."""

_SPARE = 0.9
"""The share of the limit that is used: the estimate is within an eighth of the tokens of most models."""

_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9\x80-\U0010ffff]+|\n\s*|[^\x00-\x7f]")
_TOKENS_OF_CHARACTER = (
    ("\u0590", 0.5),  # European alphabets
    ("\u2000", 0.8),  # other alphabets
    ("\u2e80", 1.0),  # punctuation and symbols
    ("\U00010000", 1.0),  # East Asia
)
"""The upper bound of a range of characters, and the tokens of one of them. Emoji and rare characters, above
all ranges, take more."""

_RARE = 2.5

_OFFSET_TOKENS = 12
"""The tokens reserved for `next_offset`."""

_SHORTEST = 40
_CUT = " […]"


def tokens_of(text: str) -> int:
    """The tokens of a text by a large vocabulary: within an eighth of o200k for English, code and JSON, and
    rather above it for other alphabets."""
    return math.ceil(sum(_tokens_of_piece(piece) for piece in _PIECE.findall(text)))


def _tokens_of_piece(piece: str) -> float:
    if not piece.isascii():
        return next((tokens for above, tokens in _TOKENS_OF_CHARACTER if piece < above), _RARE)
    if piece[0] == "\n":
        return 1
    length = 7 if piece.isalpha() else 3 if piece.isdigit() else 4
    return math.ceil(len(piece) / length)


def room_of(max_tokens: int) -> int:
    """The estimated tokens that a result with this limit may have."""
    return int(max_tokens * _SPARE)


PAGE_TOKENS = room_of(DEFAULT_TOKENS)


def as_text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def page(
    answer: dict[str, JsonValue],
    lists: Sequence[str],
    offset: int,
    limit: int | None = None,
    tokens: int = PAGE_TOKENS,
) -> dict[str, JsonValue]:
    """The part of an answer that begins at entry `offset` and has at most `limit` entries and `tokens`
    tokens.

    Entries are numbered through all of `lists`, in their order. `next_offset` of a page is the start of the
    next one; the last page has none. In an entry that is larger than a page, and in the content outside the
    lists, the longest texts are cut and marked by "[…]".
    """
    beside = {name: [] if name in lists else value for name, value in answer.items()}
    found = cast("dict[str, JsonValue]", fitting(beside, tokens // 2))
    entries = [(name, entry) for name in lists for entry in cast("list[JsonValue]", answer.get(name) or [])]
    room = tokens - tokens_of(as_text(found)) - _OFFSET_TOKENS
    taken = 0
    for name, entry in entries[offset : None if limit is None else offset + limit]:
        # The first entry is cut to the page, or the next page would begin with it again.
        fit = fitting(entry, room if not taken else tokens)
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
    # All texts of the greatest length are halved together, so that none of several equal ones is cut alone.
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


Schema = dict[str, JsonValue]

Keep = Mapping[str, "Keep | None"]
"""The keys of an object to keep: an agent pays for every key that it reads. None keeps the whole value; a
mapping selects keys of the object, or of each object of the list."""


def keys(*names: str, **nested: Keep | None) -> Keep:
    """Keeps the keys `names` whole, and for each of `nested` the keys that it selects."""
    return {**dict.fromkeys(names), **nested}


def project(value: JsonValue, keep: Keep | None) -> JsonValue:
    """The part of a JSON value that `keep` selects, in the order of `keep`, without missing and null keys."""
    if keep is None:
        return value
    if isinstance(value, list):
        return [project(one, keep) for one in value]
    if isinstance(value, dict):
        return {
            name: project(value[name], inner) for name, inner in keep.items() if value.get(name) is not None
        }
    return value
