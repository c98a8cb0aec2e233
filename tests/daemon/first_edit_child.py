"""A process that keeps an index as the daemon does, and says what its first edit imports, and its worker's.
`main` prints one JSON object. The worker imports this module, so it is not to be run as a script."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from vault_indexer.bootstrap import resolve_target
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.sync import EVERYTHING, VaultSync
from vault_indexer.index.jobs import Job, NoteWorker, Outcome, Pool, WarmJob
from vault_indexer.index.note_workers import WorkerSpec, start_worker
from vault_indexer.index.workers.pool import WorkerPool
from vault_indexer.search.ready import load_caches

NOTE = (Path(__file__).parent / "fixtures" / "first_edit.md").read_text("utf-8")


class Listing(NoteWorker):
    """Notes which modules each job imports, but for the warm-up."""

    def __init__(self, worker: WorkerSpec, file: Path) -> None:
        super().__init__(lambda: start_worker(worker)._make())
        self._file = file

    def handle(self, job: Job) -> Outcome:
        before = set(sys.modules)
        result = super().handle(job)
        if self._file.exists() and not isinstance(job, WarmJob):
            with self._file.open("a", encoding="utf-8") as file:
                file.writelines(f"{name}\n" for name in sorted(set(sys.modules) - before))
        return result


def start_listing(worker: WorkerSpec, file: Path) -> NoteWorker:
    return Listing(worker, file)


def main(vault: Path, index: Path) -> None:
    options = {"index.workers": 1, "index.nice": 0}
    assembly = Assembly.of(resolve_target(vault, index, None, environ={}, options=options))
    assembly.index_dir.prepare()
    generation, _ = assembly.build_next(lambda _progress: None, recompute_weights=True)
    assembly.index_dir.publish(generation)
    listed = index / "listed"

    def listing_pool(worker: WorkerSpec, size: int) -> Pool:
        start: Callable[[], NoteWorker] = partial(start_listing, worker, listed)
        return WorkerPool(size, start)

    vault_sync = VaultSync(replace(assembly, make_pool=listing_pool), live=True)
    vault_sync.open_current()
    assert vault_sync.current is not None
    vault_sync.sync(EVERYTHING)
    load_caches(vault_sync.current.reader)
    vault_sync.current.writer.warm_up()
    listed.touch()
    before = set(sys.modules)
    (vault / "First.md").write_text(NOTE, "utf-8")
    vault_sync.sync(EVERYTHING)
    daemon = sorted(set(sys.modules) - before)
    vault_sync.close()
    print(json.dumps({"daemon": daemon, "worker": listed.read_text("utf-8").split()}))
