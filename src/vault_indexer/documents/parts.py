"""The parts of the extracted text of a document: pages, slides, sheets or chapters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vault_indexer.documents.markdown import PART_END
from vault_indexer.model import JsonValue, document_kind_of

_RANGE = re.compile(r"\s*(\d{1,6})\s*(?:[-–]\s*(\d{1,6})\s*)?")


def part_at(path: str, text: str, position: int) -> str:
    """Return the part of a document at a position of its text, such as "page 3"; "" if it has no parts."""
    name = part_name(path)
    return f"{name} {text.count(PART_END, 0, position) + 1}" if name else ""


def part_name(path: str) -> str:
    """Return what the parts of a document of this name are called; "" if it has none."""
    kind = document_kind_of(path)
    return kind.part if kind else ""


def part_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each part of an extracted text, in order, without the form feeds."""
    start = 0
    while (end := text.find(PART_END, start)) >= 0:
        yield start, end
        start = end + 1
    yield start, len(text)


def span_of_parts(text: str, parts: str) -> tuple[int, int]:
    """Return the span of the parts "3" or "3-5" of a text. Raises ValueError with what is allowed."""
    spans = list(part_spans(text))
    match = _RANGE.fullmatch(parts)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last <= len(spans):
        raise ValueError(f"allowed are numbers such as 3 or 3-5, from 1 to {len(spans)}")
    return spans[first - 1][0], spans[last - 1][1]


def with_part_names(
    blocks: Sequence[dict[str, JsonValue]], path: str, text: str
) -> tuple[dict[str, JsonValue], ...]:
    """Return the blocks of a reading view of a document with the number and the name of a part before its
    first block, and with a rule in place of each block that is only a form feed."""
    name, lines = part_name(path), text.split("\n")
    shown: list[dict[str, JsonValue]] = []
    for block in blocks if name else ():
        line = block.get("l")
        is_end = isinstance(line, int) and lines[line - 1] == PART_END
        if is_end:
            shown.append({"t": "hr", "l": line})
        if isinstance(line, int) and (is_end or not shown):
            number = sum(one.count(PART_END) for one in lines[:line]) + 1
            label: JsonValue = {"t": "em", "c": [f"{name} {number}"]}
            shown.append({"t": "p", "l": line, "part": number, "c": [label]})
        if not is_end:
            shown.append(block)
    return tuple(shown if name else blocks)
