"""A ranking report as Markdown for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from vault_indexer.evals.ranking.comparison import ALL, Against, RankingReport, Slice, VariantRow
from vault_indexer.evals.ranking.statistics import Interval
from vault_indexer.text.control_characters import json_text
from vault_indexer.text.counts import quantity


def as_json(report: RankingReport) -> str:
    """Every value of the report, by the names of its fields."""
    return json_text(asdict(report), indent=2)


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
        yield f"| {' | '.join(_cells(row))} |"
    smallest = {row.variant: row.against.smallest for row in one.rows if row.against and row.against.smallest}
    yield ""
    if smallest:
        shown = ", ".join(f"{value:.3f} ({name})" for name, value in smallest.items())
        yield from (
            f"The smallest difference in nDCG@{k} that {quantity(one.questions, 'question')} can show "
            f"(four times in five, at p .05 after Holm): {shown}.",
            "",
        )


def _cells(row: VariantRow) -> Iterator[str]:
    yield row.variant
    for interval in (row.ndcg, row.mrr, row.recall):
        yield _interval(interval)
    yield f"{row.judged:.2f}"
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
