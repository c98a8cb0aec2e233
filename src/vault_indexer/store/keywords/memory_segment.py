"""A segment of a few documents in memory, for searches of selected notes."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from vault_indexer.arrays import Bytes, Keys
from vault_indexer.store.keywords.lexicon import Lexicon, SegmentWords
from vault_indexer.store.keywords.postings import LiveSegment
from vault_indexer.store.keywords.schema import FIELDS
from vault_indexer.store.keywords.snapshot import KeywordSnapshot
from vault_indexer.store.keywords.whoosh_segment import Ints, Postings, is_longest, stored_lengths
from vault_indexer.system import LruCache
from vault_indexer.text.terms import VARIANT_MARK

TermCounts = Mapping[str, Mapping[str, int]]
"""Maps each field to the frequencies of its terms in one document."""

_POSTINGS = 4096


def count_terms(fields: Mapping[str, Sequence[str]]) -> TermCounts:
    """Counts the terms of one document."""
    return {name: Counter(terms) for name, terms in fields.items()}


def snapshot_of_documents(
    documents: Sequence[tuple[int, TermCounts]], seq: int, lexicon: Lexicon
) -> KeywordSnapshot:
    """Builds a keyword index of only these documents (key ascending, terms). `lexicon` contains the words for
    corrections and completions."""
    segment = MemorySegment(documents)
    live = LiveSegment(segment, np.ones(segment.size, bool))
    return KeywordSnapshot([live], seq, LruCache(_POSTINGS), lexicon=lexicon)


class MemorySegment:
    """A `postings.Segment` in memory. Immutable; any thread may read it."""

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
        self._lengths = {field: np.zeros(self.size, np.int64) for field in FIELDS}
        for field, counted in self._counts.items():
            for number, terms in counted:
                self._lengths[field][number] = sum(terms.values())
        self.field_totals = {field: int(own.sum()) for field, own in self._lengths.items()}

    def postings(self, field: str, term: str) -> Postings | None:
        held = [(number, counts[term]) for number, counts in self._counts[field] if term in counts]
        if not held:
            return None
        numbers, frequencies = zip(*held, strict=True)
        return Postings(np.array(numbers, np.int32), np.array(frequencies, np.uint32))

    def length_codes(self, field: str) -> Bytes:
        steps = stored_lengths()
        # Lengths are rounded to Whoosh's steps, so that scores equal those of a segment on disk.
        return np.minimum(steps.searchsorted(self._lengths[field]), len(steps) - 1).astype(np.uint8)

    @cached_property
    def longest_words(self) -> Mapping[str, Ints]:
        def documents(field: str) -> Ints:
            own = self._counts[field]
            return np.array([number for number, counts in own if any(map(is_longest, counts))], np.int32)

        return {field: documents(field) for field in FIELDS}


_COMPRESSION = 6


class Vocabulary:
    """A WordSource with the index terms of a whole vault, each with the number of documents that contain it
    in the field where it is most frequent. It never changes; any thread may read it.

    `words` contains the terms as some text writes them; `variants` represent words without their accents or
    endings.
    """

    has_read_words = True

    def __init__(self, words: SegmentWords, variants: SegmentWords) -> None:
        self.words = words
        self._variants = variants

    @classmethod
    def of(cls, frequencies: Mapping[str, int]) -> Vocabulary:
        """Builds the vocabulary from terms as `KeywordIndex.term_frequencies` returns them."""
        words, variants = dict[bytes, int](), dict[bytes, int]()
        for term, count in frequencies.items():
            (variants if term.startswith(VARIANT_MARK) else words)[term.encode()] = count
        return cls(SegmentWords(words), SegmentWords(variants))

    def to_bytes(self) -> bytes:
        words = self.words.to_bytes()
        return zlib.compress(struct.pack("<Q", len(words)) + words + self._variants.to_bytes(), _COMPRESSION)

    @classmethod
    def from_bytes(cls, data: bytes) -> Vocabulary:
        """Raises zlib.error, struct.error or ValueError for bytes that `to_bytes` did not produce."""
        raw = zlib.decompress(data)
        (size,) = struct.unpack_from("<Q", raw)
        return cls(SegmentWords.from_bytes(raw[8 : 8 + size]), SegmentWords.from_bytes(raw[8 + size :]))

    def frequency(self, term: str) -> int:
        """The number of documents that contain the term; 0 for an unknown one."""
        return (self._variants if term.startswith(VARIANT_MARK) else self.words).frequency(term)

    def words_with_prefix(self, prefix: str) -> dict[str, int]:
        return self.words.with_prefix(prefix)

    def frequent_words(self, limit: int) -> dict[str, int]:
        every = self.words.with_prefix("")
        return dict(sorted(every.items(), key=lambda item: (-item[1], item[0]))[:limit])
