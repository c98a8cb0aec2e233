"""Merging keyword segments in a process of its own, so that no edit waits for it."""

from __future__ import annotations

from dataclasses import dataclass

from vault_indexer.store import Generation
from vault_indexer.store.keywords import KeywordIndex


@dataclass(frozen=True, slots=True)
class MergeJob:
    """Merge what `KeywordIndex.tidy` chooses, once."""

    generation: Generation

    def run(self, _worker: object) -> None:
        KeywordIndex.open(self.generation.keywords, check=False).merge_segments()
