"""The input of a keyword search: words, each with the index terms that match it."""

from __future__ import annotations

from typing import NamedTuple

from vault_indexer.system import record

VARIANT_MARK = "~"
"""The prefix of an index term that is not in the text as written: stem, folded form, part of a word."""


class TermClass(NamedTuple):
    """Terms that count as one word: `exact`, and `variants`, each with the weight of one occurrence.

    A document's term frequency is max(tf(exact), sum of weight * tf(variant)), its document frequency the
    largest among the terms (as in Lucene's SynonymQuery), so that an exact form outranks an inflected one.
    `weight` scales the class's score. `folded` is true if the class also contains words that differ from the
    query's by their marks, so its frequency is not that of the query's word.

    It is a tuple because a search looks up scores by it many times, and the hash of a dataclass takes longer.
    """

    exact: str
    variants: tuple[tuple[str, float], ...] = ()
    weight: float = 1.0
    folded: bool = False

    @property
    def terms(self) -> tuple[str, ...]:
        """All terms of the class, the exact one first."""
        return (self.exact, *(term for term, _ in self.variants))


@record
class QueryTerm:
    """One word of a query. `start` and `end` are its span in the query.

    There are one or two classes for each possible language of the word. A document gets the best score of the
    classes, not the sum. With `prefix` the word also matches every term that begins with the exact one.
    """

    word: str
    classes: tuple[TermClass, ...]
    weight: float = 1.0
    start: int = 0
    end: int = 0
    prefix: bool = False

    @property
    def forms(self) -> frozenset[str]:
        return frozenset(form for term_class in self.classes for form in term_class.terms)

    @property
    def written_forms(self) -> frozenset[str]:
        """The forms that do not differ from the word by their marks."""
        return frozenset(form for one in self.classes if not one.folded for form in one.terms)

    @property
    def compounds(self) -> tuple[str, ...]:
        return tuple(other.exact for other in self.classes[1:] if other.exact != self.classes[0].exact)

    @classmethod
    def plain(cls, term: str, weight: float = 1.0) -> QueryTerm:
        return cls(term, (TermClass(term),), weight, 0, len(term))
