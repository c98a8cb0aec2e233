"""How large an answer may be, and how it is divided into pages."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import cast

from vault_indexer.model import JsonValue

MAX_TOKENS = 8_000
"""Of a whole result: hosts cut or refuse larger ones (Claude Code warns from 10,000)."""

PAGE_TOKENS = MAX_TOKENS // 2 - 100
"""Of a page. A result holds it twice, as text and as structured content, and hosts differ in which one the
model gets."""

_PIECE = re.compile(r"[A-Za-z]+|\d+|[ \t]+|[^A-Za-z\d \t]")
_LETTERS_PER_TOKEN = 4
_DIGITS_PER_TOKEN = 2
_WIDE = "\u2e80"
"""From here on stand the characters of East Asia and emoji, which take one to two tokens each."""

_OFFSET_TOKENS = 20
"""For `next_offset`."""

_SHORTEST = 40
_CUT = " […]"


def tokens_of(text: str) -> int:
    """An upper estimate of the tokens of a text, for the vocabularies in use. Exact counts differ between
    models, so each class of characters is counted as the poorest of them does."""
    return math.ceil(sum(_tokens_of_piece(piece) for piece in _PIECE.findall(text)))


def _tokens_of_piece(piece: str) -> float:
    first = piece[0]
    if first in " \t":
        return 0.0 if len(piece) == 1 else 1.0
    if first.isascii():
        per_token = _DIGITS_PER_TOKEN if first.isdigit() else _LETTERS_PER_TOKEN if first.isalpha() else 1
        return math.ceil(len(piece) / per_token)
    return 0.75 if first < _WIDE else 1.75


def as_text(value: JsonValue) -> str:
    """The JSON text that a result holds."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def page(
    answer: dict[str, JsonValue], lists: Sequence[str], offset: int, limit: int | None = None
) -> dict[str, JsonValue]:
    """The part of an answer that begins at entry `offset` and has at most `limit` entries and PAGE_TOKENS
    tokens.

    Entries are counted through all of `lists`, in their order. `next_offset` of the page is where the next
    one begins; the last page has none. An entry that is larger than a page has its longest texts cut,
    marked by "[…]". So has what stands beside the lists.
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
