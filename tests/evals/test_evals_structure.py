"""Layer 1: each key of `expected` is a check that can fail."""

import pytest
from eval_lab import found

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
FIVE = "1.md, 2.md, 3.md, 4.md, 5.md"


@pytest.mark.parametrize(
    ("expected", "answer", "reasons"),
    [
        (StructureExpected(min_findings=7), MANY, ["min_findings: 6 of at least 7"]),
        (StructureExpected(min_findings=6), MANY, []),
        (
            StructureExpected(must_have_source=("7.md", "6.md", "8.md")),
            MANY,
            [
                f"must_have_source: 7.md is not in {FIVE} and 1 more",
                f"must_have_source: 8.md is not in {FIVE} and 1 more",
            ],
        ),
        (
            StructureExpected(must_have_source=("7.md",)),
            found(*FIVE.split(", ")),
            [f"must_have_source: 7.md is not in {FIVE}"],
        ),
        (
            StructureExpected(must_have_source=("7.md",)),
            found(),
            ["must_have_source: 7.md is not in nothing"],
        ),
        (
            StructureExpected(sources_in_order=("2.md", "7.md", "8.md")),
            MANY,
            [f"sources_in_order: 7.md, 8.md not in {FIVE} and 1 more"],
        ),
        (
            StructureExpected(sources_in_order=("3.md", "2.md", "6.md")),
            MANY,
            ["sources_in_order: 3.md at 3, 2.md at 2, 6.md at 6"],
        ),
        (StructureExpected(sources_in_order=("2.md", "3.md", "6.md")), MANY, []),
        (
            StructureExpected(sources_in_order=("2.md", "2.md")),
            MANY,
            ["sources_in_order: 2.md at 2, 2.md at 2"],
        ),
        (StructureExpected(must_have_citation=True), MANY, ["must_have_citation: the answer cites nothing"]),
        (
            StructureExpected(forbidden_keywords_in_findings=("iron", "rust")),
            found("1.md", "2.md", text="Rust"),
            ["forbidden_keywords_in_findings: 'rust' occurs in 1.md, 2.md"],
        ),
        (
            StructureExpected(expected_paths=("6.md", "1.md", "4.md"), expected_in_top_k=3),
            MANY,
            [
                "expected_paths: 6.md is note 6, expected among the first 3",
                "expected_paths: 4.md is note 4, expected among the first 3",
            ],
        ),
        (StructureExpected(expected_paths=("6.md",), expected_in_top_k=6), MANY, []),
        (StructureExpected(expected_paths=("6.md",)), MANY, []),
        (StructureExpected(expected_empty=True), MANY, [f"expected_empty: found {FIVE} and 1 more"]),
        (StructureExpected(expected_empty=True), AgentAnswer(MANY.findings, declined=True), []),
        (StructureExpected(expected_empty=True), AgentAnswer(), []),
        (StructureExpected(must_have_citation=True), ANSWER, []),
        (StructureExpected(forbidden_keywords_in_findings=("rust",)), ANSWER, []),  # "Trust"
        (StructureExpected(expected_paths=("C.md",), expected_in_top_k=3), ANSWER, []),  # A.md counts once
    ],
)
def test_each_reason_says_what_is_there_instead(
    expected: StructureExpected, answer: AgentAnswer, reasons: list[str]
) -> None:
    assert list(check_structure(expected, answer).reasons) == reasons


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


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("Trust the dough", "rust", False),
        ("Rust, and trust", "rust", True),
        ("the  WARM\nplace", "warm place", True),
        ("夏の大三角を探す", "大三角", True),
        ("F52: fan", "f52", True),
        ("F521", "F52", False),
        ("anything", " ", False),
        ("", "rust", False),
        ("trust rust", "rust", True),
        ("rusty robust rust", "rust", True),
        ("rust-free", "rust", True),
        ("a b", "a  b", True),
        ("ﬁne Straße", "FINE STRASSE", True),
        ("-rust", "-rust", True),
    ],
)
def test_a_keyword_is_not_a_part_of_a_word(text: str, phrase: str, expected: bool) -> None:
    assert holds(text, phrase) is expected
