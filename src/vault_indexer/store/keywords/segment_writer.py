"""Writes one finished Whoosh segment from documents, quickly.

Whoosh's own writer sorts one Python tuple per posting. This one keeps the inverted index in a dict and
encodes each term's postings once, as a single block of Whoosh's format 3, into files that Whoosh's
writers frame (term hash table, columns, compound file): Whoosh's searcher reads them like its own.
A builder needs nothing but the folder, so that several processes can build into one index at once.
"""

from __future__ import annotations

import secrets
import shutil
import struct
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from operator import sub
from pathlib import Path
from pickle import dumps
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.store.keywords.schema import (
    FIELDS,
    INDEX_NAME,
    KEY_COLUMN,
    KeywordDocument,
    keyword_schema,
)

if TYPE_CHECKING:
    from whoosh.codec.whoosh3 import W3PerDocWriter, W3Segment
    from whoosh.filedb.filestore import FileStorage

    from vault_indexer.arrays import Mask

    Segment = W3Segment
    """A finished segment, for packages that pass it on and do not know the engine."""

    from vault_indexer.store.keywords.segment_reader import SegmentData

MAX_DOCUMENTS = 32_768
"""Documents of one segment: bounds the memory of a build and the pause of a merge. A rule of thumb."""

_BLOCK_TAG = b"W3Bl"
_TERM_INFO = struct.Struct("!BfIBBfIIQi")  # whoosh.codec.whoosh3.W3TermInfo, with the postings' extent
_LENGTH = struct.Struct("!i")
_FIELD_ID = struct.Struct("!H")
_COMPRESS_ABOVE = 64
_MANY = 16
"""From so many postings on they are pickled as arrays, which are read at once: a tuple is read number by
number, and a common word in six times the time. Whoosh reads either; its own writer makes tuples."""

_TUPLES, _ARRAYS = 2, 4
"""Protocols of pickle: the fourth writes the bytes of an array as they are."""


class SegmentBuilder:
    """Collects documents in memory; `finish` writes them as segments into `folder`, outside any commit.

    The segments belong to no index before `KeywordIndex.adopt`. They can be pickled.
    """

    def __init__(self, folder: Path, max_documents: int = MAX_DOCUMENTS) -> None:
        self._folder = folder
        self._max_documents = max_documents
        self._segments: list[W3Segment] = []
        self._clear()

    def add(self, document: KeywordDocument) -> None:
        """Raises OSError when a full segment cannot be written."""
        number = len(self._keys)
        self._keys.append(document.key)
        for name in FIELDS:
            terms: list[str] = getattr(document, name)
            self._lengths[name].append(len(terms))
            postings = self._postings[name]
            for term, frequency in Counter(terms).items():
                postings[term] += (number, frequency)
        self._flush_if_full()

    def add_segment(self, data: SegmentData, live: Mask) -> None:
        """The live documents of an existing segment (`live`: a truth value by document number), in a new
        segment where both together would be too large."""
        if self._keys and len(self._keys) + int(live.sum()) > self._max_documents:
            self._flush()
        base = len(self._keys)
        numbers = np.cumsum(live) - 1 + base
        self._keys += data.keys[live].tolist()
        for name in FIELDS:
            self._lengths[name] += data.lengths(name)[live].tolist()
        for name, term, found in data.all_postings():
            kept = live[found.documents]
            documents = numbers[found.documents[kept]].tolist()
            frequencies = found.frequencies[kept].tolist()
            if documents:
                target = self._postings[name][term]
                for pair in zip(documents, frequencies, strict=True):
                    target += pair
        self._flush_if_full()

    def finish(self) -> list[W3Segment]:
        """Writes what is left and returns all segments."""
        if self._keys:
            self._flush()
        segments, self._segments = self._segments, []
        return segments

    def _clear(self) -> None:
        self._keys: list[int] = []
        self._lengths: dict[str, list[int]] = {name: [] for name in FIELDS}
        self._postings: dict[str, defaultdict[str, list[int]]] = {name: defaultdict(list) for name in FIELDS}

    def _flush_if_full(self) -> None:
        if len(self._keys) >= self._max_documents:
            self._flush()

    def _flush(self) -> None:
        workplace = self._folder / f".build-{secrets.token_hex(8)}"
        workplace.mkdir(parents=True)
        try:
            self._segments.append(self._write(workplace))
        finally:
            shutil.rmtree(workplace, ignore_errors=True)
        self._clear()

    def _write(self, workplace: Path) -> W3Segment:
        from whoosh.codec.whoosh3 import W3Codec
        from whoosh.filedb.filestore import FileStorage

        storage = FileStorage(str(workplace))
        codec = W3Codec()
        segment = codec.new_segment(storage, INDEX_NAME)
        segment.set_doc_count(len(self._keys))
        self._write_terms(storage, segment)
        self._write_columns(codec.per_document_writer(storage, segment))
        segment.create_compound_file(storage)
        file = segment.make_filename(segment.COMPOUND_EXT)
        (workplace / file).replace(self._folder / file)
        return segment

    def _write_columns(self, writer: W3PerDocWriter) -> None:
        schema = keyword_schema()
        key_column = schema[KEY_COLUMN].column_type
        lengths = [(name, schema[name], self._lengths[name]) for name in FIELDS]
        for number, key in enumerate(self._keys):
            writer.start_doc(number)
            for name, kind, values in lengths:
                writer.add_field(name, kind, None, values[number])
            writer.add_column_value(KEY_COLUMN, key_column, key)
            writer.finish_doc()
        writer.close()

    def _write_terms(self, storage: FileStorage, segment: W3Segment) -> None:
        from whoosh.codec.whoosh3 import W3Codec
        from whoosh.filedb.filetables import OrderedHashWriter
        from whoosh.util.numeric import length_to_byte

        table = OrderedHashWriter(segment.create_file(storage, W3Codec.TERMS_EXT))
        table.extras["fieldmap"] = {name: number for number, name in enumerate(FIELDS)}
        postings = segment.create_file(storage, W3Codec.POSTS_EXT)
        offset = 0
        for number, name in enumerate(FIELDS):
            field_id = _FIELD_ID.pack(number)
            length_bytes = list(map(length_to_byte, self._lengths[name]))
            for term, pairs in sorted(self._postings[name].items()):
                info, block = encode_postings(pairs[::2], pairs[1::2], length_bytes, offset)
                postings.write(block)
                table.add(field_id + term.encode(), info)
                offset += len(block)
        table.close()
        postings.close()


def encode_postings(
    documents: Sequence[int], frequencies: Sequence[int], length_bytes: Sequence[int], offset: int
) -> tuple[bytes, bytes]:
    """A term's entry in the term table and its postings, one block of Whoosh's W3 format at `offset`.

    `documents` ascend; `length_bytes` are the field's lengths by document, as `length_to_byte` gives them.
    """
    first, last, count = documents[0], documents[-1], len(documents)
    most = max(frequencies)
    if count == 1:
        shortest = longest = length_bytes[first]
        deltas = [first]
    else:
        lengths = [length_bytes[document] for document in documents]
        shortest, longest = min(lengths), max(lengths)
        deltas = [first, *map(sub, documents[1:], documents)]
    weights = None if most == 1 else _packed(frequencies)
    data = dumps((_packed(deltas), weights, None), _ARRAYS if count >= _MANY else _TUPLES)
    compression = 1 if len(data) > _COMPRESS_ABOVE else 0
    if compression:
        data = zlib.compress(data, compression)
    block_info = dumps((count, last, most, compression, shortest, longest), 2)
    block = _BLOCK_TAG + _LENGTH.pack(-len(block_info) - len(data)) + block_info + data
    info = _TERM_INFO.pack(
        0, sum(frequencies), count, shortest, longest, most, first, last, offset, len(block)
    )
    return info, block


def _packed(numbers: Sequence[int]) -> Sequence[int]:
    """Numbers from 0 on, where they are many as an array of the smallest type that holds them."""
    if len(numbers) < _MANY:
        return tuple(numbers)
    largest = max(numbers)
    return array("B" if largest < 1 << 8 else "H" if largest < 1 << 16 else "I", numbers)
