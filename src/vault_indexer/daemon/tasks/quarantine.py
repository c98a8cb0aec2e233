"""Reads notes again that were set aside: something else may have ended their worker."""

from __future__ import annotations

import logging

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.upkeep import NextWork, UpkeepTask, spare_work
from vault_indexer.index.jobs import Prepared, PrepareJob

log = logging.getLogger("vault_indexer.daemon")


class QuarantineRetry(UpkeepTask[PrepareJob, Prepared]):
    """Reads one note at a time in the generation's spare process, so that no edit waits for a note that ends
    it again or takes its whole budget. A note that was read is then indexed like an edit.

    When each is due, the dirty set knows. A note whose file changes is read at once, as any other.
    """

    def __init__(self, vault_sync: VaultSync) -> None:
        self._vault_sync = vault_sync

    def next_work(self, current: OpenGeneration) -> NextWork:
        """Read a note whose time has come."""
        path = self._vault_sync.dirty.aside.next_due()
        return None if path is None else spare_work(current, PrepareJob((path,), at_once=0))

    def accept(self, _current: OpenGeneration, job: PrepareJob, _result: Prepared) -> None:
        """Index the note that could be read."""
        log.info("%s was skipped, and is read again", job.paths[0])
        self._vault_sync.reread(job.paths[0])
        self._vault_sync.dirty.aside.record_try(job.paths[0])

    def fail(self, _current: OpenGeneration, job: PrepareJob, _reason: str) -> None:
        """Leave it in quarantine."""
        self._vault_sync.dirty.aside.record_try(job.paths[0])
