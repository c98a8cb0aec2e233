"""Runs hostile notes through the whole way of a note, each in a process of its own: `SIZE FOLDER NAME...`.

The way is that of an edit: read, parse, cut, make vectors, one transaction in the catalog, one commit of the
keyword index, then a look at both. Prints a line of JSON for each name. Imports and the model are
loaded once, and each note has a fork of that, so that the peak of one says nothing of another.
"""

import json
import os
import resource
import shutil
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from hostile_notes import HOSTILE, file_name

from vault_indexer.config import Settings
from vault_indexer.index.jobs import KeywordsApplied, KeywordsJob, NoteWorker, PrepareJob, WarmJob
from vault_indexer.index.note_workers import WorkerSpec, start_worker
from vault_indexer.index.reading import Skipped
from vault_indexer.index.writer import Linker
from vault_indexer.providers.wordllama import wordllama_model
from vault_indexer.store.catalog.reader import CatalogReader
from vault_indexer.store.catalog.writer import CatalogWriter
from vault_indexer.store.generations import Generation
from vault_indexer.store.keywords.index import KeywordIndex

LIMIT_S = int(os.environ.get("HOSTILE_LIMIT_S", "90"))
LIMIT_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class Cost:
    """What a note took: seconds of processor time, peak memory in MB, and what became of it."""

    name: str
    bytes: int
    prepare_s: float
    store_s: float
    peak_mb: float
    chunks: int
    outcome: str

    @property
    def seconds(self) -> float:
        return self.prepare_s + self.store_s


def way_of(name: str, folder: Path, worker: NoteWorker) -> Cost:
    """In the fork: one note from the file to the indices."""
    path = file_name(name)
    written = (folder / path).stat().st_size
    started = time.process_time()
    (prepared,) = worker.handle(PrepareJob((path,)))  # type: ignore[misc]
    read = time.process_time()
    if isinstance(prepared, Skipped):
        return _cost(name, written, (started, read), 0, prepared.file.reason)
    generation = Generation(1, folder / "index" / "0001")
    generation.folder.mkdir(parents=True)
    writer = CatalogWriter(generation.catalog)
    KeywordIndex.create(generation.keywords)
    with writer.commit():
        writer.put_note(prepared, Linker([path]), "model")
    chunks = len(prepared.rows.chunks)
    del prepared
    applied = worker.handle(KeywordsJob(generation))
    assert applied == KeywordsApplied(writer.seq), applied
    catalog = CatalogReader(generation.catalog)
    assert len(catalog.chunk_keys()) == chunks
    assert KeywordIndex.open(generation.keywords).keys() == catalog.chunk_keys()
    return _cost(name, written, (started, read), chunks, "")


def _cost(name: str, written: int, times: tuple[float, float], chunks: int, outcome: str) -> Cost:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(name, written, times[1] - times[0], time.process_time() - times[1], peak, chunks, outcome)


def in_a_fork(name: str, size: int, folder: Path, worker: NoteWorker) -> Cost:
    """The cost of one note; `outcome` says how its process ended where it gave none."""
    content = HOSTILE[name](size)
    file = folder / file_name(name)
    file.write_bytes(content)
    written = len(content)
    del content
    answers, answer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 5))
            resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
            os.write(answer, json.dumps(asdict(way_of(name, folder, worker))).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(answer)
    with os.fdopen(answers, "rb") as stream:
        said = stream.read()
    _, status, usage = os.wait4(child, 0)
    file.unlink()
    shutil.rmtree(folder / "index", ignore_errors=True)
    if said:
        return Cost(**json.loads(said))
    ended = f"ended by signal {status & 127}" if status & 127 else "failed"
    return Cost(name, written, usage.ru_utime + usage.ru_stime, 0.0, usage.ru_maxrss / 1024, 0, ended)


def main(size: int, folder: Path, names: list[str]) -> None:
    spec = WorkerSpec(folder, Settings(), wordllama_model(), None, (), folder / "llm", folder / "calls")
    worker = start_worker(spec)
    worker.handle(WarmJob())
    for name in names:
        print(json.dumps(asdict(in_a_fork(name, size, folder, worker))), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
