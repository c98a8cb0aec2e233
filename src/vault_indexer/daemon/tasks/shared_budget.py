"""What the vaults of one process share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from vault_indexer.config.settings import IndexSettings
from vault_indexer.index.build import Pool
from vault_indexer.index.note_workers import WorkerSpec, start_pool
from vault_indexer.index.workers.pool import Slots
from vault_indexer.system import usable_cores


class SharedBudget:
    """What the vaults of one process share: builds are made in turn, each with all workers; for edits each
    vault has one worker, of which as many are alive and at work as one vault alone would have. Workers of all
    vaults share the limit of calls to the language model.

    Any thread may use it. It is pickled with an assembly, for a build in a process of its own: there it
    limits only the calls to the language model, since builds are in turn.
    """

    def __init__(self, settings: IndexSettings | None, llm_calls: Path | None = None) -> None:
        """`settings` of None limit nothing. `llm_calls` is the folder where the calls of all vaults are
        counted (None: each vault counts its own)."""
        self.build, self.vectors = Slots(), Slots()
        self._slots = Slots(settings.workers or usable_cores()) if settings else None
        self._llm_calls = llm_calls

    def make_pool(self, worker: WorkerSpec, size: int) -> Pool:
        """As `start_pool`."""
        worker = replace(worker, llm_calls=self._llm_calls or worker.llm_calls)
        if self._slots is not None:
            self._slots.resize(worker.settings.index.workers or usable_cores())
        return start_pool(worker, size if self._slots is None else 1, self._slots)

    def __reduce__(self) -> tuple[type[SharedBudget], tuple[None, Path | None]]:
        """Only the folder goes to another process."""
        return SharedBudget, (None, self._llm_calls)
