"""Extracts OpenDocument texts, spreadsheets and presentations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_indexer.documents.blocks import Inline, MarkdownWriter
from vault_indexer.documents.markdown import Document, Part
from vault_indexer.documents.package import (
    LOCKED,
    Element,
    Package,
    errors_as_damage,
    iso_date,
    keywords_in,
    nearest_descendants,
)
from vault_indexer.documents.workbook import MAX_ROWS, ROWS_LEFT_OUT
from vault_indexer.errors import NoteError

_NO_TEXT = frozenset(
    {"tracked-changes", "table-of-content", "sequence-decls", "forms", "date-time-decl", "footer-decl"}
) | {"ruby-text"}
_BLANKS = re.compile(r"\s+")
_MAX_REPEATS = 64
"""Of a cell with a value. The rest of a sheet is empty cells, which are stored once."""


@errors_as_damage()
def read_odt(data: bytes) -> Document:
    """Reads the text of a document with its notes, frames and comments, without headers and deleted text."""
    content = _Content(data)
    writer = MarkdownWriter()
    for block in content.blocks("text"):
        content.add_block(writer, block)
    content.add_notes(writer)
    return content.document([Part(writer.text())])


@errors_as_damage()
def read_ods(data: bytes) -> Document:
    """Reads the sheets of a workbook: the values of its cells as they are shown, and comments."""
    content = _Content(data)
    parts = []
    for sheet in content.blocks("spreadsheet"):
        if sheet.tag == "table":
            writer = MarkdownWriter()
            writer.heading(2, Inline(sheet.get("name", "")))
            content.add_table(writer, sheet)
            content.add_notes(writer)
            parts.append(Part(writer.text()))
    return content.document(parts)


@errors_as_damage()
def read_odp(data: bytes) -> Document:
    """Reads the slides of a presentation, each with its notes and comments."""
    content = _Content(data)
    parts = []
    for page in content.blocks("presentation"):
        if page.tag == "page":
            writer = MarkdownWriter()
            # Shapes are in the order of drawing, in which the title can be the last.
            for shape in sorted(page, key=lambda shape: shape.get("class") != "title"):
                content.add_shape(writer, shape)
            content.add_notes(writer)
            parts.append(Part(writer.text()))
    return content.document(parts)


class _Content:
    """The content of a package, its lists, notes and comments."""

    def __init__(self, data: bytes) -> None:
        self._package = Package(data)
        manifest = self._package.tree("META-INF/manifest.xml")
        if any(entry.find("encryption-data") is not None for entry in manifest.iterfind("file-entry")):
            raise NoteError(LOCKED)
        if "content.xml" not in self._package.names():
            raise NoteError("damaged: it is not an OpenDocument file")
        self._ordered_lists: set[tuple[str, int]] = set()  # name of the style and depth
        for style in self._package.children("styles.xml", ("styles", "automatic-styles")):
            self._read_style(style)
        self._references: list[Element] = []
        self._remarks: list[Element] = []
        self._frames: list[Element] = []
        self._warnings: list[str] = []

    def blocks(self, kind: str) -> Iterator[Element]:
        """Yields the blocks of the body; the styles come before it."""
        for block in self._package.children("content.xml", ("automatic-styles", kind)):
            if block.tag.endswith("style"):
                self._read_style(block)
            else:
                yield block

    def _read_style(self, style: Element) -> None:
        if style.tag == "list-style":
            name = style.get("name", "")
            for level in style.iterfind("list-level-style-number"):
                self._ordered_lists.add((name, int(level.get("level", "1")) - 1))

    def document(self, parts: list[Part]) -> Document:
        meta = self._package.tree("meta.xml").find("meta")
        found = Element("meta") if meta is None else meta
        words = [keywords_in(word.text or "") for word in found.iterfind("keyword")]
        author = found.findtext("initial-creator") or found.findtext("creator") or ""
        return Document(
            tuple(parts),
            title=found.findtext("title") or "",
            authors=(author,),
            created=iso_date(found.findtext("creation-date")),
            keywords=tuple(word for group in words for word in group),
            warnings=tuple(self._warnings),
        )

    def add_notes(self, writer: MarkdownWriter) -> None:
        for number, note in enumerate(self._references, 1):
            body = note.find("note-body")
            writer.note(str(number), Inline() if body is None else self._flat(body))
        self._references = []

    def add_block(self, writer: MarkdownWriter, block: Element) -> None:
        if block.tag == "h":
            writer.heading(int(block.get("outline-level", "1")), self._flat(block))
        elif block.tag == "p":
            writer.paragraph(self._flat(block))
        elif block.tag == "list":
            self._add_list(writer, block)
        elif block.tag == "table":
            self.add_table(writer, block)
        elif block.tag == "annotation":
            self._remarks.append(block)
        elif block.tag in ("title", "desc"):  # of a picture
            writer.paragraph(self._flat(block))
        elif block.tag not in _NO_TEXT:
            for child in block:
                self.add_block(writer, child)
        self._add_remarks(writer)

    def _add_remarks(self, writer: MarkdownWriter) -> None:
        frames, self._frames = self._frames, []
        for frame in frames:
            self.add_block(writer, frame)
        remarks, self._remarks = self._remarks, []
        for remark in remarks:
            text = Inline()
            for paragraph in remark.iter("p"):
                self._read(paragraph, text)
                text.add(" ")
            writer.comment(text, remark.findtext("creator") or "")

    def add_shape(self, writer: MarkdownWriter, shape: Element) -> None:
        """Adds a shape of a slide: its title as a heading, its notes as a remark."""
        kind = shape.get("class", "")
        if kind == "title":
            writer.heading(1, self._flat(shape))
        elif shape.tag == "notes":
            for frame in shape.iterfind("frame"):
                if frame.get("class") == "notes":
                    writer.quote(self._flat(frame), "Notes")
        else:
            self.add_block(writer, shape)

    def _add_list(self, writer: MarkdownWriter, block: Element, depth: int = 0, style: str = "") -> None:
        style = block.get("style-name", style)
        is_ordered = (style, depth) in self._ordered_lists
        for item in block:
            text = Inline()
            for child in item:
                if child.tag == "list":
                    writer.item(depth, text, is_ordered)
                    text = Inline()
                    self._add_list(writer, child, depth + 1, style)
                elif child.tag == "h":
                    self.add_block(writer, child)
                else:
                    self._read(child, text)
                    text.add("\n")
            writer.item(depth, text, is_ordered)

    def add_table(self, writer: MarkdownWriter, table: Element) -> None:
        rows: list[list[Inline]] = []
        for row in nearest_descendants(table, "table-row"):
            cells = list(self._cells(row))
            if not all(cell.is_empty() for cell in cells):
                repeats = min(int(row.get("number-rows-repeated", "1")), _MAX_REPEATS)
                rows.extend([cells] * repeats)
            if len(rows) > MAX_ROWS:
                self._warnings.append(ROWS_LEFT_OUT.format(f'table "{table.get("name", "")}"'))
                break
        writer.table(rows[:MAX_ROWS])
        self._add_remarks(writer)

    def _cells(self, row: Element) -> Iterator[Inline]:
        for cell in row:
            if cell.tag in ("table-cell", "covered-table-cell"):
                text = self._flat(cell)
                repeats = int(cell.get("number-columns-repeated", "1"))
                yield from [text] * min(repeats, _MAX_REPEATS)

    def _flat(self, element: Element) -> Inline:
        """Returns the text of all paragraphs in the element as one."""
        text = Inline()
        self._read(element, text)
        return text

    def _read(self, element: Element, text: Inline, address: str = "") -> None:
        """Adds the text in the element; sets frames, comments and notes in it aside."""
        text.add(_BLANKS.sub(" ", element.text or ""), address)
        for child in element:
            self._read_child(child, text, address)
            text.add(_BLANKS.sub(" ", child.tail or ""), address)

    def _read_child(self, child: Element, text: Inline, address: str) -> None:
        if child.tag == "s":
            text.add(" ")
        elif child.tag in ("tab", "line-break"):
            text.add(" " if child.tag == "tab" else "\n")
        elif child.tag == "a":
            self._read(child, text, child.get("href", ""))
        elif child.tag == "note":
            self._references.append(child)
            text.add_reference(str(len(self._references)))
        elif child.tag == "annotation":
            self._remarks.append(child)
        elif child.tag == "frame":
            self._frames.append(child)
        elif child.tag not in _NO_TEXT:
            around = " " if child.tag in ("p", "h", "title", "desc") else ""
            text.add(around)
            self._read(child, text, address)
            text.add(around)
