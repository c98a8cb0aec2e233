"""Which part of a text an agent gets where it does not get all of it."""

from __future__ import annotations

import pytest

from vault_indexer.serve.mcp.reading import around_marks

WORDS = "red pea bun cat " * 10


@pytest.mark.parametrize(
    ("marks", "shown"),
    [
        ([], "red pea bun cat red…"),
        ([(0, 3), (84, 87), (92, 95)], "…red pea bun cat red…"),  # two of the three stand here
        ([(152, 155)], "…cat red pea bun cat "),
    ],
)
def test_a_snippet_is_shortened_to_where_most_of_its_marks_stand(
    marks: list[tuple[int, int]], shown: str
) -> None:
    assert around_marks(WORDS, marks, 22) == shown


def test_a_short_snippet_stays_as_it_is() -> None:
    assert around_marks("red pea", [(0, 3)], 7) == "red pea"
