"""Recognises the text in pictures and in pages of scans, with RapidOCR and the weights in its package.

A document is first extracted without the text of its images. `recognise` adds it later, some pages at a time.
"""

from __future__ import annotations

import io
import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any
from unicodedata import east_asian_width

from vault_indexer.documents.markdown import (
    BOXES,
    CUT,
    MAX_CHARACTERS,
    NOT_READ,
    PAGES_WITHOUT_TEXT,
    PART_END,
    RECOGNISED_SECONDS,
    SCAN,
    Document,
    Part,
    as_ranges,
    escape,
    in_ranges,
    properties_and_body,
    with_properties,
)
from vault_indexer.errors import NoteError, ProviderError
from vault_indexer.model import JsonValue, document_kind_of
from vault_indexer.system import record

MAX_PIXELS = 50_000_000
"""Of a picture; one of 50 megapixels takes 150 MB while it is made smaller."""

_READ_PIXELS = 12_000_000
"""Larger pictures and pages are made smaller first: A3 with 200 dots per inch has 8 million."""

_DOTS_PER_POINT = 200 / 72
_DETECTED_SIDE = 2000
"""Lines are searched in a copy with sides of at most this many pixels, and read in the original. With 1600,
some lines of small print are missed."""

_PARAGRAPH_GAP = 0.7
"""Of the height of a line; lines of prose are nearer to each other."""

_PROSE = 10
"""Lines of at least so many heights belong to a column of prose, and shorter ones may be cells of a table."""

MAX_SECONDS = 3600
"""Processor time for a document: some 700 pages. Others wait meanwhile."""

_MAX_BOXES = 2000
"""Lines of a picture whose places are kept: 44 kB of its properties, which may have 64."""

_HYPHENATED = re.compile(r"(?<=[^\W\d_])-$")


def read_image(_data: bytes) -> Document:
    """Returns a picture whose text is still to be recognised."""
    return Document((Part(""),), images=(1,), is_picture=True)


def recognise(path: str, data: bytes, text: str, seconds: float = math.inf) -> str:
    """Returns the text of a document with that of its images. After `seconds` no further page is begun, so
    its property PAGES_WITHOUT_TEXT may still name some. Images that cannot be read, or not in MAX_SECONDS of
    all calls together, have a warning."""
    properties, body = properties_and_body(text)
    boxes: list[str] = []
    is_picture = (kind := document_kind_of(path)) is None or kind.name == "image"
    waiting = in_ranges(str(properties.get(PAGES_WITHOUT_TEXT, "")))
    if not waiting:
        return text
    pieces, size, before = body.split(PART_END), len(body), properties.get(NOT_READ)
    warnings = [str(warning) for warning in before] if isinstance(before, list) else []
    deadline = time.monotonic() + seconds
    taken = properties.get(RECOGNISED_SECONDS)
    began = time.process_time() - (taken if isinstance(taken, int | float) else 0)
    try:
        for image in [_picture(data)] if is_picture else _pages(data, waiting):
            number = waiting.pop(0)
            read = [one for block in blocks(read_lines(image)) for one in paragraphs(block)]
            boxes = [box for one in read for box in one.boxes(*image.size)] if is_picture else []
            found = "\n\n".join(escape(one.text) for one in read)
            size += len(found)
            if size > MAX_CHARACTERS:
                raise NoteError(CUT)
            pieces[number - 1] = f"{pieces[number - 1].rstrip()}\n\n{found}\n\n"
            if waiting and time.process_time() - began > MAX_SECONDS:
                pages, minutes = as_ranges(waiting), MAX_SECONDS // 60
                raise NoteError(f"images of pages {pages}: not recognised after {minutes} minutes")
            if time.monotonic() >= deadline:
                break
    except NoteError as error:
        waiting, warnings = [], [*warnings, str(error)]
    body = PART_END.join(pieces)
    if not waiting or body.strip(f"\n{PART_END} "):
        warnings = [warning for warning in warnings if warning != SCAN]
    changed: dict[str, JsonValue] = {
        PAGES_WITHOUT_TEXT: as_ranges(waiting),
        RECOGNISED_SECONDS: round(time.process_time() - began) if waiting else 0,
        NOT_READ: [*warnings],
        BOXES: ",".join(boxes[:_MAX_BOXES]),
    }
    return with_properties({**properties, **changed}, body.strip("\n") + "\n")


# Images: a picture as it is meant to be seen, and pages of a PDF.


def _picture(data: bytes) -> Any:
    from PIL import Image, ImageOps

    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP")) as image:
            if image.width * image.height > MAX_PIXELS:
                size = image.width * image.height
                raise NoteError(f"too large: {size:,} pixels, the limit is {MAX_PIXELS:,}")
            upright = ImageOps.exif_transpose(image).convert("RGBA")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise NoteError("damaged: not a readable picture") from error
    shown = Image.new("RGBA", upright.size, "white")
    shown.alpha_composite(upright)
    shown.thumbnail(_within(*upright.size))
    return shown.convert("RGB")


def _within(width: int, height: int) -> tuple[int, int]:
    scale = min(1.0, math.sqrt(_READ_PIXELS / (width * height)))
    return max(1, int(width * scale)), max(1, int(height * scale))


def _pages(data: bytes, numbers: Sequence[int]) -> Iterator[Any]:
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data)
        try:
            for number in list(numbers):
                page = pdf[number - 1]
                fitting = math.sqrt(_READ_PIXELS / max(1.0, page.get_width() * page.get_height()))
                yield page.render(scale=min(_DOTS_PER_POINT, fitting)).to_pil().convert("RGB")
                page.close()
        finally:
            pdf.close()
    except pypdfium2.PdfiumError as error:
        raise NoteError(f"damaged: {error}") from error


# Lines of text, each with its place.


@record
class Line:
    """A recognised line, with its place in pixels."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top


def read_lines(image: Any) -> list[Line]:
    found = _engine()(image)
    lines = []
    for box, text in zip(found.boxes if found.boxes is not None else (), found.txts or (), strict=False):
        (left, top), (right, bottom) = box.min(axis=0).tolist(), box.max(axis=0).tolist()
        lines.append(Line(" ".join(text.split()), left, top, right, bottom))
    return lines


@cache
def _engine() -> Any:
    """Loads the models, once in a process. With their paths given, nothing is ever downloaded. Raises
    ProviderError."""
    params = {
        "Global.log_level": "critical",
        "Global.use_cls": False,  # its classifier sees a line 192 pixels wide, and turns long ones over
        "Global.max_side_len": max(_within(_READ_PIXELS, 1)),
        "Rec.rec_batch_num": 1,
        "Det.limit_type": "max",
        "Det.limit_side_len": _DETECTED_SIDE,
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    }
    try:
        import cv2
        import onnxruntime
        import rapidocr

        cv2.setNumThreads(1)
        onnxruntime.disable_telemetry_events()
        models = Path(rapidocr.__file__).parent / "models"
        weights = {
            f"{part}.model_path": f"{models}/PP-OCRv6_{part.lower()}_small.onnx" for part in ("Det", "Rec")
        }
        return rapidocr.RapidOCR(params={**params, **weights})
    except (ImportError, OSError) as error:
        raise ProviderError(f"OCR is not available: {error}") from error


# From lines to paragraphs in the order of reading.


def blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yields the blocks of a page in reading order: columns of prose from left to right, and higher blocks
    before lower ones."""
    rest = [list(lines)] if lines else []
    while rest:
        block = rest.pop()
        parts = _columns(block)
        if len(parts) == 1:
            parts = _cut(block, "top", "bottom", _PARAGRAPH_GAP)
        if len(parts) == 1:
            yield block
        else:
            # `pop` takes from the end, so the first part is put there.
            rest += reversed(parts)


def _columns(lines: Sequence[Line]) -> list[list[Line]]:
    """Divides lines at the widest blank strip from top to bottom between two columns of prose."""
    parts = _cut(lines, "left", "right", 0.5)
    are_prose = all(
        len(part) > 1 and median((line.right - line.left) / line.height for line in part) >= _PROSE
        for part in parts
    )
    return parts if are_prose else [list(lines)]


def _cut(lines: Sequence[Line], start: str, end: str, gap: float) -> list[list[Line]]:
    """Divides lines in two at the widest gap in a direction, if wider than `gap` heights of a line."""
    ordered = sorted(lines, key=lambda line: getattr(line, start))
    least = gap * median(line.height for line in lines)
    at, reached = 0, -math.inf
    for number, line in enumerate(ordered):
        if number and getattr(line, start) - reached > least:
            at, least = number, getattr(line, start) - reached
        reached = max(reached, getattr(line, end))
    return [ordered[:at], ordered[at:]] if at else [ordered]


@dataclass(slots=True)
class Paragraph:
    """A paragraph with its lines, each with the number of letters that the text has of it."""

    text: str = ""
    lines: list[tuple[Line, int]] = field(default_factory=list)

    def add(self, row: Sequence[Line]) -> None:
        text = " ".join(line.text for line in row)
        joined = _joined(self.text, text) if self.text else text
        if _letters(joined) < _letters(self.text) + _letters(text):  # the hyphen is gone
            last, letters = self.lines[-1]
            self.lines[-1] = (last, letters - 1)
        self.text = joined
        self.lines += [(line, _letters(line.text)) for line in row]

    def boxes(self, width: int, height: int) -> Iterator[str]:
        """Yields the places of its lines in an image of this size, see `line_boxes`."""
        for line, letters in self.lines:
            places = (line.left / width, line.top / height, line.right / width, line.bottom / height)
            yield " ".join(map(str, [*(min(1000, max(0, round(1000 * place))) for place in places), letters]))


def _letters(text: str) -> int:
    return sum(not character.isspace() for character in text)


def paragraphs(block: Sequence[Line]) -> Iterator[Paragraph]:
    """Yields the paragraphs of a block. One ends where the first word of the next row would have fitted; a
    row of a table is one."""
    rows = _rows(block)
    right = max((row[-1].right for row in rows), default=0)
    paragraph, before = Paragraph(), list[Line]()
    for row in rows:
        if paragraph.text and (
            _has_cells(row) or _has_cells(before) or _would_fit(row[0], right - before[-1].right)
        ):
            yield paragraph
            paragraph = Paragraph()
        paragraph.add(row)
        before = row
    if paragraph.text:
        yield paragraph


def _rows(block: Sequence[Line]) -> list[list[Line]]:
    """Returns the lines that are next to each other as rows, from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(block, key=lambda line: line.top + line.bottom):
        if rows and (line.top + line.bottom) / 2 < rows[-1][0].bottom:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.left) for row in rows]


def _has_cells(row: Sequence[Line]) -> bool:
    return any(after.left - before.right > before.height for before, after in pairwise(row))


def _would_fit(line: Line, room: float) -> bool:
    first = line.text.split(" ", 1)[0][: 2 if _is_wide(line.text[:1]) else None]
    return room > (len(first) + 2) * (line.right - line.left) / max(1, len(line.text))


def _joined(before: str, after: str) -> str:
    if _HYPHENATED.search(before) and after[:1].islower():
        return before[:-1] + after
    glue = "" if _is_wide(before[-1:]) and _is_wide(after[:1]) else " "
    return before + glue + after


def _is_wide(character: str) -> bool:
    """Returns whether this is a character of a script without blanks, such as Chinese."""
    return bool(character) and east_asian_width(character) in "WF"
