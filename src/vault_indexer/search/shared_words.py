"""One collection of words for several snapshots: what a word is worth counts the chunks of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import log

from vault_indexer.store import Snapshot
from vault_indexer.store.keywords import FieldWeights, KeywordSnapshot
from vault_indexer.text.terms import QueryTerm, TermClass


def shared_words(snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """The snapshots, each with its own chunks, and with the number of chunks, the document frequencies, the
    known words and the languages of all."""
    if len(snapshots) == 1:
        return list(snapshots)
    notes: Counter[str] = Counter()
    for one in snapshots:
        notes.update({name: count for name, count in one.catalog.notes_by_language().items() if name})
    languages = tuple(sorted(notes, key=lambda name: (-notes[name], name)))
    words = [one.keywords for one in snapshots]
    return [
        replace(one, keywords=SharedKeywords(one.keywords, words), languages=languages) for one in snapshots
    ]


class SharedKeywords(KeywordSnapshot):
    """A keyword snapshot whose statistics are those of several.

    It shares segments and caches with its own snapshot, and finds the same documents. Their number, document
    frequencies and what is known are sums over all, so that a score can be compared with those of the others.
    A field in which a word is not the most frequent, and the mean length of fields, keep the statistics of
    the own snapshot: on Obsidian's help in two halves that moved few hits, and none by much.
    """

    def __init__(self, own: KeywordSnapshot, every: Sequence[KeywordSnapshot]) -> None:
        self.__dict__.update(own.__dict__)
        self._own = own
        self._every = tuple(every)

    def __len__(self) -> int:
        return sum(map(len, self._every))

    def document_frequency(self, term: str) -> int:
        """Documents of all that hold the term in the field where it is most frequent."""
        return sum(one.document_frequency(term) for one in self._every)

    def knows(self, term: QueryTerm, weights: FieldWeights) -> bool:
        """Whether a document of any holds the word in any form."""
        return any(one.knows(term, weights) for one in self._every)

    def _classes(self, term: QueryTerm) -> tuple[TermClass, ...]:
        """The classes at the rarity that they have in all, where the scores take the own one."""
        return tuple(one._replace(weight=one.weight * self._rarer(one)) for one in super()._classes(term))

    def _rarer(self, one: TermClass) -> float:
        own = self._own.largest_document_frequency(one.terms)
        every = self.largest_document_frequency(one.terms)
        return _rarity(len(self), every) / _rarity(len(self._own), own) if own else 1.0


def _rarity(documents: int, frequency: int) -> float:
    """As BM25F takes it: ln(N / (df + 1)) + 1. Deleted documents count in frequencies until a merge."""
    return log(max(documents, frequency) / (frequency + 1)) + 1
