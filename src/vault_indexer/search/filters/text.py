"""Conditions on the text of notes: the keyword index says which notes to read, the text decides."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.parse import property_lines
from vault_indexer.search.deadline import QueryDeadline, WorkBudget
from vault_indexer.search.filters.matches import Ids, Matches, Span
from vault_indexer.search.filters.scopes import HeadingRow, NoteText, Pieces, pieces, task_states
from vault_indexer.search.filters.text_pattern import SearchedText, TextPattern, text_pattern
from vault_indexer.search.query import (
    All,
    Either,
    Node,
    Not,
    Phrase,
    Regex,
    RegexMatcher,
    Scope,
    Text,
    Word,
    compile_regex,
    encode,
)
from vault_indexer.store import Snapshot
from vault_indexer.text.terms import VARIANT_MARK
from vault_indexer.text.tokens import LONGEST_TERM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.parse import Task

    Keys = NDArray[np.int64]
    Mask = NDArray[np.bool_]

Pattern = TextPattern | RegexMatcher

_Test = Callable[[int, int], bool]
"""Whether the text from one position to another passes."""

_WINDOW = 3
"""A phrase may run over the border between chunks, of so many at most."""

_TEXT_FIELDS = ("title", "aliases", "tags", "properties", "headers", "content")

_RAREST = 6
_LOOKED_UP = 32
"""So many words of a phrase choose the notes to read, the rarest of the first 32: another one hardly leaves
out any more."""

_LEXICON_SCANS = 8
"""So many parts of a query may be looked up in all words of the index, at about 10 ms each."""

_READ_NS = 9
_SIGNS_NS = 3
_QUICK_NS = 7
_SLOW_NS = 38
_REGEX_NS = 4
_PARSE_NS = 700
"""What a character costs: to read and fold, to search by a pattern of signs, of plain letters, of letters
with accents, and by a regular expression, and to parse. Measured on a vault of 60 million characters."""

_PROPERTY_NS = 30
"""What a character of the frontmatter costs: to decode and to search."""

_BETWEEN_TEXTS = "\n\n"

_MATCH_NS = 5000
"""What one call of a regular expression costs beside its characters. Where the processor time of a call is
more than the estimate, that time counts: a few expressions need so many states that RE2 is slow, and the
pattern does not show which."""

_STRIDE = 100
"""Matches of a regular expression in one line that begin less than so many bytes apart are one place: a place
only says which chunk to show."""

_NOTE_NS = 8_000
_STRUCTURE_NS = 25_000
_PIECE_NS = 400
_HEADING_NS = 4000
_FOUND_NS = 1000
_TEST_NS = 2500
_TERM_NS = 4000
"""What it costs to ask the catalog for a note, and for its structure, to find the borders of a piece, to read
a heading, to find a place, to look for a word in a piece, and to prepare a word for a note."""

_COMPILE_NS = 5_000_000
"""What it costs to prepare a pattern with accents."""


def is_simple_word(pattern: TextPattern, text: str) -> bool:
    """Whether the keyword index alone says which notes hold it."""
    return text.isalnum() and len(pattern.words) == 1 and not pattern.pairs and not pattern.begins


def notes_holding(snapshot: Snapshot, terms: Iterable[str]) -> Keys:
    """The ids of the notes that hold any of the index terms in text or frontmatter, ascending."""
    keys = snapshot.keywords.holding(terms, _TEXT_FIELDS)
    return np.unique(keys >> CHUNK_KEY_BITS)


def pattern_of(node: Text) -> Pattern:
    """What to look for in a text. Raises QueryError for a wrong regular expression."""
    match node:
        case Word(text, _):
            return text_pattern(text)
        case Phrase(text, _, match_case):
            return text_pattern(text, match_case=True) if match_case else text_pattern(text)
        case Regex(pattern, column, match_case):
            return compile_regex(pattern, column, match_case=match_case)


def holds(node: Node, has: Callable[[Text], bool]) -> bool:
    """Whether a tree of words, phrases and expressions holds, for one piece of text or one name."""
    match node:
        case Word() | Phrase() | Regex():
            return has(node)
        case All(parts):
            return all(holds(part, has) for part in parts)
        case Either(parts):
            return any(holds(part, has) for part in parts)
        case Not(operand, _):
            return not holds(operand, has)
        case _:
            raise AssertionError(node)


class TextCandidates:
    """Which notes can hold a text, by the keyword index alone: at least those that do.

    Made for one query over one snapshot. `keys` are its chunks, ascending, and `owner` gives for each the
    position of its note, as do the masks that the methods return.
    """

    def __init__(self, snapshot: Snapshot, keys: Keys, owner: Keys, size: int) -> None:
        self._snapshot = snapshot
        self._keys = keys
        self._owner = owner
        self._size = size
        self._near: dict[tuple[str, ...], Mask] = {}
        self._of_pattern: dict[Pattern, Mask] = {}
        self._scans = 0

    def of(self, inside: Node) -> Mask:
        """Notes with a piece for which a tree of words, phrases and expressions may hold."""
        match inside:
            case Word() | Phrase() | Regex():
                return self.of_pattern(pattern_of(inside))
            case All(parts):
                return reduce(np.logical_and, map(self.of, parts))
            case Either(parts):
                return reduce(np.logical_or, map(self.of, parts))
            case _:
                return np.ones(self._size, bool)

    def of_pattern(self, pattern: Pattern) -> Mask:
        """Notes that hold all that a pattern is made of: words within `_WINDOW` neighbouring chunks, the
        required letters of a regular expression anywhere."""
        if pattern not in self._of_pattern:
            self._of_pattern[pattern] = (
                self._notes_with_pieces(pattern)
                if isinstance(pattern, RegexMatcher)
                else self._notes_with(pattern)
            )
        return self._of_pattern[pattern]

    def _notes_with_pieces(self, matcher: RegexMatcher) -> Mask:
        found = np.ones(self._size, bool)
        lexicon = self._snapshot.keywords.lexicon
        for piece in matcher.pieces:
            if self._may_scan():
                terms = {*lexicon.containing(piece), *lexicon.longest_words}
                keys = self._snapshot.keywords.holding(terms, _TEXT_FIELDS)
                here = np.zeros(self._size, bool)
                here[self._owner[np.searchsorted(self._keys, keys)]] = True
                found &= here
        return found

    def _notes_with(self, pattern: TextPattern) -> Mask:
        left = np.ones(len(self._keys), bool)
        for terms in self._needs(pattern):
            left &= self._near_chunks(terms)
        found = np.zeros(self._size, bool)
        found[self._owner[left]] = True
        return found

    def _needs(self, pattern: TextPattern) -> Iterator[tuple[str, ...]]:
        """For parts of a pattern the index terms of which a text with it holds at least one."""
        lexicon = self._snapshot.keywords.lexicon
        known: list[tuple[str, ...]] = [(word, VARIANT_MARK + word) for word in pattern.words]
        known += [(pair,) for pair in pattern.pairs]
        if len(known) > _RAREST:
            known = sorted(known[:_LOOKED_UP], key=self._frequency)
        yield from known[:_RAREST]
        for char in pattern.begins:
            if self._may_scan():
                yield tuple(word.term for word in lexicon.with_prefix(char, 1 << 30))
        for piece in pattern.pieces:
            if self._may_scan():
                yield tuple(lexicon.containing(piece))

    def _may_scan(self) -> bool:
        self._scans += 1
        return self._scans <= _LEXICON_SCANS

    def _frequency(self, terms: Sequence[str]) -> int:
        return max(map(self._snapshot.keywords.document_frequency, terms))

    def _near_chunks(self, terms: tuple[str, ...]) -> Mask:
        if terms not in self._near:
            here = np.zeros(len(self._keys), bool)
            here[np.searchsorted(self._keys, self._snapshot.keywords.holding(terms, _TEXT_FIELDS))] = True
            near = here.copy()
            for step in range(1, _WINDOW):
                near[:-step] |= here[step:] & (self._owner[step:] == self._owner[:-step])
            self._near[terms] = near
        return self._near[terms]


class TextReader:
    """Looks for phrases and places in the texts of notes. Made for one query over one snapshot.

    `may_hold` says, without reading it, whether a note may hold a pattern.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        deadline: QueryDeadline,
        budget: WorkBudget,
        may_hold: Callable[[Pattern, int], bool],
    ) -> None:
        self._may_hold = may_hold
        self._compiled: set[TextPattern] = set()
        self._catalog = snapshot.catalog
        self._deadline = deadline
        self._budget = budget
        self._texts: dict[int, SearchedText] = {}
        self.unread: set[int] = set()
        """Notes that were not read because the budget was spent: what is found of them is not to be used."""

    def prepare(self, notes: Ids) -> None:
        """Read the texts of these notes, and forget those before."""
        texts = self._catalog.texts(notes)
        self._texts = {note_id: SearchedText(text) for note_id, text in texts.items()}
        self._budget.spend(_READ_NS * sum(map(len, texts.values())))

    def notes_with(self, node: Text, notes: Ids, *, all_places: bool) -> Matches:
        """Of these notes those with the words in this order, or with a match of the expression: in the text,
        which gives places (all, or the first one), or in title, alias, tag or property. The text of a note
        without a body is its frontmatter."""
        pattern = pattern_of(node)
        if isinstance(pattern, RegexMatcher):
            return self._notes_matching(pattern, notes, all_places=all_places)
        places: dict[int, tuple[Span, ...]] = {}
        for note_id, searched in self._read(notes):
            regex, where = pattern.over(searched)
            matches = pattern.spans(searched, NoteText(where).text_start)
            found = tuple(matches if all_places else islice(matches, 1))
            read = found[0][1] if found and not all_places else len(where)
            self._count(pattern, regex, read)
            if found:
                self._budget.spend(_FOUND_NS * len(found))
                places[note_id] = found
        return Matches(frozenset(places) | self._notes_named(pattern, notes.difference(places)), places)

    def _notes_matching(self, matcher: RegexMatcher, notes: Ids, *, all_places: bool) -> Matches:
        places: dict[int, tuple[Span, ...]] = {}
        for note_id, searched in self._read(notes):
            start = NoteText(searched.text).text_start
            found: list[Span] = []
            for span in self._matches(matcher, searched, start):
                found.append(span)
                if not all_places or self._budget.is_spent:
                    break
            if found:
                places[note_id] = tuple(found)
            if all_places and self._budget.is_spent:
                self.unread.add(note_id)
        return Matches(frozenset(places) | self._notes_named(matcher, notes.difference(places)), places)

    def _matches(self, matcher: RegexMatcher, searched: SearchedText, start: int) -> Iterator[Span]:
        """Places in the text from a position on. Counts what it takes to find them."""
        data = searched.encoded
        at = known = len(encode(searched.text[:start]))
        while at <= len(data):
            started = time.thread_time_ns()
            found = matcher.find(data, at)
            self._spend_clocked((found[1] if found else len(data)) - at, started)
            if found is None:
                return
            first, last = found
            start += len(data[known:first].decode("utf-8"))
            end = start + len(data[first:last].decode("utf-8"))
            # An empty match is at the characters around it: it has to touch a chunk.
            yield (start, end) if start < end else (max(start - 1, 0), end + 1)
            start, known = end, last
            at = _next_place(data, first, last)

    def _spend_clocked(self, size: int, started: int) -> None:
        self._budget.spend(max(_MATCH_NS + size * _REGEX_NS, time.thread_time_ns() - started))

    def notes_within(self, scope: Scope, inside: Node | None, notes: Ids, *, all_places: bool) -> Matches:
        """Of these notes those with a section, line, … for which `inside` holds (None: with one at all)."""
        structure = self._structure(scope, notes)
        anchor = _anchor(inside)
        required = _required_regex(inside, scope) if anchor is None else None
        places: dict[int, tuple[Span, ...]] = {}
        for note_id, searched in self._read(notes):
            if required and not self._is_anywhere(required, searched):
                continue
            note = structure.note(note_id, searched.text)
            self._budget.spend(_STRUCTURE_NS + _HEADING_NS * len(note.headings))
            if scope is Scope.BLOCK and note.blocks is None:
                self._budget.spend(_PARSE_NS * len(note.text))
            known = _Known(note_id, searched, anchor, scope)
            test = self._test(inside, known) if inside else _always
            spans = self._spans(pieces(note, scope), searched, test, required or anchor)
            found = tuple(spans if all_places else islice(spans, 1))
            if self._budget.is_spent and (all_places or not found):
                self.unread.add(note_id)
            elif found:
                places[note_id] = found
        return Matches(frozenset(places), places)

    def _read(self, notes: Ids) -> Iterator[tuple[int, SearchedText]]:
        self._budget.spend(_NOTE_NS * len(notes))
        for note_id in sorted(notes):
            self._deadline.check()
            if self._budget.is_spent:
                self.unread.add(note_id)
                continue
            searched = self._texts.get(note_id)
            if searched is None:
                searched = self._texts[note_id] = SearchedText(self._catalog.text(note_id))
            yield note_id, searched

    def _count(self, pattern: TextPattern, regex: re.Pattern[str], size: int) -> None:
        ns = _ns_per_char(pattern, regex)
        self._budget.spend(size * ns)
        if ns == _SLOW_NS and pattern not in self._compiled:
            self._compiled.add(pattern)
            self._budget.spend(_COMPILE_NS)

    def _spans(
        self, found: Pieces, searched: SearchedText, test: _Test, anchor: Pattern | None
    ) -> Iterator[Span]:
        """The places of the pieces that pass a test. Every one of these holds the anchor, so the others are
        not looked into."""
        self._budget.spend(_PIECE_NS * len(found))
        numbers = (
            self._numbers_matching(found, searched, anchor)
            if isinstance(anchor, RegexMatcher)
            else self._numbers(found, searched, anchor)
        )
        for number in numbers:
            if self._budget.is_spent:
                return
            if test(found.starts[number], found.ends[number]):
                yield found.starts[number], found.place_ends[number]

    def _numbers(self, found: Pieces, searched: SearchedText, anchor: TextPattern | None) -> Iterator[int]:
        """The pieces that hold the anchor's word, each once, in order."""
        if anchor is None:
            yield from range(len(found))
            return
        regex, where = anchor.over(searched)
        self._count(anchor, regex, len(where))
        last = -1
        for match in regex.finditer(where):
            self._budget.spend(_FOUND_NS)
            number = found.at(match.start())
            if number is not None and number != last:
                last = number
                yield number

    def _numbers_matching(
        self, found: Pieces, searched: SearchedText, matcher: RegexMatcher
    ) -> Iterator[int]:
        """The pieces in which a match of the whole text begins: at least those that match by themselves."""
        text, data = searched.text, searched.encoded
        at = position = 0
        while at <= len(data):
            started = time.thread_time_ns()
            match = matcher.find(data, at)
            self._spend_clocked((match[0] if match else len(data)) - at, started)
            if match is None:
                return
            position += len(data[at : match[0]].decode("utf-8"))
            number = found.at_or_behind(position)
            if number is None:
                return
            yield number
            after = max(found.ends[number], position + 1)
            at = match[0] + len(encode(text[position:after]))
            position = after

    def _test(self, node: Node, known: _Known) -> _Test:
        """Whether a tree of words, phrases and expressions holds for a piece that holds the anchor."""
        match node:
            case Word() | Phrase() | Regex():
                self._budget.spend(_TERM_NS)
                return self._leaf_test(pattern_of(node), known)
            case All(parts):
                return partial(_all, [self._test(part, known) for part in parts])
            case Either(parts):
                return partial(_any, [self._test(part, known) for part in parts])
            case Not(operand, _):
                return partial(_not, self._test(operand, known))
            case _:
                raise AssertionError(node)

    def _leaf_test(self, pattern: Pattern, known: _Known) -> _Test:
        if pattern is known.anchor:
            return _always
        if not self._may_hold(pattern, known.note_id):
            return _never
        if isinstance(pattern, TextPattern):
            regex, where = pattern.over(known.searched)
            self._count(pattern, regex, 0)
            ns = _ns_per_char(pattern, regex)
            if pattern.cased is not None:
                return partial(self._is_cased_within, pattern, known.searched, ns)
            return partial(self._is_within, regex, where, ns)
        if _is_seen_in_text(pattern, known.scope) and not self._is_anywhere(pattern, known.searched):
            return _never
        return partial(self._matches_within, pattern, known.searched.text)

    def _is_anywhere(self, matcher: RegexMatcher, searched: SearchedText) -> bool:
        """Whether an expression matches in the text: at no place of it means in none of its pieces."""
        return next(self._matches(matcher, searched, 0), None) is not None

    def _is_within(self, regex: re.Pattern[str], where: str, ns: int, start: int, end: int) -> bool:
        found = regex.search(where, start, end)
        self._budget.spend(_TEST_NS + ns * ((found.end() if found else end) - start))
        return found is not None

    def _is_cased_within(
        self, pattern: TextPattern, searched: SearchedText, ns: int, start: int, end: int
    ) -> bool:
        found = next(pattern.spans(searched, start, end), None)
        self._budget.spend(_TEST_NS + ns * ((found[1] if found else end) - start))
        return found is not None

    def _matches_within(self, matcher: RegexMatcher, text: str, start: int, end: int) -> bool:
        """A piece is a text of its own: its borders are borders of lines and words."""
        started = time.thread_time_ns()
        found = matcher.is_in(text[start:end].rstrip("\r\n"))
        self._spend_clocked(end - start, started)
        return found

    def _notes_named(self, pattern: Pattern, notes: Ids) -> Ids:
        """Those of the notes with the pattern in title, an alias, a tag or a property."""
        sql = "SELECT note_id, title, aliases, tags, frontmatter FROM notes WHERE note_id IN (%s)"
        found = set()
        for note_id, title, aliases, tags, frontmatter in self._catalog.rows_in(sql, sorted(notes)):
            texts = [title, *json.loads(aliases), *json.loads(tags)]
            if frontmatter != "{}":
                self._budget.spend(_PROPERTY_NS * len(frontmatter))
                texts += property_lines(json.loads(frontmatter))
            # One search for all: a blank line keeps a phrase within one of them.
            if pattern.is_in(_BETWEEN_TEXTS.join(texts)):
                found.add(note_id)
        return frozenset(found)

    def _structure(self, scope: Scope, notes: Ids) -> _Structure:
        ids = sorted(notes)
        if scope in (Scope.HEADING, Scope.SECTION):
            return _Structure(headings=self._headings(ids))
        if scope is Scope.BLOCK:
            return _Structure(blocks=self._catalog.block_spans(ids))
        if task_states(scope):
            return _Structure(tasks=self._catalog.tasks(ids))
        return _Structure()

    def _headings(self, notes: Sequence[int]) -> Mapping[int, list[HeadingRow]]:
        sql = (
            "SELECT note_id, level, start_pos, end_pos FROM headings"
            " WHERE note_id IN (%s) AND NOT nested ORDER BY note_id, ord"
        )
        found: dict[int, list[HeadingRow]] = {}
        for note_id, level, start, end in self._catalog.rows_in(sql, notes):
            found.setdefault(note_id, []).append(HeadingRow(level, start, end))
        return found


@dataclass(frozen=True, slots=True)
class _Known:
    """What a test of pieces knows of their note."""

    note_id: int
    searched: SearchedText
    anchor: TextPattern | None
    scope: Scope


@dataclass(frozen=True, slots=True)
class _Structure:
    """What the catalog holds of the structure of some notes, by note; only what a scope needs is read."""

    headings: Mapping[int, list[HeadingRow]] | None = None
    blocks: Mapping[int, list[Span]] | None = None
    tasks: Mapping[int, list[Task]] | None = None

    def note(self, note_id: int, text: str) -> NoteText:
        return NoteText(
            text,
            (self.headings or {}).get(note_id, ()),
            (self.blocks or {}).get(note_id),
            (self.tasks or {}).get(note_id),
        )


def _ns_per_char(pattern: TextPattern, regex: re.Pattern[str]) -> int:
    if pattern.is_literal:
        return _SIGNS_NS
    return _QUICK_NS if regex is pattern.quick else _SLOW_NS


def _next_place(data: bytes, first: int, last: int) -> int:
    """Where to look on behind a match: from the next line or `_STRIDE` bytes behind its beginning on."""
    line_end = data.find(b"\n", last, first + _STRIDE)
    at = max(last, first + 1, line_end if line_end >= 0 else first + _STRIDE)
    while at < len(data) and data[at] & 0xC0 == 0x80:  # within a character
        at += 1
    return at


def _always(_start: int, _end: int) -> bool:
    return True


def _never(_start: int, _end: int) -> bool:
    return False


def _all(tests: Sequence[_Test], start: int, end: int) -> bool:
    return all(test(start, end) for test in tests)


def _any(tests: Sequence[_Test], start: int, end: int) -> bool:
    return any(test(start, end) for test in tests)


def _not(test: _Test, start: int, end: int) -> bool:
    return not test(start, end)


def _anchor(inside: Node | None) -> TextPattern | None:
    """The longest word that every piece for which a tree holds must have; None if there is none.

    A single word, since two finds of a phrase can overlap, and of those only the first would be seen.
    """
    words = sorted(_required_words(inside), key=lambda word: (-len(word), word)) if inside else []
    return text_pattern(words[0]) if words else None


def _required_regex(inside: Node | None, scope: Scope) -> RegexMatcher | None:
    """An expression that every piece for which a tree holds must match; None if there is none of use."""
    for part in inside.parts if isinstance(inside, All) else (inside,):
        if isinstance(part, Regex):
            matcher = compile_regex(part.pattern, part.column, match_case=part.match_case)
            if _is_seen_in_text(matcher, scope):
                return matcher
    return None


def _is_seen_in_text(matcher: RegexMatcher, scope: Scope) -> bool:
    """Whether a match in a piece, as a text of its own, is one of the whole text, too.

    The borders of a piece count as those of a line. Lines, and the content, do begin there; other pieces may
    be indented. All end with a line, save headings, which may end before their closing signs.
    """
    return scope in (Scope.LINE, Scope.CONTENT) or (scope != Scope.HEADING and not matcher.has_line_start)


def _required_words(node: Node) -> set[str]:
    match node:
        case Word(text, _) | Phrase(text, _):
            return {word for word in text_pattern(text).words if len(word) < LONGEST_TERM}
        case All(parts):
            return set[str]().union(*map(_required_words, parts))
        case Either(parts):
            return set[str].intersection(*map(_required_words, parts))
        case _:
            return set()
