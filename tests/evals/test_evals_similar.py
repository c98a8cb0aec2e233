"""The passage of a text that is most like a quote, and how two texts differ."""

from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st

from vault_evals.wording import LEAST_ALIKE, closest_passage, diff_of

LONGER = "Knead the dough until it is smooth and soft."
TEXT = f"# Bread\n\nFlour first. {LONGER} Then rest.\n\n- salt and water\n  - a ripe starter \n"


def test_passages_and_differences_are_those_of_the_golden() -> None:
    def closest(quote: str) -> str:
        span = closest_passage(quote, TEXT)
        return TEXT[slice(*span)] if span else "none"

    golden = Path(__file__).parent / "fixtures" / "similar.md"
    check_golden(golden, {"The closest passage": closest, "The lines that differ": of_parts(diff_of)})


def test_only_the_text_between_the_bounds_counts() -> None:
    start = TEXT.index("Then")
    assert closest_passage(LONGER, TEXT, start) is None
    assert closest_passage(LONGER, TEXT, 0, TEXT.index("Knead")) is None
    assert closest_passage("Then rests.", TEXT, start, start + 10) == (start, start + 10)


@pytest.mark.parametrize(
    ("passage", "is_like"),
    [("a b c d e", True), ("abcxyzuvw", False), ("abcdefxyzu", False), ("abcdefgxyz", True)],
)
def test_below_a_ratio_it_is_another_passage(passage: str, is_like: bool) -> None:
    """Two texts of ten letters are as alike as the share of letters that they have in common, in order."""
    assert LEAST_ALIKE == 0.6
    quote = "a b c d f" if " " in passage else "abcdefghij"
    assert (closest_passage(quote, passage) == (0, len(passage))) == is_like


def test_of_two_that_are_as_alike_the_first_counts() -> None:
    assert closest_passage("One two three.", "One two threes.\nOne two threex.") == (0, 15)
    assert closest_passage("One two three.", "One two threesx.\nOne two threex.") == (17, 32)


def test_of_many_passages_those_that_share_most_words_are_compared() -> None:
    others = "".join(f"The quick brown fox jumps over lazy dog number {at}.\n" for at in range(40))
    text = f"{others}The lazy dog sleeps all day in the warm sun.\n"
    span = closest_passage("The lazy dog sleeps all day in the sun.", text)
    assert span == (len(others), len(text) - 1)


def test_a_long_passage_shares_little_of_what_it_says() -> None:
    more = " ".join(f"word{at}" for at in range(20))
    others = "".join(f"one two three four {more} {at}.\n" for at in range(40))
    span = closest_passage("one two three four.", f"{others}one two three five.\n")
    assert span == (len(others), len(others) + len("one two three five."))


def test_signs_have_no_words_to_share() -> None:
    assert closest_passage("+++++", "+++++") == (0, 5)


@given(st.lists(st.sampled_from(["One two.", "Three four five.", "# Six", "", "- seven"]), max_size=6))
def test_a_passage_that_stands_there_is_found_where_it_stands(lines: list[str]) -> None:
    text = "\n".join(lines)
    for line in filter(None, lines):
        span = closest_passage(line, text)
        assert span is not None
        assert text[slice(*span)] == line
