"""Computes the vectors of the better model while the daemon is idle, then changes the index to that model."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from itertools import islice

from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.daemon.assembly import OpenGeneration, Upgrade
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.tasks.embedding import PortionTask
from vault_indexer.daemon.tasks.upkeep import NextWork, Work
from vault_indexer.index.jobs import EmbedJob, Pool
from vault_indexer.index.workers.pool import Slots
from vault_indexer.model import VectorUpgrade
from vault_indexer.system import free_memory, is_on_battery, record

log = logging.getLogger("vault_indexer.daemon")

_PORTION_S = 2.0
"""The target duration of a portion. A crash loses at most this much work, and a note that is retried waits
for at most this long."""

_FIRST_TEXTS = 32
_MOST_TEXTS = 1024
_LISTED = 4096
"""At most this number of chunks are listed at a time, newest notes first. The query takes 0.1 s for 84,000
chunks."""

_REST_S = 3.0
"""An edit postpones the upgrade by this time."""

_TEXTS_PER_S = 90.0
"""The expected speed until a portion is done (`benchmarks/embed_speed.py`)."""

_RETRY_S, _RETRY_LATEST_S = 5.0, 600.0
_LOOK_AGAIN_S = 300.0
_NEEDED_MB = 250
"""The free memory that is required before the embedding process starts. It takes 180 MB, and edits need some
memory as well (`benchmarks/embed_speed.py`)."""

PAUSED = "paused: indexer embed --resume continues"
_RULES_AGAIN_S = 60.0
"""The power source is checked only once a minute, because the check can start a process."""


@record
class UpgradeRules:
    """The conditions for an upgrade. It must take at most `most_s` seconds (0 disables upgrades), and it does
    not run on battery power unless `on_battery`."""

    most_s: float
    on_battery: bool

    @classmethod
    def of(cls, settings: EmbeddingSettings) -> UpgradeRules:
        return cls(settings.max_upgrade_hours * 3600, settings.upgrade_on_battery)


class UpgradeTask(PortionTask):
    """Computes the missing vectors of the model that a generation will change to, and calls `complete` when
    all exist.

    The vectors are stored in the catalog of the generation, so a crash or a restart loses only one portion.
    One process at the lowest priority computes them. A text that the model cannot embed is left to the
    build. Other threads may read `progress`.
    """

    what = "creating better vectors failed"

    def __init__(
        self,
        rules: UpgradeRules,
        complete: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        slot: Slots | None = None,
        is_on_battery: Callable[[], bool] = is_on_battery,
        free_memory: Callable[[], int | None] = free_memory,
    ) -> None:
        retry = Retry(_RETRY_S, _RETRY_LATEST_S, clock)
        super().__init__(_FIRST_TEXTS, _MOST_TEXTS, _PORTION_S, retry, slot)
        self.rules = rules
        self.paused = False
        """Whether the user has paused the upgrade. Any thread may set it."""
        self.progress: VectorUpgrade | None = None
        self._complete = complete
        self._clock = clock
        self._is_on_battery = is_on_battery
        self._free_memory = free_memory
        self._listed: deque[int] = deque()
        self._failed: set[int] = set()
        self._generation = 0
        self._total = self._missing = 0
        self._texts_per_s = _TEXTS_PER_S
        self._begun_at = self._rested_at = 0.0

    def observe(self, *, is_idle: bool) -> None:
        """Edits come first."""
        if not is_idle:
            self._rested_at = self._clock() + _REST_S

    def next_work(self, current: OpenGeneration) -> NextWork:
        if current.upgrade is None:
            self.progress, self.fault = None, ""
            return None
        if self.paused:
            self._rest(current, current.upgrade)
            return None
        if self._clock() < self._rested_at or not self.retry.is_due:
            return None
        # Keys of chunks are valid in one generation only.
        if self._generation != current.generation.number:
            self._generation = current.generation.number
            self._listed.clear()
            self._failed.clear()
        if not self._listed and not self._list(current):
            return None
        keys = tuple(islice(self._listed, self.size))
        self._begun_at = self._clock()
        return Work(current.upgrade.pool, EmbedJob(current.generation, keys), lambda: True)

    def store(self, current: OpenGeneration, job: EmbedJob, vectors: Mapping[bytes, bytes]) -> str:
        assert current.upgrade is not None
        current.writer.keep_vectors(vectors, current.upgrade.model.key, job.keys)
        self._take_from_list(len(job.keys))
        self._missing = max(0, self._missing - len(job.keys))
        # A clock with coarse steps may show no time at all.
        seconds = max(self._clock() - self._begun_at, 1e-3)
        # A moving average, so that one slow portion does not change the estimate much.
        self._texts_per_s += (len(job.keys) / seconds - self._texts_per_s) / 2
        self._show(current.upgrade, "")
        return ""

    def leave_out(self, current: OpenGeneration, job: EmbedJob) -> None:  # noqa: ARG002 - that of the list
        self._failed.update(job.keys)
        self._take_from_list(1)

    def _list(self, current: OpenGeneration) -> bool:
        """Lists missing vectors, and returns whether they may be computed now. If none are missing, starts
        the change of the index to the model."""
        assert current.upgrade is not None
        self._count(current, current.upgrade)
        with current.writer.holder.lease() as snapshot:
            listed = snapshot.catalog.newest_missing(current.upgrade.model.key, _LISTED + len(self._failed))
        self._listed.extend(key for key in listed if key not in self._failed)
        waits_for = self._reason_to_wait(current.upgrade.pool) if self._listed else ""
        self._show(current.upgrade, waits_for)
        if self._listed and not waits_for:
            return True
        is_complete = not self._listed
        self._listed.clear()
        current.upgrade.pool.close()  # to free the memory of the model
        # The build may fail, or edits may come before it, so the list is checked again later.
        self.retry.wait(_LOOK_AGAIN_S if is_complete else _RULES_AGAIN_S)
        if is_complete and self._total:
            log.info("all chunks have vectors of %s: the index changes to it", current.upgrade.model.name)
            self._complete()
        return False

    def _rest(self, current: OpenGeneration, upgrade: Upgrade) -> None:
        """Shows once that the upgrade is paused, and frees the memory of the model."""
        if self.progress is None or self.progress.waits_for != PAUSED:
            self._count(current, upgrade)
            self._show(upgrade, PAUSED)
            upgrade.pool.close()
            self.retry.reset()  # the upgrade continues at once after the pause

    def _count(self, current: OpenGeneration, upgrade: Upgrade) -> None:
        with current.writer.holder.lease() as snapshot:
            self._total = snapshot.catalog.embedded_count()
            self._missing = snapshot.catalog.missing_count(upgrade.model.key)

    def _reason_to_wait(self, pool: Pool) -> str:
        if self._seconds_left() > self.rules.most_s:
            hours, most = self._seconds_left() / 3600, self.rules.most_s / 3600
            return (
                f"not created: they would take {hours:.1f} hours, and embedding.max_upgrade_hours is {most:g}"
            )
        if not self.rules.on_battery and self._is_on_battery():
            return "waiting for mains power"
        # A running worker has its memory already.
        free = None if pool.has_workers else self._free_memory()
        if free is not None and free < _NEEDED_MB * 1024**2:
            return f"waiting for memory: {_NEEDED_MB} MB are needed, {free // 1024**2} MB are free"
        return ""

    def _seconds_left(self) -> float:
        return self._missing / max(self._texts_per_s, 1e-3)

    def _show(self, upgrade: Upgrade, waits_for: str) -> None:
        done = self._total - self._missing
        seconds = round(self._seconds_left())
        self.progress = VectorUpgrade(upgrade.model.provider, done, self._total, seconds, waits_for)

    def _take_from_list(self, count: int) -> None:
        for _ in range(min(count, len(self._listed))):
            self._listed.popleft()
