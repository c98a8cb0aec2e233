"""What of the vault may differ from the index: one set, from the first hint until the index shows it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from vault_indexer.config.settings import WatchSettings
from vault_indexer.vault.coalesce import Batch, Coalescer
from vault_indexer.vault.deletion import DeleteHold
from vault_indexer.vault.failed_edits import FailedEdits
from vault_indexer.vault.quarantine import Quarantine

_EVERYTHING = frozenset({""})


class Reading:
    """Part of the vault that is compared with the index and indexed. The thread that reads owns it."""

    def __init__(self, scope: frozenset[str]) -> None:
        self.scope = scope
        self.work: frozenset[str] = frozenset()
        """The paths that differ from the index, once that is known."""
        self.left: int | None = None
        """How many notes are still to be read; None before that is known."""
        self.retried = 0
        """How many of its paths have failed before."""
        self.changed = False
        """Whether anything was indexed."""
        self.unreadable = False
        """Whether the vault could not be read."""
        self.failed_meanwhile: set[str] = set()
        """What another reading, within this one, could not index: perhaps this one saw it before."""

    def found(self, work: Iterable[str], notes: int) -> None:
        """These paths are not as they are indexed; so many of them are notes to be read."""
        self.work, self.left = frozenset(work), notes

    @property
    def size(self) -> int:
        """How many changes it stands for."""
        return max(1, len(self.scope) if self.left is None else self.left)


class DirtySet:
    """Every path of the vault ("": all of it) of which it is not known that the index shows it as it is.

    An entry *waits* since a hint came, is *read*, has *failed*, is *held* because it vanished, or is *set
    aside* because it ended its worker. It can wait again in each of these: what is heard of while it is read
    is read once more. Nothing leaves the set until it was read without an error and is published, or the
    index was found to show it: `len` is 0 only where the index equals the vault.

    A session owns one. Hints come from any thread, and any thread may ask; the thread that writes the index
    calls the rest. `now` is the clock of hints, in seconds; failures and deletions go by `clock`.
    """

    def __init__(self, settings: WatchSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self.news = threading.Condition()
        """Notified when a hint comes and when a reading ends. Its lock guards everything here."""
        self.aside = Quarantine(clock)
        self._clock = clock
        self._waiting = Coalescer(settings)
        self._taken = frozenset[str]()
        self._deleting = frozenset[str]()
        self._readings: list[Reading] = []
        self._failed = FailedEdits(clock)
        self._held = DeleteHold(settings.delete_hold_s, clock)
        self._scans_wanted = 0
        self._scans_begun = 0
        self._scans_done = 0

    def __len__(self) -> int:
        """How many changes the index may lack."""
        with self.news:
            failed = max(0, len(self._failed) - sum(one.retried for one in self._readings))
            reading = len(self._taken) + sum(one.size for one in self._readings)
            return self._waiting.pending + reading + failed + len(self._held) + self.aside.untried

    @property
    def waiting(self) -> int:
        """Hints that nobody has taken yet. Any thread."""
        with self.news:
            return self._waiting.pending

    @property
    def left(self) -> int:
        """Notes that are known to be still to be read, of what is being read. Any thread."""
        with self.news:
            return sum(one.left or 0 for one in self._readings)

    @property
    def failed(self) -> int:
        """Paths that could not be indexed, and are tried again. Any thread."""
        with self.news:
            return len(self._failed)

    @property
    def held(self) -> int:
        """Deletions that are not believed yet. Any thread."""
        with self.news:
            return len(self._held)

    # Hints

    def hear(self, path: str, now: float) -> None:
        """A file may have changed, appeared or gone."""
        with self.news:
            was_idle = not self._waiting.pending
            self._waiting.add(path, now)
            if was_idle:  # else the waiting thread wakes by itself, and looks again
                self.news.notify_all()

    def hear_control(self, path: str, now: float) -> None:
        """A file that holds rules or configuration may have changed."""
        with self.news:
            self._waiting.add_control(path, now)
            self.news.notify_all()

    def hear_folder(self, folder: str, now: float) -> None:
        """Anything at or below the folder may have changed."""
        with self.news:
            self._waiting.scan_folder(folder, now)
            self.news.notify_all()

    def hear_all(self, reason: str, now: float) -> int:
        """Anything may have changed. Returns the number of the scan that will show it, for `wait_for_scan`:
        one that is under way may have passed a file before it changed."""
        with self.news:
            self._waiting.scan_all(reason, now)
            self._scans_wanted += 1
            self.news.notify_all()
            return self._scans_wanted

    def flush(self) -> None:
        """Somebody waits for what waits here: it is due now."""
        with self.news:
            self._waiting.flush()
            self.news.notify_all()

    # What is next. What is taken counts until it is read, or has failed.

    def due(self) -> float | None:
        """When the next batch may be taken; None if nothing waits."""
        with self.news:
            return self._waiting.due()

    def take(self, now: float) -> Batch | None:
        """The batch that is due."""
        with self.news:
            batch = self._waiting.take(now) or self._waiting.take_early(now)
            if batch is not None:
                self._take(batch.scope)
                self._scans_begun = self._scans_wanted if batch.scan_all else self._scans_begun
            return batch

    def pop_batch(self, now: float) -> frozenset[str]:
        """The files saved last, while others are read."""
        with self.news:
            return self._take(self._waiting.pop_batch(now))

    def take_failed(self) -> frozenset[str] | None:
        """What has failed and is to be tried now; None while each has to wait."""
        with self.news:
            return self._failed.next_due()

    # What becomes of it

    @contextmanager
    def reading(self, scope: frozenset[str]) -> Iterator[Reading]:
        """Within it this part of the vault is compared with the index and indexed. Where that raises, or says
        that the vault is `unreadable`, the paths with work have failed, or all where these are not known."""
        one, began = Reading(scope), self._clock()
        with self.news:
            self._taken -= scope
            one.retried = len(self._failed.paths & scope)
            self._readings.append(one)
        try:
            yield one
        except BaseException:
            self._end(one, began, failed=True)
            raise
        self._end(one, began, failed=one.unreadable)

    def _end(self, one: Reading, began: float, *, failed: bool) -> None:
        with self.news:
            self._readings.remove(one)
            if one.work or not failed:  # else it is not known which paths are as they are indexed
                self._failed.drop(one.scope, one.failed_meanwhile | (one.work if failed else set()))
            if failed:
                self._fail(one.work or one.scope, self._clock() - began)
            else:
                self._deleting = frozenset() if "" in one.scope else self._deleting - one.scope
                if one.changed:
                    self._failed.retry_all()
            if not (self._readings or self._taken) and (one.unreadable or not self._failed):
                self._scans_done = self._scans_begun
            self.news.notify_all()

    def fail_taken(self) -> None:
        """What was taken is not read now: it is tried again. Where nothing is, and nothing has failed, it is
        not known what is wrong, and everything is read."""
        with self.news:
            taken, self._taken = self._taken, frozenset()
            if taken or not self._failed:
                self._fail(taken or _EVERYTHING, 0.0)

    def _fail(self, scope: frozenset[str], seconds: float) -> None:
        self._failed.fail(scope, seconds)
        for one in self._readings:
            one.failed_meanwhile |= scope

    def wait_for_scan(self, number: int, seconds: float, is_given_up: Callable[[], bool]) -> bool:
        """Wait until what this scan found is in the index, with the deletions that are held by then, or the
        vault cannot be read. False if that takes longer, or once `is_given_up`: a caller that gives up calls
        `wake`."""
        until = time.monotonic() + seconds
        with self.news:
            self.news.wait_for(lambda: self._scans_done >= number or is_given_up(), seconds)
            if self._scans_done < number:
                return False
            gone = self._missing
            self.news.wait_for(
                lambda: gone.isdisjoint(self._missing) or is_given_up(), until - time.monotonic()
            )
            return gone.isdisjoint(self._missing)

    @property
    def _missing(self) -> frozenset[str]:
        """What has vanished and is in the index."""
        return self._held.paths | self._deleting

    def wake(self) -> None:
        """Let those who wait here look again."""
        with self.news:
            self.news.notify_all()

    def hold(self, paths: Iterable[str]) -> None:
        """These have vanished: they may come back."""
        with self.news:
            for path in paths:
                self._held.hold(path)

    def drop_held(self, paths: Iterable[str]) -> None:
        """These are there again, or are being deleted."""
        with self.news:
            for path in paths:
                self._held.drop(path)

    def next_held(self) -> float | None:
        """When the next deletion is due, on the clock; None if none is held."""
        with self.news:
            return self._held.next_due()

    def take_held(self) -> frozenset[str]:
        """The deletions that are due."""
        with self.news:
            due = frozenset(self._held.take_due())
            self._deleting |= due
            return self._take(due)

    def _take(self, scope: frozenset[str]) -> frozenset[str]:
        self._taken |= scope
        return scope
