"""What the settings allow the processes that index: how many workers, and the limits of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vault_indexer.config.settings import EmbeddingSettings, IndexSettings
from vault_indexer.index.workers.budget import NoteBudget
from vault_indexer.system import ProcessLimits, memory_limit, usable_cores

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
