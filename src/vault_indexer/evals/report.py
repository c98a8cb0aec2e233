"""The report of a run as text: Markdown for a person, JSON for a program and as a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vault_indexer.evals.results import BaselineDiff, Counts, LayerResult, SuiteReport, Summary
from vault_indexer.text.control_characters import json_text
from vault_indexer.text.phrases import quantity


def json_report(report: SuiteReport) -> str:
    """The report as one JSON object."""
    return json_text(report.as_json(), indent=2) + "\n"


def markdown_report(report: SuiteReport) -> str:
    """The report as Markdown: the summary, the failures, all results."""
    lines = [
        "# Evaluation",
        "",
        *_summary(report),
        *(_baseline(report.diff_vs_baseline) if report.diff_vs_baseline else ()),
        *_failures(report.failures),
        *_all(report.results),
    ]
    return "\n".join(lines) + "\n"


def summary_line(summary: Summary) -> str:
    """The counts in one line; skipped cases and errors are named whenever there are any."""
    counts = summary.counts
    parts = [f"{counts.passed} passed", f"{counts.failed} failed"]
    parts += [f"{counts.errors} could not be decided"] if counts.errors else []
    parts += [f"{counts.skipped} skipped"] if counts.skipped else []
    return f"{counts.total} cases: {', '.join(parts)}"


def _summary(report: SuiteReport) -> Iterator[str]:
    summary = report.summary
    yield "## Summary"
    yield ""
    yield f"{summary_line(summary)}."
    yield ""
    yield f"- Layers: {', '.join(map(str, report.layers_run))}"
    looked_up = "the files and pages as they are now" if summary.live else "the index and snapshots"
    yield f"- Citations: {looked_up}"
    yield f"- Started {report.started_at}, finished {report.finished_at}"
    yield f"- Judge: {_judge(summary)}"
    for reason, count in summary.skip_reasons.items():
        yield f"- Skipped: {count} ({reason})"
    if summary.nothing_ran:
        yield "- **No case was run: this report shows nothing.**"
    groups: Mapping[str, Counts] = {**summary.by_layer, **summary.by_agent, **summary.by_language}
    yield ""
    yield "| Group | Passed | Failed | Errors | Skipped |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, counts in groups.items():
        yield f"| {_cell(name)} | {counts.passed} | {counts.failed} | {counts.errors} | {counts.skipped} |"
    yield ""


def _judge(summary: Summary) -> str:
    judge = summary.judge
    if not judge.reviews:
        return f"{judge.name}; no answer needed one"
    return f"{judge.name}; {quantity(judge.reviews, 'answer')} needed one, {judge.answers} decided"


def _baseline(diff: BaselineDiff) -> Iterator[str]:
    yield f"## Since {diff.baseline}"
    yield ""
    lists = {
        "Failing now": diff.newly_failing,
        "Skipped now": diff.now_skipped,
        "Removed": diff.removed,
        "Fixed": diff.fixed,
        "Added": diff.added,
    }
    for name, ids in lists.items():
        if ids:
            yield f"- {name} ({len(ids)}): {', '.join(f'`{one}`' for one in ids)}"
    if not any(lists.values()):
        yield "Nothing changed."
    yield ""


def _failures(failures: Sequence[LayerResult]) -> Iterator[str]:
    yield "## Failures"
    yield ""
    if not failures:
        yield "None."
        yield ""
    for result in failures:
        yield f"### `{result.case_id}`: {result.verdict}"
        yield ""
        for reason in result.reasons:
            first, *rest = reason.splitlines() or [""]
            yield f"- {first}"
            if rest:
                yield from ("", "  ```diff", *rest, "  ```", "")
        yield ""


def _all(results: Sequence[LayerResult]) -> Iterator[str]:
    yield "## All cases"
    yield ""
    yield "| Case | Layer | Verdict | Score | ms | Remarks |"
    yield "| --- | ---: | --- | ---: | ---: | --- |"
    for one in results:
        score = "" if one.score is None else f"{one.score:.2f}"
        remarks = _cell("; ".join(reason.partition("\n")[0] for reason in one.reasons))
        taken = f"{one.duration_ms:.0f}"
        yield f"| `{one.case_id}` | {one.layer} | {one.verdict} | {score} | {taken} | {remarks} |"


def _cell(text: str) -> str:
    """What a table's cell may hold: a bar or a line break in a reason would break the table."""
    return " ".join(text.replace("|", "\\|").split())
