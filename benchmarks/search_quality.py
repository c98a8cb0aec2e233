"""How good search is: judged queries, by words alone, by meaning alone, and by what is made of both.

    python benchmarks/search_quality.py DATA [--large DIR] [--work DIR] [--provider NAME] [--sets NAME,…]
        [--kinds]

DATA holds `bench/xquad`, `bench/chunking` and `vaults/obsidian-help`; DIR is the large vault, unpacked (its
queries are in `queries/large.txt`). Indices are built in the work folder and used again. The measures are
means over queries with 95% bootstrap intervals; every set is divided, by a hash of the query, into a part
that weights were tuned on and a part kept aside; `all` is both. "RRF 1:1" is reciprocal rank fusion of words
and meaning alike, as the peer to beat. Prints Markdown.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from quality.engine import FULL, VARIANTS, OpenSet, opened
from quality.measures import MEASURES, Mean
from quality.queries import ASIDE, TUNE
from quality.sets import XQUAD_LANGUAGES, QuerySet, chunking, judged, xquad

Values = Sequence[tuple[float, ...]]
_SLOW = ("minilm", "e5")
_SLOW_MODEL_SETS = ("XQuAD en", "XQuAD es", "XQuAD zh", "XQuAD ru", "chunking", "obsidian-help")


def sets(data: Path, large: Path | None, work: Path) -> Iterator[QuerySet]:
    """All sets whose data are there."""
    for language in XQUAD_LANGUAGES:
        yield xquad(data / "bench" / "xquad", work, language)
    yield chunking(data / "bench" / "chunking", work)
    yield judged("obsidian-help", data / "vaults" / "obsidian-help", has_links=True)
    if large is not None:
        yield judged("large", large, has_links=True)


def table(open_set: OpenSet, of: QuerySet, *, kinds: bool) -> Iterator[str]:
    """The rows of one set; without links the graph has nothing to say."""
    wanted = [label for label in VARIANTS if of.has_links or label != FULL]
    results = {label: open_set.run(VARIANTS[label]) for label in wanted}
    name = of.name
    queries = open_set.queries
    for split in (TUNE, ASIDE, "all"):
        at = [number for number, query in enumerate(queries) if split in (query.split, "all")]
        yield from _rows(f"{name}, {split}, {len(at)}", {k: [v[i] for i in at] for k, v in results.items()})
    for kind in sorted({query.kind for query in queries}) if kinds else ():
        at = [number for number, query in enumerate(queries) if query.kind == kind]
        yield from _rows(f"{name}, {kind}, {len(at)}", {k: [v[i] for i in at] for k, v in results.items()})


def _rows(label: str, results: dict[str, list[tuple[float, ...]]]) -> Iterator[str]:
    for variant, values in results.items():
        means = [Mean.of(column) for column in np.array(values).T]
        yield f"| {label} | {variant} | " + " | ".join(map(str, means)) + " |"


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
    parser.add_argument("data", type=Path)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--sets", default=chosen)
    return parser


def main() -> None:
    """Print a table row for each set, part and variant."""
    parser = options(__doc__, chosen="")
    parser.add_argument(
        "--provider", default="wordllama", help="what embeds: wordllama, multilingual, e5, minilm"
    )
    parser.add_argument("--kinds", action="store_true")
    given = parser.parse_args()
    slow = given.provider in _SLOW
    print("| set, part, queries | by | " + " | ".join(MEASURES) + " |")
    print("| --- | --- |" + " ---: |" * len(MEASURES))
    with folder(given.work) as work:
        for one in sets(given.data, given.large, work):
            wanted = given.sets.split(",") if given.sets else [one.name]
            if one.name not in wanted or (slow and one.name not in _SLOW_MODEL_SETS):
                continue
            with opened(one, work, given.provider) as open_set:
                for row in table(open_set, one, kinds=given.kinds):
                    print(row, flush=True)


if __name__ == "__main__":
    main()
