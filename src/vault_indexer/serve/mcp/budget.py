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
"""Characters below each, and the tokens that one of them takes at most. Emoji and rare characters, above,
take a token for each of their bytes."""

_RARE = 4.0

_OFFSET_TOKENS = 20
"""For `next_offset`."""

_SHORTEST = 40
_CUT = " […]"


def tokens_of(text: str) -> int:
    """An upper estimate of the tokens of a text. The vocabulary of the host's model is unknown, so
    characters are counted as by one of the poorest in use, that of Llama 2."""
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
    """About the tokens of a text by a vocabulary of today: within an eighth of those of cl100k for English,
    code and JSON, and above them for other alphabets."""
    return sum(_likely_tokens_of_piece(piece) for piece in _LIKELY_PIECE.findall(text))


def _likely_tokens_of_piece(piece: str) -> int:
    if not piece.isascii():
        return 1
    length = 7 if piece.isalpha() else 3 if piece.isdigit() else 4
    return math.ceil(len(piece) / length)


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
    marked by "[…]". So does what is outside the lists.
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
