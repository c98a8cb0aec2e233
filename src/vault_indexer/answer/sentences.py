"""Reads the sentences of the passages on which an answer may be based, with their positions."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, starmap

from vault_indexer.chunk import NoteSentences
from vault_indexer.documents import part_at
from vault_indexer.model import HEADER_SEPARATOR, Citation, Heading, Hit, NoteRow, doc_id_of, language_of_path
from vault_indexer.parse import SOURCE_FENCE, TASK, code_blocks, open_fence, readable
from vault_indexer.parse.frontmatter import read_frontmatter
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import record

_REACH = 4_000
"""The number of characters around a chunk that are searched for the borders of its first and last
paragraph."""

_FENCE_REACH = 32_768
_BLANK = re.compile(r"\n[ \t\r]*\n")
_BLOCK_ID = re.compile(r"(?:^|(?<=[ \t\n]))\^([A-Za-z0-9-]+)[ \t\r]*\Z")
ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")
WORD_CHAR = re.compile(r"\w")
_MARKUP_BEFORE = re.compile(r"(?:[*_`~=]+|!?\[\[(?:[^\]\n|]*\|)?|!?\[)+\Z")
_MARKUP_AFTER = re.compile(r"(?:\]\([^()\s]*\)|\]\]|[*_`~=]+)+")
_STRUCK = re.compile(r"`[^`\n]*`|(?<!~)~~(?=[^\s~])[^~\n]+(?<=\S)~~(?!~)")
_SPACES = re.compile(r" {2,}")
_LONGEST_MARKUP = 200
_FENCES = ("---", "+++", ";;;")
_UNQUOTED = frozenset({"tags", "tag", "aliases", "alias", "cssclass", "cssclasses"})
_PROPERTY = re.compile(
    r"^(?P<name>[^\s\-#:=][^\n:=]*?)[ \t]*[:=](?!\S).*(?:\n(?:[ \t]+\S|-[ \t]).*)*", re.MULTILINE
)
_UNCLOSED = re.compile(
    r"(?:---|\+\+\+|;;;)[a-z \t]*\r?\n"
    r"(?:[\w.-]+(?: [\w.-]+)?[ \t]*(?::(?=\s)|=).*\r?\n|[ \t]+\S.*\r?\n|-[ \t].*\r?\n|#.*\r?\n)+"
    r"(?:(?:---|\+\+\+|;;;)[ \t]*(?:\r?\n|\Z))?"
)
"""Frontmatter whose end is missing: the fence, and each line that is a property or a part of one."""
_PAGE = re.compile(r"(page(?:=|%3D))\d+$")
"""The page in the URI of a hit."""

_DIGITS = 8

Span = tuple[int, int]


@record
class NoteText:
    """A note as indexed, with the data for citations. `vault` is "" if only one vault is searched."""

    row: NoteRow
    text: str
    uri: str
    vault: str = ""


@record
class Sentence:
    """A sentence, list item, row or line of code of a note.

    `start` and `end` are character offsets in the note's text. `readable` is the text between them without
    markup. `hit` is the number of its hit, `block` the span of the code block that contains it, `header` the
    span of the table header with which it is quoted, and `headings` the texts of the headings above it,
    outermost first. `is_section` is true of a heading, and of a list, table or code below it.
    `property_name` is the name of the property that the span is, `label` what its value is a value of: that
    name, the first cell of a row with two, or the words before a colon. `is_composed` is true of a list, a
    block of code, or a paragraph with its lead-in: each line of `readable` is then a unit.
    """

    note: NoteText
    start: int
    end: int
    readable: str
    hit: int
    block: Span | None = None
    header: Span | None = None
    headings: tuple[str, ...] = ()
    is_section: bool = False
    property_name: str = ""
    label: str = ""
    is_composed: bool = False

    @property
    def is_code(self) -> bool:
        """Whether the sentence is in a code block."""
        return self.block is not None

    @property
    def quote(self) -> str:
        return self.note.text[self.start : self.end]


class SentenceReader:
    """Reads the sentences of hits from the catalogs of snapshots, by the `vault` of the hits. It is valid
    during the lease of the snapshots."""

    def __init__(self, catalogs: Mapping[str, CatalogReader]) -> None:
        self._catalogs = catalogs
        self._notes: dict[tuple[str, str], NoteText | None] = {}
        self._sentences: dict[tuple[str, str], NoteSentences] = {}

    def of_hits(self, hits: Sequence[Hit]) -> list[Sentence]:
        """Returns the sentences of all hits, best hit first. A sentence that two hits share is listed
        once."""
        seen: set[tuple[str, str, int]] = set()
        sentences: list[Sentence] = []
        for number, hit in enumerate(hits):
            for sentence in self._of_hit(hit, number):
                place = (hit.vault, hit.path, sentence.start)
                if place not in seen:
                    seen.add(place)
                    sentences.append(sentence)
        return sentences

    def of_note(self, row: NoteRow, span: Span) -> list[Sentence]:
        """Returns the sentences of a span of a note, and its properties if the span is the whole body."""
        note = NoteText(row, self._catalogs[""].text(row.note_id), "")
        is_whole = span[0] <= first_quotable(note.text)
        return [*self._within(note, span, 0), *(_properties(note, 0) if is_whole else ())]

    def headings_of(self, hits: Sequence[Hit]) -> list[Sentence]:
        """Returns the headings below the title of each note of the hits, as sentences."""
        return list(chain.from_iterable(starmap(self._headings_of, self._notes_of(hits))))

    def properties_of(self, hits: Sequence[Hit]) -> list[Sentence]:
        """Returns the properties of each note of the hits, as sentences, without tags and aliases."""
        return list(chain.from_iterable(starmap(_properties, self._notes_of(hits))))

    def _notes_of(self, hits: Sequence[Hit]) -> Iterator[tuple[NoteText, int]]:
        """Yields each note once, with the number of its first hit."""
        seen: set[int] = set()
        for number, hit in enumerate(hits):
            note = self._note(hit)
            if note is not None and id(note) not in seen:
                seen.add(id(note))
                yield note, number

    def _headings_of(self, note: NoteText, hit: int) -> Iterator[Sentence]:
        for above in self._catalogs[note.vault].sections([note.row.note_id])[note.row.note_id]:
            heading, texts = above[-1], tuple(one.text for one in above)
            if heading.text and heading.text != note.row.title:
                yield Sentence(note, heading.start, heading.end, heading.text, hit, None, None, texts, True)

    def cite(self, sentence: Sentence) -> Citation:
        note, start, end = sentence.note, sentence.start, sentence.end
        above = self._catalogs[note.vault].headings_above(note.row.note_id, start)
        header_path = HEADER_SEPARATOR.join(heading.text for heading in above)
        block = _block_id(note.text, start, end)
        quote = sentence.quote
        digest = hashlib.sha256(quote.encode("utf-8", "surrogatepass")).hexdigest()
        place = f"^{block}" if block else (above[-1].text if above else "")
        first = note.text.count("\n", 0, start) + 1
        part = part_at(note.row.path, note.text, start)
        span = f"{note.row.path}#{place}@{start}-{end}:{digest[:_DIGITS]}"
        return Citation(
            id=f"{note.vault}:{span}" if note.vault else span,
            path=note.row.path,
            title=note.row.title,
            header_path=header_path,
            block=block,
            start_pos=start,
            end_pos=end,
            start_line=first,
            end_line=first + quote.count("\n"),
            quote=quote,
            sha256=digest,
            uri=_PAGE.sub(rf"\g<1>{part.rpartition(' ')[2]}", note.uri) if part else note.uri,
            sentence_ids=tuple(self._sentences_of(note).ids(start, end)),
            property=sentence.property_name,
            part=part,
            vault=note.vault,
        )

    def citations(self, sentence: Sentence) -> tuple[Citation, ...]:
        """Returns the citations of a quote and of the header of its table."""
        own = self.cite(sentence)
        if sentence.header is None:
            return (own,)
        start, end = sentence.header
        return own, self.cite(replace(sentence, start=start, end=end))

    def preamble(self, hit: Hit) -> str:
        """Returns the preamble that a model wrote for the hit's chunk, which is not text of the note, or
        ""."""
        note = self._note(hit)
        if note is None:
            return ""
        rows = self._catalogs[hit.vault].chunks_of(note.row.note_id)
        return next((row.chunk.preamble for row in rows if row.chunk.chunk_id == hit.chunk_id), "")

    def _sentences_of(self, note: NoteText) -> NoteSentences:
        place = note.vault, note.row.path
        if place not in self._sentences:
            blocks = self._catalogs[note.vault].block_spans([note.row.note_id])
            own = blocks.get(note.row.note_id, ())
            self._sentences[place] = NoteSentences(doc_id_of(note.row.path), note.text, own)
        return self._sentences[place]

    def _of_hit(self, hit: Hit, number: int) -> Iterator[Sentence]:
        note = self._note(hit)
        if note is None:
            return
        passage = hit.passage
        span = (passage.start_pos, passage.end_pos) if passage else (hit.start_pos, hit.end_pos)
        yield from self._within(note, _whole_paragraphs(note.text, span), number)

    def _within(self, note: NoteText, span: Span, hit: int) -> Iterator[Sentence]:
        catalog = self._catalogs[note.vault]
        headings = catalog.headings_between(note.row.note_id, *span)
        for sentence in _sentences(note, span, headings, hit):
            above = catalog.headings_above(note.row.note_id, sentence.start)
            yield replace(sentence, headings=tuple(heading.text for heading in above))

    def _note(self, hit: Hit) -> NoteText | None:
        place = hit.vault, hit.path
        if place not in self._notes:
            catalog = self._catalogs[hit.vault]
            row = None if hit.kind in ("attachment", "base") else catalog.note(hit.path)
            found = None if row is None else NoteText(row, catalog.text(row.note_id), hit.uri, hit.vault)
            self._notes[place] = found
        return self._notes[place]


@lru_cache(maxsize=256)
def first_quotable(text: str) -> int:
    """Returns the end of the frontmatter, also of a block that cannot be read or is not closed."""
    if not text.startswith(_FENCES):
        return 0
    unclosed = _UNCLOSED.match(text)
    return read_frontmatter(text).block_end or (unclosed.end() if unclosed else 0)


def _properties(note: NoteText, hit: int) -> Iterator[Sentence]:
    values = {name.casefold(): value for name, value in note.row.frontmatter.items()}
    for match in _PROPERTY.finditer(note.text, 0, first_quotable(note.text)):
        name = match["name"].strip("\"'")
        value = values.get(name.casefold())
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        if name.casefold() not in _UNQUOTED and shown not in (None, "") and not isinstance(shown, dict):
            end = match.start() + len(match[0].rstrip())
            yield Sentence(note, match.start(), end, f"{name}: {shown}", hit, property_name=name, label=name)


def _whole_paragraphs(text: str, span: Span) -> Span:
    """Returns the span extended to blank lines, so that no sentence is cut, without the frontmatter."""
    first = first_quotable(text)
    start, end = max(first, span[0]), max(first, span[1])
    low = max(first, start - _REACH)
    before = [match.end() for match in _BLANK.finditer(text, low, start)]
    after = _BLANK.search(text, end, min(len(text), end + _REACH))
    start = before[-1] if before else (low if low == first else start)
    return start, after.start() if after else min(len(text), end + _REACH)


def _sentences(note: NoteText, span: Span, headings: Iterable[Heading], hit: int) -> Iterator[Sentence]:
    start, end = span
    source = note.text[start:end]
    if language_of_path(note.row.path):
        fence, headings = SOURCE_FENCE, ()
    else:
        fence = open_fence(note.text[max(0, start - _FENCE_REACH) : start])
    titles = [(heading.start - start, heading.end - start) for heading in headings]
    code = [(first, last) for first, last, _ in code_blocks(source, fence)]
    shown = readable(without_struck(source, code), fence)
    for first, last in shown.units:
        own = shown.source(first), shown.source(last - 1) + 1
        text = shown.text[first:last]
        if "~~" in source[slice(*own)]:
            text = _SPACES.sub(" ", text)
        if WORD_CHAR.search(text) and not _overlapping(own, titles):
            block = _overlapping(own, code)
            first, last = own if block else _with_markup(source, own)
            within = (start + block[0], start + block[1]) if block else None
            yield Sentence(note, start + first, start + last, text, hit, within)


def without_struck(source: str, code: Sequence[Span] = ()) -> str:
    """Returns the text with spaces in place of what is struck out (`~~old~~`), which no longer holds."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0][0] == "`" or _overlapping(found.span(), code) else " " * len(found[0])

    return _STRUCK.sub(blank, source) if "~~" in source else source


def _with_markup(source: str, span: Span) -> Span:
    """Returns the span with adjacent marks of emphasis, code and links, and with the box of a task."""
    start, end = span
    line = max(source.rfind("\n", 0, start) + 1, start - _LONGEST_MARKUP)
    before = _MARKUP_BEFORE.search(source[line:start])
    after = _MARKUP_AFTER.match(source, end)
    start = line + before.start() if before else start
    task = TASK.match(source, line, start)
    if task and not source[task.end() : start].strip():
        start = task.start("box")
    return start, after.end() if after else end


def _overlapping(span: Span, others: Sequence[Span]) -> Span | None:
    """Returns the last of the spans, which are in order and apart, that overlaps another one."""
    number = bisect_left(others, (span[1], 0))
    return others[number - 1] if number and span[0] < others[number - 1][1] else None


def _block_id(text: str, start: int, end: int) -> str:
    """Returns the block identifier for a sentence: at the end of its line if that is a list item, otherwise
    at the end of its paragraph. Returns "" if there is none."""
    line = _line(text, start, end)
    if found := _BLOCK_ID.search(line):
        return found[1]
    if ITEM.match(line):
        return ""
    after = _BLANK.search(text, end)
    paragraph = text[start : after.start() if after else len(text)].rstrip()
    last = paragraph.rpartition("\n")[2]
    found = None if ITEM.match(last) else _BLOCK_ID.search(paragraph)
    return found[1] if found else ""


def _line(text: str, start: int, end: int) -> str:
    last = text.find("\n", end)
    return text[text.rfind("\n", 0, start) + 1 : last if last >= 0 else len(text)]
