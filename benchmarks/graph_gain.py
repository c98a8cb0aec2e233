"""What each retriever adds: the whole search less one of them, query by query.

    python benchmarks/graph_gain.py DATA [--large DIR] [--work DIR] [--sets NAME,…]

The arguments and sets are those of `search_quality.py`. A row is the mean over queries of (all three - all
but one), with its 95% bootstrap interval; an interval that holds 0 is no proof of a gain. Prints Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quality.engine import FULL, VARIANTS, OpenSet, opened, variant
from quality.measures import MEASURES, Mean
from quality.queries import ASIDE, TUNE
from quality.sets import all_sets
from search_quality import folder, is_wanted, options

WITHOUT = {
    "graph": variant(graph=0),
    "vector": variant(vector=0),
    "keyword": variant(keyword=0),
}


def gains(open_set: OpenSet, name: str) -> Iterator[str]:
    """A row for each retriever and part of the set."""
    full = np.array(open_set.run(VARIANTS[FULL]))
    splits = np.array([query.split for query in open_set.queries])
    for retriever, settings in WITHOUT.items():
        gained = full - np.array(open_set.run(settings))
        for label, held in (
            (TUNE, splits == TUNE),
            (ASIDE, splits == ASIDE),
            ("all", splits != ""),
        ):
            means = " | ".join(_signed(Mean.of(column.tolist())) for column in gained[held].T)
            yield f"| {name}, {label}, {held.sum()} | {retriever} | {means} |"


def _signed(mean: Mean) -> str:
    return f"{mean.value:+.3f} [{mean.low:+.3f}, {mean.high:+.3f}]"


def main() -> None:
    """Print the gains."""
    parser = options(__doc__, chosen="obsidian-help,large")
    given = parser.parse_args()
    if given.data is None:
        parser.error("DATA is missing")
    print("| set, part, queries | gain by | " + " | ".join(MEASURES) + " |")
    print("| --- | --- |" + " ---: |" * len(MEASURES))
    with folder(given.work) as work:
        for one in all_sets(given.data, given.large, work):
            if is_wanted(one.name, given.sets):
                with opened(one, work, "wordllama") as open_set:
                    for row in gains(open_set, one.name):
                        print(row, flush=True)


if __name__ == "__main__":
    main()
