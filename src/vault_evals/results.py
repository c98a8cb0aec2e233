"""The results of a run: the result of each case, the report of the suite, and the changes since another
run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal, NamedTuple

from vault_evals.cases import GoldenCase, Layer
from vault_indexer.errors import UsageError
from vault_indexer.system import record
from vault_indexer.text.control_characters import json_text
from vault_indexer.text.phrases import quantity

CaseVerdict = Literal["pass", "fail", "skip", "error"]
"""The expectations are met; they are not; the case is about another vault; it could not be decided."""

VERDICTS: tuple[CaseVerdict, ...] = ("pass", "skip", "fail", "error")
"""From the best to the worst."""


@record
class Outcome:
    """The result of one layer's check; the fields are those of LayerResult."""

    verdict: CaseVerdict
    score: float | None
    reasons: tuple[str, ...] = ()


class Check(NamedTuple):
    """An expectation, and whether it is met. `reason` is shown if it is not, or if it is a remark."""

    passed: bool
    reason: str = ""
    is_remark: bool = False


def outcome_of(checks: Sequence[Check]) -> Outcome:
    """The outcome of at least one check; the score is the share that passed."""
    passed = sum(check.passed for check in checks)
    reasons = (check.reason for check in checks if check.is_remark or not check.passed)
    verdict: CaseVerdict = "pass" if passed == len(checks) else "fail"
    return Outcome(verdict, passed / len(checks), tuple(reasons))


@record
class LayerResult:
    """The result of one case. `score`, in [0, 1], is the share of its checks that passed, or in layer 3 the
    cosine; None if nothing was computed. `reasons` describe the failed checks, and remarks on the others."""

    case_id: str
    layer: Layer
    verdict: CaseVerdict
    score: float | None
    reasons: tuple[str, ...]
    duration_ms: float


@record
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    errors: int = 0

    @classmethod
    def of(cls, results: Iterable[LayerResult]) -> Counts:
        found = Counter(result.verdict for result in results)
        return cls(found["pass"], found["fail"], found["skip"], found["error"])

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.skipped + self.errors


@record
class JudgeUse:
    """The judge that a run had, how many answers were to be reviewed, and how often it answered.

    `answers` below `reviews`: it failed, or there is none.
    """

    name: str
    reviews: int
    answers: int


@record
class Summary:
    """The counts of a run, in all and by group. `skip_reasons` counts cases by why they were skipped."""

    counts: Counts
    by_layer: Mapping[str, Counts]
    by_agent: Mapping[str, Counts]
    by_language: Mapping[str, Counts]
    skip_reasons: Mapping[str, int]
    judge: JudgeUse
    live: bool = False

    @property
    def nothing_ran(self) -> bool:
        """Whether every case was skipped: such a run shows nothing, so it must not look like a success."""
        return self.counts.total == self.counts.skipped


@record
class BaselineDiff:
    """The changes since an earlier run, as ids of cases.

    `newly_failing` did not fail then and do now, `fixed` the other way round. `now_skipped` were not skipped
    then and are now. `removed` are no longer among the cases, `added` were not then.
    """

    baseline: str
    newly_failing: tuple[str, ...]
    fixed: tuple[str, ...]
    now_skipped: tuple[str, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]


@record
class SuiteReport:
    """A run. Times are UTC, ISO 8601. `diff_vs_baseline` is None if no baseline was given."""

    started_at: str
    finished_at: str
    layers_run: tuple[Layer, ...]
    results: tuple[LayerResult, ...]
    summary: Summary
    diff_vs_baseline: BaselineDiff | None = None

    @property
    def failures(self) -> tuple[LayerResult, ...]:
        """The unsuccessful results: failures, then errors."""
        return tuple(result for result in self.results if result.verdict in ("fail", "error"))

    @property
    def exit_status(self) -> int:
        """1 if a case failed or could not be decided, or if none was run at all; else 0."""
        return 1 if self.failures or self.summary.nothing_ran else 0


@record
class Baseline:
    """The verdicts of an earlier run, by id of the case; `name` is its file."""

    name: str
    verdicts: Mapping[str, CaseVerdict]

    @classmethod
    def read(cls, file: Path) -> Baseline:
        """Reads the run from a JSON report. Raises UsageError naming the file."""
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            verdicts = {str(one["case_id"]): one["verdict"] for one in data["results"]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"baseline {file}: not a JSON report of `indexer eval run`: {error}") from error
        odd = sorted({str(verdict) for verdict in verdicts.values()} - set(VERDICTS))
        if odd:
            raise UsageError(f"baseline {file}: verdict {odd[0]!r}: expected one of {', '.join(VERDICTS)}")
        return cls(str(file), verdicts)

    def diff(self, results: Sequence[LayerResult], known: Collection[str]) -> BaselineDiff:
        """The changes since the baseline. `known` contains the ids of all current cases, whether run or
        not."""
        newly_failing, fixed, now_skipped, added = [], [], [], []
        for result in results:
            before = self.verdicts.get(result.case_id)
            if before is None:
                added.append(result.case_id)
            elif result.verdict == "skip":
                now_skipped += [result.case_id] if before != "skip" else []
            elif _fails(result.verdict) and not _fails(before):
                newly_failing.append(result.case_id)
            elif _fails(before) and not _fails(result.verdict):
                fixed.append(result.case_id)
        removed = sorted(self.verdicts.keys() - set(known))
        return BaselineDiff(
            self.name, tuple(newly_failing), tuple(fixed), tuple(now_skipped), tuple(removed), tuple(added)
        )


def summarize(
    cases: Sequence[GoldenCase], results: Sequence[LayerResult], judge: JudgeUse, *, live: bool
) -> Summary:
    """The counts of the results of these cases, which are in the same order."""
    pairs = list(zip(cases, results, strict=True))
    skips = Counter(reason for result in results if result.verdict == "skip" for reason in result.reasons)
    return Summary(
        Counts.of(results),
        _counts_by([(f"L{case.layer}", result) for case, result in pairs]),
        _counts_by([(case.agent, result) for case, result in pairs]),
        _counts_by([(case.language, result) for case, result in pairs if case.language]),
        dict(sorted(skips.items())),
        judge,
        live,
    )


def _counts_by(pairs: Sequence[tuple[str, LayerResult]]) -> Mapping[str, Counts]:
    groups = sorted({group for group, _ in pairs})
    return {group: Counts.of(result for name, result in pairs if name == group) for group in groups}


def _fails(verdict: CaseVerdict) -> bool:
    return verdict in ("fail", "error")


def json_report(report: SuiteReport) -> str:
    """The report as JSON, which `Baseline.read` reads."""
    return json_text(asdict(report), indent=2) + "\n"


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
    """The counts in one line; skipped cases and errors are named if there are any."""
    counts = summary.counts
    parts = [f"{counts.passed} passed", f"{counts.failed} failed"]
    parts += [f"{counts.errors} could not be decided"] if counts.errors else []
    parts += [f"{counts.skipped} skipped"] if counts.skipped else []
    return f"{quantity(counts.total, 'case')}: {', '.join(parts)}"


def _summary(report: SuiteReport) -> Iterator[str]:
    summary = report.summary
    yield from ("## Summary", "", f"{summary_line(summary)}.", "")
    groups: Mapping[str, Counts] = {**summary.by_layer, **summary.by_agent, **summary.by_language}
    yield "| Group | Passed | Failed | Errors | Skipped |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, counts in groups.items():
        yield f"| {_cell(name)} | {counts.passed} | {counts.failed} | {counts.errors} | {counts.skipped} |"
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
    yield ""


def _judge(summary: Summary) -> str:
    judge = summary.judge
    if not judge.reviews:
        return f"{judge.name}; no answer needed one"
    return f"{judge.name}; {quantity(judge.reviews, 'answer')} needed one, {judge.answers} decided"


def _baseline(diff: BaselineDiff) -> Iterator[str]:
    yield from (f"## Since {diff.baseline}", "")
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
    yield from ("## Failures", "")
    if not failures:
        yield from ("None.", "")
    for result in failures:
        yield from (f"### `{result.case_id}`: {result.verdict}", "")
        for reason in result.reasons:
            first, *rest = reason.splitlines() or [""]
            yield f"- {first}"
            if rest:
                yield from ("", "  ```diff", *rest, "  ```", "")
        yield ""


def _all(results: Sequence[LayerResult]) -> Iterator[str]:
    yield from ("## All cases", "")
    yield "| Case | Layer | Verdict | Score | ms | Remarks |"
    yield "| --- | ---: | --- | ---: | ---: | --- |"
    for result in results:
        score = "" if result.score is None else f"{result.score:.2f}"
        remarks = _cell("; ".join(reason.partition("\n")[0] for reason in result.reasons))
        taken = f"{result.duration_ms:.0f}"
        yield f"| `{result.case_id}` | {result.layer} | {result.verdict} | {score} | {taken} | {remarks} |"


def _cell(text: str) -> str:
    """Escapes a text for a table cell: a bar or a line break in a reason would break the table."""
    return " ".join(text.replace("|", "\\|").split())
