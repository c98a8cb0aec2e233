"""Links, tags and block ids of a note, from its inline leaves."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from vault_indexer.model import BlockId, Diagnostic, Element, Link, LinkKind
from vault_indexer.parse.blocks import Leaf, LeafKind
from vault_indexer.parse.frontmatter import Frontmatter, strings
from vault_indexer.parse.inline import (
    LABEL,
    MAX_BRACKETS,
    NEEDS_SCAN,
    InlineScan,
    Lines,
    Span,
    SpanKind,
    link_destination,
    normal_label,
    skip_space,
)
from vault_indexer.parse.plain import plain, unescape_destination, wikilink_parts

WIKILINK = re.compile(r"!?\[\[(?!\[)((?:(?!\[\[|\]\])[^\r\n])+)\]\]")
BLOCK_ID = re.compile(r"(?:^|(?<=\s)|(?<=\]\]))\^([A-Za-z0-9-]+)[ \t]*\Z")
OWN_LINE_ID = re.compile(r"\s*+\^[A-Za-z0-9-]++\s*+")
BLOCK_ID_TAIL = 200
MAX_DISPLAY = 500  # images nest, so their texts together could be quadratic in the note
MAX_LINK = 4096  # the maximum length of a target or a display text; no path is longer
MAX_TAG = 512
MAX_FINDS = 100_000
"""The maximum number of links and tags of a note, including repetitions; one takes about 1 KB of memory."""

TOO_MANY = f"more than {MAX_FINDS:,} links and tags: the rest is text"
TOO_LONG = f"a link of more than {MAX_LINK:,} characters, or a tag of more than {MAX_TAG}, is text"
TOO_DEEP = f"brackets nested more than {MAX_BRACKETS} deep are text"
CONTINUATION = re.compile(r"[\r\n][ \t\r\n>]*")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


@dataclass(slots=True)
class Finds:
    """The links, tags and block ids in the leaves of a note, in document order; tags as written, without
    `#`."""

    links: list[Link] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    blocks: list[BlockId] = field(default_factory=list)
    room: int = MAX_FINDS
    problems: dict[str, Diagnostic] = field(default_factory=dict)  # by detail, so that each is reported once

    def refuse(self, detail: str, line: int) -> None:
        """Reports that a possible link or tag is treated as text."""
        self.problems.setdefault(detail, Diagnostic("limit", detail, line))

    def has_room(self, start: int, lines: Lines) -> bool:
        """Counts a link or tag at `start`. Returns False if it exceeds the limit."""
        self.room -= 1
        if self.room < 0:
            self.refuse(TOO_MANY, lines.at(start))
        return self.room >= 0

    def add_link(self, link: Link) -> None:
        """Adds a link, unless it is too long."""
        if max(len(link.target), len(link.subpath), len(link.display or "")) > MAX_LINK:
            self.refuse(TOO_LONG, link.line)
        else:
            self.links.append(link)


def link_definitions(text: str, spans: Iterable[tuple[int, int]]) -> dict[str, str]:
    """Maps normalised labels to destinations of `[label]: destination`; the first definition of a label
    wins."""
    found: dict[str, str] = {}
    for start, end in spans:
        while start < end and text[start] in " \t":
            start += 1
        label = LABEL.match(text, start, end)
        if not label or not label[1].strip() or text[label.end() : label.end() + 1] != ":":
            continue
        destination, _ = link_destination(text, skip_space(text, label.end() + 1, end), end)
        found.setdefault(normal_label(label[1]), destination)
    return found


FOUND = frozenset(
    {SpanKind.TAG, SpanKind.WIKILINK, SpanKind.EMBED, SpanKind.HTML, SpanKind.LINK, SpanKind.IMAGE}
)


def scan_leaves(
    text: str, leaves: Iterable[Leaf], definitions: Mapping[str, str], lines: Lines, room: int = MAX_FINDS
) -> Finds:
    """The links, tags and block ids of the body, with at most `room` links and tags."""
    finds = Finds(room=room)
    for leaf in leaves:
        if leaf.kind is LeafKind.HTML:
            _add_html(finds, text, leaf.start, leaf.end, lines)
            continue
        if finds.room >= 0 and NEEDS_SCAN.search(text, leaf.start, leaf.end):
            _scan_leaf(finds, text, leaf, definitions, lines)
        if found := block_id(text, leaf.start, leaf.end):
            name, at = found
            finds.blocks.append(BlockId(name, leaf.owner_start, leaf.owner_end, lines.at(at)))
    return finds


def _scan_leaf(finds: Finds, text: str, leaf: Leaf, definitions: Mapping[str, str], lines: Lines) -> None:
    scan = InlineScan(text, leaf.start, leaf.end, definitions)
    found: list[Span] = []
    for span in scan.spans():
        if span.kind not in FOUND or (
            span.kind is SpanKind.HTML and text.find("[[", span.start, span.end) < 0
        ):
            continue
        found.append(span)
        if len(found) > finds.room:  # one more than the limit, which `_add_span` reports
            break
    found.sort(key=lambda span: span.start)
    for span in found:
        _add_span(finds, text, span, lines)
    if scan.too_deep:
        finds.refuse(TOO_DEEP, lines.at(leaf.start))


def frontmatter_links(text: str, frontmatter: Frontmatter, lines: Lines) -> list[Link]:
    """Wikilinks inside texts of the properties; unquoted `[[x]]` is a list in YAML and not a link."""
    wanted = Counter(
        match[0]
        for value in frontmatter.values.values()
        for value_text in strings(value)
        for match in WIKILINK.finditer(value_text)
    )
    links = []
    for match in WIKILINK.finditer(text, frontmatter.start, frontmatter.end):
        if wanted[match[0]] <= 0:
            continue
        wanted[match[0]] -= 1
        target, subpath, display = wikilink_parts(match[1])
        if target or subpath:
            start, end = match.span()
            links.append(Link(LinkKind.FRONTMATTER, target, subpath, display, start, end, lines.at(start)))
    return links


def own_line_ids(text: str, blocks: Sequence[BlockId], elements: Sequence[Element]) -> tuple[BlockId, ...]:
    """A `^id` in a paragraph of its own names the block before it."""
    ends = [element.end for element in elements]
    found = []
    for block in blocks:
        if OWN_LINE_ID.fullmatch(text, block.start, block.end):
            before = bisect_right(ends, block.start) - 1
            if before >= 0:
                block = replace(block, start=elements[before].start, end=elements[before].end)
        found.append(block)
    return tuple(found)


def block_id(text: str, start: int, end: int) -> tuple[str, int] | None:
    """The id at the end of `text[start:end]`, and the position of its `^`."""
    begin = max(start, end - BLOCK_ID_TAIL)
    if text.find("^", begin, end) < 0:
        return None
    match = BLOCK_ID.search(text[begin:end])
    return (match[1], begin + match.start()) if match else None


def markdown_target(destination: str) -> tuple[str, str] | None:
    """Target and subpath of a destination as written; None for a target outside the vault."""
    destination = unescape_destination(destination.strip())
    if not destination or SCHEME.match(destination):
        return None
    path, _, subpath = destination.partition("#")
    target = unquote(path, errors="replace").replace("\x00", "\ufffd")
    return target.strip(), unquote(subpath, errors="replace").strip()


def _add_span(finds: Finds, text: str, span: Span, lines: Lines) -> None:
    if not finds.has_room(span.start, lines):
        return
    match span.kind:
        case SpanKind.TAG if span.inner_end - span.inner_start > MAX_TAG:
            finds.refuse(TOO_LONG, lines.at(span.start))
        case SpanKind.TAG:
            finds.tags.append(text[span.inner_start : span.inner_end])
        case SpanKind.WIKILINK | SpanKind.EMBED:
            inner = text[span.inner_start : span.inner_end]
            _add_wikilink(finds, text, (span.start, span.end), inner, lines)
        case SpanKind.HTML:
            _add_html(finds, text, span.start, span.end, lines)
        case SpanKind.LINK | SpanKind.IMAGE:
            place = markdown_target(span.destination)
            if place and any(place):
                shown = text[span.inner_start : min(span.inner_end, span.inner_start + MAX_DISPLAY)]
                display = plain(CONTINUATION.sub(" ", shown))
                finds.add_link(
                    Link(LinkKind.MARKDOWN, *place, display, span.start, span.end, lines.at(span.start))
                )


def _add_html(finds: Finds, text: str, start: int, end: int, lines: Lines) -> None:
    """Adds wikilinks inside HTML and its comments; other syntax is ignored there."""
    for match in WIKILINK.finditer(text, start, end):
        if not finds.has_room(match.start(), lines):
            return
        _add_wikilink(finds, text, match.span(), match[1], lines)


def _add_wikilink(finds: Finds, text: str, span: tuple[int, int], inner: str, lines: Lines) -> None:
    target, subpath, display = wikilink_parts(inner)
    if target or subpath:
        kind = LinkKind.EMBED if text[span[0]] == "!" else LinkKind.WIKILINK
        finds.add_link(Link(kind, target, subpath, display, *span, lines.at(span[0])))
