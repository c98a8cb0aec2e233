"""The blocks of a note, and how a stretch of them is cut into pieces of bounded size."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

from vault_indexer.chunk.spans import Span, hard_cuts, lines, sentence_spans, tile, trim, words
from vault_indexer.model import Element, ElementKind, Note

# In these a line is the unit of meaning that a sentence is elsewhere.
LINEWISE = frozenset(
    {ElementKind.CODE, ElementKind.TABLE, ElementKind.HTML, ElementKind.MATH, ElementKind.QUOTE}
)
Measure = Callable[[int, int], int]


def blocks_of(note: Note) -> list[Element]:
    """The note's blocks after the frontmatter, in order, without a gap.

    Text that belongs to no element (link definitions, say) is a block of kind `other`.
    """
    blocks: list[Element] = []
    pos = note.body_start
    for element in note.elements:
        if element.end <= pos:
            continue
        blocks.extend(_gap(note.text, pos, element.start))
        blocks.append(element)
        pos = element.end
    blocks.extend(_gap(note.text, pos, len(note.text)))
    return blocks


def _gap(text: str, start: int, end: int) -> list[Element]:
    start, end = trim(text, start, max(start, end))
    return [Element(ElementKind.OTHER, start, end)] if end > start else []


def within(blocks: Sequence[Element], start: int, end: int) -> list[Element]:
    """The blocks that begin in start to end. `blocks` must be in order."""
    first = bisect_left(blocks, start, key=lambda block: block.start)
    last = bisect_left(blocks, end, key=lambda block: block.start)
    return list(blocks[first:last])


def atoms(text: str, blocks: Sequence[Element], end: int, limit: int) -> list[Span]:
    """Touching spans, from the first block to `end`, that no piece needs to be smaller than.

    A block is one atom if it is no longer than `limit` characters; else its list items, lines
    (code, tables, …) or sentences are, then words, then parts of a word. A heading is one atom with
    what follows it where both fit.
    """
    found: list[Span] = []
    for block, (start, stop) in zip(
        blocks, tile([(b.start, b.end) for b in blocks], blocks[0].start, end) if blocks else (), strict=True
    ):
        found.extend(_parts(text, block, start, stop, limit))
    return _with_headings(text, found, {b.start for b in blocks if b.kind is ElementKind.HEADING}, limit)


def _parts(text: str, block: Element, start: int, end: int, limit: int) -> Iterator[Span]:
    if length(text, start, end) <= limit:
        yield start, end
        return
    if block.parts:
        spans = [(part.start, part.end) for part in block.parts]
        for part, (own_start, own_end) in zip(block.parts, tile(spans, start, end), strict=True):
            yield from _parts(text, part, own_start, own_end, limit)
        return
    for own_start, own_end in _finer(text, block, start, end):
        yield from _fitting(text, own_start, own_end, limit)


def _finer(text: str, block: Element, start: int, end: int) -> Iterator[Span]:
    """The lines of a linewise block, the sentences of any other."""
    if block.kind in LINEWISE:
        return iter(lines(text, start, end))
    return tile(sentence_spans(text, start, end), start, end)


def _fitting(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    """A line or sentence, in words if it is too long, in parts of words if they are."""
    if length(text, start, end) <= limit:
        yield start, end
        return
    for inner_start, inner_end in tile(sentence_spans(text, start, end), start, end):
        if length(text, inner_start, inner_end) <= limit:
            yield inner_start, inner_end
            continue
        for word_start, word_end in tile(words(text, inner_start, inner_end), inner_start, inner_end):
            if length(text, word_start, word_end) <= limit:
                yield word_start, word_end
            else:
                yield from hard_cuts(text, *trim(text, word_start, word_end), limit)


def _with_headings(text: str, spans: list[Span], headings: set[int], limit: int) -> list[Span]:
    """Joins each heading to the atom after it, so that no piece ends with a bare heading."""
    if not headings:
        return spans
    joined: list[Span] = []
    open_heading = False
    for start, end in spans:
        if open_heading and length(text, joined[-1][0], end) <= limit:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
        open_heading = start in headings
    return joined


def length(text: str, start: int, end: int) -> int:
    """Characters of a span without the white space around it."""
    return len(text[start:end].strip())


def pack(spans: Sequence[Span], limit: int) -> list[Span]:
    """Touching spans joined into few pieces of at most `limit` characters and nearly equal length.

    Each piece ends at the cut nearest to an equal share of what is left; a nearer cut that would
    cost one piece more is passed over. A span alone above the limit is a piece of its own.
    """
    pieces: list[Span] = []
    ends = [end for _, end in spans]
    index = 0
    while index < len(spans):
        start = spans[index][0]
        last = _last_of_piece(ends, index, start, limit)
        pieces.append((start, ends[last]))
        index = last + 1
    return pieces


def _last_of_piece(ends: list[int], index: int, start: int, limit: int) -> int:
    """The index of the span that ends the piece which begins at `start` with span `index`."""
    left = ends[-1] - start
    furthest = max(bisect_right(ends, start + limit, lo=index) - 1, index)
    count = -(-left // limit)
    if count <= 1:
        return furthest
    share = start + left / count
    above = min(max(bisect_left(ends, share, lo=index), index), furthest)
    below = max(above - 1, index)
    enough = ends[-1] - ends[below] <= (count - 1) * limit
    return below if enough and share - ends[below] < ends[above] - share else above
