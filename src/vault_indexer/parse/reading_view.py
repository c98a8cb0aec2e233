"""A note as a tree for the reading view, so that a page can show it without parsing.

The tree contains texts and the names of a few kinds of nodes, never markup. HTML of a note becomes nodes only
if `reading_syntax` lists its tag; other tags become text. A link to a file of the vault contains its path;
any other is a link only if its scheme is one of `SCHEMES`. So no content of a note can become part of a
page's code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vault_indexer.model import JsonValue
from vault_indexer.parse.frontmatter import read_frontmatter
from vault_indexer.parse.reading_syntax import (
    BLOCK,
    INLINE,
    MAX_NESTING,
    Tag,
    html_parts,
    is_shown_as_meant,
    note_parser,
    value_parser,
)
from vault_indexer.system import record

if TYPE_CHECKING:
    from markdown_it.token import Token

MAX_CHARS = 64_000
"""The number of characters of a note that are shown at a time, about ten thousand words: a part is read and
drawn within a second on a slow machine."""

MAX_PROPERTY_DEPTH = 6
"""The maximum depth of nested lists and tables that are shown for a property."""

_SCHEME_NAMES = (
    "http https mailto anki bear callto cursor devonthink discord drafts drafts5 evernote facetime "
    "figma geo hook idea irc ircs jetbrains kindle linear logseq magnet marginnote3app matrix "
    "message messages mid msteams notion obsidian omnifocus raycast readwise reminders sgnl sip "
    "skype slack sms spotify tel tg things ticktick todoist ulysses vscode vscode-insiders vscodium "
    "webcal whatsapp wiki x-devonthink-item xmpp zed zoommtg zotero"
)
SCHEMES = tuple(f"{scheme}:" for scheme in _SCHEME_NAMES.split())
"""The schemes of addresses that a page may open: of the web, and of programs that open what an address names.
A browser asks before it starts one. Any other scheme is shown as text, also `file:`, which browsers open from
no page; addresses that are code (`_CODE`) are left out."""

_CODE = ("javascript:", "data:", "vbscript:", "blob:")
_COMMAND = re.compile(r"obsidian:(?!//(?:vault/|search\?|open\?(?!(?:[^#]*&)?path=)))", re.IGNORECASE)
"""An address that makes Obsidian do more than show a note of one of its vaults."""

Node = dict[str, JsonValue]
Resolve = Callable[[str], str | None]
"""Maps a link's target to its vault path, or None if no file of the vault has that name. An empty target, as
in `[[#Heading]]`, maps to the path of the note itself."""

_ReadText = Callable[[str], list[JsonValue]]

_CALLOUT = re.compile(r"\[!([^\]\n]{1,40})\]([-+]?)[ \t]*")
_TASK = re.compile(r"\[(.)\](?:[ \t]|$)")
_BLOCK_ID = re.compile(r"(?:^|[ \t\n])[ \t]*\^([A-Za-z0-9-]+)\s*$")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_CONTROL = re.compile(r"[\x00-\x20\x7f]+")
_ALIGN = re.compile(r"text-align:\s*(left|center|right)")
_MAX_BLOCK_ID = 120
_MAX_OPEN = 2 * MAX_NESTING
_ALIGNMENTS = ("left", "center", "right")

_BLOCKS = {
    "paragraph_open": "p",
    "bullet_list_open": "ul",
    "list_item_open": "li",
    "blockquote_open": "quote",
    **{f"{kind}_open": kind for kind in ("table", "thead", "tbody", "tr", "th", "td")},
    "footnote_block_open": "footnotes",
}
_SPANS = {"em_open": "em", "strong_open": "strong", "s_open": "del", "mark_open": "mark"}
_LITERAL = {"code_inline": "code", "math": "math", "math_block": "formula", "tag": "tag"}


@record
class ReadingView:
    """The blocks of a note, or of a part of a long one, in order. `first_line` and `last_line` (1-based)
    delimit the lines of the file that are shown; `is_cut_before` and `is_cut_after` state whether there are
    more before or after them."""

    blocks: tuple[Node, ...]
    first_line: int
    last_line: int
    is_cut_before: bool
    is_cut_after: bool


def reading_view(
    text: str, body_start: int, resolve: Resolve, line: int = 0, max_chars: int = MAX_CHARS
) -> ReadingView:
    """The tree of the note's body, from the character at `body_start` on.

    If the body exceeds `max_chars` characters, only the part that contains the `line` (1-based) of the file
    is shown; for 0, the first part. A block has a kind `t`, its line `l` in the file and children `c`; a text
    is a string. Raises nothing: any text is Markdown.
    """
    start, end = _part_with_line(text, body_start, line, max_chars)
    first_line = text.count("\n", 0, start) + 1
    unread = read_frontmatter(text).block_end if start == 0 else 0
    body = text[max(start, unread) : end]
    blocks = _Tree(resolve, first_line + text.count("\n", 0, unread)).build(note_parser().parse(body))
    if unread:  # the properties cannot be read
        blocks.insert(0, {"t": "pre", "l": 1, "lang": "yaml", "text": text[:unread]})
    last_line = first_line + text.count("\n", start, max(start, end - 1))
    return ReadingView(tuple(blocks), first_line, last_line, start > body_start, end < len(text))


def source_view(
    text: str, start: int, language: str, line: int = 0, max_chars: int = MAX_CHARS
) -> ReadingView:
    """The reading view of a source file: one block of code."""
    first, end = _part_with_line(text, start, line, max_chars)
    first_line = text.count("\n", 0, first) + 1
    block: Node = {"t": "pre", "l": first_line, "lang": language, "text": text[first:end]}
    last_line = first_line + text.count("\n", first, max(first, end - 1))
    return ReadingView((block,), first_line, last_line, first > start, end < len(text))


def property_view(properties: Mapping[str, JsonValue], resolve: Resolve) -> Node:
    """The properties of a note as a tree: a node `properties`, each child of which has a `name` and its
    value. Links between notes and addresses in the values have the same targets as in the text."""
    tree, parser = _Tree(resolve, 1), value_parser()

    def read(value: str) -> list[JsonValue]:
        return [part for token in parser.parseInline(value) for part in tree.inline(token.children or [])]

    return _properties_node(properties, read, MAX_PROPERTY_DEPTH)


def _properties_node(properties: Mapping[str, JsonValue], read: _ReadText, depth: int) -> Node:
    rows: list[JsonValue] = [
        {"t": "property", "name": str(name), "c": _value_nodes(value, read, depth - 1)}
        for name, value in properties.items()
    ]
    return {"t": "properties", "c": rows}


def _value_nodes(value: JsonValue, read: _ReadText, depth: int) -> list[JsonValue]:
    match value:
        case None | "":
            return []
        case bool():
            return [{"t": "check", "done": value}]
        case str():
            return read(value)
        case _ if depth <= 0:
            return ["…"]
        case list():
            items: list[JsonValue] = [{"t": "li", "c": _value_nodes(one, read, depth - 1)} for one in value]
            return [{"t": "ul", "c": items}]
        case dict():
            return [_properties_node(value, read, depth)]
    return [str(value)]


def _part_with_line(text: str, start: int, line: int, max_chars: int) -> tuple[int, int]:
    """The part of the text from `start` on that contains the line. Parts end before a heading if there is one
    in their second half, else after a blank line, else after any line."""
    lines_before = text.count("\n", 0, start)
    while len(text) - start > max_chars:
        end = _end_of_part(text, start + max_chars // 2, start + max_chars)
        lines_before += text.count("\n", start, end)
        if line <= lines_before:
            return start, end
        start = end
    return start, len(text)


def _end_of_part(text: str, first: int, last: int) -> int:
    for mark, behind in (("\n#", 1), ("\n\n", 2), ("\n", 1)):
        found = text.rfind(mark, first, last)
        if found >= 0:
            return found + behind
    return last


@dataclass(slots=True)
class _Frame:
    """An open element. `tag` is the name of an element written as HTML."""

    children: list[JsonValue]
    tag: str = ""


class _Stack:
    """The open elements of a text, outermost first.

    An HTML element ends with its end tag, or with the Markdown element around it.
    """

    def __init__(self) -> None:
        self.root: list[JsonValue] = []
        self._frames = [_Frame(self.root)]

    def append(self, node: JsonValue) -> None:
        """Appends to the innermost element, unless the node is None. Consecutive texts are merged."""
        children = self._frames[-1].children
        if isinstance(node, str) and children and isinstance(children[-1], str):
            children[-1] += node
        elif node is not None:
            children.append(node)

    def open(self, node: JsonValue, tag: str = "") -> None:
        """Opens an element that receives the following content. Without a node, or nested too deep in HTML,
        the content goes into the enclosing element."""
        if tag and len(self._frames) >= _MAX_OPEN:
            return
        children = self._frames[-1].children
        if isinstance(node, dict):
            self.append(node)
            children = []
            node["c"] = children
        self._frames.append(_Frame(children, tag))

    def close(self) -> None:
        while self._frames[-1].tag:
            self._frames.pop()
        self._frames.pop()

    def close_tag(self, tag: str) -> None:
        """Closes an HTML element, if one of that name is open inside the innermost Markdown element."""
        for at in range(len(self._frames) - 1, 0, -1):
            if not self._frames[at].tag:
                return
            if self._frames[at].tag == tag:
                del self._frames[at:]
                return


class _Tree:
    """Builds the tree from the tokens of one note."""

    def __init__(self, resolve: Resolve, first_line: int) -> None:
        self._resolve = resolve
        self._first_line = first_line

    def build(self, tokens: Sequence[Token]) -> list[Node]:
        stack = _Stack()
        for token in tokens:
            if token.nesting == -1:
                stack.close()
            elif token.type == "inline":
                for node in self.inline(token.children or []):
                    stack.append(node)
            elif token.type == "html_block":
                self._html_block(stack, token)
            elif token.nesting == 1:
                stack.open(self._block(token))
            else:
                stack.append(self._block(token))
        return [_finish(node) for node in _blocks_of(stack.root)]

    def inline(self, tokens: Sequence[Token]) -> list[JsonValue]:
        stack = _Stack()
        in_drawing = False
        for token in tokens:
            if token.type == "html_inline":
                in_drawing = self._html_inline(stack, token.content, in_drawing)
            elif in_drawing:
                continue
            elif token.nesting == -1:
                stack.close()
            elif token.nesting == 1:
                stack.open(self._span(token))
            else:
                stack.append(self._span(token))
        return stack.root

    def _block(self, token: Token) -> Node | None:
        line: Node = {"l": self._first_line + token.map[0]} if token.map else {}
        match token.type:
            case "heading_open":
                return {"t": "h", **line, "level": int(token.tag[1:])}
            case "fence" | "code_block":
                language = token.info.strip().split(" ")[0][:40]
                return {"t": "pre", **line, "lang": language, "text": token.content}
            case "hr":
                return {"t": "hr", **line}
            case "math_block":
                return {"t": "formula", **line, "text": token.content}
            case "ordered_list_open":
                return {"t": "ol", **line, "start": int(token.attrGet("start") or 1)}
            case "th_open" | "td_open":
                found = _ALIGN.match(str(token.attrGet("style") or ""))
                return {"t": _BLOCKS[token.type], **line, **({"align": found[1]} if found else {})}
            case "footnote_open":
                return {"t": "footnote", "number": int(token.meta["id"]) + 1}
            case kind if kind in _BLOCKS:
                return {"t": _BLOCKS[kind], **line}
        return None

    def _span(self, token: Token) -> JsonValue:
        match token.type:
            case "text":
                return token.content or None
            case "softbreak":
                return "\n"
            case "hardbreak":
                return {"t": "br"}
            case "link_open":
                return self._link(str(token.attrGet("href") or ""))
            case "image":
                return {**self._image(str(token.attrGet("src") or "")), "alt": token.content[:200]}
            case "wikilink":
                return self._wikilink(token.content, token.meta["display"], embed=token.meta["embed"])
            case "footnote_ref":
                return {"t": "footnote_ref", "number": int(token.meta["id"]) + 1}
            case kind if kind in _SPANS:
                return {"t": _SPANS[kind]}
            case kind if kind in _LITERAL:
                return {"t": _LITERAL[kind], "text": token.content}
        return token.content or None

    def _html_block(self, stack: _Stack, token: Token) -> None:
        line: Node = {"l": self._first_line + token.map[0]} if token.map else {}
        if not is_shown_as_meant(token.content):
            stack.append({"t": "pre", **line, "lang": "html", "text": token.content})
            return
        for part in html_parts(token.content):
            if isinstance(part, str):
                if part.strip():
                    stack.append(part.strip("\n"))
            elif part.is_end:
                stack.close_tag(part.name)
            else:
                self._open_tag(stack, part, line)

    def _html_inline(self, stack: _Stack, html: str, in_drawing: bool) -> bool:
        """Adds the tag to the text; a drawing is added only as a placeholder. Returns whether the following
        content is inside a drawing."""
        tag = next((part for part in html_parts(html) if isinstance(part, Tag)), None)
        if tag is None:  # a comment
            return in_drawing
        if in_drawing or tag.name == "svg":
            if not in_drawing:
                stack.append({"t": "html", "text": "<svg>"})
            return not (tag.name == "svg" and (tag.is_end or tag.is_alone))
        if tag.is_end:
            stack.close_tag(tag.name)
        elif tag.name == "p":
            stack.append({"t": "br"})
        elif tag.name not in BLOCK:
            self._open_tag(stack, tag, {})
        return False

    def _open_tag(self, stack: _Stack, tag: Tag, line: Node) -> None:
        match tag.name:
            case "br" | "hr":
                stack.append({"t": tag.name})
            case "wbr":
                stack.append("\u200b")
            case "img":
                size = tag.attributes.get("width", "")
                alt = tag.attributes.get("alt", "") + (f"|{size}" if size.isdecimal() else "")
                stack.append({**self._image(tag.attributes.get("src", "")), "alt": alt[:200]})
            case "iframe":
                address = tag.attributes.get("src", "")
                stack.append({**self._link(address), "c": [address]})
            case name if name in INLINE or name in BLOCK:
                node = self._element(tag, line)
                if tag.is_alone:
                    stack.append({**node, "c": []})
                else:
                    stack.open(node, name)
            case _:
                stack.append({"t": "html", "text": tag.text})

    def _element(self, tag: Tag, line: Node) -> Node:
        if tag.name == "a":
            return self._link(tag.attributes.get("href", ""))
        kind = INLINE.get(tag.name) or BLOCK[tag.name]
        node: Node = {"t": kind, **line} if tag.name in BLOCK else {"t": kind}
        if kind == "h":
            node["level"] = int(tag.name[1])
        align = tag.attributes.get("align", "").lower()
        if kind in ("th", "td") and align in _ALIGNMENTS:
            node["align"] = align
        return node

    def _wikilink(self, written: str, display: str | None, *, embed: bool) -> Node:
        target, _, subpath = written.partition("#")
        shown = display or written.lstrip("#")
        path = self._resolve(target.strip())
        return {"t": "embed" if embed else "note", "path": path, "subpath": subpath, "c": [shown]}

    def _image(self, address: str) -> Node:
        found = self._link(address)
        return {**found, "t": "img", "name": unquote(address.rpartition("/")[2])[:200]}

    def _link(self, address: str) -> Node:
        """A link to a file of the vault, to an address with an allowed scheme, or without a target. A node
        `address` has the address of a link that a page cannot open."""
        plain = _CONTROL.sub("", address)
        if plain.lower().startswith(SCHEMES) and not _COMMAND.match(plain):
            return {"t": "a", "href": plain}
        if not plain or plain.startswith("//") or plain.lower().startswith(_CODE):
            return {"t": "span"}
        if _SCHEME.match(plain):
            return {"t": "address", "address": plain}
        target, _, subpath = address.partition("#")
        return {"t": "note", "path": self._resolve(unquote(target)), "subpath": unquote(subpath)}


def _blocks_of(nodes: list[JsonValue]) -> Iterator[Node]:
    """Converts the nodes to blocks: a text between HTML elements is a paragraph."""
    for node in nodes:
        if isinstance(node, dict):
            yield node
        elif isinstance(node, str) and node.strip():
            yield {"t": "p", "c": [node.strip()]}


def _finish(node: Node) -> Node:
    """Sets the attributes that only the first and last text of a block contain: a task, a callout with its
    folding, the id of the block."""
    children = node.get("c")
    if not isinstance(children, list):
        return node
    for child in children:
        if isinstance(child, dict):
            _finish(child)
    if node["t"] == "li":
        _take(node, children, _TASK, "task")
    elif node["t"] == "quote":
        _take(node, children, _CALLOUT, "callout", "fold")
        if "callout" in node:
            _take_title(node, children)
    if children and isinstance(children[-1], str) and node["t"] in ("p", "h"):
        found = _BLOCK_ID.search(children[-1], max(0, len(children[-1]) - _MAX_BLOCK_ID))
        if found:
            node["id"] = found[1]
            children[-1] = children[-1][: found.start()]
    return node


def _take_title(node: Node, children: list[JsonValue]) -> None:
    """Moves the rest of a callout's first line, its title, from the first paragraph into the node."""
    first = children[0]
    assert isinstance(first, dict)
    inside = first["c"]
    assert isinstance(inside, list)
    title: list[JsonValue] = []
    while inside:
        part = inside.pop(0)
        line, newline, rest = part.partition("\n") if isinstance(part, str) else (part, "", "")
        title.append(line)
        if newline:
            inside.insert(0, rest)
            break
    if not inside:
        children.pop(0)
    node["title"] = [part for part in title if part != ""]


def _take(node: Node, children: list[JsonValue], pattern: re.Pattern[str], *names: str) -> None:
    """Moves the start of the first paragraph from its text into the node: each group under its name, unless
    it is empty."""
    first = children[0] if children else None
    inside = first.get("c") if isinstance(first, dict) and first["t"] == "p" else None
    if not isinstance(inside, list) or not inside or not isinstance(inside[0], str):
        return
    found = pattern.match(inside[0])
    if found:
        node.update({name: value for name, value in zip(names, found.groups(), strict=True) if value})
        inside[0] = inside[0][found.end() :]
