"""The vector index: an immutable FAISS base, and a small exact delta of later changes.

Base and delta together form one snapshot. An edit makes a new snapshot that shares the base, so a search in
progress never sees half of the edit. The base is float16 (`QT_fp16`), the format of the vectors in the
catalog; 100,000 x 256 take 50 MB.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from vault_indexer.arrays import Halves, Keys, Matrix, first_of_each, row_products, spread_ranges
from vault_indexer.errors import IndexUnusableError
from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.store.vectors.prefilter import (
    SAMPLED,
    VectorPrefilter,
    exact_products,
    halves_of,
    spread_evenly,
)
from vault_indexer.system import atomic_file, back_by_huge_pages, batches, record

# The file of a base: a magic, the CRC-32 of everything after it (8 hexadecimal digits), a line of JSON, then
# the keys as int64 and the vectors as float16 in their memory layout. It is written and read in pieces,
# directly from and into the arrays, so that neither needs a second copy.

_MAGIC = b"vault-indexer vectors 2 "
_CRC_DIGITS = 8
_PIECE = 4 << 20
_LONGEST_HEADER = 4096


def save_snapshot(snapshot: VectorSnapshot, path: Path) -> None:
    """Writes the base of a newly built snapshot, which has no delta, durably and atomically. Raises
    OSError."""
    header = {"seq": snapshot.seq, "count": len(snapshot.keys), "dimension": snapshot.dimension}
    line = json.dumps(header).encode() + b"\n"
    arrays: list[NDArray[np.generic]] = [snapshot.keys, snapshot.look.halves]
    with atomic_file(path) as file:
        # The checksum is known only after the last piece; its digits are overwritten then.
        file.write(_MAGIC + b"0" * _CRC_DIGITS + b" " + line)
        crc = zlib.crc32(line)
        for array in arrays:
            for piece in _pieces(array):
                crc = zlib.crc32(piece, crc)
                file.write(piece)
        file.seek(len(_MAGIC))
        file.write(b"%08x" % crc)


def load_snapshot(path: Path) -> VectorSnapshot:
    """Reads a base file. Raises IndexUnusableError if it is missing, truncated or changed."""
    try:
        with path.open("rb") as file:
            first = file.readline(_LONGEST_HEADER)
            crc, _, line = first.removeprefix(_MAGIC).partition(b" ")
            if not first.startswith(_MAGIC) or len(crc) != _CRC_DIGITS:
                raise ValueError("not a vector file of this version")
            header = json.loads(line)
            count, dimension = int(header["count"]), int(header["dimension"])
            keys, (vectors, halves) = np.empty(count, np.int64), _empty_base(dimension, count)
            arrays: list[NDArray[np.generic]] = [keys, halves]
            # The cheap check comes first: a truncated file is not read at all.
            if path.stat().st_size != len(first) + sum(array.nbytes for array in arrays):
                raise ValueError("its size does not fit")
            found = zlib.crc32(line)
            for array in arrays:
                found = _fill(array, file, found)
            if crc != b"%08x" % found:
                raise ValueError("checksum does not fit")
            seq = int(header["seq"])
    # MemoryError: a damaged header may ask for any number of vectors.
    except (OSError, ValueError, KeyError, TypeError, MemoryError) as error:
        raise IndexUnusableError(f"vector index {path}: {error}") from error
    vectors.ntotal = count
    return _fresh(seq, vectors, keys)


def _pieces(array: NDArray[np.generic]) -> Iterator[memoryview]:
    return batches(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, _PIECE)


def _fill(array: NDArray[np.generic], file: BinaryIO, crc: int) -> int:
    for piece in _pieces(array):
        if file.readinto(piece) != len(piece):  # type: ignore[attr-defined]
            raise ValueError("it ends too early")
        crc = zlib.crc32(piece, crc)
    return crc


_ADD_BATCH = 8192
_MAGNITUDE = np.uint16(0x7FFF)
"""All bits of a float16 except the sign: a number is zero if none of them is set."""

_FEW = 4096
"""At most this many allowed vectors are compared directly. A search with a selector scans all of them."""

_WORTH_COMPACTING = 4096
"""Never compact below this number of changed rows. A rule of thumb."""

_OVERDUE = 16_384
"""From this many rows on, a compaction is overdue. One of this size takes a few tenths of a second."""

_MEAN_OF = 256
"""The mean vector of a note is computed from at most this many vectors, spread evenly, which bounds the cost
of a very long note in a search. A rule of thumb."""


@record
class VectorSnapshot:
    """All vectors of one seq, and search by cosine over them.

    The `IndexWriter` makes one after each commit; a `Snapshot` provides it to readers. It never changes, and
    the next one shares its base, so any thread may search it. A search returns the same keys as a comparison
    with every vector (`CoarseVectors` states how certain that is). `keys` are ascending chunk keys of the
    base; `dead` marks deleted base rows; `delta` contains the vectors added since; `look` is the prefilter of
    the base. `background` contains vectors of a larger vault that these are a part of (None: these are all
    vectors).
    """

    seq: int
    dimension: int
    base: Any
    keys: Keys
    dead: NDArray[np.bool_]
    delta_keys: Keys
    delta: Matrix
    look: VectorPrefilter
    background: Matrix | None = None

    @property
    def size(self) -> int:
        return len(self.keys) - int(self.dead.sum()) + len(self.delta_keys)

    @property
    def live(self) -> Keys:
        """The chunk keys that have a vector here, in no particular order."""
        return np.concatenate([self.keys[~self.dead], self.delta_keys])

    def live_keys(self) -> set[int]:
        return set(self.live.tolist())

    def search(self, query: Matrix, k: int, allowed: Keys | None = None) -> tuple[Keys, Matrix]:
        """The k keys with the highest cosine to `query` (shape (dimension,), length 1), best first.

        `allowed` (ascending) limits the search itself, so a filter never costs a hit. Equal scores are
        ordered by key.
        """
        if allowed is not None and len(allowed) <= _FEW:
            scores = self.scores(query, allowed)
            held = ~np.isnan(scores)
            return _best(allowed[held], scores[held], k)
        base_keys, base_scores = self._search_base(query, k, allowed)
        if not len(self.delta_keys):
            return _best(base_keys, base_scores, k)
        delta_keys, delta_scores = self.delta_keys, row_products(self.delta, query)
        if allowed is not None:
            inside = np.isin(delta_keys, allowed, assume_unique=True)
            delta_keys, delta_scores = delta_keys[inside], delta_scores[inside]
        keys = np.concatenate([base_keys, delta_keys])
        return _best(keys, np.concatenate([base_scores, delta_scores]), k)

    def scores(self, query: Matrix, keys: Keys) -> Matrix:
        """The cosine of each of the keys (ascending) with `query`; NaN for one without a vector."""
        found = np.full(len(keys), np.nan, np.float32)
        if len(self.keys):
            at = self.keys.searchsorted(keys)
            # A key above all others has no row. Any valid row will do, because its key differs.
            at[at == len(self.keys)] = 0
            held = (self.keys[at] == keys) & ~self.dead[at]
            found[held] = exact_products(self.look.halves, at[held], query)
        if len(self.delta_keys):
            _, here, there = np.intersect1d(keys, self.delta_keys, assume_unique=True, return_indices=True)
            found[here] = row_products(self.delta[there], query)
        return found

    def background_scores(self, query: Matrix) -> Matrix:
        """The cosines of `query` with about 256 vectors, spread evenly over base and delta: they show how
        near to the query chunks are by chance."""
        if self.background is not None:
            return self.background @ query
        changed = len(self.delta_keys)
        count = min(changed, -(-SAMPLED * changed // max(1, len(self.keys) + changed)))
        delta = self.delta[spread_evenly(changed, count)]
        rows, vectors = self.look.sample()
        dead = self.dead[rows]
        alive = vectors[~dead] if dead.any() else vectors
        return np.concatenate([alive @ query, delta @ query])

    def note_scores(self, query: Matrix, notes: Keys) -> Matrix:
        """The cosine of `query` with the mean vector of each of the notes (ids, ascending); NaN for a note
        without vectors. For a very long note, the mean may use only `_MEAN_OF` of its vectors."""
        # Read once: `VectorPrefilter.make` sets it in another thread.
        means = self.look.means
        if means is None:
            return self._means_of_chunks(query, notes)
        found = means.scores(query, notes)
        # The stored means are those of the base, so notes that have changed since are computed again.
        changed = np.concatenate([self.keys[self.dead], self.delta_keys]) >> CHUNK_KEY_BITS
        if len(changed):
            again = np.isin(notes, changed)
            found[again] = self._means_of_chunks(query, notes[again])
        return found

    def mean_of_note(self, note_id: int) -> Matrix | None:
        """The mean of the note's vectors, scaled to length 1; None for a note without vectors. For a very
        long note, the mean may use only `_MEAN_OF` of them."""
        _, vectors = self._vectors_of(np.array([note_id], np.int64))
        mean = vectors.mean(axis=0) if len(vectors) else np.zeros(self.dimension, np.float32)
        length = float(np.linalg.norm(mean))
        return mean / np.float32(length) if length else None

    def _means_of_chunks(self, query: Matrix, notes: Keys) -> Matrix:
        owners, vectors = self._vectors_of(notes)
        found = np.full(len(notes), np.nan, np.float32)
        if len(owners):
            where = np.flatnonzero(first_of_each(owners))
            sums = np.add.reduceat(vectors, where, axis=0)
            # `tiny` below: the vectors of a note may cancel each other out.
            norms = np.sqrt(np.einsum("ij,ij->i", sums, sums))
            found[owners[where]] = row_products(sums, query) / np.maximum(norms, np.finfo(np.float32).tiny)
        return found

    def _vectors_of(self, notes: Keys) -> tuple[Keys, Matrix]:
        """The vectors of notes, each with the position of its note in `notes`; these positions ascend."""
        firsts, ends = notes << CHUNK_KEY_BITS, (notes + 1) << CHUNK_KEY_BITS
        owners, rows = spread_ranges(self.keys.searchsorted(firsts), self.keys.searchsorted(ends), _MEAN_OF)
        alive = ~self.dead[rows]
        owners, rows = owners[alive], rows[alive]
        vectors = self.look.halves[rows].astype(np.float32)
        if not len(self.delta_keys) or not len(notes):
            return owners, vectors
        changed = self.delta_keys >> CHUNK_KEY_BITS
        # A note above all others gets the last position, which the next line excludes.
        own = np.minimum(notes.searchsorted(changed), len(notes) - 1)
        inside = notes[own] == changed
        owners = np.concatenate([owners, own[inside]])
        # `_means_of_chunks` sums ranges, so the rows of one note must follow each other.
        order = owners.argsort(kind="stable")
        return owners[order], np.concatenate([vectors, self.delta[inside]])[order]

    def _search_base(self, query: Matrix, k: int, allowed: Keys | None) -> tuple[Keys, Matrix]:
        mask, count = None, len(self.keys)
        if allowed is not None or self.dead.any():
            mask = ~self.dead
            if allowed is not None:
                within = np.zeros(len(self.keys), bool)
                within[self._rows_of(allowed)] = True
                mask &= within
            count = int(np.count_nonzero(mask))
        wanted = min(k, count)
        if not wanted:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        positions, scores = self.look.search(query, wanted, mask)
        return self.keys[positions], scores

    def with_changes(
        self, seq: int, removed: Iterable[int], added: Sequence[tuple[int, bytes]]
    ) -> VectorSnapshot:
        """Returns the snapshot after an edit, given the removed keys and the added (key, float16 bytes)."""
        gone = np.fromiter(removed, np.int64)
        stay = ~np.isin(self.delta_keys, gone)
        # A copy: searches may be using the mask of this snapshot.
        dead = self.dead.copy()
        dead[self._rows_of(gone)] = True
        keys, packed = _unpack(added, self.dimension)
        # NumPy compares the delta, and would convert float16 again in each search.
        delta = np.concatenate([self.delta[stay], packed.astype(np.float32)])
        delta_keys = np.concatenate([self.delta_keys[stay], keys])
        return replace(self, seq=seq, dead=dead, delta_keys=delta_keys, delta=delta, background=None)

    def _rows_of(self, keys: Keys) -> Keys:
        rows = self.keys.searchsorted(keys)
        rows[rows == len(self.keys)] = 0
        return rows[self.keys[rows] == keys] if len(self.keys) else rows[:0]

    @property
    def worth_compacting(self) -> bool:
        """Whether base and delta should be merged into one base when there is time. A row of the delta takes
        twice the search time and memory of a row of the base; a deleted row costs only memory."""
        rows = len(self.keys)
        return self._has_changed_beyond(max(_WORTH_COMPACTING, rows // 8), max(_WORTH_COMPACTING, rows // 4))

    @property
    def compaction_overdue(self) -> bool:
        """Whether they should be merged at once, even if an edit has to wait: half of the searched rows are
        not in the base."""
        most = max(_OVERDUE, len(self.keys) // 2)
        return self._has_changed_beyond(most, most)

    def _has_changed_beyond(self, added: int, dead: int) -> bool:
        return len(self.delta_keys) > added or int(self.dead.sum()) > dead


def _best(keys: Keys, scores: Matrix, k: int) -> tuple[Keys, Matrix]:
    order = np.lexsort((keys, -scores))[:k]
    return keys[order], scores[order].astype(np.float32, copy=False)


def build_snapshot(
    seq: int, dimension: int, rows: Iterable[tuple[int, bytes]], limit: int | None = None
) -> VectorSnapshot:
    """Builds a snapshot whose base contains all rows (key ascending, float16 bytes); zero vectors are
    omitted.

    The rows are iterated once, a few thousand at a time. `limit` is an upper bound of their number; without
    it, `rows` must have a length.
    """
    count = 0
    limit = len(rows) if limit is None and isinstance(rows, Sized) else limit or 0
    vectors, room = _empty_base(dimension, limit)
    keys = np.empty(limit, np.int64)
    for batch in _batches(rows):
        own, packed = _unpack(batch, dimension)
        end = count + len(own)
        keys[count:end], room[count:end] = own, packed
        count = end
    vectors.codes.resize(count * vectors.code_size)
    vectors.ntotal = count
    return _fresh(seq, vectors, keys[:count])


def _empty_base(dimension: int, count: int) -> tuple[Any, Halves]:
    """Allocates a FAISS index for `count` float16 vectors, and returns it with its memory as an array: FAISS
    stores a vector as its float16 numbers. The caller sets `ntotal`."""
    import faiss

    faiss.omp_set_num_threads(1)
    kind = faiss.ScalarQuantizer.QT_fp16
    vectors = faiss.IndexScalarQuantizer(dimension, kind, faiss.METRIC_INNER_PRODUCT)
    vectors.codes.resize(count * vectors.code_size)
    return vectors, halves_of(vectors)


def _fresh(seq: int, vectors: Any, keys: Keys) -> VectorSnapshot:
    if vectors.codes.size():
        back_by_huge_pages(int(vectors.codes.data()), vectors.codes.size())
    return VectorSnapshot(
        seq=seq,
        dimension=vectors.d,
        base=vectors,
        keys=keys,
        dead=np.zeros(len(keys), bool),
        delta_keys=np.empty(0, np.int64),
        delta=np.empty((0, vectors.d), np.float32),
        look=VectorPrefilter(vectors, keys),
    )


def _batches(rows: Iterable[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    left = iter(rows)
    while batch := list(islice(left, _ADD_BATCH)):
        yield batch


def _unpack(rows: Sequence[tuple[int, bytes]], dimension: int) -> tuple[Keys, Halves]:
    keys = np.fromiter((key for key, _ in rows), np.int64, len(rows))
    matrix = np.frombuffer(b"".join(vector for _, vector in rows), np.float16).reshape(len(rows), dimension)
    useful = (matrix.view(np.uint16) & _MAGNITUDE).any(axis=1)
    return keys[useful], matrix[useful]
