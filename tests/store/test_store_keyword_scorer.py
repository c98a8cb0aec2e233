"""What is kept of the scores of words."""

from __future__ import annotations

import numpy as np

from vault_indexer.store.keywords.postings import ByField, TermPostings
from vault_indexer.store.keywords.schema import FieldWeights
from vault_indexer.store.keywords.scorer import WordScores
from vault_indexer.system import LruCache
from vault_indexer.text.terms import TermClass


class CountedPostings(TermPostings):
    """Those of an empty index, and which terms were looked up."""

    def __init__(self) -> None:
        super().__init__([], LruCache(1))
        self.asked: list[str] = []

    def of(self, term: str) -> ByField:
        self.asked.append(term)
        return super().of(term)


def test_of_many_words_each_is_scored_once() -> None:
    postings = CountedPostings()
    scores = WordScores([], np.empty(0, np.bool_), postings, FieldWeights(), 1)
    words = [(TermClass(f"word{number}"),) for number in range(20)]
    assert not any(scores.knows(word) for word in words)
    postings.asked.clear()
    assert not any(scores.knows(word) for word in words)
    assert postings.asked == []
