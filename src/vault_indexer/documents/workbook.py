"""Extracts the sheets of Excel workbooks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from vault_indexer.documents.blocks import Inline, MarkdownWriter
from vault_indexer.documents.markdown import Document, Part
from vault_indexer.documents.office import main_part, part_of, with_properties
from vault_indexer.documents.package import Element, Package, errors_as_damage, texts

MAX_ROWS = 20_000
"""Of a sheet or of a file of values."""

ROWS_LEFT_OUT = f"only the first {MAX_ROWS:,} rows of {{}} are read"

_MAX_COLUMNS = 1_000
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d+)")
_NOT_A_DATE = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|[^dmyhs]', re.IGNORECASE)
_DATE_FORMATS = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
"""Ids of the built-in number formats that show dates or times, ECMA-376 part 1, 18.8.30."""


@errors_as_damage()
def read_xlsx(data: bytes) -> Document:
    """Read the sheets of a workbook: the values of its cells as they were last calculated, and comments."""
    package = Package(data)
    main = main_part(package)
    relations = package.relations(main)
    workbook = package.tree(main)
    properties = workbook.find("workbookPr")
    is_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    shared = part_of(relations, "sharedStrings")
    values = _CellValues(
        [_string(item) for item in package.children(shared, ("sst",))] if shared else [],
        _date_styles(package.tree(part_of(relations, "styles"))),
        # Day 1 is 1900-01-01, but Excel counts a 29 February 1900, so later dates need an earlier origin.
        datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30),
    )
    parts: list[Part] = []
    warnings = []
    for sheet in workbook.iterfind("sheets/sheet"):
        relation = relations.get(sheet.get("r:id", ""))
        if relation and relation.kind == "worksheet":
            writer = MarkdownWriter()
            writer.heading(2, Inline(sheet.get("name", "")))
            if not _add_sheet(writer, package, relation.target, values):
                warnings.append(ROWS_LEFT_OUT.format(f'sheet "{sheet.get("name", "")}"'))
            parts.append(Part(writer.text()))
    return with_properties(package, parts, warnings)


def _string(item: Element) -> str:
    """Return the text of a string without its phonetic reading."""
    return "".join(texts(child, "t") for child in item if child.tag != "rPh")


def _date_styles(styles: Element) -> frozenset[str]:
    """Return the numbers of the cell styles that show a number as a date or a time."""
    formats = {
        found.get("numFmtId", ""): bool(_NOT_A_DATE.sub("", found.get("formatCode", "")))
        for found in styles.iterfind("numFmts/numFmt")
    } | {str(number): True for number in _DATE_FORMATS}
    return frozenset(
        str(number)
        for number, style in enumerate(styles.iterfind("cellXfs/xf"))
        if formats.get(style.get("numFmtId", ""))
    )


class _CellValues:
    """Makes text of the values of cells."""

    def __init__(self, strings: list[str], date_styles: frozenset[str], first_day: datetime) -> None:
        self._strings, self._date_styles, self._first_day = strings, date_styles, first_day

    def text(self, cell: Element) -> str:
        kind, value = cell.get("t", "n"), cell.findtext("v") or ""
        if kind == "inlineStr":
            return "".join(map(_string, cell.iterfind("is")))
        if kind == "s":
            return self._strings[int(value)] if value else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value)
        if kind != "n" or not value:
            return value
        return self._number(float(value), cell.get("s", "") in self._date_styles)

    def _number(self, number: float, is_date: bool) -> str:
        if is_date and 0 <= number < 2_958_466:  # 10,000-01-01
            time = self._first_day + timedelta(seconds=round(number * 86_400))
            if number < 1:
                return time.strftime("%H:%M:%S")
            return time.isoformat(" ") if number % 1 else time.date().isoformat()
        return f"{number:.15g}"


def _add_sheet(writer: MarkdownWriter, package: Package, name: str, values: _CellValues) -> bool:
    """Add the table of a sheet and its comments. Returns False if it has more rows than are read."""
    relations = package.relations(name)
    rows: list[list[str]] = []
    for row in package.children(name, ("sheetData",)):
        cells = list(_placed(row, values))
        if any(cells):
            rows.append(cells)
        # One row more than the limit shows that the table was cut.
        if len(rows) > MAX_ROWS:
            break
    first = min((index for row in rows for index, cell in enumerate(row) if cell), default=0)
    writer.table([[Inline(cell) for cell in row[first:]] for row in rows[:MAX_ROWS]])
    for relation in relations.values():
        if relation.kind == "hyperlink":
            text = Inline()
            text.add(relation.target, relation.target)
            writer.paragraph(text)
        elif relation.kind in ("comments", "threadedComment"):
            for comment in package.tree(relation.target).iter():
                if comment.tag in ("comment", "threadedComment"):
                    writer.quote(
                        Inline(texts(comment, "t") or texts(comment, "text")),
                        f"Comment on {comment.get('ref', '')}",
                    )
    return len(rows) <= MAX_ROWS


def _placed(row: Element, values: _CellValues) -> Iterator[str]:
    """Yield the texts of a row from column A on; cells that are not stored are empty."""
    column = 0
    for cell in row.iterfind("c"):
        found = _REFERENCE.fullmatch(cell.get("r", ""))
        position = _column_number(found[1]) if found else column
        if position >= _MAX_COLUMNS:
            return
        yield from [""] * (position - column)
        yield values.text(cell)
        column = max(column, position) + 1


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1
