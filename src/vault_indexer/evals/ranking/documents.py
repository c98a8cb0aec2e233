"""A ranking report as Markdown for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from vault_indexer.evals.ranking.comparison import ALL, Against, RankingReport, Slice, VariantRow
from vault_indexer.evals.ranking.statistics import Interval
from vault_indexer.text.control_characters import json_text
from vault_indexer.text.phrases import quantity


def as_json(report: RankingReport) -> str:
    """Every value of the report, by the names of its fields. Slices of few questions have means without
    intervals and what is made of them: null."""
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
    """A table for each slice, and below it the smallest difference that so many questions can show."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: RankingReport) -> Iterator[str]:
    yield from ("# Ranking", "")
    for one in report.slices:
        yield from _slice_lines(one, report)
    if not report.slices:
        yield from ("No questions were asked.", "")
    if report.stale:
        was = "is" if len(report.stale) == 1 else "are"
        yield from (f"{quantity(len(report.stale), 'question')} {was} stale: notes have changed since.", "")
    if report.min_lift_pct is not None:
        yield from _gate_lines(report)


def _slice_lines(one: Slice, report: RankingReport) -> Iterator[str]:
    yield from (f"## {one.source}, {one.name}: {quantity(one.questions, 'question')}", "")
    k = report.k
    titles = (
        "variant",
        f"nDCG@{k}",
        f"MRR@{k}",
        f"recall@{k}",
        f"judged@{k}",
        f"against {report.baseline}",
        "p (Holm)",
    )
    yield f"| {' | '.join(titles)} |"
    yield "| --- |" + " ---: |" * (len(titles) - 1)
    for row in one.rows:
        yield f"| {' | '.join(_cells(row, has_intervals=one.has_intervals))} |"
    smallest = {row.variant: row.against.smallest for row in one.rows if row.against and row.against.smallest}
    yield ""
    if not one.has_intervals:
        yield from ("Too few questions for intervals: read no difference from these means.", "")
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
        return
    yield from _against_cells(row.against)


def _against_cells(against: Against | None) -> Iterator[str]:
    if against is None:
        yield from ("", "")
        return
    yield _interval(against.difference, sign="+")
    yield f"{against.p:.3f}" if against.p >= 0.001 else "<0.001"


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
