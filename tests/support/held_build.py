"""A daemon whose first build stops where a test wants it, until the test lets it go on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

from reliability_lab import InProcessPool

from vault_indexer.daemon.assembly import Assembly, Target
from vault_indexer.index.jobs import Job, Outcome, Pool, PrepareJob
from vault_indexer.index.note_workers import WorkerSpec, start_worker
from vault_indexer.index.workers.pool import Died

FIRST = "First.md"
"""The note that changed last. It is the first part of the build."""

LATER = "Later.md"
"""A note of the second part."""

FIRST_BYTES = 2_000
"""The size of the first part in tests."""

NOTES = {
    FIRST: "# First\n\nThe ferry leaves the harbour at noon.\n",
    LATER: "# Later\n\nKnead the dough until it is smooth.\n",
    **{f"Log {n}.md": f"# Log {n}\n\n" + "the evening tide came back to the quay " * 60 for n in range(4)},
}


@dataclass(frozen=True)
class Gates:
    """Named pipes in a folder: a note whose gate is there is not read before the gate is opened, once."""

    folder: Path

    def close(self, *names: str) -> None:
        self.folder.mkdir(exist_ok=True)
        for name in names:
            os.mkfifo(self.folder / name)

    def open(self, name: str) -> None:
        """Returns when the build has passed."""
        (self.folder / name).write_bytes(b".")

    def wait(self, name: str) -> None:
        if (self.folder / name).is_fifo():
            (self.folder / name).read_bytes()
            (self.folder / name).unlink(missing_ok=True)

    def remove(self) -> None:
        """Nothing waits any more."""
        for gate in self.folder.iterdir():
            descriptor = os.open(gate, os.O_RDWR)  # does not wait for a reader
            gate.unlink()
            os.write(descriptor, b".")
            os.close(descriptor)


class HeldPool(InProcessPool):
    """Waits at the gates of the notes that it reads."""

    def __init__(self, worker: WorkerSpec, gates: Gates) -> None:
        super().__init__(partial(start_worker, worker))
        self._gates = gates

    def run(self, jobs: Iterable[Job], *, fresh: bool = False) -> Iterator[tuple[Job, Outcome | Died]]:  # noqa: ARG002
        for job in jobs:
            for path in job.paths if isinstance(job, PrepareJob) else ():
                self._gates.wait(path)
            yield from self.each(job)


def held_pool(gates: Gates, worker: WorkerSpec, size: int) -> Pool:
    return cast(Pool, HeldPool(worker, gates))


def held_assembly(target: Target, gates: Gates) -> Assembly:
    """The composition of a daemon that builds in parts, as for a large vault, and waits at the gates."""
    settings = target.config.settings
    static = settings.embedding.model_copy(update={"provider": "wordllama"})
    made = replace(Assembly.of(target), make_pool=partial(held_pool, gates), first_bytes=FIRST_BYTES)
    return replace(made, settings=settings.model_copy(update={"embedding": static}))


def date_notes(vault: Path) -> None:
    """Let `FIRST` be the note that changed last."""
    for number, name in enumerate(sorted(NOTES, key=lambda name: name == FIRST)):
        os.utime(vault / name, (number + 1, number + 1))
