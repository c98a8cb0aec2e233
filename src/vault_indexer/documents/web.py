"""Extracts web pages and books, whose chapters are web pages."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import NamedTuple

from vault_indexer.documents.blocks import Inline, MarkdownWriter
from vault_indexer.documents.markdown import Document, Part
from vault_indexer.documents.package import Element, Package, errors_as_damage, iso_date, keywords_in, resolve
from vault_indexer.documents.text import decode_text
from vault_indexer.errors import NoteError

_NO_TEXT = frozenset(
    {
        *("script", "style", "template", "noscript", "svg", "iframe", "object", "canvas", "select"),
        *("textarea", "button", "nav", "rt", "rp", "annotation", "annotation-xml", "audio", "video"),
        *("datalist", "title"),
    }
)
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details"),
        *("dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header"),
        *("hgroup", "html", "legend", "main", "menu", "ol", "p", "pre", "search", "section", "summary"),
        *("table", "tbody", "tfoot", "thead", "ul", "h1", "h2", "h3", "h4", "h5", "h6", "li", "tr", "td"),
        *("th", "hr", "option"),
    }
)
_MAX_SPANNED_COLUMNS = 64
_MAX_SPANNED_ROWS = 1_000
"""Of one cell: a page can claim any number."""

_MAX_REPEATED_CELLS = 20_000
"""Of a page, in rows that they span."""

_MAX_REPEATED = 200
"""Characters of a cell that is repeated in the rows and columns that it spans."""

_BLANKS = re.compile(r"\s+")
_HEADING = re.compile(r"h([1-6])")
_LISTS = frozenset({"ul", "ol", "menu"})
_LANGUAGE = re.compile(r"\b(?:language|lang|highlight-source)-([\w+#-]+)")
_META_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)\b[^<>]*?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE
)
_SUPERSETS = {
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    **dict.fromkeys(("utf-8", "utf-16", "utf-16-le", "utf-16-be"), ""),
    **dict(zip(("iso8859-9", "shift_jis", "euc_kr"), ("cp1254", "cp932", "cp949"), strict=True)),
}
"""What browsers use for the encodings that pages name, by the Encoding Standard; "" for UTF-8."""

_AUTHOR_NAMES = frozenset({"author", "dc.creator", "article:author"})
_DATE_NAMES = frozenset({"article:published_time", "date", "dc.date", "dcterms.created"})


def read_html(data: bytes) -> Document:
    """Reads the text of a page: its main part if it marks one, else all except navigation. Nothing in it is
    executed or loaded."""
    page = decode_page(data)
    reader, text = _read_region(page, "main")
    if not text:
        reader, text = _read_region(page, "")
        article = _read_region(page, "article")[1]
        # Short ones are teasers of other pages.
        limit = min(len(text) // 4, page.count("<article") * 500)
        text = article if len(article) > limit else text
    meta = reader.meta
    author = next((value for name, value in meta.items() if name in _AUTHOR_NAMES and "://" not in value), "")
    return Document(
        (Part(text),),
        title=reader.title or meta.get("og:title", ""),
        authors=(author,),
        created=next(filter(None, (iso_date(meta[name]) for name in meta if name in _DATE_NAMES)), ""),
        keywords=keywords_in(meta.get("keywords", "")),
    )


def _read_region(page: str, region: str) -> tuple[_PageReader, str]:
    """Returns the text in the elements of a region, or of the whole page for "", and its reader."""
    reader = _PageReader(region)
    if not region or re.search(rf"<{region}[\s>]|role\s*=\s*[\"']?{region}\b", page, re.IGNORECASE):
        reader.feed(page)
        reader.close()
    return reader, reader.markdown()


def decode_page(data: bytes) -> str:
    """Decodes as `decode_text`. The encoding that a page names can be older than its conversion to UTF-8."""
    named = _META_CHARSET.search(data)
    try:
        name = codecs.lookup(named[1].decode() if named else "").name
        return decode_text(data, _SUPERSETS.get(name, name))
    except (LookupError, ValueError):  # none, or one that is unknown
        return decode_text(data)


class _Cell(NamedTuple):
    """A cell of a table, and how many rows and columns it spans."""

    text: Inline
    rows: int
    columns: int


class _PageReader(HTMLParser):
    """Writes the blocks of a page, or of its elements of one region, as Markdown."""

    def __init__(self, region: str = "") -> None:
        super().__init__()
        self.title = ""
        self.meta: dict[str, str] = {}
        self._region = region
        self._regions = [] if region else [""]  # the name of the open element of the region, once for each
        self._unread: list[str] = []  # the same for an open element without text
        self._writer = MarkdownWriter()
        self._text = Inline()
        self._address = ""
        self._opened = ""  # the tag before, if it opens an element
        self._block = ""  # the heading or list item that the text begins
        self._lists: list[bool] = []  # of each open list, whether it is ordered
        self._quotes = 0
        self._code: list[str] | None = None
        self._language = ""
        self._table: list[list[_Cell]] | None = None
        self._repeated = 0  # cells in further rows that they span

    def markdown(self) -> str:
        self._end_table()
        self._end_block()
        self._end_code()
        return self._writer.text()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if self._unread:
            self._unread += [tag] * (tag == self._unread[0])
        elif self._has_no_text(tag) or (values.get("role") == "navigation" and tag in _BLOCKS):
            self._unread.append(tag)
        elif tag == "meta":
            name = (values.get("name") or values.get("property") or "").lower()
            if name in _AUTHOR_NAMES or name not in self.meta:
                self.meta[name] = f"{self.meta.get(name, '')};{values.get('content', '')}".lstrip(";")
        elif self._regions:
            self._regions += [tag] * (tag == self._regions[0])
            self._start(tag, values)
        elif self._region in (tag, values.get("role")):
            self._regions.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._unread:
            if tag == self._unread[0]:
                self._unread.pop()
        elif self._regions:
            self._end(tag)
            if tag == self._regions[0]:
                self._regions.pop()

    def handle_data(self, data: str) -> None:
        if self._unread == ["title"]:
            self.title += data
        elif self._unread or not self._regions:
            return
        elif self._code is not None:
            self._code.append(data)
        else:
            self._text.add(_BLANKS.sub(" ", data), self._address)

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Skips a mark such as `<![if !vml]>`, as browsers do; the inherited method fails at unknown ones."""
        return self.parse_bogus_comment(i, report)

    def _has_no_text(self, tag: str) -> bool:
        # A button that begins a heading is its title, and opens the section below.
        is_title = tag == "button" and _HEADING.fullmatch(self._block) and self._text.is_empty()
        return tag in _NO_TEXT and not is_title

    def _start(self, tag: str, values: dict[str, str]) -> None:
        if tag in ("pre", "table") or _HEADING.fullmatch(tag):
            self._end_table()  # that of a page's layout, if there is one
        if tag in _BLOCKS:
            self._end_block()
            self._start_block(tag, values)
        elif tag == "br":
            if self._code is None:
                self._text.add("\n")
            else:
                self._code.append("\n")
        elif tag == "img":
            self._text.add(f" {values.get('alt', '')} ")
        elif tag == "a":
            self._text.add(" " * (self._opened == "sup" or values.get("epub:type") == "noteref"))
            self._address = values.get("href", "")
        elif tag == "sup" and self._address:
            self._text.add(" ")
        self._opened = tag
        if tag in ("pre", "code"):
            language = _LANGUAGE.search(values.get("class", ""))
            self._language = language[1] if language else self._language

    def _start_block(self, tag: str, values: dict[str, str]) -> None:
        if tag == "pre":
            self._code = []
        elif tag == "blockquote":
            self._quotes += 1
        elif self._table is not None:
            self._start_in_table(self._table, tag, values)
        elif tag == "table":
            self._table = []
        elif tag in _LISTS:
            self._lists.append(tag == "ol")
        elif tag == "li" or _HEADING.fullmatch(tag):
            self._block = tag

    def _start_in_table(self, table: list[list[_Cell]], tag: str, values: dict[str, str]) -> None:
        if tag == "tr" or (tag in ("td", "th") and not table):
            table.append([])
        if tag in ("td", "th"):
            self._text = Inline()
            rows, columns = (_span(values.get(name, "")) for name in ("rowspan", "colspan"))
            columns = min(columns or 1, _MAX_SPANNED_COLUMNS)
            table[-1].append(_Cell(self._text, rows or _MAX_SPANNED_ROWS, columns))

    def _rows(self, table: list[list[_Cell]]) -> Iterator[list[Inline]]:
        """Yields the rows with each cell in all places that it spans. Further rows and columns of a long
        cell, which is part of a page's layout, and further columns of one that is a whole row are empty."""
        spans: dict[int, tuple[Inline, int]] = {}  # by the column: text, and the number of rows to come
        for cells in table:
            self._repeated += len(spans)
            if self._repeated > _MAX_REPEATED_CELLS:
                spans = {}
            row = {column: text for column, (text, _) in spans.items()}
            is_title = len(cells) == 1 and not row
            spans = {column: (text, rows - 1) for column, (text, rows) in spans.items() if rows > 1}
            column = 0
            for text, rows, columns in cells:
                while column in row:
                    column += 1
                repeated = Inline() if is_title or len(text.line()) > _MAX_REPEATED else text
                for at in range(column, column + columns):
                    row[at] = repeated if at > column else text
                    if rows > 1:
                        spans[at] = repeated, rows - 1
            yield [row.get(at) or Inline() for at in range(max(row, default=-1) + 1)]

    def _end(self, tag: str) -> None:
        self._opened = ""
        if tag == "a":
            self._address = ""
        elif tag == "pre":
            self._end_code()
        elif tag in _BLOCKS:
            self._end_block()
        if tag == "table":
            self._end_table()
        elif tag == "blockquote":
            self._quotes = max(0, self._quotes - 1)
        elif tag in _LISTS and self._table is None:
            del self._lists[-1:]
        elif tag == self._block:
            self._block = ""

    def _end_block(self) -> None:
        if self._table:  # blocks in a cell are one text
            self._text.add(" ")
            return
        text, self._text = self._text, Inline()
        if text.is_empty():
            return
        heading = _HEADING.fullmatch(self._block)
        if heading:
            self._writer.heading(int(heading[1]), text)
        elif self._block == "li":
            depth = max(0, len(self._lists) - 1)
            self._writer.item(depth, text, is_ordered=bool(self._lists) and self._lists[-1])
            self._block = ""
        elif self._quotes:
            self._writer.quote(text)
        else:
            self._writer.paragraph(text)

    def _end_table(self) -> None:
        if self._table:
            self._text = Inline()
            self._writer.table(list(self._rows(self._table)))
        self._table = None

    def _end_code(self) -> None:
        if self._code is not None:
            self._writer.code("".join(self._code), self._language)
        self._code, self._language = None, ""


def _span(number: str) -> int:
    return min(int(number[:9]), _MAX_SPANNED_ROWS) if number.isascii() and number.isdigit() else 1


@errors_as_damage()
def read_epub(data: bytes) -> Document:
    """Reads the chapters of a book in their order."""
    package = Package(data)
    rootfile = package.tree("META-INF/container.xml").find("rootfiles/rootfile")
    if rootfile is None:
        raise NoteError("damaged: it is not an EPUB book")
    name = rootfile.get("full-path", "")
    book = package.tree(name)
    members = {
        item.get("id", ""): resolve(name.rpartition("/")[0], item.get("href", ""))
        for item in book.iterfind("manifest/item")
    }
    chapters = [members.get(item.get("idref", ""), "") for item in book.iterfind("spine/itemref")]
    encryption = package.tree("META-INF/encryption.xml")
    locked = {resolve("", reference.get("URI", "")) for reference in encryption.iter("CipherReference")}
    if locked.intersection(chapters):
        raise NoteError("locked by the seller's copy protection")
    texts = [read_html(page).parts[0] for page in map(package.read, chapters) if page]
    metadata = book.find("metadata")
    values = {key: _values(metadata, key) for key in ("title", "creator", "date", "subject")}
    return Document(
        tuple(part for part in texts if part.text),
        title=next(iter(values["title"]), ""),
        authors=values["creator"],
        created=next(filter(None, map(iso_date, values["date"])), ""),
        keywords=values["subject"],
    )


def _values(metadata: Element | None, key: str) -> tuple[str, ...]:
    found = () if metadata is None else metadata.iterfind(key)
    return tuple(element.text.strip() for element in found if element.text and element.text.strip())
