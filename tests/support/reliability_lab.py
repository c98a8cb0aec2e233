"""Vaults to be maltreated, indices of them, and the one comparison that counts: equal to a fresh build."""

from __future__ import annotations

import gc
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from vault_indexer.bootstrap import resolve_target
from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.config.sources import OptionValue
from vault_indexer.daemon.assembly import Assembly, Target
from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.daemon.session import DaemonSession
from vault_indexer.index.jobs import EmbedJob, Job, NoteWorker, Outcome, Pool
from vault_indexer.index.note_workers import WorkerSpec, start_worker
from vault_indexer.index.workers.pool import Died, Failed
from vault_indexer.model import Progress
from vault_indexer.providers import WordLlamaEmbedder
from vault_indexer.store.catalog.stored_notes import export_lines
from vault_indexer.store.snapshot import Snapshot, SnapshotHolder

if TYPE_CHECKING:
    from vault_indexer.arrays import Keys, Matrix

FULL = os.environ.get("SLOW_SIZE", "small") == "full"

# Token weights are fitted to a vault as it was at the build, so two builds rank alike only without them.
OPTIONS: Mapping[str, OptionValue] = {
    "embedding.provider": "wordllama",  # the queries are of its dimension, whatever else is installed
    "embedding.token_weights": "none",
    "index.nice": 0,
}

_LIST = (
    "anchor basalt cobalt dagger ember fathom garnet harbour ivory juniper kestrel lantern marble nectar "
    "obsidian pewter quartz raven saffron timber umber velvet willow xylem yarrow zephyr"
)
WORDS = _LIST.split()
QUERIES = [f"{a} {b}" for a, b in zip(WORDS, [*WORDS[7:], *WORDS[:7]], strict=True)] + WORDS[:24]
QUERY_WORDS = [*WORDS, *(str(number) for number in range(24))]
_NEAREST = 40
_TOLERANCE = 2e-3


def child_environment() -> dict[str, str]:
    """For a script that runs in a process of its own and imports what tests share, as they do."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def sized(small: int, full: int) -> int:
    """How much to do: `SLOW_SIZE=full` is what `make torture` runs."""
    return full if FULL else small


class InProcessPool:
    """The pool's contract without processes: a kill or an injected fault then hits every step of the work."""

    def __init__(self, start: Callable[[], NoteWorker]) -> None:
        self._start = start
        self._worker: NoteWorker | None = None
        self._begun: Job | None = None

    def run(self, jobs: Iterable[Job], *, fresh: bool = False) -> Iterator[tuple[Job, Outcome | Died]]:  # noqa: ARG002
        for job in jobs:
            yield from self.each(job)

    def each(self, job: Job) -> Iterator[tuple[Job, Outcome | Died]]:
        self._worker = self._worker or self._start()
        yield job, self._worker.handle(job)

    @property
    def has_workers(self) -> bool:
        return self._worker is not None

    def begin(self, job: Job) -> None:
        self._begun = job

    def result(self) -> tuple[Job, Outcome | Died] | None:
        job, self._begun = self._begun, None
        return None if job is None else next(self.each(job))

    def become(self, other: InProcessPool) -> None:
        self._start, self._worker = other._start, None

    def stop(self) -> None:
        """No job runs when another thread could call this."""

    def close(self) -> None:
        self._begun = None
        if self._worker is not None:
            self._worker = None
            gc.collect()  # as a process does that ends: what it has open is closed now


class ModelDownPool(InProcessPool):
    """No vector can be made."""

    def each(self, job: Job) -> Iterator[tuple[Job, Outcome | Died]]:
        if isinstance(job, EmbedJob):
            yield job, Failed("the model is down")
        else:
            yield from super().each(job)


def in_process_pool(worker: WorkerSpec, size: int) -> Pool:
    return cast(Pool, InProcessPool(lambda: start_worker(worker)))


def pools_of(kind: type[InProcessPool]) -> Callable[[WorkerSpec, int], Pool]:
    """For `Assembly.make_pool`: pools of this kind."""
    return lambda worker, _size: cast(Pool, kind(lambda: start_worker(worker)))


def in_one_process(target: Target) -> Assembly:
    """The real composition, with all its work in this process."""
    return replace(Assembly.of(target), make_pool=in_process_pool)


def is_slow(_settings: EmbeddingSettings) -> bool:
    """For `Assembly.is_slow`: every model is, so what an edit needs beyond a little is owed."""
    return True


def assembly_of(vault: Path, index: Path, options: Mapping[str, OptionValue] | None = None) -> Assembly:
    target = resolve_target(vault, index, None, environ={}, options={**OPTIONS, **(options or {})})
    return in_one_process(target)


def unheard(_progress: Progress) -> None:
    """Nobody listens."""


@contextmanager
def opened(assembly: Assembly) -> Iterator[LocalSession]:
    """The index, built if need be and in step with the vault."""
    session = LocalSession(assembly)
    try:
        session.open(unheard, build=True)
        yield session
    finally:
        session.close()


Place = tuple[str, int]


@dataclass(frozen=True)
class Told:
    """All that an index tells: its export, for fifty words every chunk that the keyword index finds, and for
    fifty queries the nearest vectors with their cosines.

    The fused ranking is not compared: as with Whoosh, chunks that were deleted count in the statistics of
    BM25F until their segment is merged, so its scores depend a little on the history.
    """

    export: list[str]
    words: list[set[Place]]
    nearest: list[dict[Place, float]]


def told_by(session: LocalSession | DaemonSession) -> Told:
    return told_in(session.reader().holder)


def told_in(holder: SnapshotHolder) -> Told:
    with holder.lease() as snapshot:
        words = [_places(snapshot, snapshot.keywords.keys_containing([word])) for word in QUERY_WORDS]
        near = [_nearest(snapshot, vector) for vector in _query_vectors()]
        return Told(list(export_lines(snapshot.catalog)), [set(places.values()) for places in words], near)


def told_by_a_fresh_build(vault: Path, index: Path) -> Told:
    with opened(assembly_of(vault, index)) as session:
        return told_by(session)


def assert_equal(found: Told, fresh: Told) -> None:
    ours, theirs = set(found.export), set(fresh.export)
    assert found.export == fresh.export, (
        f"only here: {_short(ours - theirs)}\nonly in a fresh build: {_short(theirs - ours)}"
    )
    for word, one, other in zip(QUERY_WORDS, found.words, fresh.words, strict=True):
        assert one == other, f"{word!r} is found elsewhere than by a fresh build"
    for query, near, fresh_near in zip(QUERIES, found.nearest, fresh.nearest, strict=True):
        assert not _differ(near, fresh_near), f"{query!r} is near other chunks than in a fresh build"


def _short(lines: Iterable[str]) -> str:
    return "\n  ".join(line[:400] for line in sorted(lines)[:6])


@cache
def _query_vectors() -> list[Matrix]:
    embedder = WordLlamaEmbedder()
    return [embedder.embed_query(query) for query in QUERIES]


def _places(snapshot: Snapshot, keys: Keys) -> dict[int, Place]:
    rows = snapshot.catalog.chunks(keys.tolist())
    notes = snapshot.catalog.notes({row.note_id for row in rows.values()})
    return {key: (notes[row.note_id].path, row.chunk.chunk_index) for key, row in rows.items()}


def _nearest(snapshot: Snapshot, query: Matrix) -> dict[Place, float]:
    keys, scores = snapshot.vectors.search(query, _NEAREST)
    places = _places(snapshot, keys)
    return {places[int(key)]: float(score) for key, score in zip(keys, scores, strict=True)}


def _differ(one: dict[Place, float], other: dict[Place, float]) -> list[Place]:
    """Places whose cosines differ by more than float16 explains, or that only one has although they are
    nearer than the last of the other."""
    last = max(min(near.values(), default=-1.0) for near in (one, other)) + 2 * _TOLERANCE
    return [
        place
        for place in one.keys() | other.keys()
        if abs(one.get(place, -1.0) - other.get(place, -1.0)) > _TOLERANCE
        and max(one.get(place, -1.0), other.get(place, -1.0)) > last
    ]


def note_text(rng: random.Random, names: list[str]) -> str:
    """A note with headings, links (some to nowhere), tags and now and then properties."""
    lines: list[str] = []
    if rng.random() < 0.3:
        lines += [
            "---",
            f"aliases: [{rng.choice(WORDS)} {rng.randrange(99)}]",
            f"tags: [{rng.choice(WORDS)}]",
        ]
        lines += ["---", ""]
    for _ in range(rng.randint(1, 4)):
        lines += [f"{'#' * rng.randint(1, 3)} {rng.choice(WORDS).title()} {rng.randrange(50)}", ""]
        for _ in range(rng.randint(1, 3)):
            words = rng.choices(WORDS, k=rng.randint(5, 60))
            if names:
                words.insert(rng.randrange(len(words)), f"[[{rng.choice(names).removesuffix('.md')}]]")
            if rng.random() < 0.3:
                words.append(
                    f"#{rng.choice(WORDS)}/{rng.choice(WORDS)} ^{rng.choice(WORDS)}{rng.randrange(9)}"
                )
            lines += [" ".join(words), ""]
    return "\n".join(lines)


def make_vault(root: Path, rng: random.Random, notes: int) -> Path:
    root.mkdir(parents=True)
    names = [
        f"{rng.choice(['', 'Sub/', 'Sub/Deep/', 'Über/'])}{rng.choice(WORDS)} {n}.md" for n in range(notes)
    ]
    for name in names:
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(note_text(rng, [*names, "Nowhere"]).encode())
    return root
