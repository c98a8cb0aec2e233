"""Turns a request into a PreparedQuery: parsed, filtered, analysed, corrected, embedded.

It also searches the texts of notes for words as typed that the index does not contain as one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from unicodedata import category

import numpy as np

from vault_indexer.arrays import Keys, Mask, Vectors
from vault_indexer.errors import ProviderError, QueryError
from vault_indexer.model import Correction, SearchRequest
from vault_indexer.parse.frontmatter import separate_time
from vault_indexer.ports import Embedder, WordVectors
from vault_indexer.providers import WORD_LANGUAGES, word_vectors
from vault_indexer.search.deadline import QueryDeadline, ReadingBudget
from vault_indexer.search.filters import ChunkFilter, text_pattern
from vault_indexer.search.query import (
    All,
    Condition,
    Either,
    Node,
    Phrase,
    Property,
    Regex,
    Scope,
    Within,
    Word,
    in_vault,
    parse_query,
)
from vault_indexer.search.terms import (
    Groups,
    Synonym,
    WordStatistics,
    as_spelt,
    find_corrections,
    find_synonyms,
    language_of,
    language_weight,
    query_words,
    weight_by_idf,
    with_compounds,
    with_corrections,
    with_synonyms,
)
from vault_indexer.store import Snapshot
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import record
from vault_indexer.text.fold import has_words, nearest_names, tag_name
from vault_indexer.text.query import is_hyphenated
from vault_indexer.text.scripts import SPACELESS
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import RUN

# Searches the texts of notes for words as typed that the index does not contain as one word.
#
# The index contains `/etc/nginx/nginx.conf` as a whole and in parts, so it lacks `nginx.conf`, although
# the note contains it letter for letter. Before such a word is reported as missing, the notes that
# contain its parts are searched: their source, which includes link addresses, and their rendered text.


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
    `TYPED_CHARACTERS`; a word not found within that limit may or may not exist. If the snapshot contains only
    part of its vault, no word is certain to be missing.
    """

    def __init__(
        self, snapshot: Snapshot, deadline: QueryDeadline, budget: ReadingBudget | None = None
    ) -> None:
        self._snapshot = snapshot
        self._deadline = deadline
        self._budget = budget or ReadingBudget(TYPED_CHARACTERS)
        self._filters: dict[str, ChunkFilter | None] = {}

    def may_be_there(self, word: str) -> bool:
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
        # With statistics the snapshot is only a part of its vault, which cannot show that a word is missing.
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


def words_with_signs(text: str) -> Iterator[tuple[int, int, str]]:
    """Yields the place and the text of each word of a query that contains signs, such as `12:30` and `.NET`.
    Hyphens and apostrophes between letters do not count, because such words have other spellings."""
    for found in re.finditer(r"\S+", text):
        word = found[0].lstrip(_OPENING).rstrip(_CLOSING)
        letters = "".join(char for char in word if not category(char).startswith("M"))
        is_plain = letters.isalnum() or is_hyphenated(re.sub("['’]", "-", letters))
        if any(map(str.isalnum, word)) and not is_plain:
            yield *found.span(), word


def _node_of(word: str) -> Node:
    """Returns the condition that a note contains the word. The index finds the notes that contain its parts;
    the expression then searches their source. The phrase matches spellings with markup, entities or other
    accents, and properties, in which a date is separated from its time."""
    source = Regex(_expression(word), 0)
    phrases = (Phrase(spelling, 0) for spelling in dict.fromkeys((word, separate_time(word))))
    return Either((*phrases, All((*_needs(word), source))))


def _needs(word: str) -> Iterator[Node]:
    if number := _parts_of_number(word):
        whole, decimals = number
        # In a text with spaces between the groups, `12 345`, the last group is a word of its own.
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
    """Returns an expression for the word in the source, as one group: the index searches for no pieces."""
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
    """Returns the digits before and after the decimal sign; None for an ambiguous number: `1.234`."""
    if plain := _PLAIN_NUMBER.fullmatch(text):
        whole, decimals = plain[1], plain[2] or ""
        return None if len(decimals) == 3 and len(whole) < 4 else (whole, decimals)
    if not (grouped := _GROUPED_NUMBER.fullmatch(text)):
        return None
    return re.sub(r"\D", "", grouped[1]), grouped[3] or ""


def _in_groups(digits: str) -> str:
    """Returns an expression for digits with optional signs between groups of three, or two as in India."""
    left = range(len(digits), 0, -1)
    return digits[0] + "".join(
        f"{_IN_GROUPS if here % 3 == 0 or (here > 3 and here % 2) else ''}{digit}"
        for (_, here), digit in zip(pairwise(left), digits[1:], strict=True)
    )


@record
class SearchedVault:
    """A vault in a search. `name` is "" for a vault that is searched alone. `folder` contains the files of
    its notes; if it is None, hits have no URI and are never stale. `embedder` is the model of the snapshot's
    vectors, `editor` that of `page.editor`."""

    name: str
    folder: Path | None
    snapshot: Snapshot
    embedder: Embedder
    editor: str = ""


@record
class PreparedQuery:
    """A request prepared for retrieval in one vault. A search over several vaults has one for each.

    `statistics` are the word statistics of all the vaults. `text` is the ranking text as written; it is "" if
    the query has only filters. `words` are its words. `terms` are these words with their `corrections` and
    `synonyms`, each with its weight. `language` is the language of the query, "" if unknown. `vector` is its
    embedding, and `language_weight`, in (0, 1], is the weight of vectors in that language. `chosen` selects
    the chunks that meet the conditions; None means no filter. `typed_words` searches the vault's texts for
    words. `word_vectors` compares words of the language; None if there are none for it.
    """

    vault: SearchedVault
    snapshot: Snapshot
    statistics: WordStatistics
    text: str
    words: tuple[QueryTerm, ...]
    language: str
    vector: Vectors
    language_weight: float
    deadline: QueryDeadline
    typed_words: TypedWords
    terms: tuple[QueryTerm, ...] = ()
    conditions: tuple[Condition, ...] = ()
    chosen: ChunkFilter | None = None
    corrections: tuple[Correction, ...] = ()
    notices: tuple[str, ...] = ()
    word_vectors: WordVectors | None = None
    synonyms: tuple[Synonym, ...] = ()
    as_you_type: bool = False

    def passing(self, keys: Keys) -> Mask:
        """Marks the chunks that may be results: those that are indexed and meet the conditions."""
        return self.snapshot.keywords.holds(keys) if self.chosen is None else self.chosen.passing(keys)

    @property
    def filters(self) -> tuple[str, ...]:
        return tuple(condition.source for condition in self.conditions)

    def notices_of_filters(self, *, found: bool) -> tuple[str, ...]:
        """Returns the notices about the filters. `found` is true if the query has hits."""
        if self.chosen is None:
            return ()
        # Before `unchecked` is read: the call may check notes, and may spend the budget.
        left = found or self.chosen.leaves_any()
        if self.chosen.unchecked:
            return (_unchecked_notice(self.chosen, self.filters),)
        if left:
            return ()
        # Too slow for each key in a large vault: all names are compared.
        asked = () if self.as_you_type else self.conditions
        near = [_nearest(self.snapshot.catalog, one) for one in asked]
        return (_no_match_notice(self.filters, " ".join(filter(None, near))),)


def prepare_query(
    vaults: Sequence[SearchedVault],
    request: SearchRequest,
    deadline: QueryDeadline,
    synonym_groups: Groups = (),
    others: Sequence[SearchedVault] = (),
) -> list[PreparedQuery]:
    """Prepares a query for each of the vaults, whose models must be comparable.

    The vaults form one collection of words (`WordStatistics`): a word is corrected in all of them or in none.
    A word that occurs in `others`, the vaults of other models in the same search, is not corrected.
    Raises QueryError for an invalid or empty query. If a model is unavailable, only words and links are
    searched, and a notice reports this.
    """
    now = datetime.now().astimezone()
    statistics = WordStatistics([vault.snapshot for vault in vaults])
    query = parse_query(request.query)
    if not query.text and not query.conditions:
        raise QueryError("the query has neither words nor filters", 1)
    typing = request.as_you_type and query.open_end
    words = tuple(query_words(statistics, query.text, typing=typing))
    synonyms = find_synonyms(synonym_groups, statistics.languages, words)
    # A word for which the user has set synonyms is spelt correctly.
    spelt = {word.word for synonym in synonyms for word in synonym.written_words}
    elsewhere = WordStatistics([vault.snapshot for vault in others])
    doubtful = [word for word in words if word.word not in spelt and not elsewhere.knows(word)]
    first: dict[str, Correction] = {}
    for vault in vaults if request.correct else ():
        for correction in find_corrections(vault.snapshot, statistics, query, doubtful):
            # The first vault decides: one word has one correction in the whole search.
            first.setdefault(correction.written, correction)
    corrections = tuple(first.values())
    notices = [] if request.as_you_type else [*query.notices, *map(_correction_notice, corrections)]
    language = language_of(query.text, statistics.languages)
    corrected = with_corrections(statistics.languages, words, corrections)
    likely_text = as_spelt(query.text, corrections)
    prepared: list[PreparedQuery] = []
    for vault in vaults:
        snapshot = vault.snapshot
        conditions = tuple(replace(one, node=in_vault(one.node, vault.name)) for one in query.conditions)
        chosen = ChunkFilter(snapshot, conditions, now, deadline) if conditions else None
        compounded = with_compounds(snapshot, statistics, corrected, language)
        # Synonyms join the words only: adding them to the vector lowered nDCG@10 by .03 to .09.
        weighed = weight_by_idf(statistics, with_synonyms(compounded, synonyms))
        vector, fault = _meaning(snapshot, vault.embedder, likely_text)
        own = PreparedQuery(
            vault=vault,
            snapshot=snapshot,
            statistics=statistics,
            text=query.text,
            words=words,
            terms=tuple(statistics.scaled(snapshot.keywords, weighed)),
            language=language,
            vector=vector,
            language_weight=language_weight(vault.embedder.model, language),
            conditions=conditions,
            chosen=chosen,
            corrections=corrections,
            notices=(*notices, *fault),
            deadline=deadline,
            typed_words=TypedWords(snapshot, deadline),
            word_vectors=word_vectors() if language in WORD_LANGUAGES else None,
            synonyms=synonyms,
            as_you_type=request.as_you_type,
        )
        prepared.append(own)
    return prepared


def _correction_notice(correction: Correction) -> str:
    return f"no note contains {correction.written!r}: also searched for {correction.searched!r}"


def _meaning(snapshot: Snapshot, embedder: Embedder, text: str) -> tuple[Vectors, tuple[str, ...]]:
    try:
        return embedder.embed_query(text), ()
    except ProviderError as error:
        nowhere = np.zeros(snapshot.vectors.dimension, np.float32)  # a zero vector is near no chunk
        return nowhere, (f"only words and links were searched: {error}",)


def _nearest(catalog: CatalogReader, condition: Condition) -> str:
    """A filter by a tag, folder or property with the most similar name that notes have, where none has the
    name in the condition; otherwise ""."""
    match condition.node:
        case Within(Scope.TAG, Word() | Phrase() as leaf):
            names, wanted, written = [*catalog.tags()], tag_name(leaf.text), "tag:#{}"
        case Within(Scope.PATH, Word() | Phrase() as leaf):
            names, wanted, written = [*catalog.folders()], leaf.text.strip("/"), 'path:"{}"'
        case Property(wanted):
            names = [*dict.fromkeys(name for properties in catalog.properties() for name in properties)]
            written = "[{}]"
        case _:
            return ""
    last = {name: name if "/" in wanted else name.rpartition("/")[2] for name in names}
    if wanted.casefold() in map(str.casefold, (*names, *last.values())):
        return ""
    return "".join(map(written.format, nearest_names(wanted, last)))


def _no_match_notice(filters: Sequence[str], near: str) -> str:
    """The notice that nothing meets all filters. `near` is the filter that may have been meant."""
    said = f"no note matches the filter {' '.join(filters)}"
    if near:
        return f"{said}; did you mean {near}?"
    if not any('"' in one for one in filters):
        return f"{said}; to search for it as text, put it in quotes"
    is_phrase = all(one.startswith('"') for one in filters) and any(map(has_words, filters))
    return f"{said}; in quotes, only whole words match" if is_phrase else said


def _unchecked_notice(chosen: ChunkFilter, filters: Sequence[str]) -> str:
    checked = chosen.candidates - chosen.unchecked
    return (
        f"some hits may be missing: the filter {' '.join(filters)} matches too common words, so only"
        f" {checked:,} of {chosen.candidates:,} notes were checked; add a rarer word, a tag or a folder"
    )
