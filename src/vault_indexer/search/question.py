"""The words of a question, each with what it counts and whether any note holds it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from vault_indexer.search.confidence import word_weights
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.prepare import PreparedQuery, SearchedVault
from vault_indexer.search.query import parse_query
from vault_indexer.search.terms import language_of, query_words
from vault_indexer.search.word_statistics import WordStatistics

_NO_LIMIT_S = 60.0
_PUNCTUATION = re.compile(r":(?=\s|$)")


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A word of a question. `weight` is its rarity in the vault, 0 for function and question words; `terms`
    are the index terms that stand for it; `is_known` says whether any note holds it in any form."""

    word: str
    weight: float
    terms: frozenset[str]
    is_known: bool


def question_as_query(question: str) -> str:
    """The question as a query: a colon with nothing right behind it is punctuation here, not an operator."""
    return _PUNCTUATION.sub(" ", question)


def question_words(vaults: Sequence[SearchedVault], question: str) -> tuple[QuestionWord, ...]:
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
    )
    return _weighed_words(prepared)


def missing_words(prepared: PreparedQuery) -> tuple[str, ...]:
    """The words of a query that say something and that no note has, each once, as written."""
    if not prepared.words:
        return ()
    words = _weighed_words(prepared)
    return tuple(dict.fromkeys(one.word for one in words if one.weight and not one.is_known))


def _weighed_words(prepared: PreparedQuery) -> tuple[QuestionWord, ...]:
    weights = word_weights(prepared).tolist()
    return tuple(
        QuestionWord(term.word, weight, term.forms, prepared.statistics.knows(term))
        for term, weight in zip(prepared.words, weights, strict=True)
    )


def share_held(words: Collection[QuestionWord], terms: Collection[str]) -> float:
    """The part of the words' weight that a text with these index terms holds, in [0, 1]."""
    total = sum(word.weight for word in words)
    held = sum(word.weight for word in words if not word.terms.isdisjoint(terms))
    return held / total if total else 0.0
