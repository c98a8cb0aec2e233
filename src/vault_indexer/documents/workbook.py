"""Extracts the sheets of Excel workbooks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from vault_indexer.documents.blocks import Inline, MarkdownWriter
from vault_indexer.documents.markdown import Document, Part
from vault_indexer.documents.office import main_part, part_of, shape_texts, with_properties
from vault_indexer.documents.package import Element, Package, errors_as_damage, texts

MAX_ROWS = 20_000
"""Of a sheet or of a file of values."""

ROWS_LEFT_OUT = f"only the first {MAX_ROWS:,} rows of {{}} are read"

_MAX_COLUMNS = 1_000
_MOST_DAYS = 2_958_466  # 10,000-01-01
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d+)")
_NOT_A_DATE = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|[^dmyhs]', re.IGNORECASE)
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|_.|\[[^\]]*\]|([^"\\\[\]])')
_BUILT_IN = {
    **{str(number): "y" for number in (*range(14, 18), 22, *range(27, 37), *range(50, 59))},
    **dict.fromkeys(("18", "19", "20", "21", "45", "47"), "h"),
    "9": "0%",
    "10": "0.00%",
    "46": "[h]:mm:ss",
}
"""The built-in number formats that are not numbers as they are, ECMA-376 part 1, 18.8.30."""


@errors_as_damage()
def read_xlsx(data: bytes) -> Document:
    """Reads the sheets of a workbook: the values of its cells as they were last calculated, and comments."""
    package = Package(data)
    main = main_part(package)
    relations = package.relations(main)
    workbook = package.tree(main)
    properties = workbook.find("workbookPr")
    is_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    shared = part_of(relations, "sharedStrings")
    values = _CellValues(
        [_string(item) for item in package.children(shared, ("sst",))] if shared else [],
        _formats(package.tree(part_of(relations, "styles"))),
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
    """Returns the text of a string without its phonetic reading."""
    return "".join(texts(child, "t") for child in item if child.tag != "rPh")


def _formats(styles: Element) -> dict[str, str]:
    """Returns the number formats of the cell styles by their numbers."""
    named = {
        found.get("numFmtId", ""): found.get("formatCode", "") for found in styles.iterfind("numFmts/numFmt")
    } | _BUILT_IN
    return {
        str(number): named.get(style.get("numFmtId", ""), "")
        for number, style in enumerate(styles.iterfind("cellXfs/xf"))
    }


def _elapsed(number: float, code: str, unit: str) -> str:
    """Returns a number of days as the hours, minutes or seconds of a format such as `[h]:mm`."""
    seconds = round(abs(number) * 86_400)
    parts = {"h": [seconds // 3600, seconds // 60 % 60, seconds % 60], "m": [seconds // 60, seconds % 60]}
    shown = parts.get(unit, [seconds])
    if unit == "h" and "s" not in code.lower():
        del shown[2:]
    return f"{'-' * (number < 0)}{shown[0]}{''.join(f':{part:02}' for part in shown[1:])}"


def _with_zeros(number: float, code: str) -> str:
    """Returns a number in a format of zeros and text, such as `"PN-"0000` or `0.0%`; "" for other formats."""
    found = [(quoted or escaped, plain) for quoted, escaped, plain in _TOKEN.findall(code.split(";")[0])]
    marks = "".join(plain for _, plain in found)
    whole, _, rest = marks.partition(".")
    if "0" not in marks or re.search(r"[^-+0.% ()/:]", marks) or not (whole.count("0") > 1 or "%" in marks):
        return ""
    # Half of the last digit is rounded up, also where its binary fraction is a little less.
    shown = f"{abs(number) * (100 if '%' in marks else 1) * (1 + 1e-12):.{rest.count('0')}f}"
    digits = shown.replace(".", "").zfill(marks.count("0"))
    more = len(digits) - marks.count("0") + 1  # than one place has room for: the first has them
    places = iter([digits[:more], *digits[more:]])
    filled = (text or (next(places) if plain == "0" else plain) for text, plain in found)
    return f"{'-' * (number < 0)}{''.join(filled)}"


class _CellValues:
    """Makes text of the values of cells."""

    def __init__(self, strings: list[str], formats: dict[str, str], first_day: datetime) -> None:
        self._strings, self._formats, self._first_day = strings, formats, first_day

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
        return self._number(float(value), self._formats.get(cell.get("s", ""), ""))

    def _number(self, number: float, code: str) -> str:
        if not code or not math.isfinite(number):
            return f"{number:.15g}"
        elapsed = _ELAPSED.search(code)
        if elapsed and abs(number) < _MOST_DAYS:
            return _elapsed(number, code, elapsed[1][0].lower())
        letters = _NOT_A_DATE.sub("", code).lower()
        if letters and 0 <= number < _MOST_DAYS:
            time = self._first_day + timedelta(seconds=round(number * 86_400))
            if number < 1 or not ("d" in letters or "y" in letters or set(letters) == {"m"}):
                return time.strftime("%H:%M:%S")
            return time.isoformat(" ") if number % 1 else time.date().isoformat()
        return _with_zeros(number, code) or f"{number:.15g}"


def _add_sheet(writer: MarkdownWriter, package: Package, name: str, values: _CellValues) -> bool:
    """Adds the table of a sheet and its comments. Returns False if it has more rows than are read."""
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
        elif relation.kind == "drawing":
            for text in shape_texts(package.tree(relation.target)):
                writer.paragraph(text)
        elif relation.kind in ("comments", "threadedComment"):
            _add_comments(writer, package.tree(relation.target))
    return len(rows) <= MAX_ROWS


def _add_comments(writer: MarkdownWriter, comments: Element) -> None:
    authors = [author.text or "" for author in comments.iterfind("authors/author")]
    # A thread is stored a second time for programs without threads, as a comment by "tc={its id}".
    copies = {str(number) for number, author in enumerate(authors) if author.startswith("tc={")}
    for comment in comments.iter():
        if comment.tag in ("comment", "threadedComment") and comment.get("authorId") not in copies:
            text = Inline(texts(comment, "t") or texts(comment, "text"))
            writer.quote(text, f"Comment on {comment.get('ref', '')}")


def _placed(row: Element, values: _CellValues) -> Iterator[str]:
    """Yields the texts of a row from column A on; cells that are not stored are empty."""
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
