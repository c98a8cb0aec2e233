"""The report of a run over several configurations: means with intervals, and each against a baseline.

User questions and generated ones are never pooled, nor are those of different user sources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from vault_evals.questions import GENERATED_KINDS, Question
from vault_evals.ranking import RankingRun, Scores
from vault_evals.statistics import (
    Interval,
    Lift,
    holm,
    lifts,
    mean_interval,
    paired_difference,
    randomisation_p,
    smallest_difference,
)
from vault_indexer.errors import UsageError
from vault_indexer.system import record
from vault_indexer.text.control_characters import json_text
from vault_indexer.text.phrases import quantity

GENERATED = "generated"
ALL = "all"
_LANGUAGE = "language "
MEASURES = ("ndcg", "mrr", "recall")

LEAST_FOR_INTERVALS = 10
"""The minimum number of questions for intervals. Resamples of fewer are too similar to show uncertainty."""

LEAST_SHARE_OF_LANGUAGE = 0.02
"""The language of a generated question is the detected language of its note. A language with a smaller share
is most likely a mistake."""


@record
class Against:
    """A configuration against the baseline, over the same questions, by nDCG.

    `difference` is the mean of the differences with its paired interval, `p` of a randomisation test after
    Holm's correction over all configurations. `smallest` is the smallest difference that this number of
    questions can show (None: unknown, since the two do not differ). `lift` is None if no lift is required.
    """

    difference: Interval
    p: float
    smallest: float | None
    lift: Lift | None


@record
class VariantRow:
    """One configuration in one slice; `against` is None for the baseline itself. `judged` is the mean share
    of the notes of an answer that have a grade."""

    variant: str
    ndcg: Interval
    mrr: Interval
    recall: Interval
    judged: float
    against: Against | None


@record
class Slice:
    """A part of the questions of one source: all ("all"), a kind or a language."""

    source: str
    name: str
    questions: int
    rows: tuple[VariantRow, ...]

    @property
    def has_intervals(self) -> bool:
        """Whether there are enough questions to show intervals and values derived from them."""
        return self.questions >= LEAST_FOR_INTERVALS

    @property
    def is_gated(self) -> bool:
        """Whether a variant must reach the required lift here: over all questions, and in each language."""
        return self.name == ALL or self.name.startswith(_LANGUAGE)


@record
class QuestionScores:
    """The scores of each variant for one question."""

    id: str
    source: str
    kind: str
    language: str
    scores: Mapping[str, Scores]


@record
class RankingReport:
    """All slices. `failures` contains the reasons of configurations that miss the required lift over all
    questions of a source, or in one of their languages. `questions` are those that were run."""

    k: int
    baseline: str
    min_lift_pct: float | None
    slices: tuple[Slice, ...]
    stale: tuple[str, ...]
    failures: tuple[str, ...]
    seconds: float
    questions: tuple[QuestionScores, ...] = ()


def source_of(question: Question) -> str:
    """The source of a question: "judged", "clicked" or "generated"."""
    return GENERATED if question.kind in GENERATED_KINDS else question.kind


def compare(
    run: RankingRun, baseline: str = "", min_lift_pct: float | None = None, *, part: str = ""
) -> RankingReport:
    """The report of a run; the baseline is the first variant unless named. With `part`, only the questions of
    that part count. Raises UsageError for a baseline that was not run."""
    baseline = baseline or next(iter(run.scores), "")
    if baseline not in run.scores:
        raise UsageError(f"baseline {baseline!r}: it must be one of the variants, {', '.join(run.scores)}")
    slices = tuple(
        _slice(run, source, name, at, baseline, min_lift_pct) for source, name, at in _slices(run, part)
    )
    stale = tuple(one.id for one in run.stale)
    failures, asked = tuple(_failures(slices)), tuple(_question_scores(run, part))
    return RankingReport(run.k, baseline, min_lift_pct, slices, stale, failures, run.seconds, asked)


def _failures(slices: Sequence[Slice]) -> Iterator[str]:
    """A line for each variant of a source that misses the lift, over all questions or in a language."""
    reasons: dict[tuple[str, str], dict[str, str]] = {}
    for one in slices:
        for row in one.rows if one.is_gated else ():
            if row.against and row.against.lift and not row.against.lift.passes:
                reasons.setdefault((one.source, row.variant), {})[one.name] = row.against.lift.reason
    for (source, variant), by_slice in reasons.items():
        by_language = "; ".join(f"{name}: {reason}" for name, reason in by_slice.items())
        yield f"{source}: {variant}: {by_slice.get(ALL, by_language)}"


def _question_scores(run: RankingRun, part: str) -> Iterator[QuestionScores]:
    for at, one in enumerate(run.questions):
        if not part or one.part == part:
            scores = {variant: own[at] for variant, own in run.scores.items()}
            yield QuestionScores(one.id, source_of(one), one.kind, one.language, scores)


def _slices(run: RankingRun, part: str) -> Iterator[tuple[str, str, list[int]]]:
    wanted = [(at, one) for at, one in enumerate(run.questions) if not part or one.part == part]
    for source in dict.fromkeys(source_of(one) for _, one in wanted):
        own = [(at, one) for at, one in wanted if source_of(one) == source]
        yield source, ALL, [at for at, _ in own]
        kinds, languages = sorted({one.kind for _, one in own}), _languages([one for _, one in own])
        for kind in kinds if len(kinds) > 1 else ():
            yield source, kind, [at for at, one in own if one.kind == kind]
        for language in languages if len(languages) > 1 else ():
            name = f"{_LANGUAGE}{language or 'unknown'}"
            yield source, name, [at for at, one in own if one.language == language]


def _languages(questions: Sequence[Question]) -> list[str]:
    """The languages that form a slice. Those of user questions all do."""
    counts = Counter(question.language for question in questions)
    if not questions[0].is_generated:
        return sorted(counts)
    least = max(LEAST_FOR_INTERVALS, LEAST_SHARE_OF_LANGUAGE * len(questions))
    return sorted(language for language, count in counts.items() if count >= least)


def _slice(
    run: RankingRun, source: str, name: str, at: Sequence[int], baseline: str, min_lift_pct: float | None
) -> Slice:
    values = {variant: [scores[one] for one in at] for variant, scores in run.scores.items()}
    gains = {variant: [score.ndcg for score in scores] for variant, scores in values.items()}
    base = gains[baseline]
    others = {variant: own for variant, own in gains.items() if variant != baseline}
    apart = {variant: [b - a for a, b in zip(base, own, strict=True)] for variant, own in others.items()}
    p_values = holm({variant: randomisation_p(differences) for variant, differences in apart.items()})
    wanted = lifts(base, others, min_lift_pct) if min_lift_pct is not None else {}
    against = {
        variant: Against(
            paired_difference(base, own),
            p_values[variant],
            smallest_difference(apart[variant], len(others)),
            wanted.get(variant),
        )
        for variant, own in others.items()
    }
    rows = tuple(_row(variant, scores, against.get(variant)) for variant, scores in values.items())
    return Slice(source, name, len(at), rows)


def _row(variant: str, scores: Sequence[Scores], against: Against | None) -> VariantRow:
    ndcg, mrr, recall = (mean_interval([getattr(score, name) for score in scores]) for name in MEASURES)
    judged = sum(one.judged for one in scores) / len(scores)
    return VariantRow(variant, ndcg, mrr, recall, judged, against)


def as_json(report: RankingReport) -> str:
    """Every value of the report, by the names of its fields. In slices of few questions, intervals and values
    derived from them are null."""
    found = asdict(report)
    for one, shown in zip(report.slices, found["slices"], strict=True):
        if not one.has_intervals:
            shown["rows"] = [_without_intervals(row) for row in shown["rows"]]
    return json_text(found, indent=2)


def _without_intervals(value: object) -> object:
    if isinstance(value, dict):
        return {key: None if key in _OF_INTERVALS else _without_intervals(one) for key, one in value.items()}
    return value


_OF_INTERVALS = frozenset({"low", "high", "p", "smallest"})


def as_markdown(report: RankingReport) -> str:
    """The mean nDCG of all slices in one table, followed by a detailed table for each slice with the smallest
    difference that its number of questions can show."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: RankingReport) -> Iterator[str]:
    yield from ("# Ranking", "")
    if len(report.slices) > 1:
        yield from _overview_lines(report)
    for one in report.slices:
        yield from _slice_lines(one, report)
    if not report.slices:
        yield from ("No questions were asked.", "")
    if report.stale:
        was = "is" if len(report.stale) == 1 else "are"
        yield from (f"{quantity(len(report.stale), 'question')} {was} stale: notes have changed since.", "")
    if report.min_lift_pct is not None:
        yield from _gate_lines(report)


def _overview_lines(report: RankingReport) -> Iterator[str]:
    variants = list(dict.fromkeys(row.variant for part in report.slices for row in part.rows))
    yield f"| nDCG@{report.k} | questions | {' | '.join(variants)} |"
    yield "| --- |" + " ---: |" * (1 + len(variants))
    for part in report.slices:
        means = {row.variant: f"{row.ndcg.mean:.3f}" for row in part.rows}
        cells = [means.get(variant, "") for variant in variants]
        yield f"| {part.source}, {part.name} | {part.questions} | {' | '.join(cells)} |"
    yield ""


def _slice_lines(one: Slice, report: RankingReport) -> Iterator[str]:
    yield from (f"## {one.source}, {one.name}: {quantity(one.questions, 'question')}", "")
    k = report.k
    measures = (f"{name}@{k}" for name in ("nDCG", "MRR", "recall", "judged"))
    titles = ("variant", *measures, f"against {report.baseline}", "p (Holm)")
    yield f"| {' | '.join(titles)} |"
    yield "| --- |" + " ---: |" * (len(titles) - 1)
    for row in one.rows:
        yield f"| {' | '.join(_cells(row, has_intervals=one.has_intervals))} |"
    smallest = {row.variant: row.against.smallest for row in one.rows if row.against and row.against.smallest}
    yield ""
    if not one.has_intervals:
        yield from ("Too few questions for intervals: do not infer differences from these means.", "")
    elif smallest:
        shown = ", ".join(f"{value:.3f} ({name})" for name, value in smallest.items())
        yield from (
            f"The smallest difference in nDCG@{k} that {quantity(one.questions, 'question')} can show "
            f"(four times in five, at p .05 after Holm): {shown}.",
            "",
        )


def _cells(row: VariantRow, *, has_intervals: bool) -> Iterator[str]:
    yield row.variant
    for interval in (row.ndcg, row.mrr, row.recall):
        yield _interval(interval) if has_intervals else f"{interval.mean:.3f}"
    yield f"{row.judged:.2f}"
    if not has_intervals:
        yield from (f"{row.against.difference.mean:+.3f}" if row.against else "", "")
    elif row.against is None:
        yield from ("", "")
    else:
        yield _interval(row.against.difference, sign="+")
        yield f"{row.against.p:.3f}" if row.against.p >= 0.001 else "<0.001"


def _gate_lines(report: RankingReport) -> Iterator[str]:
    yield from (f"## Lift of at least {report.min_lift_pct:g}% over {report.baseline}", "")
    for one in report.slices:
        where = "" if one.name == ALL else f" ({one.name})"
        for row in one.rows if one.is_gated else ():
            lift = row.against.lift if row.against else None
            if lift is not None:
                shown = "" if lift.percent is None else f" {_percent(lift.percent)}:"
                verdict = "pass" if lift.passes else "fail"
                yield f"- {one.source}, {row.variant}{where}: {verdict}:{shown} {lift.reason}"
    yield ""


def _interval(one: Interval, sign: str = "") -> str:
    return f"{one.mean:{sign}.3f} [{one.low:{sign}.3f}, {one.high:{sign}.3f}]"


def _percent(one: Interval) -> str:
    return f"{one.mean:+.1f}% [{one.low:+.1f}%, {one.high:+.1f}%]"
