"""The rarity of words. The notes of all vaults of a search form one collection."""

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
    """The number of chunks, the document frequencies, the vocabulary and the languages of several snapshots.

    The figures are sums over all snapshots, so that scores of different vaults are comparable. A search
    creates one instance for each group of vaults that share a model, and uses it in its own thread while the
    snapshots are open. Two figures remain per snapshot: the mean length of fields, and the frequency of a
    word in fields other than the one where it is most frequent. With Obsidian's help split into two vaults,
    this moved few hits, and none by much.
    """

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self._snapshots = tuple(snapshots)
        self._keywords = tuple(snapshot.keywords for snapshot in snapshots)
        self._frequencies: dict[str, int] = {}
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
        for snapshot in self._snapshots:
            notes.update(_languages(snapshot).counts)
        return tuple(sorted(notes, key=lambda name: (-notes[name], name)))

    def language_share(self, language: str) -> float:
        """The share, in [0, 1], of notes in this language among the notes of a known language. The share of
        each vault is weighted by its number of chunks."""
        shares = [_languages(snapshot).shares.get(language, 0.0) for snapshot in self._snapshots]
        weighed = zip(shares, map(_documents, self._snapshots), strict=True)
        return sum(share * documents for share, documents in weighed) / max(1, self.documents)

    @cached_property
    def rare_languages(self) -> frozenset[str]:
        """The languages of only a tiny share of the notes, in every vault that contains them."""
        rare, common = set[str](), set[str]()
        for snapshot in self._snapshots:
            languages = _languages(snapshot)
            rare |= languages.rare
            common |= set(languages.in_order) - languages.rare
        return frozenset(rare - common)

    def document_frequency(self, term: str) -> int:
        """The number of chunks that contain the term in the field where it is most frequent. Deleted chunks
        count until a merge."""
        if term not in self._frequencies:
            self._frequencies[term] = sum(_frequency(snapshot, term) for snapshot in self._snapshots)
        return self._frequencies[term]

    def largest_document_frequency(self, terms: Iterable[str]) -> int:
        """The document frequency of the most frequent term; 0 if there are no terms."""
        return max(map(self.document_frequency, terms), default=0)

    def knows(self, term: QueryTerm) -> bool:
        return any(
            snapshot.keywords.knows(term, FIELD_WEIGHTS)
            or (snapshot.statistics and any(map(snapshot.statistics.vocabulary.frequency, term.forms)))
            for snapshot in self._snapshots
        )

    def scaled(self, keywords: KeywordSnapshot, terms: Iterable[QueryTerm]) -> list[QueryTerm]:
        """Returns the terms for a search of one snapshot. That search scores terms by their rarity in the
        snapshot, so each class is weighted to count by its rarity in all snapshots."""
        if self._is_whole:
            return list(terms)
        return [replace(term, classes=self._scaled_classes(keywords, term)) for term in terms]

    def _scaled_classes(self, keywords: KeywordSnapshot, term: QueryTerm) -> tuple[TermClass, ...]:
        """Scales each class of the term. A word that is still being typed has the rarity of the most frequent
        word that begins with it."""
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
    """The number of chunks of the snapshot's vault that contain the term, never less than in the snapshot."""
    own = snapshot.keywords.document_frequency(term)
    return max(own, snapshot.statistics.vocabulary.frequency(term)) if snapshot.statistics else own


def _languages(snapshot: Snapshot) -> CountedLanguages:
    return snapshot.statistics.languages if snapshot.statistics else snapshot.catalog.languages()


def _rarity(documents: int, frequency: int) -> float:
    """The inverse document frequency of BM25F: ln(N / (df + 1)) + 1."""
    return log(max(documents, frequency) / (frequency + 1)) + 1
