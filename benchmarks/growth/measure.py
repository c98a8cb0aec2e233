"""What an index of one size costs: its build, a restart, edits, merges, searches; all from outside."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from endurance.ground import Running, daemon, notes_of, size_on_disk
from growth.memory import watched
from speed.figures import Times, clocked
from speed.material import HITS, Material
from speed.questions import from_notes
from speed.sides import await_ready, environment, places, python_program
from vault_indexer.errors import DaemonError
from vault_indexer.index.derived import open_vectors
from vault_indexer.serve.api.endpoints import SEARCH

QUERIES = 200
EDITS = 12
_FOUND_S = 60.0
_SETTLE_S = 600.0
_LOOK_S = 0.02
_FOLDER = "written by the benchmark"
_MERGED_PARTS = 5
_MERGED_NOTES = 700
"""A merge is provoked by so many segments of so many notes each."""


@dataclass(slots=True)
class Figures:
    """One line of the table; None where it was not measured. `load` is the machine's at the end."""

    size: str
    notes: int = 0
    chunks: int = 0
    build_s: float | None = None
    build_mb: float | None = None
    restart_s: float | None = None
    edits_s: list[float] = field(default_factory=list)
    merge_edits_s: list[float] = field(default_factory=list)
    searches: Times | None = None
    recall: float | None = None
    daemon_mb: float | None = None
    index_mb: float = 0.0
    load: float = 0.0


def measure(size: str, ground: Material) -> Figures:
    """All of it; an index that is there is not built again."""
    figures = Figures(size)
    if not (ground.index_dir / "CURRENT").exists():
        figures.build_s, figures.build_mb = _build(ground)
    with ground.catalog() as catalog:
        counts, queries = catalog.counts(), from_notes(catalog, QUERIES)
    figures.notes, figures.chunks = counts.notes, counts.chunks
    with daemon(ground):
        pass  # what a build leaves for the first opening is no part of a restart
    with daemon(ground) as running, watched(running.pid) as peak:
        figures.restart_s = running.started_s
        figures.searches = _searches(running, queries)
        figures.edits_s = _edits(ground.vault, running)
        figures.merge_edits_s = _edits_beside_merge(ground, running)
    figures.daemon_mb = peak.mb
    figures.recall = _recall(ground, queries)
    figures.index_mb = size_on_disk(ground.generation.folder) / 1e6
    figures.load = os.getloadavg()[0]
    return figures


def _build(ground: Material) -> tuple[float, float]:
    """Seconds and MiB of `indexer rebuild` in processes of its own."""
    began = time.perf_counter()
    command = [*python_program(), "rebuild", *places(ground)]
    with (ground.folder / "build.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment(ground.environ))
        with watched(process.pid) as peak:
            if process.wait():
                raise DaemonError(f"the build failed: {log.name}")
    return time.perf_counter() - began, peak.mb


def _searches(running: Running, queries: list[str]) -> Times:
    """Each query once to warm what it reads, then once on the clock."""
    taken = []
    with running.side.client() as ask:
        for query in queries:
            ask(query)
        for query in queries:
            taken.append(clocked(partial(ask, query))[0])
    return Times.of(taken)


def _edits(vault: Path, running: Running, count: int = EDITS) -> list[float]:
    """Seconds from the save of a note until a search finds what was written, for notes all over the vault."""
    notes = notes_of(vault)
    return [_edit(note, running, number) for number, note in enumerate(notes[:: len(notes) // count][:count])]


def _edit(note: Path, running: Running, number: int) -> float:
    text, word = note.read_bytes(), f"unheardofword{number}x{time.monotonic_ns()}"
    try:
        began = time.perf_counter()
        note.write_bytes(text + f"\n\n{word}\n".encode())
        _await(lambda: any(word in hit["content"] for hit in running.client.ask(SEARCH, q=word)["results"]))
        return time.perf_counter() - began
    finally:
        note.write_bytes(text)
        time.sleep(1)  # the debounce: until then nothing is known to be pending
        await_ready(running.side, _SETTLE_S)


def _edits_beside_merge(ground: Material, running: Running) -> list[float]:
    """The same while segments are merged; an edit counts that began before the merge was done."""
    folder = ground.vault / _FOLDER
    notes = notes_of(ground.vault)[: _MERGED_NOTES * _MERGED_PARTS]
    try:
        for part in range(_MERGED_PARTS):
            folder.mkdir(exist_ok=True)
            for number, note in enumerate(notes[part::_MERGED_PARTS]):
                (folder / f"{part} {number}.md").write_bytes(note.read_bytes() + b"\n")
            time.sleep(1)
            await_ready(running.side, _SETTLE_S)
        target, before = notes[0], _segments(ground)
        taken: list[float] = []
        end = time.monotonic() + _SETTLE_S / 10
        while time.monotonic() < end and _segments(ground) >= before:
            time.sleep(3.5)  # a merge begins where no edit has come for three seconds
            taken.append(_edit(target, running, len(taken)))
        return taken
    finally:
        for note in folder.glob("*.md"):
            note.unlink()
        folder.rmdir()
        time.sleep(3)  # deletions are held for two
        await_ready(running.side, _SETTLE_S)


def _segments(ground: Material) -> int:
    return sum(1 for _ in ground.generation.keywords.glob("*.seg"))


def _await(done: Callable[[], bool]) -> None:
    end = time.monotonic() + _FOUND_S
    while not done():
        if time.monotonic() > end:
            raise DaemonError(f"the edit was not found within {_FOUND_S:.0f} s")
        time.sleep(_LOOK_S)


def _recall(ground: Material, queries: list[str]) -> float:
    """Of the ten nearest vectors of each query, the share that a search of the vectors finds.

    Another vector that is as near counts, too: vaults hold the same text in several places.
    """
    model = ground.embedder()
    name, dimension = model.model.key, model.model.dimension
    with ground.catalog() as catalog:
        held = open_vectors(ground.generation, catalog, name, dimension, repair=False).vectors
        held.look.make()
    shares = []
    for query in queries:
        vector = model.embed_query(query)
        least = held.base.search(vector[None, :], HITS)[0][0, -1]
        found = np.sort(held.search(vector, HITS)[0])
        shares.append(np.mean(held.scores(vector, found) >= least - 1e-6))
    return float(np.mean(shares))
