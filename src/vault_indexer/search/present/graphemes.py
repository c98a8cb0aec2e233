"""Where a text may be cut without dividing what a reader sees as one character."""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
_VIRAMA = 9
"""The combining class of signs that join two consonants of an Indic script."""

_MOST_MARKS = 64
"""A cut is moved so far at most: a longer cluster is noise. A rule of thumb."""


def cluster_start(text: str, offset: int, end: int) -> int:
    """The first place from `offset` on, up to `end`, at which no character is divided."""
    if text.isascii():
        return offset
    for place in range(offset, min(offset + _MOST_MARKS, end) + 1):
        if not _divides(text, place):
            return place
    return offset


def cluster_end(text: str, offset: int, start: int) -> int:
    """The last place up to `offset`, down to `start`, at which no character is divided."""
    if text.isascii():
        return offset
    for place in range(offset, max(offset - _MOST_MARKS, start) - 1, -1):
        if not _divides(text, place):
            return place
    return offset


def _divides(text: str, offset: int) -> bool:
    """Whether a cut at `offset` divides an extended grapheme cluster of Unicode (UAX 29), near enough."""
    if not 0 < offset < len(text) or text[offset].isascii():
        return text[offset - 1 : offset + 1] == "\r\n"
    before, after = text[offset - 1], text[offset]
    if unicodedata.category(after)[0] == "M" or before == _JOINER or _extends(after):
        return True
    if unicodedata.combining(before) == _VIRAMA:
        return True
    if _is_flag(before) and _is_flag(after):
        first = offset
        while first and _is_flag(text[first - 1]):
            first -= 1
        return (offset - first) % 2 == 1
    return _is_jamo(before) and "\u1160" <= after <= "\u11ff"


def _extends(char: str) -> bool:
    """Joiners, skin tones, tags of flags, half-width sound marks, and vowels of Thai and Lao."""
    return (
        char in "\u200c\u200d\uff9e\uff9f\u0e33\u0eb3"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
    )


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_jamo(char: str) -> bool:
    return "\u1100" <= char <= "\u11ff" or "\uac00" <= char <= "\ud7a3"
