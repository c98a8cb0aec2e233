"""Reads one Whoosh segment: term table, postings, lengths and keys, straight from a memory map.

Whoosh's readers keep a position in shared files (not safe across threads) and copy the term table into
memory. A segment's file never changes, so here every read is a slice of one map: thread-safe, and still
valid for a reader that holds it after a later commit has removed the file.
"""

from __future__ import annotations

import io
import mmap
import pickle
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_indexer.store.keywords.schema import FIELDS, KEY_COLUMN
from vault_indexer.store.keywords.segment_words import SegmentWords
from vault_indexer.store.keywords.term_table import AFTER_ALL, Entries, TermTable
from vault_indexer.text.terms import VARIANT_MARK
from vault_indexer.text.tokens import LONGEST_TERM

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from whoosh.codec.whoosh3 import W3Segment

    Bytes = NDArray[np.uint8]
    Counts = NDArray[np.uint8] | NDArray[np.uint32]
    Ints = NDArray[np.int32]
    Keys = NDArray[np.int64]

_DIRECTORY = struct.Struct("!qi")
_EXTENT = struct.Struct("!Qi")
_EXTENT_AT = 23  # within a term's entry (`whoosh.codec.whoosh3.W3TermInfo`)
_BLOCK_HEADER = 8
_LARGEST_BYTE = 255


class Postings(NamedTuple):
    """Of one term in one field: ascending document numbers of the segment, and term frequencies."""

    documents: Ints
    frequencies: Counts


class SegmentData:
    """One segment, open. `size` counts its documents, deleted ones too."""

    def __init__(self, folder: Path, segment: W3Segment) -> None:
        """Raises OSError when the file cannot be read."""
        self.name: str = segment.segment_id()
        self.size: int = segment.doc_count_all()
        self.field_totals: dict[str, int] = {f: segment._fieldlengths.get(f, 0) for f in FIELDS}
        with (folder / segment.make_filename(segment.COMPOUND_EXT)).open("rb") as file:
            self._map = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        start, _ = _DIRECTORY.unpack_from(self._map, 0)
        self._files = pickle.loads(self._map[start:])
        self._terms = self._part(".trm")
        self._table = TermTable(self._terms)
        self._blocks = self._part(".pst")
        self._words: SegmentWords | None = None
        self._reading_words = Lock()

    def _part(self, extension: str) -> memoryview:
        entry = self._files.get(self.name + extension)
        if entry is None:
            return memoryview(b"")
        return self._map[entry["offset"] : entry["offset"] + entry["length"]]

    def postings(self, field: str, term: str) -> Postings | None:
        """The term's postings in the field, deleted documents included; None where it does not occur."""
        entry = self._table.find(field, term)
        return None if entry is None else self._decode(entry)

    def all_postings(self) -> Iterator[tuple[str, str, Postings]]:
        """(field, term, postings) of the whole segment, in order."""
        for field in FIELDS:
            found = self._table.starting_with(field, "")
            for term, entry in zip(found.terms, found.starts, strict=True):
                yield field, term, self._decode(entry)

    def frequencies(self, field: str) -> dict[str, int]:
        """All terms of the field with their document frequencies."""
        terms, frequencies = self._table.all_of(field)
        return dict(zip(map(bytes.decode, terms), frequencies, strict=True))

    def words_with_prefix(self, prefix: str) -> dict[str, int]:
        """Terms that some text holds as written, each with the largest document frequency of its fields."""
        return _words_in(self._table.starting_with(field, prefix) for field in FIELDS)

    def frequent_words(self, limit: int) -> dict[str, int]:
        """The same of the `limit` most frequent terms of each field, quickly."""
        return _words_in(self._table.most_frequent(field, limit) for field in FIELDS)

    @property
    def words(self) -> SegmentWords:
        """The segment's lexicon. The first use reads the whole term table: 2 µs a term, and 9,000 chunks
        may hold 60,000. Who comes meanwhile waits for it."""
        with self._reading_words:
            if self._words is None:
                self._words = SegmentWords(self._all_words())
            return self._words

    def _all_words(self) -> dict[bytes, int]:
        """What `words_with_prefix` gives for an empty prefix, in UTF-8."""
        mark = VARIANT_MARK.encode()
        counts: dict[bytes, int] = {}
        for field in FIELDS:
            terms, frequencies = self._table.all_of(field)
            first = bisect_left(terms, mark)
            last = bisect_left(terms, mark + AFTER_ALL, lo=first)
            del terms[first:last], frequencies[first:last]
            for term, frequency in zip(terms, frequencies, strict=True):
                if counts.get(term, 0) < frequency:
                    counts[term] = frequency
        return counts

    @property
    def has_read_words(self) -> bool:
        """Whether `words` are there without a wait."""
        return self._words is not None

    @cached_property
    def longest_words(self) -> dict[str, Ints]:
        """For each field the documents with a word that may be cut off."""
        found: dict[str, Ints] = {}
        for field in FIELDS:
            entries = self._table.starting_with(field, "")
            starts = [
                start
                for term, start in zip(entries.terms, entries.starts, strict=True)
                if len(term) >= LONGEST_TERM and term[0] != VARIANT_MARK
            ]
            documents = [self._decode(start).documents for start in starts]
            found[field] = np.unique(np.concatenate([np.empty(0, np.int32), *documents]))
        return found

    @cached_property
    def keys(self) -> Keys:
        """Chunk keys by document number."""
        return self._column(f".{KEY_COLUMN}.col", np.dtype(">i8")).astype(np.int64)

    @cached_property
    def _keys_in_order(self) -> tuple[Keys, Keys]:
        order = self.keys.argsort(kind="stable")
        return self.keys[order], order

    def numbers_of(self, keys: Keys) -> Keys:
        """Document numbers of those of `keys` that the segment holds, deleted ones too."""
        ordered, order = self._keys_in_order
        first, last = ordered.searchsorted(keys), ordered.searchsorted(keys, "right")
        held = first < last
        first, last = first[held], last[held]
        if len(first) == int((last - first).sum()):
            return order[first]
        return np.concatenate([order[a:b] for a, b in zip(first, last, strict=True)])

    def lengths(self, field: str) -> Ints:
        """Tokens of the field by document number, in the steps that Whoosh stores (0 for none)."""
        return stored_lengths()[self.length_codes(field)]

    def length_codes(self, field: str) -> Bytes:
        """The same as numbers of `stored_lengths`."""
        return self._column(f"._{field}_len.col", np.dtype(np.uint8)).astype(np.uint8, copy=False)

    def _column(self, extension: str, dtype: np.dtype[np.int64] | np.dtype[np.uint8]) -> NDArray[np.integer]:
        stored = np.frombuffer(self._part(extension), dtype)
        values = np.zeros(self.size, dtype)
        values[: len(stored)] = stored
        return values

    def _decode(self, entry: int) -> Postings:
        offset, size = _EXTENT.unpack_from(self._terms, entry + _EXTENT_AT)
        block = io.BytesIO(self._blocks[offset + _BLOCK_HEADER : offset + size])
        count, _, most, compression, _, _ = pickle.load(block)
        data = block.read()
        deltas, weights, _ = pickle.loads(zlib.decompress(data) if compression else data)
        documents = np.array(deltas, np.int32)
        if count > 1:
            np.cumsum(documents, out=documents)
        kind = np.dtype(np.uint8 if most <= _LARGEST_BYTE else np.uint32)
        frequencies: Counts = np.ones(count, kind) if weights is None else np.array(weights, kind)
        return Postings(documents, frequencies)


@cache
def stored_lengths() -> Ints:
    """The 256 numbers of tokens that Whoosh tells apart."""
    from whoosh.util.numeric import byte_to_length

    return np.array([byte_to_length(code) for code in range(256)], np.int32)


def _words_in(fields: Iterable[Entries]) -> dict[str, int]:
    """The terms of fields that are written so, each with its largest document frequency."""
    counts: dict[str, int] = {}
    for found in fields:
        for term, frequency in zip(found.terms, found.frequencies, strict=True):
            if counts.get(term, 0) < frequency and term[0] != VARIANT_MARK:
                counts[term] = frequency
    return counts
