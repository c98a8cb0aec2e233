"""Extracts the text of RTF documents."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace

from vault_indexer.documents.blocks import Inline, MarkdownWriter
from vault_indexer.documents.markdown import Document, Part
from vault_indexer.documents.package import iso_date, keywords_in
from vault_indexer.errors import NoteError
from vault_indexer.system import record

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])"
    rb"|(\{(?:\s*\\\*)?|\})|[\r\n]+|([^\\{}\r\n]+)|\\",
    re.DOTALL,
)
_CHARACTERS = {
    **dict.fromkeys(("tab", "emspace", "enspace", "nestcell", "~"), " "),
    **dict(zip(("lquote", "rquote", "ldblquote", "rdblquote"), "‘’“”", strict=True)),
    **dict(zip(("emdash", "endash", "bullet"), "—–•", strict=True)),
    **dict(zip(("line", "_", "\\", "{", "}"), "\n-\\{}", strict=True)),
}
_PARAGRAPH_ENDS = frozenset({"par", "sect", "page", "column", "\n", "\r"})
_NO_TEXT = frozenset(
    {
        *("fonttbl", "colortbl", "info", "pict", "object", "header", "headerl", "headerr", "headerf"),
        *("footer", "footerl", "footerr", "footerf", "filetbl", "nonshppict", "shprslt", "xe", "tc", "rxe"),
        "deleted",
    }
)
_DESTINATIONS = frozenset(
    {
        *("stylesheet", "fldinst", "annotation", "atnauthor", "footnote", "listtext", "pntext", "title"),
        *("author", "keywords", "creatim"),
    }
)
_CODE_PAGES = {128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256}
_CODE_PAGES |= {186: 1257, 204: 1251, 222: 874, 238: 1250}
"""By the character sets of fonts; Windows-1252 for others."""

_LINK = re.compile(r'HYPERLINK\s+"([^"]+)"')
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)


@record
class _Group:
    """The state that braces restore. Text goes to the destination: "" is the body, "skip" none."""

    destination: str = ""
    encoding: str = ""
    fallback: int = 1
    """The number of bytes that replace a Unicode character for programs without Unicode."""
    address: str = ""


def read_rtf(data: bytes) -> Document:
    """Reads the text of a document with its notes, text boxes and comments, without headers and footers."""
    if not data.lstrip().startswith(b"{\\rtf"):
        raise NoteError("damaged: not an RTF document")
    return _RtfText(data).document()


class _RtfText:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._group, self._stack = _Group(), [_Group()]
        self._is_optional = False  # after {\*: the next word is a destination that programs may skip
        self._encoding, self._font, self._fonts = "cp1252", "", dict[str, str]()
        self._bytes, self._pending, self._bytes_to_skip = bytearray(), "", 0
        self._collected: dict[str, str] = {}
        self._level, self._levels, self._style = 0, dict[str, int](), ""
        self._depth, self._in_table, self._ordered = -1, False, False
        self._has_marker = False  # of a list item, which can precede the format of its paragraph
        self._text = Inline()
        self._cells: list[Inline] = []
        self._rows: list[list[Inline]] = []
        self._notes: list[Inline] = []
        self._remarks: list[tuple[str, str]] = []
        self._writer = MarkdownWriter()

    def document(self) -> Document:
        position = 0
        while found := _TOKEN.match(self._data, position):
            position = found.end()
            word, number, code, symbol, brace, text = found.groups()
            if code or text:
                self._add_bytes(bytes.fromhex(code.decode()) if code else text)
            elif word == b"u" and number:
                self._decode()
                # RTF writes code units above 32,767 as negative numbers.
                self._pending += chr(int(number) % 65_536)
                # What follows stands for the character in programs without Unicode.
                self._bytes_to_skip = self._group.fallback
            elif brace or symbol or word:
                self._emit()
                if brace:
                    self._stack.append(self._group) if brace != b"}" else self._close()
                    self._is_optional = brace.endswith(b"*")
                else:
                    self._apply((word or symbol).decode("latin-1"), int(number or 1), bool(number))
                # Binary data follows, in which braces and backslashes mean nothing.
                position += max(0, int(number or 0)) if word == b"bin" else 0
        self._emit()
        self._end_cell(is_row=True)  # where the file ends in a row
        self._end_paragraph()
        self._end_table()
        for key, note in enumerate(self._notes, 1):
            self._writer.note(str(key), note)
        return Document(
            (Part(self._writer.text()),),
            title=self._collected.get("title", ""),
            authors=(self._collected.get("author", ""),),
            created=iso_date(self._collected.get("creatim")),
            keywords=keywords_in(self._collected.get("keywords", "")),
        )

    def _add_bytes(self, data: bytes) -> None:
        skipped = min(len(data), self._bytes_to_skip)
        self._bytes_to_skip -= skipped
        if self._group.destination != "skip":  # pictures are long
            self._bytes += data[skipped:]

    def _decode(self) -> None:
        self._pending += self._bytes.decode(self._group.encoding or self._encoding, "replace")
        self._bytes.clear()

    def _emit(self) -> None:
        """Adds the characters read so far to their destination."""
        self._decode()
        self._bytes_to_skip = 0
        # The second half of a pair of surrogates may follow after other control words.
        held = self._pending[-1:] if "\ud800" <= self._pending[-1:] <= "\udbff" else ""
        read = self._pending.removesuffix(held)
        text = read.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        self._pending = held
        destination = self._group.destination
        if not text or destination == "skip":
            return
        if not destination:
            self._text.add(text, self._group.address)
        elif destination == "footnote":
            self._notes[-1].add(text, self._group.address)
        else:
            self._collected[destination] = self._collected.get(destination, "") + text
            heading = _HEADING.match(self._collected.get("stylesheet", "").strip())
            if heading:
                self._levels[self._style] = int(heading[1])

    def _close(self) -> None:
        if self._stack:
            inner, self._group = self._group, self._stack.pop()
            if inner.destination == self._group.destination:
                return
            if inner.destination == "annotation":
                author = self._collected.pop("atnauthor", "")
                self._remarks.append((author, self._collected.pop("annotation", "")))
            elif inner.destination in ("listtext", "pntext"):
                marker = self._collected.pop(inner.destination, "")
                self._depth, self._ordered = max(0, self._depth), bool(re.search(r"\w[.)]", marker))
                self._has_marker = True

    def _apply(self, word: str, number: int, has_number: bool) -> None:
        is_optional, self._is_optional = self._is_optional, False
        if word in _DESTINATIONS:
            self._group = replace(self._group, destination=word)
            self._collected[word] = ""  # of two variants of a text the second has Unicode
            if word == "footnote":
                self._notes.append(Inline())
                self._text.add_reference(str(len(self._notes)))
        elif word == "shptxt":
            self._group = replace(self._group, destination="")
        elif is_optional or (word in _NO_TEXT and number):
            self._group = replace(self._group, destination="skip")
        elif word in _CHARACTERS:
            self._pending += _CHARACTERS[word]
            self._emit()
        elif word in _PARAGRAPH_ENDS:
            self._end_line()
        elif word in ("cell", "row"):
            self._end_cell(is_row=word == "row")
        elif has_number or word in ("pard", "intbl", "fldrslt", "field"):
            self._set(word, number)

    def _set(self, word: str, number: int) -> None:
        """Changes the state of the group or of the paragraph."""
        group = self._group
        if word == "ansicpg":
            self._encoding = _known_encoding(number)
        elif word == "uc":
            self._group = replace(group, fallback=number)
        elif word == "f":
            self._font = str(number)
            self._group = replace(group, encoding=self._fonts.get(self._font, ""))
        elif word == "fcharset":
            self._fonts[self._font] = _known_encoding(_CODE_PAGES[number]) if number in _CODE_PAGES else ""
        elif word == "field":
            self._collected["fldinst"] = ""
        elif word == "fldrslt":
            link = _LINK.search(self._collected.get("fldinst", ""))
            self._group = replace(group, address=link[1] if link else "")
        elif group.destination == "creatim" and word in ("yr", "mo", "dy"):
            separator = "" if word == "yr" else "-"
            self._collected["creatim"] = f"{self._collected.get('creatim', '')}{separator}{number:02}"
        else:
            self._set_paragraph(word, number)

    def _set_paragraph(self, word: str, number: int) -> None:
        if word == "pard":
            self._level, self._depth, self._in_table = 0, 0 if self._has_marker else -1, False
        elif word == "intbl":
            self._in_table = True
        elif word == "outlinelevel":
            level = (number + 1) % 10  # 9 is body text
            if self._group.destination == "stylesheet":
                self._levels[self._style] = level
            else:
                self._level = level
        elif word == "ilvl":
            self._depth = number
        elif word == "sbasedon":
            self._levels.setdefault(self._style, self._levels.get(str(number), 0))
        elif word == "s" and self._group.destination == "stylesheet":
            self._style = str(number)
            self._collected["stylesheet"] = ""
        elif word == "s":
            self._level = self._levels.get(str(number), 0)

    def _end_line(self) -> None:
        if self._group.destination or self._in_table:
            self._pending += "\n"
            self._emit()
        else:
            self._end_paragraph()

    def _end_paragraph(self) -> None:
        text, self._text, self._has_marker = self._text, Inline(), False
        if not text.is_empty():
            self._end_table()
        if self._level:
            self._writer.heading(self._level, text)
        elif self._depth >= 0:
            self._writer.item(self._depth, text, self._ordered)
        else:
            self._writer.paragraph(text)
        self._add_remarks()

    def _end_cell(self, is_row: bool) -> None:
        if is_row:
            self._rows.append(self._cells)
            self._cells = []
        else:
            self._cells.append(self._text)
            self._text = Inline()

    def _end_table(self) -> None:
        if self._rows:
            self._writer.table(self._rows)
            self._rows = []
            self._add_remarks()

    def _add_remarks(self) -> None:
        for author, remark in self._remarks:
            self._writer.comment(Inline(remark), author)
        self._remarks = []


def _known_encoding(code_page: int) -> str:
    name = {65001: "utf-8", 10000: "mac_roman"}.get(code_page, f"cp{code_page}")
    try:
        codecs.lookup(name)
        return name
    except LookupError:
        return "cp1252"
