"""The measures of a run, query by query: kept in a file, so that two checkouts can be compared."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quality.measures import MEASURES, OPENS, Mean, PairedDifference
from quality.queries import ASIDE, TUNE, Query

ALL = "all"
COLUMNS = (*MEASURES, OPENS)
PARTS = (TUNE, ASIDE, ALL)
Values = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class MeasuredQuery:
    """A query of a run. `number` counts the queries of a set with the same text and kind, from 0."""

    kind: str
    text: str
    split: str
    number: int


@dataclass(frozen=True, slots=True)
class SetRun:
    """The measures of a set: for each variant one row a query, in the order of `queries`."""

    name: str
    measures: tuple[str, ...]
    queries: tuple[MeasuredQuery, ...]
    variants: Mapping[str, Values]

    def parts(self, wanted: Sequence[str], *, kinds: bool) -> Iterator[tuple[str, list[int]]]:
        """The name of each part of the set, and which queries it holds."""
        for part in wanted:
            yield part, [at for at, query in enumerate(self.queries) if part in (query.split, ALL)]
        for kind in sorted({query.kind for query in self.queries}) if kinds else ():
            yield kind, [at for at, query in enumerate(self.queries) if query.kind == kind]


def identified(queries: Iterable[Query]) -> tuple[MeasuredQuery, ...]:
    """The queries as a run names them."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for query in queries:
        key = (query.kind, query.text)
        found.append(MeasuredQuery(query.kind, query.text, query.split, seen[key]))
        seen[key] += 1
    return tuple(found)


def sampled(queries: Sequence[MeasuredQuery], most: int) -> list[int]:
    """Which of the queries to ask where not all are: the same in every checkout, by a hash of the text."""
    by_hash = sorted(
        range(len(queries)), key=lambda at: hashlib.sha256(queries[at].text.encode()).digest()[1:]
    )
    return sorted(by_hash[:most])


def save(runs: Iterable[SetRun], file: Path) -> None:
    """Write the runs as JSON."""
    told = [
        {
            "set": run.name,
            "measures": run.measures,
            "queries": [[one.kind, one.text, one.split, one.number] for one in run.queries],
            "variants": run.variants,
        }
        for run in runs
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(told, ensure_ascii=False), "utf-8")


def load(file: Path) -> dict[str, SetRun]:
    """The runs of a file that `save` wrote, by the name of the set."""
    return {
        one["set"]: SetRun(
            one["set"],
            tuple(one["measures"]),
            tuple(MeasuredQuery(*query) for query in one["queries"]),
            one["variants"],
        )
        for one in json.loads(file.read_text("utf-8"))
    }


def with_variants(run: SetRun, wanted: Sequence[str]) -> SetRun:
    """The run with those of the wanted variants that it has."""
    return replace(run, variants={label: run.variants[label] for label in wanted if label in run.variants})


def paired(old: SetRun, new: SetRun) -> tuple[SetRun, SetRun]:
    """Both runs with the queries, variants and measures that both have, in the same order."""
    at_old = {query: at for at, query in enumerate(old.queries)}
    shared = [(at_old[query], at) for at, query in enumerate(new.queries) if query in at_old]
    measures = tuple(name for name in new.measures if name in old.measures)
    variants = [label for label in new.variants if label in old.variants]
    return (
        _restricted(old, [at for at, _ in shared], measures, variants),
        _restricted(new, [at for _, at in shared], measures, variants),
    )


def _restricted(
    run: SetRun, queries: Sequence[int], measures: tuple[str, ...], variants: Sequence[str]
) -> SetRun:
    columns = [run.measures.index(name) for name in measures]
    values = {
        label: [[run.variants[label][at][column] for column in columns] for at in queries]
        for label in variants
    }
    return SetRun(run.name, measures, tuple(run.queries[at] for at in queries), values)


def rows(run: SetRun, wanted: Sequence[str], *, kinds: bool) -> Iterator[str]:
    """A Markdown row for each part and variant."""
    for part, at in run.parts(wanted, kinds=kinds):
        for variant in run.variants if at else ():
            cells = [str(Mean.of(values)) for values in _columns(run, variant, at)]
            yield _row(f"{run.name}, {part}, {len(at)}", variant, cells)


def compared_rows(old: SetRun, new: SetRun, wanted: Sequence[str], *, kinds: bool) -> Iterator[str]:
    """Three Markdown rows for each part and variant: old, new, and the change. The runs are `paired`."""
    for part, at in new.parts(wanted, kinds=kinds):
        for variant in new.variants if at else ():
            pairs = list(zip(_columns(old, variant, at), _columns(new, variant, at), strict=True))
            label = f"{new.name}, {part}, {len(at)}"
            yield _row(label, f"{variant}, old", [str(Mean.of(before)) for before, _ in pairs])
            yield _row(label, f"{variant}, new", [str(Mean.of(after)) for _, after in pairs])
            yield _row(label, f"{variant}, change", [str(PairedDifference.of(*pair)) for pair in pairs])


def mean_rows(runs: Sequence[SetRun], wanted: Sequence[str]) -> Iterator[str]:
    """A Markdown row for each part and variant: the mean over the sets."""
    for part in wanted:
        for variant in _shared_variants(runs):
            cells = [str(Mean.of_sets(values)) for values in _by_set(runs, variant, part)]
            yield _row(f"mean of {len(runs)} sets, {part}", variant, cells)


def compared_mean_rows(pairs: Sequence[tuple[SetRun, SetRun]], wanted: Sequence[str]) -> Iterator[str]:
    """A Markdown row for each part and variant: the mean change over the sets, each (old, new), `paired`."""
    old, new = [before for before, _ in pairs], [after for _, after in pairs]
    for part in wanted:
        for variant in _shared_variants(new):
            before, after = _by_set(old, variant, part), _by_set(new, variant, part)
            columns = zip(before, after, strict=True)
            cells = [str(PairedDifference.of_sets(*column)) for column in columns]
            yield _row(f"mean of {len(new)} sets, {part}", f"{variant}, change", cells)


def _shared_variants(runs: Sequence[SetRun]) -> list[str]:
    return [label for label in runs[0].variants if all(label in run.variants for run in runs)]


def _by_set(runs: Sequence[SetRun], variant: str, part: str) -> list[list[list[float]]]:
    """For each measure that all sets have, the values by set, without the sets that have no such query."""
    columns = []
    for run in runs:
        ((_, at),) = run.parts([part], kinds=False)
        if at:
            columns.append(_columns(run, variant, at)[: len(MEASURES)])
    return [list(by_set) for by_set in zip(*columns, strict=True)]


def header() -> str:
    """The first two lines of a table."""
    return _row("set, part, queries", "by", COLUMNS) + "\n| --- | --- |" + " ---: |" * len(COLUMNS)


def _columns(run: SetRun, variant: str, at: Sequence[int]) -> list[list[float]]:
    return [[run.variants[variant][query][column] for query in at] for column in range(len(run.measures))]


def _row(label: str, variant: str, cells: Sequence[str]) -> str:
    """A set that lacks the last measures leaves their cells empty."""
    padded = [*cells, *[""] * (len(COLUMNS) - len(cells))]
    return f"| {label} | {variant} | " + " | ".join(padded) + " |"
