"""Finds the lines of a page and their reading order from the places of its words. Knows no library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, chain, groupby, pairwise
from statistics import median

from vault_indexer.documents.pdf_bidi import is_rtl

Run = tuple[str, str]
"""Text and the address that it links to, or ""."""

_CJK = r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
CJK_BORDER = re.compile(f"{_CJK}\0{_CJK}")
"""Two characters, with a NUL between them, that no blank separates."""

_MAX_DEPTH = 6
_MAX_CELL_LINES = 12
_MAX_STRIPS = 2_000
"""A strip is a point wide on pages of usual size."""


@dataclass(slots=True)
class Word:
    """A word in the frame of its direction: text runs along x, lines follow each other along y. `y` is its
    baseline; `bold` is set only for the first and last word of a line; `direction` counts quarter turns."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    bold: bool | None = None
    uri: str = ""
    direction: int = 0

    def append(self, rest: Word) -> None:
        """Adds the rest of a word that came in two pieces."""
        self.text += rest.text
        self.x0, self.x1 = min(self.x0, rest.x0), max(self.x1, rest.x1)
        self.bold = self.bold if rest.bold is None else rest.bold


@dataclass(slots=True)
class Segment:
    """Words of one line without a wide gap between them: a line of a column, or a cell of a table."""

    words: list[Word]
    order: int
    x0: float = 0
    x1: float = 0
    y: float = 0
    size: float = 0
    length: int = 0

    def measure(self) -> Segment:
        longest = max(self.words, key=lambda word: len(word.text))
        self.y, self.size = longest.y, longest.size
        self.x0 = min(word.x0 for word in self.words)
        self.x1 = max(word.x1 for word in self.words)
        self.length = sum(len(word.text) for word in self.words)
        return self


@dataclass(slots=True)
class Line:
    """A line of text. `start` and `end`, and the edges of its column, grow in the direction of reading: those
    of right-to-left text are negative. `column` numbers the columns in reading order. `heading` is 1 for the
    first line of a title of the outline, -1 for its other lines; `level` is its level."""

    text: str
    runs: list[Run]
    start: float
    end: float
    near: float
    far: float
    y: float
    size: float
    bold: bool
    column: int
    cells: list[tuple[float, float, str]] = field(default_factory=list)
    level: int = 0
    heading: int = 0


def lay_out(words: Iterable[Word]) -> list[Line]:
    """Returns the lines in reading order; those of the page's main direction first."""
    turned: dict[int, list[Word]] = {}
    for word in words:
        turned.setdefault(word.direction, []).append(word)
    lines: list[Line] = []
    for group in sorted(turned.values(), key=lambda group: -sum(len(word.text) for word in group)):
        for leaf in _columns(_segments(group), 0):
            lines += _lines(leaf, lines[-1].column + 1 if lines else 0)
    return lines


def _segments(words: list[Word]) -> list[Segment]:
    segments: list[Segment] = []
    last: Word | None = None
    for word in words:
        size = max(word.size, last.size) if last else 0
        if last and abs(word.y - last.y) <= 0.5 * size and max(word.x0 - last.x1, last.x0 - word.x1) <= size:
            segments[-1].words.append(word)
        else:
            segments.append(Segment([word], len(segments)))
        last = word
    return [segment.measure() for segment in segments]


def _columns(segments: list[Segment], depth: int) -> Iterator[list[Segment]]:
    """Yields the columns of a region in reading order. A segment that crosses the gutter, such as a title or
    a wide figure, divides the columns above from those below."""
    gutter = _gutter(segments) if depth < _MAX_DEPTH and len(segments) >= 4 else None
    regions = _regions(segments, gutter) if gutter is not None else []
    if not any(len(region) == 2 for region in regions):
        bands = _bands(segments) if depth < _MAX_DEPTH else []
        split = [list(_columns(band, depth + 1)) for band in bands] if len(bands) > 1 else []
        if any(len(columns) > 1 for columns in split):
            yield from chain.from_iterable(split)
        else:
            yield segments
        return
    for region in regions:
        for column in region:
            yield from _columns(column, depth + 1)


def _bands(segments: list[Segment]) -> list[list[Segment]]:
    """Divides a region at its large vertical gaps."""
    ordered = sorted(segments, key=lambda segment: -segment.y)
    bands: list[list[Segment]] = [ordered[:1]]
    for above, below in pairwise(ordered):
        if above.y - below.y > 2.2 * max(above.size, below.size):
            bands.append([])
        bands[-1].append(below)
    return bands


def _gutter(segments: list[Segment]) -> float | None:
    """Returns the middle of the widest vertical strip that the fewest segments cross."""
    left = min(segment.x0 for segment in segments)
    span = max(segment.x1 for segment in segments) - left
    scale = max(1.0, span / _MAX_STRIPS)
    width = int(span / scale) + 1
    steps = [0] * (width + 2)
    for segment in segments:
        steps[int((segment.x0 - left) / scale)] += 1
        steps[int((segment.x1 - left) / scale) + 1] -= 1
    cover = list(accumulate(steps))
    first, last = int(width * 0.1), int(width * 0.9)
    if last - first < 2:
        return None
    least = min(cover[first:last])
    runs = groupby(range(first, last), lambda x: cover[x] == least)
    strips = (list(strip) for is_least, strip in runs if is_least)
    wide, begin = max((len(strip), strip[0]) for strip in strips)
    if least > 0.7 * len(segments) or wide * scale < 0.7 * median(segment.size for segment in segments):
        return None
    return left + (begin + wide / 2) * scale


def _regions(segments: list[Segment], gutter: float) -> list[list[list[Segment]]]:
    """Returns from top to bottom the regions of one or two columns."""
    regions: list[list[list[Segment]]] = []
    ordered = sorted(segments, key=lambda segment: -segment.y)
    for crosses, group in groupby(ordered, lambda segment: segment.x0 < gutter < segment.x1):
        run = list(group)
        sides = [[s for s in run if s.x1 <= gutter], [s for s in run if s.x1 > gutter]]
        if not crosses and _are_columns(*sides):
            regions.append(sides)
        elif regions and len(regions[-1]) == 1:
            regions[-1][0].extend(run)
        else:
            regions.append([run])
    return regions


def _are_columns(left: list[Segment], right: list[Segment]) -> bool:
    """Returns whether these are columns, not table cells: written one after the other, or full of prose."""
    fewer = min(len(left), len(right))
    if fewer < 2:
        return False
    if min(left[0].y, right[0].y) <= max(left[-1].y, right[-1].y):
        return False
    sides = [side for _, side in sorted([(s.order, 0) for s in left] + [(s.order, 1) for s in right])]
    if sum(a != b for a, b in pairwise(sides)) <= max(1, 0.34 * fewer):
        return True
    widths = [max(s.x1 for s in side) - min(s.x0 for s in side) for side in (left, right)]
    return min(widths) >= 0.75 * max(widths) and all(
        median(s.x1 - s.x0 for s in side) >= 0.6 * width and median(s.length for s in side) >= 20
        for side, width in zip((left, right), widths, strict=True)
    )


def _with_joined_cells(segments: list[Segment]) -> Iterator[Segment]:
    """Yields the segments, with those of a cell of several lines as one. All lines of a cell are written
    before the next cell; where cells beside each other have the same lines, these are rows."""
    cells: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda segment: segment.order):
        if cells and _is_below(cells[-1][-1], segment):
            cells[-1].append(segment)
        else:
            cells.append([segment])
    rows: list[list[list[Segment]]] = []
    bottom = 0.0
    for cell in sorted(cells, key=lambda cell: -cell[0].y):
        if rows and cell[0].y > bottom - 0.5 * cell[0].size:
            rows[-1].append(cell)
            bottom = min(bottom, cell[-1].y)
        else:
            rows.append([cell])
            bottom = cell[-1].y
    for row in rows:
        row.sort(key=lambda cell: min(segment.x0 for segment in cell))
        apart = all(max(s.x1 for s in a) < min(s.x0 for s in b) for a, b in pairwise(row))
        if apart and _are_aligned(row) and all(map(_is_wrapped, row)):
            bottom = min(cell[-1].y for cell in row)
            for cell in row:
                words = [word for segment in cell for word in segment.words]
                joined = Segment(words, cell[0].order).measure()
                joined.y = bottom
                yield joined
        else:
            yield from chain.from_iterable(row)


def _is_below(segment: Segment, following: Segment) -> bool:
    """Whether the second is the next line of a cell: left aligned, centred or right aligned."""
    size = max(segment.size, following.size)
    bolds = {segment.words[0].bold, following.words[0].bold} - {None}
    left, right = following.x0 - segment.x0, following.x1 - segment.x1
    return (
        following.order == segment.order + 1
        and len(bolds) < 2
        and abs(segment.size - following.size) < 0.1 * size
        and 0.5 * size < segment.y - following.y < 1.7 * size
        and min(abs(left), abs(right), abs(left + right) / 2) < 0.3 * size
    )


def _are_aligned(row: list[list[Segment]]) -> bool:
    """Whether cells of different lines begin at the same height, or have the same middle."""
    if len({tuple(round(segment.y) for segment in cell) for cell in row}) < 2:
        return False
    tops = [cell[0].y for cell in row]
    middles = [(cell[0].y + cell[-1].y) / 2 for cell in row]
    return min(max(ys) - min(ys) for ys in (tops, middles)) < 0.4 * row[0][0].size


def _is_wrapped(cell: list[Segment]) -> bool:
    """Whether no line ends so early that the break is meant, as in a listing."""
    width = max(segment.x1 for segment in cell) - min(segment.x0 for segment in cell)
    used = (a.x1 - a.x0 + b.words[0].x1 - b.words[0].x0 for a, b in pairwise(cell))
    return len(cell) <= _MAX_CELL_LINES and all(length > 0.6 * width for length in used)


def _lines(segments: list[Segment], column: int) -> list[Line]:
    rows: list[list[Segment]] = []
    base: Segment | None = None
    for segment in sorted(_with_joined_cells(segments), key=lambda segment: -segment.y):
        if base and base.y - segment.y <= 0.5 * max(base.size, segment.size):
            rows[-1].append(segment)
            base = max(base, segment, key=lambda segment: segment.length)
        else:
            rows.append([segment])
            base = segment
    lines = [_line(row, column) for row in rows]
    ends = sorted(line.end for line in lines)
    # The longest tenth does not count, because single lines reach into the margin.
    near, far = min(line.start for line in lines), ends[-1 - len(ends) // 10]
    for line in lines:
        line.near, line.far = near, far
    return lines


def _line(row: list[Segment], column: int) -> Line:
    mirrored = is_rtl(" ".join(word.text for segment in row for word in segment.words))
    row.sort(key=lambda segment: -segment.x1 if mirrored else segment.x0)
    main = max(row, key=lambda segment: segment.length)
    words = [word for segment in row for word in segment.words]
    runs = join_words(words)
    x0, x1 = min(segment.x0 for segment in row), max(segment.x1 for segment in row)
    cells = [(s.x0, s.x1, "".join(part for part, _ in join_words(s.words))) for s in row]
    return Line(
        text="".join(part for part, _ in runs),
        runs=runs,
        start=-x1 if mirrored else x0,
        end=-x0 if mirrored else x1,
        near=0,
        far=0,
        y=main.y,
        size=main.size,
        bold={word.bold for word in words} - {None} == {True},
        column=column,
        cells=cells if row[1:] else [],
    )


def join_words(words: list[Word]) -> list[Run]:
    runs: list[Run] = []
    last: Word | None = None
    for word in words:
        text = word.text
        if last:
            is_next_line = last.y - word.y > 0.5 * max(word.size, last.size)  # of a cell
            is_near = is_next_line or max(word.x0 - last.x1, last.x0 - word.x1) < 0.6 * word.size
            is_joined = is_near and CJK_BORDER.fullmatch(f"{last.text[-1]}\0{text[0]}")
            text = text if is_joined else ("\n" if is_next_line else " ") + text
        if runs and runs[-1][1] == word.uri:
            runs[-1] = (runs[-1][0] + text, word.uri)
        else:
            runs.append((text, word.uri))
        last = word
    return runs
