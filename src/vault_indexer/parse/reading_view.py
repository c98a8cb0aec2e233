"""A note as a tree of what a reader sees: for a page that shows it without parsing anything itself.

The tree holds texts and the names of a few kinds of nodes, never markup. What a note writes as HTML is a
text in it. A link that leads to a file of the vault carries its path; any other keeps its address only if
its scheme is one of `SCHEMES`. So nothing that a note says can become part of a page's code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vault_indexer.model import JsonValue

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MAX_CHARS = 400_000
"""Characters of a note that are shown. The library reads about one million characters per second."""

MAX_NESTING = 24
"""Blocks or spans inside of each other that are shown; what stands deeper is left out."""

SCHEMES = ("http:", "https:", "mailto:")
"""Schemes of addresses that a page may offer to open."""

Node = dict[str, JsonValue]
Resolve = Callable[[str], str | None]
"""The vault path of a link's target, None if no file of the vault has that name."""

_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n|]{1,512})(?:\|([^\[\]\n]{0,512}))?\]\]")
_TAG = re.compile(r"#([\w/\-]*[^\W\d][\w/\-]*)")
_COMMENT = re.compile(r"%%[\s\S]*?%%")
_MATH = re.compile(r"\$\$([\s\S]+?)\$\$|\$(?![\s$])([^$\n]{1,1000}?)(?<!\s)\$(?!\d)")
_MARK = re.compile(r"==(?=\S)([^\n]{1,2000}?)(?<=\S)==")
_CALLOUT = re.compile(r"\[!([^\]\n]{1,40})\][-+]?[ \t]*")
_TASK = re.compile(r"\[(.)\][ \t]")
_BLOCK_ID = re.compile(r"[ \t]*\^[A-Za-z0-9-]+\s*$")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_CONTROL = re.compile(r"[\x00-\x20\x7f]+")

_BLOCKS = {
    "paragraph_open": "p",
    "bullet_list_open": "ul",
    "ordered_list_open": "ol",
    "list_item_open": "li",
    "blockquote_open": "quote",
    "table_open": "table",
    "thead_open": "thead",
    "tbody_open": "tbody",
    "tr_open": "tr",
    "th_open": "th",
    "td_open": "td",
}
_SPANS = {"em_open": "em", "strong_open": "strong", "s_open": "del", "mark_open": "mark"}
_LITERAL = {"code_inline": "code", "html_inline": "html", "math": "math", "tag": "tag"}


@dataclass(frozen=True, slots=True)
class ReadingView:
    """The blocks of a note in order. `is_cut`: the note is longer than what is shown."""

    blocks: tuple[Node, ...]
    is_cut: bool


def reading_view(text: str, body_start: int, resolve: Resolve) -> ReadingView:
    """The tree of the note's body.

    A block has a kind `t`, its 1-based line `l` in the file and children `c`; a text is a string. Raises
    nothing: any text is Markdown.
    """
    body = text[body_start : body_start + MAX_CHARS]
    first_line = text.count("\n", 0, body_start) + 1
    tree = _Tree(resolve, first_line)
    blocks = tree.build(_parser().parse(body))
    return ReadingView(tuple(blocks), len(text) > body_start + MAX_CHARS)


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": MAX_NESTING, "linkify": False})
    parser.enable(["table", "strikethrough"])
    parser.validateLink = _accept_any  # type: ignore[method-assign, assignment] # `_link` decides what may be opened
    for name, rule in (("wikilink", _wikilink), ("tag", _tag), ("math", _math), ("comment", _comment)):
        parser.inline.ruler.before("link", name, rule)
    parser.inline.ruler.before("emphasis", "mark", _mark)
    return parser


def _accept_any(_: str) -> bool:
    return True


def _wikilink(state: StateInline, silent: bool) -> bool:
    found = _WIKILINK.match(state.src, state.pos)
    if found is None or found.end() > state.posMax:
        return False
    if not silent:
        token = state.push("wikilink", "", 0)
        token.content = found[2]
        token.meta = {"display": found[3], "embed": bool(found[1])}
    state.pos = found.end()
    return True


def _tag(state: StateInline, silent: bool) -> bool:
    found = _TAG.match(state.src, state.pos)
    before = state.src[state.pos - 1 : state.pos]
    if found is None or found.end() > state.posMax or (before and not before.isspace()):
        return False
    return _literal(state, "tag", found[1], found.end(), silent)


def _math(state: StateInline, silent: bool) -> bool:
    found = _MATH.match(state.src, state.pos)
    if found is None or found.end() > state.posMax:
        return False
    return _literal(state, "math", found[1] or found[2], found.end(), silent)


def _comment(state: StateInline, silent: bool) -> bool:
    """What Obsidian does not show to a reader."""
    found = _COMMENT.match(state.src, state.pos)
    if found is None or found.end() > state.posMax:
        return False
    del silent
    state.pos = found.end()
    return True


def _literal(state: StateInline, kind: str, content: str, end: int, silent: bool) -> bool:
    if not silent:
        state.push(kind, "", 0).content = content
    state.pos = end
    return True


def _mark(state: StateInline, silent: bool) -> bool:
    found = _MARK.match(state.src, state.pos)
    if found is None or found.end() > state.posMax:
        return False
    if not silent:
        end = state.posMax
        state.push("mark_open", "mark", 1)
        state.pos, state.posMax = found.start(1), found.end(1)
        state.md.inline.tokenize(state)
        state.posMax = end
        state.push("mark_close", "mark", -1)
    state.pos = found.end()
    return True


class _Tree:
    """Makes the tree from the tokens of one note."""

    def __init__(self, resolve: Resolve, first_line: int) -> None:
        self._resolve = resolve
        self._first_line = first_line

    def build(self, tokens: Sequence[Token]) -> list[Node]:
        root: list[JsonValue] = []
        open_: list[list[JsonValue]] = [root]
        for token in tokens:
            if token.nesting == -1:
                open_.pop()
                continue
            node = self._block(token)
            if token.type == "inline":
                open_[-1].extend(self._inline(token.children or []))
            elif node is not None:
                open_[-1].append(node)
            if token.nesting == 1:
                children: list[JsonValue] = []
                if node is not None:
                    node["c"] = children
                open_.append(children if node is not None else open_[-1])
        return [_finish(node) for node in root if isinstance(node, dict)]

    def _block(self, token: Token) -> Node | None:
        line: Node = {"l": self._first_line + token.map[0]} if token.map else {}
        match token.type:
            case "heading_open":
                return {"t": "h", **line, "level": int(token.tag[1:])}
            case "fence" | "code_block":
                return {"t": "pre", **line, "lang": token.info.split(" ")[0][:40], "text": token.content}
            case "html_block":
                return {"t": "pre", **line, "lang": "html", "text": token.content}
            case "hr":
                return {"t": "hr", **line}
            case "ordered_list_open":
                return {"t": "ol", **line, "start": int(token.attrGet("start") or 1)}
            case kind if kind in _BLOCKS:
                return {"t": _BLOCKS[kind], **line}
        return None

    def _inline(self, tokens: Sequence[Token]) -> list[JsonValue]:
        root: list[JsonValue] = []
        open_: list[list[JsonValue]] = [root]
        for token in tokens:
            if token.nesting == -1:
                open_.pop()
                continue
            node = self._span(token)
            if node is not None:
                _append(open_[-1], node)
            if token.nesting == 1:
                children: list[JsonValue] = []
                if isinstance(node, dict):
                    node["c"] = children
                open_.append(children)
        return root

    def _span(self, token: Token) -> JsonValue:
        match token.type:
            case "text":
                return token.content
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
            case kind if kind in _SPANS:
                return {"t": _SPANS[kind]}
            case kind if kind in _LITERAL:
                return {"t": _LITERAL[kind], "text": token.content}
        return token.content or None

    def _wikilink(self, written: str, display: str | None, *, embed: bool) -> Node:
        target, _, subpath = written.partition("#")
        path = self._resolve(target.strip()) if target.strip() else ""
        shown = display or written.lstrip("#")
        return {"t": "embed" if embed else "note", "path": path, "subpath": subpath, "c": [shown]}

    def _image(self, address: str) -> Node:
        found = self._link(address)
        return {**found, "t": "img", "name": unquote(address.rpartition("/")[2])[:200]}

    def _link(self, address: str) -> Node:
        """To a file of the vault, to an address with a scheme that is known, or to nowhere."""
        plain = _CONTROL.sub("", address)
        if plain.lower().startswith(SCHEMES):
            return {"t": "a", "href": plain}
        if _SCHEME.match(plain) or plain.startswith("//"):
            return {"t": "span"}
        target, _, subpath = address.partition("#")
        path = self._resolve(unquote(target)) if target else ""
        return {"t": "note", "path": path, "subpath": unquote(subpath)}


def _append(children: list[JsonValue], node: JsonValue) -> None:
    """Texts that follow each other are one."""
    if isinstance(node, str) and children and isinstance(children[-1], str):
        children[-1] += node
    else:
        children.append(node)


def _finish(node: Node) -> Node:
    """The node with what only the first and last text of a block says: a task, a callout, the id of the
    block."""
    children = node.get("c")
    if not isinstance(children, list):
        return node
    for child in children:
        if isinstance(child, dict):
            _finish(child)
    if node["t"] == "li":
        _take(node, children, _TASK, "task")
    elif node["t"] == "quote":
        _take(node, children, _CALLOUT, "callout")
        if "callout" in node:
            _take_title(node, children)
    if children and isinstance(children[-1], str) and node["t"] in ("p", "h"):
        children[-1] = _BLOCK_ID.sub("", children[-1])
    return node


def _take_title(node: Node, children: list[JsonValue]) -> None:
    """Move the rest of a callout's first line, its title, from the first paragraph into the node."""
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


def _take(node: Node, children: list[JsonValue], pattern: re.Pattern[str], name: str) -> None:
    """Move what begins the first paragraph from its text into the node."""
    first = children[0] if children else None
    inside = first.get("c") if isinstance(first, dict) and first["t"] == "p" else None
    if not isinstance(inside, list) or not inside or not isinstance(inside[0], str):
        return
    found = pattern.match(inside[0])
    if found:
        node[name] = found[1]
        inside[0] = inside[0][found.end() :]
