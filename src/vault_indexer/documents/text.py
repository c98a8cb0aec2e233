"""Extracts plain text, tables of values, subtitles, notebooks, JSON and Obsidian's bases."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from io import StringIO
from itertools import islice

from vault_indexer.contract import JsonValue
from vault_indexer.documents.blocks import Inline, MarkdownWriter, only_markdown
from vault_indexer.documents.markdown import MAX_CHARACTERS, Document, Part, escape
from vault_indexer.documents.package import errors_as_damage
from vault_indexer.documents.workbook import MAX_ROWS, ROWS_LEFT_OUT
from vault_indexer.errors import NoteError
from vault_indexer.text.language import detect
from vault_indexer.text.yaml_values import YamlRefusedError, load_mapping

_MAX_OUTPUT = 2_000
"""Characters of each output of a notebook's cell."""

_MAX_COLUMNS = 1_000
_SAMPLE = 200_000
"""Bytes from which an encoding is guessed."""

_FEW_BYTES = 8
"""Fewer bytes outside ASCII say nothing of a script."""

_ASCII_LETTER = re.compile(rb"[A-Za-z]")
_BY_LANGUAGE = {
    **dict.fromkeys(("cs", "hu", "pl", "ro"), "cp1250"),
    "tr": "cp1254",
    **dict.fromkeys(("et", "lt"), "cp1257"),
}
"""The encodings of Windows for languages in Latin letters, where it is not that of Western Europe."""

_SEPARATORS = ",;\t|"
_NAMED_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
"""The first line of files that Excel is to open."""

_CUE_TIME = re.compile(r"(?:(\d+):)?(\d\d):(\d\d)[.,]\d{1,3}\s*-->")
_SPEAKER = re.compile(r"<v[^<>\s]*\s+([^<>]+)>")
_CUE_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|<\d[\d:.]*>|\{\\[^}]*\}")
_PARAGRAPH_SECONDS = 30
_PARAGRAPH_CHARACTERS = 600
_TERMINAL_COLOR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")


def decode_text(data: bytes, named: str = "") -> str:
    """Decodes by the byte order mark, else as UTF-8 or UTF-16, else in the named encoding or by a guess."""
    # First: this mark begins with the one of UTF-16.
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return data.decode("utf-32", "replace")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    head = data[:4096]
    if head.count(0) > len(head) // 4:  # the zero bytes of Latin letters in UTF-16
        order = "le" if head[1::2].count(0) > head[::2].count(0) else "be"
        return data.decode(f"utf-16-{order}", "replace")
    if named and data.isascii():  # ISO-2022-JP has no other bytes
        return data.decode(named, "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", "replace")
        # A few bytes can be damaged. In another encoding, hardly any are characters of UTF-8 by chance.
        if text.count("\ufffd") * 2 < len(data) - len(text):
            return text
        return data.decode(named or _guess_encoding(data), "replace")


def _guess_encoding(data: bytes) -> str:
    """Returns a likely encoding: by the bytes where most letters are not ASCII, else by the language."""
    sample = data[:_SAMPLE]
    sample = sample.rpartition(b"\n")[0] or sample  # half a character at the end would exclude the encoding
    others = sum(byte > 127 for byte in sample)
    if others < _FEW_BYTES or others < len(_ASCII_LETTER.findall(sample)):
        return _BY_LANGUAGE.get(detect(sample.decode("cp1252", "replace")), "cp1252")
    from charset_normalizer import from_bytes

    guess = from_bytes(sample).best()
    return guess.encoding if guess else "cp1252"


def read_text(data: bytes) -> Document:
    # What is more than the limit is cut later, with a warning.
    return Document((Part(escape(decode_text(data)[: MAX_CHARACTERS + 1])),))


def read_csv(data: bytes) -> Document:
    """Reads a file of values with any usual separator as a table whose header is the first row."""
    text = decode_text(data)
    named = _NAMED_SEPARATOR.match(text)
    text = text[named.end() :] if named else text
    separator = named[1] if named else _separator(text)
    rows = list(islice(_rows(text, separator), MAX_ROWS + 1))
    writer = MarkdownWriter()
    writer.table([[Inline(cell) for cell in row[:_MAX_COLUMNS]] for row in rows[:MAX_ROWS]])
    is_cut = len(rows) > MAX_ROWS
    return Document((Part(writer.text()),), warnings=(ROWS_LEFT_OUT.format("it"),) if is_cut else ())


def _separator(text: str) -> str:
    """Returns the separator that gives the most rows of the head the same number of cells."""

    def fit(separator: str) -> tuple[int, int]:
        widths = Counter(len(row) for row in islice(_rows(text[:20_000], separator), 50) if row)
        width, rows = widths.most_common(1)[0] if widths else (1, 0)
        return (rows, width) if width > 1 else (0, 0)

    return max(_SEPARATORS, key=fit)


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    lines = list(StringIO(text, newline=""))
    reader = csv.reader(lines, delimiter=separator)
    read = 0
    try:
        for row in reader:
            yield row
            read = reader.line_num
    except csv.Error:  # a quote that nothing closes: the rest of the file would be one cell
        for line in lines[read:]:
            yield line.rstrip("\r\n").split(separator)


def read_subtitles(data: bytes) -> Document:
    """Reads the cues of SubRip or WebVTT. A paragraph begins with the time of its first cue and has the cues
    of half a minute, or less where a sentence ends."""
    writer = MarkdownWriter()
    paragraph = ""
    start = 0
    last = ""
    for second, line in _cues(decode_text(data)):
        if line == last:  # captions that scroll repeat a line
            continue
        is_full = second - start >= _PARAGRAPH_SECONDS or len(paragraph) >= _PARAGRAPH_CHARACTERS
        if paragraph and (is_full or (second - start >= 10 and paragraph.endswith((".", "?", "!", "。")))):
            writer.paragraph(Inline(f"[{_time(start)}] {paragraph}"))
            paragraph = ""
        start = start if paragraph else second
        paragraph = f"{paragraph} {line}".strip()
        last = line
    if paragraph:
        writer.paragraph(Inline(f"[{_time(start)}] {paragraph}"))
    return Document((Part(writer.text()),))


def _cues(text: str) -> Iterator[tuple[int, str]]:
    """Yields the lines of the cues, each with the second at which its cue starts."""
    second = -1
    lines = text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        time = _CUE_TIME.search(line)
        if time:
            second = int(time[1] or 0) * 3600 + int(time[2]) * 60 + int(time[3])
        elif not line.strip() or _CUE_TIME.search(following):  # the number or the name of a cue
            second = second if line.strip() else -1
        elif second >= 0:
            shown = unescape(_CUE_MARKUP.sub("", _SPEAKER.sub(r"\1: ", line)))
            if shown.strip():
                yield second, " ".join(shown.split())


def _time(second: int) -> str:
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def _json(data: bytes) -> object:
    try:
        return json.loads(decode_text(data))
    except (ValueError, RecursionError) as error:
        raise NoteError(f"damaged: not JSON: {error}") from error


@errors_as_damage()
def read_json(data: bytes) -> Document:
    """Reads the keys and the texts of a JSON file as nested lists."""
    writer = MarkdownWriter()
    _add_value(writer, "", _json(data), 0)
    return Document((Part(writer.text()),))


def _add_value(writer: MarkdownWriter, key: str, value: object, depth: int) -> None:
    if isinstance(value, str):
        writer.item(depth, Inline(f"{key}: {value}" if key else value))
        return
    writer.item(depth, Inline(key))
    inner = depth + 1 if key else depth
    for name, entry in value.items() if isinstance(value, dict) else ():
        _add_value(writer, name, entry, inner)
    for entry in value if isinstance(value, list) else ():
        _add_value(writer, "", entry, inner)


def read_ipynb(data: bytes) -> Document:
    """Reads the cells of a notebook: Markdown as it is, code with its language, and the start of each textual
    output."""
    notebook = _Node(_json(data))
    metadata = notebook.node("metadata")
    language = metadata.node("language_info").text("name") or metadata.node("kernelspec").text("language")
    in_sheets = [cell for sheet in notebook.nodes("worksheets") for cell in sheet.nodes("cells")]
    writer = MarkdownWriter()
    for cell in notebook.nodes("cells") or in_sheets:
        source = cell.text("source") or cell.text("input")
        kind = cell.text("cell_type")
        if kind == "markdown":
            writer.markdown_block(only_markdown(source))
        elif kind == "heading":
            writer.heading(1, Inline(source))
        elif kind == "code":
            writer.code(source, language)
            for output in cell.nodes("outputs"):
                shown = output.node("data")
                markdown = shown.text("text/markdown")[:_MAX_OUTPUT]
                writer.markdown_block(only_markdown(markdown))
                # Beside Markdown it is only "<IPython.core.display.Markdown object>".
                plain = "" if markdown else shown.text("text/plain")
                error = f"{output.text('ename')}: {output.text('evalue')}".strip(": ")
                text = output.text("text") or plain or error
                writer.code(_TERMINAL_COLOR.sub("", text)[:_MAX_OUTPUT])
        else:
            writer.paragraph(Inline(source))
    authors = (author.text("name") for author in metadata.nodes("authors"))
    return Document(
        (Part(writer.text()),), title=metadata.text("title"), authors=tuple(filter(None, authors))
    )


class _Node:
    """A JSON value of unknown structure: parts of an unexpected type count as empty."""

    def __init__(self, value: object) -> None:
        self._value = value if isinstance(value, dict) else {}

    def node(self, key: str) -> _Node:
        return _Node(self._value.get(key))

    def nodes(self, key: str) -> list[_Node]:
        found = self._value.get(key)
        return list(map(_Node, found)) if isinstance(found, list) else []

    def text(self, key: str) -> str:
        found = self._value.get(key)
        found = "".join(map(str, found)) if isinstance(found, list) else found
        return found if isinstance(found, str) else ""


_CONJUNCTIONS = {"and": " and ", "or": " or ", "not": " or "}


def read_base(data: bytes) -> Document:
    """Reads the file as a list of its formulas and a heading for each view."""
    try:
        base = load_mapping(decode_text(data))
    except YamlRefusedError as error:
        raise NoteError(f"damaged: {error.detail}{f' (line {error.line})' if error.line else ''}") from error
    writer = MarkdownWriter()
    for item in _lines_of_base(base):
        writer.item(0, Inline(item))
    views = base.get("views")
    for view in views if isinstance(views, list) else []:
        if isinstance(view, dict):
            writer.heading(2, Inline(str(view.get("name") or view.get("type") or "View")))
            for item in _lines_of_base(view):
                writer.item(0, Inline(item))
    return Document((Part(writer.text()),))


def _lines_of_base(table: object) -> Iterator[str]:
    """Yields the content of a base, or of one of its views, in words."""
    values = table if isinstance(table, dict) else {}
    if filters := _base_filter(values.get("filters")):
        yield f"Filter: {filters}"
    order, formulas, shown = (values.get(key) for key in ("order", "formulas", "properties"))
    if isinstance(order, list):
        yield f"Columns: {', '.join(map(str, order))}"
    for name, formula in formulas.items() if isinstance(formulas, dict) else ():
        yield f"{name} = {formula}"
    for name, options in shown.items() if isinstance(shown, dict) else ():
        if isinstance(options, dict) and options.get("displayName"):
            yield f"{name}: {options['displayName']}"


def _base_filter(filters: JsonValue) -> str:
    """Returns the filters of a base in words."""
    if isinstance(filters, str):
        return filters
    found = []
    for name, inner in filters.items() if isinstance(filters, dict) else ():
        parts = filter(None, map(_base_filter, inner if isinstance(inner, list) else [inner]))
        text = _CONJUNCTIONS.get(name, " and ").join(parts)
        found.append(f"not ({text})" if name == "not" else f"({text})" if " " in text else text)
    return " and ".join(found)
