"""Do generated questions rank configurations as judged ones do?

    python benchmarks/eval_agreement.py DATA [--set obsidian-help|large] [--large DIR] [--variants NAME,…]
        [--per-kind N] [--save FILE]

Each configuration answers the judged queries of `queries/<set>.txt` over the vault itself, and the questions
that `indexer eval generate` makes of the vault, over the shadow in which their text is hidden. Configurations
are ranked by mean nDCG@10. Kendall's τ-b compares the two rankings; its interval comes from resampling both
sets of questions. "generated" is the mean of its three kinds, each as much as the others. "two halves" is the
τ between two random halves of the judged queries, so what judged questions agree on among themselves.
Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from quality.sets import judged
from vault_indexer.bootstrap import resolve_target
from vault_indexer.daemon.assembly import Target
from vault_indexer.evals.generate import choose_questions, survey_vault
from vault_indexer.evals.questions import GENERATED_KINDS, JUDGED, Question
from vault_indexer.evals.ranking import RankingRun, parse_variants, run_ranking

Floats = NDArray[np.float64]
Resample = Callable[[int], NDArray[np.intp]]

VARIANTS = (
    "configured,keyword,vector,no_graph,rrf,rrf+no_graph,"
    "search.weights.keyword=0.3,search.weights.keyword=3,search.weights.graph=2,"
    "whole_note,whole_note+keyword,whole_note+vector,"
    "recursive,recursive+keyword,recursive+vector,"
    "paragraph,paragraph+keyword,paragraph+vector"
)
RESAMPLES = 1000
SEED = 20261122


def judged_questions(name: str, vault: Path) -> list[Question]:
    return [
        Question(f"judged-{number}", one.text, dict(one.grades), JUDGED)
        for number, one in enumerate(judged(name, vault).queries)
    ]


def gains(run: RankingRun, kind: str) -> Floats:
    """nDCG by configuration and question."""
    at = [number for number, one in enumerate(run.questions) if one.kind == kind]
    return np.array([[scores[number].ndcg for number in at] for scores in run.scores.values()])


def tau(one: Floats, other: Floats) -> float:
    """Kendall's τ-b of two lists of means."""
    signs = np.sign(one[:, None] - one[None, :]) * np.sign(other[:, None] - other[None, :])
    ties = [np.count_nonzero(np.sign(values[:, None] - values[None, :])) for values in (one, other)]
    scale = float(np.sqrt(ties[0] * ties[1]))
    return float(signs.sum()) / scale if scale else 0.0


def mean_of(parts: Sequence[Floats], resample: Resample) -> Floats:
    """The mean of the parts' means by configuration, each part resampled on its own."""
    means = [part[:, resample(part.shape[1])].mean(axis=1) for part in parts]
    return np.asarray(np.mean(means, axis=0), np.float64)


def agreement(one: Sequence[Floats], other: Sequence[Floats]) -> str:
    random = np.random.default_rng(SEED)
    value = tau(mean_of(one, np.arange), mean_of(other, np.arange))
    drawn = [
        tau(
            mean_of(one, lambda size: random.integers(0, size, size)),
            mean_of(other, lambda size: random.integers(0, size, size)),
        )
        for _ in range(RESAMPLES)
    ]
    low, high = np.percentile(drawn, (2.5, 97.5))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def of_two_halves(values: Floats) -> str:
    """The mean τ between random halves, with the interval over the ways to halve."""
    random = np.random.default_rng(SEED)
    found = []
    for _ in range(RESAMPLES):
        order = random.permutation(values.shape[1])
        half = len(order) // 2
        found.append(tau(values[:, order[:half]].mean(axis=1), values[:, order[half:]].mean(axis=1)))
    low, high = np.percentile(found, (2.5, 97.5))
    return f"{np.mean(found):.2f} [{low:.2f}, {high:.2f}]"


def report(name: str, run: RankingRun) -> None:
    by_kind = {kind: gains(run, kind) for kind in (JUDGED, *GENERATED_KINDS)}
    counts = {kind: values.shape[1] for kind, values in by_kind.items()}
    present = [kind for kind in GENERATED_KINDS if counts[kind]]
    sizes = ", ".join(f"{size} {kind}" for kind, size in counts.items())
    print(f"{name}: {sizes}; {len(run.scores)} configurations\n")
    print(
        f"| configuration | judged | generated | {' | '.join(present)} |\n| --- |"
        + " ---: |" * (2 + len(present))
    )
    together = mean_of([by_kind[kind] for kind in present], np.arange)
    for at, variant in enumerate(run.scores):
        kinds = " | ".join(f"{by_kind[kind][at].mean():.3f}" for kind in present)
        print(f"| {variant} | {by_kind[JUDGED][at].mean():.3f} | {together[at]:.3f} | {kinds} |")
    print("\n| ranking by | τ against judged |\n| --- | ---: |")
    print(f"| generated | {agreement([by_kind[JUDGED]], [by_kind[kind] for kind in present])} |")
    for kind in present:
        print(f"| {kind} | {agreement([by_kind[JUDGED]], [by_kind[kind]])} |")
    print(f"| two halves of judged | {of_two_halves(by_kind[JUDGED])} |\n")
    best = {"judged": by_kind[JUDGED].mean(axis=1), "generated": together}
    names = list(run.scores)
    chosen = {source: names[int(np.argmax(values))] for source, values in best.items()}
    print(f"Chosen by judged: {chosen['judged']}; by generated: {chosen['generated']}.")


def save(run: RankingRun, file: Path) -> None:
    told: Mapping[str, object] = {
        "questions": [{"id": one.id, "kind": one.kind, "text": one.text} for one in run.questions],
        "scores": {name: [asdict(one) for one in scores] for name, scores in run.scores.items()},
    }
    file.write_text(json.dumps(told, ensure_ascii=False), "utf-8")


def target_of(vault: Path, work: Path) -> Target:
    """Age does not count: the files are as old as their unpacking."""
    options = {
        "embedding.provider": "wordllama",
        "search.recency.enabled": "false",
        "index.nice": "0",
    }
    return resolve_target(
        vault, work / "index", None, environ={"XDG_CONFIG_HOME": str(work)}, options=options
    )


def main() -> None:
    """Print the means and the agreement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--set", default="obsidian-help", choices=("obsidian-help", "large"), dest="name")
    parser.add_argument("--large", type=Path)
    parser.add_argument("--variants", default=VARIANTS)
    parser.add_argument("--per-kind", type=int, default=300)
    parser.add_argument("--save", type=Path)
    given = parser.parse_args()
    if given.name == "large" and given.large is None:
        parser.error("--set large needs --large DIR")
    vault = given.large if given.name == "large" else given.data / "vaults" / "obsidian-help"
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as work:
        target = target_of(vault, Path(work))
        made = choose_questions(survey_vault(target, lambda _done, _total: None), given.per_kind)
        questions = [*judged_questions(given.name, vault), *made]
        variants = parse_variants(given.variants.split(","))
        run = run_ranking(
            target, questions, variants, say=lambda line: print(line, file=sys.stderr, flush=True)
        )
    if given.save is not None:
        save(run, given.save)
    report(given.name, run)
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
