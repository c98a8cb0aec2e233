"""What a daemon's index lives through while it is asked: idleness, crowds, a rebuild, a storm of edits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

from speed.figures import NO_TIMES, Times, clocked
from speed.sides import Ask, Side, await_ready
from vault_indexer.errors import VaultIndexerError

COLD, IDLE, CROWD, REBUILD, STORM = (
    "first pass after opening",
    "idle, warm",
    "16 clients at once",
    "under a rebuild",
    "under a storm of edits",
)
CLIENTS = 16
_CROWD_SEARCHES = 1_600
_ENOUGH = 300
"""A rebuild that ends sooner is done again, so that a 99th percentile means something."""
_MOST_REBUILDS = 5
_STORM_NOTES = 100
_STORM_FOLDER = "storm of edits"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is done at most."""

    rounds: int
    storm_s: float
    edits_per_s: float
    limit_s: float


@dataclass(slots=True)
class Observed:
    """One scenario on one side. `failures` are searches without an answer; they have no time."""

    side: str
    scenario: str
    times: Times = NO_TIMES
    seconds: float = 0.0
    failures: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Answers a second, all clients together."""
        return len(self.times.ms) / self.seconds if self.seconds else 0.0


def all_scenarios(side: Side, queries: Sequence[str], vault: Path, bounds: Bounds) -> Iterator[Observed]:
    """One after the other, on an index that was just opened. `vault` is written to, and left as it was."""
    yield _observed(side, COLD, queries, lambda passes: passes >= 1)
    yield _observed(side, IDLE, queries, lambda passes: passes >= bounds.rounds)
    yield _crowd(side, queries)
    yield _while_busy(side, REBUILD, queries, _Rebuilding(side, bounds))
    yield _while_busy(side, STORM, queries, _Storm(side, vault, bounds))


def _observed(side: Side, scenario: str, queries: Sequence[str], done: Callable[[int], bool]) -> Observed:
    observed = Observed(side.name, scenario)
    with side.client() as ask:
        _ask_all(ask, queries, observed, done)
    return observed


def _ask_all(ask: Ask, queries: Sequence[str], observed: Observed, done: Callable[[int], bool]) -> None:
    """Pass after pass, one query after the other without a pause, until `done` (asked after each query with
    the number of whole passes)."""
    taken: list[float] = []
    started = time.perf_counter()
    asked = 0
    while not done(asked // len(queries)):
        query = queries[asked % len(queries)]
        asked += 1
        try:
            taken.append(clocked(lambda: ask(query))[0])  # noqa: B023 (called at once)
        except (VaultIndexerError, HTTPException, OSError) as error:
            said = f"{type(error).__name__}: {error}"
            observed.failures[said] = observed.failures.get(said, 0) + 1
    observed.seconds = time.perf_counter() - started
    observed.times = Times.of([*observed.times.ms, *taken])


def _crowd(side: Side, queries: Sequence[str]) -> Observed:
    """Each client begins elsewhere among the queries; all begin together."""
    each = max(1, _CROWD_SEARCHES // CLIENTS)
    gate = threading.Barrier(CLIENTS + 1)
    parts = [Observed(side.name, CROWD) for _ in range(CLIENTS)]

    def client(number: int) -> None:
        start = number * len(queries) // CLIENTS
        own = [queries[(start + at) % len(queries)] for at in range(each)]
        with side.client() as ask:
            gate.wait()
            _ask_all(ask, own, parts[number], lambda passes: passes >= 1)

    threads = [threading.Thread(target=client, args=(number,), daemon=True) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    gate.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    whole = Observed(side.name, CROWD, seconds=time.perf_counter() - started)
    whole.times = Times.of(ms for part in parts for ms in part.times.ms)
    for part in parts:
        for said, count in part.failures.items():
            whole.failures[said] = whole.failures.get(said, 0) + count
    return whole


class _Rebuilding:
    """Rebuilds, once or until there are enough searches."""

    def __init__(self, side: Side, bounds: Bounds) -> None:
        self._side = side
        self._limit_s = bounds.limit_s
        self.notes: list[str] = []
        self._seconds: list[float] = []
        self._asked = 0

    @contextmanager
    def busy(self) -> Iterator[Callable[[int], bool]]:
        thread = threading.Thread(target=self._work, daemon=True)
        thread.start()
        until = time.monotonic() + self._limit_s

        def done(_passes: int) -> bool:
            self._asked += 1
            return not thread.is_alive() or time.monotonic() > until

        yield done
        thread.join(self._limit_s)
        told = ", ".join(f"{seconds:.1f} s" for seconds in self._seconds)
        self.notes.append(f"rebuilt in {told}" if told else f"no rebuild ended within {self._limit_s:.0f} s")
        if thread.is_alive():
            self.notes.append("a rebuild was still running afterwards")

    def _work(self) -> None:
        try:
            while self._asked < _ENOUGH and len(self._seconds) < _MOST_REBUILDS:
                self._seconds.append(clocked(self._side.rebuild)[0] / 1000)
        except (VaultIndexerError, OSError) as error:
            self.notes.append(f"the rebuild failed: {error}")


class _Storm:
    """Saves of notes one after the other; every tenth one deletes its note, which comes back with the next
    round. Notes are made from those of the vault, in a folder that is removed at the end."""

    def __init__(self, side: Side, vault: Path, bounds: Bounds) -> None:
        self._side = side
        self._bounds = bounds
        self._folder = vault / _STORM_FOLDER
        self._models = [path.read_bytes() for path in sorted(vault.rglob("*.md"))[:: _every(vault)]]
        self._stop = threading.Event()
        self._edits = 0
        self.notes: list[str] = []

    @contextmanager
    def busy(self) -> Iterator[Callable[[int], bool]]:
        self._folder.mkdir()
        before = self._side.state()[2]
        thread = threading.Thread(target=self._work, daemon=True)
        thread.start()
        until = time.monotonic() + self._bounds.storm_s
        try:
            yield lambda _passes: time.monotonic() > until
            self._stop.set()
            thread.join()
            self._settle(before)
        finally:
            self._stop.set()
            thread.join()
            for note in self._folder.iterdir():
                note.unlink()
            self._folder.rmdir()

    def _settle(self, before: int) -> None:
        try:
            time.sleep(1)  # the debounce: until then nothing is known to be pending
            waited = await_ready(self._side, self._bounds.limit_s) + 1
            commits = self._side.state()[2] - before
            rate = f"{self._edits} edits at {self._edits / self._bounds.storm_s:.0f}/s"
            self.notes.append(f"{rate}, {commits} commits, in step {waited:.1f} s after the last")
        except VaultIndexerError as error:
            self.notes.append(str(error))

    def _work(self) -> None:
        """At its rate, or as fast as the disk lets it."""
        started = time.monotonic()
        while not self._stop.wait(
            max(0.0, started + self._edits / self._bounds.edits_per_s - time.monotonic())
        ):
            number = self._edits % _STORM_NOTES
            note = self._folder / f"note {number}.md"
            if self._edits % 10 == 9 and note.exists():
                note.unlink()
            else:
                text = self._models[number % len(self._models)]
                note.write_bytes(text + f"\n\nEdit {self._edits} of the storm.\n".encode())
            self._edits += 1


def _every(vault: Path) -> int:
    return max(1, sum(1 for _ in vault.rglob("*.md")) // _STORM_NOTES)


def _while_busy(side: Side, scenario: str, queries: Sequence[str], work: _Rebuilding | _Storm) -> Observed:
    observed = Observed(side.name, scenario)
    busy: AbstractContextManager[Callable[[int], bool]] = work.busy()
    with busy as done, side.client() as ask:
        _ask_all(ask, queries, observed, done)
    observed.notes = work.notes
    return observed
