"""The words of a question, each with what it counts and whether any note holds it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from vault_indexer.search.confidence import word_weights
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.prepare import PreparedQuery, SearchedVault
from vault_indexer.search.query import parse_query
from vault_indexer.search.terms import Groups, find_synonyms, language_of, query_words
from vault_indexer.search.word_statistics import WordStatistics
from vault_indexer.text.query import analyze_query, hyphenated_parts, is_hyphenated
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import RUN, clusters

_LEAST_STRETCH = 2
_NO_LIMIT_S = 60.0
_PUNCTUATION = re.compile(r":(?=\s|$)")


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A word of a question. `weight` is its rarity in the vault, 0 for function and question words; `terms`
    are the index terms that stand for it, those of its synonyms of one word too; `is_known` says whether any
    note holds it in any form. `written` is the word, or the run without spaces that a pair of characters is
    of, as written."""

    word: str
    weight: float
    terms: frozenset[str]
    is_known: bool
    written: str = ""


def question_as_query(question: str) -> str:
    """The question as a query: a colon with nothing right behind it is punctuation here, not an operator."""
    return _PUNCTUATION.sub(" ", question)


def question_words(
    vaults: Sequence[SearchedVault], question: str, synonym_groups: Groups = ()
) -> tuple[QuestionWord, ...]:
    """The words of the question in order, filters left out. All the vaults count as one collection of words,
    whatever their models. Raises QueryError as a search does."""
    query = parse_query(question)
    statistics = WordStatistics([one.snapshot for one in vaults])
    words = tuple(query_words(statistics, query.text))
    if not words:
        return ()
    prepared = PreparedQuery(
        vault=vaults[0],
        statistics=statistics,
        text=query.text,
        words=words,
        terms=(),
        language=language_of(query.text, statistics.languages),
        vector=np.zeros(0, np.float32),
        language_weight=1.0,
        conditions=(),
        chosen=None,
        corrections=(),
        notices=(),
        deadline=QueryDeadline(_NO_LIMIT_S),
        synonyms=find_synonyms(synonym_groups, statistics.languages, words),
    )
    return _weighed_words(prepared)


def missing_words(prepared: PreparedQuery) -> tuple[str, ...]:
    """The words of a query that say something and that no note has, each once, as written."""
    if not prepared.words:
        return ()
    return unknown_words(_weighed_words(prepared))


def unknown_words(words: Sequence[QuestionWord]) -> tuple[str, ...]:
    """Those of the words that say something and that no note has, each once, as written. In scripts without
    spaces these are stretches of two characters at least, of which no note has any pair."""
    pairs = {one.word: one.is_known or not one.weight for one in words if RUN.match(one.word)}
    found: dict[str, None] = {}
    for one in words:
        if one.word in pairs:
            found.update(dict.fromkeys(_unknown_stretches(one.written or one.word, pairs)))
        elif one.weight and not one.is_known:
            found[one.word] = None
    return tuple(found)


def _unknown_stretches(run: str, is_known: Mapping[str, bool]) -> Iterator[str]:
    """The characters of a run that stand in no pair that is known."""
    characters = clusters(run)
    known = [False] * len(characters)
    for at, pair in enumerate(map("".join, pairwise(characters))):
        if is_known.get(pair, True):
            known[at] = known[at + 1] = True
    for unknown, places in groupby(range(len(characters)), key=lambda place: not known[place]):
        stretch = [characters[place] for place in places] if unknown else []
        if len(stretch) >= _LEAST_STRETCH:
            yield "".join(stretch)


def _weighed_words(prepared: PreparedQuery) -> tuple[QuestionWord, ...]:
    weights = word_weights(prepared).tolist()
    known = [_is_known(prepared.statistics, term) for term in prepared.words]
    wholes = [
        (term.start, term.end)
        for term, is_known in zip(prepared.words, known, strict=True)
        if is_known and is_hyphenated(term.word)
    ]
    synonyms: dict[str, frozenset[str]] = {}
    for one in prepared.synonyms:
        for word in one.written_words if len(one.searched_words) == 1 else ():
            synonyms[word.word] = synonyms.get(word.word, frozenset()) | one.searched_words[0].forms
    return tuple(
        QuestionWord(
            term.word,
            weight,
            term.forms | synonyms.get(term.word, frozenset()),
            is_known or any(start <= term.start and term.end <= end for start, end in wholes),
            prepared.text[term.start : term.end],
        )
        for term, weight, is_known in zip(prepared.words, weights, known, strict=True)
    )


def _is_known(statistics: WordStatistics, term: QueryTerm) -> bool:
    """Whether a note holds the word, or, of a hyphenated one, each of its parts."""
    if statistics.knows(term):
        return True
    parts = hyphenated_parts(term.word) if is_hyphenated(term.word) else []
    return bool(parts) and all(
        statistics.knows(one) for part in parts for one in analyze_query(part, statistics.languages)
    )


def share_held(words: Collection[QuestionWord], terms: Collection[str]) -> float:
    """The part of the words' weight that a text with these index terms holds, in [0, 1]."""
    total = sum(word.weight for word in words)
    held = sum(word.weight for word in words if not word.terms.isdisjoint(terms))
    return held / total if total else 0.0
