"""Makes missing vectors in small portions, while nothing else is to be done."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.tasks.portions import PortionTask
from vault_indexer.daemon.tasks.upkeep import NextWork, spare_work
from vault_indexer.index.jobs import EmbedJob
from vault_indexer.index.workers.slots import Slots
from vault_indexer.store import SnapshotHolder

log = logging.getLogger("vault_indexer.daemon")

_PORTION_S = 0.5
"""What a portion aims to take: so long an edit's own vectors wait at the most, and so much a crash costs."""

_FIRST_TEXTS = 16
_MOST_TEXTS = 4096
_RETRY_S = 1.0
_RETRY_LATEST_S = 300.0


class EmbeddingTask(PortionTask):
    """One portion at a time, made in the generation's spare process. The text that the model cannot take
    comes last."""

    what = "embedding failed"

    def __init__(self, clock: Callable[[], float] = time.monotonic, slot: Slots | None = None) -> None:
        retry = Retry(_RETRY_S, _RETRY_LATEST_S, clock)
        super().__init__(_FIRST_TEXTS, _MOST_TEXTS, _PORTION_S, retry, slot)

    def next_work(self, current: OpenGeneration) -> NextWork:
        if not current.writer.missing_vectors:
            self.fault = ""
            return None
        return spare_work(current, current.writer.next_embed_job(self.size)) if self.retry.is_due else None

    def store(self, current: OpenGeneration, job: EmbedJob, vectors: Mapping[bytes, bytes]) -> str:
        current.writer.put_vectors(vectors)
        if current.writer.is_waiting_for(job):
            return "the index contains other texts by now"
        if not current.writer.missing_vectors:
            log.info("all chunks have their vectors")
        return ""

    def leave_out(self, current: OpenGeneration, job: EmbedJob) -> None:
        current.writer.postpone(job)


def missing_vectors_notice(holder: SnapshotHolder) -> tuple[str, ...]:
    """What a search should say while chunks have no vector yet; nothing once all have."""
    with holder.lease() as snapshot:
        if not snapshot.missing_vectors:
            return ()
        missing = snapshot.missing_vectors
        total = max(len(snapshot.keywords), missing)
    return (f"semantic search is incomplete: {missing:,} of {total:,} chunks have no embedding yet",)
