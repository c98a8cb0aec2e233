"""Splits notes again whose language model has not answered, until it does."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.spare_reading import SpareReading
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.index.job import Died
from vault_indexer.index.jobs import Outcome
from vault_indexer.index.writer import IndexWriter
from vault_indexer.text.counts import quantity

_FIRST_S = 60.0
_LATEST_S = 3600.0


class RechunkTask:
    """Implements BackgroundTask: an edit uses only answers that are kept. This task has the model asked in
    the generation's spare process, one note at a time, and then has the note indexed like an edit.

    A note that has changed is asked for at once. After each one without an answer, the pause before the next
    of those that were asked for doubles, up to an hour.
    """

    def __init__(
        self, vault_sync: VaultSync, clock: Callable[[], float] = time.monotonic, first_s: float = _FIRST_S
    ) -> None:
        self._vault_sync = vault_sync
        self._clock = clock
        self._first_s = self._wait_s = first_s
        self._not_before = 0.0
        self._last = ""
        self._reading = SpareReading()
        self._known: tuple[IndexWriter, int] | None = None
        self._waiting: dict[str, str] = {}
        self._asked: dict[str, str] = {}

    @property
    def busy(self) -> bool:
        """Whether a note is being read."""
        return self._reading.busy

    @property
    def is_due(self) -> bool:
        """Whether there is a note to be read now."""
        return bool(self._waiting) and (self._clock() >= self._not_before or bool(self._changed()))

    @property
    def trouble(self) -> str:
        """How many notes are split without their model."""
        if not self._waiting:
            return ""
        notes = quantity(len(self._waiting), "note")
        return f"{notes} split without the language model, which has not answered yet"

    def step(self, *, idle: bool) -> None:
        """Index the note whose answers are there, or have the model asked for the next one, if the loop is
        `idle` and it is time. Raises VaultIndexerError or OSError."""
        current = self._vault_sync.current
        if self._reading.busy:
            done = self._reading.result(current)
            if done is not None:
                self._finish(*done)
        elif idle and current is not None:
            self._begin(current)

    def end(self) -> None:
        """Forget the note under way."""
        self._reading.end()

    def refresh(self) -> None:
        """Read from the catalog which notes wait, if it has changed."""
        current = self._vault_sync.current
        if current is None:
            return
        with current.writer.holder.lease() as snapshot:
            known = (current.writer, snapshot.seq)
        if known != self._known:
            self._known, self._waiting = known, self._vault_sync.notes_without_model()

    def _begin(self, current: OpenGeneration) -> None:
        self.refresh()
        path = self._next()
        if path:
            self._last = path
            self._reading.begin(current, path)

    def _next(self) -> str:
        """The note to read now; "" where it is not yet time."""
        path = self._changed()
        if path or not self.is_due:
            return path
        paths = sorted(self._waiting)
        self._pause(min(2 * self._wait_s, _LATEST_S))
        return paths[bisect_right(paths, self._last) % len(paths)]

    def _changed(self) -> str:
        """A note for which the model was not asked since it changed; "" for none."""
        waiting = self._waiting.items()
        return next((path for path, digest in waiting if self._asked.get(path) != digest), "")

    def _finish(self, path: str, result: Outcome | Died) -> None:
        self._asked = {known: digest for known, digest in self._asked.items() if known in self._waiting}
        if path in self._waiting:
            self._asked[path] = self._waiting[path]
        if isinstance(result, list) and all(not note.file.reason for note in result):
            self._vault_sync.reread(path)
            self._pause(self._first_s)
            self._not_before = self._clock()
        elif self._clock() >= self._not_before:
            self._pause(self._wait_s)

    def _pause(self, seconds: float) -> None:
        self._wait_s = seconds
        self._not_before = self._clock() + seconds
