"""From the files of a generation to a state that can be searched: what is behind or damaged is made good."""

from __future__ import annotations

import numpy as np

from vault_indexer.errors import IndexUnusableError
from vault_indexer.store import Generation, Snapshot
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.graph import LinkGraph
from vault_indexer.store.keywords import KeywordIndex, KeywordSnapshot
from vault_indexer.store.vectors import index as vectors


def snapshot_of(
    generation: Generation,
    catalog: CatalogReader,
    held: vectors.VectorSnapshot,
    keywords: KeywordSnapshot,
    owed: int,
) -> Snapshot:
    """Catalog and derived indices as one state."""
    graph, languages = LinkGraph(catalog), catalog.languages()
    return Snapshot(generation.number, catalog, graph, held, keywords, languages, owed)


def open_to_read(generation: Generation, model: str, dimension: int) -> Snapshot:
    """The state of a generation that another process may be writing. Nothing is written or healed: what a
    derived index lacks is not found until its owner has caught up. Raises IndexUnusableError."""
    held = open_vectors(generation, model, dimension, [], repair=False)
    keywords = KeywordIndex.open(generation.keywords, check=False).snapshot()
    catalog = CatalogReader(generation.catalog)
    return snapshot_of(generation, catalog, held, keywords, len(catalog.owed_vectors(model)))


def open_vectors(
    generation: Generation, model: str, dimension: int, healed: list[str], *, repair: bool = True
) -> vectors.VectorSnapshot:
    """The vectors of a generation at its catalog's seq: base file and what changed since, or, where the
    file is damaged or does not fit, all of them from the catalog."""
    catalog = CatalogReader(generation.catalog)
    try:
        try:
            base = vectors.load_snapshot(generation.vectors)
            if not catalog.trimmed_seq() <= base.seq <= catalog.seq:
                raise IndexUnusableError("it is of another state than the catalog's log of changes")
            current = apply_vector_changes(base, catalog, model)
        except IndexUnusableError as error:
            healed.append(f"vectors: {error}; rebuilt from the catalog")
            return rebuild_vectors(generation, catalog, model, dimension, repair=repair)
        if not np.isin(current.live, catalog.embedded_keys(), assume_unique=True).all():
            healed.append("vectors: not those of the catalog; rebuilt from it")
            return rebuild_vectors(generation, catalog, model, dimension, repair=repair)
        return current
    finally:
        catalog.close()


def apply_vector_changes(
    held: vectors.VectorSnapshot, catalog: CatalogReader, model: str
) -> vectors.VectorSnapshot:
    """The vectors after all changes that the catalog's log has since. A vector that was owed and came counts
    as gone and come, so that none can be there twice."""
    added, removed = catalog.changes_since(held.seq)
    embedded = catalog.embedded_since(held.seq)
    rows = catalog.chunk_vectors(model, added | embedded)
    return held.with_changes(catalog.seq, removed | embedded, rows)


def rebuild_vectors(
    generation: Generation, catalog: CatalogReader, model: str, dimension: int, *, repair: bool = True
) -> vectors.VectorSnapshot:
    """All vectors of the catalog as one base; written to the generation's file, unless `repair` is false."""
    rows, most = catalog.all_chunk_vectors(model), catalog.embedded_count()
    made = vectors.build_snapshot(catalog.seq, dimension, rows, most)
    if repair:
        vectors.save_snapshot(made, generation.vectors)
    return made
