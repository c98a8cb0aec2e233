"""Merging keyword segments in a process of its own, so that no edit waits for it."""

from __future__ import annotations

from dataclasses import dataclass

from vault_indexer.errors import VaultIndexerError
from vault_indexer.store import Generation
from vault_indexer.store.keywords import KeywordIndex


@dataclass(frozen=True, slots=True)
class MergeJob:
    """Merge what `KeywordIndex.tidy` chooses, once."""

    generation: Generation


class MergeWorker:
    """Runs in the process; holds nothing between two jobs."""

    def handle(self, job: MergeJob) -> str:
        """Why it was not done ("" if it was)."""
        try:
            KeywordIndex.open(job.generation.keywords, check=False).tidy()
        except (VaultIndexerError, OSError) as error:
            return str(error)
        return ""
