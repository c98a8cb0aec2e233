"""The parts of a note that can be quoted: sentences of prose, a lead-in with the text after it, rows of
tables with their header, code with its explanation, and text below a heading that the question names."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile

from vault_indexer.answer.asked_kind import is_label_row
from vault_indexer.answer.check.lexicon import lexicon
from vault_indexer.answer.sentences import ITEM, WORD_CHAR, Sentence, Span, without_struck
from vault_indexer.parse import TASK, find_tasks, readable

LONGEST_LIST = 1_000
LONGEST_CODE = 1_000
"""The maximum characters of a list or of code that is quoted as a whole."""

LONGEST_REPLY = 600
"""The maximum characters of a paragraph that is quoted with the question above it."""

_COLON = (":", "：")
_QUESTION = ("?", "？", "؟")
_STEP = re.compile(r"[ \t>]*\d{1,3}[.)][ \t]")
_INDENTED = re.compile(r"(?: {2,}|\t)[ \t]*\S")
_LINE = re.compile(r"[^\n]*\n?")
_ROW = re.compile(r"[ \t>]*\|")
_FENCE = re.compile(r"[ \t>]*(?:```|~~~)")
_BREAKS = re.compile(r"[ \t>]*\n(?:[ \t>]*\n)*")
_DELIMITER_ROW = re.compile(r"(?=.*\|)[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*")
_LABEL = r"\[[^\]\n]*\]"
_LINK = rf"!?\[{_LABEL}\]|!?{_LABEL}(?:\([^)\n]*\)|{_LABEL}|:[ \t]*\S+)|<?[a-z]+:(?://)?[^\s>]+>?"
_ONLY_LINKS = re.compile(rf"(?:(?:{_LINK})[\s.,;:|·>*_-]*)+")
_ONLY_BOLD = re.compile(r"(?:\*\*|__)(?:\S+\s?){1,3}(?:\*\*|__)[.:]?|[*_]\S+[*_]")
_ONLY_CODE = re.compile(r"(?:[-*+>]|\d{1,9}[.)])?[ \t]*`[^`\n]+`[ \t.]*")
_CALLOUT = re.compile(r"[ \t]*>[ \t>]*\[![^\]\n]+\]")
_QUOTED_LINE = re.compile(r"[ \t]*>")
_BREAK = re.compile(r"<br\b", re.IGNORECASE)
_LABELLED = re.compile(r"(?P<label>\w[^:：\n]{1,39}?)[ \t]*(?:::|[:：])[ \t]*(?=\w)")
_LONGEST_VALUE = 60
_LONGEST_LABEL = 40
"""The maximum characters of a line with a label that the next line does not go on with, and of a line without
a stop that names the list below it."""

_IS_LABEL = re.compile(r"[^\W\d_]+(?:[ /’'-]+[^\W\d_]+){0,3}[.:]?")


def quotable(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Returns the quotes from the sentences of hits, in order. A lead-in is not quoted if the text that it
    introduces is missing or too long."""
    return list(_quotes(sentences))


def _quotes(sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    before: Sentence | None = None
    blocks: set[tuple[str, str, int]] = set()
    for sentence in sentences:
        if sentence.block is None:
            found = _of_code_line(sentence, before) or _of_prose(sentence)
            before = sentence if found is None or found.header is None else None
        else:
            place = (sentence.note.vault, sentence.note.row.path, sentence.block[0])
            found = None if place in blocks else _of_code(sentence, before)
            blocks.add(place)
        if found is not None:
            yield from _labelled_lines(found)


def _labelled_lines(sentence: Sentence) -> list[Sentence]:
    """Returns the lines of a quote that are a label and its value ("Serves: 4") and the text after them each
    as a quote, or else the quote itself. Obsidian shows the lines of a paragraph below each other."""
    lines, shown = sentence.quote.split("\n"), sentence.readable.split("\n")
    if len(lines) < 2 or len(lines) != len(shown) or sentence.is_composed:
        return [sentence]
    at, found = sentence.start, list[Sentence]()
    is_ended = True
    for line, text, behind in zip(lines, shown, (*shown[1:], ""), strict=True):
        start, end = at + len(line) - len(line.lstrip(" \t>")), at + len(line.rstrip())
        at += len(line) + 1
        label = _LABELLED.match(text)
        if is_ended:
            name = label["label"] if label else ""
            found.append(replace(sentence, start=start, end=end, readable=text.strip(), label=name))
        else:
            found[-1] = replace(found[-1], end=end, readable=f"{found[-1].readable}\n{text.strip()}")
        is_whole = len(text) <= _LONGEST_VALUE and not behind[:1].islower()  # else the line is wrapped
        is_ended = bool(label) and (is_whole or bool(_LABELLED.match(behind)))
    return found if len(found) > 1 else [sentence]


def _of_prose(sentence: Sentence) -> Sentence | None:
    text, source = sentence.note.text, sentence.quote.strip()
    if _ONLY_LINKS.fullmatch(source):
        return None
    line = _line_at(text, sentence.start)
    shown = sentence.readable.rstrip()
    if _CALLOUT.match(text[slice(*line)]) and sentence.end >= line[1] - 1:
        return _of_span(sentence, sentence.start, _callout_end(text, line[1]))
    if shown.endswith(_COLON):
        return _of_span(
            sentence, sentence.start, _list_end(text, sentence.end) or _reply_end(sentence, _ONLY_CODE)
        )
    if shown.endswith(_QUESTION):
        return _of_span(sentence, sentence.start, _reply_end(sentence))
    is_label = len(shown) <= _LONGEST_LABEL and WORD_CHAR.search(shown[-1:]) and not ITEM.match(text, line[0])
    if is_label and text[slice(*line)].strip() == source and (end := _list_end(text, sentence.end)):
        sentence = replace(sentence, headings=(*sentence.headings, shown), is_section=True)
        return _of_span(sentence, sentence.start, end)
    if _ONLY_BOLD.fullmatch(source):
        return None
    if "|" in text[slice(*line)]:
        return _of_row(sentence, line)
    labelled = _LABELLED.match(sentence.readable)
    found = _below_item(replace(sentence, label=labelled["label"]) if labelled else sentence, line)
    is_pointer = lexicon(sentence.note.row.language).starts_with("pointers", found.readable)
    return None if is_pointer else found


def _below_item(sentence: Sentence, line: Span) -> Sentence:
    """Returns an item of a nested list with the item that it is below, if that is short, as a row of a table
    with its header."""
    text, above = sentence.note.text, line
    item = ITEM.match(text, line[0])
    if item is None or not _INDENTED.match(text, line[0]) or sentence.is_composed:
        return sentence
    while above[0]:
        above = _line_at(text, above[0] - 1)
        parent = ITEM.match(text, above[0])
        if parent is None and text[slice(*above)].strip() and not _INDENTED.match(text, above[0]):
            return sentence
        if parent and _indentation(parent[0]) < _indentation(item[0]):
            name = readable(text[parent.end() : above[1]]).text.strip().rstrip(":：")
            if len(name) > _LONGEST_LABEL or not WORD_CHAR.search(name):
                return sentence
            return replace(sentence, readable=f"{name}: {sentence.readable}", header=above)
    return sentence


def _indentation(item: str) -> int:
    return len(item.expandtabs(4)) - len(item.expandtabs(4).lstrip(" >"))


def _of_span(sentence: Sentence, start: int, end: int) -> Sentence | None:
    """Returns the quote of all the text of a span, with one unit on each line, or None if there is no more
    than the sentence."""
    if end <= sentence.end and start == sentence.start:
        return None
    shown = _lines(sentence.note.text[start:end])
    return replace(sentence, start=start, end=end, readable=shown, block=None, is_composed=True)


def _lines(source: str, boxes: dict[int, str] | None = None) -> str:
    """Returns the text as it is read, with one unit on each line. `boxes` precede the first unit of the line
    that begins there."""
    shown, left = readable(without_struck(source)), dict(boxes or {})
    starts = (source.rfind("\n", 0, shown.source(first) + 1) + 1 for first, _ in shown.units)
    units = (shown.text[slice(*unit)] for unit in shown.units)
    return "\n".join(left.pop(start, "") + unit for start, unit in zip(starts, units, strict=True))


def shown_text(quote: Sentence) -> str:
    """Returns the text of a quote with the box of each task, which tells whether it is done."""
    text = quote.note.text
    start = _line_at(text, quote.start)[0]
    if not quote.is_composed:
        task = TASK.match(text, start)
        is_first = task is not None and task.start("box") == quote.start
        return f"{task['box']} {quote.readable}" if task and is_first else quote.readable
    source = quote.quote
    starts = [task.start for task in find_tasks(source, 0)]
    boxes = {start: f"{found['box']} " for start in starts if (found := TASK.match(source, start))}
    return _lines(source, boxes) if boxes else quote.readable


def _list_end(text: str, start: int) -> int:
    """Returns the end of the list that begins after a line, or 0 if there is none or it is too long."""
    line = _LINE.match(text, start)
    at = line.end() if line else len(text)
    end = 0
    while at < len(text) and at - start <= LONGEST_LIST:
        line = _LINE.match(text, at)
        assert line is not None
        if line[0].strip():
            if not (ITEM.match(line[0]) or (end and _INDENTED.match(line[0]))):
                return end
            end = at + len(line[0].rstrip())
        at = line.end()
    return end if at >= len(text) else 0


def whole_steps(sentence: Sentence) -> Sentence:
    """Returns the numbered list that contains a sentence, or the sentence if there is none or it is too
    long."""
    text = sentence.note.text
    first = _line_at(text, sentence.start)[0]
    if not _STEP.match(text, first) or sentence.is_composed:
        return sentence
    while first:
        before = _line_at(text, first - 1)
        if not (ITEM.match(text[slice(*before)]) or _INDENTED.match(text[slice(*before)])):
            break
        first = before[0]
    end = _list_end(text, first - 1) if first else 0
    return (end and _of_span(sentence, first, end)) or sentence


def _reply_end(sentence: Sentence, form: re.Pattern[str] | None = None) -> int:
    """Returns the end of the paragraph or list after a paragraph that ends with the sentence, or 0 if
    there is none, it is too long, or it does not have the form."""
    text = sentence.note.text
    rest = text[sentence.end : _line_at(text, sentence.end)[1]]
    breaks = _BREAKS.match(text, sentence.end + len(rest))
    if breaks is None or WORD_CHAR.search(rest) or text.startswith("#", breaks.end()):
        return 0
    if form is None and (end := _list_end(text, sentence.end)):
        return end
    line = _line_at(text, breaks.end())
    if form is not None:
        return line[1] if form.fullmatch(text[slice(*line)].strip()) else 0
    end = text.find("\n\n", breaks.end())
    end = len(text.rstrip()) if end < 0 else end
    is_prose = not (_FENCE.match(text, breaks.end()) or _ROW.match(text, breaks.end()))
    return end if is_prose and end - breaks.end() <= LONGEST_REPLY else 0


def _callout_end(text: str, title_end: int) -> int:
    """Returns the end of a callout whose title ends there, or 0 if it has no text or is too long."""
    at = title_end + 1
    while at < len(text) and _QUOTED_LINE.match(text, at):
        at = _line_at(text, at)[1] + 1
    end = min(at - 1, len(text))
    return end if title_end < end <= title_end + LONGEST_LIST else 0


def _of_code(sentence: Sentence, before: Sentence | None) -> Sentence | None:
    """Returns the code block, with the sentence directly before it if there is one."""
    assert sentence.block is not None
    start, end = sentence.block
    text = sentence.note.text
    if end - start > LONGEST_CODE:
        return None
    code = "\n".join(
        line for line in text[start:end].split("\n") if not line.lstrip(" \t>").startswith(("```", "~~~"))
    )
    whole = replace(sentence, start=start, end=end, readable=code.strip("\n"), is_composed=True)
    return _with_explanation(whole, before)


def _of_code_line(sentence: Sentence, before: Sentence | None) -> Sentence | None:
    """Returns a line that is only code with the sentence directly before it, or None."""
    text = sentence.note.text
    if before is None or not _ONLY_CODE.fullmatch(text[slice(*_line_at(text, sentence.start))].strip()):
        return None
    found = _with_explanation(sentence, before)
    return found if found.start < sentence.start else None


def _with_explanation(code: Sentence, before: Sentence | None) -> Sentence:
    text = code.note.text
    if before is None or before.note is not code.note or not before.end <= code.start:
        return code
    if WORD_CHAR.search(text, before.end, code.start) or code.start - before.end > LONGEST_CODE:
        return code
    return replace(code, start=before.start, readable=f"{before.readable}\n{code.readable}", block=None)


def _of_row(sentence: Sentence, row: Span) -> Sentence | None:
    """Returns the table row with its header, or the sentence if it is not in a table. Returns None for the
    header and for rows with multi-line cells. The first row of a table of labels and values is a row."""
    text = sentence.note.text
    header = _header(text, row)
    if header is None:
        return sentence
    names, cells = _cells(text[slice(*header)]), _cells(text[slice(*row)])
    is_of_labels = len(cells) == 2 and _is_of_labels(text, header)
    if (header == row and not (is_of_labels and cells[1])) or _BREAK.search(text, *row):
        return None
    if is_of_labels:
        return replace(sentence, start=row[0], end=row[1], readable=": ".join(cells), label=cells[0])
    names += [""] * (len(cells) - len(names))
    pairs = zip(names, cells, strict=False)
    shown = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
    label = cells[0] if len(cells) == 2 and WORD_CHAR.search(cells[1]) else ""
    return replace(sentence, start=row[0], end=row[1], readable=shown, header=header, label=label)


@lru_cache(maxsize=8)  # asked for each row in turn; each entry keeps the text of a note
def _is_of_labels(text: str, header: Span) -> bool:
    """Whether each row of a table is a label and a value, also the first, or this one is empty."""
    names, below = (
        _cells(text[slice(*header)]),
        text[header[1] + 1 : header[1] + LONGEST_LIST].split("\n")[1:],
    )
    rows = [_cells(line) for line in takewhile(lambda line: "|" in line, below)]
    if len(names) != 2 or any(len(cells) != 2 or not _IS_LABEL.fullmatch(cells[0]) for cells in rows):
        return False
    is_row = _IS_LABEL.fullmatch(names[0]) and is_label_row(names[0], names[1], (cells[1] for cells in rows))
    return bool(is_row) or not names[1]


def _header(text: str, row: Span) -> Span | None:
    """Returns the header line of a table, which is the line above the delimiter row, or None outside a table.
    A row above the delimiter row is itself the header."""
    below = _line_at(text, row[1] + 1) if row[1] < len(text) else None
    if below and _DELIMITER_ROW.fullmatch(text[slice(*below)].rstrip()):
        return row
    delimiters, others = _table_lines(text)
    number = bisect_left(delimiters, row[0])
    if not number or bisect_left(others, delimiters[number - 1]) != bisect_right(others, row[0]):
        return None
    return _line_at(text, delimiters[number - 1] - 1) if delimiters[number - 1] else None


@lru_cache(maxsize=8)  # asked for each row in turn; each entry keeps the text of a note
def _table_lines(text: str) -> tuple[list[int], list[int]]:
    """Returns the starts of the delimiter rows of a text, and of its lines without a bar."""
    delimiters, others = list[int](), list[int]()
    for line in _LINE.finditer(text):
        if "|" not in line[0]:
            others.append(line.start())
        elif _DELIMITER_ROW.fullmatch(line[0].rstrip()):
            delimiters.append(line.start())
    return delimiters, others


def _cells(row: str) -> list[str]:
    """Returns the cells of a row as they are read."""
    row = without_struck(row).strip(" \t>\r")
    row = row.removeprefix("|")
    row = row[:-1] if row.endswith("|") and not row.endswith("\\|") else row
    return [readable(cell.strip()).text.strip() for cell in re.split(r"(?<!\\)\|", row)]


def _line_at(text: str, offset: int) -> Span:
    end = text.find("\n", offset)
    return text.rfind("\n", 0, offset) + 1, len(text) if end < 0 else end


def below_heading(sentence: Sentence) -> Sentence | None:
    """Returns the list, table or code block directly below a heading, given as a sentence, with the heading's
    lead-in if there is one. It is cut at the end of a line after `LONGEST_LIST` characters. None: prose."""
    text = sentence.note.text
    at = _line_at(text, sentence.end)[1]
    breaks = _BREAKS.match(text, at)
    if breaks is None:
        return None
    start = block = breaks.end()
    if not _is_block(text, start):
        lead_in = text.find("\n", start)
        breaks = _BREAKS.match(text, lead_in) if lead_in >= 0 else None
        if breaks is None or not text[start:lead_in].rstrip().endswith(_COLON):
            return None
        block = breaks.end()
        if not _is_block(text, block):
            return None
    if _FENCE.match(text, block):
        close = _FENCE.search(text, text.find("\n", block))
        end = text.find("\n", close.end()) if close else -1
        end = len(text) if end < 0 else end
        if end - start > LONGEST_LIST:
            return None
        lead = [_lines(text[start:block])] if start < block else []
        code = "\n".join([*lead, text[slice(*_inner(text, block, end))].strip("\n")])
        return replace(sentence, start=start, end=end, readable=code, is_composed=True)
    end = _block_end(text, start)
    lines = _lines(text[start:end])
    return replace(sentence, start=start, end=end, readable=lines, is_composed=True) if lines else None


def _inner(text: str, start: int, end: int) -> Span:
    return text.find("\n", start) + 1, max(text.rfind("\n", start, end), start)


def _is_block(text: str, at: int) -> bool:
    return bool(ITEM.match(text, at) or _ROW.match(text, at) or _FENCE.match(text, at))


def _block_end(text: str, start: int) -> int:
    """Returns the end of the list or table at `start`, or of its last line within `LONGEST_LIST`."""
    at = end = start
    is_list = bool(ITEM.match(text, start)) or not _ROW.match(text, start)
    while at < len(text):
        line = _line_at(text, at)
        source = text[slice(*line)]
        if line[1] - start > LONGEST_LIST and end > start:
            break
        if source.strip(" \t>\r"):
            is_part = ITEM.match(source) or _INDENTED.match(source) if is_list else _ROW.match(source)
            if not is_part and at > start:
                break
            end = line[0] + len(source.rstrip())
        elif not is_list:
            break
        at = line[1] + 1
    return end
