"""Reads notes again that were set aside: something else may have ended their worker."""

from __future__ import annotations

import logging

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.upkeep import UpkeepTask, Work, spare_work
from vault_indexer.index.jobs import PrepareJob
from vault_indexer.index.workers.job import Died, Failed

log = logging.getLogger("vault_indexer.daemon")


class QuarantineRetry(UpkeepTask):
    """Reads one note at a time in the generation's spare process, so that no edit waits for a note that ends
    it again or takes its whole budget. A note that was read is then indexed like an edit.

    When each is due, the dirty set knows. A note whose file changes is read at once, as any other.
    """

    def __init__(self, vault_sync: VaultSync) -> None:
        self._vault_sync = vault_sync

    def begin(self, current: OpenGeneration) -> Work | None:
        """Read a note whose time has come."""
        path = self._vault_sync.dirty.aside.next_due()
        return None if path is None else spare_work(current, PrepareJob((path,), at_once=0))

    def accept(self, _current: OpenGeneration, job: object, outcome: object) -> None:
        """Index the note that could be read."""
        assert isinstance(job, PrepareJob)
        (path,) = job.paths
        if not isinstance(outcome, Failed | Died):
            log.info("%s was skipped, and is read again", path)
            self._vault_sync.reread(path)
        self._vault_sync.dirty.aside.record_try(path)
