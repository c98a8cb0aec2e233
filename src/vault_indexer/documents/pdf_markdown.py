"""Makes Markdown of the lines of a PDF: paragraphs, headings, lists and tables. Knows no library."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median

from vault_indexer.documents.blocks import Inline, MarkdownWriter
from vault_indexer.documents.markdown import Part, one_line
from vault_indexer.documents.pdf_bidi import is_rtl
from vault_indexer.documents.pdf_layout import CJK_BORDER, Line, Run

Entry = tuple[int, int, str]
"""Of the outline: index of the page, level from 1, title."""

MAX_LEVEL = 6
_SIZE_LEVELS = 4
_LARGER = 1.15
"""Of the size of the body: what is smaller than that may be emphasis."""

_EDGE_ROWS = 3
"""Rows at the top and the bottom of a page that may be its header or footer."""

_MARGIN = 0.2
"""Of the height of a page, at its top and its bottom."""

_PAGE = "\0"
"""Begins what repeats of a line if a number in it counts the pages."""

_DIGITS = re.compile(r"\d")
_PAGE_NUMBER = re.compile(r"(?<![\d.,])\d{1,4}(?!\d|[.,]\d)")
_LABEL = re.compile(
    r"(?!(?:pages?|pg|p|seite|blatt|sheet|slide|folie|p[áa]gina|p[áa]g|strana|str|sida|стр|страница)\b)"
    r"(?:[^\W\d]+\W+){1,2}\d+",
    re.IGNORECASE,
)
"""Says at the top of a page what is on it, although its number may count the pages: "Day 3"."""

_ROMAN = re.compile(r"[ivxlc]{1,7}", re.IGNORECASE)
_WORD = re.compile(r"\w+(?:-\w+)*")
_TERMINAL = re.compile(r"[.!?:;…。！？：；؟۔][\"'”’»）)\]」』]*(?:\[[\d, –-]+\])?$")
_BULLET = re.compile(r"\s*[•◦▪▫‣⁃●○■□◆◇➢➤►▶✓✔❖\uf0a7\uf0b7\uf0d8\uf076\uf0fc\uf02d](?:\s+|(?=\S))")
_DASH = re.compile(r"([-–—*·])\s+(?=\S)")
_NUMBER = re.compile(r"(\d{1,3})[.)]\s+(?=\S)")
_NOTE = re.compile(r"(?:\[?\d{1,3}\b|[*†‡§¶])")
_LEADERS = re.compile(r"(?:\s?[.·…]){4,}\s*")
_HYPHENATED = re.compile(r"(\w(?:[\w-]*\w)?)[-\u2010]$")
_CELL_BREAK = re.compile(r"(\w(?:[\w-]*\w)?)[-\u2010]\n(?=(\w+))|\n")
_CONJUNCTIONS = {"and", "or", "und", "oder", "bis", "et", "ou", "y", "o", "e", "en", "of", "to"}
"""After a hyphen these begin another word: "pre- and postwar"."""

_CHAPTER = re.compile(
    r"(?:chapter|kapitel|chapitre|cap[ií]tulo|capitolo|appendix|anhang|part|teil)?(?:\d{1,5}|[a-z]?\d{0,3}|[ivxlc]+)"
)
"""The number of a chapter, without blanks; it may be missing."""


@dataclass(slots=True)
class Page:
    """Lines in reading order, highlights and comments, each with its label, and where the page begins and
    ends in the direction of its lines."""

    lines: list[Line]
    quotes: list[tuple[str, str]] = field(default_factory=list)
    bottom: float = 0
    top: float = 0


@dataclass(slots=True)
class _Block:
    kind: str  # text, heading, item, table
    lines: list[Line]
    level: int = 0
    mark: str = ""
    number: int = 0


def to_parts(pages: list[Page], outline: Iterable[Entry]) -> tuple[Part, ...]:
    """Returns a part per page. The lines of `pages` are changed."""
    entries = list(outline)
    found = _mark_outline(pages, entries)
    _drop_repeated(pages)
    lines = [line for page in pages for line in page.lines]
    body = _body_size(lines)
    blocks = [_blocks(page.lines) for page in pages]
    if found * 2 < len(entries) or not found:
        _mark_headings(blocks, body, lines)
    hyphens = _Hyphens(lines)
    for line in lines:
        line.runs = [(hyphens.join(text), uri) for text, uri in line.runs]
        line.cells = [(start, end, hyphens.join(text)) for start, end, text in line.cells]
    for page in blocks:
        _move_notes(page, body)
    return tuple(_parts(pages, blocks, hyphens))


def _mark_outline(pages: list[Page], entries: list[Entry]) -> int:
    """Marks the lines that are titles of the outline; returns how many entries have such a line."""
    found = 0
    letters: dict[int, list[str]] = {}
    for index, level, title in entries:
        wanted = _letters(title)
        if len(wanted) < 2 or not 0 <= index < len(pages):
            continue
        lines = pages[index].lines
        if index not in letters:
            letters[index] = [_letters(line.text) for line in lines]
        texts = letters[index]
        near = [at for at, text in enumerate(texts) if text and (text in wanted or wanted in text)]
        lengths = [(_title_length(texts[at : at + 3], wanted), -lines[at].size, at) for at in near]
        length, _, at = min((item for item in lengths if item[0]), default=(0, 0, 0))
        if length and not any(line.heading for line in lines[at : at + length]):
            for line in lines[at : at + length]:
                line.heading, line.level = -1, min(level, MAX_LEVEL)
            lines[at].heading = 1
            found += 1
    return found


def _title_length(texts: list[str], wanted: str) -> int:
    """Returns how many of the lines are the title; a number before it may be missing on either side."""
    text = ""
    for count, part in enumerate(texts, 1):
        text += part
        for longer, shorter in ((text, wanted), (wanted, text)):
            if len(shorter) >= 2 and longer.endswith(shorter) and _CHAPTER.fullmatch(longer[: -len(shorter)]):
                return count
        if len(text) > len(wanted) + 12:
            return 0
    return 0


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _drop_repeated(pages: list[Page]) -> None:
    """Removes page numbers, and headers and footers after their first page: the text that the same rows of
    most pages share. In a row that most pages have, the text may change with the chapter. Numbers must be
    equal on all these pages, or one must count the pages: others are amounts, dates, weeks."""
    if len(pages) < 3:
        return
    body = _body_size(line for page in pages for line in page.lines)
    found = [list(_edge_lines(page, index, body)) for index, page in enumerate(pages)]
    counts = Counter(
        pair for edges in found for pair in {(row, key) for _, row, keys in edges for key in keys}
    )
    rows = Counter(row for edges in found for row in {row for _, row, _ in edges})
    most = max(3, sum(bool(page.lines) for page in pages) / 2)
    known: set[str] = set()  # the first page keeps the words: they may be the address of an invoice
    for page, edges in zip(pages, found, strict=True):
        dropped = set()
        for line, row, keys in edges:
            if any(
                counts[row, key] >= (most if rows[row] < most else 3 if _DIGITS.search(key) else 2)
                for key in keys
            ):
                if keys[0].startswith(_PAGE) or not known.isdisjoint(keys):
                    dropped.add(id(line))
                known.update(keys)
        page.lines = [line for line in page.lines if id(line) not in dropped]


def _edge_lines(page: Page, index: int, body: float) -> Iterator[tuple[Line, int, list[str]]]:
    """Yields the lines that may be headers or footers, each with its row and with the texts that may repeat
    there: its text, and its text with the difference of one number and the page's instead of that number."""
    heights = sorted({round(line.y) for line in page.lines})
    edges = {*heights[:_EDGE_ROWS], *heights[-_EDGE_ROWS:]}
    margin = _MARGIN * (page.top - page.bottom)
    for line in page.lines:
        if min(line.y - page.bottom, page.top - line.y) > margin or round(line.y) not in edges:
            continue
        if line.heading or line.size >= _LARGER * body:
            continue
        text = line.text.strip()
        if _ROMAN.fullmatch(text):
            keys = [f"{_PAGE}{_roman_number(text) - index}"]
        else:
            is_label = page.top - line.y <= margin and _LABEL.fullmatch(text)
            numbers = () if is_label else _PAGE_NUMBER.finditer(text)
            keys = [
                _PAGE.join(["", str(int(n[0]) - index), text[: n.start()], text[n.end() :]]) for n in numbers
            ]
            if any(map(str.isalpha, text)):
                keys.insert(0, text)
        # In steps of three points: a header is not at exactly the same height on every page.
        yield line, round(line.y / 3), keys


def _roman_number(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}[letter] for letter in text.lower()]
    return sum(-value if value < after else value for value, after in pairwise([*values, 0]))


def _body_size(lines: Iterable[Line]) -> float:
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    return max(sizes, key=lambda size: sizes[size], default=0)


def _blocks(lines: list[Line]) -> list[_Block]:
    pitch = _pitch(lines)
    dashes = Counter(
        (match.group(1), round(line.start)) for line in lines if (match := _DASH.match(line.text))
    )
    blocks: list[_Block] = []
    at = 0
    while at < len(lines):
        rows = _table_rows(lines, at)
        if rows:
            blocks.append(_Block("table", lines[at : at + rows]))
            at += rows
            continue
        line = lines[at]
        block = _begin(line, dashes)
        following = next(iter(lines[at + 1 : at + 2]), None)
        if blocks and not _starts_block(blocks[-1], block, following, pitch):
            blocks[-1].lines.append(line)
        else:
            blocks.append(block)
        at += 1
    _check_numbers(blocks)
    return blocks


def _pitch(lines: list[Line]) -> float:
    """Returns the usual distance of lines in sizes of their letters."""
    steps = [(a.y - b.y) / a.size for a, b in pairwise(lines) if a.column == b.column and a.size == b.size]
    usual = median([step for step in steps if 0.8 < step < 2.5] or [1.2])
    return usual if len(steps) > 4 else min(usual, 1.5)


def _begin(line: Line, dashes: Counter[tuple[str, int]]) -> _Block:
    if line.heading:
        return _Block("heading", [line], level=line.level)
    dash = _DASH.match(line.text)
    if match := _BULLET.match(line.text):
        return _Block("item", [line], mark=match.group())
    if dash and dashes[dash.group(1), round(line.start)] > 1:
        return _Block("item", [line], mark=dash.group())
    if match := _NUMBER.match(line.text):
        return _Block("item", [line], mark=match.group(), number=int(match.group(1)))
    return _Block("text", [line])


def _starts_block(before: _Block, block: _Block, following: Line | None, pitch: float) -> bool:
    last, line = before.lines[-1], block.lines[0]
    if line.heading or last.heading:
        return line.heading != -1
    if before.kind == "table" or (block.kind == "item" and not block.number):
        return True
    has_room, ends = _has_room(before.lines, line), bool(_TERMINAL.search(last.text))
    if block.number and (before.kind == "item" or has_room or ends):
        return True
    if line.column != last.column or line.y >= last.y:
        return not _flows(before, line)
    if abs(line.size - last.size) > 0.12 * line.size or line.bold != last.bold:
        return True
    if last.y - line.y > 1.3 * pitch * max(line.size, last.size):
        return True
    return _is_indented(before, line, following) or (has_room and ends)


def _is_indented(before: _Block, line: Line, following: Line | None) -> bool:
    """Whether the line begins a paragraph by its indentation, or by the end of a hanging one."""
    last, em = before.lines[-1], line.size
    ends = bool(_TERMINAL.search(last.text))
    if before.kind == "item" and line.start <= before.lines[0].start + 0.3 * em:
        return ends or _has_room(before.lines, line)
    if line.start < last.start - 0.8 * em:
        return len(before.lines) > 1 or _has_room(before.lines, line)
    if line.start <= last.start + 0.8 * em or (before.kind == "item" and len(before.lines) == 1):
        return False
    if following is None or following.column != line.column:
        return ends
    return following.start < line.start - 0.5 * em or (len(before.lines) > 1 and ends)


def _has_room(before: list[Line], line: Line) -> bool:
    """Whether the first word of the line had room at the end of the line before: then the break is meant."""
    last = before[-1]
    edges = [other.end for other in (*before[-2:-1], line) if other.column == last.column]
    if len(last.text) > 25 and any(abs(last.end - edge) < 0.3 * last.size for edge in edges):
        return False
    first = line.text.split(" ", 1)[0]
    width = (line.end - line.start) * len(first) / max(1, len(line.text))
    if CJK_BORDER.fullmatch(f"{first[:1]}\0{first[-1:]}"):
        width = 2 * line.size
    return last.end + width + 0.3 * last.size < last.far


def _flows(before: _Block, line: Line) -> bool:
    """Whether a paragraph goes on at the top of another column or page."""
    last = before.lines[-1]
    if before.kind not in ("text", "item") or line.heading or abs(line.size - last.size) > 0.1 * line.size:
        return False
    if last.bold != line.bold or _TERMINAL.search(last.text) or _BULLET.match(line.text):
        return False
    if next(filter(str.isalnum, line.text), "").islower():
        return True
    full = last.end >= last.far - 1.5 * last.size and len(before.lines) > 1 and not (line.cells or last.cells)
    return full and line.start <= line.near + 0.8 * line.size and not _NUMBER.match(line.text)


def _check_numbers(blocks: list[_Block]) -> None:
    """Turns numbered blocks into text if no other number follows or precedes: they are not a list."""
    numbers = [block.number for block in blocks]
    for at, block in enumerate(blocks):
        is_followed = block.number + 1 in numbers[at + 1 : at + 2]
        if block.number and not is_followed and block.number - 1 not in numbers[max(0, at - 1) : at]:
            block.kind, block.mark = "text", ""


def _table_rows(lines: list[Line], at: int) -> int:
    """Returns how many lines from here on are the rows of a table; 0 if it is not clear that they are one."""
    end = at
    while end < len(lines) and len(lines[end].cells) > 1 and lines[end].column == lines[at].column:
        if _BULLET.match(lines[end].text):
            break
        end += 1
    rows = lines[at:end]
    if len(rows) < 3 or any(line.heading for line in rows):
        return 0
    columns = _table_columns(rows)
    cells = [cell for row in rows for cell in row.cells]
    clear = (
        2 <= len(columns) <= 20
        and len(rows[0].cells) >= len(columns) - 1
        and len(cells) >= 0.6 * len(columns) * len(rows)
        and all(len(_filled(row, columns)) == len(row.cells) for row in rows)
        and sum(len(cell[2]) for cell in cells) <= 40 * sum(1 + cell[2].count("\n") for cell in cells)
        and not any(_LEADERS.search(row.text) for row in rows)
        and len({row.text for row in rows}) > 1
    )
    return len(rows) if clear else 0


def _table_columns(rows: list[Line]) -> list[tuple[float, float]]:
    columns: list[tuple[float, float]] = []
    for start, end, _ in sorted(cell for row in rows for cell in row.cells):
        if columns and start <= columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], end))
        else:
            columns.append((start, end))
    return columns


def _filled(row: Line, columns: list[tuple[float, float]]) -> dict[int, str]:
    return {
        number: text
        for start, end, text in row.cells
        for number, column in enumerate(columns)
        if column[0] <= start and end <= column[1]
    }


def _mark_headings(pages: list[list[_Block]], body: float, lines: list[Line]) -> None:
    """Marks headings by their size, else by their weight, if these differ clearly from the body."""
    total = sum(len(line.text) for line in lines) or 1
    large = [block for page in pages for block in page if _is_title(block, _LARGER * body)]
    if sum(len(line.text) for block in large for line in block.lines) > 0.3 * total:
        return
    sizes = sorted({round(block.lines[0].size) for block in large}, reverse=True)
    for block in large:
        block.kind, block.level = "heading", min(sizes.index(round(block.lines[0].size)) + 1, _SIZE_LEVELS)
    if sum(len(line.text) for line in lines if line.bold) > 0.3 * total:
        return
    level = min(len(sizes), _SIZE_LEVELS) + 1
    for block, following in (pair for page in pages for pair in pairwise(page)):
        line = block.lines[0]
        alone = line.bold and len(block.lines) == 1 and following.kind != "heading"
        begins = line.text.lstrip("(§.0123456789 ")[:1].isupper()
        if alone and begins and not following.lines[0].bold and _is_title(block, 0.95 * body):
            block.kind, block.level = "heading", level


def _is_title(block: _Block, size: float) -> bool:
    text = " ".join(line.text for line in block.lines).strip()
    return (
        (block.kind == "text" or (block.kind == "item" and block.number > 0 and len(block.lines) == 1))
        and min(line.size for line in block.lines) >= size
        and len(block.lines) <= 3
        and len(text) <= 150
        and not any(line.cells for line in block.lines)
        and text[-1:] not in ".,;:"
        and sum(map(str.isalpha, text)) >= max(2, len(text) / 3)
    )


def _move_notes(blocks: list[_Block], body: float) -> None:
    """Moves footnotes from the end of their column to the end of the page."""
    notes: list[_Block] = []
    for column in {block.lines[0].column for block in blocks}:
        tail: list[_Block] = []
        for block in reversed([block for block in blocks if block.lines[0].column == column]):
            if block.lines[0].size > 0.92 * body or block.kind == "heading":
                break
            tail.append(block)
        while tail and not _NOTE.match(tail[-1].lines[0].text):
            tail.pop()
        notes += tail[::-1]
    moved = set(map(id, notes))
    rest = [block for block in blocks if id(block) not in moved]
    blocks[:] = _rejoined(rest) + notes if rest else blocks


def _rejoined(blocks: list[_Block]) -> list[_Block]:
    """Joins paragraphs that another block divided."""
    joined: list[_Block] = []
    for block in blocks:
        line = block.lines[0]
        may_follow = joined and block.kind == "text" and joined[-1].lines[-1].column != line.column
        if may_follow and _flows(joined[-1], line):
            joined[-1].lines += block.lines
        else:
            joined.append(block)
    return joined


class _Hyphens:
    """Decides about hyphens at line ends by the words that the document has elsewhere."""

    def __init__(self, lines: list[Line]) -> None:
        self._words: set[str] = set()
        texts = [text for line in lines for text in line.text.splitlines()]
        if not any(text.endswith("-") for text in texts):
            return
        broken = False
        for text in texts:
            words = _WORD.findall(text.casefold())
            ends = text.endswith("-")
            self._words.update(words[broken : len(words) - ends])
            broken = ends

    def join(self, text: str) -> str:
        """Returns the text of a cell with its lines as one."""
        return _CELL_BREAK.sub(
            lambda end: f"{end[1]}{'-' * self.is_kept(end[1], end[2])}" if end[1] else " ", text
        )

    def is_kept(self, first: str, second: str) -> bool:
        """Whether the hyphen between two parts belongs to the word."""
        if not second[:1].islower() or not first[-1:].isalpha():
            return True
        first, second = first.casefold(), second.casefold()
        if first + second in self._words:
            return False
        return "-" in first or f"{first}-{second}" in self._words or {first, second} <= self._words


def _parts(pages: list[Page], blocks: list[list[_Block]], hyphens: _Hyphens) -> Iterator[Part]:
    continues = False
    for index, page in enumerate(pages):
        following = blocks[index + 1] if index + 1 < len(pages) else []
        # Whether the last paragraph of the page goes on at the top of the next.
        goes_on = (
            bool(blocks[index] and following)
            and following[0].kind == "text"
            and _flows(blocks[index][-1], following[0].lines[0])
            and not page.quotes
        )
        if goes_on:
            _move_end_of_word(blocks[index][-1], following[0])
        writer = MarkdownWriter()
        _write(writer, blocks[index], hyphens)
        for label, text in page.quotes:
            writer.quote(Inline(one_line(text)), label)
        yield Part(writer.text(), continues)
        continues = goes_on


def _move_end_of_word(block: _Block, following: _Block) -> None:
    """Gives the rest of a word that is hyphenated over the border to the page that the word begins on."""
    line, first = block.lines[-1], following.lines[0]
    (text, uri), *others = first.runs
    rest, _, remaining = text.partition(" ")
    if line.text.endswith(("-", "\u00ad")) and len(remaining) > 1:
        first.runs = [(remaining, uri), *others]
        block.lines.append(replace(first, runs=[(rest, uri)], text=rest))


def _write(writer: MarkdownWriter, blocks: list[_Block], hyphens: _Hyphens) -> None:
    starts: list[float] = []  # of the items around this
    column = -1
    for block in blocks:
        line = block.lines[0]
        if block.kind != "item" or line.column != column:
            starts, column = [], line.column
        if block.kind == "table":
            columns = _table_columns(block.lines)
            rows = [_filled(line, columns) for line in block.lines]
            step = -1 if is_rtl(" ".join(line.text for line in block.lines)) else 1
            order = range(len(columns))[::step]
            writer.table([[Inline(row.get(number, "")) for number in order] for row in rows])
            continue
        text = Inline()
        for part, address in _joined_runs(block, hyphens):
            text.add(_LEADERS.sub(" … ", part), address)
        if block.kind == "heading":
            writer.heading(block.level, text)
        elif block.kind == "text":
            writer.paragraph(text)
        elif block.number:
            writer.markdown_block(f"{block.number}. {text.line()}")
        else:
            while starts and line.start < starts[-1] - 2:
                starts.pop()
            if not starts or line.start > starts[-1] + 2:
                starts.append(line.start)
            writer.item(len(starts) - 1, text)


def _joined_runs(block: _Block, hyphens: _Hyphens) -> list[Run]:
    """Returns the text of the lines of a block, in which only intended line breaks remain."""
    first = block.lines[0]
    text, uri = first.runs[0]
    runs = [(text[len(block.mark) :], uri), *first.runs[1:]]
    for at, (last, line) in enumerate(pairwise(block.lines)):
        text, uri = runs[-1]
        following = line.runs[0][0]
        hyphenated = _HYPHENATED.search(text) if text.endswith(("-", "\u2010")) else None
        word = _WORD.match(following)
        between = " "
        if text.endswith("\u00ad"):
            text, between = text[:-1], ""
        elif hyphenated and word and word.group() not in _CONJUNCTIONS:
            between = ""
            if not hyphens.is_kept(hyphenated.group(1), word.group()):
                text = text[:-1]
        elif CJK_BORDER.fullmatch(f"{text[-1:]}\0{following[:1]}"):
            between = ""
        elif block.kind == "text" and _has_room(block.lines[: at + 1], line) and line.column == last.column:
            between = "\n"
        if uri == line.runs[0][1]:
            runs[-1:] = [(text + between + following, uri), *line.runs[1:]]
        else:
            runs[-1:] = [(text, uri), (between, ""), *line.runs]
    return runs
