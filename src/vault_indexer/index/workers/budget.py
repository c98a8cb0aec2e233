"""The limits for reading one note in a worker process, and how the parent process measures them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from vault_indexer.config.settings import EmbeddingSettings, IndexSettings
from vault_indexer.system import ProcessLimits, Usage, memory_limit, record, usable_cores, usage_by_windows

_ON_LINUX = sys.platform.startswith("linux")
_LOOK_S = 0.25 if _ON_LINUX or sys.platform == "win32" else 2.0
"""The interval between two measurements. `ps` takes some milliseconds of processor time, and reading a file
of `/proc` takes some microseconds."""

_AWAY_S = 10.0
"""If no measurement was made for this long, the parent itself was stopped or indexing was paused. The time
then does not count against the worker."""

STALLED_S = 900.0
"""A worker that uses no processor time for this long is stuck: every call to a model ends sooner."""

_UNSEEN_STALLED_S = 4 * 3600.0
"""The same limit for the duration of a job, on systems that do not report the processor time."""

_MB = 1 << 20


@record
class Mark:
    """The message that a worker begins to read a note, with its usage before (`base`), or (None) that it has
    finished."""

    base: Usage | None
    note: str = ""


@record
class NoteBudget:
    """The limits for reading one note: processor time, and memory in addition to the worker's memory before.
    0 means no limit."""

    seconds: float = 0.0
    memory_bytes: int = 0

    def is_too_long(self, seconds: float) -> bool:
        return 0 < self.seconds < seconds

    def excess(self, seconds: float, memory_bytes: int) -> str:
        """Returns which limit was exceeded ("": none)."""
        if self.is_too_long(seconds):
            return f"took over {self.seconds:g} s of processor time"
        if 0 < self.memory_bytes < memory_bytes:
            return f"took over {self.memory_bytes // _MB} MB of memory"
        return ""


if sys.platform == "win32":
    usage_of = usage_by_windows

else:

    def usage_of(pid: int) -> Usage | None:
        """Returns the usage of a process of this user; None if the system does not report it."""
        return _from_proc(pid) if _ON_LINUX else usage_by_ps(pid)

    def _from_proc(pid: int) -> Usage | None:
        """Reads fields 14, 15 and 24 of `stat` (see proc(5)), counted from the end of the name, which may
        contain any character."""
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            ticks = int(fields[11]) + int(fields[12])
            return Usage(ticks / os.sysconf("SC_CLK_TCK"), int(fields[21]) * os.sysconf("SC_PAGE_SIZE"))
        except (OSError, ValueError, IndexError):
            return None


def usage_by_ps(pid: int) -> Usage | None:
    """Returns the usage as POSIX's `ps` reports it."""
    command = ["ps", "-o", "time=", "-o", "rss=", "-p", str(pid)]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False).stdout
        time_used, resident_kib = shown.split()[:2]
        return Usage(_seconds(time_used), int(resident_kib) * 1024)
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        return None


def _seconds(text: str) -> float:
    """Parses `[[days-]hours:]minutes:seconds`."""
    days, _, clock = text.rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds + 86_400 * int(days or 0)


class NoteMeter:
    """Reports from the worker to its parent when the reading of a note begins and ends. Usage within
    `outside` is not charged to the note that is being read: a model is loaded once, for all notes."""

    def __init__(self, own_usage: Callable[[], Usage]) -> None:
        self.report: Callable[[Mark], None] = lambda _mark: None
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
            # The base moves by what was used outside, so that the note's own usage continues.
            seconds = base.seconds + after.seconds - before.seconds
            self._set(Usage(seconds, base.resident + after.resident - before.resident))

    def _set(self, base: Usage | None) -> None:
        self._base = base
        self.report(Mark(base, self._note if base is not None else ""))


class JobWatch:
    """Checks that the job of a worker makes progress and stays within its budget. The pool calls `verdict`
    repeatedly while the job runs, and the process is measured a few times a second at most. `slow_note` is
    the note that exceeded the limit of processor time, if that is the verdict."""

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
        """Records a mark from the worker, or (None) the beginning of a job."""
        self._base = mark.base if mark is not None else None
        self._note = mark.note if mark is not None else ""
        self._began = self._moved = self._looked = self._clock()

    def verdict(self) -> str:
        """Returns why the job must end ("": it may continue)."""
        now = self._clock()
        away = now - self._looked
        if away < _LOOK_S:
            return ""
        self._looked = now
        if away > _AWAY_S:
            # The time of a note on the systems without `usage_of` is the time on the clock, so the gap is
            # taken out.
            self._began += away
            self._moved = now
        return self._judge(now, self._usage(self._pid))

    def _judge(self, now: float, usage: Usage | None) -> str:
        if usage is None:
            seconds = idle_s = now - self._began
            memory, limit_s = 0, _UNSEEN_STALLED_S
        else:
            # Any processor time counts as progress: a slow note is the business of its budget.
            if usage.seconds > self._seconds:
                self._seconds, self._moved = usage.seconds, now
            base = self._base or usage
            seconds, memory = usage.seconds - base.seconds, usage.resident - base.resident
            idle_s, limit_s = now - self._moved, STALLED_S
        if self._base is not None and (excess := self._budget.excess(seconds, memory)):
            if self._budget.is_too_long(seconds):
                self.slow_note = self._note
            return excess
        return f"the worker process made no progress for {limit_s / 60:g} minutes" if idle_s > limit_s else ""


_WORKER_MB, _MODEL_WORKER_MB = 192, 1024
"""The memory of a worker with the static model (160 before its first note), and with any other model, such as
a transformer."""

_DAEMON_MB = 200
"""The memory of the daemon itself, measured with 173 notes."""

LOWEST_PRIORITY = 19
"""The highest niceness value."""

_UPKEEP_NICER = 5
"""Each step of niceness changes the share of processor time by a factor of 1.25 (sched(7)), and five steps by
a factor of three."""


def limits_of(settings: IndexSettings, memory_bytes: int = 0) -> ProcessLimits:
    """Returns the configured limits of one process. `memory_bytes` is its share; 0 means no limit."""
    return ProcessLimits(settings.nice, settings.io_priority, memory_bytes)


def note_budget(settings: IndexSettings) -> NoteBudget:
    return NoteBudget(settings.max_note_seconds, settings.max_note_memory_mb * 1024**2)


def is_slow_model(settings: EmbeddingSettings) -> bool:
    """Returns whether words should be searchable before vectors. Static vectors cost less time than reading
    the note."""
    return settings.provider not in ("auto", "wordllama")


def upkeep_limits(settings: IndexSettings) -> ProcessLimits:
    """Returns the limits of a process that merges or compacts. Edits have priority, because a user waits for
    them."""
    return ProcessLimits(min(settings.nice + _UPKEEP_NICER, LOWEST_PRIORITY), settings.io_priority)


@record
class PoolPlan:
    """The number of workers of a pool, and the limits of each."""

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
        """Computes the plan. The memory limit covers all processes that may run at once: the workers for
        edits and for a build, the builder, and, with a slow model, the spare worker. If it is too small for
        one worker of each kind per core, there are fewer workers, but at least one. Without a configured
        limit, the limit of the container applies, less the memory of the daemon itself."""
        workers = settings.workers or usable_cores()
        memory_mb = settings.max_memory_mb
        if not memory_mb and (of_container := memory_limit()) is not None:
            # The system ends processes of a container that exceeds its limit.
            memory_mb = max(_WORKER_MB, of_container // 1024**2 - _DAEMON_MB)
        if not memory_mb:
            return cls(workers, limits_of(settings))
        others, worker_mb = (2, _MODEL_WORKER_MB) if is_slow_model else (1, _WORKER_MB)
        # Halved: edits and a build each have this number of workers.
        workers = max(1, min(workers, (memory_mb // worker_mb - others) // 2))
        share = memory_mb * 1024**2 // (2 * workers + others)
        return cls(workers, limits_of(settings, share))
