"""How rare words are: the notes of all vaults of a search count as one collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from math import log

from vault_indexer.store import Snapshot
from vault_indexer.store.catalog import CountedLanguages
from vault_indexer.store.keywords import FIELD_WEIGHTS, KeywordSnapshot
from vault_indexer.text.terms import QueryTerm, TermClass


class WordStatistics:
    """The number of chunks, the document frequencies, the known words and the languages of some snapshots.

    They are sums over all, so that scores of one vault can be compared with those of the others. A search
    makes one for each group of vaults with one model, and uses it in its own thread while it holds the
    snapshots. The mean length of fields, and the frequency in a field where a word is not the most frequent,
    stay those of each snapshot: on Obsidian's help in two halves that moved few hits, and none by much.
    """

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self._snapshots = tuple(snapshots)
        self._keywords = tuple(one.keywords for one in snapshots)
        self._is_whole = len(self._snapshots) == 1 and self._snapshots[0].statistics is None

    @cached_property
    def documents(self) -> int:
        return sum(map(_documents, self._snapshots))

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages of the notes, most frequent first."""
        if len(self._snapshots) == 1:
            return self._snapshots[0].languages
        notes: Counter[str] = Counter()
        for one in self._snapshots:
            notes.update(_languages(one).counts)
        return tuple(sorted(notes, key=lambda name: (-notes[name], name)))

    def language_share(self, language: str) -> float:
        """The share of the notes of known language that are in this one, in [0, 1]; that of each vault counts
        by its chunks."""
        shares = [_languages(one).shares.get(language, 0.0) for one in self._snapshots]
        weighed = zip(shares, map(_documents, self._snapshots), strict=True)
        return sum(share * documents for share, documents in weighed) / max(1, self.documents)

    @cached_property
    def rare_languages(self) -> frozenset[str]:
        """Those that a tiny part of the notes of each vault is in."""
        rare, common = set[str](), set[str]()
        for one in self._snapshots:
            found = _languages(one)
            rare |= found.rare
            common |= set(found.in_order) - found.rare
        return frozenset(rare - common)

    def document_frequency(self, term: str) -> int:
        """Chunks that hold the term in the field where it is most frequent; deleted ones count until a
        merge."""
        return sum(_frequency(one, term) for one in self._snapshots)

    def largest_document_frequency(self, terms: Iterable[str]) -> int:
        """The document frequency of the most frequent of the terms; 0 without any."""
        return max(map(self.document_frequency, terms), default=0)

    def knows(self, term: QueryTerm) -> bool:
        return any(
            one.keywords.knows(term, FIELD_WEIGHTS)
            or (one.statistics and any(map(one.statistics.vocabulary.frequency, term.forms)))
            for one in self._snapshots
        )

    def scaled(self, keywords: KeywordSnapshot, terms: Iterable[QueryTerm]) -> list[QueryTerm]:
        """The terms for a search of one of the snapshots, which scores them at the rarity that they have in
        it: each class is weighted so that they count at the rarity that they have in all."""
        if self._is_whole:
            return list(terms)
        return [replace(term, classes=self._scaled_classes(keywords, term)) for term in terms]

    def _scaled_classes(self, keywords: KeywordSnapshot, term: QueryTerm) -> tuple[TermClass, ...]:
        """A word that is still typed has the rarity of the most frequent word that begins with it."""
        return tuple(
            written._replace(weight=written.weight * self._rarer(keywords, completed.terms))
            for written, completed in zip(term.classes, keywords.classes_of(term), strict=True)
        )

    def _rarer(self, keywords: KeywordSnapshot, terms: Sequence[str]) -> float:
        own = keywords.largest_document_frequency(terms)
        every = self.largest_document_frequency(terms)
        return _rarity(self.documents, every) / _rarity(len(keywords), own) if own else 1.0


def _documents(snapshot: Snapshot) -> int:
    return snapshot.statistics.documents if snapshot.statistics else len(snapshot.keywords)


def _frequency(snapshot: Snapshot, term: str) -> int:
    """How many chunks of its vault hold the term: at least as many as it holds itself."""
    own = snapshot.keywords.document_frequency(term)
    return max(own, snapshot.statistics.vocabulary.frequency(term)) if snapshot.statistics else own


def _languages(snapshot: Snapshot) -> CountedLanguages:
    return snapshot.statistics.languages if snapshot.statistics else snapshot.catalog.languages()


def _rarity(documents: int, frequency: int) -> float:
    """As BM25F takes it: ln(N / (df + 1)) + 1."""
    return log(max(documents, frequency) / (frequency + 1)) + 1
