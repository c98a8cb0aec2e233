"""Opens the files of a generation for searches, and repairs indices that are behind or damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.errors import IndexUnusableError
from vault_indexer.store import Generation, Snapshot
from vault_indexer.store.catalog import CatalogReader, Changes
from vault_indexer.store.graph import LinkGraph
from vault_indexer.store.keywords import KeywordIndex, KeywordSnapshot
from vault_indexer.store.vectors import VectorSnapshot
from vault_indexer.store.vectors import index as vectors

if TYPE_CHECKING:
    from vault_indexer.arrays import Keys


def snapshot_of(
    generation: Generation,
    catalog: CatalogReader,
    held: VectorSnapshot,
    keywords: KeywordSnapshot,
    missing_vectors: int,
) -> Snapshot:
    graph, languages = LinkGraph(catalog), catalog.languages().in_order
    return Snapshot(generation.number, catalog, graph, held, keywords, languages, missing_vectors)


@dataclass(frozen=True, slots=True)
class OpenVectors:
    """The vectors of a generation at its catalog's seq. `healed` describes a repair ("" if there was none).
    `missing_vectors` maps the keys of chunks without a vector to the digest of their text."""

    vectors: VectorSnapshot
    healed: str
    missing_vectors: Mapping[int, bytes]


def open_to_read(generation: Generation, model: str, dimension: int) -> Snapshot:
    """Open a generation that another process may be writing. Nothing is written or repaired: a search does
    not find entries that a derived index lacks until its owner has caught up. Raises IndexUnusableError."""
    catalog = CatalogReader(generation.catalog)
    opened = open_vectors(generation, catalog, model, dimension, repair=False)
    keywords = KeywordIndex.open(generation.keywords, check=False).snapshot()
    return snapshot_of(generation, catalog, opened.vectors, keywords, len(opened.missing_vectors))


class IndexPrefetch:
    """Reads and checks the files of the derived indices in threads while the owner checks the catalog. On two
    cores that saves two of ten seconds for 845,000 chunks. An error in a file is raised when its result is
    requested."""

    def __init__(self, generation: Generation) -> None:
        with_two = ThreadPoolExecutor(2, "indexer-open")
        self._base = with_two.submit(vectors.load_snapshot, generation.vectors)
        self._keywords = with_two.submit(KeywordIndex.open, generation.keywords)
        with_two.shutdown(wait=False)

    def base(self) -> VectorSnapshot:
        """Return the vector base from its file. Raises IndexUnusableError."""
        return self._base.result()

    def keywords(self) -> KeywordIndex:
        """Return the keyword index at its last commit. Raises IndexUnusableError."""
        return self._keywords.result()


def open_vectors(
    generation: Generation,
    catalog: CatalogReader,
    model: str,
    dimension: int,
    load: Callable[[], VectorSnapshot] | None = None,
    *,
    repair: bool = True,
) -> OpenVectors:
    """Return the vectors of the base file (or of `load`) with the changes since. If the file is damaged or
    does not fit, all vectors are read from the catalog."""
    reading = ThreadPoolExecutor(1, "indexer-owed")
    owed = reading.submit(_owed, generation, model)  # seconds within SQLite for 845,000 chunks
    reading.shutdown(wait=False)
    embedded = catalog.embedded_keys()
    healed = ""
    try:
        base = load() if load else vectors.load_snapshot(generation.vectors)
        if dimension and base.dimension != dimension:
            raise IndexUnusableError("they are those of another model")
        changes = catalog.changes(base.seq)
        if changes is None:
            raise IndexUnusableError("it does not fit the log of changes")
        current = apply_vector_changes(base, catalog, changes, model)
        if not _are_among(current.live, embedded):
            raise IndexUnusableError("not those of the notes")
    except IndexUnusableError as error:
        healed = f"vectors: {error}; rebuilt from the notes in the index"
        current = rebuild_vectors(generation, catalog, model, dimension, repair=repair)
    return OpenVectors(current, healed, owed.result())


def _owed(generation: Generation, model: str) -> Mapping[int, bytes]:
    with CatalogReader(generation.catalog) as catalog:
        return catalog.missing_vectors(model)


def _are_among(keys: Keys, known: Keys) -> bool:
    """Return whether all keys are among the known keys, which must be in ascending order."""
    if not len(known):
        return not len(keys)
    at = known.searchsorted(keys)
    at[at == len(known)] = 0
    return np.array_equal(known[at], keys)


def apply_vector_changes(
    held: VectorSnapshot, catalog: CatalogReader, changes: Changes, model: str
) -> VectorSnapshot:
    """Return the vectors of this state of the catalog, from those before the `changes`. A chunk that has just
    been embedded is removed and added again, so that no vector can occur twice."""
    rows = catalog.chunk_vectors(model, changes.added | changes.embedded)
    return held.with_changes(catalog.seq, changes.removed | changes.embedded, rows)


def rebuild_vectors(
    generation: Generation, catalog: CatalogReader, model: str, dimension: int, *, repair: bool = True
) -> VectorSnapshot:
    """Return all vectors of the catalog as one base. Writes it to the generation's file if `repair`."""
    made = base_of(catalog, model, dimension)
    if repair:
        vectors.save_snapshot(made, generation.vectors)
    return made


def base_of(catalog: CatalogReader, model: str, dimension: int) -> VectorSnapshot:
    rows, most = catalog.all_chunk_vectors(model), catalog.embedded_count()
    return vectors.build_snapshot(catalog.seq, dimension, rows, most)
