"""The state of a daemon: its name, what a user should know, and what it is made of."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum

from vault_indexer.daemon.sync import UnreadNotes
from vault_indexer.errors import DiskFullError, IndexUnusableError, VaultIndexerError
from vault_indexer.model import Progress
from vault_indexer.text.phrases import iso_moment, quantity

STALLED_S = 60.0
"""An edit takes seconds, and a batch of any size is counted down note by note; the largest merge of keyword
segments measured took 24 s."""


@dataclass(frozen=True, slots=True)
class DaemonState:
    """The state of the daemon at one moment: all that its texts are made of.

    The first group is what the loop publishes between its steps, and so belongs together. `reasons` tell why
    the active generation does not fit (empty: it does), `vault_problem` why the vault is not followed.
    `faults` are the failures of the loop (`indexing_fault` is one of them), `task_faults` those of background
    tasks. `failure` is why the daemon has to end. `step_began` is the clock when the step under way began
    (None: the loop waits).

    The second group is counted when the state is read. `has_index`: a generation answers searches. `unread`
    is what it lacks of the vault (None: nothing), `pending` counts the changes that are not in it, `held`
    those of them that are deletions, and `unpublished` the commits that a server lacks to which the index is
    published. `is_indexing`: notes are known among the changes. `paused_until` is None where a pause does not
    end by itself. `stalled_s` are seconds without progress (0 while there is any); `step_s` those of
    the step under way. `advice` is what the active configuration should better be.
    """

    building: bool = False
    progress: Progress | None = None
    reasons: tuple[str, ...] = ()
    vault_problem: str = ""
    faults: tuple[str, ...] = ()
    indexing_fault: str = ""
    task_faults: tuple[str, ...] = ()
    unwritable: bool = False
    happened: tuple[str, ...] = ()
    failure: VaultIndexerError | None = None
    step_began: float | None = None

    has_index: bool = True
    unread: UnreadNotes | None = None
    pending: int = 0
    held: int = 0
    unpublished: int = 0
    publishing_fault: str = ""
    is_indexing: bool = False
    paused: bool = False
    paused_until: datetime | None = None
    stalled_s: float = 0.0
    step_s: float = 0.0
    advice: str = ""

    @property
    def name(self) -> str:
        """The state in one word, the worst first."""
        if self.vault_problem or self.unwritable:
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
        """All that is wrong, each once."""
        # Until a first build is complete, the reason for it holds, which is no problem once it answers.
        reasons = () if self.unread is not None else self.reasons
        problems = (self.vault_problem, *reasons, *self.faults, *self.task_faults)
        return "; ".join(dict.fromkeys(filter(None, (*problems, self.stall_text, self.advice))))

    @property
    def under_way(self) -> tuple[str, ...]:
        """What answers should be read with at the moment: a pause, a vault that is not followed, a build."""
        notices = [self.pause_text] if self.paused else []
        notices += [f"Warning: {self.vault_problem}"] if self.vault_problem else []
        if (progress := self.reading_progress) is not None:
            notices.append(f"the index is being built: {_notes_done(progress)} can be searched")
        elif self.building:
            notices.append(f"the index is being rebuilt: {self.build_text}")
        return tuple(notices)

    @property
    def wrong(self) -> tuple[str, ...]:
        """What does not succeed."""
        return tuple(filter(None, (*self.faults, *self.task_faults, self.stall_text)))

    @property
    def stall_text(self) -> str:
        """That pending changes make no progress, and what they wait for; "" while they do."""
        if not self.stalled_s or not self.pending:
            return ""
        return (
            f"{quantity(self.pending, 'change')} pending for {self.stalled_s:.0f} s without progress: "
            f"waiting for {self.waits_for}"
        )

    @property
    def waits_for(self) -> str:
        """What the pending changes wait for."""
        if self.vault_problem:
            return f"the vault ({self.vault_problem})"
        if self.building:
            return "the index to be built"
        if self.indexing_fault:
            return f"the next try ({self.indexing_fault})"
        if self.step_s >= STALLED_S:
            return "a worker process that does not answer"
        if self.held:
            return f"{quantity(self.held, 'deletion')} held back, in case the files come back"
        if self.unpublished:
            return self.publishing_fault or "the server to which the index is published"
        return "files that are still being written"

    @property
    def pause_text(self) -> str:
        """When a pause ends, and what waits meanwhile."""
        until = iso_moment(self.paused_until) if self.paused_until else "`indexer resume`"
        text = f"indexing is paused until {until}"
        if not self.pending:
            return text
        verb = "is" if self.pending == 1 else "are"
        return f"{text}: {quantity(self.pending, 'change')} {verb} not searched yet"

    @property
    def build_text(self) -> str:
        """How far a build is, or why there is none."""
        if self.paused:
            return self.pause_text
        if self.progress is None:
            return "; ".join(self.faults or self.reasons) or "it starts"
        return _notes_done(self.progress)

    @property
    def reading_progress(self) -> Progress | None:
        """How far the index is that answers and lacks notes of the vault; None where it lacks none."""
        if self.unread is None:
            return None
        built = self.progress or Progress("notes", 0, 0, 0, 0.0)
        notes = self.unread.total - self.unread.left
        return Progress("notes", notes, self.unread.total, built.chunks, built.seconds)


def _notes_done(progress: Progress) -> str:
    return f"{progress.notes:,} of {quantity(progress.total, 'note')}"


# Notices of what happened once, such as a rebuild: shown with each answer for some minutes.


SHOWN_FOR_S = 600.0
"""From the first answer that showed it. `status` shows it as long as the daemon runs."""

Clock = Callable[[], float]


class RecentNotices:
    """Knows when each notice was first shown. `clock` gives seconds."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._shown_since: dict[str, float] = {}

    def to_show(self, happened: Iterable[str]) -> tuple[str, ...]:
        """Of all that happened, in its order, what is still to be shown."""
        now = self._clock()
        self._shown_since = {notice: self._shown_since.get(notice, now) for notice in happened}
        return tuple(notice for notice, since in self._shown_since.items() if now - since < SHOWN_FOR_S)


# What is wrong with indexing at the moment, shown with each answer until it ends.


class Cause(Enum):
    """Where a fault comes from. Each ends by itself: the end of one says nothing about the others."""

    CONFIG = "config"
    """The configuration was changed and cannot be used. Ends when it is read without a mistake."""

    RESTART = "restart"
    """A key was changed that counts from the start of the daemon. Ends when it is changed back."""

    EXCLUSIONS = "exclusions"
    """An exclusion in the vault is not understood. Ends when all of them are."""

    INDEX_GONE = "index gone"
    """The index folder or a part of it was deleted. Ends when the index was built again."""

    BUILD = "build"
    """A rebuild that is needed failed. Ends when one succeeds, or when none is needed any more."""

    UNFIT = "unfit"
    """What was built does not fit this program. Ends as BUILD does."""

    INDEXING = "indexing"
    """A step failed. Ends when the whole vault was looked at, and the index follows it, without an error."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One line for the user. With `degraded` the index cannot be written at all."""

    text: str
    degraded: bool = False


class ActiveFaults:
    """At most one fault for each cause. The daemon's loop begins and ends them; any thread reads.

    The order is that of `Cause`, whichever began first.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active: dict[Cause, Fault] = {}

    def begin(self, cause: Cause, text: str, *, degraded: bool = False) -> bool:
        """A fault begins, or takes the place of the one of its cause. Returns whether that is news."""
        fault = Fault(" ".join(text.split()), degraded)
        with self._lock:
            before = self._active.get(cause)
            self._active[cause] = fault
        return before != fault

    def begin_with(self, cause: Cause, what: str, error: Exception) -> bool:
        """The same with "`what`: the error"; an index that cannot be written is degraded."""
        lines = "; ".join(line.strip() for line in str(error).splitlines())
        unwritable = isinstance(error, DiskFullError | IndexUnusableError)
        return self.begin(cause, f"{what}: {lines or type(error).__name__}", degraded=unwritable)

    def end(self, *causes: Cause) -> None:
        with self._lock:
            for cause in causes:
                self._active.pop(cause, None)

    def get(self, cause: Cause) -> str:
        """The fault of a cause ("" where there is none)."""
        with self._lock:
            fault = self._active.get(cause)
        return fault.text if fault else ""

    @property
    def texts(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._active[cause].text for cause in Cause if cause in self._active)

    def any_degraded(self) -> bool:
        """Whether the index cannot be written."""
        with self._lock:
            return any(fault.degraded for fault in self._active.values())


# Whether changes that are pending make progress.


class StallWatch:
    """Knows since when the number of pending changes has not gone down.

    The daemon's loop tells each number it sees. A loop that hangs tells none, and so makes no progress.
    Any thread may ask. `clock` gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = 0
        self._since = clock()

    def observe(self, pending: int) -> None:
        """Note how many changes are pending now: 0 where indexing has rested, when none had to move."""
        if not pending or pending < self._last:
            self._since = self._clock()
        self._last = pending

    def stalled_s(self) -> float:
        """Seconds without progress, or 0 while they are fewer than `STALLED_S`."""
        seconds = self._clock() - self._since
        return seconds if seconds >= STALLED_S else 0.0


# Pauses of indexing that the user requests.


PAUSED = "indexing is paused: run `indexer resume` first"
"""Why something that was asked for is not done."""


class Pause:
    """A pause that begins and ends at a word, or ends by itself when its time is over. Thread-safe.

    It ends with its process: a daemon that starts again indexes.
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
        """When it ends by itself (UTC, whole seconds); None where it does not, or where there is none."""
        with self._changed:
            seconds_left = self._seconds_left()
            if self._end is None or seconds_left <= 0:
                return None
            return datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=round(seconds_left))

    def begin(self, seconds: float | None) -> None:
        """Pause for `seconds`, or (None) until `end`. A pause under way is replaced."""
        with self._changed:
            self._active = True
            self._end = None if seconds is None else self._clock() + seconds
            self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._active, self._end = False, None
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Return when `begin` or `end` is called, when the pause is over, or after `seconds`."""
        with self._changed:
            seconds_left = self._seconds_left()
            if seconds_left > 0:
                self._changed.wait(min(seconds, seconds_left))

    def _seconds_left(self) -> float:
        """Seconds, 0 where nothing is paused."""
        if not self._active:
            return 0.0
        return float("inf") if self._end is None else max(0.0, self._end - self._clock())
