"""All words of a vault with their document frequencies, as one value that can be sent."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping

from vault_indexer.store.keywords.segment_words import SegmentWords
from vault_indexer.text.terms import VARIANT_MARK

_COMPRESSION = 6


class Vocabulary:
    """Implements WordSource: the index terms of a whole vault, each with the number of documents that hold it
    in the field where it is most frequent. It never changes; any thread may read it.

    `words` are the terms as some text writes them; `variants` stand for words without their accents or
    endings.
    """

    has_read_words = True

    def __init__(self, words: SegmentWords, variants: SegmentWords) -> None:
        self.words = words
        self._variants = variants

    @classmethod
    def of(cls, frequencies: Mapping[str, int]) -> Vocabulary:
        """Of terms as `KeywordIndex.term_frequencies` gives them."""
        words, variants = dict[bytes, int](), dict[bytes, int]()
        for term, count in frequencies.items():
            (variants if term.startswith(VARIANT_MARK) else words)[term.encode()] = count
        return cls(SegmentWords(words), SegmentWords(variants))

    def to_bytes(self) -> bytes:
        """What `from_bytes` reads."""
        words = self.words.to_bytes()
        return zlib.compress(struct.pack("<Q", len(words)) + words + self._variants.to_bytes(), _COMPRESSION)

    @classmethod
    def from_bytes(cls, data: bytes) -> Vocabulary:
        """Raises zlib.error, struct.error or ValueError for anything that `to_bytes` does not give."""
        raw = zlib.decompress(data)
        (size,) = struct.unpack_from("<Q", raw)
        return cls(SegmentWords.from_bytes(raw[8 : 8 + size]), SegmentWords.from_bytes(raw[8 + size :]))

    def frequency(self, term: str) -> int:
        """Documents that hold the term; 0 for one that is not here."""
        return (self._variants if term.startswith(VARIANT_MARK) else self.words).frequency(term)

    def words_with_prefix(self, prefix: str) -> dict[str, int]:
        """Terms that some text holds as written, with their frequencies."""
        return self.words.with_prefix(prefix)

    def frequent_words(self, limit: int) -> dict[str, int]:
        """The `limit` most frequent of them."""
        every = self.words.with_prefix("")
        return dict(sorted(every.items(), key=lambda item: (-item[1], item[0]))[:limit])
