"""Searches the texts of notes for words as typed that the index does not contain as one word.

The index contains `/etc/nginx/nginx.conf` as a whole and in parts, so it lacks `nginx.conf`, although the
note contains it letter for letter. Before such a word is reported as missing, the notes that contain its
parts are searched: their source, which includes link addresses, and their rendered text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.errors import QueryError
from vault_indexer.search.deadline import QueryDeadline, ReadingBudget
from vault_indexer.search.filters import ChunkFilter, text_pattern
from vault_indexer.search.query import All, Condition, Either, Node, Phrase, Regex, Word
from vault_indexer.store import Snapshot
from vault_indexer.text.query import is_hyphenated
from vault_indexer.text.scripts import SPACELESS
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import RUN

if TYPE_CHECKING:
    from vault_indexer.arrays import Keys, Mask

TYPED_CHARACTERS = 10_000_000
"""Limit of characters read to find the words of one query in one vault; reading them takes about 50 ms."""

_MOST = 8
"""Limit of words of a query that are searched for. A rule of thumb."""

_LONGEST = 200
"""Longer words, in characters, are not searched for. A rule of thumb."""

_MOMENT = re.compile(r"(?P<date>\d{4}-\d\d-\d\d)|\d\d:\d\d(?::\d\d)?")
_SPACES = "\u00a0\u2009\u202f"
_NUMBER = re.compile(rf"(?<![\w.,'’])\d+(?:[.,'’_{_SPACES}]\d+)*(?![\w])")
_PLAIN_NUMBER = re.compile(r"(\d+)(?:[.,](\d+))?")
_GROUPED_NUMBER = re.compile(
    rf"(\d{{1,3}}(?P<sign>[.,'’_{_SPACES}])\d{{3}}(?:(?P=sign)\d{{3}})*|\d{{1,2}}(?:,\d\d)+,\d{{3}})"
    r"(?:(?!(?P=sign))[.,](\d+))?"
)
_IN_GROUPS = f"[,.'’_ {_SPACES}]?"
_BEFORE, _BEHIND = (
    rf"(?:{edge}|[^\p{{L}}\p{{N}}]|[{SPACELESS}])" for edge in ("^", "$")
)  # one space, sign, or letter of a script without spaces
_OPENING, _CLOSING = "\"'“”„«»‘’([{<¿¡", "\"'“”„«»‘’)]}>.,;:?!…"


class TypedWords:
    """Searches the texts of one vault for words as typed, for one query in one thread.

    A word is bounded by characters other than letters and digits. All words together read at most
    `TYPED_CHARACTERS`; a word not found by then may or may not exist. If the snapshot contains only a part of
    its vault, no word is certain to be missing.
    """

    def __init__(
        self, snapshot: Snapshot, deadline: QueryDeadline, budget: ReadingBudget | None = None
    ) -> None:
        self._snapshot = snapshot
        self._deadline = deadline
        self._budget = budget or ReadingBudget(TYPED_CHARACTERS)
        self._filters: dict[str, ChunkFilter | None] = {}

    def may_be_there(self, word: str) -> bool:
        """Whether a note contains the word or may contain it."""
        chosen = self._filter(word)
        return chosen is None or chosen.leaves_any() or bool(chosen.unchecked)

    def chunks_with(self, word: str, keys: Keys) -> Mask:
        """Marks the chunks that certainly contain the word; none for ""."""
        chosen = self._filter(word) if word else None
        return np.zeros(len(keys), bool) if chosen is None else chosen.passing(keys)

    def _filter(self, word: str) -> ChunkFilter | None:
        """Returns the filter for the word, or None if the word is not searched for."""
        if word not in self._filters:
            self._filters[word] = self._new_filter(word)
        return self._filters[word]

    def _new_filter(self, word: str) -> ChunkFilter | None:
        if self._snapshot.statistics is not None or len(self._filters) >= _MOST or len(word) > _LONGEST:
            return None
        condition = Condition(_node_of(word), word)
        now = datetime.now().astimezone()
        try:
            return ChunkFilter(self._snapshot, [condition], now, self._deadline, self._budget)
        except QueryError:  # the expression is too large
            return None


def typed_word(text: str, term: QueryTerm) -> str:
    """Returns the word of the query text to search for, as typed. If the term is part of a number, returns
    the whole number. Returns "" if the index contains all words of this kind."""
    if RUN.match(term.word) or (term.word.isalpha() and len(term.word) > 1):
        return ""
    for number in _NUMBER.finditer(text):
        if number.start() <= term.start and term.end <= number.end() and _parts_of_number(number[0]):
            return number[0]
    return term.word


def only_typed_word(text: str) -> str:
    """Returns the only word of a query if it contains signs, as in `12:30` and `.NET`; otherwise "". Hyphens
    and apostrophes between letters do not count, because such words have other spellings."""
    word = text.strip().lstrip(_OPENING).rstrip(_CLOSING)
    is_one = bool(word) and not any(map(str.isspace, word)) and any(map(str.isalnum, word))
    is_plain = word.isalnum() or is_hyphenated(re.sub("['’]", "-", word))
    return word if is_one and not is_plain else ""


def _node_of(word: str) -> Node:
    """Returns the condition that a note contains the word. The index finds the notes that contain its parts;
    the expression then searches their source. The phrase matches spellings with markup, entities or other
    accents."""
    source = Regex(_expression(word), 0)
    return Either((Phrase(word, 0), All((*_needs(word), source))))


def _needs(word: str) -> Iterator[Node]:
    if number := _parts_of_number(word):
        whole, decimals = number
        tails = dict.fromkeys((whole, *(whole[-size:] for size in (3,) if len(whole) > size)))
        if all(len(tail) > 1 for tail in tails):
            yield Either(tuple(Word(tail, 0) for tail in tails))
        if len(decimals) > 1:
            yield Word(decimals, 0)
        return
    words = text_pattern(word).words
    # In `2026-01-31T12:30` the `T` joins the last part of the date and the first of the time into one word.
    if moment := _MOMENT.fullmatch(word):
        words = words[:-1] if moment["date"] else words[1:]
    yield from (Word(part, 0) for part in words)


def _expression(word: str) -> str:
    """Returns an expression that matches the word in the source. It is one group, so that the index does not
    search for pieces of it."""
    before = _BEFORE if word[0].isalnum() else ""
    behind = _BEHIND if word[-1].isalnum() else ""
    if number := _parts_of_number(word):
        whole, decimals = number
        return f"(?:{before}{_in_groups(whole)}{f'[.,]{decimals}' if decimals else ''}{behind})"
    if _MOMENT.fullmatch(word):
        before, behind = rf"(?:{before}|\dT)", rf"(?:{behind}|T\d)"
    return f"(?:{before}{''.join(map(_literal, word))}{behind})"


def _literal(char: str) -> str:
    return char if char.isalnum() or char in "_ " or not char.isascii() else f"\\{char}"


def _parts_of_number(text: str) -> tuple[str, str] | None:
    """Returns the digits before and after the decimal sign, or None if the number is ambiguous, like
    `1.234`."""
    if plain := _PLAIN_NUMBER.fullmatch(text):
        whole, decimals = plain[1], plain[2] or ""
        return None if len(decimals) == 3 and len(whole) < 4 else (whole, decimals)
    if not (grouped := _GROUPED_NUMBER.fullmatch(text)):
        return None
    return re.sub(r"\D", "", grouped[1]), grouped[3] or ""


def _in_groups(digits: str) -> str:
    """Returns an expression for the digits with an optional sign before each group of three, or of two as in
    India."""
    left = range(len(digits), 0, -1)
    return digits[0] + "".join(
        f"{_IN_GROUPS if here % 3 == 0 or (here > 3 and here % 2) else ''}{digit}"
        for (_, here), digit in zip(pairwise(left), digits[1:], strict=True)
    )
