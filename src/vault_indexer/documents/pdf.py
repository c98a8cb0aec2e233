"""Extracts the text of PDFs, page by page, with PDFium."""

from __future__ import annotations

import ctypes
import logging
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import islice, pairwise
from threading import Lock
from typing import Any

from vault_indexer.documents.markdown import MAX_CHARACTERS, Document, Part
from vault_indexer.documents.package import keywords_in
from vault_indexer.documents.pdf_bidi import JOINT, RTL_LETTER, Letter, is_rtl, logical_line
from vault_indexer.documents.pdf_layout import Word, lay_out
from vault_indexer.documents.pdf_markdown import Entry, Page, to_parts
from vault_indexer.errors import NoteError

MAX_PAGES = 5_000
MAX_PAGE_CHARACTERS = 200_000
"""A page of small print has 10,000; more is a drawing of letters."""

_MAX_ENTRIES = 5_000
_MAX_ANNOTATIONS = 1_000
_MAX_CHECKS = 2_000_000
"""Of words against boxes of links and highlights, a page."""
_MAX_STRING = 1 << 20

_HEADINGS = re.compile(r"^#{1,6} .*", re.MULTILINE)
_LEAST_CHARACTERS = 10
"""A scanned page may have a stamp or a page number as text."""

_LOCK = Lock()
"""PDFium is not thread-safe."""

_LOCKED = {4: "locked by a password", 5: "locked by an encryption that is not supported"}
"""By FPDF_GetLastError."""

_HYPHEN = "\x02\ufffe"
"""What PDFium writes for a hyphen at the end of a line, depending on the call."""

_WORD = re.compile(rf"[^\s\0{_HYPHEN}]+[{_HYPHEN}]?|[{_HYPHEN}]")
_LINE_END = "\r\n" + _HYPHEN
_SMALLEST = 0.5
"""Size of letters in points; smaller ones are not there to be read."""

_FORMS = re.compile(r"[\u2f00-\u2fd5\ufb00-\ufdff\ufe70-\ufefc\U0001d400-\U0001d7ff]+")
"""Radicals, ligatures, Arabic and Hebrew letters in the shape of their position, and letters of formulas."""

_RADICALS = str.maketrans(
    "⺠⻄⻅⻆⻉⻋⻓⻔⻘⻚⻛⻜⻝⻢⻣⻤⻥⻦⻧⻨⻩⻬⻮⻰⻳", "民西见角贝车长门青页风飞食马骨鬼鱼鸟卤麦黄齐齿龙龟"
)
"""Radicals that Unicode does not decompose, and the characters that Chinese PDFs mean by them."""

_CALIBRI = {0x14C: "ft", 0x19F: "ti", 0x1A9: "tt", 0x1AB: "tti"}
"""Ligatures of Calibri by the number of their glyph, which some writers give as their Unicode; that of macOS
adds 0x100000. See https://www.unicode.org/mail-arch/unicode-ml/y2016-m03/0096.html."""
_LIGATURE = re.compile(
    "[\U0010014c\U0010019f\U001001a9\U001001ab]|(?<=[a-z])[\u014c\u019f\u01a9\u01ab]|\u019f(?=[a-z])"
)

_RAISED = re.compile(r"\d{1,3}(?=[^\W\d_]|[\"'“‘„«(\[])")
"""The number of a footnote, before its text."""

_ACCENTS = dict(
    zip("´ˆ˜¨ˇ˘˚˝¸˛", "\u0301\u0302\u0303\u0308\u030c\u0306\u030a\u030b\u0327\u0328", strict=True)
)
_ACCENT = re.compile(f"[{''.join(_ACCENTS)}]")
_DOTLESS = {0x131: "i", 0x237: "j"}
_LINE = re.compile(r"[^\r\n]+")
_LINE_OR_END = re.compile(r"[^\r\n]+|[\r\n]+")
_REACH = 1_000

_BOLD = re.compile(rb"(?i)bold|black|heavy|demi|cmbx|sfbx|\bcmb\d")
_FORCE_BOLD = 1 << 18
_DYNAMIC_XFA = 2
"""FORMTYPE_XFA_FULL: its one page asks the reader to wait for a program."""

_JUNK_TITLE = re.compile(
    r"""(?ix) microsoft\s\w+\s-.* | (?:untitled|unbenannt|sans\snom|sin\st[ií]tulo)\W*\d*
    | (?:document|dokument|presentation|präsentation|slide|scan|img|book|mappe|template)[\W_\d]*
    | powerpoint.{0,3}(?:presentation|präsentation)
    | .*\.(?:pdf|docx?|odt|rtf|txt|tex|dvi|e?ps|indd|p65|qx[dp]|pptx?|odp|key|xlsx?|ods|html?|md|ai|cdr|pub)
    | [\W\d_]*"""
)
_DATE = re.compile(r"(?:D:)?(\d{4})-?(\d\d)?-?(\d\d)?")

_Link = tuple[float, float, float, float, str]


def read_pdf(data: bytes) -> Document:
    """Reads the pages of a PDF. Raises NoteError if it is locked, damaged or a form that a program draws."""
    import pypdfium2

    logging.getLogger("pypdfium2").setLevel(logging.ERROR)  # it warns of XFA and of loops in the outline
    with _LOCK:
        try:
            pdf = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            # The code may be that of an earlier file.
            locked = _LOCKED.get(getattr(error, "err_code", 0)) if b"/Encrypt" in data else None
            raise NoteError(locked or "damaged, or without pages") from error
        try:
            return _Reader(pdf, pypdfium2.raw).read()
        except pypdfium2.PdfiumError as error:
            raise NoteError(f"damaged: {error}") from error
        finally:
            pdf.close()


class _Reader:
    """Reads an open PDF. Owns no object of the library longer than a call."""

    def __init__(self, pdf: Any, raw: Any) -> None:
        self._pdf = pdf
        self._raw = raw
        self._form: Any = None
        self._warnings: list[str] = []

    def read(self) -> Document:
        count = len(self._pdf)
        if count < 1:
            raise NoteError("it has no pages")
        form_type = self._raw.FPDF_GetFormType(self._pdf)
        if form_type == _DYNAMIC_XFA:
            raise NoteError("a dynamic XFA form: its text is not in its pages")
        if form_type:
            self._pdf.init_forms()
            self._form = self._pdf.formenv
        pages = self._pages(count)
        title = self._metadata("Title").strip()
        parts = to_parts(pages, self._outline())
        return Document(
            parts,
            title="" if _JUNK_TITLE.fullmatch(title) else title,
            authors=_authors(self._metadata("Author")),
            created=_iso_date(self._metadata("CreationDate")),
            keywords=keywords_in(self._metadata("Keywords")),
            warnings=tuple(self._warnings),
            images=_pages_without_text(parts),
        )

    def _pages(self, count: int) -> list[Page]:
        pages: list[Page] = []
        damaged: list[int] = []
        characters = 0
        for index in range(min(count, MAX_PAGES)):
            page = self._page(index)
            if page is None:
                damaged.append(index + 1)
            pages.append(page or Page([]))
            characters += sum(len(line.text) for line in pages[-1].lines)
            if characters > MAX_CHARACTERS:
                break
        if len(pages) < count:
            self._warnings.append(f"only the first {len(pages):,} of {count:,} pages are read")
        if len(damaged) == count:
            raise NoteError("damaged: no page can be read")
        if damaged:
            shown = ", ".join(map(str, damaged[:10])) + (", …" if damaged[10:] else "")
            self._warnings.append(f"damaged, without text: page {shown}")
        return pages

    def _page(self, index: int) -> Page | None:
        raw = self._raw
        with _closing(raw.FPDF_LoadPage(self._pdf, index), raw.FPDF_ClosePage) as page:
            if not page:
                return None
            with _closing(raw.FPDFText_LoadPage(page), raw.FPDFText_ClosePage) as text:
                if not text:
                    return None
                count = raw.FPDFText_CountChars(text)
                if count > MAX_PAGE_CHARACTERS:
                    self._warnings.append(
                        f"only the first {MAX_PAGE_CHARACTERS:,} characters of page {index + 1} are read"
                    )
                box = raw.FS_RECTF()
                raw.FPDF_GetPageBoundingBox(page, box)
                places = list(self._words(text, min(count, MAX_PAGE_CHARACTERS), self._links(page)))
            inside = [
                (word, x, y)
                for word, x, y in places
                if box.left - 1 <= x <= box.right + 1 and box.bottom - 1 <= y <= box.top + 1
            ]
            words = [word for word, _, _ in inside]
            quotes = list(self._annotations(page, inside, words))
            x, y = (box.left, box.right), (box.bottom, box.top)
            sides = (
                y,
                (-x[1], -x[0]),
                (-y[1], -y[0]),
                x,
            )  # by the quarter turns of the page's main direction
            main = max(range(4), key=[word.direction for word in words].count)
            return Page(lay_out(words), quotes, *sides[main])

    def _words(self, text: Any, count: int, links: list[_Link]) -> Iterator[tuple[Word, float, float]]:
        """Yields each word with the middle of its box on the page."""
        head, tail = self._raw.FS_RECTF(), self._raw.FS_RECTF()
        refs = ctypes.byref(head), ctypes.byref(tail)
        get_box = self._raw.FPDFText_GetLooseCharBox
        links = links[: _MAX_CHECKS // (count // 5 + 1)]
        written, at = self._logical(text, self._composed(text, self._text(text, count)))
        height = -1.0
        direction, size, over, along = 0, 0.0, 0.0, 0.0
        last: Word | None = None
        after = 0
        for start, border in self._spans(text, written, at):
            end, between, after = border, written[after:start], border
            begins = start == 0 or written[start - 1] in _LINE_END
            ends = end == len(written) or written[end] in _LINE_END or written[end - 1] in _HYPHEN
            end -= 1 + (written[end - 1] in _HYPHEN and end - start > 1)  # a moved hyphen has no box
            get_box(text, at[start], refs[0])
            get_box(text, at[end], refs[1])
            if head.top - head.bottom != height:
                # Letters of one height are of one font; a call costs more than all the rest of a word.
                height = head.top - head.bottom
                direction, size, x, y = self._place(text, at[start], head)
                along, over = x - head.left, y - head.bottom
            left, right = min(head.left, tail.left), max(head.right, tail.right)
            if tail.left < head.left:  # a word in two directions may reach further than its ends
                left, right = _sides(self._boxes(text, at[start : end + 1]))
            bottom, top = min(head.bottom, tail.bottom), max(head.top, tail.top)
            if not (size >= _SMALLEST and math.isfinite(left + right + bottom + top)):
                continue
            x, y = (left + right) / 2, (bottom + top) / 2
            origin = (head.left + along, head.bottom + over)
            word = _word(
                written[start:border].replace(JOINT, " "), (left, bottom, right, top), origin, direction, size
            )
            if not word.text.strip():
                continue
            if begins or ends:
                word.bold = self._is_bold(text, at[start])
            if last and between and not between.strip(" ") and _touch(last, word):
                last.append(word)
                continue
            if links:
                word.uri = next((link[4] for link in links if _inside(link, x, y)), "")
            last = word
            yield word, x, y

    def _spans(self, text: Any, written: str, at: list[int]) -> Iterator[tuple[int, int]]:
        """Yields the spans of words; the number of a footnote is a word of its own, and so is a number below
        another one, between which PDFium has no break if they are single digits."""
        for match in _WORD.finditer(written):
            start, end = match.span()
            if end - start > 1 and match.group().isdigit():
                bottoms = [box[2] for box in self._boxes(text, at[start:end])]
                breaks = [
                    place
                    for place, step in enumerate(pairwise(bottoms), start + 1)
                    if step[0] - step[1] > _SMALLEST
                ]
                if breaks and self._place(text, at[start], self._raw.FS_RECTF())[0] == 0:
                    yield from pairwise([start, *breaks])
                    start = breaks[-1]
            if leading := _RAISED.match(match.group()):
                border = start + leading.end()
                number, letter = self._boxes(text, at[border - 1 : border + 1])
                height = letter[3] - letter[2]
                if number[2] > letter[2] + 0.1 * height and number[3] - number[2] < 0.9 * height:
                    yield start, border
                    start = border
            yield start, end

    def _place(self, text: Any, index: int, box: Any) -> tuple[int, float, float, float]:
        """Returns the direction, size and origin of a letter."""
        matrix, x, y = self._raw.FS_MATRIX(), ctypes.c_double(), ctypes.c_double()
        self._raw.FPDFText_GetMatrix(text, index, matrix)
        self._raw.FPDFText_GetCharOrigin(text, index, x, y)
        turn = math.atan2(matrix.b, matrix.a) if math.isfinite(matrix.a + matrix.b) else 0
        direction = round(turn / (math.pi / 2)) % 4
        height = box.right - box.left if direction % 2 else box.top - box.bottom
        size = self._raw.FPDFText_GetFontSize(text, index) * math.hypot(matrix.c, matrix.d)
        if not 0.4 * height <= size <= 2.5 * height:  # as of a Type 3 font, which has units of its own
            size = height / 1.2
        return direction, round(size, 1), x.value, y.value

    def _composed(self, text: Any, written: str) -> str:
        """Puts the accents that TeX prints over letters into the letters, by their places."""
        letters = list(written)
        before = 0
        for line in _LINE.finditer(written):
            accents = [match.start() + line.start() for match in _ACCENT.finditer(line.group())]
            if not accents:
                before = line.start()
                continue
            # PDFium moves them to the end of the line or the start of the next.
            first = before if accents[0] == line.start() else line.start()
            near = range(max(first, line.end() - _REACH), line.end())
            before = line.start()
            boxes = dict(zip(near, self._boxes(text, near), strict=True))
            for at in filter(boxes.__contains__, accents):
                left, right, bottom, top = boxes[at]
                middle = (left + right) / 2
                over = [
                    (abs(box[0] + box[1] - 2 * middle), other)
                    for other, box in boxes.items()
                    if box[0] < middle < box[1]
                    and bottom < box[3]
                    and box[2] < top
                    and letters[other].isalpha()
                ]
                base = min((pair for pair in over if pair[1] != at), default=(0, at))[1]
                pair = letters[base].translate(_DOTLESS) + _ACCENTS[letters[at]]
                letter = unicodedata.normalize("NFC", pair)
                if len(letter) == 1:
                    letters[base], letters[at] = letter, " "
        return "".join(letters)

    def _boxes(self, text: Any, indices: Iterable[int]) -> list[tuple[float, float, float, float]]:
        box, boxes = self._raw.FS_RECTF(), []
        for index in indices:
            self._raw.FPDFText_GetLooseCharBox(text, index, box)
            boxes.append((box.left, box.right, box.bottom, box.top))
        return boxes

    def _logical(self, text: Any, written: str) -> tuple[str, list[int]]:
        """Returns the text with right-to-left lines in logical order, and the index of each character."""
        if not RTL_LETTER.search(written):
            return written, list(range(len(written)))
        shown, at, is_rtl_page = "", [], is_rtl(written)
        for match in _LINE_OR_END.finditer(written):
            line, order = match.group(), range(*match.span())
            if RTL_LETTER.search(line) and self._place(text, order[0], self._raw.FS_RECTF())[0] == 0:
                line, places = logical_line(self._letters(text, line, order), is_rtl_page)
                at += [order[place] for place in places]
            else:
                at += order
            shown += line
        return shown, at

    def _letters(self, text: Any, line: str, indices: range) -> list[Letter]:
        letters, word = [], 0
        boxes = self._boxes(text, indices)
        height = max(top - bottom for _, _, bottom, top in boxes) or 1
        x, y = ctypes.c_double(), ctypes.c_double()
        for index, character, (_, right, _, _) in zip(indices, line, boxes, strict=True):
            self._raw.FPDFText_GetCharOrigin(text, index, x, y)
            word += character.isspace()
            letters.append(Letter(character, x.value / height, right / height, word))
        return letters

    def _text(self, text: Any, count: int) -> str:
        """Returns a character for each index of PDFium; halves of surrogate pairs have one each."""
        buffer = (ctypes.c_ushort * (count + 1))()
        self._raw.FPDFText_GetText(text, 0, count, buffer)
        if 0 in buffer[:count]:  # it leaves out characters, so that the others move
            codes = (self._raw.FPDFText_GetUnicode(text, index) for index in range(count))
            return "".join(chr(code) if code < 0x110000 else "\ufffd" for code in codes)
        return "".join(map(chr, buffer[:count]))

    def _is_bold(self, text: Any, index: int) -> bool:
        name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
        self._raw.FPDFText_GetFontInfo(text, index, name, len(name), flags)
        return bool(_BOLD.search(name.value) or flags.value & _FORCE_BOLD)

    def _links(self, page: Any) -> list[_Link]:
        raw = self._raw
        found: list[_Link] = []
        position, link = ctypes.c_int(), raw.FPDF_LINK()
        while len(found) < _MAX_ANNOTATIONS and raw.FPDFLink_Enumerate(page, position, link):
            action = raw.FPDFLink_GetAction(link)
            if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
                continue
            size = min(raw.FPDFAction_GetURIPath(self._pdf, action, None, 0), _MAX_STRING)
            buffer = ctypes.create_string_buffer(size + 1)
            raw.FPDFAction_GetURIPath(self._pdf, action, buffer, size)
            uri = buffer.value.decode("utf-8", "replace").strip()
            quads, rect = raw.FS_QUADPOINTSF(), raw.FS_RECTF()
            count = raw.FPDFLink_CountQuadPoints(link)
            for index in range(count):
                if raw.FPDFLink_GetQuadPoints(link, index, quads):
                    found.append((*_bounds(quads), uri))
            if not count and raw.FPDFLink_GetAnnotRect(link, rect):
                found.append((*_ordered(rect), uri))
        return found

    def _annotations(
        self, page: Any, places: list[tuple[Word, float, float]], words: list[Word]
    ) -> Iterator[tuple[str, str]]:
        """Yields highlights and comments, each with its label; adds the values of form fields to `words`."""
        raw = self._raw
        checks = _MAX_CHECKS // (len(places) + 1)
        for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
            with _closing(raw.FPDFPage_GetAnnot(page, index), raw.FPDFPage_CloseAnnot) as annotation:
                kind = raw.FPDFAnnot_GetSubtype(annotation) if annotation else 0
                if kind == raw.FPDF_ANNOT_WIDGET and self._form:
                    self._add_field(annotation, words)
                if kind not in (
                    *(raw.FPDF_ANNOT_HIGHLIGHT, raw.FPDF_ANNOT_UNDERLINE, raw.FPDF_ANNOT_SQUIGGLY),
                    *(raw.FPDF_ANNOT_STRIKEOUT, raw.FPDF_ANNOT_TEXT, raw.FPDF_ANNOT_FREETEXT),
                ):
                    continue
                boxes, quads = [], raw.FS_QUADPOINTSF()
                for number in range(min(raw.FPDFAnnot_CountAttachmentPoints(annotation), checks)):
                    if raw.FPDFAnnot_GetAttachmentPoints(annotation, number, quads):
                        boxes.append((*_bounds(quads), ""))
                checks -= len(boxes)
                marked = " ".join(
                    word.text for word, x, y in places if any(_inside(box, x, y) for box in boxes)
                )
                comment = " ".join(_utf16(raw.FPDFAnnot_GetStringValue, annotation, b"Contents").split())
            if marked:
                yield "Highlight", marked
            if comment and comment != marked:
                yield "Comment", comment

    def _add_field(self, annotation: Any, words: list[Word]) -> None:
        raw, rect = self._raw, self._raw.FS_RECTF()
        lines = [line for line in map(str.strip, self._field_value(annotation).splitlines()) if line]
        if not lines or not raw.FPDFAnnot_GetRect(annotation, rect):
            return
        left, bottom, right, top = _ordered(rect)
        size = max(1.0, min(12.0, (top - bottom) / len(lines)))
        for number, line in enumerate(lines):
            word = Word(line, left, right, top - size * (number + 0.8), size)
            same = [at for at, w in enumerate(words) if abs(w.y - word.y) <= size]
            left_of = [at for at in same if words[at].x1 <= left + 2]
            right_of = [at for at in same if words[at].x0 >= right - 2]
            near = max(left_of, key=lambda at: words[at].x1, default=None)
            if near is None:
                near = min(right_of, key=lambda at: words[at].x0, default=None)
            if near is not None:
                word.y = words[near].y
            words.insert(len(words) if near is None else near + bool(left_of), word)

    def _field_value(self, annotation: Any) -> str:
        """Returns the text of a form field, or the mark of a check box; "" for a password."""
        raw = self._raw
        kind = raw.FPDFAnnot_GetFormFieldType(self._form, annotation)
        if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
            state = _utf16(raw.FPDFAnnot_GetStringValue, annotation, b"AS")
            return "☐" if state in ("", "Off") else "☒"
        kinds = (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
        flags = raw.FPDFAnnot_GetFormFieldFlags(self._form, annotation)
        if kind not in kinds or flags & raw.FPDF_FORMFLAG_TEXT_PASSWORD:
            return ""
        return _utf16(raw.FPDFAnnot_GetFormFieldValue, self._form, annotation)

    def _outline(self) -> list[Entry]:
        entries: list[Entry] = []
        for mark in islice(self._pdf.get_toc(), _MAX_ENTRIES):
            dest = mark.get_dest()
            page = dest.get_index() if dest else None
            if page is not None:
                entries.append((page, mark.level + 1, mark.get_title()))
        return entries

    def _metadata(self, key: str) -> str:
        return _utf16(self._raw.FPDF_GetMetaText, self._pdf, key.encode())


def _word(
    text: str, box: tuple[float, ...], origin: tuple[float, float], direction: int, size: float
) -> Word:
    """Returns the word turned so that its text runs to the right."""
    left, bottom, right, top = box
    x, y = origin
    turned = [(left, right, y), (bottom, top, -x), (-right, -left, -y), (-top, -bottom, x)]
    x0, x1, baseline = turned[direction]
    if text[-1] in _HYPHEN:
        text = text[:-1] + "-"
    return Word(text if text.isascii() else _plain(text), x0, x1, baseline, size, direction=direction)


def _touch(first: Word, second: Word) -> bool:
    """Whether the letters on both sides of a blank touch, so that it is none. PDFium puts one where an accent
    has moved the pen; others are drawn below letters that are stretched."""
    gap = second.x0 - first.x1
    letters = first.text[-1] + second.text[0]
    return (
        letters.isalpha()
        and not letters.isascii()
        and first.direction == second.direction
        and abs(first.y - second.y) < 0.1 * second.size
        and -0.1 * second.size < gap < 0.02 * second.size
    )


def _plain(text: str) -> str:
    """Returns the text with plain letters instead of presentation forms: "fi" for its ligature."""
    # PDFium returns UTF-16 units: this joins a pair of surrogates into one character.
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = _FORMS.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
    text = _LIGATURE.sub(lambda match: _CALIBRI[ord(match.group()) & 0xFFFF], text.translate(_RADICALS))
    return unicodedata.normalize("NFC", text)


@contextmanager
def _closing(handle: Any, close: Callable[[Any], None]) -> Iterator[Any]:
    try:
        yield handle
    finally:
        if handle:
            close(handle)


def _utf16(call: Callable[..., int], *arguments: Any) -> str:
    """Returns the string that a function of PDFium writes into a buffer."""
    size = min(call(*arguments, None, 0), _MAX_STRING) // 2 * 2
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    call(*arguments, buffer, size)
    return bytes(buffer).decode("utf-16-le", "replace").partition("\0")[0]


def _ordered(rect: Any) -> tuple[float, float, float, float]:
    (left, right), (bottom, top) = sorted((rect.left, rect.right)), sorted((rect.bottom, rect.top))
    return left, bottom, right, top


def _bounds(quads: Any) -> tuple[float, float, float, float]:
    xs, ys = (quads.x1, quads.x2, quads.x3, quads.x4), (quads.y1, quads.y2, quads.y3, quads.y4)
    return min(xs), min(ys), max(xs), max(ys)


def _sides(boxes: list[tuple[float, float, float, float]]) -> tuple[float, float]:
    return min(box[0] for box in boxes), max(box[1] for box in boxes)


def _inside(box: _Link, x: float, y: float) -> bool:
    return box[0] - 1 <= x <= box[2] + 1 and box[1] - 1 <= y <= box[3] + 1


def _split(text: str, pattern: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in re.split(pattern, text))))


def _authors(text: str) -> tuple[str, ...]:
    """Splits names; a comma divides them only where each has two words, unlike in "Doe, Jane"."""
    names = _split(text, r";|\band\b|\bund\b|&|\n")
    split = tuple(part for name in names for part in _split(name, ","))
    return split if all(" " in name for name in split) else names


def _iso_date(text: str) -> str:
    match = _DATE.match(text.strip())
    try:
        year, month, day = (int(part or 1) for part in match.groups()) if match else (0, 0, 0)
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


def _pages_without_text(parts: Sequence[Part]) -> tuple[int, ...]:
    """Returns the numbers of the pages whose own text, without outline headings, is next to nothing."""
    texts = (_HEADINGS.sub("", part.text).strip() for part in parts)
    return tuple(number for number, text in enumerate(texts, start=1) if len(text) < _LEAST_CHARACTERS)
