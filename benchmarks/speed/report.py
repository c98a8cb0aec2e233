"""The measured as Markdown: what was measured on what, the tables, and the targets."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from speed.commands import SEARCH, Command
from speed.figures import NO_TIMES, Times, shown, table
from speed.scenarios import IDLE, REBUILD, STORM, Observed
from speed.trials import HYBRID, KEYWORD, OUR_WORDS, OURS, TANTIVY, Engine, Trial, agreement
from vault_indexer.model import IndexCounts

_DAEMON = "daemon, HTTP"
_YES, _NO, _UNKNOWN = "yes", "**no**", "not measured"


@dataclass(slots=True)
class Results:
    """All that one run measured."""

    vault: str
    machine: str
    counts: IndexCounts
    dimension: int
    queries: tuple[int, int]
    index_note: str
    load: str = field(default_factory=lambda: _load())
    observed: list[Observed] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    trials: list[tuple[Engine, Trial]] = field(default_factory=list)
    memory: tuple[float, list[float]] = (math.nan, [])

    def trial(self, name: str) -> Trial | None:
        """The trial of an engine, if it was measured."""
        return next((trial for engine, trial in self.trials if engine.name == name and trial.first.ms), None)


@dataclass(frozen=True, slots=True)
class Target:
    """What was promised; `measured` NaN means that it was not measured."""

    what: str
    limit: float
    measured: float
    unit: str

    @property
    def verdict(self) -> str:
        """Whether it is kept."""
        if math.isnan(self.measured):
            return _UNKNOWN
        return _YES if self.measured <= self.limit else _NO


def report(results: Results) -> str:
    """The whole page."""
    return "\n\n".join(
        (
            f"## Search speed: {results.vault}",
            _about(results),
            "### A daemon's index while it is asked",
            _scenario_table(results.observed),
            "### Commands as processes",
            _command_table(results.commands),
            "### The same queries by other engines, over the same chunks and vectors",
            _ENGINES_NOTE,
            *(_engine_table(results, group) for group in dict.fromkeys(e.group for e, _ in results.trials)),
            "### Targets",
            _target_table(results),
        )
    )


_ENGINES_NOTE = """\
Each engine in a process of its own, one after the other, one query at a time. "First" is the first pass over
the queries after opening, "warm" the passes after it. Ratios are to the row with 1.00 in the same table,
warm: above 1 an engine is slower. "CPU" is the mean processor time of a warm query, over all threads:
other programs on the machine change it less. "Shared hits" is the mean share of its ten best that are also
among the ten of that row: engines that found other things did other work."""


def _about(results: Results) -> str:
    counts, (from_notes, from_file) = results.counts, results.queries
    lines = [
        f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}. Machine: {results.machine}; load average",
        f"{results.load} before, {_load()} after. Python {platform.python_version()}.",
        f"{counts.notes:,} notes, {counts.chunks:,} chunks, vectors of {results.dimension} dimensions;",
        f"{results.index_note}.",
        f"{from_notes} queries of three to six words from notes and {from_file} written ones.",
        "Times in milliseconds.",
    ]
    return "\n".join(lines)


def machine(told: str | None) -> str:
    """What the user says of it, else what the system tells."""
    if told:
        return told
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores (shared with whatever else runs), {platform.system()} {platform.machine()}"


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _cells(times: Times) -> list[str]:
    return [shown(value) for value in (times.p50, times.p95, times.p99, times.at(1.0))]


def _scenario_table(observed: Sequence[Observed]) -> str:
    idle = {one.side: one.times.p95 for one in observed if one.scenario == IDLE}
    rows = []
    for one in observed:
        told = [*one.notes, *(f"{count} failed: {said}" for said, count in one.failures.items())]
        ratio = one.times.p95 / idle.get(one.side, math.nan)
        rows.append(
            [
                one.side,
                one.scenario,
                f"{len(one.times.ms):,}",
                *_cells(one.times),
                shown(ratio),
                f"{one.per_second:,.0f}",
                "; ".join(told),
            ]
        )
    head = ["asked", "while", "searches", "p50", "p95", "p99", "slowest", "p95 / idle p95", "a second", ""]
    return table(head, rows)


def _command_table(commands: Sequence[Command]) -> str:
    rows = [
        [one.name, str(len(one.times.ms)), *(shown(t) for t in (one.times.p50, one.times.at(1.0))), one.note]
        for one in commands
    ]
    return table(["command", "runs", "median", "slowest", ""], rows)


def _engine_table(results: Results, group: str) -> str:
    rows = [_engine_row(results, engine, trial) for engine, trial in results.trials if engine.group == group]
    head = [
        group,
        "ready",
        "first p50",
        "first p95",
        "warm p50",
        "warm p95",
        "warm p99",
        "CPU",
        "p50 ×",
        "p95 ×",
    ]
    return table([*head, "shared hits", "memory", ""], rows)


def _engine_row(results: Results, engine: Engine, trial: Trial) -> list[str]:
    if not trial.first.ms:
        return [engine.name, *["–"] * 11, trial.note]
    base = results.trial(engine.base)
    best = trial.first if engine.is_cold else trial.warm
    ratios = [best.p50 / base.warm.p50, best.p95 / base.warm.p95] if base else [math.nan] * 2
    warm = ["–"] * 3 if engine.is_cold else _cells(trial.warm)[:3]
    return [
        engine.name,
        f"{trial.ready_s:.1f} s",
        shown(trial.first.p50),
        shown(trial.first.p95),
        *warm,
        shown(trial.cpu_ms),
        *(shown(ratio) for ratio in ratios),
        f"{agreement(base, trial):.0%}" if base else "–",
        f"{trial.memory_mb:,.0f} MB",
        trial.note,
    ]


def _target_table(results: Results) -> str:
    rows = [
        [one.what, f"≤ {one.limit:g} {one.unit}", f"{shown(one.measured)} {one.unit}", one.verdict]
        for one in targets(results)
    ]
    return table(["target", "promised", "measured", "kept"], rows)


def targets(results: Results) -> Iterator[Target]:
    """Those of the design, which are for about 80,000 chunks on two quiet cores, and those of the issue."""
    times = {(one.side, one.scenario): one.times for one in results.observed}
    none = NO_TIMES
    idle = times.get((_DAEMON, IDLE), none)
    yield Target("hybrid search in the daemon, p50", 8, idle.p50, "ms")
    yield Target("hybrid search in the daemon, p95", 25, idle.p95, "ms")
    for side in dict.fromkeys(one.side for one in results.observed):
        own = times.get((side, IDLE), none)
        for scenario in (REBUILD, STORM):
            ratio = times.get((side, scenario), none).p95 / own.p95
            yield Target(f"p95 {scenario}, {side}", 3, ratio, "× idle")
    search = [one.times.p50 for one in results.commands if one.name == SEARCH]
    yield Target(f"{SEARCH}, median", 250, search[0] if search else math.nan, "ms")
    yield from _peer_targets(results)
    yield Target("memory of the daemon after all runs", 700, results.memory[0], "MB")
    together = results.memory[0] + sum(results.memory[1])
    yield Target(f"the same with the {len(results.memory[1])} processes it has started", 700, together, "MB")


def _peer_targets(results: Results) -> Iterator[Target]:
    for base, group in ((OURS, HYBRID), (OUR_WORDS, KEYWORD)):
        ours = results.trial(base)
        peers = [engine for engine, _ in results.trials if engine.is_peer and engine.group == group]
        for engine in peers:
            theirs = results.trial(engine.name)
            known = ours is not None and theirs is not None
            ratio = ours.warm.p50 / theirs.warm.p50 if ours and theirs and known else math.nan
            limit = 3 if engine.name == TANTIVY else 1
            yield Target(f"{base} ({group}, warm p50) against {engine.name}", limit, ratio, "× its")


def vault_name(vault: Path) -> str:
    """What the vault is called, without where it is."""
    return vault.resolve().name
