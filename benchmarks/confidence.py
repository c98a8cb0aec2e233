"""How well a score of an answer tells a question that the vault answers from one that it cannot answer.

    python benchmarks/confidence.py DATA [--work DIR] [--provider NAME] [--sets NAME,…] [--field NAME]
        [--only-field] [--verdict NAME] [--save FILE]

The sets are those of `quality/unanswerable.py`: `near` (the paragraph with the answer is hidden, the rest of
its article is there), `far` (the whole article is hidden), `foreign` (as far, the questions in another
language than the notes), `noise`, `off topic`. The search runs as it ships, with 10 hits. A row is a score
over one set: its AUROC with a 95% bootstrap interval, over all queries and over the part kept aside; and
which part of the answerable and of the unanswerable queries kept aside is below the threshold that rejects 5%
of the answerable tune queries of all sets together.

Scores are features that can be computed from outside of the search, `combined`, a logistic regression on them
that is fitted to the tune parts (each set and side weighs alike), and what the search itself says:
`--field relevance` is the attribute `relevance` of the answer, or else of its first hit (0 without hits);
`--only-field` leaves the others out.
`--verdict verdict` names the attribute that is "none" where the search says that the vault holds no answer.
`--save` keeps the values of every query as JSON. Prints Markdown, and at the end whether the bars are met:
AUROC at least .93 near and .97 far, "none" for at most 5% of the answerable and at least 80% of far and
noise.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from quality.calibration import Floats, Logistic, auroc, auroc_interval
from quality.engine import FULL, VARIANTS, OpenSet, opened
from quality.features import FEATURES, Background, features
from quality.queries import ASIDE, TUNE
from quality.unanswerable import FAR, NEAR, NOISE, ConfidenceSet, confidence_sets
from search_quality import folder, is_wanted, options
from vault_indexer.search import SearchResult

Mask = NDArray[np.bool_]
COMBINED = "combined"
REJECTED = 0.05
AUROC_BARS: Mapping[str, float] = {NEAR: 0.93, FAR: 0.97}
NONE_BAR = 0.8


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of a set's queries, a column for each name; `is_none` is the search's own verdict."""

    of: ConfidenceSet
    names: tuple[str, ...]
    values: Floats
    is_answerable: Mask
    is_aside: Mask
    is_none: Mask
    texts: tuple[str, ...]

    def column(self, name: str) -> Floats:
        """One score of all queries."""
        found: Floats = self.values[:, self.names.index(name)]
        return found


def score_set(of: ConfidenceSet, open_set: OpenSet, given: argparse.Namespace) -> Scored:
    """Search for every query of the set."""
    searcher = open_set.searcher.with_settings(VARIANTS[FULL])
    background = Background.of(open_set)
    rows: list[tuple[float, ...]] = []
    nones = []
    for query in open_set.queries:
        result = open_set.answer(searcher, query.text)
        own = (float(_attribute(result, given.field, 0.0)),) if given.field else ()
        outside = (
            () if given.only_field else features(open_set, searcher, background, query.text, result.hits)
        )
        rows.append((*outside, *own))
        nones.append(bool(given.verdict) and _attribute(result, given.verdict, "none") == "none")
    queries = open_set.queries
    return Scored(
        of,
        (*(() if given.only_field else FEATURES), *((given.field,) if given.field else ())),
        np.array(rows),
        np.arange(len(queries)) < len(of.answerable),
        np.array([query.split == ASIDE for query in queries]),
        np.array(nones),
        tuple(query.text for query in queries),
    )


def _attribute(result: SearchResult, name: str, absent: float | str) -> float | str:
    """The attribute of the answer, or else of its first hit; `absent` without hits, or where it is None.

    Raises AttributeError if neither has it."""
    if not hasattr(result, name) and not result.hits:
        return absent
    found: float | str | None = getattr(result if hasattr(result, name) else result.hits[0], name)
    return absent if found is None else found


def with_combined(sets: Sequence[Scored]) -> list[Scored]:
    """The sets with one more score, fitted to the tune parts."""
    parts = [(one, side & ~one.is_aside, label) for one in sets for side, label in _sides(one)]
    wide = len(FEATURES)
    model = Logistic.fit(
        np.concatenate([one.values[held][:, :wide] for one, held, _ in parts]),
        np.concatenate([np.full(held.sum(), label) for _, held, label in parts]),
        np.concatenate([np.full(held.sum(), 1 / max(1, held.sum())) for _, held, _ in parts]),
    )
    print("combined: " + ", ".join(f"{n} {w:+.2f}" for n, w in zip(FEATURES, model.weights[1:], strict=True)))
    return [
        Scored(
            one.of,
            (*one.names, COMBINED),
            np.column_stack([one.values, model.scores(one.values[:, :wide])]),
            one.is_answerable,
            one.is_aside,
            one.is_none,
            one.texts,
        )
        for one in sets
    ]


def _sides(one: Scored) -> Iterator[tuple[Mask, float]]:
    yield one.is_answerable, 1.0
    yield ~one.is_answerable, 0.0


def threshold(sets: Sequence[Scored], name: str) -> float:
    """The score below which 5% of the answerable tune queries are."""
    held = [one.column(name)[one.is_answerable & ~one.is_aside] for one in sets]
    return float(np.quantile(np.concatenate(held), REJECTED))


def rows(one: Scored, thresholds: Mapping[str, float]) -> Iterator[str]:
    """A Markdown row for each score of a set."""
    sides = f"{int(one.is_answerable.sum())} / {int((~one.is_answerable).sum())}"
    for name in one.names:
        values = one.column(name)
        here, there = values[one.is_answerable], values[~one.is_answerable]
        low, high = auroc_interval(here, there)
        aside = auroc(values[one.is_answerable & one.is_aside], values[~one.is_answerable & one.is_aside])
        rejected = " | ".join(
            f"{np.mean(values[side & one.is_aside] < thresholds[name]):.1%}" for side, _ in _sides(one)
        )
        yield (
            f"| {one.of.name}, {sides} | {name} | {auroc(here, there):.3f} [{low:.3f}, {high:.3f}]"
            f" | {aside:.3f} | {rejected} |"
        )


def bars(sets: Sequence[Scored], name: str, verdict: str) -> Iterator[str]:
    """Whether the score meets the bars for AUROC, and the verdict those for "none"."""
    for one in sets:
        values = one.column(name)
        found = auroc(values[one.is_answerable], values[~one.is_answerable])
        bar = AUROC_BARS.get(one.of.kind)
        if bar is not None:
            yield f"- {one.of.name}: AUROC of {name} {found:.3f}, bar {bar} {_met(found >= bar)}"
        if verdict:
            wrong, right = (float(one.is_none[side].mean()) for side, _ in _sides(one))
            yield f"- {one.of.name}: none on {wrong:.1%} of the answerable {_met(wrong <= REJECTED)}"
            if one.of.kind in (FAR, NOISE):
                yield f"- {one.of.name}: none on {right:.1%} of the unanswerable {_met(right >= NONE_BAR)}"
            else:
                yield f"- {one.of.name}: none on {right:.1%} of the unanswerable"


def _met(is_met: bool) -> str:
    return "(met)" if is_met else "(**missed**)"


def save(sets: Sequence[Scored], file: Path) -> None:
    """Write the scores of every query as JSON."""
    told = [
        {
            "set": one.of.name,
            "kind": one.of.kind,
            "scores": one.names,
            "queries": [
                [text, TUNE if not aside else ASIDE, bool(answerable), bool(none), values]
                for text, aside, answerable, none, values in zip(
                    one.texts, one.is_aside, one.is_answerable, one.is_none, one.values.tolist(), strict=True
                )
            ],
        }
        for one in sets
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(told, ensure_ascii=False), "utf-8")


def score_sets(given: argparse.Namespace, work: Path) -> Iterator[Scored]:
    """The wanted sets, each searched."""
    for one in confidence_sets(given.data, work):
        if is_wanted(one.name, given.sets):
            with opened(one.query_set, work, given.provider) as open_set:
                yield score_set(one, open_set, given)


def main() -> None:
    """Print the table, then the bars."""
    parser = options(__doc__, chosen="")
    parser.add_argument(
        "--provider", default="wordllama", help="what embeds: wordllama, multilingual, e5, minilm"
    )
    parser.add_argument("--field", default="")
    parser.add_argument("--only-field", action="store_true")
    parser.add_argument("--verdict", default="")
    parser.add_argument("--save", type=Path)
    given = parser.parse_args()
    if given.data is None:
        parser.error("DATA is missing")
    if given.only_field and not given.field:
        parser.error("--only-field needs --field")
    with folder(given.work) as work:
        sets = list(score_sets(given, work))
    if not sets:
        parser.error(f"no set is named {given.sets}")
    if not given.only_field:
        sets = with_combined(sets)
    if given.save is not None:
        save(sets, given.save)
    thresholds = {name: threshold(sets, name) for name in sets[0].names}
    print(
        "\n| set, answerable / unanswerable | score | AUROC | aside | rejected answerable | rejected others |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for one in sets:
        for row in rows(one, thresholds):
            print(row)
    print()
    for line in bars(sets, given.field or COMBINED, given.verdict):
        print(line)


if __name__ == "__main__":
    main()
