"""Writes an extracted document as Markdown, in which only the document's own structure is syntax, and finds
its parts again: pages, slides, sheets or chapters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from vault_indexer.model import JsonValue, document_kind_of
from vault_indexer.system import record

PART_END = "\f"
"""Ends a part (a page, a slide), as in plain text. A form feed is white space: words and phrases pass it."""

MAX_CHARACTERS = 10_000_000
"""Of the text of one document; the Bible has 4 million."""

CUT = f"only its first {MAX_CHARACTERS:,} characters are read"
NO_TEXT = "it has no text"
SCAN = f"{NO_TEXT}: it may be a scan, which `indexer documents ocr on` reads"
_SYNTAX = re.compile(
    r"""
    [\\`*\[\]<$~] | %(?=%) | (?<=%)% | (?<=<)[!/?] | =(?==) | (?<==)= | :(?=:) | &(?=\#?\w+;)
    | (?<!\w)_ | _(?!\w)
    | (?<!\w)[\#^](?=[^\s\#])
    | (?m: ^ (?: [\#>|] | [-+](?=\s|$) | -(?=-) | =+$ ) )
    """,
    re.VERBOSE,
)
"""Characters that begin a construct of Markdown or Obsidian where they stand."""

_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ufeff\ud800-\udfff]")
_PROPERTIES = re.compile(r"---\n((?:\w+: .*\n)*)---\n\n")
_NO_TAG = re.compile(r"[^\w/-]+")
_RANGE = re.compile(r"\s*(\d{1,6})\s*(?:[-–]\s*(\d{1,6})\s*)?")


@record
class Part:
    """Markdown of a part of a document. With `continues`, it begins inside the paragraph that ends the part
    before."""

    text: str
    continues: bool = False


@record
class Document:
    """The content of a document. `created` is an ISO date, and `warnings` list content that was not read.
    `images` are the numbers of the parts that may be images of text. A picture may have no text."""

    parts: tuple[Part, ...]
    title: str = ""
    authors: tuple[str, ...] = ()  # semicolons in a text separate several
    created: str = ""
    keywords: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    images: tuple[int, ...] = ()
    is_picture: bool = False


NOT_READ = "not_read"
"""The property of a document that tells what of it was not read."""

PAGES_WITHOUT_TEXT = "pages_without_text"
"""The property of a document with `Document.images`, as ranges, as long as their text is not recognised."""

RECOGNISED_SECONDS = "recognised_seconds"
"""The property of a document with PAGES_WITHOUT_TEXT: the processor time that its images have taken."""


BOXES = "boxes"
"""The property of a picture with the places of its lines, as `line_boxes` reads them."""

_BOXES = re.compile(rf'^({BOXES}: ")[^"\n]*', re.MULTILINE)


def escape(text: str) -> str:
    """Returns plain text as Markdown that shows exactly this text: nothing in it is a link, tag, heading,
    list, task, formula or inline field. Lines lose their indentation; control characters become blanks."""
    plain = _INDENT.sub("", _CONTROL.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")))
    return _NUMBERED.sub(r"\1\\\2", _SYNTAX.sub(r"\\\g<0>", plain))


def one_line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def to_markdown(document: Document) -> str:
    """Returns the Markdown of a document, with its properties as frontmatter and `PART_END` after every part
    but the last."""
    body = "".join(_body(document.parts))
    if not (body.strip() or document.is_picture):
        document = replace(document, warnings=(*document.warnings, SCAN if document.images else NO_TEXT))
    if len(body) > MAX_CHARACTERS:
        document = replace(document, warnings=(*document.warnings, CUT))
    properties: dict[str, JsonValue] = {
        "title": one_line(document.title),
        "author": list(filter(None, map(one_line, ";".join(document.authors).split(";")))),
        "created": document.created,
        "keywords": [one_line(word) for word in document.keywords],
        "tags": list(dict.fromkeys(filter(None, map(_tag, document.keywords)))),
        NOT_READ: [one_line(warning) for warning in document.warnings],
        PAGES_WITHOUT_TEXT: as_ranges(document.images),
    }
    return with_properties(properties, body[:MAX_CHARACTERS])


def with_properties(values: Mapping[str, JsonValue], body: str) -> str:
    """Returns the text of a document with these properties; empty ones are left out."""
    given = {key: value for key, value in values.items() if value}
    lines = (f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in given.items())
    return "".join(["---\n", *lines, "---\n\n"] if given else []) + body


def properties_and_body(text: str) -> tuple[dict[str, JsonValue], str]:
    """The inverse of `with_properties`."""
    match = _PROPERTIES.match(text)
    if not match:
        return {}, text
    rows = (line.partition(": ") for line in match[1].splitlines())
    return {key: json.loads(value) for key, _, value in rows}, text[match.end() :]


def line_boxes(text: str) -> tuple[tuple[int, ...], ...]:
    """Returns the places of the lines of a picture from its text: left, top, right and bottom in thousandths
    of its size, and the number of letters. The lines are in the order of the text."""
    boxes = str(properties_and_body(text)[0].get(BOXES, ""))
    return tuple(tuple(map(int, box.split())) for box in boxes.split(",") if box)


def without_boxes(text: str) -> str:
    """Returns the text of a picture without the places of its lines, with the same lines."""
    return _BOXES.sub(r"\1", text, count=1)


def as_ranges(numbers: Sequence[int]) -> str:
    """Returns ascending numbers as text, such as "1-3, 7"."""
    firsts = [number for number in numbers if number - 1 not in numbers]
    lasts = [number for number in numbers if number + 1 not in numbers]
    pairs = zip(firsts, lasts, strict=True)
    return ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in pairs)


def in_ranges(ranges: str) -> list[int]:
    """The inverse of `as_ranges`."""
    pairs = (part.partition("-") for part in ranges.split(", ") if part)
    return [number for first, _, last in pairs for number in range(int(first), int(last or first) + 1)]


def _tag(keyword: str) -> str:
    """Returns the keyword as a tag; "" if it has no letter, as a tag must."""
    tag = _NO_TAG.sub("-", keyword.strip()).strip("-/")
    return tag if any(character.isalpha() for character in tag) else ""


def _body(parts: tuple[Part, ...]) -> Iterator[str]:
    for number, part in enumerate(parts):
        text = part.text.strip()
        if number:
            yield f" {PART_END}" if part.continues and text else f"\n\n{PART_END}\n\n"
        yield text
    yield "\n"


def part_at(path: str, text: str, position: int) -> str:
    """Returns the part of a document at a position of its text, such as "page 3"; "" if it has no parts."""
    name = part_name(path)
    return f"{name} {text.count(PART_END, 0, position) + 1}" if name else ""


def part_name(path: str) -> str:
    """Returns the name for the parts of a document of this name, such as "page"; "" if it has none."""
    kind = document_kind_of(path)
    return kind.part if kind else ""


def part_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yields the span of each part of an extracted text, in order, without the form feeds."""
    start = 0
    while (end := text.find(PART_END, start)) >= 0:
        yield start, end
        start = end + 1
    yield start, len(text)


def span_of_parts(text: str, parts: str) -> tuple[int, int]:
    """Returns the span of the parts "3" or "3-5" of a text. Raises ValueError with the allowed parts."""
    spans = list(part_spans(text))
    match = _RANGE.fullmatch(parts)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last <= len(spans):
        raise ValueError(f"allowed are numbers such as 3 or 3-5, from 1 to {len(spans)}")
    return spans[first - 1][0], spans[last - 1][1]


def with_part_names(
    blocks: Sequence[dict[str, JsonValue]], path: str, text: str
) -> tuple[dict[str, JsonValue], ...]:
    """Returns the blocks of a reading view of a document with the number and the name of a part before its
    first block, and with a rule in place of each block that is only a form feed."""
    name, lines = part_name(path), text.split("\n")
    shown: list[dict[str, JsonValue]] = []
    for block in blocks if name else ():
        line = block.get("l")
        is_end = isinstance(line, int) and lines[line - 1] == PART_END
        if is_end:
            shown.append({"t": "hr", "l": line})
        if isinstance(line, int) and (is_end or not shown):
            # A part that ends within the first line of a paragraph is that of its beginning.
            number = sum(one.count(PART_END) for one in lines[: line if is_end else line - 1]) + 1
            label: JsonValue = {"t": "em", "c": [f"{name} {number}"]}
            shown.append({"t": "p", "l": line, "part": number, "c": [label]})
        if not is_end:
            shown.append(block)
    return tuple(shown if name else blocks)
