"""Parses a Markdown file: bytes to a `Note`, without side effects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePosixPath

from vault_indexer.errors import NoteError
from vault_indexer.model import (
    BlockId,
    Diagnostic,
    Element,
    ElementKind,
    Heading,
    Link,
    LinkStyle,
    Note,
    Section,
    doc_id_of,
)
from vault_indexer.parse.blocks import MAX_BLOCKS, Blocks, Leaf, LeafKind, RawHeading, scan_blocks
from vault_indexer.parse.fields import MAX_FIELDS, Field, find_fields, joined_fields
from vault_indexer.parse.frontmatter import (
    Frontmatter,
    property_aliases,
    property_tags,
    property_text,
    read_frontmatter,
)
from vault_indexer.parse.inline import Lines
from vault_indexer.parse.link_syntax import (
    MAX_FINDS,
    block_id,
    frontmatter_links,
    link_definitions,
    own_line_ids,
    scan_leaves,
)
from vault_indexer.parse.plain import plain
from vault_indexer.parse.site_syntax import as_markdown, page_blocks, page_name, page_properties
from vault_indexer.system import record

# Data in a note that is not text: drawings of Obsidian's plugin Excalidraw, and images in `data:` URLs.


_DRAWING = re.compile(
    r"""
    ^(?:%%[ \t]*\r?\n)? (?:\#{1,6}[ \t]+Drawing[ \t]*\r?\n)? (?:[ \t]*\r?\n){0,3}
    (?P<fence>`{3,})(?:compressed-json[ \t]*\r?\n | json[ \t]*\r?\n\s*+\{\s*+"type"\s*+:\s*+"excalidraw")
    .*? (?:^(?P=fence)`*[ \t]*\r?$(?:\s*+%%)? | \Z)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_BANNER = re.compile(r"^==⚠[^\r\n]*EXCALIDRAW VIEW[^\r\n]*", re.MULTILINE)
"""The line that the plugin writes above every drawing."""

_DRAWING_NAME = re.compile(r"(?<=[^/])\.excalidraw(?=\.(?:md|markdown)\Z)", re.IGNORECASE)
_MADE_HEADING = re.compile(
    r"^(?:%%[ \t]*\r?\n)?\#{1,2}[ \t]+"
    r"(?:Excalidraw Data|Text Elements|(?P<links>Element Links|Embedded Files)|Drawing)[ \t]*(?=\r?$)",
    re.MULTILINE,
)
_ELEMENT_ID = re.compile(r"[ \t]+\^[\w-]{4,}[ \t]*(?=\r?$)", re.MULTILINE)
_LINKED_ID = re.compile(r"^[\w-]{7,}:(?=[ \t])", re.MULTILINE)
"""The headings and ids that the plugin writes around the texts of a drawing."""

_SIGNS = ("```compressed-json", '"excalidraw"', "EXCALIDRAW VIEW")
_DATA_URL = re.compile(
    r"""
    (?:
      data:[a-z]+/[\w.+-]{1,100}(?:;[\w.+-]{1,100}(?:=[\w.+-]{1,100})?){0,5};base64,(?:\s*\n\s*)?[\w+/=%-]{16,}
      (?:\s*\n[ \t]*[\w+/=]{20,}(?=[\s"'>)]))* (?:\s*\n[ \t]*[\w+/=]+(?=\s*["'>]))?
      | data:image/[\w.+-]{1,100}(?:;[\w.+=-]{1,100}){0,5},[^\s"'()<>]{16,}
    )(?P<close>
      (?:[ \t]+(?:"[^"\r\n]{0,200}"|'[^'\r\n]{0,200}'))?[ \t]*\)(?:\]\([^()\s]{0,500}\))?
      | ["']?(?:[ \t/][^<>\r\n]{0,500})?>\)?
      | ["')]{0,3}
    )
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
"""The address and the rest of its link, or of the tag of which it is an attribute."""

_OUTSIDE = "//"
"""Replaces a `data:` URL, so that an image stays an image: an address outside the vault, without words."""

_WRITTEN = re.compile(r"[^\r\n]")


def without_data(text: str, start: int) -> str:
    """The text with drawings and inlined images after `start` replaced by blanks, so that offsets and lines
    do not change; a drawing at the end is removed."""
    if text.find("data:", start) >= 0:
        text = text[:start] + _DATA_URL.sub(_empty_address, text[start:])
    if not any(sign in text for sign in _SIGNS):
        return text
    body = _BANNER.sub(_blank, _DRAWING.sub(_blank, text[start:]))
    shown = len(body.rstrip())
    return text[:start] + (body if body[shown:] == text[start + shown :] else body[:shown] + "\n")


def without_addresses(text: str) -> str:
    """The text with each inlined image reduced to an address without words. Offsets change."""
    return _DATA_URL.sub(rf"{_OUTSIDE}\g<close>", text)


def _empty_address(match: re.Match[str]) -> str:
    """Moves the rest of the link or tag directly after the address, so that no chunk ends in between."""
    address = _OUTSIDE + match["close"]
    return address + _blank(match)[len(address) :]


def _blank(match: re.Match[str]) -> str:
    return _WRITTEN.sub(" ", match[0])


def _made_headings(path: str, front: Frontmatter, text: str) -> list[re.Match[str]]:
    """The headings that the plugin has written, none if the note is not a drawing."""
    if not _DRAWING_NAME.search(path) and "excalidraw-plugin" not in front.values:
        return []
    return list(_MADE_HEADING.finditer(text, front.block_end))


def _without_ids(text: str, made: Sequence[re.Match[str]]) -> str:
    """The text without the ids of a drawing's elements. Those before links become comments, because blanks
    would make code of the links."""
    start = made[0].start()
    text = text[:start] + _ELEMENT_ID.sub(_blank, text[start:])
    start = next((heading.start() for heading in made if heading["links"]), len(text))
    return text[:start] + _LINKED_ID.sub(lambda own: f"<!--{'-->':>{len(own[0]) - 4}}", text[start:])


# The final processing of a note's blocks: `$$` math, and coverage of all text.


FENCE = "$$"
NON_BLANK = re.compile(r"\S")


def _with_math(text: str, elements: list[Element]) -> list[Element]:
    """A paragraph between `$$` and `$$` is math, and so are several paragraphs separated by blank lines."""
    found: list[Element] = []
    index = 0
    while index < len(elements):
        element = elements[index]
        last = index
        if element.kind is ElementKind.PARAGRAPH and text.startswith(FENCE, _content(text, element)):
            last = _math_end(text, elements, index)
            if last >= 0:
                element = Element(ElementKind.MATH, element.start, elements[last].end)
        found.append(element)
        index = max(index, last) + 1
    return found


def _math_end(text: str, elements: list[Element], opening: int) -> int:
    """Index of the element that closes the math opened by `opening`, -1 if none does.

    The next element with a `$$` decides; a heading or a quote in between means that it was not math.
    """
    first = elements[opening]
    start = _content(text, first) + len(FENCE)
    for index in range(opening, len(elements)):
        element = elements[index]
        if element.kind in (ElementKind.HEADING, ElementKind.QUOTE, ElementKind.TABLE):
            return -1
        at = text.find(FENCE, start if index == opening else element.start, element.end)
        if at >= 0:
            closes = element.kind is ElementKind.PARAGRAPH and not NON_BLANK.search(text, at + 2, element.end)
            return index if closes else -1
    return -1


def _content(text: str, element: Element) -> int:
    match = NON_BLANK.search(text, element.start, element.end)
    return match.start() if match else element.start


def _covering(text: str, start: int, end: int, elements: list[Element]) -> list[Element]:
    """Adds text that the grammar omitted as elements of kind `other`, and removes overlaps."""
    found: list[Element] = []
    position = start
    for element in elements:
        if element.end <= position:
            continue
        if element.start < position:
            element = replace(element, start=position)
        _fill(text, position, element.start, found)
        found.append(element)
        position = element.end
    _fill(text, position, end, found)
    return found


def _fill(text: str, start: int, end: int, found: list[Element]) -> None:
    first = NON_BLANK.search(text, start, end)
    if first:
        while NON_BLANK.match(text, end - 1) is None:
            end -= 1
        found.append(Element(ElementKind.OTHER, first.start(), end))


BOM = b"\xef\xbb\xbf"
SNIFFED = 8192
MOST_REPLACED = 4
"""A text of which more than a quarter is replaced is in another encoding. A rule of thumb: for German in
Latin-1 it is a fiftieth, for Russian in Windows-1251 nearly all."""

NOT_UTF8 = "some bytes are not UTF-8: they are read as replacement characters"
TOO_DEEP = "quotes or lists nested too deep are read as text"
UNREAD = "Markdown that the grammar cannot read is taken as text"
TOO_MANY = f"more than {MAX_BLOCKS:,} blocks: the rest is read as text"

MAX_HEADING = 1000
"""The maximum number of characters of a heading's text; the longest of 16,600 real notes has 251."""

MAX_TAGS = 40_000
"""The maximum number of different tags of a note: more than 64 KiB of frontmatter can contain."""

TOO_MANY_FIELDS = f"more than {MAX_FIELDS:,} fields: the rest is text"
TOO_MANY_TAGS = f"more than {MAX_TAGS:,} different tags: the rest is text"
MAX_HEADING_SOURCE = 4 * MAX_HEADING
MAX_HEADER_PATH = 1000
"""The maximum total number of characters of all enclosing headings, which each chunk repeats."""

CUT_OFF = "…"
LONG_HEADING = f"a heading of more than {MAX_HEADING:,} characters is cut off where it is shown"
HASHES = re.compile(r"[ \t]*+#")
CLOSING_HASHES = re.compile(r"(?:^|[ \t])#+[ \t]*\Z")
CONTINUED = re.compile(r"[ \t]*+(?:\r\n?|\n)[ \t]*")
CONTINUED_QUOTE = re.compile(r"[ \t]*+(?:\r\n?|\n)[ \t>]*")


def decode(path: str, data: bytes) -> tuple[str, tuple[Diagnostic, ...]]:
    """The text of a file without a BOM; line breaks do not change. A few bytes that are not UTF-8 become
    replacement characters, with a diagnostic. Raises NoteError if it is not UTF-8 text."""
    data = data.removeprefix(BOM)
    if b"\x00" in data[:SNIFFED]:
        raise NoteError(f"{path}: binary (a NUL byte at offset {data.index(0)})")
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        if text.count("\ufffd") * MOST_REPLACED > len(text):
            raise NoteError(f"{path}: not UTF-8 (byte offset {error.start}: {error.reason})") from error
        line = Lines(text).at(len(data[: error.start].decode("utf-8")))
        return text, (Diagnostic("encoding", f"{NOT_UTF8} (byte offset {error.start})", line),)


@dataclass(slots=True)
class ParseLimits:
    """The remaining number of blocks, of links and tags, and of fields, that are read from a note."""

    blocks: int = MAX_BLOCKS
    finds: int = MAX_FINDS
    fields: int = MAX_FIELDS


@record
class Body:
    """The content of one stretch of Markdown; positions are relative to the whole text."""

    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    tags: tuple[str, ...]
    blocks: tuple[BlockId, ...]
    elements: tuple[Element, ...]
    diagnostics: tuple[Diagnostic, ...]
    fields: tuple[Field, ...] = ()


def parse_note(path: str, data: bytes, style: LinkStyle = "obsidian") -> Note:
    """Parses one Markdown file of the vault. Raises NoteError if it is not UTF-8 text.

    All other problems are reported in `Note.diagnostics`.
    """
    written, encoding = decode(path, data)
    text = as_markdown(written, style)
    front = read_frontmatter(text)
    made = _made_headings(path, front, text)
    if made:
        text = text[: front.block_end] + _MADE_HEADING.sub(_blank, text[front.block_end :])
    text = without_data(text, front.block_end)
    lines = Lines(text)
    body = parse_body(text, front.block_end, len(text), lines, ParseLimits())
    # Frontmatter that cannot be parsed belongs to the body, as one element of kind `other`.
    unread = len(text[: front.block_end].rstrip()) if front.body_start < front.block_end else 0
    properties = {**front.values, **page_properties(text, front.block_end, style)}
    title = property_text(properties, "title") or (page_name(path) if style == "logseq" else "")
    tags = unique_tags([*property_tags(properties), *body.tags])
    if made:  # not before: links lead to the ids
        text = _without_ids(text, made)
    return Note(
        path=path,
        text=text,
        title=_title(path, title, front.block_end, text, body.headings),
        language=property_text(front.values, "lang", "language"),
        frontmatter=front.values,
        body_start=front.body_start,
        aliases=property_aliases(properties),
        tags=tags[:MAX_TAGS],
        headings=body.headings,
        links=(*frontmatter_links(text, front, lines), *body.links),
        blocks=(*body.blocks, *page_blocks(written, style)),
        sections=sections(text, front.body_start, len(text), body.headings),
        elements=(*([Element(ElementKind.OTHER, 0, unread)] if unread else ()), *body.elements),
        diagnostics=(
            *encoding,
            *([front.problem] if front.problem else ()),
            *body.diagnostics,
            *tags_problem(tags),
        ),
        fields=joined_fields(body.fields),
    )


def parse_body(text: str, start: int, end: int, lines: Lines, limits: ParseLimits) -> Body:
    """Parses `text[start:end]` as Markdown, independently of the surrounding text.

    `limits` are reduced by the content.
    """
    blocks = scan_blocks(text, start, end, limits.blocks)
    definitions = link_definitions(text, blocks.definitions)
    elements = tuple(_covering(text, start, end, _with_math(text, blocks.elements)))
    unread = _unread(blocks, elements)
    limit = blocks.too_many[0] if blocks.too_many else end
    misread = [leaf for leaf in unread if leaf.start < limit]  # the grammar did not see the rest
    # Links and tags are reported in document order, so the leaves must be sorted.
    leaves = sorted([*blocks.leaves, *unread], key=lambda leaf: leaf.start) if unread else blocks.leaves
    finds = scan_leaves(text, leaves, definitions, lines, limits.finds)
    found = find_fields(text, start, end, blocks.leaves, elements, definitions)
    fields = tuple(islice(found, limits.fields + 1))
    limits.blocks, limits.finds = limits.blocks - blocks.count, finds.room
    too_many_fields = len(fields) > limits.fields
    limits.fields = max(0, limits.fields - len(fields))
    headings = tuple(_heading(text, raw, lines, definitions) for raw in blocks.headings)
    return Body(
        headings=headings,
        links=tuple(finds.links),
        tags=tuple(finds.tags),
        blocks=own_line_ids(text, finds.blocks, elements),
        elements=elements,
        diagnostics=(
            *(Diagnostic("nesting", TOO_DEEP, lines.at(position)) for position in blocks.too_deep[:1]),
            *_limits(blocks, headings, lines),
            *finds.problems.values(),
            *([Diagnostic("limit", TOO_MANY_FIELDS, 1)] if too_many_fields else ()),
            *(Diagnostic("grammar", UNREAD, lines.at(leaf.start)) for leaf in misread[:1]),
        ),
        fields=fields[: len(fields) - too_many_fields],
    )


def _limits(blocks: Blocks, headings: Iterable[Heading], lines: Lines) -> Iterator[Diagnostic]:
    for position in blocks.too_many:
        yield Diagnostic("limit", TOO_MANY, lines.at(position))
    long = next((heading for heading in headings if len(heading.text) > MAX_HEADING), None)
    if long:
        yield Diagnostic("limit", LONG_HEADING, long.line)


def _unread(blocks: Blocks, elements: Iterable[Element]) -> list[Leaf]:
    """Text that the grammar could not parse, read as plain paragraphs so that no link is lost."""
    definitions = {start for start, _ in blocks.definitions}
    return [
        Leaf(element.start, element.end, LeafKind.TEXT, element.start, element.end)
        for element in elements
        if element.kind is ElementKind.OTHER and element.start not in definitions
    ]


def sections(
    text: str, start: int, end: int, headings: Iterable[Heading], first_index: int = 0
) -> tuple[Section, ...]:
    """The outline of `text[start:end]`: the text before the first heading, then each heading's section.

    Headings inside quotes and list items do not start a section. Indices count from `first_index`.
    """
    outline = [heading for heading in headings if not heading.nested]
    found: list[Section] = []
    first = outline[0].start if outline else end
    if text[start:first].strip():
        found.append(Section(first_index, None, 0, "", (), start, start, first))
    open_sections: list[Section] = []
    for position, heading in enumerate(outline):
        while open_sections and open_sections[-1].level >= heading.level:
            open_sections.pop()
        parent = open_sections[-1] if open_sections else None
        stop = outline[position + 1].start if position + 1 < len(outline) else end
        section = Section(
            index=first_index + len(found),
            parent=parent.index if parent else None,
            level=heading.level,
            title=heading.text,
            header_path=_header_path(parent, heading),
            start=heading.start,
            body_start=_next_line(text, heading.end),
            end=stop,
        )
        found.append(section)
        open_sections.append(section)
    return tuple(found)


def _header_path(parent: Section | None, heading: Heading) -> tuple[str, ...]:
    path = (*(parent.header_path if parent else ()), heading.text)
    if sum(map(len, path)) <= MAX_HEADER_PATH:
        return path
    return tuple(_shorten(title, MAX_HEADER_PATH // len(path)) for title in path)


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + CUT_OFF


def _next_line(text: str, position: int) -> int:
    if text[position : position + 2] == "\r\n":
        return position + 2
    return min(position + 1, len(text))


def _heading(text: str, raw: RawHeading, lines: Lines, definitions: Mapping[str, str]) -> Heading:
    # `^id` names the heading and is not part of its text
    named = block_id(text, raw.content_start, raw.content_end)
    content_end = named[1] if named else raw.content_end
    content = text[raw.content_start : min(content_end, raw.content_start + MAX_HEADING_SOURCE)]
    if HASHES.match(text, raw.start, raw.end):
        content = content if named else CLOSING_HASHES.sub("", content.strip(" \t"))
    elif "\n" in content or "\r" in content:
        content = (CONTINUED_QUOTE if raw.nested else CONTINUED).sub(" ", content)
    shown = _shorten(plain(content, definitions), MAX_HEADING)
    return Heading(raw.level, shown, raw.start, raw.end, lines.at(raw.start), raw.nested)


def _title(path: str, declared: str, body_start: int, text: str, headings: tuple[Heading, ...]) -> str:
    """The property `title`, else the only heading of level 1 if the body begins with it, else the file
    name."""
    outline = [heading for heading in headings if not heading.nested]
    is_title = [heading.level for heading in outline[:1]] == [1]
    is_title = is_title and sum(heading.level == 1 for heading in outline) == 1
    is_title = is_title and not text[body_start : outline[0].start].strip()
    return declared or (outline[0].text if is_title else "") or stem(path)


def stem(path: str) -> str:
    """The file name without folder and extension, which is `.excalidraw.md` of a drawing."""
    path = _DRAWING_NAME.sub("", path)
    name = PurePosixPath(doc_id_of(path)).name
    return name if path != doc_id_of(path) else PurePosixPath(path).stem


def tags_problem(tags: Sequence[str]) -> tuple[Diagnostic, ...]:
    return (Diagnostic("limit", TOO_MANY_TAGS, 1),) if len(tags) > MAX_TAGS else ()


def unique_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Distinct tags in order of appearance. Tags that differ only in case are equal; the first spelling is
    kept."""
    found: dict[str, str] = {}
    for tag in tags:
        found.setdefault(tag.casefold(), tag)
    return tuple(found.values())
