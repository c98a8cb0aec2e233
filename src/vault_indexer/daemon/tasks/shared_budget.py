"""What the vaults of one process share."""

from __future__ import annotations

from vault_indexer.config.settings import IndexSettings
from vault_indexer.index.build import Pool
from vault_indexer.index.note_workers import WorkerSpec, start_pool
from vault_indexer.index.workers.slots import Slots
from vault_indexer.system import usable_cores


class SharedBudget:
    """What the vaults of one process share: builds are made in turn, each with all workers; for edits each
    vault has one worker, of which as many are alive and at work as one vault alone would have.

    Any thread may use it. It is pickled with an assembly, for a build in a process of its own: there it
    limits nothing, since builds are in turn.
    """

    def __init__(self, settings: IndexSettings | None) -> None:
        """`settings` of None limit nothing."""
        self.build, self.vectors = Slots(), Slots()
        self._slots = Slots(settings.workers or usable_cores()) if settings else None

    def make_pool(self, worker: WorkerSpec, size: int) -> Pool:
        """As `start_pool`."""
        return start_pool(worker, size if self._slots is None else 1, self._slots)

    def __reduce__(self) -> tuple[type[SharedBudget], tuple[None]]:
        """Nothing of it goes to another process."""
        return SharedBudget, (None,)
