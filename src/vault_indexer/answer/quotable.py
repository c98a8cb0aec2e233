"""What of a note can be quoted: sentences of prose, lists with what introduces them, rows of tables with
their header, and code with the sentence before it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from vault_indexer.answer.sentences import Sentence, Span
from vault_indexer.parse import readable

LONGEST_LIST = 1_000
LONGEST_CODE = 1_000
"""Characters of a list or of code that is quoted as a whole."""

_LEAD_IN = (":", "：")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_INDENTED = re.compile(r"(?: {2,}|\t)[ \t]*\S")
_LINE = re.compile(r"[^\n]*\n?")
_DELIMITER_ROW = re.compile(r"(?=.*\|)[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*")
_LINK = r"!?\[\[[^\]\n]*\]\]|!?\[[^\]\n]*\]\([^)\n]*\)|<?[a-z]+://\S+"
_ONLY_LINKS = re.compile(rf"(?:(?:{_LINK})[\s.,;:|·>*_-]*)+")
_ONLY_BOLD = re.compile(r"(?:\*\*|__)(?:\S+\s?){1,3}(?:\*\*|__)[.:]?|[*_]\S+[*_]")
_BREAK = re.compile(r"<br\b", re.IGNORECASE)
_WORD = re.compile(r"\w")


def quotable(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The quotes that sentences of hits make, in their order. What introduces a list or code that is too long
    to be quoted, or nothing at all, makes none."""
    return list(_quotes(sentences))


def _quotes(sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    before: Sentence | None = None
    blocks: set[tuple[str, str, int]] = set()
    for sentence in sentences:
        if sentence.block is None:
            found = _of_prose(sentence)
            before = sentence if found is None or found.header is None else None
        else:
            place = (sentence.note.vault, sentence.note.row.path, sentence.block[0])
            found = None if place in blocks else _of_code(sentence, before)
            blocks.add(place)
        if found is not None:
            yield found


def _of_prose(sentence: Sentence) -> Sentence | None:
    source = sentence.quote.strip()
    if _ONLY_LINKS.fullmatch(source) or _ONLY_BOLD.fullmatch(source):
        return None
    if sentence.readable.rstrip().endswith(_LEAD_IN):
        end = _list_end(sentence.note.text, sentence.end)
        return _of_span(sentence, sentence.start, end) if end else None
    row = _line_at(sentence.note.text, sentence.start)
    return _of_row(sentence, row) if "|" in sentence.note.text[slice(*row)] else sentence


def _of_span(sentence: Sentence, start: int, end: int) -> Sentence:
    """The quote that is all the text of a span, a unit a line."""
    shown = readable(sentence.note.text[start:end])
    lines = "\n".join(shown.text[slice(*unit)] for unit in shown.units)
    return replace(sentence, start=start, end=end, readable=lines, block=None)


def _list_end(text: str, start: int) -> int:
    """Where the list ends that begins behind a line; 0 if there is none, or if it is too long."""
    line = _LINE.match(text, start)
    at = line.end() if line else len(text)
    end = 0
    while at < len(text) and at - start <= LONGEST_LIST:
        line = _LINE.match(text, at)
        assert line is not None
        if line[0].strip():
            if not (_ITEM.match(line[0]) or (end and _INDENTED.match(line[0]))):
                return end
            end = at + len(line[0].rstrip())
        at = line.end()
    return end if at >= len(text) else 0


def _of_code(sentence: Sentence, before: Sentence | None) -> Sentence | None:
    """The block of code, with the sentence right before it where there is one."""
    assert sentence.block is not None
    start, end = sentence.block
    text = sentence.note.text
    if end - start > LONGEST_CODE:
        return None
    code = "\n".join(
        line for line in text[start:end].split("\n") if not line.lstrip().startswith(("```", "~~~"))
    )
    quote = replace(sentence, start=start, end=end, readable=code.strip("\n"))
    if before is None or before.note is not sentence.note or not before.end <= start:
        return quote
    if _WORD.search(text, before.end, start) or start - before.end > LONGEST_CODE:
        return quote
    return replace(quote, start=before.start, readable=f"{before.readable}\n{quote.readable}", block=None)


def _of_row(sentence: Sentence, row: Span) -> Sentence | None:
    """The row of a table with its header; the sentence where it stands in no table; None for the header and
    for rows of cells of several lines."""
    text = sentence.note.text
    header = _header(text, row)
    if header is None:
        return sentence
    if header == row or _BREAK.search(text, *row):
        return None
    shown = f"{_cells(text[slice(*header)])}\n{_cells(text[slice(*row)])}"
    return replace(sentence, start=row[0], end=row[1], readable=shown, header=header)


def _header(text: str, row: Span) -> Span | None:
    """The line of a table's header: the one above the delimiters. A row that stands above these is it."""
    below = _line_at(text, row[1] + 1) if row[1] < len(text) else None
    if below and _DELIMITER_ROW.fullmatch(text[slice(*below)].rstrip()):
        return row
    line = row
    while line[0] and "|" in text[slice(*line)]:
        line = _line_at(text, line[0] - 1)
        if _DELIMITER_ROW.fullmatch(text[slice(*line)].rstrip()):
            return _line_at(text, line[0] - 1) if line[0] else None
    return None


def _cells(row: str) -> str:
    shown = (readable(cell.strip()).text.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|")))
    return " | ".join(shown)


def _line_at(text: str, offset: int) -> Span:
    end = text.find("\n", offset)
    return text.rfind("\n", 0, offset) + 1, len(text) if end < 0 else end
