"""Words as they were typed, looked for in the texts of notes: what the index does not hold as one word.

The index has `/etc/nginx/nginx.conf` as a whole and in parts, so `nginx.conf` is missing there,
though the note has it letter for letter. Before anything is said of such a word, the notes with its parts are
looked through: their source, where the addresses of links are, and what a reader sees of it.
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

MAX_CHARACTERS = 10_000_000
"""What may be read to look for the words of one query in one vault: about 50 ms."""

_MOST = 8
"""At most this number of words of a query are looked for. A rule of thumb."""

_LONGEST = 200
"""Longer words are not looked for. A rule of thumb."""

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
    """Looks for words in the texts of one vault as they were typed, for one query in one thread.

    A word is bounded by what is no letter or digit. For all words together at most `MAX_CHARACTERS` are read;
    what has not been found by then may be there or not. Of a snapshot with a part of its vault only nothing
    is certain."""

    def __init__(
        self, snapshot: Snapshot, deadline: QueryDeadline, budget: ReadingBudget | None = None
    ) -> None:
        self._snapshot = snapshot
        self._deadline = deadline
        self._budget = budget or ReadingBudget(MAX_CHARACTERS)
        self._filters: dict[str, ChunkFilter | None] = {}

    def may_be_there(self, word: str) -> bool:
        """Whether a note holds the word, or may hold it."""
        chosen = self._filter(word)
        return chosen is None or chosen.leaves_any() or bool(chosen.unchecked)

    def chunks_with(self, word: str, keys: Keys) -> Mask:
        """Which of the chunks are known to hold the word; none for ""."""
        chosen = self._filter(word) if word else None
        return np.zeros(len(keys), bool) if chosen is None else chosen.passing(keys)

    def _filter(self, word: str) -> ChunkFilter | None:
        """None: the word is not looked for."""
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
        except QueryError:  # of an expression that is too large
            return None


def typed_word(text: str, term: QueryTerm) -> str:
    """The word of a query's text to look for, as typed, of a part of a number the whole number. "": the
    index has all such words."""
    if RUN.match(term.word) or (term.word.isalpha() and len(term.word) > 1):
        return ""
    for found in _NUMBER.finditer(text):
        if found.start() <= term.start and term.end <= found.end() and _parts_of_number(found[0]):
            return found[0]
    return term.word


def only_typed_word(text: str) -> str:
    """The only word of a query if signs are part of it, as `12:30` and `.NET`; else "". Hyphens and
    apostrophes between letters do not count: such words have other spellings."""
    word = text.strip().lstrip(_OPENING).rstrip(_CLOSING)
    is_one = bool(word) and not any(map(str.isspace, word)) and any(map(str.isalnum, word))
    is_plain = word.isalnum() or is_hyphenated(re.sub("['’]", "-", word))
    return word if is_one and not is_plain else ""


def _node_of(word: str) -> Node:
    """The condition that a note holds the word. The index says which notes have its parts, whose source is
    then read; the phrase finds what stands there with markup, entities or other accents."""
    source = Regex(_expression(word), 0)
    return Either((Phrase(word, 0), All((*_needs(word), source))))


def _needs(word: str) -> Iterator[Node]:
    if number := _parts_of_number(word):
        whole, decimals = number
        tails = dict.fromkeys((whole, *(whole[-size:] for size in (3,) if len(whole) > size)))
        if all(len(one) > 1 for one in tails):
            yield Either(tuple(Word(one, 0) for one in tails))
        if len(decimals) > 1:
            yield Word(decimals, 0)
        return
    words = text_pattern(word).words
    if moment := _MOMENT.fullmatch(word):  # its last or first part stands before or behind a `T`
        words = words[:-1] if moment["date"] else words[1:]
    yield from (Word(one, 0) for one in words)


def _expression(word: str) -> str:
    """The word in a source, as an expression in one group: the index is not to look for pieces of it."""
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
    """The digits before and behind the decimal sign, where only one reading is possible: `1.234` has two."""
    if plain := _PLAIN_NUMBER.fullmatch(text):
        whole, decimals = plain[1], plain[2] or ""
        return None if len(decimals) == 3 and len(whole) < 4 else (whole, decimals)
    if not (grouped := _GROUPED_NUMBER.fullmatch(text)):
        return None
    return re.sub(r"\D", "", grouped[1]), grouped[3] or ""


def _in_groups(digits: str) -> str:
    """The digits with a sign or none wherever groups of three begin, or of two as in India."""
    left = range(len(digits), 0, -1)
    return digits[0] + "".join(
        f"{_IN_GROUPS if here % 3 == 0 or (here > 3 and here % 2) else ''}{digit}"
        for (_, here), digit in zip(pairwise(left), digits[1:], strict=True)
    )
