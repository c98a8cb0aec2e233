"""Searches one text for a word, a phrase or a regular expression, within a budget."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from vault_indexer.model import language_of_path
from vault_indexer.parse import ReadableText, code_blocks, link_labels, render_markdown
from vault_indexer.parse.frontmatter import body_start
from vault_indexer.search.deadline import LOOK, RENDERED, QueryDeadline, ReadingBudget
from vault_indexer.search.filters.candidates import Ids, Pattern, Span
from vault_indexer.search.filters.text_pattern import SearchedText, TextPattern
from vault_indexer.search.query import RegexMatcher, encode
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import batches

# A note's text as written, and as rendered.


_BLANK_LINES = re.compile(r"\n\s*\n")
_MARKUP = re.compile(r"[*_~=`\[\]<>\\&%|^#\r\t]|  |[ \t]\n|(?:\A|\n)[ +:-]")
"""Matches in a part that is not rendered as written, or that begins a list or rule."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|%%.*?%%", re.DOTALL)


@dataclass(frozen=True)
class ShownPart:
    """The rendered text of the source from `start` to `end`."""

    start: int
    end: int
    readable: ReadableText

    @cached_property
    def searched(self) -> SearchedText:
        return SearchedText(self.readable.text)

    def shown(self, start: int, end: int) -> Span:
        """Returns the span of the rendered text between two positions of the source."""
        return (
            self.readable.place(max(start, self.start) - self.start),
            self.readable.place(min(end, self.end) - self.start),
        )

    def source(self, span: Span) -> Span:
        return self.start + self.readable.source(span[0]), self.start + self.readable.source(span[1] - 1) + 1


class NoteSource(SearchedText):
    """The text of a note. It is rendered on demand and part by part, because rendering takes a hundred times
    as long as a search of the bytes. Parts are separated by blank lines; code and comments are never
    divided."""

    def __init__(self, encoded: bytes, *, is_code: bool = False) -> None:
        """`is_code` is true for a source file, which is displayed without rendering."""
        super().__init__(encoded)
        self._is_code = is_code
        self._parts: dict[int, ShownPart] = {}

    @cached_property
    def text_start(self) -> int:
        """The start of the displayed text: that of the body, or of the frontmatter if there is no body."""
        start = body_start(self.text)
        return start if self.text[start:].strip() else 0

    def part_at(self, position: int) -> tuple[ShownPart, bool]:
        """Returns the part that contains a character of the text, and whether this call rendered it."""
        number = max(bisect_right(self._borders, position) - 1, 0)
        if number in self._parts:
            return self._parts[number], False
        start = self._borders[number]
        end = self._borders[number + 1] if number + 1 < len(self._borders) else len(self.text)
        source = self.text[start:end]
        has_markup = not self._is_code and _MARKUP.search(source) is not None
        readable = (
            render_markdown(source, labels=self._labels) if has_markup else ReadableText(source, [0], [0])
        )
        self._parts[number] = ShownPart(start, end, readable)
        return self._parts[number], has_markup

    @cached_property
    def _labels(self) -> frozenset[str]:
        return link_labels(self.text)

    @cached_property
    def _borders(self) -> list[int]:
        text, start = self.text, self.text_start
        if self._is_code:
            return [start]
        # A blank line within code or a comment does not end a part.
        whole = [(first, last) for first, last, _ in code_blocks(text)]
        if "<!--" in text or "%%" in text:
            whole += [match.span() for match in _COMMENT.finditer(text)]
        whole.sort()
        borders, at, inside = [start], 0, 0
        for blank in _BLANK_LINES.finditer(text, start):
            while at < len(whole) and whole[at][0] < blank.end():
                inside = max(inside, whole[at][1])
                at += 1
            if blank.end() >= inside:
                borders.append(blank.end())
        return borders


# The texts of notes, read in batches until the budget of a query is spent.


MayHold = Callable[[int, NoteSource], bool]
"""Whether a note, given by id and text, may contain a pattern; False is certain."""

_READ_AT_ONCE = 64
_MANY = 512
"""A query that reads more notes scans the vault, so it evicts nothing from the cache. A rule of thumb."""

_HELD_BYTES = 32_000_000
"""Limit of bytes of texts kept while a batch of notes is checked. A rule of thumb."""


class NoteTexts:
    """Reads the texts of notes and counts the characters in the budget.

    `TextReader` owns one, for one query over one snapshot in one thread. Between two calls of `forget` a text
    is read once, unless more than `_HELD_BYTES` are read. When the budget is spent, no further text is read,
    and the remaining notes are in `unread`.
    """

    def __init__(self, catalog: CatalogReader, deadline: QueryDeadline, budget: ReadingBudget) -> None:
        self._catalog = catalog
        self._deadline = deadline
        self._budget = budget
        self._texts: dict[int, NoteSource] = {}
        self._held_bytes = 0
        self._read_texts = 0
        self.unread: set[int] = set()

    def forget(self) -> None:
        """Discards the texts of the previous notes, but not `unread`."""
        self._texts = {}
        self._held_bytes = 0

    def read(self, notes: Ids, may_hold: MayHold | None = None) -> Iterator[tuple[int, NoteSource]]:
        """Yields the notes, ascending, each with its text, except those that cannot contain the pattern."""
        for several in batches(sorted(notes), _READ_AT_ONCE):
            texts = {} if self._budget.is_spent else self._load(several)
            for note_id in several:
                self._deadline.check()
                searched = texts.get(note_id)
                if self._budget.is_spent or searched is None:
                    self.unread.add(note_id)
                elif may_hold is None or may_hold(note_id, searched):
                    yield note_id, searched

    def until_spent(self, read: Sequence[tuple[int, NoteSource]]) -> Iterator[tuple[int, NoteSource]]:
        """Yields the notes until the budget is spent, and adds the others to `unread`."""
        for note_id, searched in read:
            self._deadline.check()
            if self._budget.is_spent:
                self.unread.add(note_id)
            else:
                yield note_id, searched

    def _load(self, notes: Sequence[int]) -> Mapping[int, NoteSource]:
        if self._held_bytes > _HELD_BYTES:
            self._texts = {}
            self._held_bytes = 0
        missing = [note_id for note_id in notes if note_id not in self._texts]
        if missing:
            self._read_texts += len(missing)
            read = self._catalog.encoded_texts(missing, evict=self._read_texts <= _MANY)
            size = sum(map(len, read.values()))
            self._held_bytes += size
            # A fixed cost for each text: many short notes take time as well.
            self._budget.spend(LOOK * len(missing) + size)
            sql = "SELECT note_id, path FROM notes WHERE note_id IN (%s)"
            code = {
                note_id for note_id, path in self._catalog.rows_in(sql, missing) if language_of_path(path)
            }
            for note_id in missing:
                self._texts[note_id] = NoteSource(read.get(note_id, b""), is_code=note_id in code)
        return {note_id: self._texts[note_id] for note_id in notes}


_VISIBLE = re.compile(r"\S")
_STRIDE = 100
"""Matches of a regular expression in one line that begin fewer bytes apart than this are one place, because
places only determine which chunks to show. A rule of thumb."""


class PatternSearch:
    """Searches texts for patterns and counts the searched characters in the budget.

    `TextReader` owns one, for one query in one thread.
    """

    def __init__(self, budget: ReadingBudget) -> None:
        self._budget = budget
        self._occurs: dict[Pattern, dict[int, bool]] = {}

    def forget(self) -> None:
        self._occurs = {}

    def occurrence(self, pattern: Pattern) -> MayHold:
        """Returns a test whether a text may contain the pattern. Each is searched once until `forget`."""
        known = self._occurs.setdefault(pattern, {})

        def may_occur(note_id: int, searched: SearchedText) -> bool:
            if note_id not in known:
                known[note_id] = self.may_hold(pattern, searched)
            return known[note_id]

        return may_occur

    def may_hold(self, pattern: Pattern, searched: SearchedText) -> bool:
        """Whether, by RE2 on the UTF-8, a text matches an expression or may contain a word or phrase."""
        if isinstance(pattern, RegexMatcher):
            return self.find(pattern, searched.encoded) is not None
        if pattern.scanner is None:
            return True
        data = searched.encoded
        at = pattern.scanner.next_start(data, 0, len(data))
        self._budget.spend(LOOK + (len(data) if at is None else at))
        return at is not None

    def find(self, matcher: RegexMatcher, data: bytes, offset: int = 0) -> Span | None:
        """Returns the first match in UTF-8 from `offset`, in bytes."""
        match = matcher.find(data, offset)
        self._budget.spend(LOOK + matcher.effort * ((match[1] if match else len(data)) - offset))
        return match

    def places(self, matcher: RegexMatcher, searched: SearchedText, start: int) -> Iterator[Span]:
        """Yields, lazily, the places where an expression matches from the character `start`."""
        data = searched.encoded
        at = known = len(encode(searched.text[:start]))
        while at <= len(data):
            found = self.find(matcher, data, at)
            if found is None:
                return
            first, last = found
            start += len(data[known:first].decode("utf-8"))
            end = start + len(data[first:last].decode("utf-8"))
            # An empty match is at the characters around it: it has to touch a chunk.
            yield (start, end) if start < end else (max(start - 1, 0), end + 1)
            start, known = end, last
            at = _next_place(data, first, last)

    def is_within(self, pattern: TextPattern, note: NoteSource, start: int, end: int) -> bool:
        """Whether the rendered text of a piece of a note contains a word or phrase."""
        return next(self.spans(pattern, note, start, end), None) is not None

    def spans(self, pattern: TextPattern, note: NoteSource, start: int, end: int) -> Iterator[Span]:
        """Yields, in order, the spans of the source where a piece of a note displays a word or phrase. RE2
        selects the parts of the note to render."""
        while (position := self._next_position(pattern, note, start, end)) is not None:
            part, was_rendered = note.part_at(position)
            if was_rendered:
                self._budget.spend(RENDERED * (part.end - part.start))
            first, last = part.shown(start, end)
            self._budget.spend(last - first)
            yield from map(part.source, pattern.spans(part.searched, first, last))
            # At least one character further, or an empty part would be returned for ever.
            start = max(part.end, position + 1)

    def _next_position(self, pattern: TextPattern, note: NoteSource, start: int, end: int) -> int | None:
        """Returns a position in the first part of the note, from `start`, that may contain a pattern."""
        if pattern.scanner is None or start >= end:
            return start if start < end else None
        # The scanner needs the character before, to see a border of a word.
        first = note.byte_at(max(start - pattern.scanner.follows_border, 0))
        last = note.byte_at(min(end + 1, len(note.text)))
        at = pattern.scanner.next_start(note.encoded, first, last)
        self._budget.spend(LOOK + (last if at is None else at) - first)
        visible = None if at is None else _VISIBLE.search(note.text, note.char_at(at), end)
        return max(visible.start(), start) if visible else None

    def matches_within(self, matcher: RegexMatcher, text: str, start: int, end: int) -> bool:
        """Whether an expression matches in a piece of a text. The piece is matched as a separate text, so its
        borders are borders of lines and words."""
        return self.find(matcher, encode(text[start:end].rstrip("\r\n"))) is not None


def is_worth_scanning(pattern: TextPattern) -> bool:
    """Whether to search the UTF-8 for a pattern first. For a single word this is rarely useful, because the
    keyword index nearly always determines where it occurs."""
    is_word = len(pattern.words) == 1 and pattern.words[0] == pattern.source and pattern.cased is None
    return bool(pattern.source) and not is_word


def _next_place(data: bytes, first: int, last: int) -> int:
    """Returns where to continue after a match: at the next line, or `_STRIDE` bytes after its start."""
    line_end = data.find(b"\n", last, first + _STRIDE)
    at = max(last, first + 1, line_end if line_end >= 0 else first + _STRIDE)
    while at < len(data) and data[at] & 0xC0 == 0x80:  # within a character
        at += 1
    return at
