"""Extracts Word documents and PowerPoint presentations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vault_indexer.documents.blocks import Inline, MarkdownWriter
from vault_indexer.documents.markdown import Document, Part
from vault_indexer.documents.package import (
    Element,
    Package,
    Relation,
    errors_as_damage,
    iso_date,
    keywords_in,
    nearest_descendants,
    texts,
)
from vault_indexer.errors import NoteError
from vault_indexer.system import record

_NO_TEXT = frozenset({"pPr", "rPr", "tblPr", "trPr", "tcPr", "sdtPr", "del", "moveFrom", "rt", "delText"})
_CHARACTERS = {"tab": " ", "ptab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_HEADING = re.compile(r"heading (\d)")
_CONTENTS = re.compile(r"toc \d")
_LINK_FIELD = re.compile(r'\s*HYPERLINK\s+"([^"]+)"')
_FILE_NAME = re.compile(r"(?s)\A.*\.\w{3,4}$")
_DEFAULT_TITLE = re.compile(
    r"(?i)powerpoint.\w+|(\w+ ){1,3}powerpoint|word document|(document|presentation|(slide|folie|diapo\w+) )1"
)
"""Of a new document, in the language of the program: "Presentación de PowerPoint"."""


def main_part(package: Package) -> str:
    """Returns the member that the document begins with."""
    main = next((one for one in package.relations("").values() if one.kind == "officeDocument"), None)
    if main is None:
        raise NoteError("damaged: it is not a document of Office")
    return main.target


def part_of(relations: dict[str, Relation], *kinds: str) -> str:
    """Returns the first member of these kinds that a part refers to; "" if there is none."""
    return next((relation.target for relation in relations.values() if relation.kind in kinds), "")


def with_properties(package: Package, parts: Iterable[Part], warnings: Iterable[str] = ()) -> Document:
    """Returns the document with the title, authors, keywords and date that the package names."""
    core = package.tree(part_of(package.relations(""), "core-properties"))
    title = core.findtext("title") or ""
    return Document(
        tuple(parts),
        title="" if _DEFAULT_TITLE.fullmatch(title.strip()) else title,
        authors=(core.findtext("creator") or "",),
        created=iso_date(core.findtext("created")),
        keywords=keywords_in(core.findtext("keywords") or ""),
        warnings=tuple(warnings),
    )


def _description(properties: Element) -> str:
    """Returns the alternative text of a picture; "" for the name of a file, which programs put there."""
    return _FILE_NAME.sub("", properties.get("descr", ""))


@errors_as_damage()
def read_docx(data: bytes) -> Document:
    """Reads the text of a Word document with its notes, text boxes and comments, without headers, footers and
    deleted text."""
    package = Package(data)
    return with_properties(package, [Part(_WordText(package, main_part(package)).markdown())])


@record
class _Style:
    name: str
    based_on: str
    outline: str
    numbering: tuple[str, str]


class _WordText:
    def __init__(self, package: Package, main: str) -> None:
        self._package, self._main = package, main
        self._relations = package.relations(main)
        self._styles = {
            style.get("styleId", ""): _style(
                _value(style, "name").lower(), _value(style, "basedOn"), style.find("pPr")
            )
            for style in self._tree("styles").findall("style")
        }
        self._formats = _list_formats(self._tree("numbering"))
        self._notes = {
            kind: {note.get("id", ""): note for note in self._tree(f"{kind}s")}
            for kind in ("footnote", "endnote")
        }
        self._comments = {comment.get("id", ""): comment for comment in self._tree("comments")}
        self._writer = MarkdownWriter()
        self._fields: list[str] = []  # instructions of the fields around the current run
        self._boxes: list[Element] = []
        self._remarks: list[Element] = []
        self._references: list[Element] = []

    def _tree(self, kind: str) -> Element:
        return self._package.tree(part_of(self._relations, kind))

    def markdown(self) -> str:
        for block in self._package.children(self._main, ("body",)):
            self._add_block(block)
        for number, note in enumerate(self._references, 1):
            self._writer.note(str(number), self._flat(note))
        return self._writer.text()

    def _add_block(self, block: Element) -> None:
        if block.tag == "p":
            self._add_paragraph(block)
        elif block.tag == "tbl":
            self._add_table(block)
        elif block.tag == "AlternateContent":  # the same content for several programs
            self._add_block(next(iter(block), Element("p")))
        elif block.tag == "docPr":
            self._writer.paragraph(Inline(_description(block)))
        elif block.tag == "relIds":
            self._add_diagram(block)
        elif block.tag not in _NO_TEXT:
            for child in block:
                self._add_block(child)
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self._add_block(box)
        remarks, self._remarks = self._remarks, []
        for remark in remarks:
            self._writer.comment(self._flat(remark), remark.get("author", ""))

    def _add_diagram(self, references: Element) -> None:
        relation = self._relations.get(references.get("dm", ""))
        for paragraph in self._package.tree(relation.target).iter("p") if relation else ():
            self._add_block(paragraph)

    def _add_paragraph(self, paragraph: Element) -> None:
        styles = self._styles_of(paragraph)
        if any(_CONTENTS.match(style.name) for style in styles):
            return
        text = Inline()
        self._read(paragraph, text)
        level = _heading_level(styles)
        depth, number_format = self._list_of(styles)
        if level:
            self._writer.heading(level, text)
        elif number_format:
            self._writer.item(depth, text, is_ordered=number_format != "bullet")
        else:
            self._writer.paragraph(text)

    def _styles_of(self, paragraph: Element) -> list[_Style]:
        """Returns the paragraph's own format, its style, and the styles that this one is based on."""
        properties = paragraph.find("pPr")
        if properties is None:
            return []
        found = [_style("", _value(properties, "pStyle"), properties)]
        # Limited, because in a damaged file two styles can be based on each other.
        while found[-1].based_on in self._styles and len(found) < 20:
            found.append(self._styles[found[-1].based_on])
        return found

    def _list_of(self, styles: list[_Style]) -> tuple[int, str]:
        """Returns the depth and the number format of a list item; "" for other paragraphs."""
        number, depth = (next(filter(None, (style.numbering[at] for style in styles)), "") for at in (0, 1))
        return int(depth or 0), self._formats.get((number, depth or "0"), "")

    def _add_table(self, table: Element) -> None:
        rows = [list(nearest_descendants(row, "tc")) for row in nearest_descendants(table, "tr")]
        filled = [[cell for cell in row if texts(cell, "t").strip()] for row in rows]
        if all(len(row) < 2 for row in filled):  # a frame around text
            for cells in filled:
                self._add_block(next(iter(cells), Element("p")))
            return
        self._writer.table([[cell for column in row for cell in self._cells(column)] for row in rows])

    def _cells(self, column: Element) -> list[Inline]:
        span = column.find("tcPr/gridSpan")
        # Word allows 63 columns. A damaged file can claim any number.
        empty = min(int(span.get("val", "1")), 64) - 1 if span is not None else 0
        return [self._flat(column), *(Inline() for _ in range(empty))]

    def _flat(self, element: Element) -> Inline:
        """Returns the text of all paragraphs in the element as one."""
        text = Inline()
        for child in element:
            if child.tag not in _NO_TEXT:
                self._read(child, text)
                text.add(" ")
        return text

    def _read(self, element: Element, text: Inline, address: str = "") -> None:
        """Adds the text of the element's runs; sets drawings, comments and notes in it aside."""
        for child in element:
            tag = child.tag
            if tag == "t":
                text.add(child.text or "", address or self._field_address())
            elif tag in _CHARACTERS:
                text.add(_CHARACTERS[tag])
            elif tag in ("fldChar", "instrText"):
                self._read_field(child)
            elif tag in ("txbxContent", "docPr", "relIds"):
                self._boxes.append(child)
            elif tag.endswith("Reference"):
                self._read_reference(child, text)
            elif tag == "AlternateContent":
                self._read(next(iter(child), child), text, address)
            elif tag not in _NO_TEXT:
                text.add("/" if tag == "den" else "")  # of a fraction
                self._read(child, text, address or self._link_address(child))
                text.add(" " if tag == "p" else "")

    def _link_address(self, element: Element) -> str:
        relation = self._relations.get(element.get("r:id", ""))
        linked = relation.target if relation and relation.kind == "hyperlink" else ""
        return linked or _field_address(element.get("instr", ""))

    def _read_field(self, mark: Element) -> None:
        kind = mark.get("fldCharType", "")
        if kind == "begin":
            self._fields.append("")
        elif kind == "end" and self._fields:
            self._fields.pop()
        elif mark.tag == "instrText" and self._fields:
            self._fields[-1] += mark.text or ""

    def _field_address(self) -> str:
        return next(filter(None, map(_field_address, self._fields)), "")

    def _read_reference(self, reference: Element, text: Inline) -> None:
        kind, key = reference.tag.removesuffix("Reference"), reference.get("id", "")
        if kind == "comment" and key in self._comments:
            self._remarks.append(self._comments[key])
        elif key in self._notes.get(kind, {}):
            self._references.append(self._notes[kind][key])
            text.add_reference(str(len(self._references)))


def _field_address(instruction: str) -> str:
    found = _LINK_FIELD.match(instruction)
    return found[1] if found else ""


def _value(element: Element, path: str) -> str:
    found = element.find(path)
    return "" if found is None else found.get("val", "")


def _style(name: str, based_on: str, properties: Element | None) -> _Style:
    """Returns a style, or the own format of a paragraph, which has no name."""
    found = Element("pPr") if properties is None else properties
    numbering = _value(found, "numPr/numId"), _value(found, "numPr/ilvl")
    return _Style(name, based_on, _value(found, "outlineLvl"), numbering)


def _heading_level(styles: list[_Style]) -> int:
    """Returns the level of a heading; 0 for other paragraphs."""
    for style in styles:
        named = _HEADING.match(style.name)
        if named or style.name == "title":
            return int(named[1]) if named else 1
        if style.outline:
            return (int(style.outline) + 1) % 10  # 9 is body text
    return 0


def _list_formats(numbering: Element) -> dict[tuple[str, str], str]:
    """Returns the number formats by the ids of lists and the depths in them."""
    abstract = {
        definition.get("abstractNumId", ""): {
            level.get("ilvl", ""): _value(level, "numFmt") for level in definition.iterfind("lvl")
        }
        for definition in numbering.iterfind("abstractNum")
    }
    return {
        (number.get("numId", ""), depth): number_format
        for number in numbering.iterfind("num")
        for depth, number_format in abstract.get(_value(number, "abstractNumId"), {}).items()
    }


@errors_as_damage()
def read_pptx(data: bytes) -> Document:
    """Reads the slides of a presentation, each with its diagrams, notes and comments."""
    package = Package(data)
    main = main_part(package)
    relations = package.relations(main)
    slides = [
        relations[slide.get("r:id", "")].target
        for slide in package.tree(main).iterfind("sldIdLst/sldId")
        if slide.get("r:id") in relations
    ]
    return with_properties(package, [Part(_slide_markdown(package, slide)) for slide in slides])


def _slide_markdown(package: Package, name: str) -> str:
    relations = package.relations(name)
    addresses = {key: relation.target for key, relation in relations.items() if relation.kind == "hyperlink"}
    slide = package.tree(name)
    shapes = [shape for tree in slide.iterfind("cSld/spTree") for shape in _shapes(tree)]
    shapes.sort(key=lambda shape: not _placeholder(shape).endswith("itle"))  # title, ctrTitle, subTitle
    writer = MarkdownWriter()
    for shape in shapes:
        _add_shape(writer, shape, addresses)
    for relation in relations.values():
        if relation.kind == "diagramData":
            for paragraph in package.tree(relation.target).iter("p"):
                writer.item(0, _joined(paragraph, addresses))
        elif relation.kind == "notesSlide":
            for shape in package.tree(relation.target).iter("sp"):
                if _placeholder(shape) == "body":
                    writer.quote(_joined(shape), "Notes")
        elif relation.kind == "comments":
            for comment in package.tree(relation.target).iter("cm"):
                writer.comment(_joined(comment), "")
    return writer.text()


def _shapes(tree: Element) -> Iterable[Element]:
    for shape in tree:
        if shape.tag == "grpSp":
            yield from _shapes(shape)
        elif shape.tag == "AlternateContent":
            yield from _shapes(next(iter(shape), shape))
        elif shape.tag in ("sp", "pic", "graphicFrame"):
            yield shape


def _placeholder(shape: Element) -> str:
    """Returns the kind of placeholder; "" for a shape of its own."""
    found = shape.find("nvSpPr/nvPr/ph")
    return "" if found is None else found.get("type", "body")


def _add_shape(writer: MarkdownWriter, shape: Element, addresses: dict[str, str]) -> None:
    table = shape.find("graphic/graphicData/tbl")
    kind = _placeholder(shape)
    if table is not None:
        rows = table.iterfind("tr")
        writer.table([[_joined(cell, addresses) for cell in row.iterfind("tc")] for row in rows])
    elif kind in ("title", "ctrTitle"):
        writer.heading(1, _joined(shape, addresses))
    elif kind not in ("sldNum", "dt", "ftr", "hdr"):
        for paragraph in shape.iter("p"):
            properties = paragraph.find("pPr")
            depth = 0 if properties is None else int(properties.get("lvl", "0"))
            line = _joined(paragraph, addresses)
            if kind == "body" or depth:
                writer.item(depth, line)
            else:
                writer.paragraph(line)
    for properties in shape.iter("cNvPr"):
        writer.paragraph(Inline(_description(properties)))


def shape_texts(drawing: Element) -> Iterator[Inline]:
    """Returns the texts of the shapes on a sheet."""
    return (_joined(shape) for anchor in drawing for shape in _shapes(anchor))


def _joined(element: Element, addresses: dict[str, str] | None = None) -> Inline:
    """Returns the text of all paragraphs in the element, or of a comment, as one."""
    text = Inline(texts(element, "text"))
    for paragraph in element.iter("p"):
        for run in paragraph.iter():
            if run.tag == "br":
                text.add("\n")
            elif run.tag in ("r", "fld"):
                link = run.find("rPr/hlinkClick")
                address = "" if link is None else (addresses or {}).get(link.get("r:id", ""), "")
                text.add(run.findtext("t") or "", address)
        text.add("\n")
    return text
