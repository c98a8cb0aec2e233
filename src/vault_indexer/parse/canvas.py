"""Canvas files (JSON Canvas): cards and arrows, laid out as searchable text. So are drawings of Excalidraw,
whose texts are cards.

`Note.text` is this text, not the JSON: spans of escaped JSON would be hard to read and embed badly. So all
offsets and lines of a canvas refer to the generated text: a block for each card, top to bottom and left to
right, then a line for each arrow that has a label or touches a file. Every block is a separate piece of
Markdown (a heading in one card does not extend into the next), so there may be several sections of level 0.

Many edges may meet in a card with much text. The ends of all edges together are limited to as many characters
as the file has; an edge beyond that shows only its label. The card itself always has its whole text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from vault_indexer.model import Diagnostic, Element, ElementKind, JsonValue, Link, LinkKind, Note, Section
from vault_indexer.parse.fields import joined_fields
from vault_indexer.parse.inline import Lines
from vault_indexer.parse.link_syntax import MAX_LINK, TOO_LONG, TOO_MANY
from vault_indexer.parse.notes import (
    MAX_TAGS,
    Body,
    ParseLimits,
    decode,
    parse_body,
    sections,
    stem,
    tags_problem,
    unique_tags,
    without_addresses,
)

SEPARATOR = "\n\n"
ARROW = " → "
EDGE_ENDS = ("fromNode", "toNode")
_DRAWN = ("rawText", "originalText", "text", "name")
FAR = 1e12
MAX_CARDS = 1_000
MAX_EDGES = 2_000
MAX_PLACE = 25_000.0
MAX_DRAWN_CHARS = 200_000
TOO_LONG_ENDS = "edges would repeat more text than the file has: the rest show their labels only"
LEAST_FOR_ENDS = 100_000
PLAIN_LINE = re.compile(
    r"[^\W\d_][^\r\n#\[<^|\\:]*+(?::(?!:)[^\r\n#\[<^|\\:]*+)*(?<=\S)(?=\n\n\Z)"
)  # a paragraph without any syntax
NOT_TEXT = re.compile(r"[\x00\ud800-\udfff]")  # JSON can escape these, but no text contains them


@dataclass(slots=True)
class _Sheet:
    """The text under construction, its blocks, and the links to files in it (line not yet known)."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    pieces: list[int] = field(default_factory=list)  # the start of each block
    links: list[tuple[LinkKind, str, str, str | None, int, int]] = field(default_factory=list)
    limits: ParseLimits = field(default_factory=ParseLimits)
    problems: dict[str, Diagnostic] = field(default_factory=dict)  # by detail, so that each is reported once

    def refuse(self, detail: str) -> None:
        """Reports content that is omitted because of a limit."""
        self.problems.setdefault(detail, Diagnostic("limit", detail, 1))

    def write(self, text: str) -> None:
        """Appends to the current block."""
        self.parts.append(text)
        self.length += len(text)

    def write_file(self, kind: LinkKind, card: Mapping[str, JsonValue], display: str | None) -> None:
        path, subpath, start = _text(card, "file"), _text(card, "subpath").removeprefix("#"), self.length
        self.write(path)
        self.limits.finds -= 1
        if max(len(path), len(subpath), len(display or "")) > MAX_LINK:
            self.refuse(TOO_LONG)
        elif self.limits.finds < 0:
            self.refuse(TOO_MANY)
        else:
            self.links.append((kind, path, subpath, display, start, self.length))

    def close_block(self, start: int) -> None:
        """Ends the block that began at `start`; an empty one is dropped."""
        if self.length > start:
            self.pieces.append(start)
            self.write(SEPARATOR)


def parse_canvas(path: str, data: bytes) -> Note:
    """Parses a `.canvas` or `.excalidraw` file. Raises NoteError if it is not text; broken JSON is reported
    as a diagnostic."""
    source, encoding = decode(path, data)
    try:
        canvas: JsonValue = json.loads(source) if source.strip() else {}
        problem = Diagnostic("canvas", "not a JSON object", 1)
    except (ValueError, RecursionError) as error:
        canvas = None
        problem = Diagnostic("canvas", f"not valid JSON: {error}", getattr(error, "lineno", 1))
    if not isinstance(canvas, dict):
        return Note(path=path, text="", title=stem(path), diagnostics=(*encoding, problem))
    for_ends = max(len(source), LEAST_FOR_ENDS)
    del source
    nodes = _objects(canvas, "nodes") or [*_drawn_texts(_objects(canvas, "elements"))]
    sheet = _lay_out(nodes, _objects(canvas, "edges"), for_ends)
    del canvas
    return _note(path, "".join(sheet.parts), sheet, encoding)


def _drawn_texts(elements: Iterable[Mapping[str, JsonValue]]) -> Iterator[dict[str, JsonValue]]:
    """The texts of a drawing as cards: the text as written, before it is wrapped to fit, and its link."""
    for element in elements:
        written = next(filter(None, (_text(element, key) for key in _DRAWN)), "")
        link = _text(element, "link")
        words = "\n".join(filter(None, (written, link if link not in written else "")))
        if words and element.get("isDeleted") is not True:
            yield {"text": words, "x": element.get("x"), "y": element.get("y")}


def canvas_drawing(
    data: bytes, render: Callable[[str], list[JsonValue]], resolve: Callable[[str], str | None]
) -> dict[str, JsonValue]:
    """Returns the cards of a canvas with their places, top to bottom, and its edges by the numbers of the
    cards; empty if it is not a canvas. `render` makes the tree of a card's text.

    At most `MAX_CARDS` cards and `MAX_EDGES` edges are drawn, in a square of `2 * MAX_PLACE`; of a text
    beyond `MAX_DRAWN_CHARS`, only the first characters.
    """
    try:
        canvas: JsonValue = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    nodes = _objects(canvas, "nodes") if isinstance(canvas, dict) else []
    if not nodes or not isinstance(canvas, dict):
        return {}
    nodes.sort(key=lambda card: (_number(card, "y"), _number(card, "x")))
    numbers: dict[str, JsonValue] = {}
    cards: list[JsonValue] = []
    left = MAX_DRAWN_CHARS
    for card in nodes[:MAX_CARDS]:
        numbers.setdefault(_text(card, "id"), len(cards))
        text, file = _text(card, "text"), _text(card, "file")
        left -= len(text)
        shown: dict[str, JsonValue] = {
            **{key: max(-MAX_PLACE, min(MAX_PLACE, _number(card, key))) for key in ("x", "y")},
            **{key: max(20.0, min(4_000.0, _number(card, key))) for key in ("width", "height")},
            **{key: _text(card, key)[:500] for key in ("type", "color", "label", "url", "subpath")},
            "file": file[:MAX_LINK],
            "path": resolve(file) if file else None,
            "blocks": render(text) if left >= 0 else [{"t": "p", "c": [text[:100]]}],
        }
        cards.append(shown)
    edges: list[JsonValue] = [
        {
            "ends": [numbers[_text(edge, key)] for key in EDGE_ENDS],
            "sides": [_text(edge, key)[:10] for key in ("fromSide", "toSide")],
            "label": _text(edge, "label")[:200],
        }
        for edge in _objects(canvas, "edges")[:MAX_EDGES]
        if all(_text(edge, key) in numbers for key in EDGE_ENDS)
    ]
    return {"cards": cards, "edges": edges, "more": len(nodes) > MAX_CARDS}


def _lay_out(nodes: list[dict[str, JsonValue]], edges: list[dict[str, JsonValue]], for_ends: int) -> _Sheet:
    """Lays out cards and edges. `for_ends` is the number of characters that the ends of all edges may
    take."""
    sheet = _Sheet()
    for card in sorted(nodes, key=lambda card: (_number(card, "y"), _number(card, "x"))):
        start = sheet.length
        if _text(card, "file"):
            sheet.write_file(LinkKind.EMBED, card, None)
        else:
            sheet.write(_words(card).strip("\r\n"))
        sheet.close_block(start)
    by_id = {_text(card, "id"): card for card in nodes}
    nowhere: dict[str, JsonValue] = {}
    names: dict[int, str] = {}
    for edge in edges:
        start, label = sheet.length, _text(edge, "label")
        ends = [by_id.get(_text(edge, key), nowhere) for key in EDGE_ENDS]
        if label or any(_text(card, "file") for card in ends):
            for card in ends:
                if id(card) not in names:  # cached, because a card may be long and have many edges
                    names[id(card)] = _name(card)
                for_ends -= len(names[id(card)]) + len(str(card.get("subpath", "")))
            if for_ends < 0:
                sheet.refuse(TOO_LONG_ENDS)
                sheet.write(label)
            else:
                _write_edge(sheet, label, [(card, names[id(card)]) for card in ends])
        sheet.close_block(start)
    return sheet


def _words(card: Mapping[str, JsonValue]) -> str:
    """The text of a card without a file: its text, a group's label, or title and address of a web page."""
    text = without_addresses(_text(card, "text"))
    return text or "\n".join(filter(None, (_text(card, key) for key in ("label", "title", "url"))))


def _name(card: Mapping[str, JsonValue]) -> str:
    return _text(card, "file") or next(iter(_words(card).strip().splitlines()), "")


def _write_edge(sheet: _Sheet, label: str, ends: list[tuple[dict[str, JsonValue], str]]) -> None:
    for position, (card, name) in enumerate(ends):
        if position:
            sheet.write(ARROW)
        if _text(card, "file"):
            sheet.write_file(LinkKind.WIKILINK, card, label or None)
        else:
            sheet.write(name)
    sheet.write(f" ({label})" if label else "")


def _plain_body(text: str, start: int, end: int, limits: ParseLimits) -> Body | None:
    """The block as one paragraph, if that is easy to detect. Large canvases have very many of those."""
    line = PLAIN_LINE.match(text, start, end)
    if line is None or limits.blocks <= 0:
        return None
    limits.blocks -= 1
    paragraph = Element(ElementKind.PARAGRAPH, start, line.end())
    return Body((), (), (), (), (paragraph,), ())


def _note(path: str, text: str, sheet: _Sheet, encoding: tuple[Diagnostic, ...]) -> Note:
    lines = Lines(text)
    bodies: list[Body] = []
    outline: list[Section] = []
    links = [Link(*link, lines.at(link[4])) for link in sheet.links]
    of_files = {link.start for link in links}
    # Blocks beyond the limit form a single one.
    for start, end in pairwise([*sheet.pieces[: max(0, sheet.limits.blocks) + 1], len(text)]):
        body = _plain_body(text, start, end, sheet.limits) or parse_body(
            text, start, end, lines, sheet.limits
        )
        bodies.append(body)
        outline += sections(text, start, end, body.headings, len(outline))
        links += [link for link in body.links if link.start not in of_files]
    tags = unique_tags(tag for body in bodies for tag in body.tags)
    return Note(
        path=path,
        text=text,
        title=stem(path),
        tags=tags[:MAX_TAGS],
        headings=tuple(heading for body in bodies for heading in body.headings),
        links=tuple(sorted(links, key=lambda link: link.start)),
        blocks=tuple(block for body in bodies for block in body.blocks),
        sections=tuple(outline),
        elements=tuple(element for body in bodies for element in body.elements),
        diagnostics=(*encoding, *sheet.problems.values(), *_first_of_each(bodies), *tags_problem(tags)),
        fields=joined_fields(field for body in bodies for field in body.fields),
    )


def _first_of_each(bodies: list[Body]) -> Iterable[Diagnostic]:
    """All diagnostics, but only the first about each limit: every later block would repeat it."""
    found = [diagnostic for body in bodies for diagnostic in body.diagnostics]
    reported: set[str] = set()
    for diagnostic in found:
        if diagnostic.kind != "limit" or diagnostic.detail not in reported:
            yield diagnostic
        reported.add(diagnostic.detail)


def _objects(canvas: Mapping[str, JsonValue], key: str) -> list[dict[str, JsonValue]]:
    value = canvas.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(item: Mapping[str, JsonValue], key: str) -> str:
    value = item.get(key)
    return NOT_TEXT.sub("\ufffd", value) if isinstance(value, str) else ""


def _number(item: Mapping[str, JsonValue], key: str) -> float:
    value = item.get(key)
    return float(value) if isinstance(value, int | float) and abs(value) < FAR else 0.0
