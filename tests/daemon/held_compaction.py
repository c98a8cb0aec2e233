"""A compaction that a test holds back, for a process of its own."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vault_indexer.index.derived import CompactionJob
from vault_indexer.index.workers.pool import Failed, run_job


@dataclass(frozen=True)
class HeldWorker:
    """Writes the base, says so, and does not end before it may."""

    written: Path
    released: Path

    def handle(self, job: CompactionJob) -> Failed | None:
        result = run_job(job, self)
        self.written.write_bytes(b".")
        self.released.read_bytes()  # of a named pipe: waits for its other end
        return result


def held_worker(written: Path, released: Path) -> partial[HeldWorker]:
    """What the process starts with: two named pipes, each opened by both sides once."""
    return partial(HeldWorker, written, released)


class DamagingWorker:
    """Writes the base, of which a byte is changed then."""

    def handle(self, job: CompactionJob) -> Failed | None:
        result = run_job(job, self)
        content = bytearray(job.generation.next_vectors.read_bytes())
        content[-1] ^= 1
        job.generation.next_vectors.write_bytes(content)
        return result
