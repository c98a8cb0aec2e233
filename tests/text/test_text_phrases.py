"""Numbers and names as a person says them."""

from __future__ import annotations

import pytest

from vault_indexer.text.phrases import quantity, which_vault


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 changes"), (1, "1 change"), (2, "2 changes"), (12_345, "12,345 changes")]
)
def test_a_number_has_its_noun(number: int, said: str) -> None:
    assert quantity(number, "change") == said


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        ([], "--vault DIR"),
        (["garden"], "--vault garden"),
        (["garden", "work"], "--vault garden or --vault work"),
        (["a", "b", "c"], "--vault a, --vault b or --vault c"),
    ],
)
def test_a_command_asks_which_vault(names: list[str], listed: str) -> None:
    assert which_vault(names) == f"Which vault? Add {listed}."
