"""Where a text may be cut without dividing a link, a picture, an address or emphasis."""

from __future__ import annotations

import re

from vault_indexer.text.sentences import whole_spans

_NEAR = 20
"""A cut moves by a word of at most this length, and by an address of `_LONGEST`. A rule of thumb."""

_LONGEST = 400
"""A rule of thumb."""

_SPACES = " \n\t"
_ADDRESS = re.compile(r"://|%[0-9A-Fa-f]{2}")
_TOKEN = re.compile(r"\S{,400}")
_PICTURE = re.compile(r"[ \t>]*!(?:\[[^\]\n]*\]\([^)\n]*\)|\[\[[^\]\n]*\]\])\s*")


def markup_start(source: str, offset: int) -> int:
    """`offset`, or the beginning of the markup that a cut there would divide."""
    found = _markup_at(source, offset)
    return found[0] if found else offset


def markup_end(source: str, offset: int) -> int:
    """`offset`, or the end of the markup that a cut there would divide."""
    found = _markup_at(source, offset)
    return found[1] if found else offset


def word_start(text: str, offset: int) -> int:
    """`offset`, or where a word begins, or an address ends, that is divided there."""
    first = max(0, offset - _NEAR)
    near = max(text.rfind(space, first, offset + 1) for space in _SPACES)
    if near >= 0 or first == 0:
        return near + 1
    found = _address_at(text, offset)
    return found[1] if found else offset


def word_end(text: str, offset: int) -> int:
    """`offset`, or where the word or address that is divided there begins."""
    if offset >= len(text):
        return offset
    near = text.rfind(" ", max(0, offset - _NEAR), offset)
    if near >= 0:
        return near
    found = _address_at(text, offset)
    return found[0] if found and found[0] else offset


def after_pictures(source: str, start: int, end: int, limit: int) -> int:
    """Where the text goes on after the pictures that stand first in `source[start:end]`, at most `limit`;
    `start` if there is nothing else."""
    at = start
    while at < end:
        last = source.find("\n", at, end) + 1 or end
        if last > limit or not (_PICTURE.fullmatch(source, at, last) or source[at:last].isspace()):
            return at if source[at:end].strip() else start
        at = last
    return start


def _markup_at(source: str, offset: int) -> tuple[int, int] | None:
    first = max(source.rfind("\n", 0, offset) + 1, offset - _LONGEST)
    last = source.find("\n", offset, offset + _LONGEST)
    last = min(len(source), offset + _LONGEST) if last < 0 else last
    spans = whole_spans(source[first:last])
    return next(((first + s, first + e) for s, e in spans if first + s < offset < first + e), None)


def _address_at(text: str, offset: int) -> tuple[int, int] | None:
    """The span of the token that is divided at a place, if it is an address."""
    first = max(0, offset - _LONGEST)
    first += max(map(text[first:offset].rfind, _SPACES)) + 1
    token = _TOKEN.match(text, first)
    return token.span() if token and token.end() > offset > first and _ADDRESS.search(token[0]) else None
