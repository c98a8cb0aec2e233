"""The character pairs of a question in a script without spaces.

The index has pairs instead of words there. Half of them lie across the border of two words, and a sentence
with both words in another order does not contain them (XQuAD zh: .615 answered, .740 with this module).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from vault_indexer.search import QuestionWord, pair_contents
from vault_indexer.text.language import asking_characters
from vault_indexer.text.tokens import RUN, clusters

Pair = tuple[frozenset[str], list[frozenset[str]]]
"""The index terms of a pair, and those of the pairs that share a character with it."""


def without_idle_pairs(words: list[QuestionWord], question: str) -> list[QuestionWord]:
    """Returns the words without the pairs in question words. A pair at the edge of such a word has half its
    weight. Returns all words if no others are left."""
    contents = pair_contents(question, asking_characters(), RUN)
    weighed = (replace(word, weight=word.weight * contents.get(word.word, 1.0)) for word in words)
    return [word for word in weighed if word.weight] or words


def pairs_of(words: Sequence[QuestionWord]) -> list[Pair]:
    """Returns the words that are pairs of characters and have a neighbour among them."""
    pairs = [(word.terms, clusters(word.word)) for word in words if RUN.match(word.word)]
    found: list[Pair] = [(terms, []) for terms, _ in pairs]
    for number, ((_, first), (_, second)) in enumerate(pairwise(pairs)):
        if first[-1] == second[0]:
            found[number][1].append(pairs[number + 1][0])
            found[number + 1][1].append(pairs[number][0])
    return [pair for pair in found if pair[1]]


def with_border_pairs(terms: frozenset[str], pairs: Sequence[Pair]) -> frozenset[str]:
    """Returns index terms and those of each pair whose neighbours are all among them."""
    border = [own for own, neighbours in pairs if not any(map(terms.isdisjoint, neighbours))]
    return terms.union(*border) if border else terms
