"""Inline content: one pass over a block's text, linear in its length.

tree-sitter's inline grammar is not used here: it knows neither Obsidian's syntax nor reference
definitions, and is quadratic on unclosed emphasis (140 KB: 6 s). Emphasis does not matter for links
and tags, so a scanner of tokens with a stack of brackets is enough, and several times faster.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

PUNCTUATION = r"!-/:-@\[-`{-~"
TOKEN = re.compile(
    rf"""
      (?P<escape>\\[{PUNCTUATION}])
    | (?P<ticks>`+)
    | (?P<wiki>!?\[\[(?:(?!\[\[|\]\])[^\r\n])+\]\])
    | (?P<open>!?\[)
    | (?P<close>\])
    | (?P<auto><[A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^\s<>]*>)
    | (?P<html></?[A-Za-z][^<>]*>)
    | (?P<math>\$\$|\$(?=[^\s$]))
    | (?P<tag>(?:(?<=[\s|])|^)\#[^\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f'"!#$%&()*+,.:;<=>?@^`{{|}}~\[\]\\\s]+)
    """,
    re.VERBOSE,
)
NEEDS_SCAN = re.compile(r"[\[#]")
TICKS = re.compile(r"`+")
MATH_END = re.compile(r"(?<=[^\s\\$])\$(?!\d)")
DESTINATION_PIECE = re.compile(rf"[^\s()\\\x00-\x1f\x7f]+|\\[{PUNCTUATION}]|\\|[()]")
ANGLE_DESTINATION = re.compile(rf"<((?:[^<>\\\r\n]|\\[{PUNCTUATION}]|\\)*)>")
SPACE = re.compile(r"[ \t\r\n]*")
TITLE = re.compile(
    r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)""",
    re.DOTALL,
)
LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999})\]", re.DOTALL)
MAX_PARENTHESES = 32


class SpanKind(Enum):
    """What a scan can find."""

    WIKILINK = "wikilink"
    EMBED = "embed"
    LINK = "link"
    IMAGE = "image"
    TAG = "tag"
    CODE = "code"
    ESCAPE = "escape"
    AUTOLINK = "autolink"
    HTML = "html"
    MATH = "math"


class Span(NamedTuple):
    """A find: `start` and `end` of its source, and the span of what it shows (`inner`).

    `destination` is a link's destination as written, without the angle brackets.
    """

    kind: SpanKind
    start: int
    end: int
    inner_start: int
    inner_end: int
    destination: str = ""


class _Bracket(NamedTuple):
    start: int
    after: int
    image: bool


class InlineScan:
    """One scan of `text[start:end]`; `definitions` maps normalised labels to destinations."""

    def __init__(self, text: str, start: int, end: int, definitions: Mapping[str, str]) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.definitions = definitions
        self.brackets: list[_Bracket] = []
        self.links_until = -1
        self.runs: dict[int, list[int]] | None = None

    def spans(self) -> Iterator[Span]:
        """Everything found, in the order in which it ends."""
        position = self.start
        text, end = self.text, self.end
        while match := TOKEN.search(text, position, end):
            span, position = self._token(match)
            if span is not None:
                yield span
