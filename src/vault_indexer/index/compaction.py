"""What a process of its own rewrites while edits go on: the base of the vectors, segments of the keywords.

For a new base it reads one state of the catalog and writes `vectors.faiss.next`. The owner of the generation
then loads that file, adds what has changed since, and renames it to `vectors.faiss`. The list of changes
reaches back to the older of both bases until that is done, so a crash at any moment leaves a base that can be
used.
"""

from __future__ import annotations

from dataclasses import dataclass

from vault_indexer.index.opening import base_of
from vault_indexer.store import Generation
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.keywords import KeywordIndex
from vault_indexer.store.vectors import index as vectors
from vault_indexer.system import fsync_dir, replace_file, temporary_prefix


@dataclass(frozen=True, slots=True)
class CompactionJob:
    """Write all vectors that a catalog has now as the next base of its generation."""

    generation: Generation
    model: str
    dimension: int

    def run(self, _worker: object) -> None:
        with CatalogReader(self.generation.catalog) as catalog:
            made = base_of(catalog, self.model, self.dimension)
        vectors.save_snapshot(made, self.generation.next_vectors)


@dataclass(frozen=True, slots=True)
class MergeJob:
    """Merge the segments of the keyword index that its merge policy chooses, once."""

    generation: Generation

    def run(self, _worker: object) -> None:
        KeywordIndex.open(self.generation.keywords, check=False).merge_segments()


def use_next_base(generation: Generation) -> None:
    """Put the next base, which is whole and on disk, in the place of the base. Raises OSError."""
    replace_file(generation.next_vectors, generation.vectors)
    fsync_dir(generation.folder)


def discard_next_base(generation: Generation) -> None:
    """Remove a next base, and what was written of one. Raises OSError."""
    generation.next_vectors.unlink(missing_ok=True)
    for path in generation.folder.glob(f"{temporary_prefix(generation.next_vectors)}*.tmp"):
        path.unlink(missing_ok=True)
