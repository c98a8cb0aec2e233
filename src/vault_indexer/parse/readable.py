"""Markdown without its markup, with the source position of every character.

The parser's tree is not used here: it is four times slower than this pass over the lines, and a chunk may
begin in the middle of a block. In code, and in a text that is only markup, nothing is removed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from vault_indexer.parse.inline import normal_label
from vault_indexer.parse.plain import MARKUP, NO_DEFINITIONS, markup_edits
from vault_indexer.text.sentences import clauses, sentences, whole_spans

Span = tuple[int, int]
Cut = tuple[int, int, str]

_LEAD = r"[ \t>]*(?:[-*+](?=[ \t\r\n]|$)[ \t>]*)*"
_FENCE = re.compile(
    rf"^(?P<lead>{_LEAD}(?:\d{{1,9}}[.)][ \t]+)?)(?P<mark>`{{3,}}|~{{3,}})(?P<info>[^\n]*)\n?", re.MULTILINE
)
CODE_SPAN = r"(?P<ticks>(?<!`)`+(?!`))(?:(?!\n[ \t]*\n).)*?(?<!`)(?P=ticks)(?!`)"
_HIDDEN = re.compile(
    rf"{CODE_SPAN}|<!--.*?(?:-->|\Z)|%%.*?%%"
    # An element ends before the next one of its kind, so that many open ones take linear time.
    r"|<(?P<element>svg|style|script)\b[^<>]*>(?:(?!<(?P=element)\b).)*?</(?P=element)[ \t]*>"
    r"|</?[a-z][a-z0-9-]*[ \t]*(?:[^<>\n]*\n(?![ \t]*\n))+[^<>\n]*>",
    re.DOTALL | re.IGNORECASE,
)
"""Inline code, and hidden syntax that may have several lines: comments, drawings, styles and tags."""
_MAY_BE_HIDDEN = re.compile(r"<!--|%%|</?[a-z][^<>\n]*\n|<(?:svg|style|script)\b", re.IGNORECASE)
_COMMENT_START = re.compile(rf"{CODE_SPAN}|(?P<comment><!--|%%)", re.DOTALL)
_NOT_BREAK = re.compile(r"[^\n]")
_LINE = re.compile(
    rf"""
    (?P<lead>{_LEAD})
    (?: (?P<callout>\[![^\]\r\n]+\][-+]?[ \t]*)
      | (?P<task>\[[^\]\r\n]\](?=[ \t])[ \t]*)
      | (?P<heading>\#{{1,6}}(?=[ \t\r\n]|$)[ \t]*)
      | (?P<rule>(?:=+|\*{{3,}}|_{{3,}}|[|:\- \t]*-[|:\- \t]*)(?=[ \t]*\r?(?:\n|\Z)))
      | (?P<row>\|)
      | (?P<footnote>\[\^[^\]\r\n]+\]:[ \t]*)
      | (?P<number>\d{{1,9}}[.)][ \t]+)
      | (?P<blank>\r?(?:\n|\Z))
    )?
    """,
    re.VERBOSE,
)
_DEFINITION = re.compile(
    r"""^[ \t>]*\[(?!\^)([^\[\]\r\n]+)\]:[ \t]*(?:<[^<>\r\n]*>|[^\s<]\S*)"""
    r"""(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?(?=[ \t]*\r?(?:\n|\Z))""",
    re.MULTILINE,
)
_BLOCK_ID = re.compile(r"(?:^|(?<=[ \t]))\^[A-Za-z0-9-]+[ \t\r]*\Z")
_HEADING_END = re.compile(r"[ \t]+#+[ \t\r]*\Z")
_PIPE = re.compile(r"(?<!\\)[ \t]*\|[ \t]*")
_FOOTNOTE_OR_BREAK = re.compile(r"\[\^[^\]\s]+\]|(?<!\\)\\(?=\n)")
_QUOTE_LEAD = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_BREAK = re.compile(r"</?(?:br|p|div|li|ul|ol|t[drh]|table|hr|h[1-6]|img|iframe)\b", re.IGNORECASE)
POINT = "· "
"""The sign before an item or a row."""

_CLOSERS = tuple(" .,;:!?)")
"""Before these, an omitted picture leaves no space."""


@dataclass(frozen=True)
class ReadableText:
    """A text without markup.

    Every character appears in the source in the same order, except a space between two cells or lines and the
    replacement of a character reference.
    """

    text: str
    _starts: list[int]
    _sources: list[int]
    _borders: tuple[int, ...] = ()
    _source: str = ""

    @cached_property
    def units(self) -> tuple[Span, ...]:
        found = sorted({self.place(border) for border in self._borders} | {0, len(self.text)})
        whole = [(self.place(start), self.place(end)) for start, end in whole_spans(self._source)]
        return tuple(_units(self.text, found, whole))

    def source(self, offset: int) -> int:
        """The source position of the character at `offset`."""
        piece = max(0, bisect_right(self._starts, offset) - 1)
        return self._sources[piece] + offset - self._starts[piece] if self._starts else 0

    def place(self, source: int) -> int:
        """The offset in the text of a source position. For a hidden character, the offset of the next visible
        one."""
        piece = bisect_right(self._sources, source) - 1
        if piece < 0:
            return 0
        last = self._starts[piece + 1] if piece + 1 < len(self._starts) else len(self.text)
        return min(self._starts[piece] + source - self._sources[piece], last)


def render_markdown(
    source: str, fence: str = "", labels: frozenset[str] = frozenset(), *, has_signs: bool = False
) -> ReadableText:
    """The source without markup. `fence` is the mark of the code block that contains its start ("": none);
    `labels` are those of links that are defined elsewhere (`link_labels`). With `has_signs`, a dot precedes
    each item of a list and each row of a table, a box each task, and a bar separates two cells."""
    defined = labels | link_labels(source)
    markup = _Markup(source, dict.fromkeys(defined, "") if defined else NO_DEFINITIONS, has_signs)
    for start, end, mark in code_blocks(source, fence):
        markup.add_code(start, end, mark)
    markup.add_prose(len(source))
    return _assemble(source, sorted(markup.cuts), markup.borders)


readable = lru_cache(maxsize=2048)(render_markdown)
"""The cache takes at most about 6 MB. While a user types a query, the same hits recur, and many queries have
hits in common."""


def blank_hidden(source: str, fence: str = "") -> str:
    """The source with blanks in place of invisible text that may have several lines, such as comments and
    drawings, outside of code. Every other character keeps its position."""
    if not _MAY_BE_HIDDEN.search(source):
        return source
    return rewrite_prose(source, _HIDDEN, lambda match: _NOT_BREAK.sub(" ", match[0]), fence)


def rewrite_prose(
    source: str, pattern: re.Pattern[str], rewrite: Callable[[re.Match[str]], str], fence: str = ""
) -> str:
    """The source with each match of the pattern rewritten, outside of code between fences. The pattern begins
    with `CODE_SPAN`, whose matches stay as they are."""
    parts: list[str] = []
    start = 0
    for first, last, _ in (*code_blocks(source, fence), (len(source), len(source), "")):
        for match in pattern.finditer(source, start, first):
            if match["ticks"] is None:
                parts += (source[start : match.start()], rewrite(match))
                start = match.end()
        parts.append(source[start:last])
        start = last
    return "".join(parts)


def link_labels(source: str) -> frozenset[str]:
    """The labels of the links that are defined in the source."""
    if "]:" not in source:
        return frozenset()
    return frozenset(normal_label(match[1]) for match in _DEFINITION.finditer(source))


def code_blocks(source: str, fence: str = "") -> Iterator[tuple[int, int, str]]:
    """Start, end and lead of each block of code between fences; an open one ends with the source."""
    return (block[:3] for block in _fenced_blocks(source, fence))


SOURCE_FENCE = "`" * 80
"""A mark that no line ends, for source files, which are code as a whole."""


def open_fence(source: str, fence: str = "") -> str:
    """The mark of the code block that is open at the end of the source, "" if there is none; `fence` is as in
    `render_markdown`."""
    return next((mark for *_, mark in _fenced_blocks(source, fence) if mark), "")


def _fenced_blocks(source: str, fence: str) -> Iterator[tuple[int, int, str, str]]:
    """The blocks of `code_blocks` in order, each with the mark of its opening fence if it is still open where
    the source ends, else "". A fence in a comment opens none."""
    start, lead, prose = 0, "", 0
    for match in _FENCE.finditer(source) if "```" in source or "~~~" in source else ():
        mark, info = match["mark"], match["info"]
        if not fence:
            prose = _end_of_comments(source, prose, match.start())
            if match.start() >= prose and (mark[0] == "~" or "`" not in info):
                fence, start, lead = mark, match.start(), match["lead"]
        elif mark.startswith(fence) and not info.strip():
            yield start, match.end(), lead, ""
            fence, prose = "", match.end()
    if fence:
        yield start, len(source), lead, fence


def _end_of_comments(source: str, start: int, end: int) -> int:
    """The end of the last comment that begins between `start` and `end`, outside of inline code; `start` if
    there is none. An HTML comment without an end takes the rest of the source, `%%` alone is text."""
    position = start
    while position < end and (match := _COMMENT_START.search(source, position, end)):
        position = match.end()
        if match["comment"] is None:  # inline code
            continue
        closing = "%%" if match["comment"] == "%%" else "-->"
        last = source.find(closing, position)
        if last >= 0:
            position = last + len(closing)
        elif closing == "-->":
            position = len(source)
        start = position
    return start


@dataclass(slots=True)
class _Markup:
    """The hidden parts of the source, and the starts of blocks."""

    source: str
    definitions: Mapping[str, str]
    has_signs: bool
    cuts: list[Cut] = field(default_factory=list)
    borders: list[int] = field(default_factory=list)
    position: int = 0

    def add_code(self, start: int, end: int, lead: str) -> None:
        """Adds a block of code. Its fences and the quote marks of its lines are hidden."""
        self.add_prose(start)
        source = self.source
        opening = _FENCE.match(source, start, end)
        first = opening.end() if opening else start
        last = source.rfind("\n", first, end - 1) + 1 or first
        closing = _FENCE.match(source, last, end)
        stop = last if closing and not closing["info"].strip() else end
        self.cuts += [(start, first, ""), (stop, end, "")]
        self.borders += [start, stop]
        self.borders += [match.end() for match in re.compile("\n").finditer(source, first, stop)]
        if ">" in lead:
            self.cuts += [(*match.span(), "") for match in _QUOTE_LEAD.finditer(source, first, stop)]
        self.position = end

    def add_prose(self, end: int) -> None:
        """Adds the prose up to `end`, without comments."""
        source, start = self.source, self.position
        if _MAY_BE_HIDDEN.search(source, start, end):
            for match in _HIDDEN.finditer(source, start, end):
                if match["ticks"] is None:
                    self._add_lines(start, match.start())
                    start = match.end()
                    if source[match.start() - 1 : match.start()] in ("", " ", "\n"):
                        start += len(source[start:end]) - len(source[start:end].lstrip(" "))
                    self.cuts.append((match.start(), start, ""))
        self._add_lines(start, end)
        self.position = end

    def _add_lines(self, start: int, end: int) -> None:
        leaf = start
        in_table = False
        while start < end:
            stop = self.source.find("\n", start, end) + 1 or end
            match = _LINE.match(self.source, start, stop)
            assert match
            kind = match.lastgroup or ""
            if start and self.source[start - 1] != "\n":  # after a comment
                start = stop
                continue
            if kind == "lead" and self.definitions and not self.source[leaf:start].strip():
                defined = _DEFINITION.match(self.source, start, stop)  # a definition does not end a paragraph
                kind, match = ("definition", defined) if defined else (kind, match)
            begins = kind != "lead" or match["lead"].strip(" \t>") != ""
            in_table = kind == "row" or (in_table and kind != "blank" and "|" in self.source[start:stop])
            if begins or in_table:
                self._add_inline(leaf, start)
                leaf = start
            if kind == "rule" and "|" in match["rule"] and not in_table:
                in_table = True
                self._add_row(self.source.rfind("\n", 0, max(0, start - 1)) + 1, start)
            self._add_line(match, kind, stop)
            if in_table and kind != "rule":
                self._add_row(start, stop)
            if kind in ("heading", "callout", "rule", "definition"):
                self._add_inline(leaf, stop)
                leaf = stop
            start = stop
        self._add_inline(leaf, end)

    def _add_line(self, match: re.Match[str], kind: str, stop: int) -> None:
        start = match.start()
        has_mark = kind != "definition" and match["lead"].strip(" \t>") != ""
        is_text = (
            kind in ("number", "row", "blank")
            or (kind == "callout" and ">" not in match["lead"])
            or (kind == "task" and not has_mark)
        )
        shown = match.start(kind) if is_text else match.end()
        is_item = kind == "number" or has_mark
        sign = f"{POINT}{match['task'] or ''}" if self.has_signs and is_item else ""
        if shown > start or sign:
            self.cuts.append((start, shown, sign))
        line = self.source[shown:stop].rstrip("\n")
        if "^" in line and (found := _BLOCK_ID.search(line)):
            self.cuts.append((shown + found.start(), shown + len(line), ""))
        if kind == "heading" and (found := _HEADING_END.search(line)):
            self.cuts.append((shown + found.start(), shown + len(line), ""))

    def _add_row(self, start: int, stop: int) -> None:
        if not self.has_signs:
            self.cuts += [(*match.span(), " ") for match in _PIPE.finditer(self.source, start, stop)]
            return
        row = self.source[start:stop].strip(" \t\r\n|")
        first = self.source.index(row, start)
        last = first + len(row)
        self.cuts += [(start, first, POINT), (last, stop, "\n")]
        self.cuts += [(*match.span(), " | ") for match in _PIPE.finditer(self.source, first, last)]

    def _add_inline(self, start: int, end: int) -> None:
        """Adds the start of a block and the markup within it."""
        if start >= end:
            return
        self.borders.append(start)
        if not MARKUP.search(self.source, start, end):
            return
        text = self.source[start:end]
        for first, last, shown in markup_edits(text, self.definitions):
            if last > first:
                gap = " " if _BREAK.match(text, first) else shown
                if text.startswith("![[", first) and text[last : last + 1] in _CLOSERS:
                    first -= first - len(text[:first].rstrip(" "))
                self.cuts.append((start + first, start + last, gap))
        if "[^" in text or "\\\n" in text:
            self.cuts += [(start + m.start(), start + m.end(), "") for m in _FOOTNOTE_OR_BREAK.finditer(text)]


def _assemble(source: str, cuts: Iterable[Cut], borders: Iterable[int]) -> ReadableText:
    parts: list[str] = []
    starts: list[int] = []
    sources: list[int] = []
    position = length = 0
    for start, end, gap in (*cuts, (len(source), len(source), "")):
        if start > position:
            starts.append(length)
            sources.append(position)
            parts.append(source[position:start])
            length += start - position
        if gap and (end > position or start == end):
            starts.append(length)
            sources.append(max(start, position))
            parts.append(gap)
            length += len(gap)
        position = max(position, end)
    return ReadableText("".join(parts), starts, sources, tuple(borders), source)


def _units(text: str, borders: list[int], whole: list[Span]) -> Iterator[Span]:
    """The sentences, or the clauses of a script without full stops, divided where a block begins."""
    spans = (
        (at + first, at + last) for at, end in sentences(text, whole) for first, last in clauses(text[at:end])
    )
    for start, end in spans:
        first = bisect_right(borders, start)
        inside = borders[first : bisect_right(borders, end - 1)]
        for left, right in pairwise((start, *inside, end)):
            piece = text[left:right]
            bare = piece.strip()
            if bare:
                at = left + len(piece) - len(piece.lstrip())
                yield at, at + len(bare)


# Tasks: list items with a box, as in `- [ ] call`.


TASK = re.compile(
    r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?P<box>\[(?P<state>[^\]\n])\])(?=[ \t]|$)", re.MULTILINE
)
_TASK_END = re.compile(r"\n(?=[ \t>]*(?:\n|\Z|(?:[-*+]|\d{1,9}[.)])[ \t]|#{1,6}[ \t]|```|~~~))")
_TASKS_FENCE = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*(?P=fence)|\Z)", re.MULTILINE | re.DOTALL
)


class Task(NamedTuple):
    """A task's span in the note's text. It is done if its box contains anything other than a space."""

    start: int
    end: int
    is_done: bool


def find_tasks(text: str, body_start: int) -> Iterator[Task]:
    """The tasks of a note in order, without those in fenced code."""
    code: list[tuple[int, int]] | None = None
    for task in TASK.finditer(text, body_start):
        if code is None:
            code = [match.span() for match in _TASKS_FENCE.finditer(text)]
        if any(first <= task.start() < last for first, last in code):
            continue
        end = _TASK_END.search(text, task.end())
        yield Task(task.start(), end.start() if end else len(text), task["state"] != " ")
