"""Block structure: tree-sitter-markdown's tree, reduced to elements, headings and inline leaves.

tree-sitter gets a *shadow* of the body: ASCII of the same length in characters, so that its byte offsets are
character offsets and no map is needed. Characters that are neither printable ASCII, tab nor line break become
U+007F, which no rule of Markdown mentions.

A tree takes up to 1 KB per byte of text, so a long body is read in windows (`scan_blocks`), and the text
after `MAX_BLOCKS` blocks is not parsed as Markdown at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from vault_indexer.model import Element, ElementKind

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

NOT_PLAIN_ASCII = re.compile(r"[^\t\n\r\x20-\x7e]+")
REST_OF_LINE = re.compile(r"[^\r\n]*")
QUOTE_PREFIX = " \t\r\n>"
LINE_END = re.compile(r"\r\n?|\n")

# tree-sitter-markdown writes its stack of open blocks (4 bytes each) unchecked into a buffer of 1,024 bytes:
# beyond 254 it overwrites memory. Hand-written text never comes near this limit.
MAX_DEPTH = 100
DEEP_PREFIX = re.compile(rf"^[ \t>*+\-\d.)]{{{MAX_DEPTH},}}", re.MULTILINE)
CONTAINER = re.compile(r">|(?:[-+*]|\d{1,9}[.)])(?=[ \t\r\n]|$)|\t|  ")

WINDOW = 256 * 1024
"""The number of characters that are read into one tree; a shorter body has one tree."""

WIDENED = 8  # the maximum size of a block of small trees, in windows

SMALL_TREES = frozenset({"html_block", "pipe_table"})
MAX_BLOCKS = 100_000
"""The maximum number of blocks, items and rows of a note. Each takes about 1 KB until the note is stored."""

BLANK_RUN = re.compile(r"\n(?:[ \t]*+\n){15,}")
FENCE_OPENING = re.compile(r"\s*+(`{3,}+|~{3,}+)")

# Patterns that confuse the grammar; see `_repair`.
DELIMITER_CELL = r"[ \t]*+:?-++:?[ \t]*+"
DELIMITER_ROW = rf"\|?{DELIMITER_CELL}(?:\|{DELIMITER_CELL})*\|?[ \t\r]*$"
FALSE_DELIMITER_ROW = re.compile(rf"^[ \t>]*+(?!{DELIMITER_ROW})(?=[^|\r\n]*+\|)[|:\- \t\r]*+$", re.MULTILINE)
UNDERLINED_ROW = re.compile(r"^([^\r\n|]*\|[^\r\n]*)(\r?\n[ \t>]*:?-+:?[ \t\r]*)$", re.MULTILINE)
ITEM_OPENING = re.compile(r"^((?:[ \t>]*(?:[-+*]|\d{1,9}[.)])[ \t]+|[ \t]+))(?:<|\[(?=\\))", re.MULTILINE)
ITEM_MARK = r"(?:[-+*]|\d{1,9}[.)])[ \t]"
LATER_NUMBER = re.compile(
    rf"^(?:(?![ \t>]*{ITEM_MARK})[ \t>]*[^\s>][^\n]*\n|([ \t>]*){ITEM_MARK}[^\n]*\n(?=\1[ \t>]{{2}}))"
    r"[ \t>]*(?!1[.)])\d{1,9}[.)][ \t]",
    re.MULTILINE,
)
"""A line that may continue a paragraph and may look like an item: only the grammar can decide."""

MAX_REPAIRS = 20
"""The maximum number of times that a body is reread because of false lists. Each pass resolves at least
one."""

NOT_A_DEFINITION = re.compile(r"[ \t]*+\[(?:\^|\s*+\])")
TEXT_AREA = re.compile(r"(</?)textarea(?![\w-])(>?)", re.IGNORECASE)
LONE_RETURN = re.compile(r"\r(?!\n)")


class LeafKind(Enum):
    """The block that contains inline content."""

    TEXT = "text"
    HEADING = "heading"
    ROW = "row"
    HTML = "html"


class Leaf(NamedTuple):
    """Inline content, and the span of the block that a `^id` at its end names."""

    start: int
    end: int
    kind: LeafKind
    owner_start: int
    owner_end: int


class RawHeading(NamedTuple):
    """A heading before its text is read: `content` spans may contain `>` prefixes of a quote."""

    level: int
    start: int
    end: int
    content_start: int
    content_end: int
    nested: bool


@dataclass(slots=True)
class Blocks:
    """The block structure of a body; all lists are in document order."""

    elements: list[Element] = field(default_factory=list)
    headings: list[RawHeading] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    definitions: list[tuple[int, int]] = field(default_factory=list)
    too_deep: list[int] = field(default_factory=list)
    too_many: list[int] = field(default_factory=list)
    count: int = 0


KINDS = {
    "paragraph": ElementKind.PARAGRAPH,
    "atx_heading": ElementKind.HEADING,
    "setext_heading": ElementKind.HEADING,
    "fenced_code_block": ElementKind.CODE,
    "indented_code_block": ElementKind.CODE,
    "pipe_table": ElementKind.TABLE,
    "list": ElementKind.LIST,
    "block_quote": ElementKind.QUOTE,
    "html_block": ElementKind.HTML,
    "thematic_break": ElementKind.BREAK,
}
MARKS = frozenset(
    {"block_continuation", "block_quote_marker", "task_list_marker_checked", "task_list_marker_unchecked"}
    | {f"list_marker_{name}" for name in ("minus", "plus", "star", "dot", "parenthesis")}
)
NUMBERS = frozenset({"list_marker_dot", "list_marker_parenthesis"})
CONTAINERS = frozenset({"section", "block_quote", "list", "list_item", "ERROR"})
LEVELS = {f"atx_h{level}_marker": level for level in range(1, 7)} | {
    "setext_h1_underline": 1,
    "setext_h2_underline": 2,
}


@cache
def _grammar() -> Language:
    import tree_sitter_markdown
    from tree_sitter import Language

    return Language(tree_sitter_markdown.language())


def _parse(source: str) -> Tree:
    """Creates a parser for each call: that costs a microsecond, and a parser shared between threads may
    crash."""
    from tree_sitter import Parser

    return Parser(_grammar()).parse(source.encode("ascii"))


def scan_blocks(text: str, start: int, end: int, room: int = MAX_BLOCKS, window: int = WINDOW) -> Blocks:
    """The blocks of `text[start:end]`, positions relative to `text`. Text after the first `room` blocks is
    omitted, and `too_many` is the position where it begins.

    A longer body is read in windows. The last block of a window may continue after it, so the next window
    begins with that block. A block longer than a window ends with it: the rest is read as a separate block.
    Only fenced code is followed to its end, and a list is divided between two items.
    """
    walk = _Walk(text, start, end, room)
    shadow = _shadow(text[start:end], start, walk.blocks.too_deep)
    position, size = 0, window
    while position < len(shadow) and not walk.blocks.too_many:
        stop = _window_end(shadow, position, size)
        nodes = list(_flat(_tree_of(shadow[position:stop]).root_node))
        walk.begin(start + position, start + stop)
        if stop == len(shadow):
            walk.take(nodes)
            break
        walk.take(nodes[:-1])
        if not nodes or walk.blocks.too_many:
            position = stop
            continue
        last = nodes[-1]
        again = shadow.rfind("\n", position, max(walk.place(last)[0] - start, position)) + 1
        # The next window begins at the line of the last block, which may continue after this window.
        if again > position:
            position, size = again, window
        # The block fills the window. Its tree is small, so it is read again as a whole in a larger one.
        elif last.type in SMALL_TREES and size < WIDENED * window:
            size *= 2
        else:
            position, size = walk.take_long(last) - start, window
    return walk.blocks


def _window_end(shadow: str, position: int, size: int) -> int:
    """The end of the window that begins at `position`: after a line break, or at the end of the text."""
    if len(shadow) - position <= size:
        return len(shadow)
    line_end = shadow.rfind("\n", position, position + size)
    if line_end < 0:
        line_end = shadow.find("\n", position + size)
    return len(shadow) if line_end < 0 else line_end + 1


def _tree_of(shadow: str) -> Tree:
    # A line break at the start prevents `---` and `+++` from being read as metadata; the grammar needs one at
    # the end to close a heading, rule or fence there.
    source = "\n" + shadow + "\n"
    tree = _parse(source)
    # Repairs are tried only after an error: they change the source.
    if tree.root_node.has_error:
        source = _repair(source)
        tree = _parse(source)
    return _without_false_lists(source, tree) if LATER_NUMBER.search(source) else tree


def _without_false_lists(source: str, tree: Tree) -> Tree:
    """The tree with lists as in CommonMark: a list that does not begin with 1 cannot interrupt a paragraph.
    The grammar allows it, so the numbers of such lines are replaced by words."""
    for _ in range(MAX_REPAIRS):
        marks = list(_false_marks(source, tree.root_node))
        if not marks:
            break
        letters = list(source)
        for mark in marks:
            letters[mark] = "x"
        source = "".join(letters)
        tree = _parse(source)
    return tree


def _false_marks(source: str, root: Node) -> Iterator[int]:
    """Positions of the dots and parentheses of items that actually continue the paragraph above their
    list."""
    stack = [root]
    while stack:
        before = ""
        for child in stack.pop().named_children:
            if before == "paragraph" and child.type == "list":
                yield from _marks_in_paragraph(source, child)
            if child.type in CONTAINERS:
                stack.append(child)
            if child.type not in MARKS:
                before = child.type


def _marks_in_paragraph(source: str, items: Node) -> Iterator[int]:
    for number, item in enumerate(items.named_children):
        mark = next((child for child in item.named_children if child.type in NUMBERS), None)
        line = source.rfind("\n", 0, item.start_byte)
        above = source[source.rfind("\n", 0, line) + 1 : line]
        if mark is None or not above.strip(QUOTE_PREFIX):
            return
        written = source[mark.start_byte : mark.end_byte]
        # A list that begins with 1 may interrupt a paragraph, so this one is genuine.
        if number == 0 and int(written.strip()[:-1]) == 1:
            return
        yield mark.start_byte + len(written.rstrip()) - 1
        blocks = [child.type for child in item.named_children if child.type not in MARKS]
        if blocks != ["paragraph"]:
            return


def _repair(source: str) -> str:
    """The source without patterns that confuse the grammar (in about one note in a thousand).

    Its scanner accepts lines as the delimiter row of a table that its rules then reject; HTML that begins in
    a list item may not end; `[\\` after a list marker is not a task. Such bars and brackets become letters,
    which remain text.
    """
    source = FALSE_DELIMITER_ROW.sub(lambda match: match[0].replace("|", "x"), source)
    source = UNDERLINED_ROW.sub(lambda match: match[1].replace("|", "x") + match[2], source)
    return ITEM_OPENING.sub(r"\1x", source)


def _shadow(body: str, start: int, too_deep: list[int]) -> str:
    body = NOT_PLAIN_ASCII.sub(lambda match: "\x7f" * len(match[0]), body)
    body = LONE_RETURN.sub("\n", body) if "\r" in body else body

    def flatten(match: re.Match[str]) -> str:
        prefix = match[0]
        for depth, marker in enumerate(CONTAINER.finditer(prefix)):
            if depth == MAX_DEPTH:
                if not prefix[: marker.start()].isspace():
                    too_deep.append(start + match.start())
                return prefix[: marker.start()] + "x" * (len(prefix) - marker.start())
        return prefix

    # HTML that blank lines do not end; the grammar does not support this kind.
    body = TEXT_AREA.sub(r"\1script\2  ", body)
    # A blank line with spaces has the same meaning, and one line makes a smaller tree than many.
    body = BLANK_RUN.sub(lambda match: "\n" + " " * (len(match[0]) - 2) + "\n", body)
    return DEEP_PREFIX.sub(flatten, body)


class _Walk:
    """Visits the blocks of the trees of one body without descending into inline content.

    Positions of nodes are shifted by `base`: the start of the window of their tree, minus the line break
    inserted before it.
    """

    def __init__(self, text: str, start: int, end: int, room: int) -> None:
        self.text = text
        self.last = end
        self.room = room
        self.blocks = Blocks()
        self.begin(start, end)

    def begin(self, start: int, end: int) -> None:
        """Sets the window of the following nodes, from `start` to `end`."""
        self.start, self.end = start, end
        self.base = start - 1

    def place(self, node: Node) -> tuple[int, int]:
        return node.start_byte + self.base, node.end_byte + self.base

    def take(self, nodes: Iterable[Node]) -> None:
        """Adds top-level blocks to `blocks`, as long as there is room."""
        for node in nodes:
            element = self._block(node, nested=False)
            if element is not None:
                limit = self.blocks.too_many[0] if self.blocks.too_many else self.last
                self.blocks.elements.append(element if element.end <= limit else _clip(element, limit))
            if self.blocks.too_many:
                return

    def take_long(self, node: Node) -> int:
        """Adds the only block of a window, which continues after it. Returns the position to continue
        from."""
        if node.type == "fenced_code_block":
            start, _ = self._span(node)
            end = self._fence_end(start)
            self.blocks.elements.append(Element(ElementKind.CODE, start, end, self._language(node)))
            line_end = LINE_END.search(self.text, end, self.last)
            return line_end.end() if line_end else self.last
        items = [child for child in node.named_children if child.type == "list_item"]
        if node.type == "list" and len(items) > 1:
            # The last item may continue after the window, so the next window begins with it.
            begins, _ = self.place(items[-1])
            self.end = max(self.text.rfind(end, self.start, begins) for end in "\r\n") + 1 or begins
        self.take([node])
        return self.end

    def _fence_end(self, start: int) -> int:
        """The end of the line that closes the fence at `start`, or the end of the body."""
        opening = FENCE_OPENING.match(self.text, start, self.last)
        if opening is None:
            return self.last
        fence = opening[1]
        closing = re.compile(rf"(?<=[\r\n])[ \t]{{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*(?=[\r\n]|\Z)")
        found = closing.search(self.text, self.end, self.last)
        return found.end() if found else self.last

    def _has_room(self, start: int) -> bool:
        """Counts a block. Returns False if it exceeds the limit."""
        self.blocks.count += 1
        if self.blocks.count <= self.room:
            return True
        if not self.blocks.too_many:
            self.blocks.too_many.append(start)
        return False

    def _block(self, node: Node, *, nested: bool, owner: tuple[int, int] | None = None) -> Element | None:
        """Collects the content of a block and returns it as an element (None for an empty span).

        `owner` is the enclosing quote or item, which a `^id` at its end names.
        """
        start, end = self._span(node)
        if start >= end or not self._has_room(start):
            return None
        kind = KINDS.get(node.type, ElementKind.OTHER)
        owner = owner or (start, self._end_of_text(start, end))
        if kind is ElementKind.HEADING:
            self._heading(node, start, end, nested=nested)
        elif kind is ElementKind.LIST:
            return Element(kind, start, end, "", self._items(node))
        elif kind is ElementKind.CODE:
            return Element(kind, start, end, self._language(node))
        elif node.type == "link_reference_definition":
            kind = self._definition(start, end, owner)
        else:
            self._inside(kind, node, (start, end), owner)
        return Element(kind, start, end)

    def _inside(self, kind: ElementKind, node: Node, span: tuple[int, int], owner: tuple[int, int]) -> None:
        match kind:
            case ElementKind.PARAGRAPH:
                self._leaf(LeafKind.TEXT, node, owner)
            case ElementKind.TABLE:
                self._rows(node, owner)
            case ElementKind.QUOTE:
                for child in _flat(node):
                    self._block(child, nested=True, owner=owner)
                    if self.blocks.too_many:
                        break
            case ElementKind.HTML:
                self.blocks.leaves.append(Leaf(*span, LeafKind.HTML, *owner))
            case _:
                pass

    def _span(self, node: Node) -> tuple[int, int]:
        """From the start of the node's first line (if only indentation precedes it) to the end of its
        last."""
        text = self.text
        start, end = self.place(node)
        start, end = max(start, self.start), min(end, self.end)
        while end > start and text[end - 1].isspace():
            end -= 1
        if end > start:
            line = start
            while line > self.start and text[line - 1] in " \t":
                line -= 1
            if line == self.start or text[line - 1] in "\r\n":
                start = line
            if end < self.end and text[end] not in "\r\n":
                rest = REST_OF_LINE.match(text, end, self.end)
                end = rest.end() if rest and rest[0].isspace() else end
        return start, end

    def _end_of_text(self, start: int, end: int) -> int:
        """The end of the last line that consists of more than quote prefixes: an item in a quote is followed
        by the prefix of the next line."""
        place = end
        while place > start and self.text[place - 1] in QUOTE_PREFIX:
            place -= 1
        rest = REST_OF_LINE.match(self.text, place, end)
        return rest.end() if rest else end

    def _leaf(self, kind: LeafKind, node: Node, owner: tuple[int, int]) -> None:
        for child in node.named_children:
            if child.type == "inline":
                start, end = self.place(child)
                self.blocks.leaves.append(Leaf(start, min(end, self.end), kind, *owner))

    def _heading(self, node: Node, start: int, end: int, *, nested: bool) -> None:
        level = 0
        content = (end, end)
        for child in node.named_children:
            if child.type in ("inline", "paragraph"):
                content = self.place(child if child.type == "inline" else child.named_children[0])
            if child.type in LEVELS:
                level = LEVELS[child.type]
                # Text on later lines is the prefix of the enclosing quote.
                rest = REST_OF_LINE.match(self.text, max(start, self.place(child)[0]))
                end = rest.end() if rest else end
        self.blocks.headings.append(RawHeading(level, start, end, *content, nested))
        self.blocks.leaves.append(Leaf(*content, LeafKind.HEADING, start, end))

    def _language(self, node: Node) -> str:
        for child in node.named_children:
            if child.type == "info_string":
                words = self.text[slice(*self.place(child))].split()
                return words[0] if words else ""
        return ""

    def _rows(self, node: Node, owner: tuple[int, int]) -> None:
        for row in node.named_children:
            if row.type in ("pipe_table_header", "pipe_table_row"):
                start, end = self.place(row)
                if not self._has_room(start):
                    break
                self.blocks.leaves.append(Leaf(start, end, LeafKind.ROW, *owner))

    def _items(self, node: Node) -> tuple[Element, ...]:
        items = []
        for child in node.named_children:
            if child.type != "list_item":
                continue
            start, end = self._span(child)
            if start >= end:
                continue
            if not self._has_room(start):
                break
            owner = start, self._end_of_text(start, end)
            inside = [self._block(block, nested=True, owner=owner) for block in _flat(child)]
            parts = tuple(
                part for block in inside if block and block.kind is ElementKind.LIST for part in block.parts
            )
            items.append(Element(ElementKind.ITEM, start, end, "", parts))
        return tuple(items)

    def _definition(self, start: int, end: int, owner: tuple[int, int]) -> ElementKind:
        """A definition of a link's destination. `[^1]: …` is a footnote, and `[ ]: …` is text."""
        if NOT_A_DEFINITION.match(self.text, start, end):
            self.blocks.leaves.append(Leaf(start, end, LeafKind.TEXT, *owner))
            return ElementKind.PARAGRAPH
        self.blocks.definitions.append((start, end))
        return ElementKind.OTHER


def _clip(element: Element, end: int) -> Element:
    parts = tuple(_clip(part, end) for part in element.parts if part.start < end)
    return replace(element, end=min(element.end, end), parts=parts)


def _flat(node: Node) -> Iterator[Node]:
    """The blocks directly inside a container.

    Sections only group blocks in tree-sitter, so they are flattened; so are error nodes.
    """
    for child in node.named_children:
        if child.type in ("section", "ERROR"):
            yield from _flat(child)
        elif child.type not in MARKS:
            yield child
