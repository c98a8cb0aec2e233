"""Finds places to cut a text without dividing a link, a picture, an address or emphasis."""

from __future__ import annotations

import re
import unicodedata

from vault_indexer.text.sentences import whole_spans

_NEAR = 20
"""The maximum length of a word, in characters, by which a cut moves. A rule of thumb."""

_LONGEST = 400
"""The maximum length of an address or of markup by which a cut moves. A rule of thumb."""

_SPACES = " \n\t"
_ADDRESS = re.compile(r"://|%[0-9A-Fa-f]{2}")
_TOKEN = re.compile(rf"\S{{,{_LONGEST}}}")
_PICTURE = re.compile(r"[ \t>]*!(?:\[[^\]\n]*\]\([^)\n]*\)|\[\[[^\]\n]*\]\])\s*")


def markup_around(source: str, offset: int) -> tuple[int, int]:
    """Returns the span of the markup that a cut at `offset` would divide, or an empty one there."""
    first = max(source.rfind("\n", 0, offset) + 1, offset - _LONGEST)
    last = source.find("\n", offset, offset + _LONGEST)
    last = min(len(source), offset + _LONGEST) if last < 0 else last
    spans = ((first + start, first + end) for start, end in whole_spans(source[first:last]))
    return next(((start, end) for start, end in spans if start < offset < end), (offset, offset))


def word_start(text: str, offset: int) -> int:
    """Returns `offset`, or the start of the word or the end of the address that a cut would divide."""
    first = max(0, offset - _NEAR)
    near = max(text.rfind(space, first, offset + 1) for space in _SPACES)
    # If the text begins within reach and no space was found, `near` is -1 and the word begins at 0.
    if near >= 0 or first == 0:
        return near + 1
    address = _address_at(text, offset)
    return address[1] if address else offset


def word_end(text: str, offset: int) -> int:
    """Returns `offset`, or the beginning of the word or address that a cut there would divide."""
    if offset >= len(text):
        return offset
    near = text.rfind(" ", max(0, offset - _NEAR), offset)
    if near >= 0:
        return near
    address = _address_at(text, offset)
    # An address that begins the text is cut, because nothing would be left otherwise.
    return address[0] if address and address[0] else offset


def after_pictures(source: str, start: int, end: int, limit: int) -> int:
    """Returns the offset, up to `limit`, after the leading pictures; `start` if there is no other text."""
    at = start
    while at < end:
        last = source.find("\n", at, end) + 1 or end
        if last > limit or not (_PICTURE.fullmatch(source, at, last) or source[at:last].isspace()):
            return at if source[at:end].strip() else start
        at = last
    return start


def _address_at(text: str, offset: int) -> tuple[int, int] | None:
    """Returns the span of the token that a cut at `offset` would divide, if it is an address."""
    first = max(0, offset - _LONGEST)
    first += max(map(text[first:offset].rfind, _SPACES)) + 1
    token = _TOKEN.match(text, first)
    return token.span() if token and token.end() > offset > first and _ADDRESS.search(token[0]) else None


# Finds places to cut a text without dividing a character as a reader sees it.


_JOINER = "\u200d"
_VIRAMA = 9
"""The combining class of signs that join two consonants of an Indic script."""

_MOST_MARKS = 64
"""Limit of characters by which a cut moves. A longer cluster is noise. A rule of thumb."""


def cluster_start(text: str, offset: int, end: int) -> int:
    """Returns the first offset from `offset` to `end` that does not divide a character."""
    if text.isascii():
        return offset
    for place in range(offset, min(offset + _MOST_MARKS, end) + 1):
        if not _divides(text, place):
            return place
    return offset


def cluster_end(text: str, offset: int, start: int) -> int:
    """Returns the last offset from `start` to `offset` that does not divide a character."""
    if text.isascii():
        return offset
    for place in range(offset, max(offset - _MOST_MARKS, start) - 1, -1):
        if not _divides(text, place):
            return place
    return offset


def _divides(text: str, offset: int) -> bool:
    """Whether a cut at `offset` divides an extended grapheme cluster of Unicode (UAX 29), approximately."""
    if not 0 < offset < len(text) or text[offset].isascii():
        return text[offset - 1 : offset + 1] == "\r\n"
    before, after = text[offset - 1], text[offset]
    if unicodedata.category(after)[0] == "M" or before == _JOINER or _extends(after):
        return True
    if unicodedata.combining(before) == _VIRAMA:
        return True
    if _is_flag(before) and _is_flag(after):
        first = offset  # flags are pairs of regional indicators: count them from the start of the sequence
        while first and _is_flag(text[first - 1]):
            first -= 1
        return (offset - first) % 2 == 1
    return _is_jamo(before) and "\u1160" <= after <= "\u11ff"


def _extends(char: str) -> bool:
    """Whether it is a joiner, a skin tone, a flag tag, a half-width sound mark, a vowel of Thai or Lao."""
    return (
        char in "\u200c\u200d\uff9e\uff9f\u0e33\u0eb3"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
    )


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_jamo(char: str) -> bool:
    return "\u1100" <= char <= "\u11ff" or "\uac00" <= char <= "\ud7a3"
