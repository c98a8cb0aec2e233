"""What a query asks of the keyword index: words, each with the index terms that stand for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

VARIANT_MARK = "~"
"""Begins an index term that the text does not hold as written: a stem, a folded form, a part of a word."""


class TermClass(NamedTuple):
    """Terms that count as one word: `exact`, and `variants` each with the weight of one occurrence.

    A document's term frequency is max(tf(exact), sum of weight * tf(variant)), its document frequency the
    largest among the terms (as in Lucene's SynonymQuery), so that an exact form outranks an inflected one.
    `weight` scales the class's score. `folded`: the class also holds words that differ from the query's by
    their marks, so it says nothing about how rare the query's word is.

    A tuple, because a search looks its scores up by it many times: the hash of a dataclass takes longer.
    """

    exact: str
    variants: tuple[tuple[str, float], ...] = ()
    weight: float = 1.0
    folded: bool = False

    @property
    def terms(self) -> tuple[str, ...]:
        """All terms of the class, the exact one first."""
        return (self.exact, *(term for term, _ in self.variants))


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a query. `start` and `end` are its span in the query.

    Of several classes (one or two for each language that the word may belong to) a document gets the best
    score, not the sum. `prefix` asks for every term that begins with the exact one as well.
    """

    word: str
    classes: tuple[TermClass, ...]
    weight: float = 1.0
    start: int = 0
    end: int = 0
    prefix: bool = False

    @property
    def forms(self) -> frozenset[str]:
        return frozenset(form for one in self.classes for form in one.terms)

    @property
    def compounds(self) -> tuple[str, ...]:
        return tuple(one.exact for one in self.classes[1:] if one.exact != self.classes[0].exact)

    @classmethod
    def plain(cls, term: str, weight: float = 1.0) -> QueryTerm:
        return cls(term, (TermClass(term),), weight, 0, len(term))
