"""The vector index: an immutable FAISS base, and a small exact delta of what changed since.

Base and delta together are one snapshot. An edit makes a new snapshot that shares the base, so a search
that is under way never sees half of it. `IndexIDMap2` over float16 (`QT_fp16`) is exact search on the
vectors as the catalog holds them; 100,000 x 256 take 50 MB and about 3 ms on one core.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vault_indexer.errors import IndexUnusableError
from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.store.ranges import spread_ranges
from vault_indexer.store.vectors.prefilter import SAMPLED, VectorPrefilter, products, spread_evenly
from vault_indexer.system import back_by_huge_pages, write_atomically

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.int64]
    Matrix = NDArray[np.float32]

_MAGIC = b"vault-indexer vectors 1 "
_ADD_BATCH = 8192
_FEW = 4096
"""So many allowed vectors are compared directly: a search with a selector passes all of them."""

_MEAN_OF = 256
"""The mean over a note is that of at most so many vectors, spread evenly: it bounds what a very long note
costs a search."""


@dataclass(frozen=True, slots=True)
class VectorSnapshot:
    """All vectors of one seq, and exact search by cosine over them.

    The `IndexWriter` makes one after each commit; a `Snapshot` holds it for the readers. It never changes,
    and the next one shares its base, so any thread may search it. A search finds the same keys as a
    comparison with every vector would. `keys` are ascending chunk keys of the base; `dead` marks base rows
    that are gone; `delta` holds what was added since; `look` is the prefilter of the base.
    """

    seq: int
    dimension: int
    base: Any
    keys: Keys
    dead: NDArray[np.bool_]
    delta_keys: Keys
    delta: Matrix
    look: VectorPrefilter

    @property
    def size(self) -> int:
        """How many vectors are searched."""
        return len(self.keys) - int(self.dead.sum()) + len(self.delta_keys)

    def live_keys(self) -> set[int]:
        """The chunk keys that have a vector here."""
        return {*self.keys[~self.dead].tolist(), *self.delta_keys.tolist()}

    def search(self, query: Matrix, k: int, allowed: Keys | None = None) -> tuple[Keys, Matrix]:
        """The k keys of highest cosine with `query` (shape (dimension,), length 1), best first.

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
        delta_keys, delta_scores = self.delta_keys, self.delta @ query
        if allowed is not None:
            inside = np.isin(delta_keys, allowed, assume_unique=True)
            delta_keys, delta_scores = delta_keys[inside], delta_scores[inside]
        keys = np.concatenate([base_keys, delta_keys])
        return _best(keys, np.concatenate([base_scores, delta_scores]), k)

    def scores(self, query: Matrix, keys: Keys) -> Matrix:
        """The cosine of each of the keys (ascending) with `query`; NaN for one without a vector."""
        import faiss

        found = np.full(len(keys), np.nan, np.float32)
        if len(self.keys):
            at = self.keys.searchsorted(keys)
            at[at == len(self.keys)] = 0
            held = (self.keys[at] == keys) & ~self.dead[at]
            inner = faiss.downcast_index(self.base.index)
            found[held] = products(inner.reconstruct_batch(at[held]), query)
        if len(self.delta_keys):
            _, here, there = np.intersect1d(keys, self.delta_keys, assume_unique=True, return_indices=True)
            found[here] = products(self.delta[there], query)
        return found

    def background_scores(self, query: Matrix) -> Matrix:
        """The cosines of `query` with about 256 vectors, spread evenly over base and delta: how near to it
        chunks are by chance."""
        changed = len(self.delta_keys)
        count = min(changed, -(-SAMPLED * changed // max(1, len(self.keys) + changed)))
        delta = self.delta[spread_evenly(changed, count)]
        rows, vectors = self.look.sample()
        return np.concatenate([vectors[~self.dead[rows]] @ query, delta @ query])

    def note_scores(self, query: Matrix, notes: Keys) -> Matrix:
        """The cosine of `query` with the mean vector of each of the notes (ids, ascending); NaN for a note
        without any vector. The mean of a very long note may be that of `_MEAN_OF` of its vectors."""
        means = self.look.means
        if means is None:
            return self._means_of_chunks(query, notes)
        found = means.scores(query, notes)
        changed = np.concatenate([self.keys[self.dead], self.delta_keys]) >> CHUNK_KEY_BITS
        if len(changed):
            again = np.isin(notes, changed)
            found[again] = self._means_of_chunks(query, notes[again])
        return found

    def _means_of_chunks(self, query: Matrix, notes: Keys) -> Matrix:
        owners, vectors = self._vectors_of(notes)
        found = np.full(len(notes), np.nan, np.float32)
        if len(owners):
            where = np.flatnonzero(np.diff(owners, prepend=-1))
            sums = np.add.reduceat(vectors, where, axis=0)
            norms = np.sqrt(np.einsum("ij,ij->i", sums, sums))
            found[owners[where]] = sums @ query / np.maximum(norms, np.finfo(np.float32).tiny)
        return found

    def _vectors_of(self, notes: Keys) -> tuple[Keys, Matrix]:
        """The vectors of notes, each with the place of its note among them; the places ascend."""
        import faiss

        firsts, ends = notes << CHUNK_KEY_BITS, (notes + 1) << CHUNK_KEY_BITS
        owners, rows = spread_ranges(self.keys.searchsorted(firsts), self.keys.searchsorted(ends), _MEAN_OF)
        alive = ~self.dead[rows]
        owners, rows = owners[alive], rows[alive]
        inner = faiss.downcast_index(self.base.index)
        vectors = inner.reconstruct_batch(rows) if len(rows) else np.empty((0, self.dimension), np.float32)
        if not len(self.delta_keys) or not len(notes):
            return owners, vectors
        changed = self.delta_keys >> CHUNK_KEY_BITS
        own = np.minimum(notes.searchsorted(changed), len(notes) - 1)
        inside = notes[own] == changed
        owners = np.concatenate([owners, own[inside]])
        order = owners.argsort(kind="stable")
        return owners[order], np.concatenate([vectors, self.delta[inside]])[order]

    def _search_base(self, query: Matrix, k: int, allowed: Keys | None) -> tuple[Keys, Matrix]:
        import faiss

        among, count = None, len(self.keys)
        if allowed is not None or self.dead.any():
            mask = ~self.dead
            if allowed is not None:
                mask &= np.isin(self.keys, allowed, assume_unique=True)
            count = int(np.count_nonzero(mask))
            selector = faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))
            among = faiss.SearchParameters(sel=selector)
        wanted = min(k, count)
        if not wanted:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        positions, scores = self.look.search(query, wanted, among)
        return self.keys[positions], scores

    def with_changes(
        self, seq: int, removed: Iterable[int], added: Sequence[tuple[int, bytes]]
    ) -> VectorSnapshot:
        """The snapshot after an edit: keys gone, and (key, float16 bytes) that came."""
        gone = np.fromiter(removed, np.int64)
        stay = ~np.isin(self.delta_keys, gone)
        keys, matrix = _unpack(added, self.dimension)
        return VectorSnapshot(
            seq=seq,
            dimension=self.dimension,
            base=self.base,
            keys=self.keys,
            dead=self.dead | np.isin(self.keys, gone),
            delta_keys=np.concatenate([self.delta_keys[stay], keys]),
            delta=np.concatenate([self.delta[stay], matrix]),
            look=self.look,
        )

    def worth_compacting(self, *, more_to_come: bool = False) -> bool:
        """Whether base and delta should become one base: that takes a second for 100,000 vectors, in the
        process that answers. A row of the delta costs a search twice what one of the base does, and twice
        its memory; what is dead costs memory only. While there is `more_to_come`, more is put up with."""
        rows = len(self.keys)
        most = rows // 2 if more_to_come else rows // 8
        return len(self.delta_keys) > max(4096, most) or int(self.dead.sum()) > max(4096, rows // 2)


def _best(keys: Keys, scores: Matrix, k: int) -> tuple[Keys, Matrix]:
    order = np.lexsort((keys, -scores))[:k]
    return keys[order], scores[order].astype(np.float32, copy=False)


def build_snapshot(seq: int, dimension: int, rows: Sequence[tuple[int, bytes]]) -> VectorSnapshot:
    """A snapshot whose base holds all rows (key ascending, float16 bytes); zero vectors are left out."""
    import faiss

    faiss.omp_set_num_threads(1)
    quantiser = faiss.IndexScalarQuantizer(
        dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    base = faiss.IndexIDMap2(quantiser)
    base.train(np.zeros((1, dimension), np.float32))
    for start in range(0, len(rows), _ADD_BATCH):
        keys, matrix = _unpack(rows[start : start + _ADD_BATCH], dimension)
        if len(keys):
            base.add_with_ids(matrix, keys)
    return _fresh(seq, dimension, base)


def save_snapshot(snapshot: VectorSnapshot, path: Path) -> None:
    """Write the base (a snapshot just built: without delta) with its seq and checksum, atomically."""
    import faiss

    payload = faiss.serialize_index(snapshot.base).tobytes()
    header = {"seq": snapshot.seq, "dimension": snapshot.dimension, "bytes": len(payload)}
    checked = {**header, "crc32": _checksum(payload, snapshot.seq, snapshot.dimension)}
    line = _MAGIC + json.dumps(checked).encode() + b"\n"
    write_atomically(path, line + payload)


def load_snapshot(path: Path) -> VectorSnapshot:
    """Read a base file. Raises IndexUnusableError if it is missing or its checksum does not fit."""
    import faiss

    faiss.omp_set_num_threads(1)
    try:
        data = path.read_bytes()
        line, _, payload = data.partition(b"\n")
        if not line.startswith(_MAGIC):
            raise ValueError("not a vector file")
        header = json.loads(line[len(_MAGIC) :])
        checksum = _checksum(payload, header["seq"], header["dimension"])
        if len(payload) != header["bytes"] or checksum != header["crc32"]:
            raise ValueError("checksum does not fit")
        base = faiss.deserialize_index(np.frombuffer(payload, np.uint8))
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise IndexUnusableError(f"vector index {path}: {error}") from error
    return _fresh(int(header["seq"]), int(header["dimension"]), base)


def _checksum(payload: bytes, seq: int, dimension: int) -> int:
    return zlib.crc32(f"{seq} {dimension}".encode(), zlib.crc32(payload))


def _fresh(seq: int, dimension: int, base: Any) -> VectorSnapshot:
    import faiss

    keys = faiss.vector_to_array(base.id_map).astype(np.int64)
    codes = faiss.downcast_index(base.index).codes
    if codes.size():
        back_by_huge_pages(int(codes.data()), codes.size())
    return VectorSnapshot(
        seq=seq,
        dimension=dimension,
        base=base,
        keys=keys,
        dead=np.zeros(len(keys), bool),
        delta_keys=np.empty(0, np.int64),
        delta=np.empty((0, dimension), np.float32),
        look=VectorPrefilter(faiss.downcast_index(base.index), keys),
    )


def _unpack(rows: Sequence[tuple[int, bytes]], dimension: int) -> tuple[Keys, Matrix]:
    keys = np.fromiter((key for key, _ in rows), np.int64, len(rows))
    packed = np.frombuffer(b"".join(vector for _, vector in rows), np.float16)
    matrix = packed.reshape(len(rows), dimension).astype(np.float32)
    useful = matrix.any(axis=1)
    return keys[useful], matrix[useful]
