"""The limits that the vaults of one process share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from vault_indexer.config.settings import IndexSettings
from vault_indexer.index.build import Pool
from vault_indexer.index.note_workers import WorkerSpec, start_pool
from vault_indexer.index.workers.pool import Slots
from vault_indexer.system import usable_cores


class SharedBudget:
    """The limits that the vaults of one process share. Builds run one at a time, each with all workers. For
    edits each vault has one worker, and together they run at most as many workers as a single vault would.
    The workers of all vaults share the limit of calls to the language model.

    Thread-safe. It is pickled with an assembly for a build in a separate process. There it limits only the
    calls to the language model, because builds run one at a time.
    """

    def __init__(self, settings: IndexSettings | None, llm_calls: Path | None = None) -> None:
        """`settings` of None set no limit. `llm_calls` is the folder that counts the calls of all vaults
        (None: each vault counts its own)."""
        self.build, self.vectors = Slots(), Slots()
        self._slots = Slots(settings.workers or usable_cores()) if settings else None
        self._llm_calls = llm_calls

    def make_pool(self, worker: WorkerSpec, size: int) -> Pool:
        """Start a pool as `start_pool` does, within the shared limits."""
        worker = replace(worker, llm_calls=self._llm_calls or worker.llm_calls)
        if self._slots is not None:
            self._slots.resize(worker.settings.index.workers or usable_cores())
        return start_pool(worker, size if self._slots is None else 1, self._slots)

    def __reduce__(self) -> tuple[type[SharedBudget], tuple[None, Path | None]]:
        """Pickle only the folder of the calls."""
        return SharedBudget, (None, self._llm_calls)
