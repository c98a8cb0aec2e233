"""Recognises the text in pictures and scans while the daemon has nothing else to do."""

from __future__ import annotations

import logging

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.upkeep import NextWork, UpkeepTask, Work
from vault_indexer.documents import PAGES_WITHOUT_TEXT
from vault_indexer.index.jobs import Prepared, PrepareJob
from vault_indexer.index.reading import Skipped
from vault_indexer.vault.ignore import can_recognise

log = logging.getLogger("vault_indexer.daemon")

_SLICE_S = 30.0
"""No page is begun later in a job. What a job has read is kept, so a daemon that stops loses at most that."""


class RecognitionTask(UpkeepTask[PrepareJob, Prepared]):
    """Reads images in the generation's spare process, some pages at a time, so that no edit waits for them.

    The catalog has what is still to be read. A document whose job failed is tried again if its file changes
    or the daemon starts anew.
    """

    def __init__(self, vault_sync: VaultSync) -> None:
        self._vault_sync = vault_sync
        self._begun: dict[str, tuple[str, str]] = {}

    def next_work(self, current: OpenGeneration) -> NextWork:
        if not can_recognise(self._vault_sync.assembly.settings.documents):
            return None
        waiting = self._next(current)
        if waiting is None:
            return None
        path, state = waiting
        self._begun[path] = state
        job = PrepareJob((path,), at_once=0, ocr_seconds=_SLICE_S)
        return Work(
            current.spare, job, lambda: self._next(current) is not None or current.writer.missing_vectors > 0
        )

    def accept(self, current: OpenGeneration, _job: PrepareJob, result: Prepared) -> None:
        current.writer.put_again([note for note in result if not isinstance(note, Skipped)])

    def fail(self, _current: OpenGeneration, job: PrepareJob, reason: str) -> None:
        log.warning("the text in images of %s cannot be recognised: %s", job.paths[0], reason)

    def _next(self, current: OpenGeneration) -> tuple[str, tuple[str, str]] | None:
        with current.writer.holder.lease() as snapshot:
            waiting = snapshot.catalog.documents_with(PAGES_WITHOUT_TEXT).items()
        return next((one for one in waiting if self._begun.get(one[0]) != one[1]), None)
