"""A new base of the vectors, written by a process of its own while edits go on.

The process reads one state of the catalog and writes `vectors.faiss.next`. The owner of the generation then
loads that file, adds what has changed since, and renames it to `vectors.faiss`. The list of changes reaches
back to the older of both bases until that is done, so a crash at any moment leaves a base that can be used.
"""

from __future__ import annotations

from dataclasses import dataclass

from vault_indexer.index.opening import base_of
from vault_indexer.store import Generation
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.vectors import index as vectors
from vault_indexer.system import fsync_dir, replace_file, temporary_prefix


@dataclass(frozen=True, slots=True)
class CompactionJob:
    """Write all vectors that a catalog has now as the next base of its generation."""

    generation: Generation
    model: str
    dimension: int

    def run(self, _worker: object) -> None:
        catalog = CatalogReader(self.generation.catalog)
        try:
            made = base_of(catalog, self.model, self.dimension)
        finally:
            catalog.close()
        vectors.save_snapshot(made, self.generation.next_vectors)


def use_next_base(generation: Generation) -> None:
    """Put the next base, which is whole and on disk, in the place of the base. Raises OSError."""
    replace_file(generation.next_vectors, generation.vectors)
    fsync_dir(generation.folder)


def discard_next_base(generation: Generation) -> None:
    """Remove a next base, and what was written of one. Raises OSError."""
    generation.next_vectors.unlink(missing_ok=True)
    for path in generation.folder.glob(f"{temporary_prefix(generation.next_vectors)}*.tmp"):
        path.unlink(missing_ok=True)
