"""Conditions on the text of notes: the text decides."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from vault_indexer.parse import Task, property_lines
from vault_indexer.search.deadline import QueryDeadline, WorkBudget
from vault_indexer.search.filters import costs
from vault_indexer.search.filters.candidates import Pattern, TextCandidates, pattern_of
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
    atoms,
    compile_regex,
    encode,
)
from vault_indexer.store import Snapshot
from vault_indexer.text.tokens import LONGEST_TERM

_Test = Callable[[int, int], bool]
"""Whether the text from one position to another passes."""

_Possible = Callable[[int, SearchedText], bool]
"""Whether a note, given by id and text, may hold something; False is certain."""

_READ_AT_ONCE = 64
_MANY = 512
"""A query that reads more notes than these looks through everything: it leaves the cache to others."""

_HELD_BYTES = 32_000_000
"""Texts of so many bytes are kept while a batch of notes is checked."""

_BETWEEN_TEXTS = "\n\n"

_SLOW = 4
"""Where RE2 needs this many times the estimate, the processor time counts: a few expressions need so many
states that RE2 is slow, and the pattern does not show which."""

_NOISE_NS = 5_000_000
"""So much more an expression may take by chance, all its calls together."""

_SMALL_PART = 8
"""Where pieces are a smaller part of the text than one in so many, each is looked into by itself."""

_SOMEWHERE = ((0, 0),)
"""Where only the notes are asked for, and a note has no frontmatter, which does not count."""

_STRIDE = 100
"""Matches of a regular expression in one line that begin less than so many bytes apart are one place: a place
only says which chunk to show."""


class TextReader:
    """Looks for phrases and places in the texts of notes. Made for one query over one snapshot.

    `candidates` say, without reading it, whether a note may hold a pattern; `position` gives the place of a
    note in their masks. A text is read at most once for each batch of notes, and decoded only where RE2 finds
    what a condition needs.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        deadline: QueryDeadline,
        budget: WorkBudget,
        candidates: TextCandidates,
        position: Callable[[int], int],
    ) -> None:
        self._candidates = candidates
        self._position = position
        self._compiled: set[TextPattern] = set()
        self._scanned: set[TextPattern] = set()
        self._excess: defaultdict[RegexMatcher, int] = defaultdict(lambda: -_NOISE_NS)
        self._catalog = snapshot.catalog
        self._deadline = deadline
        self._budget = budget
        self._texts: dict[int, SearchedText] = {}
        self._held_bytes = 0
        self._read_texts = 0
        self._names: dict[int, tuple[str, bool]] = {}
        self._occurs: dict[Pattern, dict[int, bool]] = {}
        self._decoded: set[int] = set()
        self.unread: set[int] = set()
        """Notes that were not read because the budget was spent: what is found of them is not to be used."""

    def forget(self) -> None:
        """Forget the texts of the notes before, and what was found in them."""
        self._texts = {}
        self._held_bytes = 0
        self._names = {}
        self._occurs = {}
        self._decoded = set()

    def notes_with(self, node: Text, notes: Ids, *, all_places: bool) -> Matches:
        """Of these notes those with the words in this order, or with a match of the expression: in the text,
        which gives places (all, or the first one), or in title, alias, tag or property. The text of a note
        without a body is its frontmatter."""
        pattern = pattern_of(node)
        if isinstance(pattern, RegexMatcher):
            return self._notes_matching(pattern, notes, all_places=all_places)
        places: dict[int, tuple[Span, ...]] = {}
        possible = self._occurrence(pattern) if _is_scanned(pattern) else None
        for note_id, searched in self._read(notes, possible):
            self._decode(note_id, searched)
            matches = pattern.spans(searched, NoteText(searched.text).text_start)
            found = tuple(matches if all_places else islice(matches, 1))
            self._count(pattern, searched, found[0][1] if found and not all_places else len(searched.text))
            if found:
                self._budget.spend(costs.FOUND * len(found))
                places[note_id] = found
        return Matches(frozenset(places) | self._notes_named(pattern, notes.difference(places)), places)

    def _notes_matching(self, matcher: RegexMatcher, notes: Ids, *, all_places: bool) -> Matches:
        places: dict[int, tuple[Span, ...]] = {}
        for note_id, searched in self._read(notes, self._occurrence(matcher)):
            if not all_places and not searched.encoded.startswith(b"---"):
                places[note_id] = _SOMEWHERE
                continue
            self._decode(note_id, searched)
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
            found = self._find(matcher, data, at)
            if found is None:
                return
            first, last = found
            start += len(data[known:first].decode("utf-8"))
            end = start + len(data[first:last].decode("utf-8"))
            # An empty match is at the characters around it: it has to touch a chunk.
            yield (start, end) if start < end else (max(start - 1, 0), end + 1)
            start, known = end, last
            at = _next_place(data, first, last)

    def _find(self, matcher: RegexMatcher, data: bytes, at: int = 0) -> Span | None:
        started = time.thread_time_ns()
        found = matcher.find(data, at)
        measured = time.thread_time_ns() - started
        self._spend_on(matcher, costs.SCAN + costs.SCANNED_BYTE * ((found[1] if found else len(data)) - at))
        self._excess[matcher] += measured
        if self._excess[matcher] > 0:
            self._spend_on(matcher, self._excess[matcher])
        return found

    def _spend_on(self, matcher: RegexMatcher, work_ns: int) -> None:
        self._budget.spend(work_ns)
        self._excess[matcher] -= _SLOW * work_ns

    def notes_within(self, scope: Scope, inside: Node | None, notes: Ids, *, all_places: bool) -> Matches:
        """Of these notes those with a section, line, … for which `inside` holds (None: with one at all)."""
        anchor = _anchor(inside)
        required = _required_regex(inside, scope) if anchor is None else None
        possible = self._possible(inside, scope) if inside else None
        read = list(self._read(notes, possible))
        structure = self._structure(scope, [note_id for note_id, _ in read])
        places: dict[int, tuple[Span, ...]] = {}
        for note_id, searched in self._until_spent(read):
            self._decode(note_id, searched)
            note = structure.note(note_id, searched.text)
            self._budget.spend(costs.STRUCTURE)
            self._budget.spend(costs.HEADING * len(note.headings))
            if scope is Scope.BLOCK and note.blocks is None:
                self._budget.spend(costs.PARSED_CHAR * len(note.text))
            known = _Known(note_id, searched, anchor, scope)
            test = self._test(inside, known) if inside else _always
            spans = self._spans(pieces(note, scope), searched, test, required or anchor)
            found = tuple(spans if all_places else islice(spans, 1))
            if self._budget.is_spent and (all_places or not found):
                self.unread.add(note_id)
            elif found:
                places[note_id] = found
        return Matches(frozenset(places), places)

    def _possible(self, inside: Node, scope: Scope) -> _Possible | None:
        """What UTF-8 says of whether a note has a piece for which a tree holds; None: nothing."""
        match inside:
            case Word() | Phrase() | Regex():
                pattern = pattern_of(inside)
                return self._occurrence(pattern) if _is_seen_in_text(pattern, scope) else None
            case All(parts):
                tests = [test for part in parts if (test := self._possible(part, scope)) is not None]
                return partial(_all_possible, tests) if tests else None
            case Either(parts):
                either = [self._possible(part, scope) for part in parts]
                certain = [test for test in either if test is not None]
                return partial(_any_possible, certain) if len(certain) == len(parts) else None
            case _:
                return None

    def _occurrence(self, pattern: Pattern) -> _Possible:
        """Whether a note's text may have the pattern; looked for once in each of them."""
        known = self._occurs.setdefault(pattern, {})
        if isinstance(pattern, TextPattern) and pattern not in self._scanned:
            self._scanned.add(pattern)
            self._budget.spend(costs.COMPILE_SCANNER)

        def may_occur(note_id: int, searched: SearchedText) -> bool:
            if note_id not in known:
                known[note_id] = self._looks_possible(pattern, searched)
            return known[note_id]

        return may_occur

    def _looks_possible(self, pattern: Pattern, searched: SearchedText) -> bool:
        if isinstance(pattern, RegexMatcher):
            return self._find(pattern, searched.encoded) is not None
        if pattern.scanner is None:
            return True
        data = searched.encoded
        at = pattern.scanner.next_start(data, 0, len(data))
        self._budget.spend(costs.SCAN + costs.SCANNED_BYTE * (len(data) if at is None else at))
        return at is not None

    def _read(self, notes: Ids, possible: _Possible | None = None) -> Iterator[tuple[int, SearchedText]]:
        """The notes, ascending, each with its text, save those that something is not possible for."""
        ordered = sorted(notes)
        for at in range(0, len(ordered), _READ_AT_ONCE):
            several = ordered[at : at + _READ_AT_ONCE]
            texts = {} if self._budget.is_spent else self._load(several)
            for note_id in several:
                self._deadline.check()
                searched = texts.get(note_id)
                if self._budget.is_spent or searched is None:
                    self.unread.add(note_id)
                elif possible is None or possible(note_id, searched):
                    yield note_id, searched

    def _until_spent(self, read: Sequence[tuple[int, SearchedText]]) -> Iterator[tuple[int, SearchedText]]:
        for note_id, searched in read:
            self._deadline.check()
            if self._budget.is_spent:
                self.unread.add(note_id)
            else:
                yield note_id, searched

    def _load(self, notes: Sequence[int]) -> Mapping[int, SearchedText]:
        if self._held_bytes > _HELD_BYTES:
            self._texts = {}
            self._held_bytes = 0
        missing = [note_id for note_id in notes if note_id not in self._texts]
        if missing:
            self._read_texts += len(missing)
            read = self._catalog.encoded_texts(missing, evict=self._read_texts <= _MANY)
            size = sum(map(len, read.values()))
            self._held_bytes += size
            self._budget.spend(costs.NOTE * len(missing))
            self._budget.spend(costs.BYTE * size)
            self._texts.update((note_id, SearchedText(read.get(note_id, b""))) for note_id in missing)
        return {note_id: self._texts[note_id] for note_id in notes}

    def _decode(self, note_id: int, searched: SearchedText) -> None:
        """Count that a text is decoded."""
        if note_id not in self._decoded:
            self._decoded.add(note_id)
            self._budget.spend(costs.DECODED_BYTE * len(searched.encoded))

    def _count(self, pattern: TextPattern, searched: SearchedText, size: int) -> None:
        is_slow = not _is_quick(pattern, searched)
        self._budget.spend((costs.SLOW_CHAR if is_slow else costs.QUICK_CHAR) * size)
        if is_slow and pattern not in self._compiled:
            self._compiled.add(pattern)
            self._budget.spend(costs.COMPILE)

    def _spans(
        self, found: Pieces, searched: SearchedText, test: _Test, anchor: Pattern | None
    ) -> Iterator[Span]:
        """The places of the pieces that pass a test. Every one of these holds the anchor, so the others are
        not looked into."""
        self._budget.spend(costs.PIECE * len(found))
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
        if found.size * _SMALL_PART < len(searched.text):
            for each, start, end in zip(range(len(found)), found.starts, found.ends, strict=True):
                if self._is_within(anchor, searched, start, end):
                    yield each
            return
        self._count(anchor, searched, len(searched.text))
        last = -1
        for start, _ in anchor.spans(searched):
            self._budget.spend(costs.FOUND)
            number = found.at(start)
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
            match = self._find(matcher, data, at)
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
                self._budget.spend(costs.TERM)
                return self._leaf_test(pattern_of(node), known)
            case All(parts):
                return partial(_all, [self._test(part, known) for part in _words_first(parts)])
            case Either(parts):
                return partial(_any, [self._test(part, known) for part in _words_first(parts)])
            case Not(operand, _):
                return partial(_not, self._test(operand, known))
            case _:
                raise AssertionError(node)

    def _leaf_test(self, pattern: Pattern, known: _Known) -> _Test:
        if pattern is known.anchor:
            return _always
        if not self._candidates.of_pattern(pattern)[self._position(known.note_id)]:
            return _never
        is_seen = _is_seen_in_text(pattern, known.scope)
        if is_seen and not self._occurrence(pattern)(known.note_id, known.searched):
            return _never
        if isinstance(pattern, TextPattern):
            self._count(pattern, known.searched, 0)
            return partial(self._is_within, pattern, known.searched)
        return partial(self._matches_within, pattern, known.searched.text)

    def _is_within(self, pattern: TextPattern, searched: SearchedText, start: int, end: int) -> bool:
        found = next(pattern.spans(searched, start, end), None)
        char = costs.QUICK_CHAR if _is_quick(pattern, searched) else costs.SLOW_CHAR
        self._budget.spend(costs.TEST + char * ((found[1] if found else end) - start))
        return found is not None

    def _matches_within(self, matcher: RegexMatcher, text: str, start: int, end: int) -> bool:
        """A piece is a text of its own: its borders are borders of lines and words."""
        self._budget.spend(costs.TEST)
        return self._find(matcher, encode(text[start:end].rstrip("\r\n"))) is not None

    def _notes_named(self, pattern: Pattern, notes: Ids) -> Ids:
        """Those of the notes with the pattern in title, an alias, a tag or a property. All of them are looked
        through at once first."""
        if not notes:
            return notes
        bare, with_properties = self._candidates.of_names(pattern)
        at = {note_id: self._position(note_id) for note_id in sorted(notes)}
        likely = [note_id for note_id, position in at.items() if with_properties[position]]
        self._read_names([note_id for note_id in likely if note_id not in self._names])
        likely = [note_id for note_id in likely if self._names[note_id][1] or bare[at[note_id]]]
        if isinstance(pattern, TextPattern) or not pattern.has_flags:
            together = _BETWEEN_TEXTS.join(self._names[note_id][0] for note_id in likely)
            if not self._looks_possible(pattern, SearchedText(encode(together))):
                return frozenset()
        return frozenset(note_id for note_id in likely if self._is_named(pattern, self._names[note_id][0]))

    def _is_named(self, pattern: Pattern, names: str) -> bool:
        if isinstance(pattern, RegexMatcher):
            return self._find(pattern, encode(names)) is not None
        searched = SearchedText(names)
        self._budget.spend(costs.TEST)
        self._count(pattern, searched, len(names))
        return pattern.is_in(searched)

    def _read_names(self, notes: Sequence[int]) -> None:
        sql = "SELECT note_id, title, aliases, tags, frontmatter FROM notes WHERE note_id IN (%s)"
        self._budget.spend(costs.NAMED * len(notes))
        for note_id, title, aliases, tags, frontmatter in self._catalog.rows_in(sql, notes):
            texts = [title]
            for several in (aliases, tags):
                texts += json.loads(several) if several != "[]" else ()
            has_properties = frontmatter != "{}"
            if has_properties:
                self._budget.spend(costs.PROPERTY_CHAR * len(frontmatter))
                texts += property_lines(json.loads(frontmatter))
            # One search for all: a blank line keeps a phrase within one of them.
            self._names[note_id] = _BETWEEN_TEXTS.join(texts), has_properties

    def _structure(self, scope: Scope, ids: Sequence[int]) -> _Structure:
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


def _words_first(parts: Sequence[Node]) -> list[Node]:
    """In a short text a word is looked for in a third of the time that a regular expression takes."""
    return sorted(parts, key=lambda part: any(isinstance(leaf, Regex) for leaf in atoms(part)))


def _is_quick(pattern: TextPattern, searched: SearchedText) -> bool:
    return pattern.is_literal or pattern.is_quick_over(searched)


def _is_scanned(pattern: TextPattern) -> bool:
    """Whether to look for a pattern in UTF-8 first. Of a single word the keyword index says nearly always
    where it is."""
    is_word = len(pattern.words) == 1 and pattern.words[0] == pattern.source and pattern.cased is None
    return bool(pattern.source) and not is_word


def _all_possible(tests: Sequence[_Possible], note_id: int, searched: SearchedText) -> bool:
    return all(test(note_id, searched) for test in tests)


def _any_possible(tests: Sequence[_Possible], note_id: int, searched: SearchedText) -> bool:
    return any(test(note_id, searched) for test in tests)


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


def _is_seen_in_text(pattern: Pattern, scope: Scope) -> bool:
    """Whether it is worth while to look for a pattern in the whole text, and what a piece holds, as a text of
    its own, the whole text holds as well.

    The borders of a piece count as those of a line. Lines, and the content, do begin there; other pieces may
    be indented. All end with a line, save headings, which may end before their closing signs.
    """
    if isinstance(pattern, TextPattern):
        return _is_scanned(pattern)
    return scope in (Scope.LINE, Scope.CONTENT) or (scope != Scope.HEADING and not pattern.has_line_start)


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
