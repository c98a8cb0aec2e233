"""What foreign documents do to the ranking of notes: judged queries, without and with PDFs in the vault.

    python benchmarks/documents_ranking.py DATA PDFS [--work DIR] [--sets NAME,…] [--weights .8,.9,1]
        [--sample N]

DATA as for `search_quality.py`; PDFS is a folder whose PDFs are added to each vault, in a folder of their
own. They answer none of the queries, so each that is ranked before a judged note is a loss. The vaults are
copied to the work folder, where their indices are built and used again; `--sample` takes at most N queries of
each set. Prints Markdown: the measures without the documents, and with them for each value of
`search.documents.weight`.
"""

from __future__ import annotations

import argparse
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from quality.engine import FULL, VARIANTS, opened
from quality.measures import MEASURES
from quality.runs import identified, sampled
from quality.sets import QuerySet, all_sets
from search_quality import folder, is_wanted
from vault_indexer.config.settings import SearchSettings

_SETS = "XQuAD en,XQuAD es,XQuAD zh,XQuAD es>en,obsidian-help,titles obsidian-help,properties,mixed languages"
_FOLDER = "Foreign documents"


def with_documents(of: QuerySet, documents: Path, work: Path) -> QuerySet:
    vault = work / f"with-documents-{of.vault.name}"
    shutil.copytree(of.vault, vault, dirs_exist_ok=True)
    shutil.copytree(documents, vault / _FOLDER, dirs_exist_ok=True)
    return replace(of, vault=vault)


def weighted(weight: float) -> SearchSettings:
    settings = VARIANTS[FULL]
    return settings.model_copy(update={"documents": settings.documents.model_copy(update={"weight": weight})})


def means(of: QuerySet, work: Path, weights: list[float], sample: int) -> list[list[float]]:
    """Return the mean of each measure, for each weight."""
    with opened(of, work, "wordllama") as open_set:
        chosen = sampled(identified(open_set.queries), sample)
        open_set = replace(open_set, queries=tuple(open_set.queries[at] for at in chosen))
        runs = [open_set.run(weighted(weight)) for weight in weights]
    return [[fmean(column) for column in zip(*run, strict=True)] for run in runs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("pdfs", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--sets", default=_SETS)
    parser.add_argument("--weights", default="0.8,0.9,1")
    parser.add_argument("--sample", type=int, default=10_000)
    given = parser.parse_args()
    weights = [float(weight) for weight in given.weights.split(",")]
    print(f"| set | queries | documents | weight | {' | '.join(MEASURES)} |")
    print(f"| --- | ---: | --- | ---: |{' ---: |' * len(MEASURES)}")
    with folder(given.work) as work:
        for one in all_sets(given.data, None, work):
            if not is_wanted(one.name, given.sets):
                continue
            rows = [("none", 1.0, means(one, work, [1.0], given.sample)[0])]
            added = means(with_documents(one, given.pdfs, work), work, weights, given.sample)
            rows += [("added", weight, row) for weight, row in zip(weights, added, strict=True)]
            count = min(given.sample, len(one.queries or one.questions))
            for label, weight, row in rows:
                values = " | ".join(f"{value:.4f}" for value in row[: len(MEASURES)])
                print(f"| {one.name} | {count} | {label} | {weight} | {values} |", flush=True)


if __name__ == "__main__":
    main()
