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
from collections.abc import Iterator
from functools import cached_property
from hashlib import md5
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_indexer.store.keyword_schema import FIELDS, KEY_COLUMN
from vault_indexer.store.keyword_words import SegmentWords
from vault_indexer.text.terms import VARIANT_MARK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from whoosh.codec.whoosh3 import W3Segment

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int32]
    Keys = NDArray[np.int64]
    Mask = NDArray[np.bool_]

_DIRECTORY = struct.Struct("!qi")
_POINTER = struct.Struct("!Iq")
_ENTRY = struct.Struct("!ii")
_TABLES = 256
_TABLE_HEADER = 4 + 1 + 4 + 4
_DOCUMENT_FREQUENCY = struct.Struct("!I")
_EXTENT = struct.Struct("!Qi")
_BLOCK_HEADER = 8


class Postings(NamedTuple):
    """Of one term in one field: ascending document numbers of the segment, and term frequencies."""

    documents: Ints
    frequencies: Floats


class TermTable:
    """Whoosh's `OrderedHashReader` over a buffer: a two-level hash of (field, term), keys in order."""

    def __init__(self, buffer: memoryview) -> None:
        self._buffer = buffer
        extras_size = struct.unpack_from("!i", buffer, len(buffer) - 4)[0]
        extras_start = len(buffer) - 4 - extras_size
        fields: dict[str, int] = pickle.loads(buffer[extras_start:])["fieldmap"]
        self._field_ids = {name: struct.pack("!H", number) for name, number in fields.items()}
        directory = extras_start - _TABLES * _DIRECTORY.size
        self._tables = [
            _DIRECTORY.unpack_from(buffer, directory + i * _DIRECTORY.size) for i in range(_TABLES)
        ]

    def find(self, field: str, term: str) -> int | None:
        """Where the term's entry starts, or None."""
        key = self._field_ids[field] + term.encode()
        digest = int.from_bytes(md5(key, usedforsecurity=False).digest()[-4:], "big")
        start, slots = self._tables[digest & 255]
        buffer = self._buffer
        for step in range(slots):
            slot = ((digest >> 8) + step) % slots
            found, position = _POINTER.unpack_from(buffer, start + slot * _POINTER.size)
            if not position:
                return None
            if found == digest:
                size, _ = _ENTRY.unpack_from(buffer, position)
                data = position + _ENTRY.size + size
                if buffer[position + _ENTRY.size : data] == key:
                    return int(data)
        return None

    def __iter__(self) -> Iterator[tuple[int, bytes, int]]:
        """(field number, term, start of the entry), in order."""
        buffer, end = self._buffer, self._tables[0][0]
        position = _TABLE_HEADER
        while position < end:
            key_size, data_size = _ENTRY.unpack_from(buffer, position)
            key_start = position + _ENTRY.size
            data = key_start + key_size
            yield buffer[key_start + 1], bytes(buffer[key_start + 2 : data]), data
            position = data + data_size


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
        self._table = TermTable(self._part(".trm"))
        self._blocks = self._part(".pst")

    def _part(self, extension: str) -> memoryview:
        entry = self._files.get(self.name + extension)
        if entry is None:
            return memoryview(b"")
        return self._map[entry["offset"] : entry["offset"] + entry["length"]]

    def postings(self, field: str, term: str) -> Postings | None:
        """The term's postings in the field, deleted documents included; None where it does not occur."""
        entry = self._table.find(field, term)
        return None if entry is None else self._decode(entry)

    def document_frequency(self, field: str, term: str) -> int:
        """How many documents, deleted ones too, hold the term in the field."""
        entry = self._table.find(field, term)
        return 0 if entry is None else self._frequency_at(entry)

    def terms(self) -> Iterator[tuple[str, str, int]]:
        """(field, term, document frequency), in the order of fields and terms."""
        for field, term, entry in self._table:
            yield FIELDS[field], term.decode(), self._frequency_at(entry)

    def all_postings(self) -> Iterator[tuple[str, str, Postings]]:
        """(field, term, postings) of the whole segment, in order."""
        for field, term, entry in self._table:
            yield FIELDS[field], term.decode(), self._decode(entry)

    @cached_property
    def words(self) -> SegmentWords:
        """The segment's lexicon; the first use reads the whole term table (about 1 µs a term)."""
        counts: dict[str, int] = {}
        for _, term, frequency in self.terms():
            if not term.startswith(VARIANT_MARK):
                counts[term] = max(counts.get(term, 0), frequency)
        return SegmentWords(counts)

    @cached_property
    def keys(self) -> Keys:
        """Chunk keys by document number."""
        import numpy as np

        return self._column(f".{KEY_COLUMN}.col", np.dtype(">i8")).astype(np.int64)

    @cached_property
    def _keys_in_order(self) -> tuple[Keys, Keys]:
        order = self.keys.argsort(kind="stable")
        return self.keys[order], order

    def numbers_of(self, keys: Keys) -> Keys:
        """Document numbers of those of `keys` that the segment holds, deleted ones too."""
        import numpy as np

        ordered, order = self._keys_in_order
        first = np.searchsorted(ordered, keys, "left")
        last = np.searchsorted(ordered, keys, "right")
        spans = [order[a:b] for a, b in zip(first[first < last], last[first < last], strict=True)]
        return np.concatenate(spans) if spans else np.empty(0, np.int64)

    def lengths(self, field: str) -> Ints:
        """Tokens of the field by document number, in the steps that Whoosh stores (0 for none)."""
        import numpy as np
        from whoosh.util.numeric import byte_to_length

        steps = np.array([byte_to_length(i) for i in range(256)], np.int32)
        lengths: Ints = steps[self._column(f"._{field}_len.col", np.dtype(np.uint8))]
        return lengths

    def _column(self, extension: str, dtype: np.dtype[np.int64] | np.dtype[np.uint8]) -> NDArray[np.integer]:
        import numpy as np

        stored = np.frombuffer(self._part(extension), dtype)
        values = np.zeros(self.size, dtype)
        values[: len(stored)] = stored
        return values

    def _frequency_at(self, entry: int) -> int:
        buffer = self._table._buffer
        return int(_DOCUMENT_FREQUENCY.unpack_from(buffer, entry + 5)[0])

    def _decode(self, entry: int) -> Postings:
        import numpy as np

        offset, size = _EXTENT.unpack_from(self._table._buffer, entry + 23)
        block = io.BytesIO(self._blocks[offset + _BLOCK_HEADER : offset + size])
        count, _, _, compression, _, _ = pickle.load(block)
        data = block.read()
        deltas, weights, _ = pickle.loads(zlib.decompress(data) if compression else data)
        documents = np.array(deltas, np.int32)
        if count > 1:
            np.cumsum(documents, out=documents)
        frequencies = np.ones(count, np.float32) if weights is None else np.array(weights, np.float32)
        return Postings(documents, frequencies)
