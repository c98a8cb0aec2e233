"""Places in notes: where the parts of a condition are found, and what a note must hold to be read at all."""

import re
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.search.deadline import ReadingBudget
from vault_indexer.search.filters.candidates import Matches
from vault_indexer.search.filters.text import required_word
from vault_indexer.search.filters.text_pattern import SearchedText, text_pattern
from vault_indexer.search.filters.text_source import PatternSearch
from vault_indexer.search.query import Node, Within, compile_regex, parse_query
from vault_indexer.text.tokens import LONGEST_TERM

ONE = Matches(frozenset({1, 2, 3}), {1: ((0, 1),), 2: ((5, 6),)})
OTHER = Matches(frozenset({2, 3, 4}), {2: ((7, 8),), 3: ((0, 2),), 4: ((1, 2),)})


def test_notes_of_both_keep_the_places_of_either() -> None:
    both = ONE.both(OTHER)
    assert both.notes == {2, 3}
    assert both.places == {2: ((5, 6), (7, 8)), 3: ((0, 2),)}


def test_a_note_that_matches_as_a_whole_anywhere_has_no_place() -> None:
    found = Matches.any_of(iter([ONE, OTHER]))
    assert found.notes == {1, 2, 3, 4}
    assert found.places == {1: ((0, 1),), 2: ((5, 6), (7, 8)), 4: ((1, 2),)}
    assert Matches.any_of([]) == Matches(frozenset())


def inside(query: str) -> Node:
    (condition,) = parse_query(f"line:({query})").conditions
    assert isinstance(condition.node, Within)
    assert condition.node.inside is not None
    return condition.node.inside


def test_candidates_are_narrowed_as_the_golden_says() -> None:
    def word(query: str) -> str:
        found = required_word(inside(query))
        return found.source if found else "none"

    def places(pattern: str, text: str, start: str) -> list[tuple[int, int]]:
        written = re.sub(r"\{(\d+)\}", lambda found: " " * int(found[1]), text)
        search = PatternSearch(ReadingBudget())
        return list(search.places(compile_regex(pattern), SearchedText(written), int(start)))

    check_golden(
        Path(__file__).parent / "fixtures" / "candidates.md",
        {
            "The longest word that every piece must have": word,
            "The places of an expression": of_parts(places),
        },
    )
    assert word(f"{'x' * LONGEST_TERM} ab") == "ab"
    assert word(f"{'x' * (LONGEST_TERM - 1)} ab") == "x" * (LONGEST_TERM - 1)
    assert required_word(None) is None
    assert places("a{150}", "a" * 300, "0") == [(0, 150), (150, 300)]


@pytest.mark.parametrize("words", ["\ud800", "a \ud800"])
def test_a_phrase_that_no_text_has_is_looked_for_without_a_scan(words: str) -> None:
    pattern = text_pattern(words)
    assert pattern.scanner is None
    assert not pattern.is_in("a b" * 50)
