"""What a report says of the measures of a run: slices, intervals, the gate; as Markdown and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from golden_cases import compare_golden

from vault_evals.comparison import Against, RankingReport, Slice, VariantRow, as_json, as_markdown, compare
from vault_evals.questions import Question
from vault_evals.ranking import RankingRun, Scores
from vault_evals.statistics import Interval, Lift
from vault_indexer.errors import UsageError


def invented(values: dict[str, Sequence[float]]) -> RankingRun:
    """A run of judged questions with these values of nDCG."""
    size = len(next(iter(values.values())))
    questions = tuple(
        Question(f"q{at}", f"q{at}", {f"{at}.md": 1}, language="en" if at % 2 else "es") for at in range(size)
    )
    scores = {name: tuple(Scores(one, one, one, 1.0) for one in own) for name, own in values.items()}
    return RankingRun(10, questions, (), scores)


def test_languages_are_reported_each_with_an_interval() -> None:
    report = compare(invented({"one": [0.2, 0.8] * 10, "two": [0.4, 0.8] * 10}))
    by_name = {one.name: one for one in report.slices}
    assert set(by_name) == {"all", "language en", "language es"}
    assert by_name["language es"].rows[0].ndcg.mean == pytest.approx(0.2)
    against = by_name["all"].rows[1].against
    assert against is not None
    assert against.difference.low <= 0.1 <= against.difference.high
    assert by_name["all"].rows[0].against is None


def test_a_language_that_few_generated_questions_have_makes_no_slice() -> None:
    languages = ["en"] * 585 + ["da"] * 11 + ["es"] * 40 + ["fr"] * 9 + [""] * 3
    kinds = {"generated": "sentence", "judged": "judged"}
    for source, kind in kinds.items():
        questions = tuple(
            Question(f"q{at}", f"q{at}", {f"{at}.md": 1}, kind, language)
            for at, language in enumerate(languages)
        )
        scores = tuple(Scores(at % 2, at % 2, at % 2, 1.0) for at in range(len(languages)))
        report = compare(RankingRun(10, questions, (), {"one": scores}))
        found = {one.name for one in report.slices if one.source == source}
        few = {"language da", "language fr", "language unknown"}
        wanted = {"all", "language en", "language es"} | (few if source == "judged" else set())
        assert found == wanted


def test_an_unknown_baseline_names_the_variants() -> None:
    with pytest.raises(UsageError, match="one, two"):
        compare(invented({"one": [1.0], "two": [1.0]}), "three")


def test_the_gate_fails_a_variant_that_is_worse_in_one_language() -> None:
    """Spanish questions (the even ones) lose what English ones win several times over."""
    run = invented({"base": [0.5, 0.2] * 12, "english": [0.44, 0.98] * 12, "both": [0.6, 0.3] * 12})
    report = compare(run, "base", min_lift_pct=5)
    assert [one.partition(": language")[0] for one in report.failures] == ["judged: english"]
    assert "language es: " in report.failures[0] and "language en" not in report.failures[0]
    text = as_markdown(report)
    assert "judged, english: pass: " in text
    assert "judged, english (language es): fail: -12.0%" in text
    assert "judged, english (language en): pass: +390.0%" in text


def test_the_report_has_the_scores_of_each_question() -> None:
    found = json.loads(as_json(compare(invented({"one": [0.2, 0.8], "two": [0.4, 0.7]}))))
    assert [one["id"] for one in found["questions"]] == ["q0", "q1"]
    assert found["questions"][1]["language"] == "en"
    assert found["questions"][1]["scores"]["two"]["ndcg"] == 0.7


def row(variant: str, mean: float, against: Against | None = None) -> VariantRow:
    return VariantRow(
        variant, Interval(mean, 0.1, 0.9), Interval(0.25, 0.2, 0.3), Interval(0.75, 0.7, 0.8), 0.625, against
    )


def invented_report() -> RankingReport:
    better = Lift(Interval(20.04, -1.26, 30.06), 0.04, passes=True, reason="it reaches +5%")
    unknown = Lift(None, 0.5, passes=False, reason="there is no percentage")
    one = Against(Interval(0.1, -0.05, 0.15), 0.001, 0.0625, better)
    two = Against(Interval(-0.1, -0.2, 0.05), 0.0009, None, unknown)
    rows = (row("base", 0.5), row("one", 0.6, one), row("two", 0.4, two))
    slices = (
        Slice("judged", "all", 10, rows),
        Slice("judged", "language de", 9, rows[:2]),
        Slice("generated", "link", 1, rows[:2]),
    )
    return RankingReport(10, "base", 5.0, slices, ("a",), (), 1.0)


def test_a_report_is_a_table_for_each_slice() -> None:
    compare_golden(Path(__file__).parent / "fixtures" / "ranking.md", as_markdown(invented_report()))


def test_a_report_without_questions_says_so() -> None:
    empty = RankingReport(5, "base", None, (), ("a", "b"), (), 1.0)
    assert as_markdown(empty) == (
        "# Ranking\n\nNo questions were asked.\n\n2 questions are stale: notes have changed since.\n"
    )


def test_where_nothing_differs_no_smallest_difference_is_printed() -> None:
    report = invented_report()
    whole = report.slices[0]
    same = replace(whole, rows=(whole.rows[0], whole.rows[2]))
    text = as_markdown(replace(report, slices=(same,), stale=(), min_lift_pct=None))
    assert text.endswith("| <0.001 |\n")


def test_json_has_null_where_there_are_too_few_questions() -> None:
    whole, german, _ = json.loads(as_json(invented_report()))["slices"]
    assert whole["rows"][1]["against"]["lift"]["percent"]["low"] == -1.26
    assert german["rows"][1]["ndcg"] == {"mean": 0.6, "low": None, "high": None}
    against = german["rows"][1]["against"]
    assert against["difference"] == {"mean": 0.1, "low": None, "high": None}
    assert (against["p"], against["smallest"], against["lift"]["p"]) == (None, None, None)
    assert (against["lift"]["passes"], against["lift"]["reason"]) == (True, "it reaches +5%")


def test_the_questions_of_one_part_are_compared_alone() -> None:
    run = invented({"one": [0.2, 0.8] * 6})
    for part in ("tune", "aside"):
        own = [one.id for one in run.questions if one.part == part]
        report = compare(run, part=part)
        assert 0 < len(own) < 12
        assert [one.id for one in report.questions] == own
        assert report.slices[0].questions == len(own)


def test_sources_and_kinds_make_slices_of_their_own() -> None:
    kinds = ["judged", "clicked", "link", "sentence", "link"]
    run = invented({"one": [0.1 * at for at in range(5)]})
    questions = [replace(one, kind=kind, language="") for one, kind in zip(run.questions, kinds, strict=True)]
    report = compare(replace(run, questions=tuple(questions)))
    assert [(one.source, one.name, one.questions) for one in report.slices] == [
        ("judged", "all", 1),
        ("clicked", "all", 1),
        ("generated", "all", 3),
        ("generated", "link", 2),
        ("generated", "sentence", 1),
    ]
    assert report.slices[3].rows[0].ndcg.mean == pytest.approx(0.3)
    assert [one.is_gated for one in report.slices] == [True, True, True, False, False]
