"""Fits the maps of `search/confidence.py`: what a hit's share and deviation say of its relevance.

    python benchmarks/confidence_fit.py [--table FILE]
    python benchmarks/confidence_fit.py --collect DATA [--work DIR] [--provider NAME,…] [--table FILE]

The first prints the maps that the table gives; a test compares them with the module. `--collect` writes the
table: the signs of the first hit of every third question (every sixth of `MORE_LANGUAGES`) of the sets near
and far, and of foreign for models that read whole sentences (`quality/unanswerable.py`). Only the tuning
halves go into it; a hash of the question divides the sets (`quality/queries.py`). A further model is one more
name for `--provider`.

A map is a logistic regression in which each side (answerable or not) of each set weighs alike. Then its base
is raised until "none" is said of at most 3% of the answerable questions of all its sets, or lowered until it
is said of at least 85% of those in the language of the notes whose article is hidden; where both cannot be,
it is half way between. It is never so high that more than 12.5% (2 of 16) of the hidden ones are "likely".
The 3% and the 85% are rules of thumb: then it is about 5% and 80% in the worst set.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import get_args

import numpy as np

from quality.calibration import Floats
from quality.engine import FULL, VARIANTS, OpenSet, opened, plain
from quality.queries import TUNE
from quality.unanswerable import FAR, FOREIGN, MORE_LANGUAGES, NEAR, ConfidenceSet, confidence_sets
from search_quality import folder
from vault_indexer.model import SearchRequest
from vault_indexer.search.confidence import (
    LIKELY,
    WEAK,
    LogisticMap,
    MapName,
    signs_of,
    small_vault_odds,
)
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.prepare import SearchedVault, prepare_query
from vault_indexer.search.rank import rank

TABLE = Path(__file__).with_name("fits") / "confidence.csv"
MOST_NONE, MOST_LIKELY, LEAST_NONE = 0.03, 0.125, 0.85
_STEP, _MORE_STEP = 3, 6
_SIDES = 20
_DEADLINE_S = 600.0


@dataclass(frozen=True, slots=True)
class Row:
    """The signs of the first hit for one question. `set` names model and set, `kind` is that of the set."""

    map_name: MapName
    set: str
    kind: str
    answerable: int
    chunks: int
    share: float
    z: float


def read_table(file: Path = TABLE) -> list[Row]:
    """The rows of a table that `--collect` wrote."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [
            Row(_name(one["map_name"]), one["set"], one["kind"], int(one["answerable"]), int(one["chunks"]),
                float(one["share"]), float(one["z"]))
            for one in csv.DictReader(lines)
        ]  # fmt: skip


def fitted_maps(rows: Iterable[Row]) -> dict[MapName, LogisticMap]:
    """The map of each name that the rows have, rounded to two digits."""
    by_name: dict[MapName, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row.map_name, []).append(row)
    return {name: _fit(own) for name, own in sorted(by_name.items()) if len(own) > _SIDES}


def _fit(rows: Sequence[Row]) -> LogisticMap:
    weights = _logistic(*_design(rows), _importance(rows))
    slopes = np.round(weights[1:], 2)
    design, answerable, offset = _design(rows)
    odds = design[:, 1:] @ slopes + offset
    hidden = np.array([not row.answerable and row.kind != NEAR for row in rows])
    far = np.array([not row.answerable and row.kind == FAR for row in rows])
    least = _log_odds(WEAK) - np.quantile(odds[answerable > 0], MOST_NONE)
    most = _log_odds(WEAK) - np.quantile(odds[far], LEAST_NONE) if far.any() else np.inf
    base = min(max(weights[0], least), most) if least <= most else (least + most) / 2
    base = min(base, _log_odds(LIKELY) - np.quantile(odds[hidden], 1 - MOST_LIKELY))
    return LogisticMap(round(float(base), 2), *map(float, slopes))


def _design(rows: Sequence[Row]) -> tuple[Floats, Floats, Floats]:
    """The signs with a column of ones, what is answerable, and the log odds that a small vault adds."""
    return (
        np.array([(1.0, row.share, row.z) for row in rows]),
        np.array([row.answerable for row in rows], float),
        np.array([small_vault_odds(row.chunks) for row in rows]),
    )


def _importance(rows: Sequence[Row]) -> Floats:
    """Each side of each set alike; a side with few rows (detected as another language) counts nothing."""
    sides = [(row.set, row.answerable) for row in rows]
    sizes = {side: sides.count(side) for side in set(sides)}
    return np.array([1.0 / sizes[side] if sizes[side] >= _SIDES else 0.0 for side in sides])


def _logistic(design: Floats, labels: Floats, offset: Floats, importance: Floats) -> Floats:
    """By Newton's method, with a ridge too small to matter."""
    weights = np.zeros(design.shape[1])
    ridge = 1e-6 * importance.sum() * np.eye(len(weights))
    for _ in range(100):
        chance = 1 / (1 + np.exp(-(design @ weights + offset)))
        gradient = design.T @ (importance * (labels - chance)) - ridge @ weights
        curvature = (design * (importance * chance * (1 - chance))[:, None]).T @ design + ridge
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def _log_odds(chance: float) -> float:
    return float(np.log(chance / (1 - chance)))


def _name(text: str) -> MapName:
    found: MapName = next(name for name in get_args(MapName) if name == text)
    return found


def collect(data: Path, work: Path, provider: str) -> Iterator[Row]:
    """Search for the questions of the tuning halves."""
    for one in confidence_sets(data, work):
        if one.kind not in (NEAR, FAR, FOREIGN) or one.vault.name == "obsidian-help":
            continue
        if one.kind != FOREIGN or provider != "wordllama":
            with opened(one.query_set, work, provider) as open_set:
                yield from _rows(one, open_set, provider)


def _rows(of: ConfidenceSet, open_set: OpenSet, provider: str) -> Iterator[Row]:
    searcher = open_set.searcher.with_settings(VARIANTS[FULL])
    vault = SearchedVault("", None, open_set.snapshot, searcher.embedder)
    step = _MORE_STEP if of.name.split()[-1] in MORE_LANGUAGES else _STEP
    for number, query in list(enumerate(open_set.queries))[::step]:
        if query.split != TUNE:
            continue
        [prepared] = prepare_query([vault], SearchRequest(plain(query.text)), QueryDeadline(_DEADLINE_S))
        table = rank([prepared], searcher.settings, by_note=False, limit=10)
        if not len(table):
            continue
        signs = signs_of(prepared, table, [0])[0]
        if (signs.map_name == "foreign") == (of.kind == FOREIGN):
            answerable, chunks = int(number < len(of.answerable)), prepared.statistics.documents
            name = f"{provider} {of.name}"
            yield Row(
                signs.map_name, name, of.kind, answerable, chunks, round(signs.share, 3), round(signs.z, 2)
            )


def write_table(rows: Iterable[Row], file: Path) -> None:
    """As CSV, with a head."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(field.name for field in fields(Row))
        writer.writerows(map(astuple, rows))


def main() -> None:
    """Collect the table if asked, then print the maps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--collect", type=Path, metavar="DATA")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--provider", default="wordllama,multilingual")
    parser.add_argument("--table", type=Path, default=TABLE)
    given = parser.parse_args()
    if given.collect is not None:
        with folder(given.work) as work:
            rows = [row for name in given.provider.split(",") for row in collect(given.collect, work, name)]
        write_table(rows, given.table)
    for name, found in fitted_maps(read_table(given.table)).items():
        print(f'"{name}": {found}')


if __name__ == "__main__":
    main()
