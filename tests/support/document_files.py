"""Makes small office files, books and other documents in memory, member by member."""

# ruff: noqa: E501 (a row of XML a line)

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from xml.sax.saxutils import escape

from vault_indexer.model import document_kind_of

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = f'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="{OFFICE}"'
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDE = (
    "xmlns:p='http://schemas.openxmlformats.org/presentationml/2006/main'"
    f" xmlns:a='{DRAWING}' xmlns:r='{OFFICE}'"
)
SHEET = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{OFFICE}"'
OPEN = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in {
        **dict.fromkeys(("office", "style", "text", "table", "presentation", "meta"), ""),
        "draw": "drawing",
    }.items()
    for name in [name or prefix]
)
OPEN += ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'


def zipped(members: dict[str, str | bytes]) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def relations(**targets: str) -> str:
    """Relations of the form id="kind target", with "http..." targets outside of the package."""
    rows = ""
    for key, value in targets.items():
        kind, _, target = value.partition(" ")
        mode = ' TargetMode="External"' if "://" in target else ""
        rows += f'<Relationship Id="{key}" Type="{OFFICE}/{kind}" Target="{target}"{mode}/>'
    return f'<Relationships xmlns="{OFFICE}/package">{rows}</Relationships>'


def office(main: str, parts: dict[str, str], **targets: str) -> bytes:
    """A package of Office whose first part is `main`; `targets` are the relations of this part."""
    folder, _, name = main.rpartition("/")
    links = {f"{folder}/_rels/{name}.rels": relations(**targets)} if targets else {}
    first = relations(a=f"officeDocument {main}", b="core-properties docProps/core.xml")
    return zipped({"_rels/.rels": first, **links, **parts})


def docx(body: str, parts: dict[str, str] | None = None, **targets: str) -> bytes:
    document = f"<w:document {WORD}><w:body>{body}</w:body></w:document>"
    return office("word/document.xml", {"word/document.xml": document, **(parts or {})}, **targets)


def word_paragraph(text: str, properties: str = "") -> str:
    run = f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'
    return f"<w:p><w:pPr>{properties}</w:pPr>{run}</w:p>"


def pptx(*slides: str, parts: dict[str, str] | None = None) -> bytes:
    """A presentation of slides, each the XML of its shapes."""
    numbers = range(1, len(slides) + 1)
    order = "".join(f'<p:sldId id="{255 + number}" r:id="s{number}"/>' for number in numbers)
    members = {
        "ppt/presentation.xml": f"<p:presentation {SLIDE}><p:sldIdLst>{order}</p:sldIdLst></p:presentation>"
    }
    for number, shapes in zip(numbers, slides, strict=True):
        tree = f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"
        members[f"ppt/slides/slide{number}.xml"] = f"<p:sld {SLIDE}>{tree}</p:sld>"
    targets = {f"s{number}": f"slide slides/slide{number}.xml" for number in numbers}
    return office("ppt/presentation.xml", {**members, **(parts or {})}, **targets)


def slide_shape(text: str, placeholder: str = "", level: int = 0) -> str:
    kind = f'<p:ph type="{placeholder}"/>' if placeholder else ""
    paragraph = f'<a:p><a:pPr lvl="{level}"/><a:r><a:t>{escape(text)}</a:t></a:r></a:p>'
    return f"<p:sp><p:nvSpPr><p:nvPr>{kind}</p:nvPr></p:nvSpPr><p:txBody>{paragraph}</p:txBody></p:sp>"


def xlsx(sheets: dict[str, str], parts: dict[str, str] | None = None, **targets: str) -> bytes:
    """A workbook of sheets, each by its name the XML of its rows."""
    names = "".join(
        f'<sheet name="{escape(name)}" sheetId="1" r:id="s{key}"/>' for key, name in enumerate(sheets)
    )
    members = {"xl/workbook.xml": f"<workbook {SHEET}><sheets>{names}</sheets></workbook>"}
    for key, rows in enumerate(sheets.values()):
        members[f"xl/sheet{key}.xml"] = f"<worksheet {SHEET}><sheetData>{rows}</sheetData></worksheet>"
    targets |= {f"s{key}": f"worksheet sheet{key}.xml" for key in range(len(sheets))}
    return office("xl/workbook.xml", {**members, **(parts or {})}, **targets)


def sheet_row(*values: str) -> str:
    cells = (f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>' for value in values)
    return f"<row>{''.join(cells)}</row>"


def open_document(kind: str, body: str, styles: str = "", meta: str = "") -> bytes:
    """A text, a spreadsheet or a presentation in OpenDocument."""
    content = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    content += f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    return zipped(
        {
            "content.xml": f"<office:document-content {OPEN}>{content}</office:document-content>",
            "meta.xml": f"<office:document-meta {OPEN}><office:meta>{meta}</office:meta></office:document-meta>",
        }
    )


def epub(*chapters: str, metadata: str = "", parts: dict[str, str] | None = None) -> bytes:
    numbers = range(len(chapters))
    items = "".join(f'<item id="c{number}" href="text/c%20{number}.xhtml"/>' for number in numbers)
    spine = "".join(f'<itemref idref="c{number}"/>' for number in numbers)
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata>{metadata}</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    return zipped(
        {
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/b.opf"/></rootfiles></container>',
            "OEBPS/b.opf": package,
            **{f"OEBPS/text/c {number}.xhtml": chapters[number] for number in numbers},
            **(parts or {}),
        }
    )


def rtf(body: str, head: str = "") -> bytes:
    return (r"{\rtf1\ansi\ansicpg1252\deff0" + head + body + "}").encode("latin-1")


def notebook(*cells: dict[str, object]) -> bytes:
    return json.dumps({"metadata": {"kernelspec": {"language": "python"}}, "cells": cells}).encode()


def document_with(suffix: str, line: str) -> bytes:
    """A document of the kind with this suffix, whose text is the line, twice where a kind has two ways."""
    shown = escape(line)
    ways = {
        ".docx": lambda: docx(word_paragraph(line) + word_paragraph(line)),
        ".pptx": lambda: pptx(slide_shape(line) + slide_shape(line, "body")),
        ".xlsx": lambda: xlsx({"Sheet": sheet_row(line, line)}),
        ".odt": lambda: open_document("text", f"<text:p>{shown}</text:p><text:p>{shown}</text:p>"),
        ".ods": lambda: open_document(
            "spreadsheet",
            f'<table:table table:name="S"><table:table-row><table:table-cell><text:p>{shown}</text:p>'
            "</table:table-cell></table:table-row></table:table>",
        ),
        ".odp": lambda: open_document(
            "presentation",
            f"<draw:page><draw:frame><draw:text-box><text:p>{shown}</text:p></draw:text-box></draw:frame></draw:page>",
        ),
        ".rtf": lambda: rtf(line.replace("\\", "\\\\") + r"\par "),
        ".epub": lambda: epub(f"<html><body><p>{shown}</p></body></html>"),
        ".html": lambda: f"<p>{shown}</p><ul><li>{shown}</li></ul>".encode(),
        ".ipynb": lambda: notebook(
            {"cell_type": "markdown", "source": line}, {"cell_type": "raw", "source": line}
        ),
        ".csv": lambda: f"{line},{line}\n".encode(),
        ".srt": lambda: f"1\n00:00:01,000 --> 00:00:02,000\n{line}\n".encode(),
        ".vtt": lambda: f"WEBVTT\n\n00:01.000 --> 00:02.000\n{shown}\n".encode(),
        ".base": lambda: json.dumps({"filters": line, "views": [{"name": line}]}).encode(),
        ".json": lambda: json.dumps({line: line}).encode(),
    }
    kind = document_kind_of(f"a{suffix}")
    if kind and not kind.name.startswith(("html", "csv", "subtitles")):
        suffix = kind.suffixes[0]
    return ways.get(suffix, lambda: f"{line}\n\n{line}\n".encode())()
