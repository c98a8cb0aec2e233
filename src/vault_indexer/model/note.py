"""A parsed note. Every position is a character offset into `Note.text`, end exclusive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from itertools import chain
from typing import Annotated, Literal, NamedTuple

from vault_indexer.contract import JsonValue
from vault_indexer.contract.marks import HIDDEN
from vault_indexer.system import record


class LinkKind(StrEnum):
    """The syntax of a link."""

    WIKILINK = "wikilink"
    EMBED = "embed"
    MARKDOWN = "markdown"
    FRONTMATTER = "frontmatter"


LinkStyle = Literal["obsidian", "dendron", "docusaurus", "hugo", "jekyll", "logseq", "mkdocs"]
"""The program whose rules the links of a vault follow; its own syntax is not text either."""


class ElementKind(StrEnum):
    """The kind of a top-level block of the note."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    CODE = "code"
    TABLE = "table"
    LIST = "list"
    ITEM = "item"
    QUOTE = "quote"
    HTML = "html"
    BREAK = "break"
    MATH = "math"
    OTHER = "other"


@record
class Heading:
    """A heading as CommonMark sees it. `text` is its inline content with markup removed.

    `nested` headings are inside a quote or list item: they are listed and can be linked to, but the outline
    (sections, header paths, chunk borders) consists of the others only.
    """

    level: int
    text: str
    start: Annotated[int, HIDDEN]
    end: Annotated[int, HIDDEN]
    line: int
    nested: Annotated[bool, HIDDEN] = False


@record
class Link:
    """A link as written. `subpath` is the text after the first `#` ("" for none)."""

    kind: LinkKind
    target: str
    subpath: str
    display: str | None
    start: int
    end: int
    line: int


class WrittenLink(NamedTuple):
    """The position of a link, and its target as written."""

    start: int
    kind: LinkKind
    target: str


@record
class BlockId:
    """A `^id` and the span of the block that it names."""

    id: str
    start: Annotated[int, HIDDEN]
    end: Annotated[int, HIDDEN]
    line: int


@record
class Element:
    """A block of the note in document order; `parts` are the items of a list (else empty).

    `language` is the info string's first word of fenced code ("" elsewhere). Spans run from the
    start of the first line to the end of the last line without its line break.
    """

    kind: ElementKind
    start: int
    end: int
    language: str = ""
    parts: tuple[Element, ...] = ()


@record
class Section:
    """From a document-level heading to the next one of any level (its own text, not its children).

    The text before the first heading is a section of level 0 without title. `header_path` contains the titles
    of the enclosing headings, outermost first, its own last. `parent` is an index into `Note.sections`.
    """

    index: int
    parent: int | None
    level: int
    title: str
    header_path: tuple[str, ...]
    start: int
    body_start: int
    end: int


@record
class Diagnostic:
    """Something about a note that its author may want to know; the note is indexed all the same."""

    kind: str
    detail: str
    line: int


@record
class Note:
    """One file of the vault, parsed. `path` is relative to the vault, with `/`. `fields` are the properties
    in the text, by their folded names."""

    path: str
    text: str
    title: str
    language: str = ""
    frontmatter: Mapping[str, JsonValue] = field(default_factory=dict)
    body_start: int = 0
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    blocks: tuple[BlockId, ...] = ()
    sections: tuple[Section, ...] = ()
    elements: tuple[Element, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    fields: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def doc_id(self) -> str:
        """The path without `.md`; other kinds of file keep their extension."""
        return doc_id_of(self.path)

    @property
    def written_links(self) -> list[WrittenLink]:
        """The links in order of their places."""
        return sorted(WrittenLink(link.start, link.kind, link.target) for link in self.links)

    @property
    def block_spans(self) -> list[tuple[int, int]]:
        """Start and end of every block, each item of a list by itself, in order."""
        parts = chain.from_iterable(element.parts or (element,) for element in self.elements)
        return [(part.start, part.end) for part in parts]


def doc_id_of(path: str) -> str:
    """The document id of a vault path: the path without `.md`, in any case."""
    return path[:-3] if path[-3:].lower() == ".md" else path
