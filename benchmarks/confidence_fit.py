"""Fits the map of `search/confidence.py`: what the signs of a first hit say of its relevance.

    python benchmarks/confidence_fit.py [--table FILE]
    python benchmarks/confidence_fit.py --collect DATA [--collections DIR] [--work DIR] [--provider NAME,…]
        [--table FILE]

The first prints the map that the table gives; a test compares it with the module. `--collect` writes the
table: the signs of the first hit of every query of the tuning halves (a hash of the query divides the sets,
`quality/queries.py`): of the vaults in DIR, of Obsidian's help, of `mixed` (the notes of all languages in one
vault, every other one hidden), and of every sixth question of XQuAD (`quality/unanswerable.py`).

The map is a logistic regression of "the vault answers it". All answerable queries weigh 1.6 times as much as
all near misses, as to hide an answer is worse than to show none, and these twice as much as all off topic;
XQuAD, whose sets weigh alike, counts as much as the rest.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np

from quality.calibration import Floats
from quality.engine import FULL, VARIANTS, OpenSet, opened, plain
from quality.queries import TUNE
from quality.sets import QuerySet
from quality.unanswerable import FOREIGN, typed_sets, unanswerable_sets
from search_quality import folder
from vault_indexer.model import SearchRequest
from vault_indexer.search.confidence import LogisticMap, signs_of
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.prepare import SearchedVault, prepare_query
from vault_indexer.search.rank import rank

TABLE = Path(__file__).with_name("fits") / "confidence.csv"
ANSWERABLE, NEAR, OFF_TOPIC = "answerable", "near", "off topic"
_EXAM = "xquad"
_WEIGHTS = {ANSWERABLE: 1.6, NEAR: 1.0, OFF_TOPIC: 0.5}
_RIDGE = 1e-4
_DEADLINE_S = 600.0


@dataclass(frozen=True, slots=True)
class Row:
    """The signs of the first hit of one query. `set` names model and set."""

    set: str
    kind: str
    share: float
    title: float
    deviation: float
    shortfall: float
    apart: int

    @property
    def features(self) -> tuple[float, ...]:
        """What the map weighs, in its order."""
        squared = self.deviation**2
        return (1.0, self.share, self.title, squared, self.apart * squared, self.shortfall)


def read_table(file: Path = TABLE) -> list[Row]:
    """The rows of a table that `--collect` wrote."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [
            Row(one["set"], one["kind"], float(one["share"]), float(one["title"]),
                float(one["deviation"]), float(one["shortfall"]), int(one["apart"]))
            for one in csv.DictReader(lines)
        ]  # fmt: skip


def fitted_map(rows: Sequence[Row]) -> LogisticMap:
    """The map that the rows give, rounded to two digits."""
    design = np.array([row.features for row in rows])
    answerable = np.array([row.kind == ANSWERABLE for row in rows], float)
    weights = _logistic(design, answerable, _importance(rows))
    return LogisticMap(*(round(float(one), 2) for one in weights))


def _importance(rows: Sequence[Row]) -> Floats:
    """Each kind of each exam set alike, and of what is typed each query of a model and kind alike."""
    parts = [(_part(row), row.kind) for row in rows]
    sizes = Counter(parts)
    groups = Counter((_EXAM in part, kind) for part, kind in sizes)
    return np.array(
        [_WEIGHTS[kind] / sizes[part, kind] / groups[_EXAM in part, kind] for part, kind in parts]
    )


def _part(row: Row) -> str:
    return row.set if _EXAM in row.set else row.set.split()[0]


def _logistic(design: Floats, labels: Floats, importance: Floats) -> Floats:
    """By Newton's method, with a small ridge on all but the constant."""
    weights = np.zeros(design.shape[1])
    ridge = _RIDGE * importance.sum() * np.eye(len(weights))
    ridge[0, 0] = 0.0
    for _ in range(100):
        chance = 1 / (1 + np.exp(-(design @ weights)))
        gradient = design.T @ (importance * (labels - chance)) - ridge @ weights
        curvature = (design * (importance * chance * (1 - chance))[:, None]).T @ design + ridge
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def collect(sets: Iterable[QuerySet], work: Path, provider: str) -> Iterator[Row]:
    """Search for the queries of the tuning halves. A static model does not compare languages."""
    for one in sets:
        if provider == "wordllama" and FOREIGN in one.name:
            continue
        with opened(one, work, provider) as open_set:
            yield from _rows(f"{provider} {one.name}", open_set)


def _rows(name: str, open_set: OpenSet) -> Iterator[Row]:
    searcher = open_set.searcher.with_settings(VARIANTS[FULL])
    vault = SearchedVault("", None, open_set.snapshot, searcher.embedder)
    for query in open_set.queries:
        if query.split != TUNE or not plain(query.text):
            continue
        [prepared] = prepare_query([vault], SearchRequest(plain(query.text)), QueryDeadline(_DEADLINE_S))
        table = rank([prepared], searcher.settings, by_note=True, limit=10)
        if len(table):
            signs = signs_of(prepared, table, [0])[0]
            kind = ANSWERABLE if query.grades else OFF_TOPIC if query.kind.startswith("off") else NEAR
            yield Row(name, kind, round(signs.share, 3), round(signs.title, 3), round(signs.deviation, 3),
                      round(signs.shortfall, 3), int(signs.is_apart))  # fmt: skip


def write_table(rows: Iterable[Row], file: Path) -> None:
    """As CSV, with a head."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(field.name for field in fields(Row))
        writer.writerows(map(astuple, rows))


def main() -> None:
    """Collect the table if asked, then print the map."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--collect", type=Path, metavar="DATA")
    parser.add_argument("--collections", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--provider", default="wordllama,multilingual")
    parser.add_argument("--table", type=Path, default=TABLE)
    given = parser.parse_args()
    if given.collect is not None:
        with folder(given.work) as work:
            sets = [
                *typed_sets(given.collect, work, given.collections),
                *unanswerable_sets(given.collect, work),
            ]
            rows = [row for name in given.provider.split(",") for row in collect(sets, work, name)]
        write_table(rows, given.table)
    print(fitted_map(read_table(given.table)))


if __name__ == "__main__":
    main()
