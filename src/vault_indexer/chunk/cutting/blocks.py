"""The blocks of a note, and their division into atoms that fit a limit."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from vault_indexer.chunk.cutting.spans import Ruler, Span, lines, pack, sentence_spans, tile, trim, words
from vault_indexer.model import Element, ElementKind, Note
from vault_indexer.system import record

# In these kinds, a line is the unit of meaning, like a sentence elsewhere.
LINEWISE = frozenset(
    {ElementKind.CODE, ElementKind.TABLE, ElementKind.HTML, ElementKind.MATH, ElementKind.QUOTE}
)


_HUGE = 1_000_000
"""From this number of characters on, the atoms of a block are joined during the scan: there may be
millions."""

_ATOMS_OF_HUGE = 16  # the minimum number per chunk


def blocks_of(note: Note) -> list[Element]:
    """The note's blocks after the frontmatter, in order, without gaps.

    Text that belongs to no element (such as link definitions) is a block of kind `other`.
    """
    blocks: list[Element] = []
    pos = note.body_start
    for element in note.elements:
        if element.start < pos:
            continue
        blocks.extend(_gap(note.text, pos, element.start))
        blocks.append(element)
        pos = max(pos, element.end)
    blocks.extend(_gap(note.text, pos, len(note.text)))
    return blocks


def _gap(text: str, start: int, end: int) -> list[Element]:
    start, end = trim(text, start, max(start, end))
    return [Element(ElementKind.OTHER, start, end)] if end > start else []


def within(blocks: Sequence[Element], start: int, end: int) -> list[Element]:
    """The blocks, or the parts of them, between start and end. `blocks` must be in order."""
    first = max(bisect_right(blocks, start, key=lambda block: block.start) - 1, 0)
    last = bisect_left(blocks, end, lo=first, key=lambda block: block.start)
    return [_clip(block, start, end) for block in blocks[first:last] if block.end > start]


def _clip(block: Element, start: int, end: int) -> Element:
    if start <= block.start and block.end <= end:
        return block
    parts = tuple(within(block.parts, start, end))
    return replace(block, start=max(block.start, start), end=min(block.end, end), parts=parts)


def touching(blocks: Sequence[Element], end: int) -> list[tuple[Element, Span]]:
    """The blocks, each with its span extended to the start of the next one, the last to `end`."""
    if not blocks:
        return []
    spans = tile([(block.start, block.end) for block in blocks], blocks[0].start, end)
    return list(zip(blocks, spans, strict=True))


@record
class BlockSplitter:
    """Divides blocks into atoms: touching spans that no chunk needs to be smaller than.

    A block within `limit` is one atom. A longer one is divided into list items, lines (code, tables, …) or
    sentences, then words, then parts of a word. Blocks of the kinds in `loose` are divided even if they fit.
    """

    text: str
    ruler: Ruler
    limit: int
    loose: frozenset[ElementKind] = frozenset()
    huge: int = _HUGE
    """From this number of characters on, the atoms of a block are joined first."""

    def atoms(self, blocks: Sequence[Element], end: int) -> list[Span]:
        """The atoms from the first block to `end`; a heading and the following text are one, if both fit."""
        found: list[Span] = []
        for block, span in touching(blocks, end):
            atoms = self._block(block, *span)
            found.extend(atoms if span[1] - span[0] <= self.huge else self._join(atoms))
        found = [piece for span in found for piece in self._without_gaps(*span)]
        return self._with_headings(found, {b.start for b in blocks if b.kind is ElementKind.HEADING})

    def sentence(self, start: int, end: int) -> Iterator[Span]:
        """A line or sentence, divided into words if it is too long, and into parts of words if those are."""
        if self._fits(start, end):
            yield start, end
            return
        for inner_start, inner_end in tile(sentence_spans(self.text, start, end), start, end):
            if self._fits(inner_start, inner_end):
                yield inner_start, inner_end
            else:
                yield from self.words(inner_start, inner_end)

    def words(self, start: int, end: int) -> Iterator[Span]:
        for word_start, word_end in tile(words(self.text, start, end), start, end):
            if self._fits(word_start, word_end):
                yield word_start, word_end
            else:
                yield from self.ruler.parts(*trim(self.text, word_start, word_end), self.limit)

    def _without_gaps(self, start: int, end: int) -> Iterator[Span]:
        """An atom, with the surrounding blanks separate if they alone are too long: they replace data of the
        note that is not text."""
        text, ruler = self.text[start:end], self.ruler
        first, last = end - len(text.lstrip()), start + len(text.rstrip())
        if len(text) <= self.limit or first >= last:
            yield start, end
            return
        borders = [start, end]
        if ruler.at(first) - ruler.at(start) > self.limit:
            borders.append(first)
        if ruler.at(end) - ruler.at(last) > self.limit:
            borders.append(last)
        yield from pairwise(sorted(borders))

    def _block(self, block: Element, start: int, end: int) -> Iterator[Span]:
        if self._fits(start, end) and block.kind not in self.loose:
            yield start, end
            return
        if block.parts:
            first = block.parts[0].start
            if self.text[start:first].strip():  # the text of an item, before its nested items
                yield from self._block(replace(block, parts=()), start, first)
                start = first
            for part, span in touching(block.parts, end):
                yield from self._block(part, start if part is block.parts[0] else span[0], span[1])
            return
        sentences = tile(sentence_spans(self.text, start, end), start, end)
        for span in lines(self.text, start, end) if block.kind in LINEWISE else sentences:
            yield from self.sentence(*span)

    def _with_headings(self, spans: list[Span], headings: set[int]) -> list[Span]:
        """Joins each heading to the atom after it, so that no chunk ends with a bare heading."""
        joined: list[Span] = []
        open_heading = False
        for start, end in spans:
            if open_heading and self._fits(joined[-1][0], end):
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((start, end))
            open_heading = start in headings
        return joined

    def _join(self, atoms: Iterable[Span]) -> list[Span]:
        """Joins the atoms of a block that has very many, as far as a fair split allows."""
        most = self.limit // _ATOMS_OF_HUGE
        joined: list[Span] = []
        for start, end in atoms:
            if joined and self.ruler.at(end) - self.ruler.at(joined[-1][0]) <= most:
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((start, end))
        return joined

    def _fits(self, start: int, end: int) -> bool:
        return self.ruler.size(start, end) <= self.limit


# Paragraphs for the strategies that gather them: with their headings, whole or in sentences.


_CLOSERS = "\"'”’»›)]}*_`」』）】》〉"
_STOPS = tuple(".!?…。！？｡।؟۔")


@record
class Paragraph:
    """A block with the headings directly above it. `text_start` is the start of the block itself."""

    start: int
    end: int
    text_start: int
    kind: ElementKind

    @property
    def has_heading(self) -> bool:
        return self.text_start > self.start


def paragraphs_of(note: Note) -> list[Paragraph]:
    """The note's blocks; spans touch, so that each ends where the next begins."""
    return paragraphs_of_blocks(blocks_of(note), len(note.text))


def paragraphs_of_blocks(blocks: Sequence[Element], end: int) -> list[Paragraph]:
    """Blocks with the headings above them; headings with no text below them form a paragraph of their own."""
    found: list[Paragraph] = []
    heading: int | None = None
    for block, (start, stop) in touching(blocks, end):
        if block.kind is ElementKind.HEADING:
            heading = start if heading is None else heading
        else:
            found.append(Paragraph(start if heading is None else heading, stop, start, block.kind))
            heading = None
    if heading is not None:
        found.append(Paragraph(heading, end, heading, ElementKind.HEADING))
    return found


def paragraph_numbers(paragraphs: Sequence[Paragraph], start: int, end: int) -> range:
    """The numbers of the paragraphs that overlap start to end; `paragraphs` are in order."""
    return range(
        bisect_right(paragraphs, start, key=lambda paragraph: paragraph.end),
        bisect_left(paragraphs, end, key=lambda paragraph: paragraph.start),
    )


def ends_sentence(text: str, paragraph: Paragraph) -> bool:
    """Whether a reader would pause after it: prose that ends with a full stop, or any other block."""
    if paragraph.kind is not ElementKind.PARAGRAPH:
        return paragraph.kind is not ElementKind.HEADING
    last_words = text[max(paragraph.start, paragraph.end - 400) : paragraph.end]
    return last_words.rstrip().rstrip(_CLOSERS).endswith(_STOPS)


def sentence_pieces(
    block_splitter: BlockSplitter, blocks: Sequence[Element], span: Span, longest: int | None = None
) -> list[Span]:
    """The span itself, or its pieces of nearly equal size if it is longer than `longest` (by default the
    splitter's limit)."""
    start, end = span
    ruler, limit = block_splitter.ruler, block_splitter.limit
    if ruler.size(start, end) <= (limit if longest is None else longest):
        return [span]
    return pack(block_splitter.atoms(within(blocks, start, end), end), ruler, limit)
