"""The parts of a document."""

import pytest

from vault_indexer.documents import part_at, part_spans, span_of_parts

TEXT = "One.\n\n\f\n\nTwo \fand three.\n"


def test_each_position_is_in_one_part() -> None:
    assert [TEXT[start:end].split() for start, end in part_spans(TEXT)] == [
        ["One."],
        ["Two"],
        ["and", "three."],
    ]
    assert part_at("a.pdf", TEXT, TEXT.index("Two")) == "page 2"
    assert part_at("a.PPTX", TEXT, TEXT.index("three")) == "slide 3"
    assert part_at("a.txt", TEXT, 3) == ""


@pytest.mark.parametrize(
    ("parts", "words"), [("1", ["One."]), (" 2 - 3 ", ["Two", "and", "three."]), ("1–2", ["One.", "Two"])]
)
def test_a_range_of_parts_is_one_span(parts: str, words: list[str]) -> None:
    start, end = span_of_parts(TEXT, parts)
    assert TEXT[start:end].split() == words


@pytest.mark.parametrize("parts", ["0", "4", "2-1", "2-4", "two", "1,2"])
def test_a_range_that_does_not_exist_is_refused_with_what_does(parts: str) -> None:
    with pytest.raises(ValueError, match="from 1 to 3"):
        span_of_parts(TEXT, parts)
