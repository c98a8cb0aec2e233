"""Where a text may be cut without dividing what a reader sees as one character."""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
_VIRAMA = 9
"""The combining class of signs that join two consonants of an Indic script."""

_MOST_MARKS = 64
"""A cut is moved so far at most: a longer cluster is noise. A rule of thumb."""


def cluster_start(text: str, at: int, end: int) -> int:
    """The first place from `at` on, up to `end`, at which no character is divided."""
    if text.isascii():
        return at
    for place in range(at, min(at + _MOST_MARKS, end) + 1):
        if not _divides(text, place):
            return place
    return at


def cluster_end(text: str, at: int, start: int) -> int:
    """The last place up to `at`, down to `start`, at which no character is divided."""
    if text.isascii():
        return at
    for place in range(at, max(at - _MOST_MARKS, start) - 1, -1):
        if not _divides(text, place):
            return place
    return at


def _divides(text: str, at: int) -> bool:
    """Whether a cut at `at` divides an extended grapheme cluster of Unicode (UAX 29), near enough."""
    if not 0 < at < len(text) or text[at].isascii():
        return text[at - 1 : at + 1] == "\r\n"
    before, after = text[at - 1], text[at]
    if unicodedata.category(after)[0] == "M" or before == _JOINER or _extends(after):
        return True
    if unicodedata.combining(before) == _VIRAMA:
        return True
    if _is_flag(before) and _is_flag(after):
        first = at
        while first and _is_flag(text[first - 1]):
            first -= 1
        return (at - first) % 2 == 1
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
