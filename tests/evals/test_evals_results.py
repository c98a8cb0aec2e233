"""What a run found: counts by group, what changed since a baseline, and the report in words."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from golden_cases import compare_golden

from vault_evals.cases import AgentInput, GoldenCase, Layer, StructureExpected
from vault_evals.results import (
    Baseline,
    BaselineDiff,
    CaseVerdict,
    Counts,
    JudgeUse,
    LayerResult,
    SuiteReport,
    json_report,
    markdown_report,
    summarize,
    summary_line,
)
from vault_indexer.errors import UsageError


def case(name: str, layer: Layer, agent: str, language: str = "") -> GoldenCase:
    expected = StructureExpected(min_findings=1)
    return GoldenCase(name, agent, layer, AgentInput(query=name), expected, {"language": language})


def result(
    name: str,
    verdict: CaseVerdict,
    *reasons: str,
    layer: Layer = 1,
    score: float | None = None,
    duration_ms: float = 1.0,
) -> LayerResult:
    return LayerResult(name, layer, verdict, score, reasons, duration_ms)


CASES = (
    case("a", 1, "search", "en"),
    case("b", 2, "ask", "de"),
    case("c", 2, "search", "de"),
    case("d", 3, "ask"),
    case("e", 1, "search", "en"),
)
RESULTS = (
    result("a", "pass", "said", score=1.0, duration_ms=0.4),
    result("b", "fail", "one\nof two", "three | four", layer=2, score=0.126, duration_ms=12.6),
    result("c", "skip", "why", layer=2),
    result("d", "error", "", layer=3),
    result("e", "skip", "why", "also"),
)
SUMMARY = summarize(CASES, RESULTS, JudgeUse("none", 0, 0), live=False)
REPORT = SuiteReport("12:00", "12:01", (1, 3), RESULTS, SUMMARY)


def test_a_summary_counts_each_group_by_itself() -> None:
    assert SUMMARY.counts == Counts(1, 1, 2, 1)
    assert SUMMARY.counts.total == 5
    assert dict(SUMMARY.by_layer) == {
        "L1": Counts(1, 0, 1, 0),
        "L2": Counts(0, 1, 1, 0),
        "L3": Counts(errors=1),
    }
    assert dict(SUMMARY.by_agent) == {"ask": Counts(0, 1, 0, 1), "search": Counts(1, 0, 2, 0)}
    assert dict(SUMMARY.by_language) == {"de": Counts(0, 1, 1, 0), "en": Counts(1, 0, 1, 0)}
    for groups in (SUMMARY.by_layer, SUMMARY.by_agent, SUMMARY.by_language):
        assert list(groups) == sorted(groups)
    assert list(SUMMARY.skip_reasons.items()) == [("also", 1), ("why", 2)]
    assert (SUMMARY.nothing_ran, SUMMARY.live) == (False, False)
    assert summarize(CASES, RESULTS, JudgeUse("none", 0, 0), live=True).live


@pytest.mark.parametrize(
    ("verdicts", "status", "failures", "nothing"),
    [
        (("pass",), 0, 0, False),
        (("pass", "skip"), 0, 0, False),
        (("pass", "fail"), 1, 1, False),
        (("pass", "error"), 1, 1, False),
        (("skip", "skip"), 1, 0, True),
        (("fail", "error", "skip"), 1, 2, False),
    ],
)
def test_the_exit_status_is_that_of_the_worst(
    verdicts: tuple[CaseVerdict, ...], status: int, failures: int, nothing: bool
) -> None:
    cases = [case(f"{at}", 1, "search") for at in range(len(verdicts))]
    results = tuple(result(f"{at}", verdict) for at, verdict in enumerate(verdicts))
    summary = summarize(cases, results, JudgeUse("none", 0, 0), live=False)
    report = SuiteReport("", "", (1,), results, summary)
    assert (report.exit_status, len(report.failures), summary.nothing_ran) == (status, failures, nothing)


@pytest.mark.parametrize(
    ("counts", "line"),
    [
        (Counts(), "0 cases: 0 passed, 0 failed"),
        (Counts(2, 1), "3 cases: 2 passed, 1 failed"),
        (Counts(1, 0, 2, 3), "6 cases: 1 passed, 0 failed, 3 could not be decided, 2 skipped"),
    ],
)
def test_skipped_and_undecided_cases_are_named_where_there_are_any(counts: Counts, line: str) -> None:
    assert summary_line(replace(SUMMARY, counts=counts)) == line
    one = summarize(CASES[:1], RESULTS[:1], JudgeUse("none", 0, 0), live=False)
    assert summary_line(one) == "1 case: 1 passed, 0 failed"


def test_a_report_for_a_person_has_the_counts_the_failures_and_all_cases() -> None:
    compare_golden(Path(__file__).parent / "fixtures" / "evaluation.md", markdown_report(REPORT))


def test_a_report_says_that_it_shows_nothing_and_which_judge_decided() -> None:
    results = (result("c", "skip", "why"),)
    summary = summarize(CASES[:1], results, JudgeUse("small", 2, 1), live=True)
    text = markdown_report(SuiteReport("", "", (1,), results, summary))
    assert "- Citations: the files and pages as they are now\n" in text
    assert "- Judge: small; 2 answers needed one, 1 decided\n" in text
    assert "- **No case was run: this report shows nothing.**\n" in text
    assert "## Failures\n\nNone.\n\n## All cases\n" in text


def test_what_changed_since_a_baseline_stands_before_the_failures() -> None:
    diff = BaselineDiff("old.json", ("a", "b"), ("c",), (), ("d",), ())
    text = markdown_report(replace(REPORT, diff_vs_baseline=diff))
    assert (
        "\n\n## Since old.json\n\n- Failing now (2): `a`, `b`\n- Removed (1): `d`\n- Fixed (1): `c`\n"
        "\n## Failures"
    ) in text
    same = replace(diff, newly_failing=(), fixed=(), removed=())
    unchanged = markdown_report(replace(REPORT, diff_vs_baseline=same))
    assert "\n\n## Since old.json\n\nNothing changed.\n\n## Failures" in unchanged


@pytest.mark.parametrize("before", ["pass", "skip", "fail", "error"])
@pytest.mark.parametrize("now", ["pass", "skip", "fail", "error"])
def test_a_change_of_a_verdict_is_one_of_three(before: CaseVerdict, now: CaseVerdict) -> None:
    bad = ("fail", "error")
    found = Baseline("old", {"a": before, "z": "pass", "y": "pass"}).diff([result("a", now)], {"a"})
    assert found == BaselineDiff(
        "old",
        ("a",) if now in bad and before not in bad else (),
        ("a",) if now == "pass" and before in bad else (),
        ("a",) if now == "skip" and before != "skip" else (),
        ("y", "z"),
        (),
    )
    added = Baseline("old", {}).diff([result("b", now), result("a", now)], {"a", "b"})
    assert added == BaselineDiff("old", (), (), (), (), ("b", "a"))


def test_a_report_in_json_is_a_baseline(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(json_report(REPORT))
    assert json_report(REPORT).startswith('{\n  "started_at": "12:00",\n')
    verdicts = {"a": "pass", "b": "fail", "c": "skip", "d": "error", "e": "skip"}
    assert Baseline.read(file) == Baseline(str(file), verdicts)  # type: ignore[arg-type] # each is a verdict
    file.write_text(
        json.dumps({"results": [{"case_id": f"{one}", "verdict": one} for one in ("x", "a", "pass")]})
    )
    with pytest.raises(UsageError, match=r"verdict 'a': expected one of pass, skip, fail, error$"):
        Baseline.read(file)
    for text in ("", "[]", '{"results": [{"case_id": "a"}]}', "# Evaluation"):
        file.write_text(text)
        with pytest.raises(UsageError, match=re.escape(str(file))):
            Baseline.read(file)
