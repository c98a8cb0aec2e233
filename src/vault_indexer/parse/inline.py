"""Inline content: one pass over a block's text, linear in its length.

tree-sitter's inline grammar is not used here: it supports neither Obsidian's syntax nor reference
definitions, and is quadratic on unclosed emphasis (140 KB: 6 s). Emphasis does not matter for links and tags,
so a scanner of tokens with a stack of brackets is enough, and several times faster.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import accumulate
from typing import NamedTuple

PUNCTUATION = r"!-/:-@\[-`{-~"
TAG = r"\#[^\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f'\"!#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]+"
ATTRIBUTE = r"""\s++[A-Za-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s"'=<>`]++|'[^'<>]*+'|"[^"<>]*+"))?"""
TOKEN = re.compile(
    rf"""
      (?P<escape>\\[{PUNCTUATION}])
    | (?P<ticks>`++)
    | (?P<wiki>!?\[\[(?!\[)(?:(?!\[\[|\]\])[^\r\n])+\]\])
    | (?P<open>!?\[)
    | (?P<close>\])
    | (?P<auto><[A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^\s<>]*+>)
    | (?P<html></?[A-Za-z][A-Za-z0-9-]*+(?:{ATTRIBUTE})*\s*+/?>)
    | (?P<comment><!--)
    | (?P<math>\$\$|\$(?=[^\s$]))
    | (?P<tag>{TAG})
    """,
    re.VERBOSE,
)
SIGN = re.compile(r"[\\`!\[\]<$#]")
"""A possible start of a token. Searching for one character of a set is many times faster than for the
tokens."""

NEEDS_SCAN = re.compile(r"[\[#]")
WHOLE_TAG = re.compile(TAG)
TICKS = re.compile(r"`+")
MATH_END = re.compile(r"(?<=[^\s\\$])\$(?![\d$])")
COMMENT_END = re.compile(r"-->")
MATH_BLOCK_END = re.compile(r"\$\$")
LINE_END = re.compile(r"[\r\n]")
DESTINATION_MARK = re.compile(rf"[()\x00-\x20\x7f]|\\[{PUNCTUATION}]")
ANGLE_DESTINATION = re.compile(rf"<((?:[^<>\\\r\n]++|\\[{PUNCTUATION}]|\\(?![{PUNCTUATION}]))*)>")
SPACE = re.compile(r"[ \t\r\n]*")
TITLE = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)""", re.DOTALL)
LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999})\]", re.DOTALL)
# CommonMark requires at least three nested pairs, and its reference implementation allows 32.
MAX_PARENTHESES = 32
# CommonMark's limit of a label.
MAX_LABEL = 999
MAX_BRACKETS = 32  # the maximum number of open brackets; beyond it the outermost are text


class SpanKind(Enum):
    """The kinds of inline syntax that a scan finds."""

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
    """An occurrence of inline syntax: `start` and `end` of its source, and the span of its visible text
    (`inner`).

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
        self.closed_below = 0  # brackets below this index cannot become links: links do not nest
        self.too_deep = False  # whether a dropped bracket could have become a link
        self.given_up = 0
        self.runs: dict[int, list[int]] | None = None
        self.ahead: dict[re.Pattern[str], int] = {}

    def spans(self) -> Iterator[Span]:
        """Yields all spans; those inside a link precede the link."""
        position = self.start
        at_sign, text, end = TOKEN.match, self.text, self.end
        for sign in SIGN.finditer(text, position, end):
            match = at_sign(text, sign.start(), end) if sign.start() >= position else None
            if match is None:
                continue
            span = getattr(self, f"_{match.lastgroup}")(match)
            position = match.end() if span is None else max(span.end, match.end())
            if span is not None:
                yield span

    def _escape(self, match: re.Match[str]) -> Span:
        return Span(SpanKind.ESCAPE, match.start(), match.end(), match.start() + 1, match.end())

    def _wiki(self, match: re.Match[str]) -> Span:
        embed = match[0][0] == "!"
        kind = SpanKind.EMBED if embed else SpanKind.WIKILINK
        return Span(kind, match.start(), match.end(), match.start() + 2 + embed, match.end() - 2)

    def _auto(self, match: re.Match[str]) -> Span:
        return Span(SpanKind.AUTOLINK, match.start(), match.end(), match.start() + 1, match.end() - 1)

    def _html(self, match: re.Match[str]) -> Span:
        return Span(SpanKind.HTML, match.start(), match.end(), match.end(), match.end())

    def _comment(self, match: re.Match[str]) -> Span | None:
        # `<!-->` and `<!--->` are whole comments: the end may share dashes with the beginning.
        end = self._next(COMMENT_END, match.start() + 2) + 3
        return Span(SpanKind.HTML, match.start(), end, end, end) if end <= self.end else None

    def _tag(self, match: re.Match[str]) -> Span | None:
        start = match.start()
        before = self.text[start - 1] if start > self.start else " "
        if not (before.isspace() or before == "|"):
            return None
        name = tag_name(match[0][1:])
        if not name:
            return None
        return Span(SpanKind.TAG, start, start + 1 + len(name), start + 1, start + 1 + len(name))

    def _ticks(self, match: re.Match[str]) -> Span | None:
        length = len(match[0])
        if self.runs is None:
            self.runs = {}
            for run in TICKS.finditer(self.text, match.start(), self.end):
                self.runs.setdefault(len(run[0]), []).append(run.start())
        candidates = self.runs.get(length, [])
        index = bisect_right(candidates, match.start())
        if index == len(candidates):
            return None
        close = candidates[index]
        return Span(SpanKind.CODE, match.start(), close + length, match.end(), close)

    def _math(self, match: re.Match[str]) -> Span | None:
        block = match[0] == "$$"
        close = self._next(MATH_BLOCK_END if block else MATH_END, match.end())
        if close >= self.end or (not block and self._next(LINE_END, match.end()) < close):
            return None
        return Span(SpanKind.MATH, match.start(), close + len(match[0]), match.end(), close)

    def _next(self, pattern: re.Pattern[str], position: int) -> int:
        """Start of the first match at or after `position` (the end if there is none). Positions only
        increase, so the text is searched once per pattern."""
        known = self.ahead.get(pattern, -1)
        if known < position:
            match = pattern.search(self.text, position, self.end)
            known = self.ahead[pattern] = match.start() if match else self.end
        return known

    def _open(self, match: re.Match[str]) -> None:
        if len(self.brackets) == MAX_BRACKETS:
            del self.brackets[0]
            self.closed_below = max(0, self.closed_below - 1)
            self.given_up += 1
        self.brackets.append(_Bracket(match.start(), match.end(), match[0][0] == "!"))

    def _close(self, match: re.Match[str]) -> Span | None:
        if not self.brackets:
            self.too_deep = self.too_deep or (
                self.given_up > 0 and inline_tail(self.text, match.end(), self.end) is not None
            )
            self.given_up = max(0, self.given_up - 1)
            return None
        bracket = self.brackets.pop()
        closed = len(self.brackets) < self.closed_below
        self.closed_below = min(self.closed_below, len(self.brackets))
        if closed and not bracket.image:
            return None
        tail = inline_tail(self.text, match.end(), self.end) or self._reference(bracket, match)
        if tail is None:
            return None
        # CommonMark: a link contains no other link. The text of an image may contain some.
        if not bracket.image:
            self.closed_below = len(self.brackets)
        kind = SpanKind.IMAGE if bracket.image else SpanKind.LINK
        return Span(kind, bracket.start, tail[1], bracket.after, match.start(), tail[0])

    def _reference(self, bracket: _Bracket, match: re.Match[str]) -> tuple[str, int] | None:
        """Destination and end of a full, collapsed or shortcut reference link."""
        if not self.definitions:
            return None
        end = match.end()
        label = LABEL.match(self.text, end, self.end)
        if label:
            end = label.end()
        if label and label[1].strip():
            name = label[1]
        elif match.start() - bracket.after <= MAX_LABEL:
            name = self.text[bracket.after : match.start()]
        else:
            return None
        destination = self.definitions.get(normal_label(name))
        return None if destination is None else (destination, end)


def tag_name(candidate: str) -> str:
    """The longest start of `candidate` (without `#`) that is a tag, or "".

    Letters, digits, marks, emoji, `_`, `-`, `/` of any script; not only digits.
    """
    if not candidate.isascii():
        for index, char in enumerate(candidate):
            category = unicodedata.category(char)
            if not (char in "_-/\u200d" or category[0] in "LMN" or category in ("So", "Sk")):
                candidate = candidate[:index]
                break
    name = candidate.rstrip("/")
    return name if any(not (char.isdigit() or char in "-/") for char in name) else ""


def inline_tail(text: str, start: int, end: int) -> tuple[str, int] | None:
    """Destination (as written) and end of a `(destination "title")` that begins at `start`."""
    if start >= end or text[start] != "(":
        return None
    position = skip_space(text, start + 1, end)
    destination, position = link_destination(text, position, end)
    after = skip_space(text, position, end)
    if after > position and (title := TITLE.match(text, after, end)):
        after = skip_space(text, title.end(), end)
    return (destination, after + 1) if after < end and text[after] == ")" else None


def link_destination(text: str, start: int, end: int) -> tuple[str, int]:
    """The destination at `start` (without angle brackets) and its end; "" if there is none."""
    if angled := ANGLE_DESTINATION.match(text, start, end):
        return angled[1], angled.end()
    if text.startswith("<", start):
        return "", start
    depth = 0
    for mark in DESTINATION_MARK.finditer(text, start, end):
        match mark[0]:
            case "(" if depth < MAX_PARENTHESES:
                depth += 1
            case ")" if depth:
                depth -= 1
            case escaped if len(escaped) > 1:
                pass
            case _:
                return text[start : mark.start()], mark.start()
    return text[start:end], end


def skip_space(text: str, start: int, end: int) -> int:
    match = SPACE.match(text, start, end)
    return match.end() if match else start


def normal_label(label: str) -> str:
    """Normalises a reference label: case-insensitive, with runs of whitespace as one space."""
    return " ".join(label.split()).casefold()


# Line numbers of character offsets.


LARGE = 1_000_000
LINE_BREAK = re.compile(r"\r\n?|\n")


class Lines:
    """1-based line numbers; `\\n`, `\\r\\n` and a lone `\\r` each end a line, as in CommonMark."""

    def __init__(self, text: str) -> None:
        # An array, because a note can have millions of lines.
        if "\r" in text or len(text) > LARGE:
            self._starts = array("I", [0])
            self._starts.extend(match.end() for match in LINE_BREAK.finditer(text))
        else:  # several times faster, and sufficient for most notes
            self._starts = array("I", accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
            self._starts.pop()

    def at(self, position: int) -> int:
        """The line that contains the character at `position`."""
        return bisect_right(self._starts, position)
