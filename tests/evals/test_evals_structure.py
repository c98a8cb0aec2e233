"""Layer 1: each key of `expected` is a check that can fail."""

from pathlib import Path

from eval_lab import found
from golden_cases import check_golden, of_parts

from vault_evals.agents import AgentAnswer, CitedSpan, Finding
from vault_evals.cases import StructureExpected
from vault_evals.runner import check_structure
from vault_evals.wording import holds

ANSWER = AgentAnswer(
    found("A.md", "B.md", "A.md", "C.md", text="Trust the dough.").findings,
    citations=(CitedSpan("A.md", 0, 5, ""),),
)


def test_the_score_is_the_part_that_passed() -> None:
    expected = StructureExpected(min_findings=1, must_have_source=("A.md", "X.md"), expected_paths=("Y.md",))
    outcome = check_structure(expected, ANSWER)
    assert (outcome.verdict, outcome.score, len(outcome.reasons)) == ("fail", 0.5, 2)


MANY = found("1.md", "2.md", "3.md", "4.md", "5.md", "6.md", text="Rust")
ANSWERS = {
    "ANSWER": ANSWER,
    "MANY": MANY,
    "FIVE": found("1.md", "2.md", "3.md", "4.md", "5.md"),
    "TWO": found("1.md", "2.md", text="Rust"),
    "NONE": found(),
    "DECLINED": AgentAnswer(MANY.findings, declined=True),
}
"""The answers of the golden."""


def test_each_reason_says_what_is_there_instead() -> None:
    def reasons(expected: str, answer: str) -> str:
        outcome = check_structure(StructureExpected.model_validate_json(expected), ANSWERS[answer])
        return " / ".join(outcome.reasons) or "as expected"

    check_golden(
        Path(__file__).parent / "fixtures" / "structure.md",
        {"What is there instead": of_parts(reasons), "A keyword is not a part of a word": of_parts(holds)},
    )


def test_a_part_of_a_document_is_found_where_a_finding_is_on_it() -> None:
    places = [("A.md", ""), ("a.pdf", "page 3"), ("talk.pptx", "slide 2"), ("a.pdf", "page 12")]
    answer = AgentAnswer(tuple(Finding(path, "", part) for path, part in places))
    wanted = ("a.pdf#page=3", "a.pdf#page=12", "talk.pptx#slide=2", "a.pdf", "a.pdf#page=4", "A.md#page=1")
    expected = StructureExpected(
        must_have_source=wanted,
        sources_in_order=("A.md", "a.pdf#page=12"),
        expected_paths=wanted[:3],
        expected_in_top_k=2,
    )
    shown = "A.md, a.pdf#page=3, talk.pptx#slide=2, a.pdf#page=12"
    assert list(check_structure(expected, answer).reasons) == [
        f"must_have_source: a.pdf#page=4 is not in {shown}",
        f"must_have_source: A.md#page=1 is not in {shown}",
        "expected_paths: talk.pptx#slide=2 is note 3, expected among the first 2",
    ]


def test_paths_that_differ_in_their_unicode_form_are_one() -> None:
    expected = StructureExpected(expected_paths=("Caf\u00e9.md",))
    assert check_structure(expected, found("Cafe\u0301.md")).verdict == "pass"
