"""Conditions on the text of notes: words, phrases and expressions, in whole notes or in pieces of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from vault_indexer.model import names_of_json
from vault_indexer.parse import property_lines, task_fields
from vault_indexer.search.deadline import LOOK, PARSED, QueryDeadline, ReadingBudget
from vault_indexer.search.filters.candidates import Ids, Matches, Pattern, Span, TextCandidates, pattern_of
from vault_indexer.search.filters.properties import has_property
from vault_indexer.search.filters.scopes import Pieces, pieces, read_structure
from vault_indexer.search.filters.text_pattern import SearchedText, TextPattern, text_pattern
from vault_indexer.search.filters.text_source import (
    MayHold,
    NoteSource,
    NoteTexts,
    PatternSearch,
    is_worth_scanning,
)
from vault_indexer.search.query import (
    All,
    Either,
    Node,
    Not,
    Phrase,
    Property,
    Regex,
    RegexMatcher,
    Scope,
    Text,
    Word,
    atoms,
    compile_regex,
    encode,
)
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.text.tokens import LONGEST_TERM

__all__ = ["TextReader"]


_BETWEEN_TEXTS = "\n\n"
"""The separator of texts that are searched together. No phrase extends over a blank line."""


# The requirements of a condition on pieces for the whole text: pure functions of the condition.


def required_word(inside: Node | None) -> TextPattern | None:
    """Returns the longest word that every matching piece must contain, or None.

    It is a single word, because two matches of a phrase can overlap, and a scan finds only the first of
    these.
    """
    # The longest is probably the rarest.
    words = sorted(_required_words(inside), key=lambda word: (-len(word), word)) if inside else []
    return text_pattern(words[0]) if words else None


def required_regex(inside: Node | None, scope: Scope) -> RegexMatcher | None:
    """Returns an expression that every matching piece must match, or None if there is no useful one."""
    for part in inside.parts if isinstance(inside, All) else (inside,):
        if isinstance(part, Regex):
            matcher = compile_regex(part.pattern, part.column, match_case=part.match_case)
            if is_seen_in_text(matcher, scope):
                return matcher
    return None


def is_seen_in_text(pattern: Pattern, scope: Scope) -> bool:
    """Whether to search the whole text for a pattern first: the search must be worthwhile, and every match in
    a piece on its own must also match in the whole text.

    The borders of a piece count as those of a line. Lines and the content do begin there, but other pieces
    may be indented. All pieces end with a line except headings, which may end before their closing signs.
    """
    if isinstance(pattern, TextPattern):
        return is_worth_scanning(pattern)
    return scope in (Scope.LINE, Scope.CONTENT) or (scope != Scope.HEADING and not pattern.has_line_start)


def _required_words(node: Node) -> set[str]:
    match node:
        case Word(text, _) | Phrase(text, _):
            # A longer word is known only by its beginning.
            return {word for word in text_pattern(text).words if len(word) < LONGEST_TERM}
        case All(parts):
            return set[str]().union(*map(_required_words, parts))
        case Either(parts):
            return set[str].intersection(*map(_required_words, parts))
        case _:
            return set()


# Conditions that are decided by the text of notes.


PieceTest = Callable[[int, int], bool]
"""Whether the text from one position to another passes."""

_SMALL_PART = 8
"""If the pieces are less than 1/8 of the text, each is searched separately. A rule of thumb."""

_SOMEWHERE = ((0, 0),)
"""Where only the notes are asked for, and a note has no frontmatter, which does not count."""


class TextReader:
    """Searches the texts of notes for phrases and places.

    `Evaluation` owns one, for one query over one snapshot in one thread. `candidates` determines, without
    reading a note, whether it may contain a pattern; `position` returns the position of a note in its masks.
    A text is read at most once for each batch of notes, and decoded only if RE2 finds the required pattern.
    All work counts in the budget. When it is spent, no further notes are read, and a note that is incomplete
    then is added to the unread ones.
    """

    def __init__(
        self,
        catalog: CatalogReader,
        deadline: QueryDeadline,
        budget: ReadingBudget,
        candidates: TextCandidates,
        position: Callable[[int], int],
    ) -> None:
        self._catalog = catalog
        self._budget = budget
        self._candidates = candidates
        self._position = position
        self._texts = NoteTexts(catalog, deadline, budget)
        self._search = PatternSearch(budget)
        self._metadata: dict[int, tuple[str, bool]] = {}

    @property
    def unread(self) -> set[int]:
        """The notes that were not read because the budget was spent. Callers must not use their matches."""
        return self._texts.unread

    def forget(self) -> None:
        """Discards the texts of the previous notes and their matches."""
        self._texts.forget()
        self._search.forget()
        self._metadata = {}

    def notes_with(self, node: Text, notes: Ids, *, all_places: bool) -> Matches:
        """Returns the notes with the words in this order, or with a match of the expression. Matches in the
        text have places (all, or only the first). Matches in title, alias, tag or property have none. The
        text of a note without a body is its frontmatter."""
        pattern = pattern_of(node)
        if isinstance(pattern, RegexMatcher):
            places = self._matches_in_texts(pattern, notes, all_places=all_places)
        else:
            places = self._words_in_texts(pattern, notes, all_places=all_places)
        named = self._notes_named(pattern, notes.difference(places))
        return Matches(frozenset(places) | named, places)

    def _notes_named(self, pattern: Pattern, notes: Ids) -> Ids:
        """Returns the notes with the pattern in title, an alias, a tag or a property, as in the text. Only
        notes that pass the keyword index are read, and first all are searched together. This counts in the
        budget, but does not stop when it is spent."""
        if not notes:
            return notes
        bare, with_properties = self._candidates.of_names(pattern)
        at = {note_id: self._position(note_id) for note_id in sorted(notes)}
        likely = [note_id for note_id, position in at.items() if with_properties[position]]
        self._load_metadata([note_id for note_id in likely if note_id not in self._metadata])
        likely = [note_id for note_id in likely if self._metadata[note_id][1] or bare[at[note_id]]]
        # A flag such as `(?s)` could make an expression match across two notes.
        if isinstance(pattern, TextPattern) or not pattern.has_flags:
            together = _BETWEEN_TEXTS.join(self._metadata[note_id][0] for note_id in likely)
            if not self._search.may_hold(pattern, SearchedText(encode(together))):
                return frozenset()
        return frozenset(
            note_id for note_id in likely if self._is_in_metadata(pattern, self._metadata[note_id][0])
        )

    def _is_in_metadata(self, pattern: Pattern, metadata: str) -> bool:
        if isinstance(pattern, RegexMatcher):
            return self._search.find(pattern, encode(metadata)) is not None
        searched = SearchedText(metadata)
        self._budget.spend(LOOK + len(metadata))
        return pattern.is_in(searched)

    def _load_metadata(self, notes: Sequence[int]) -> None:
        """Reads the metadata of each note as one text, and whether the note has properties."""
        sql = "SELECT note_id, title, aliases, tags, frontmatter FROM notes WHERE note_id IN (%s)"
        self._budget.spend(LOOK * len(notes))
        for note_id, title, aliases, tags, frontmatter in self._catalog.rows_in(sql, notes):
            texts = [title]
            for several in (aliases, tags):
                texts += names_of_json(several)
            has_properties = frontmatter != "{}"
            if has_properties:
                self._budget.spend(len(frontmatter))
                texts += property_lines(json.loads(frontmatter))
            self._metadata[note_id] = _BETWEEN_TEXTS.join(texts), has_properties

    def notes_within(self, scope: Scope, inside: Node | None, notes: Ids, *, all_places: bool) -> Matches:
        """Returns the notes with a section, line, … that matches `inside` (None: with any such piece)."""
        word = required_word(inside)
        regex = required_regex(inside, scope) if word is None else None
        may_hold = self._may_hold(inside, scope) if inside else None
        read = list(self._texts.read(notes, may_hold))
        with_structure = read_structure(self._catalog, scope, [note_id for note_id, _ in read])
        places: dict[int, tuple[Span, ...]] = {}
        for note_id, searched in self._texts.until_spent(read):
            note = with_structure(note_id, searched.text)
            self._budget.spend(LOOK)
            if scope is Scope.BLOCK and note.blocks is None:
                self._budget.spend(PARSED * len(note.text))
            of_pattern = partial(self._test_of_pattern, note_id, searched, scope, word)
            test = self._test_of(inside, searched.text, of_pattern)
            spans = self._spans(pieces(note, scope), searched, test, word or regex)
            found = tuple(spans if all_places else islice(spans, 1))
            # Places may be missing, or a match may come later: the note is incomplete.
            if self._budget.is_spent and (all_places or not found):
                self._texts.unread.add(note_id)
            elif found:
                places[note_id] = found
        return Matches(frozenset(places), places)

    def _may_hold(self, inside: Node, scope: Scope) -> MayHold | None:
        """Returns a test on the UTF-8 text whether some piece may match a tree, or None if there is none."""
        match inside:
            case Word() | Phrase() | Regex():
                pattern = pattern_of(inside)
                return self._search.occurrence(pattern) if is_seen_in_text(pattern, scope) else None
            case All(parts):
                tests = [test for part in parts if (test := self._may_hold(part, scope)) is not None]
                return partial(_all, tests) if tests else None
            case Either(parts):
                either = [self._may_hold(part, scope) for part in parts]
                certain = [test for test in either if test is not None]
                # One alternative without a test may hold in any note.
                return partial(_any, certain) if len(certain) == len(parts) else None
            case _:
                return None

    def _test_of(
        self, inside: Node | None, text: str, of_pattern: Callable[[Pattern], PieceTest]
    ) -> PieceTest:
        """Returns the test whether a piece of the text matches a tree. None matches every piece."""
        match inside:
            case None:
                return _always
            case Word() | Phrase() | Regex():
                return of_pattern(pattern_of(inside))
            case All(parts):
                return partial(_all, [self._test_of(part, text, of_pattern) for part in _words_first(parts)])
            case Either(parts):
                return partial(_any, [self._test_of(part, text, of_pattern) for part in _words_first(parts)])
            case Not(operand, _):
                test = self._test_of(operand, text, of_pattern)
                return lambda start, end: not test(start, end)
            case Property():
                return partial(self._has_field, inside, text)
            case _:
                raise AssertionError(inside)

    def _has_field(self, wanted: Property, text: str, start: int, end: int) -> bool:
        self._budget.spend(end - start)
        return has_property(wanted, task_fields(text[start:end]))

    def _test_of_pattern(
        self, note_id: int, searched: NoteSource, scope: Scope, required: TextPattern | None, pattern: Pattern
    ) -> PieceTest:
        """Returns the test for pieces of one note, of which each contains the word `required`. A pattern that
        the keyword index or a search of the whole text excludes is not tested in the pieces."""
        if pattern is required:  # `text_pattern` is cached: equal words are the same object
            return _always
        if not self._candidates.of_pattern(pattern)[self._position(note_id)]:
            return _never
        if is_seen_in_text(pattern, scope) and not self._search.occurrence(pattern)(note_id, searched):
            return _never
        if isinstance(pattern, TextPattern):
            return partial(self._search.is_within, pattern, searched)
        return partial(self._search.matches_within, pattern, searched.text)

    def _spans(
        self, found: Pieces, searched: NoteSource, test: PieceTest, required: Pattern | None
    ) -> Iterator[Span]:
        """Yields the places of the pieces that have the required pattern and pass the test."""
        numbers = (
            self._numbers_matching(found, searched, required)
            if isinstance(required, RegexMatcher)
            else self._numbers_holding(found, searched, required)
        )
        for number in numbers:
            if self._budget.is_spent:
                return
            if test(found.starts[number], found.ends[number]):
                yield found.starts[number], found.place_ends[number]

    def _numbers_holding(
        self, found: Pieces, searched: NoteSource, word: TextPattern | None
    ) -> Iterator[int]:
        """Yields the pieces that contain a word, each once, in order. Without a word, yields all pieces."""
        if word is None:
            yield from range(len(found))
            return
        if found.size * _SMALL_PART < len(searched.text):
            for each, start, end in zip(range(len(found)), found.starts, found.ends, strict=True):
                if self._search.is_within(word, searched, start, end):
                    yield each
            return
        last = -1
        for start, _ in self._search.spans(word, searched, searched.text_start, len(searched.text)):
            number = found.at(start)
            if number is not None and number != last:
                last = number
                yield number

    def _numbers_matching(self, found: Pieces, searched: NoteSource, matcher: RegexMatcher) -> Iterator[int]:
        """Yields the pieces in which a match of the text begins, including all that match on their own."""
        text, data = searched.text, searched.encoded
        at = position = 0
        while at <= len(data):
            match = self._search.find(matcher, data, at)
            if match is None:
                return
            position += len(data[at : match[0]].decode("utf-8"))
            number = found.at_or_behind(position)
            if number is None:
                return
            yield number
            # This piece has been returned, so the search goes on behind it.
            after = max(found.ends[number], position + 1)
            at = match[0] + len(encode(text[position:after]))
            position = after

    def _words_in_texts(
        self, pattern: TextPattern, notes: Ids, *, all_places: bool
    ) -> dict[int, tuple[Span, ...]]:
        places: dict[int, tuple[Span, ...]] = {}
        may_hold = self._search.occurrence(pattern) if is_worth_scanning(pattern) else None
        for note_id, searched in self._texts.read(notes, may_hold):
            spans = self._search.spans(pattern, searched, searched.text_start, len(searched.text))
            found = tuple(spans if all_places else islice(spans, 1))
            if found:
                places[note_id] = found
        return places

    def _matches_in_texts(
        self, matcher: RegexMatcher, notes: Ids, *, all_places: bool
    ) -> dict[int, tuple[Span, ...]]:
        places: dict[int, tuple[Span, ...]] = {}
        for note_id, searched in self._texts.read(notes, self._search.occurrence(matcher)):
            if not all_places and not searched.encoded.startswith(b"---"):
                places[note_id] = _SOMEWHERE
                continue
            found: list[Span] = []
            for span in self._search.places(matcher, searched, searched.text_start):
                found.append(span)
                if not all_places or self._budget.is_spent:
                    break
            if found:
                places[note_id] = tuple(found)
            if all_places and self._budget.is_spent:
                self._texts.unread.add(note_id)
        return places


def _words_first(parts: Sequence[Node]) -> list[Node]:
    """Sorts words before regular expressions, because in a short text a word takes a third of the time."""
    return sorted(parts, key=lambda part: any(isinstance(leaf, Regex) for leaf in atoms(part)))


def _always(_start: int, _end: int) -> bool:
    return True


def _never(_start: int, _end: int) -> bool:
    return False


def _all(tests: Sequence[Callable[..., bool]], *piece: object) -> bool:
    return all(test(*piece) for test in tests)


def _any(tests: Sequence[Callable[..., bool]], *piece: object) -> bool:
    return any(test(*piece) for test in tests)
