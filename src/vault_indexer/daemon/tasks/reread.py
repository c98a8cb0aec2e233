"""Tasks that read a note again: one split without its language model, set aside, or with text in images."""

from __future__ import annotations

import logging
import time
from bisect import bisect_right
from collections.abc import Callable

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.upkeep import NextWork, UpkeepTask, Work, spare_work
from vault_indexer.documents import PAGES_WITHOUT_TEXT
from vault_indexer.index.jobs import Prepared, PrepareJob
from vault_indexer.index.reading import Skipped
from vault_indexer.index.writer import IndexWriter
from vault_indexer.model import SPLIT_WITHOUT_MODEL
from vault_indexer.text.phrases import quantity
from vault_indexer.vault.ignore import can_recognise

log = logging.getLogger("vault_indexer.daemon")

_FIRST_S = 60.0
_LATEST_S = 3600.0
_SLICE_S = 30.0
"""No page is begun later in a job. What a job has read is kept, so a daemon that stops loses at most that."""


class RechunkTask(UpkeepTask[PrepareJob, Prepared]):
    """Splits notes again whose language model has not answered, until it does. An edit uses only stored
    answers. This task queries the model in the generation's spare process, one note at a time, and then
    indexes the note like an edit.

    For a changed note the model is queried at once. After each note without an answer, the pause before the
    next retry doubles, up to an hour.
    """

    def __init__(self, vault_sync: VaultSync, clock: Callable[[], float] = time.monotonic) -> None:
        self._vault_sync = vault_sync
        self._retry = Retry(_FIRST_S, _LATEST_S, clock)
        self._last = ""
        self._known: tuple[IndexWriter, int] | None = None
        self._waiting: dict[str, str] = {}
        self._asked: dict[str, str] = {}

    @property
    def fault(self) -> str:
        if not self._waiting:
            return ""
        notes = quantity(len(self._waiting), "note")
        return f"{notes} split without the language model, which has not answered yet"

    def next_work(self, current: OpenGeneration) -> NextWork:
        self.refresh()
        path = self._next()
        if not path:
            return None
        self._last = path
        return spare_work(current, PrepareJob((path,), at_once=0))

    def accept(self, current: OpenGeneration, job: PrepareJob, result: Prepared) -> None:
        if any(SPLIT_WITHOUT_MODEL in note.file.reason for note in result):
            self.fail(current, job, "")
            return
        self._record_question(job)
        self._vault_sync.reread(job.paths[0])
        self._retry.reset()

    def fail(self, _current: OpenGeneration, job: PrepareJob, _reason: str) -> None:
        self._record_question(job)
        # `_next` has recorded the failure already, unless the note had just changed.
        if self._retry.is_due:
            self._retry.wait_again()

    def _record_question(self, job: PrepareJob) -> None:
        self._asked = {known: digest for known, digest in self._asked.items() if known in self._waiting}
        self._asked |= {path: self._waiting[path] for path in job.paths if path in self._waiting}

    def refresh(self) -> None:
        current = self._vault_sync.current
        if current is None:
            return
        with current.writer.holder.lease() as snapshot:
            known = (current.writer, snapshot.seq)
        if known != self._known:
            self._known, self._waiting = known, self._vault_sync.notes_without_model()

    def _next(self) -> str:
        path = self._changed()
        if path or not self._waiting or not self._retry.is_due:
            return path
        paths = sorted(self._waiting)
        self._retry.record_failure()  # `accept` resets this if the model answers
        # Each note in turn, so that one that always fails does not keep the others waiting.
        return paths[bisect_right(paths, self._last) % len(paths)]

    def _changed(self) -> str:
        """Returns a note for which the model was not queried since it changed; "" if there is none."""
        waiting = self._waiting.items()
        return next((path for path, digest in waiting if self._asked.get(path) != digest), "")


class QuarantineRetry(UpkeepTask[PrepareJob, Prepared]):
    """Reads one note at a time that was set aside: another fault may have ended its worker. It uses the
    generation's spare process, so that no edit waits for a note that ends the process again or uses its whole
    budget. A note that was read is then indexed like an edit.

    The dirty set determines when each note is due. A note whose file changes is read at once, like any other.
    """

    def __init__(self, vault_sync: VaultSync) -> None:
        self._vault_sync = vault_sync

    def next_work(self, current: OpenGeneration) -> NextWork:
        path = self._vault_sync.dirty.aside.next_due()
        return None if path is None else spare_work(current, PrepareJob((path,), at_once=0))

    def accept(self, _current: OpenGeneration, job: PrepareJob, _result: Prepared) -> None:
        log.info("%s was skipped and will be read again", job.paths[0])
        self._vault_sync.reread(job.paths[0])
        self._vault_sync.dirty.aside.record_try(job.paths[0])

    def fail(self, _current: OpenGeneration, job: PrepareJob, _reason: str) -> None:
        self._vault_sync.dirty.aside.record_try(job.paths[0])


class RecognitionTask(UpkeepTask[PrepareJob, Prepared]):
    """Reads images in the generation's spare process, some pages at a time, so that no edit waits for them.

    The catalog lists what is still to be read. A document whose job failed is retried if its file changes or
    the daemon restarts.
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
