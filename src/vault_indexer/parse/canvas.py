"""Canvas files (JSON Canvas): cards and arrows, laid out as a text that can be searched.

`Note.text` is this text, not the JSON: spans of escaped JSON would neither read nor embed well. So
all offsets and lines of a canvas refer to the text made here: a block for each card, top to bottom and
left to right, then a line for each arrow that has a label or touches a file. Every block is a piece
of Markdown of its own (a heading in one card is not in force in the next), so there may be several
sections of level 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from vault_indexer.model import Diagnostic, JsonValue, Link, LinkKind, Note, Section
from vault_indexer.parse.lines import Lines
from vault_indexer.parse.notes import Body, decode, parse_body, sections, stem, unique_tags

SEPARATOR = "\n\n"
ARROW = " → "
EDGE_ENDS = ("fromNode", "toNode")
FAR = 1e12
NOT_TEXT = re.compile(r"[\x00\ud800-\udfff]")  # what JSON can escape and no text holds


@dataclass(slots=True)
class _Sheet:
    """The text under construction, its blocks, and the links to files in it (line not yet known)."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    pieces: list[int] = field(default_factory=list)  # where each block begins
    links: list[tuple[LinkKind, str, str, str | None, int, int]] = field(default_factory=list)

    def write(self, text: str) -> None:
        """Appends to the current block."""
        self.parts.append(text)
        self.length += len(text)

    def write_file(self, kind: LinkKind, card: Mapping[str, JsonValue], display: str | None) -> None:
        """Appends the path of a file card as a link."""
        path, subpath, start = _text(card, "file"), _text(card, "subpath").removeprefix("#"), self.length
        self.write(path)
        self.links.append((kind, path, subpath, display, start, self.length))

    def close_block(self, start: int) -> None:
        """Ends the block that began at `start`; an empty one leaves no trace."""
        if self.length > start:
            self.pieces.append(start)
            self.write(SEPARATOR)


def parse_canvas(path: str, data: bytes) -> Note:
    """Parses a `.canvas` file. Raises NoteError if it is not text; broken JSON gives a diagnostic."""
    source = decode(path, data)
    try:
        canvas: JsonValue = json.loads(source) if source.strip() else {}
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        problem = Diagnostic("canvas", f"not valid JSON: {error}", line)
        return Note(path=path, text="", title=stem(path), diagnostics=(problem,))
    if not isinstance(canvas, dict):
        problem = Diagnostic("canvas", "not a JSON object with nodes and edges", 1)
        return Note(path=path, text="", title=stem(path), diagnostics=(problem,))
    sheet = _lay_out(_objects(canvas, "nodes"), _objects(canvas, "edges"))
    return _note(path, "".join(sheet.parts), sheet)


def _lay_out(nodes: list[dict[str, JsonValue]], edges: list[dict[str, JsonValue]]) -> _Sheet:
    sheet = _Sheet()
    for card in sorted(nodes, key=lambda card: (_number(card, "y"), _number(card, "x"))):
        start = sheet.length
        if _text(card, "file"):
            sheet.write_file(LinkKind.EMBED, card, None)
        else:
            sheet.write((_text(card, "text") or _text(card, "label")).strip("\r\n"))
        sheet.close_block(start)
    by_id = {_text(card, "id"): card for card in nodes}
    for edge in edges:
        start = sheet.length
        _write_edge(sheet, _text(edge, "label"), [by_id.get(_text(edge, key), {}) for key in EDGE_ENDS])
        sheet.close_block(start)
    return sheet


def _write_edge(sheet: _Sheet, label: str, ends: list[dict[str, JsonValue]]) -> None:
    if not label and not any(_text(card, "file") for card in ends):
        return
    for position, card in enumerate(ends):
        if position:
            sheet.write(ARROW)
        if _text(card, "file"):
            sheet.write_file(LinkKind.WIKILINK, card, label or None)
        else:
            words = (_text(card, "text") or _text(card, "label")).strip()
            sheet.write(words.splitlines()[0] if words else "")
    sheet.write(f" ({label})" if label else "")


def _note(path: str, text: str, sheet: _Sheet) -> Note:
    lines = Lines(text)
    bodies: list[Body] = []
    outline: list[Section] = []
    links = [Link(*link, lines.at(link[4])) for link in sheet.links]
    of_files = {link.start for link in links}
    for start, end in pairwise([*sheet.pieces, len(text)]):
        body = parse_body(text, start, end, lines)
        bodies.append(body)
        outline += sections(text, start, end, body.headings, len(outline))
        links += [link for link in body.links if link.start not in of_files]
    return Note(
        path=path,
        text=text,
        title=stem(path),
        tags=unique_tags(tag for body in bodies for tag in body.tags),
        headings=tuple(heading for body in bodies for heading in body.headings),
        links=tuple(sorted(links, key=lambda link: link.start)),
        blocks=tuple(block for body in bodies for block in body.blocks),
        sections=tuple(outline),
        elements=tuple(element for body in bodies for element in body.elements),
        diagnostics=tuple(diagnostic for body in bodies for diagnostic in body.diagnostics),
    )


def _objects(canvas: Mapping[str, JsonValue], key: str) -> list[dict[str, JsonValue]]:
    value = canvas.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(item: Mapping[str, JsonValue], key: str) -> str:
    value = item.get(key)
    return NOT_TEXT.sub("\ufffd", value) if isinstance(value, str) else ""


def _number(item: Mapping[str, JsonValue], key: str) -> float:
    value = item.get(key)
    return float(value) if isinstance(value, int | float) and abs(value) < FAR else 0.0
