"""The Markdown dialect of the reading view: CommonMark, tables, footnotes, and Obsidian's additions.

All rules are linear in the length of a note, or bounded.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from typing import TYPE_CHECKING, Any

from vault_indexer.system import record

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.ruler import RuleOptionsType
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline


MAX_NESTING = 24
"""The maximum depth of nested blocks or spans; deeper content is omitted."""

_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n|]{1,512})(?:\|([^\[\]\n]{0,512}))?\]\]")
_TAG = re.compile(r"(?<!\S)#([\w/\-]*[^\W\d][\w/\-]*)")
_COMMENT = re.compile(r"%%[\s\S]*?%%")
_MATH = re.compile(r"\$\$([\s\S]+?)\$\$|\$(?![\s$])([^$\n]{1,1000}?)(?<!\s)\$(?!\d)")
_MARK = re.compile(r"==(?=\S)([^\n]{1,2000}?)(?<=\S)==")
_ADDRESS = re.compile(r"://[^\s<>\"`|\\]{1,2000}")
_ADDRESS_SCHEME = re.compile(r"(?<![A-Za-z0-9+.\-])https?\Z", re.IGNORECASE)
_ADDRESS_END = "?!.,:;*_~'"


def note_parser() -> MarkdownIt:
    """Creates the parser of a note's text. Not thread-safe: each note needs its own."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.footnote import footnote_plugin

    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    footnote_plugin(parser)
    parser.validateLink = lambda _: True  # type: ignore[method-assign, assignment] # the tree decides what may be opened
    parser.inline.ruler.before("link", "wikilink", _rule(_WIKILINK, _add_wikilink))
    parser.inline.ruler.before("link", "tag", _rule(_TAG, _add_tag))
    parser.inline.ruler.before("link", "math", _rule(_MATH, _add_math))
    parser.inline.ruler.before("link", "comment", _rule(_COMMENT, lambda *_: None))  # it is not shown
    parser.inline.ruler.before("emphasis", "mark", _rule(_MARK, _add_mark))
    parser.inline.ruler.before("link", "address", _address)
    ends_paragraph: RuleOptionsType = {"alt": ["paragraph", "blockquote", "list"]}
    for name, mark in (("math_block", "$$"), ("comment_block", "%%")):
        parser.block.ruler.before("fence", name, _MarkedBlock(name, mark), ends_paragraph)
    return parser


def value_parser() -> MarkdownIt:
    """Creates the parser of a property's value, in which only links between notes and addresses have a
    meaning."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("zero")
    parser.inline.ruler.after("text", "wikilink", _rule(_WIKILINK, _add_wikilink))
    parser.inline.ruler.after("text", "address", _address)
    return parser


class _MarkedBlock:
    """The rule of a block between two marks: from a line that begins with the mark to one that ends with
    it."""

    def __init__(self, name: str, mark: str) -> None:
        self._name = name
        self._mark = mark

    def __call__(self, state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
        start = state.bMarks[start_line] + state.tShift[start_line]
        if state.is_code_block(start_line) or not state.src.startswith(self._mark, start):
            return False
        line = self._last_line(state, start_line, start)
        if line is None or line >= end_line:
            return False
        if silent:
            return True
        text = state.getLines(start_line, line + 1, state.blkIndent, False).strip()
        token = state.push(self._name, "", 0)
        token.block = True
        token.content = text.removeprefix(self._mark).removesuffix(self._mark).strip()
        token.map = [start_line, line + 1]
        state.line = line + 1
        return True

    def _last_line(self, state: StateBlock, start_line: int, start: int) -> int | None:
        first = state.src[start : state.eMarks[start_line]].rstrip()
        if self._mark in first[len(self._mark) :]:
            # Closed on its own line: a block only if nothing follows.
            return (
                start_line
                if first.find(self._mark, len(self._mark)) == len(first) - len(self._mark)
                else None
            )
        ends = _lines_that_end_with(self._mark, state)
        at = bisect_right(ends, start_line)
        return ends[at] if at < len(ends) else None


def _lines_that_end_with(mark: str, state: StateBlock) -> list[int]:
    """Line numbers in ascending order. Computed once for each text that the parser splits into lines."""
    found: dict[Any, list[int]] = state.env.setdefault("ends", {})
    key = (mark, len(state.src))
    if key not in found:
        lines = enumerate(state.eMarks)
        # Only the end of a line is copied, because a line can be very long.
        found[key] = [at for at, end in lines if state.src[max(0, end - 80) : end].rstrip().endswith(mark)]
    return found[key]


def _rule(
    pattern: re.Pattern[str], add: Callable[[StateInline, re.Match[str]], None]
) -> Callable[[StateInline, bool], bool]:
    """The rule of inline syntax that the pattern matches as a whole; `add` adds its tokens."""

    def rule(state: StateInline, silent: bool) -> bool:
        found = pattern.match(state.src, state.pos)
        if found is None or found.end() > state.posMax:
            return False
        if not silent:
            add(state, found)
        state.pos = found.end()
        return True

    return rule


def _add_wikilink(state: StateInline, found: re.Match[str]) -> None:
    token = state.push("wikilink", "", 0)
    token.content = found[2]
    token.meta = {"display": found[3], "embed": bool(found[1])}


def _add_tag(state: StateInline, found: re.Match[str]) -> None:
    state.push("tag", "", 0).content = found[1]


def _add_math(state: StateInline, found: re.Match[str]) -> None:
    state.push("math_block" if found[1] else "math", "", 0).content = found[1] or found[2]


def _add_mark(state: StateInline, found: re.Match[str]) -> None:
    end = state.posMax
    state.push("mark_open", "mark", 1)
    state.pos, state.posMax = found.start(1), found.end(1)
    state.md.inline.tokenize(state)
    state.posMax = end
    state.push("mark_close", "mark", -1)


def _address(state: StateInline, silent: bool) -> bool:
    """A web address in the text. Its scheme has already been read when the rule is called."""
    found = _ADDRESS.match(state.src, state.pos)
    if found is None or state.linkLevel > 0:
        return False
    scheme = _ADDRESS_SCHEME.search(state.pending[-7:])
    rest = _trim_address(found[0][: state.posMax - state.pos])
    if scheme is None or len(rest) <= len("://"):
        return False
    if not silent:
        state.pending = state.pending[: -len(scheme[0])]
        address = scheme[0] + rest
        state.push("link_open", "a", 1).attrs = {"href": address}
        state.push("text", "", 0).content = address
        state.push("link_close", "a", -1)
    state.pos += len(rest)
    return True


def _trim_address(rest: str) -> str:
    """Removes trailing characters that end the sentence rather than the address. A bracket that the address
    opened belongs to it."""
    while rest:
        last = rest[-1]
        opening = {")": "(", "]": "["}.get(last)
        if last not in _ADDRESS_END and (opening is None or rest.count(opening) >= rest.count(last)):
            break
        rest = rest[:-1]
    return rest


# The HTML of a note that is rendered: harmless elements, without attributes.
#
# Every other tag is shown as text.


INLINE: Mapping[str, str] = {
    **{tag: tag for tag in ("u", "mark", "kbd", "code", "sub", "sup", "small", "q", "a", "ruby", "rt", "rp")},
    **dict.fromkeys(("b", "strong"), "strong"),
    **dict.fromkeys(("i", "em", "cite"), "em"),
    **dict.fromkeys(("s", "del", "strike"), "del"),
    "ins": "u",
    **dict.fromkeys(("span", "font", "abbr"), "span"),
}
"""Inline tags, each with the kind of its node."""

BLOCK: Mapping[str, str] = {
    **{tag: tag for tag in ("details", "summary", "ul", "ol", "li")},
    **{tag: tag for tag in ("table", "thead", "tbody", "tr", "th", "td")},
    **dict.fromkeys(("p", "figcaption"), "p"),
    **dict.fromkeys(("div", "center", "section", "article", "figure"), "div"),
    "blockquote": "quote",
    **{f"h{level}": "h" for level in range(1, 7)},
}
"""Block tags, each with the kind of its node."""

VOID = frozenset({"br", "hr", "img", "wbr", "iframe"})
"""Tags without content. The content of an `iframe` is for browsers that do not support it."""

_MARKUP = re.compile(
    r"<!--(?:[\s\S]*?-->|[\s\S]*)"
    r"|<(/?)([A-Za-z][A-Za-z0-9-]{0,40})((?:[^<>\"']|\"[^\"]{0,2000}\"|'[^']{0,2000}'){0,2000})>"
)
_ATTRIBUTE = re.compile(r"([a-z]{1,20})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>`]+))", re.IGNORECASE)
_READ = frozenset({"href", "src", "alt", "width", "align"})


@record
class Tag:
    """A tag as written. `attributes` contains those with a visible effect."""

    name: str
    text: str
    is_end: bool
    is_alone: bool
    attributes: Mapping[str, str]


def html_parts(html: str) -> Iterator[Tag | str]:
    """Yields the tags and the texts between them, in order. Comments are omitted."""
    at = 0
    for found in _MARKUP.finditer(html):
        if found.start() > at:
            yield unescape(html[at : found.start()])
        if found[2]:
            yield _html_tag(found)
        at = found.end()
    if at < len(html):
        yield unescape(html[at:])


def is_shown_as_meant(html: str) -> bool:
    """Whether all tags of a block of HTML are supported. Otherwise the block is shown as code."""
    known = (name.lower() for _, name, _ in _MARKUP.findall(html) if name)
    return all(name in INLINE or name in BLOCK or name in VOID for name in known)


def _html_tag(found: re.Match[str]) -> Tag:
    name = found[2].lower()
    values = {
        one[1].lower(): unescape(one[2] or one[3] or one[4] or "") for one in _ATTRIBUTE.finditer(found[3])
    }
    kept = {key: value for key, value in values.items() if key in _READ}
    return Tag(name, found[0], bool(found[1]), found[3].endswith("/") or name in VOID, kept)
