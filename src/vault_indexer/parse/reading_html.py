"""The HTML in a note that a reader sees as what it means: elements without any power, and without attributes.

Every other tag is a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape

INLINE: Mapping[str, str] = {
    "b": "strong",
    "strong": "strong",
    "i": "em",
    "em": "em",
    "cite": "em",
    "s": "del",
    "del": "del",
    "strike": "del",
    "u": "u",
    "ins": "u",
    "mark": "mark",
    "kbd": "kbd",
    "code": "code",
    "sub": "sub",
    "sup": "sup",
    "small": "small",
    "q": "q",
    "span": "span",
    "font": "span",
    "a": "a",
}
"""Tags that may stand in a line, each with the kind of its node."""

BLOCK: Mapping[str, str] = {
    "p": "p",
    "div": "div",
    "center": "div",
    "section": "div",
    "article": "div",
    "figure": "div",
    "figcaption": "p",
    "details": "details",
    "summary": "summary",
    "blockquote": "quote",
    "ul": "ul",
    "ol": "ol",
    "li": "li",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
    **{f"h{level}": "h" for level in range(1, 7)},
}
"""Tags that make a block."""

VOID = frozenset({"br", "hr", "img", "wbr", "iframe"})
"""Tags without content. What stands in an `iframe` is for browsers that have none."""

_MARKUP = re.compile(
    r"<!--(?:[\s\S]*?-->|[\s\S]*)"
    r"|<(/?)([A-Za-z][A-Za-z0-9-]{0,40})((?:[^<>\"']|\"[^\"]{0,2000}\"|'[^']{0,2000}'){0,2000})>"
)
_ATTRIBUTE = re.compile(r"([a-z]{1,20})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>`]+))", re.IGNORECASE)
_READ = frozenset({"href", "src", "alt", "width", "align"})


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag as written. `attributes` are those that a reader can see the effect of."""

    name: str
    text: str
    is_end: bool
    is_alone: bool
    attributes: Mapping[str, str]


def html_parts(html: str) -> Iterator[Tag | str]:
    """Its tags and the texts between them, in order. Comments are left out."""
    at = 0
    for found in _MARKUP.finditer(html):
        if found.start() > at:
            yield unescape(html[at : found.start()])
        if found[2]:
            yield _tag(found)
        at = found.end()
    if at < len(html):
        yield unescape(html[at:])


def is_shown_as_meant(html: str) -> bool:
    """Whether all tags of a block of HTML are known here. Otherwise the block is shown as code."""
    known = (name.lower() for _, name, _ in _MARKUP.findall(html) if name)
    return all(name in INLINE or name in BLOCK or name in VOID for name in known)


def _tag(found: re.Match[str]) -> Tag:
    name = found[2].lower()
    values = {
        one[1].lower(): unescape(one[2] or one[3] or one[4] or "") for one in _ATTRIBUTE.finditer(found[3])
    }
    kept = {key: value for key, value in values.items() if key in _READ}
    return Tag(name, found[0], bool(found[1]), found[3].endswith("/") or name in VOID, kept)
