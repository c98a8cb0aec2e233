"""The file layout of Whoosh's format 3: segment tables, segments, term tables and postings.

Only this module depends on the layout. The rest of the package uses `SegmentData` to read a segment,
`SegmentBuilder` to write some, and the functions at the end for the table of an index's segments.
"""

from __future__ import annotations

import copy
import io
import mmap
import pickle
import secrets
import shutil
import struct
import zlib
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, lru_cache
from hashlib import md5
from operator import sub
from pathlib import Path
from pickle import dumps
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vault_indexer.arrays import Bytes, Keys, Mask, Positions, spread_ranges
from vault_indexer.errors import IndexUnusableError
from vault_indexer.store.keywords.lexicon import SegmentWords
from vault_indexer.store.keywords.schema import (
    FIELDS,
    INDEX_NAME,
    KEY_COLUMN,
    KeywordDocument,
    keyword_schema,
)
from vault_indexer.text.terms import VARIANT_MARK
from vault_indexer.text.tokens import LONGEST_TERM

if TYPE_CHECKING:
    from whoosh.codec.whoosh3 import W3PerDocWriter, W3Segment
    from whoosh.filedb.filestore import FileStorage

    Segment = W3Segment
    """A finished segment, for packages that pass it on and do not know the engine."""

Counts = NDArray[np.uint8] | NDArray[np.uint32]
Ints = NDArray[np.int32]

_DIRECTORY_SLOT = struct.Struct("!qi")
_HASH_SLOT = struct.Struct("!Iq")
_RECORD = struct.Struct("!ii")
_SIZE = struct.Struct("!i")
_TABLES = 256
_FIELD_BYTES = 2
AFTER_ALL = b"\xff"  # no UTF-8 text contains it
_FREQUENCY_AT = 5  # the offset in an entry: flags and total weight precede the document frequency


@lru_cache(maxsize=64)
def _digest(key: bytes) -> int:
    """The hash of a key in Whoosh's table. Cached, because a term is looked up in every segment."""
    return int.from_bytes(md5(key, usedforsecurity=False).digest()[-4:], "big")


class Entries(NamedTuple):
    """Terms in order, the start of the entry of each, and its document frequency."""

    terms: list[str]
    starts: list[int]
    frequencies: list[int]


class TermTable:
    """The term table of a segment: Whoosh's ordered hash file, read in place from an immutable buffer.
    Thread-safe.

    The file contains one record per term (key, then the term's entry), hash tables that lead to a record, and
    the positions of all records in the order of their keys. A key is the field's number (two bytes) and the
    term.
    """

    def __init__(self, buffer: memoryview) -> None:
        self._buffer = buffer
        extras_end = len(buffer) - _SIZE.size
        extras_start = extras_end - _SIZE.unpack_from(buffer, extras_end)[0]
        extras = pickle.loads(buffer[extras_start:extras_end])
        self._index_type = {"B": ">u1", "H": ">u2", "i": ">i4", "I": ">u4", "q": ">i8"}[extras["indextype"]]
        self._count: int = extras["indexlen"]
        self._fields = {name: struct.pack("!H", number) for name, number in extras["fieldmap"].items()}
        directory = extras_start - _TABLES * _DIRECTORY_SLOT.size
        self._tables = list(_DIRECTORY_SLOT.iter_unpack(buffer[directory:extras_start]))

    def find(self, field: str, term: str) -> int | None:
        """The start of the term's entry, or None."""
        key = self._fields[field] + term.encode()
        digest = _digest(key)
        start, slots = self._tables[digest & 255]
        buffer = self._buffer
        for step in range(slots):
            # The lowest byte has chosen the table, so the other bits choose the slot.
            slot = ((digest >> 8) + step) % slots
            found, record = _HASH_SLOT.unpack_from(buffer, start + slot * _HASH_SLOT.size)
            # Collisions follow each other without gaps, so an empty slot ends the search.
            if not record:
                return None
            if found == digest:
                key_start = record + _RECORD.size
                entry: int = key_start + _RECORD.unpack_from(buffer, record)[0]
                if buffer[key_start:entry] == key:
                    return entry
        return None

    def starting_with(self, field: str, prefix: str) -> Entries:
        """All terms of the field that begin with `prefix`; about 0.5 µs each."""
        return self._entries(*self._ends_of(self._with_prefix(field, prefix)))

    def all_of(self, field: str) -> tuple[list[bytes], list[int]]:
        """All terms of the field in UTF-8, in order, and the document frequency of each. Takes half the time
        of `starting_with`."""
        records, ends = self._ends_of(self._with_prefix(field, ""))
        if not len(records):
            return [], []
        starts = records + _RECORD.size + _FIELD_BYTES
        first = int(starts.min())
        part = bytes(self._buffer[first : int(ends.max())])
        spans = zip((starts - first).tolist(), (ends - first).tolist(), strict=True)
        return [part[start:end] for start, end in spans], self._integers(ends + _FREQUENCY_AT).tolist()

    def most_frequent(self, field: str, limit: int) -> Entries:
        """The `limit` terms of the field with the highest document frequency, in order. Takes a hundredth of
        the time of reading all of them."""
        records, ends = self._ends_of(self._with_prefix(field, ""))
        if len(records) > limit:
            frequencies = self._integers(ends + _FREQUENCY_AT)
            chosen = np.sort(np.argpartition(frequencies, -limit)[-limit:])
            records, ends = records[chosen], ends[chosen]
        return self._entries(records, ends)

    def _with_prefix(self, field: str, prefix: str) -> Positions:
        key = self._fields[field] + prefix.encode()
        first = bisect_left(range(self._count), key, key=self._key)
        last = bisect_left(range(self._count), key + AFTER_ALL, lo=first, key=self._key)
        return self._records[first:last].astype(np.int64)

    def _ends_of(self, records: Positions) -> tuple[Positions, Positions]:
        """The records, and the positions at which their keys end and their entries begin."""
        return records, records + _RECORD.size + self._integers(records)

    def _entries(self, records: Positions, ends: Positions) -> Entries:
        spans = zip((records + _RECORD.size + _FIELD_BYTES).tolist(), ends.tolist(), strict=True)
        buffer = self._buffer
        terms = [str(buffer[start:end], "utf-8") for start, end in spans]
        frequencies = self._integers(ends + _FREQUENCY_AT)
        return Entries(terms, ends.tolist(), np.asarray(frequencies).tolist())

    def frequency(self, entry: int) -> int:
        return int(_SIZE.unpack_from(self._buffer, entry + _FREQUENCY_AT)[0])

    @cached_property
    def _records(self) -> NDArray[np.integer]:
        """Positions of all records, in the order of their keys, read in place from the file."""
        kind = np.dtype(self._index_type)
        end = len(self._buffer) - _SIZE.size
        found: NDArray[np.integer] = np.frombuffer(
            self._buffer[end - self._count * kind.itemsize : end], kind
        )
        return found

    def _key(self, number: int) -> bytes:
        record = int(self._records[number])
        start = record + _RECORD.size
        return bytes(self._buffer[start : start + _RECORD.unpack_from(self._buffer, record)[0]])

    def _integers(self, positions: Positions) -> Positions:
        """The big-endian 32-bit numbers at the positions."""
        content = np.frombuffer(self._buffer, np.uint8)
        numbers = np.zeros(len(positions), np.int64)
        for step in range(4):
            numbers = numbers << 8 | content[positions + step]
        return numbers


_EXTENT = struct.Struct("!Qi")
_EXTENT_AT = 23  # the offset in a term's entry (`whoosh.codec.whoosh3.W3TermInfo`)
_BLOCK_HEADER = 8
_LARGEST_BYTE = 255


class Postings(NamedTuple):
    """The postings of one term in one field: ascending document numbers of the segment, and term
    frequencies."""

    documents: Ints
    frequencies: Counts


class SegmentData:
    """One open segment: term table, postings, lengths and keys, directly from a memory map. `size` counts its
    documents, including deleted ones.

    Whoosh's readers keep a position in shared files (not safe across threads) and copy the term table into
    memory. A segment's file never changes, so every read here is a slice of one map: thread-safe, and still
    valid for a reader that uses it after a later commit has removed the file.
    """

    def __init__(self, folder: Path, segment: W3Segment) -> None:
        """Raises OSError if the file cannot be read."""
        self.name: str = segment.segment_id()
        self.size: int = segment.doc_count_all()
        self.field_totals: dict[str, int] = {f: segment._fieldlengths.get(f, 0) for f in FIELDS}
        with (folder / segment.make_filename(segment.COMPOUND_EXT)).open("rb") as file:
            self._map = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        start, _ = _DIRECTORY_SLOT.unpack_from(self._map, 0)
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
        """The term's postings in the field, including deleted documents; None if it does not occur."""
        entry = self._table.find(field, term)
        return None if entry is None else self._decode(entry)

    def all_postings(self) -> Iterator[tuple[str, str, Postings]]:
        """(field, term, postings) of the whole segment, in order."""
        for field in FIELDS:
            found = self._table.starting_with(field, "")
            for term, entry in zip(found.terms, found.starts, strict=True):
                yield field, term, self._decode(entry)

    def frequencies(self, field: str) -> dict[str, int]:
        terms, frequencies = self._table.all_of(field)
        return dict(zip(map(bytes.decode, terms), frequencies, strict=True))

    def words_with_prefix(self, prefix: str) -> dict[str, int]:
        """Terms as written in some text, each with the largest document frequency of its fields."""
        return _words_in(self._table.starting_with(field, prefix) for field in FIELDS)

    def frequent_words(self, limit: int) -> dict[str, int]:
        """The `limit` most frequent terms as written of each field, which takes little time."""
        return _words_in(self._table.most_frequent(field, limit) for field in FIELDS)

    @property
    def words(self) -> SegmentWords:
        """The segment's lexicon. The first use reads the whole term table: 2 µs per term, and 9,000 chunks
        may have 60,000. Other callers wait for it."""
        with self._reading_words:
            if self._words is None:
                self._words = SegmentWords(self._all_words())
            return self._words

    def _all_words(self) -> dict[bytes, int]:
        """As `words_with_prefix` for an empty prefix, in UTF-8."""
        mark = VARIANT_MARK.encode()
        counts: dict[bytes, int] = {}
        for field in FIELDS:
            terms, frequencies = self._table.all_of(field)
            first = bisect_left(terms, mark)
            last = bisect_left(terms, mark + AFTER_ALL, lo=first)
            # Variants begin with the mark, so they form one range of the sorted terms.
            del terms[first:last], frequencies[first:last]
            for term, frequency in zip(terms, frequencies, strict=True):
                if counts.get(term, 0) < frequency:
                    counts[term] = frequency
        return counts

    @property
    def has_read_words(self) -> bool:
        return self._words is not None

    @cached_property
    def longest_words(self) -> dict[str, Ints]:
        found: dict[str, Ints] = {}
        for field in FIELDS:
            entries = self._table.starting_with(field, "")
            pairs = zip(entries.terms, entries.starts, strict=True)
            documents = [self._decode(start).documents for term, start in pairs if is_longest(term)]
            found[field] = np.unique(np.concatenate([np.empty(0, np.int32), *documents]))
        return found

    @cached_property
    def keys(self) -> Keys:
        return self._column(f".{KEY_COLUMN}.col", np.dtype(">i8")).astype(np.int64)

    @cached_property
    def _keys_in_order(self) -> tuple[Keys, Keys]:
        order = self.keys.argsort(kind="stable")
        return self.keys[order], order

    def numbers_of(self, keys: Keys) -> Keys:
        """Document numbers of the `keys` in the segment, including deleted documents."""
        ordered, order = self._keys_in_order
        _, found = spread_ranges(ordered.searchsorted(keys), ordered.searchsorted(keys, "right"))
        return order[found]

    def lengths(self, field: str) -> Ints:
        """Tokens of the field by document number, in the steps that Whoosh stores (0 for none)."""
        return stored_lengths()[self.length_codes(field)]

    def length_codes(self, field: str) -> Bytes:
        return self._column(f"._{field}_len.col", np.dtype(np.uint8)).astype(np.uint8, copy=False)

    def _column(self, extension: str, dtype: np.dtype[np.int64] | np.dtype[np.uint8]) -> NDArray[np.integer]:
        stored = np.frombuffer(self._part(extension), dtype)
        values = np.zeros(self.size, dtype)
        # Whoosh ends a column at the last document with a value.
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
            # Each number is stored as the difference from the one before.
            np.cumsum(documents, out=documents)
        kind = np.dtype(np.uint8 if most <= _LARGEST_BYTE else np.uint32)
        # Whoosh leaves out the frequencies of a term that occurs once in each of its documents.
        frequencies: Counts = np.ones(count, kind) if weights is None else np.array(weights, kind)
        return Postings(documents, frequencies)


def is_longest(term: str) -> bool:
    """Whether the word of a term may be truncated."""
    return len(term) >= LONGEST_TERM and term[0] != VARIANT_MARK


@cache
def stored_lengths() -> Ints:
    """The 256 lengths in tokens that Whoosh distinguishes."""
    from whoosh.util.numeric import byte_to_length

    return np.array([byte_to_length(code) for code in range(256)], np.int32)


def _words_in(fields: Iterable[Entries]) -> dict[str, int]:
    """The terms of the fields as written, each with its largest document frequency."""
    counts: dict[str, int] = {}
    for found in fields:
        for term, frequency in zip(found.terms, found.frequencies, strict=True):
            if counts.get(term, 0) < frequency and term[0] != VARIANT_MARK:
                counts[term] = frequency
    return counts


MAX_DOCUMENTS = 32_768
"""The maximum number of documents of one segment, which bounds the memory of a build and the pause of a
merge. A rule of thumb."""

_BLOCK_TAG = b"W3Bl"
_TERM_INFO = struct.Struct("!BfIBBfIIQi")  # whoosh.codec.whoosh3.W3TermInfo, with the postings' extent
_FIELD_ID = struct.Struct("!H")
_COMPRESS_ABOVE = 64
_MANY = 16
"""From this number of postings on, they are pickled as arrays, which are read in one step. A tuple is read
number by number, which takes six times as long for a common word. Whoosh reads both; its own writer makes
tuples."""

_TUPLES, _ARRAYS = 2, 4
"""Pickle protocols: the fourth writes the bytes of an array unchanged."""


class SegmentBuilder:
    """Collects documents in memory; `finish` writes them as segments into `folder`, outside any commit.

    Whoosh's own writer sorts one Python tuple per posting. This one keeps the inverted index in a dict and
    encodes each term's postings once, as a single block, into files that Whoosh's writers frame (term hash
    table, columns, compound file): Whoosh's searcher reads them like its own. A builder needs only the
    folder, so several processes can build into one index at once. The segments belong to no index before
    `KeywordIndex.adopt`. They can be pickled.
    """

    def __init__(self, folder: Path, max_documents: int = MAX_DOCUMENTS) -> None:
        self._folder = folder
        self._max_documents = max_documents
        self._segments: list[W3Segment] = []
        self._clear()

    def add(self, document: KeywordDocument) -> None:
        """Raises OSError if a full segment cannot be written."""
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
        """Adds the live documents of an existing segment (`live`: a truth value by document number). Starts a
        new segment if both together would be too large."""
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
        # A random name: several processes may build into one folder.
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
        # A rename, so that the folder never contains half a segment.
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
    """Encodes a term's entry in the term table and its postings, one block of Whoosh's W3 format at `offset`.

    `documents` ascend; `length_bytes` are the field's lengths by document, as `length_to_byte` returns them.
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
    # A negative length marks the last block of a term; here it is always the only one.
    block = _BLOCK_TAG + _SIZE.pack(-len(block_info) - len(data)) + block_info + data
    info = _TERM_INFO.pack(
        0, sum(frequencies), count, shortest, longest, most, first, last, offset, len(block)
    )
    return info, block


def _packed(numbers: Sequence[int]) -> Sequence[int]:
    """Converts many numbers from 0 on to an array of the smallest type that fits them."""
    if len(numbers) < _MANY:
        return tuple(numbers)
    largest = max(numbers)
    return array("B" if largest < 1 << 8 else "H" if largest < 1 << 16 else "I", numbers)


def write_segment_table(folder: Path, segments: Sequence[W3Segment], generation: int) -> str:
    """Writes the table of contents (the segments of one generation, and which of their documents are deleted)
    without syncing it. Returns the file's name."""
    from whoosh.filedb.filestore import FileStorage
    from whoosh.index import TOC

    name: str = TOC._filename(INDEX_NAME, generation)
    (folder / name).unlink(missing_ok=True)  # left by an interrupted commit
    TOC(keyword_schema(), list(segments), generation).write(FileStorage(str(folder)), INDEX_NAME)
    return name


def read_segments(folder: Path, generation: int) -> list[W3Segment]:
    """Raises IndexUnusableError."""
    from whoosh.filedb.filestore import FileStorage
    from whoosh.index import TOC

    with _reading(folder):
        return list(TOC.read(FileStorage(str(folder)), INDEX_NAME, gen=generation).segments)


def open_segment(folder: Path, segment: W3Segment) -> SegmentData:
    """Raises IndexUnusableError."""
    with _reading(folder):
        return SegmentData(folder, segment)


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Converts the errors that a damaged file causes in Whoosh to IndexUnusableError."""
    from whoosh.index import IndexError as ForeignIndexError  # a segment of another version or architecture

    damage = (OSError, EOFError, ValueError, TypeError, LookupError, struct.error, pickle.PickleError)
    try:
        yield
    except (*damage, ForeignIndexError) as error:
        raise IndexUnusableError(f"keyword index: {folder} cannot be read: {error}") from error


def without_documents(segment: W3Segment, numbers: Keys) -> W3Segment:
    """A copy of the segment in which these documents are deleted as well."""
    # Readers and the current table still use the old set.
    changed = copy.copy(segment)
    changed._deleted = {*segment.deleted_docs(), *numbers.tolist()}
    return changed


def live_mask(segment: W3Segment) -> Mask:
    live = np.ones(segment.doc_count_all(), bool)
    deleted: Keys = np.fromiter(segment.deleted_docs(), np.int64)
    live[deleted] = False
    return live
