"""What the reading of one note may take of a worker process, and how its parent sees that."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.config.settings import EmbeddingSettings, IndexSettings
from vault_indexer.system import ProcessLimits, Usage, memory_limit, usable_cores

_ON_LINUX = sys.platform.startswith("linux")
_LOOK_S = 0.25 if _ON_LINUX else 2.0
"""Between two looks: `ps` takes some milliseconds of processor time, a file of `/proc` some microseconds."""

_AWAY_S = 10.0
"""After so long without a look the parent itself was stopped, or indexing paused: what did not happen
meanwhile says nothing of the worker."""

STALLED_S = 900.0
"""A worker that uses no processor time for so long is stuck: every call to a model ends sooner."""

_UNSEEN_STALLED_S = 4 * 3600.0
"""The same for the time that a job takes where the system does not tell the processor time."""

_MB = 1 << 20


@dataclass(frozen=True, slots=True)
class Mark:
    """A worker begins to read a note, for which it had taken `base` before; or (None) is done with it."""

    base: Usage | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class NoteBudget:
    """The most that reading one note may take: processor time, and memory beyond what the worker had before.
    0 is no limit."""

    seconds: float = 0.0
    memory_bytes: int = 0

    def is_too_long(self, seconds: float) -> bool:
        return 0 < self.seconds < seconds

    def excess(self, seconds: float, memory_bytes: int) -> str:
        """Which setting was exceeded ("": none)."""
        if self.is_too_long(seconds):
            return f"took over {self.seconds:g} s of processor time"
        if 0 < self.memory_bytes < memory_bytes:
            limit = self.memory_bytes // _MB
            return f"took over {limit} MB of memory"
        return ""


if sys.platform == "win32":

    def usage_of(pid: int) -> Usage | None:  # noqa: ARG001 - the other systems tell
        """None: nothing is known of another process."""
        return None

else:

    def usage_of(pid: int) -> Usage | None:
        """What a process of this user has taken; None where the system does not tell."""
        return _from_proc(pid) if _ON_LINUX else usage_by_ps(pid)

    def _from_proc(pid: int) -> Usage | None:
        """proc(5): fields 14, 15 and 24 of `stat`, counted after the name, which may hold anything."""
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            ticks = int(fields[11]) + int(fields[12])
            return Usage(ticks / os.sysconf("SC_CLK_TCK"), int(fields[21]) * os.sysconf("SC_PAGE_SIZE"))
        except (OSError, ValueError, IndexError):
            return None


def usage_by_ps(pid: int) -> Usage | None:
    """As POSIX's `ps` tells it."""
    command = ["ps", "-o", "time=", "-o", "rss=", "-p", str(pid)]
    try:
        fields = subprocess.run(
            command, capture_output=True, text=True, timeout=5, check=False
        ).stdout.split()
        return Usage(_seconds(fields[0]), int(fields[1]) * 1024)
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        return None


def _seconds(text: str) -> float:
    """`[[days-]hours:]minutes:seconds`."""
    days, _, clock = text.rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds + 86_400 * int(days or 0)


def _ignore_mark(_mark: Mark) -> None: ...


class NoteMeter:
    """In the worker: tells the parent when the reading of a note begins and ends. What happens in `outside`
    is not charged to the note that is being read: a model is loaded once, for all notes."""

    def __init__(self, own_usage: Callable[[], Usage]) -> None:
        self.report: Callable[[Mark], None] = _ignore_mark
        self._own_usage = own_usage
        self._base: Usage | None = None
        self._note = ""

    @contextmanager
    def reading(self, note: str) -> Iterator[None]:
        self._note = note
        self._set(self._own_usage())
        try:
            yield
        finally:
            self._set(None)

    @contextmanager
    def outside(self) -> Iterator[None]:
        base = self._base
        if base is None:
            yield
            return
        before = self._own_usage()
        self._set(None)
        try:
            yield
        finally:
            after = self._own_usage()
            seconds = base.seconds + after.seconds - before.seconds
            self._set(Usage(seconds, base.resident + after.resident - before.resident))

    def _set(self, base: Usage | None) -> None:
        self._base = base
        self.report(Mark(base, self._note if base is not None else ""))


class JobWatch:
    """Whether the job that a worker does goes on and keeps within its budget. Asked again and again while the
    job runs; looks at the process a few times a second at most. `slow_note` is the note that took more
    processor time than it may, where that is the verdict."""

    def __init__(
        self,
        pid: int,
        budget: NoteBudget,
        usage: Callable[[int], Usage | None] = usage_of,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pid = pid
        self._budget = budget
        self._usage = usage
        self._clock = clock
        self._note = ""
        self.slow_note = ""
        self._base: Usage | None = None
        self._began = self._moved = self._looked = clock()
        self._seconds = -1.0

    def note_mark(self, mark: Mark | None) -> None:
        """The worker sent a mark, or (None) begins a job."""
        self._base = mark.base if mark is not None else None
        self._note = mark.note if mark is not None else ""
        self._began = self._moved = self._looked = self._clock()

    def verdict(self) -> str:
        """Why the job has to end ("": it may go on)."""
        now = self._clock()
        away = now - self._looked
        if away < _LOOK_S:
            return ""
        self._looked = now
        if away > _AWAY_S:
            self._began += away
            self._moved = now
        return self._judge(now, self._usage(self._pid))

    def _judge(self, now: float, usage: Usage | None) -> str:
        if usage is None:
            excess = self._excess(now - self._began, 0) if self._base else ""
            return excess or _stall_reason(now - self._began, _UNSEEN_STALLED_S)
        if usage.seconds > self._seconds:
            self._seconds, self._moved = usage.seconds, now
        excess = ""
        if self._base is not None:
            seconds, memory = usage.seconds - self._base.seconds, usage.resident - self._base.resident
            excess = self._excess(seconds, memory)
        return excess or _stall_reason(now - self._moved, STALLED_S)

    def _excess(self, seconds: float, memory: int) -> str:
        if self._budget.is_too_long(seconds):
            self.slow_note = self._note
        return self._budget.excess(seconds, memory)


def _stall_reason(seconds: float, limit: float) -> str:
    return f"the process that did it made no progress for {limit / 60:g} minutes" if seconds > limit else ""


# What the settings allow the processes that index: how many workers, and the limits of each.


_WORKER_MB, _MODEL_WORKER_MB = 192, 1024
"""What a worker takes with the static model (160 before its first note), and with any other, such as a
transformer."""

_DAEMON_MB = 200
"""What the daemon itself takes, with 173 notes."""

LOWEST_PRIORITY = 19
"""The largest niceness there is."""

_UPKEEP_NICER = 5
"""A step of niceness is worth a factor of 1.25 of processor time (sched(7)), five are worth three."""


def limits_of(settings: IndexSettings, memory_bytes: int = 0) -> ProcessLimits:
    """The limits of one process, as configured; `memory_bytes` is its share, 0 is no limit."""
    return ProcessLimits(settings.nice, settings.io_priority, memory_bytes)


def note_budget(settings: IndexSettings) -> NoteBudget:
    """What reading one note may take, as configured."""
    return NoteBudget(settings.max_note_seconds, settings.max_note_memory_mb * 1024**2)


def is_slow_model(settings: EmbeddingSettings) -> bool:
    """Whether words are worth having before vectors: static vectors cost less than reading the note does."""
    return settings.provider not in ("auto", "wordllama")


def upkeep_limits(settings: IndexSettings) -> ProcessLimits:
    """The limits of a process that merges or compacts: edits, which a person waits for, run before it."""
    return ProcessLimits(min(settings.nice + _UPKEEP_NICER, LOWEST_PRIORITY), settings.io_priority)


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """How many workers a pool has, and how each behaves."""

    workers: int
    limits: ProcessLimits

    @classmethod
    def of(
        cls,
        settings: IndexSettings,
        *,
        is_slow_model: bool,
        memory_limit: Callable[[], int | None] = memory_limit,
    ) -> PoolPlan:
        """The limit of memory is for all that may run at once: the workers for edits and those of a build,
        the builder, and, where the model is slow, the spare worker. Where it is too small for one worker of
        each kind a core, there are fewer; one there must be. Without one, that of the container counts,
        of which the daemon takes some itself."""
        workers = settings.workers or usable_cores()
        memory_mb = settings.max_memory_mb
        if not memory_mb and (of_container := memory_limit()) is not None:
            memory_mb = max(_WORKER_MB, of_container // 1024**2 - _DAEMON_MB)
        if not memory_mb:
            return cls(workers, limits_of(settings))
        others, worker_mb = (2, _MODEL_WORKER_MB) if is_slow_model else (1, _WORKER_MB)
        workers = max(1, min(workers, (memory_mb // worker_mb - others) // 2))
        share = memory_mb * 1024**2 // (2 * workers + others)
        return cls(workers, limits_of(settings, share))
