"""Vaults to be maltreated, indices of them, and the one comparison that counts: equal to a fresh build."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from vault_indexer.bootstrap import Assembly, Recipe, resolve_target, start_worker
from vault_indexer.config.sources import OptionValue
from vault_indexer.daemon.local import LocalKeeper
from vault_indexer.index.build import Pool
from vault_indexer.index.worker import Job, NoteWorker, Outcome
from vault_indexer.model import Progress, SearchRequest
from vault_indexer.service import VaultService

FULL = os.environ.get("SLOW_SIZE", "small") == "full"

# Token weights are fitted to a vault as it was at the build, so two builds rank alike only without them.
OPTIONS: Mapping[str, OptionValue] = {"embedding.token_weights": "none"}

WORDS = (
    "anchor basalt cobalt dagger ember fathom garnet harbour ivory juniper kestrel lantern marble nectar "
    "obsidian pewter quartz raven saffron timber umber velvet willow xylem yarrow zephyr"
).split()
QUERIES = [f"{a} {b}" for a, b in zip(WORDS, [*WORDS[7:], *WORDS[:7]], strict=True)] + WORDS[:24]


def sized(small: int, full: int) -> int:
    """How much to do: `SLOW_SIZE=full` is what `make torture` runs."""
    return full if FULL else small


class InProcessPool:
    """The pool's contract without processes: a kill or an injected fault then hits every step of the work."""

    def __init__(self, start: Callable[[], NoteWorker]) -> None:
        self._worker = start()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
        for job in jobs:
            yield job, self._worker.handle(job)

    def each(self, job: Job) -> Iterator[tuple[Job, Outcome]]:
        yield job, self._worker.handle(job)

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class OneProcess(Assembly):
    """The real composition, with all its work in this process."""

    def _pool(self, recipe: Recipe, size: int) -> Pool:
        return cast(Pool, InProcessPool(lambda: start_worker(recipe)))


def assembly_of(vault: Path, index: Path, options: Mapping[str, OptionValue] | None = None) -> OneProcess:
    target = resolve_target(vault, index, None, environ={}, options={**OPTIONS, **(options or {})})
    made = OneProcess.of(target)
    assert isinstance(made, OneProcess)
    return made


def unheard(_progress: Progress) -> None:
    """Nobody listens."""


@contextmanager
def opened(assembly: Assembly) -> Iterator[VaultService]:
    """The index, built if need be and in step with the vault."""
    keeper = LocalKeeper(assembly)
    try:
        keeper.open(unheard, build=True)
        yield VaultService(keeper)
    finally:
        keeper.close()


Ranking = list[tuple[float, str, int]]


@dataclass(frozen=True)
class Told:
    """All that an index tells: its export, and its answers to fifty queries."""

    export: list[str]
    rankings: list[Ranking]


def told_by(service: VaultService) -> Told:
    return Told(list(service.export()), [_ranking(service, query) for query in QUERIES])


def told_by_a_fresh_build(vault: Path, index: Path) -> Told:
    with opened(assembly_of(vault, index)) as service:
        return told_by(service)


def assert_equal(found: Told, fresh: Told) -> None:
    ours, theirs = set(found.export), set(fresh.export)
    assert found.export == fresh.export, (
        f"only here: {_short(ours - theirs)}\nonly in a fresh build: {_short(theirs - ours)}"
    )
    for query, one, other in zip(QUERIES, found.rankings, fresh.rankings, strict=True):
        assert one == other, f"{query!r} is ranked otherwise than by a fresh build"


def _short(lines: Iterable[str]) -> str:
    return "\n  ".join(line[:400] for line in sorted(lines)[:6])


def _ranking(service: VaultService, query: str) -> Ranking:
    """Equal scores come in the order of internal numbers, which two builds give differently; so they are
    sorted, and those that tie with the first one cut off are left out."""
    hits = service.search(SearchRequest(query, limit=12)).results
    last = round(hits[-1].score, 5) if len(hits) == 12 else -1.0
    ranked = [(round(hit.score, 5), hit.path, hit.chunk_index) for hit in hits]
    return sorted(row for row in ranked if row[0] > last)


def note_text(rng: random.Random, names: list[str]) -> str:
    """A note with headings, links (some to nowhere), tags and now and then properties."""
    lines: list[str] = []
    if rng.random() < 0.3:
        lines += ["---", f"aliases: [{rng.choice(WORDS)} {rng.randrange(99)}]", f"tags: [{rng.choice(WORDS)}]"]
        lines += ["---", ""]
    for _ in range(rng.randint(1, 4)):
        lines += [f"{'#' * rng.randint(1, 3)} {rng.choice(WORDS).title()} {rng.randrange(50)}", ""]
        for _ in range(rng.randint(1, 3)):
            words = rng.choices(WORDS, k=rng.randint(5, 60))
            if names:
                words.insert(rng.randrange(len(words)), f"[[{rng.choice(names).removesuffix('.md')}]]")
            if rng.random() < 0.3:
                words.append(f"#{rng.choice(WORDS)}/{rng.choice(WORDS)} ^{rng.choice(WORDS)}{rng.randrange(9)}")
            lines += [" ".join(words), ""]
    return "\n".join(lines)


def make_vault(root: Path, rng: random.Random, notes: int) -> Path:
    root.mkdir(parents=True)
    names = [f"{rng.choice(['', 'Sub/', 'Sub/Deep/', 'Über/'])}{rng.choice(WORDS)} {n}.md" for n in range(notes)]
    for name in names:
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(note_text(rng, [*names, "Nowhere"]), encoding="utf-8")
    return root


def wait_until(condition: Callable[[], bool], deadline_s: float, what: str) -> float:
    """Seconds until the condition holds. The only wait of these tests."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < deadline_s, f"not within {deadline_s:g} s: {what}"
        time.sleep(0.02)
    return time.monotonic() - start
