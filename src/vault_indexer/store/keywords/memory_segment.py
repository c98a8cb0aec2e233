"""A segment of a few documents that were never written: what a search of chosen notes reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.store.keywords.lexicon import Lexicon
from vault_indexer.store.keywords.postings import LiveSegment
from vault_indexer.store.keywords.schema import FIELDS
from vault_indexer.store.keywords.segment_reader import Postings, stored_lengths
from vault_indexer.store.keywords.snapshot import KeywordSnapshot
from vault_indexer.system import LruCache
from vault_indexer.text.terms import VARIANT_MARK
from vault_indexer.text.tokens import LONGEST_TERM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.store.keywords.segment_reader import Bytes, Ints, Keys

TermCounts = Mapping[str, Mapping[str, int]]
"""By field how often a document has each term."""

_POSTINGS = 4096


def count_terms(fields: Mapping[str, Sequence[str]]) -> TermCounts:
    """The terms of one document, counted."""
    return {name: Counter(terms) for name, terms in fields.items()}


def snapshot_of_documents(
    documents: Sequence[tuple[int, TermCounts]], seq: int, lexicon: Lexicon
) -> KeywordSnapshot:
    """A keyword index of these documents (key ascending, terms) alone; `lexicon` has the words that a query
    is corrected and completed by."""
    segment = MemorySegment(documents)
    live = LiveSegment(segment, np.ones(segment.size, bool))
    return KeywordSnapshot([live], seq, LruCache(_POSTINGS), lexicon=lexicon)


class MemorySegment:
    """Implements Segment. It never changes; any thread may read it."""

    name = "memory"

    def __init__(self, documents: Sequence[tuple[int, TermCounts]]) -> None:
        self.size = len(documents)
        self.keys: Keys = np.array([key for key, _ in documents], np.int64)
        self._counts = {
            field: [
                (number, own) for number, (_, counts) in enumerate(documents) if (own := counts.get(field))
            ]
            for field in FIELDS
        }
        self._lengths = {field: self._lengths_of(own) for field, own in self._counts.items()}
        self.field_totals = {field: int(own.sum()) for field, own in self._lengths.items()}

    def postings(self, field: str, term: str) -> Postings | None:
        """The documents that hold the term in the field; None where it does not occur."""
        held = [(number, counts[term]) for number, counts in self._counts[field] if term in counts]
        if not held:
            return None
        numbers, frequencies = zip(*held, strict=True)
        return Postings(np.array(numbers, np.int32), np.array(frequencies, np.uint32))

    def length_codes(self, field: str) -> Bytes:
        """The lengths of the field, as numbers of `stored_lengths`."""
        steps = stored_lengths()
        return np.minimum(steps.searchsorted(self._lengths[field]), len(steps) - 1).astype(np.uint8)

    @cached_property
    def longest_words(self) -> Mapping[str, Ints]:
        """For each field the documents with a word that may be cut off."""

        def documents(field: str) -> Ints:
            own = self._counts[field]
            return np.array([number for number, counts in own if any(map(_is_longest, counts))], np.int32)

        return {field: documents(field) for field in FIELDS}

    def _lengths_of(self, counts: Sequence[tuple[int, Mapping[str, int]]]) -> NDArray[np.int64]:
        lengths = np.zeros(self.size, np.int64)
        for number, own in counts:
            lengths[number] = sum(own.values())
        return lengths


def _is_longest(term: str) -> bool:
    return len(term) >= LONGEST_TERM and term[0] != VARIANT_MARK
