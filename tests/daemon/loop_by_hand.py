"""The daemon's real loop, stepped by a test: no thread, no process, and a clock that only the test moves."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest
from reliability_lab import InProcessPool, is_slow
from vault_at_work import Place, built_by_wordllama, copy_of

from vault_indexer.daemon.assembly import Assembly, OpenGeneration
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.daemon.loop import IndexLoop, Pace
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.index.jobs import Job, Outcome, Pool, PrepareJob
from vault_indexer.index.note_workers import WorkerSpec, start_worker
from vault_indexer.index.workers.pool import Died, Failed
from vault_indexer.model import SearchRequest
from vault_indexer.vault.watch import Sink, SystemHooks, VaultWatcher


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Faults:
    """What goes wrong at the moment: the reading of every note fails, or of those of `poison`; those of
    `deadly` end their worker. The reading of each takes `seconds`."""

    everything: bool = False
    poison: set[str] = field(default_factory=set)
    deadly: set[str] = field(default_factory=set)
    seconds: float = 0.0
    meanwhile: Callable[[], None] = lambda: None
    """Called before each job."""
    afterwards: Callable[[], None] = lambda: None
    """Called after each job, before its result is known."""
    look: Callable[[], None] = lambda: None
    """Called before and after each job, whatever the test does then."""

    def mend(self) -> None:
        """Nothing goes wrong any more."""
        self.everything, self.seconds = False, 0.0
        self.poison.clear()
        self.deadly.clear()

    def hit(self, job: Job) -> Failed | Died | None:
        if not isinstance(job, PrepareJob):
            return None
        if self.everything or not self.poison.isdisjoint(job.paths):
            return Failed("the model is down")
        return Died(fresh=True) if not job.quarantine and not self.deadly.isdisjoint(job.paths) else None


class FaultyPool(InProcessPool):
    def __init__(self, worker: WorkerSpec, faults: Faults, clock: Clock) -> None:
        super().__init__(lambda: start_worker(worker))
        self.spec = worker
        self._faults = faults
        self._clock = clock

    def become(self, other: InProcessPool) -> None:
        super().become(other)
        self.spec = cast(FaultyPool, other).spec

    def each(self, job: Job) -> Iterator[tuple[Job, Outcome | Died]]:
        self._faults.meanwhile()
        self._faults.look()
        self._clock.now += self._faults.seconds
        fault = self._faults.hit(job)
        done = [(job, fault)] if fault else list(super().each(job))
        self._faults.afterwards()
        self._faults.look()
        yield from done


class Hints:
    """Implements Source: the test says what has changed."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink

    def start(self) -> None:
        """Nothing is watched."""

    def stop(self) -> None:
        """Nothing is watched."""

    def fault(self) -> str:
        return ""


@dataclass
class LoopByHand:
    """`where` holds a vault with its index."""

    where: Place
    loop: IndexLoop
    vault_sync: VaultSync
    clock: Clock
    faults: Faults
    hints: list[Hints]
    specs: list[WorkerSpec]
    """What was asked of each pool, as it was made."""
    compared: bool = True
    early: list[str] = field(default_factory=list)
    """What was wrong in the index at any moment at which nothing was pending and no notice stood."""

    @property
    def current(self) -> OpenGeneration:
        """What is searched now."""
        assert self.vault_sync.current is not None
        return self.vault_sync.current

    @property
    def reading(self) -> WorkerSpec:
        """By which notes are read now."""
        return cast(FaultyPool, cast(object, self.current.writer.pool)).spec

    def save(self, name: str, text: str) -> None:
        self.where.write(name, text)
        self.hint(name)

    def delete(self, name: str) -> None:
        (self.where.vault / name).unlink(missing_ok=True)
        self.hint(name)

    def hint(self, name: str) -> None:
        self.hints[-1].sink.file_changed(name)

    def request_scan(self) -> None:
        """As the regular scan of the whole vault."""
        self.hints[-1].sink.events_lost("a test")

    def saved_text(self, name: str) -> str:
        return (self.where.vault / name).read_text("utf-8")

    def indexed_text(self, name: str) -> str | None:
        """None where the note is not indexed."""
        with self.current.reader.holder.lease() as snapshot:
            note = snapshot.catalog.note(name)
            return None if note is None else snapshot.catalog.text(note.note_id)

    def run(self, seconds: float, tick_s: float = 0.25) -> None:
        """So much time passes, and the loop looks at everything again and again."""
        end = self.clock.now + seconds
        while self.clock.now < end:
            self.clock.now += tick_s
            self.loop.step()
            self.look()

    def look(self) -> None:
        """Another thread asks whether anything is pending, and compares the index with the vault. A daemon
        that was stopped answers no more."""
        if (
            not self.compared
            or self.loop.is_stopping
            or self.loop.pending()
            or self.notices
            or not self.where.vault.exists()
        ):
            return
        with self.current.reader.holder.lease() as snapshot:
            rows = [row.path for row in snapshot.catalog.files() if row.state == "note"]
        indexed = {path: self.indexed_text(path) for path in rows}
        found = self.where.vault.rglob("*.md")
        saved = {file.relative_to(self.where.vault).as_posix(): file.read_text("utf-8") for file in found}
        aside = self.vault_sync.quarantine()
        wrong = [path for path in {**indexed, **saved} if indexed.get(path) != saved.get(path)]
        self.early += [path for path in wrong if path not in aside]

    def holding(self, word: str) -> set[str]:
        with self.current.reader.holder.lease() as snapshot:
            found = self.current.reader.searcher.search(snapshot, SearchRequest(word, limit=200))
        return {hit.path for hit in found.hits if word in hit.content}

    @property
    def notices(self) -> tuple[str, ...]:
        state = self.loop.state
        return (*state.fault_texts, *state.task_faults, *filter(None, [state.vault_problem]))


@contextmanager
def loop_by_hand(where: Place, *, slow: bool = False, compared: bool = True) -> Iterator[LoopByHand]:
    """The loop of a vault whose index is built, after its first scan. With a `slow` model, what a large edit
    needs is owed. `compared`: at each step at which nothing is pending the index is compared with the
    vault."""
    clock, faults, hints, specs = Clock(), Faults(), list[Hints](), list[WorkerSpec]()

    def make_pool(worker: WorkerSpec, size: int) -> Pool:
        specs.append(worker)
        return cast(Pool, FaultyPool(worker, faults, clock))

    def source(_vault: Path, _rules: object, sink: Sink, _limit: object) -> Hints:
        hints.append(Hints(sink))
        return hints[-1]

    assembly = replace(Assembly.of(where.target()), make_pool=make_pool)
    if slow:
        assembly = replace(assembly, is_slow=is_slow)
    lock = IndexLock(assembly.index_dir.root, "a test")
    lock.acquire()
    vault_sync = VaultSync(assembly, live=True, clock=clock)
    system = SystemHooks(monotonic=clock, wall=clock, mounts=lambda: "", source=source)
    watch = assembly.settings.watch
    watcher = VaultWatcher(assembly.vault, vault_sync.rules, watch, system, vault_sync.dirty)
    reasons = vault_sync.open_current()
    loop = IndexLoop(vault_sync, watcher, lock, reasons, Pace(clock, 0.0))
    watcher.start()
    try:
        made = LoopByHand(where, loop, vault_sync, clock, faults, hints, specs, compared)
        faults.look = made.look
        made.run(1.0)
        yield made
    finally:
        loop.stop()
        loop.run()  # ends the tasks
        vault_sync.close()
        lock.release()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return built_by_wordllama(tmp_path_factory.mktemp("built"))


@pytest.fixture
def kept(built: Place, tmp_path: Path) -> Iterator[LoopByHand]:
    """The loop of a copy of the vault, with nothing pending."""
    with loop_by_hand(copy_of(built, tmp_path)) as made:
        assert made.loop.pending() == 0
        yield made
