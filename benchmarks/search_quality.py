"""How good search is: judged queries, by words alone, by meaning alone, and by the search as it ships.

    python benchmarks/search_quality.py DATA [--large DIR] [--collections DIR] [--work DIR] [--provider NAME]
        [--sets NAME,…] [--variants NAME,…] [--parts tune,aside,all] [--kinds] [--sample N] [--save FILE]
        [--against FILE]
    python benchmarks/search_quality.py --saved FILE [--against FILE] …

DATA holds `bench/xquad`, `bench/chunking` and `vaults/obsidian-help`; DIR is the large vault, unpacked (its
queries are in `queries/large.txt`). Each folder in the DIR of collections is a vault, whose queries are in
`queries/collections`: the head of each file names repository and commit. Indices are built in the work folder
and used again: give each checkout its own. The measures are means over queries with 95% bootstrap intervals;
every set is divided, by a hash of the query, into a part that weights were tuned on and a part kept aside;
`all` is both.

"RRF 1:1" is reciprocal rank fusion of words and meaning alike, as the peer to beat. `--save` stores the
measures of every query, `--against` compares with what another checkout saved, query by query: old, new, and
the change with its 95% interval and the p-value of a paired randomisation test. `--saved` reads the measures
from a file and runs nothing. `--sample` asks at most N queries of each set, the same ones in every checkout;
a comparison takes those that both runs have. Names of sets match as in a shell: `--sets 'XQuAD*,titles*'`.
Prints Markdown, and at the end the mean over the sets.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from quality.engine import FULL, VARIANTS, opened
from quality.runs import (
    PARTS,
    SetRun,
    compared_mean_rows,
    compared_rows,
    header,
    identified,
    load,
    mean_rows,
    paired,
    rows,
    sampled,
    save,
    with_variants,
)
from quality.sets import all_sets

_SLOW = ("minilm", "e5")
_SLOW_MODEL_SETS = ("XQuAD en", "XQuAD es", "XQuAD zh", "XQuAD ru", "chunking", "obsidian-help")


@contextmanager
def folder(named: Path | None) -> Iterator[Path]:
    """The work folder: the one named, which stays, or one for this run."""
    if named is not None:
        named.mkdir(parents=True, exist_ok=True)
        yield named
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def options(description: str | None, chosen: str) -> argparse.ArgumentParser:
    """What every benchmark over the sets takes; `chosen` are those it looks at unless told otherwise."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--large", type=Path)
    parser.add_argument("--collections", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--sets", default=chosen)
    return parser


def is_wanted(name: str, patterns: str) -> bool:
    """Whether one of the comma-separated patterns matches the name; no pattern at all means every set."""
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns.split(","))


def measured_runs(given: argparse.Namespace) -> Iterator[SetRun]:
    """Run the wanted variants over the wanted sets, or read what was saved."""
    if given.saved is not None:
        for run in load(given.saved).values():
            if is_wanted(run.name, given.sets):
                yield with_variants(run, given.variants)
        return
    slow = given.provider in _SLOW
    with folder(given.work) as work:
        for one in all_sets(given.data, given.large, work, given.collections):
            if not is_wanted(one.name, given.sets) or (slow and one.name not in _SLOW_MODEL_SETS):
                continue
            with opened(one, work, given.provider) as open_set:
                queries = identified(open_set.queries)
                chosen = sampled(queries, given.sample or len(queries))
                part = replace(open_set, queries=tuple(open_set.queries[at] for at in chosen))
                values = {label: part.run(VARIANTS[label]) for label in given.variants}
                yield SetRun(one.name, part.measures, tuple(queries[at] for at in chosen), values)


def report(runs: Iterable[SetRun], given: argparse.Namespace) -> None:
    """Print each set's rows as soon as it is measured, then the mean of the sets."""
    print(header())
    done = []
    for run in runs:
        done.append(run)
        for line in rows(run, given.parts, kinds=given.kinds):
            print(line, flush=True)
    for line in mean_rows(done, given.parts) if len(done) > 1 else ():
        print(line)


def report_changes(runs: Iterable[SetRun], old: Mapping[str, SetRun], given: argparse.Namespace) -> None:
    """Print for each set that both runs have what changed, then the mean change of the sets."""
    print(header())
    pairs = []
    for run in runs:
        if run.name not in old:
            print(f"{run.name}: not in the run to compare with", file=sys.stderr)
            continue
        before, after = paired(old[run.name], run)
        if len(after.queries) < len(run.queries):
            print(f"{run.name}: {len(after.queries)} queries are in both runs", file=sys.stderr)
        pairs.append((before, after))
        for line in compared_rows(before, after, given.parts, kinds=given.kinds):
            print(line, flush=True)
    if len(pairs) > 1:
        for line in compared_mean_rows(pairs, given.parts):
            print(line)


def remembered(runs: Iterable[SetRun], file: Path | None) -> Iterator[SetRun]:
    """The runs; each is in the file before the next one starts."""
    done: list[SetRun] = []
    for run in runs:
        done.append(run)
        if file is not None:
            save(done, file)
        yield run


def names_of(allowed: Sequence[str]) -> Callable[[str], list[str]]:
    """The type of an option that is a comma-separated choice of the allowed names."""

    def parse(text: str) -> list[str]:
        for name in (names := text.split(",")):
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"no {name!r}; there are {', '.join(allowed)}")
        return names

    return parse


def main() -> None:
    """Print a table row for each set, part and variant."""
    parser = options(__doc__, chosen="")
    parser.add_argument("--variants", type=names_of(list(VARIANTS)), default=["keyword", "vector", FULL])
    parser.add_argument("--parts", type=names_of(PARTS), default=list(PARTS))
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument(
        "--provider", default="wordllama", help="what embeds: wordllama, multilingual, e5, minilm"
    )
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--saved", type=Path)
    given = parser.parse_args()
    if (given.data is None) == (given.saved is None):
        parser.error("give either DATA or --saved FILE")
    runs = remembered(measured_runs(given), given.save)
    if given.against is None:
        report(runs, given)
    else:
        report_changes(runs, load(given.against), given)


if __name__ == "__main__":
    main()
