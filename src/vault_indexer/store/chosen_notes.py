"""A snapshot of chosen notes alone, in memory: a search of it is one of the whole vault among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vault_indexer.store.catalog import catalog_of
from vault_indexer.store.graph import LinkGraph
from vault_indexer.store.keywords import Lexicon, snapshot_of_documents
from vault_indexer.store.published_note import ReceivedNote
from vault_indexer.store.snapshot import Snapshot
from vault_indexer.store.vault_statistics import VaultStatistics
from vault_indexer.store.vectors import build_snapshot


def snapshot_of_notes(
    notes: Sequence[ReceivedNote], statistics: VaultStatistics, dimension: int, generation: int = 0
) -> Snapshot:
    """Catalog, words, vectors and links of the notes, as one state. Words are as rare, and a vector is as
    near by chance, as `statistics` of their vault say. The caller closes its catalog."""
    ordered = sorted(notes, key=lambda one: one.stored.note_id)
    catalog = catalog_of(one.stored for one in ordered)
    words = [document for one in ordered for document in one.documents]
    rows = [vector for one in ordered for vector in one.vectors]
    vectors = build_snapshot(catalog.seq, dimension, rows)
    return Snapshot(
        generation=generation,
        catalog=catalog,
        graph=LinkGraph(catalog),
        vectors=replace(vectors, background=statistics.background),
        keywords=snapshot_of_documents(words, catalog.seq, Lexicon([statistics.vocabulary])),
        languages=statistics.languages.in_order,
        statistics=statistics,
    )
