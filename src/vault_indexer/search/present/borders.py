"""Where a text may be cut without dividing a link, a picture, an address or emphasis."""

from __future__ import annotations

import re

from vault_indexer.text.sentences import whole_spans

_NEAR = 20
"""A cut moves by a word of so many characters at most, and by an address of `_LONGEST`. A rule of thumb."""

_LONGEST = 400
"""A rule of thumb."""

_ADDRESS = re.compile(r"://|%[0-9A-Fa-f]{2}")
_TOKEN = re.compile(r"\S{,400}")
_PICTURE = re.compile(r"[ \t>]*!(?:\[[^\]\n]*\]\([^)\n]*\)|\[\[[^\]\n]*\]\])\s*")


def markup_start(source: str, at: int) -> int:
    """`at`, or the beginning of the markup that a cut there would divide."""
    found = _markup_at(source, at)
    return found[0] if found else at


def markup_end(source: str, at: int) -> int:
    """`at`, or the end of the markup that a cut there would divide."""
    found = _markup_at(source, at)
    return found[1] if found else at


def word_start(text: str, at: int) -> int:
    """`at`, or where a word begins, or an address ends, that is divided there."""
    near = text.rfind(" ", max(0, at - _NEAR), at + 1)
    if at == 0 or near >= 0:
        return near + 1 if near >= 0 else at
    found = _address_at(text, at)
    return found[1] if found else at


def word_end(text: str, at: int) -> int:
    """`at`, or where the word or address that is divided there begins."""
    if at >= len(text):
        return at
    near = text.rfind(" ", max(0, at - _NEAR), at)
    if near >= 0:
        return near
    found = _address_at(text, at)
    return found[0] if found and found[0] else at


def after_pictures(source: str, start: int, end: int, most: int) -> int:
    """Where the text goes on after the pictures that stand first in `source[start:end]`, if that is `most` at
    most; `start` if there is nothing else."""
    at = start
    while at < end:
        last = source.find("\n", at, end) + 1 or end
        if last > most or not (_PICTURE.fullmatch(source, at, last) or source[at:last].isspace()):
            return at if source[at:end].strip() else start
        at = last
    return start


def _markup_at(source: str, at: int) -> tuple[int, int] | None:
    first = max(source.rfind("\n", 0, at) + 1, at - _LONGEST)
    last = source.find("\n", at, at + _LONGEST)
    last = min(len(source), at + _LONGEST) if last < 0 else last
    spans = whole_spans(source[first:last])
    return next(((first + s, first + e) for s, e in spans if first + s < at < first + e), None)


def _address_at(text: str, at: int) -> tuple[int, int] | None:
    """The span of the token that is divided at a place, if it is an address."""
    first = max(0, at - _LONGEST)
    first += max(map(text[first:at].rfind, " \n\t")) + 1
    token = _TOKEN.match(text, first)
    return token.span() if token and token.end() > at > first and _ADDRESS.search(token[0]) else None
