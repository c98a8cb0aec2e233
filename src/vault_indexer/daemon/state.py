"""The state of the daemon's loop as one value, its name and its messages, and the owner of that value."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any

from vault_indexer.daemon.sync import UnreadNotes
from vault_indexer.errors import DiskFullError, IndexUnusableError, VaultIndexerError
from vault_indexer.model import Progress, VectorUpgrade
from vault_indexer.store import SnapshotHolder
from vault_indexer.system import record
from vault_indexer.text.phrases import iso_moment, quantity

STALLED_S = 60.0
"""Pending changes that make no progress for this long are reported as stalled. An edit takes seconds, a batch
of any size is counted down note by note, and the longest measured merge of keyword segments took 24 s."""


SHOWN_FOR_S = 600.0
"""Answers show the notice of a single event for this long after the first that did. `status` shows it as long
as the daemon runs."""

CONFIG_NOT_USED = "the changed configuration is not used"

PAUSED = "indexing is paused: run `indexer resume` first"
"""The reason that a refused request gives during a pause."""

Clock = Callable[[], float]


class Cause(Enum):
    """The cause of a fault. Each fault ends independently of the others."""

    CONFIG = "config"
    """The changed configuration is invalid. Ends when it is read without an error."""

    RESTART = "restart"
    """A key was changed that takes effect only at a restart of the daemon. Ends when it is changed back."""

    EXCLUSIONS = "exclusions"
    """An exclusion in the vault cannot be parsed. Ends when all of them can."""

    INDEX_GONE = "index gone"
    """The index folder or a part of it was deleted. Ends when the index has been built again."""

    BUILD = "build"
    """A necessary rebuild failed. Ends when a rebuild succeeds or is no longer needed."""

    UNFIT = "unfit"
    """The generation that was built does not fit this program. Ends as BUILD does."""

    INDEXING = "indexing"
    """A step failed. Ends when the whole vault has been scanned and indexed without an error."""


@record
class Fault:
    """A one-line message for the user. `degraded`: the index cannot be written at all."""

    text: str
    degraded: bool = False


@record
class LoopState:
    """The state of the loop at one moment. All its messages derive from it.

    The loop publishes the first group between its steps, so its values are consistent with each other.
    `reasons` explain why the active generation does not fit (empty: it fits), `progress` is that of a build
    and `check_progress` that of a check. `vault_problem` explains why the vault is not followed. `faults` are
    the failures of the loop, `task_faults` those of background tasks. `failure` is the error that ends the
    daemon. `step_began` is the clock at the start of the current step (None: the loop is waiting), and
    `progressed_at` the clock when the number of pending changes last fell.

    The second group is computed when the state is read. `now` is the clock. `has_index`: a generation answers
    searches. `unread` counts the notes that it lacks (None: it lacks none). `pending` counts the changes that
    are not in the index, `held` the deletions among them, and `unpublished` the commits that are missing from
    the server to which the index is published. `is_indexing`: the changes include notes. `paused_until` is
    None if a pause does not end by itself. `advice` recommends a better configuration, `watching` describes
    how the vault is watched, `documents` announces those that are read for the first time, and `upgrade` is
    the progress of the vectors of a better model (None: no upgrade is planned).
    """

    building: bool = False
    progress: Progress | None = None
    check_progress: Progress | None = None
    reasons: tuple[str, ...] = ()
    vault_problem: str = ""
    faults: Mapping[Cause, Fault] = field(default_factory=dict)
    task_faults: tuple[str, ...] = ()
    happened: tuple[str, ...] = ()
    failure: VaultIndexerError | None = None
    step_began: float | None = None
    progressed_at: float = 0.0

    now: float = 0.0
    has_index: bool = True
    unread: UnreadNotes | None = None
    pending: int = 0
    held: int = 0
    unpublished: int = 0
    publishing_fault: str = ""
    is_indexing: bool = False
    paused: bool = False
    paused_until: datetime | None = None
    advice: str = ""
    watching: str = ""
    documents: str = ""
    upgrade: VectorUpgrade | None = None

    def fault(self, cause: Cause) -> str:
        """Returns the text of the fault of a cause ("" if there is none)."""
        return self.faults[cause].text if cause in self.faults else ""

    @property
    def fault_texts(self) -> tuple[str, ...]:
        """The faults of the loop, in the order of `Cause`, not of their beginning."""
        return tuple(self.faults[cause].text for cause in Cause if cause in self.faults)

    @property
    def stalled_s(self) -> float:
        """The time without progress in seconds, 0 during a pause and while it is below `STALLED_S`."""
        seconds = self.now - self.progressed_at
        return 0.0 if self.paused or seconds < STALLED_S else seconds

    @property
    def name(self) -> str:
        """The state in one word. The worst applicable state wins."""
        if self.vault_problem or any(fault.degraded for fault in self.faults.values()):
            return "degraded"
        if self.paused:
            return "paused"
        if self.unread is not None:
            return "indexing"
        if self.building:
            return "rebuilding" if self.has_index else "building"
        if not self.has_index:
            return "unusable"
        return "indexing" if self.is_indexing else "ready"

    @property
    def detail(self) -> str:
        """All current problems, without duplicates."""
        # The reason for a first build remains until the build is complete. It is not a problem while the part
        # that is built answers searches.
        reasons = () if self.unread is not None else self.reasons
        problems = (self.vault_problem, *reasons, *self.fault_texts, *self.task_faults)
        return "; ".join(
            dict.fromkeys(filter(None, (*problems, self.stall_text, self.documents, self.advice)))
        )

    @property
    def under_way(self) -> tuple[str, ...]:
        """Notices to show with answers: a pause, a vault that is not followed, a running build."""
        pause = self.pause_text if self.paused else ""
        warning = f"Warning: {self.vault_problem}" if self.vault_problem else ""
        build = f"the index is being rebuilt: {self.build_text}" if self.building else ""
        if (progress := self.reading_progress) is not None:
            build = f"the index is being built: {_notes_done(progress)} can be searched"
        return tuple(filter(None, (pause, warning, build, self.documents)))

    @property
    def wrong(self) -> tuple[str, ...]:
        return tuple(filter(None, (*self.fault_texts, *self.task_faults, self.stall_text)))

    @property
    def stall_text(self) -> str:
        """A message that pending changes make no progress, with the reason; "" while they make progress."""
        if not self.stalled_s or not self.pending:
            return ""
        return (
            f"{quantity(self.pending, 'change')} pending for {self.stalled_s:.0f} s without progress: "
            f"waiting for {self.waits_for}"
        )

    @property
    def waits_for(self) -> str:
        if self.vault_problem:
            return f"the vault ({self.vault_problem})"
        if self.building:
            return "the index to be built"
        if fault := self.fault(Cause.INDEXING):
            return f"the next try ({fault})"
        if self.step_began is not None and self.now - self.step_began >= STALLED_S:
            return "a worker process that does not answer"
        if self.held:
            return f"{quantity(self.held, 'deletion')} held back, in case the files come back"
        if self.unpublished:
            return self.publishing_fault or "the server to which the index is published"
        return "files that are still being written"

    @property
    def pause_text(self) -> str:
        until = iso_moment(self.paused_until) if self.paused_until else "`indexer resume`"
        text = f"indexing is paused until {until}"
        if not self.pending:
            return text
        verb = "is" if self.pending == 1 else "are"
        return f"{text}: {quantity(self.pending, 'change')} {verb} not indexed yet"

    @property
    def build_text(self) -> str:
        """The progress of the build, or the reason why none is running."""
        if self.paused:
            return self.pause_text
        if self.progress is None:
            return "; ".join(self.fault_texts or self.reasons) or "it starts"
        return _notes_done(self.progress)

    @property
    def reading_progress(self) -> Progress | None:
        """The progress of an index that answers searches but lacks notes. None if it lacks none."""
        if self.unread is None:
            return None
        built = self.progress or Progress("notes", 0, 0, 0, 0.0)
        notes = self.unread.total - self.unread.left
        return Progress("notes", notes, self.unread.total, built.chunks, built.seconds)


class StateHolder:
    """The only owner of the state. The thread of the loop changes `next`, and `publish` makes it the value
    that any thread may read. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, reasons: tuple[str, ...] = ()) -> None:
        self._clock = clock
        self.next = self._published = LoopState(reasons=reasons, progressed_at=clock())

    def change(self, **values: Any) -> None:
        self.next = replace(self.next, **values)

    def publish(self, pending: int, **values: Any) -> None:
        """Publishes the next state. A loop that hangs publishes none, which counts as no progress. Callers
        pass 0 as `pending` after a pause, in which no change had to progress."""
        now = self._clock()
        # Only a smaller number is progress: new changes raise it even if no change is ever indexed.
        if not pending or pending < self.next.pending:
            self.change(progressed_at=now)
        self.change(pending=pending, **values)
        self._published = self.next

    def read(self, **counts: Any) -> LoopState:
        """Returns the published state with the counts of this moment. Any thread."""
        return replace(self._published, now=self._clock(), **counts)

    def begin_fault(self, cause: Cause, text: str, *, degraded: bool = False) -> bool:
        """Begins a fault, or replaces the fault of the same cause. Returns whether it differs from before."""
        fault = Fault(" ".join(text.split()), degraded)
        differs = self.next.faults.get(cause) != fault
        self.change(faults={**self.next.faults, cause: fault})
        return differs

    def begin_fault_with(self, cause: Cause, what: str, error: Exception) -> str:
        """Begins a fault with an error and returns its text. It is degraded if the index is not writable."""
        unwritable = isinstance(error, DiskFullError | IndexUnusableError)
        self.begin_fault(cause, text_of(what, error), degraded=unwritable)
        return self.next.fault(cause)

    def end_faults(self, *causes: Cause) -> None:
        self.change(faults={cause: fault for cause, fault in self.next.faults.items() if cause not in causes})


def text_of(what: str, error: Exception) -> str:
    """Returns "`what`: the error" in one line."""
    lines = "; ".join(line.strip() for line in str(error).splitlines())
    return " ".join(f"{what}: {lines or type(error).__name__}".split())


def _notes_done(progress: Progress) -> str:
    return f"{progress.notes:,} of {quantity(progress.total, 'note')}"


class RecentNotices:
    """Notices of single events, such as a rebuild, and when each was first shown. `clock` returns seconds."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._shown_since: dict[str, float] = {}

    def to_show(self, happened: Iterable[str]) -> tuple[str, ...]:
        """Returns the notices that are still to be shown, in their original order."""
        now = self._clock()
        # Notices that no longer happen are forgotten, so that they are shown again if they happen again.
        self._shown_since = {notice: self._shown_since.get(notice, now) for notice in happened}
        return tuple(notice for notice, since in self._shown_since.items() if now - since < SHOWN_FOR_S)


def missing_vectors_notice(holder: SnapshotHolder) -> tuple[str, ...]:
    """Returns the notice of a search while some chunks have no vector (empty once all have one)."""
    with holder.lease() as snapshot:
        missing = snapshot.missing_vectors
        if not missing:
            return ()
        total = max(len(snapshot.keywords), missing)
    return (f"semantic search is incomplete: {missing:,} of {total:,} chunks have no embedding yet",)


class Pause:
    """A pause of indexing that begins and ends on request, or ends when its time is over. Thread-safe.

    It is not stored: a daemon that starts again indexes.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._active = False
        self._end: float | None = None

    @property
    def active(self) -> bool:
        with self._changed:
            return self._seconds_left() > 0

    @property
    def until(self) -> datetime | None:
        """The scheduled end (UTC, whole seconds). None if there is no pause or it has no scheduled end."""
        with self._changed:
            seconds_left = self._seconds_left()
            if self._end is None or seconds_left <= 0:
                return None
            return datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=round(seconds_left))

    def begin(self, seconds: float | None) -> None:
        """Pauses for `seconds`, or (None) until `end`. Replaces a current pause."""
        with self._changed:
            self._active = True
            self._end = None if seconds is None else self._clock() + seconds
            self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._active, self._end = False, None
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Waits until `begin` or `end` is called, the pause is over, or `seconds` have passed."""
        with self._changed:
            seconds_left = self._seconds_left()
            if seconds_left > 0:
                self._changed.wait(min(seconds, seconds_left))

    def _seconds_left(self) -> float:
        """Returns the seconds until the pause ends, 0 if indexing is not paused."""
        if not self._active:
            return 0.0
        return float("inf") if self._end is None else max(0.0, self._end - self._clock())
