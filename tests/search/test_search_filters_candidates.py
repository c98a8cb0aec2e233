"""Places in notes: where the parts of a condition are found, and what a note must hold to be read at all."""

import pytest

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


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("bread oven", "bread"),
        ("oven oval", "oval"),
        ('"the longest phrase" x', "longest"),
        ("bread OR oven", None),
        ("(bread ab) OR (oven bread)", "bread"),
        ("-bread", None),
        ("bread -ovens", "bread"),
        ("/bread/", None),
        ("日本", None),
        (f"{'x' * LONGEST_TERM} ab", "ab"),
        (f"{'x' * (LONGEST_TERM - 1)} ab", "x" * (LONGEST_TERM - 1)),
    ],
)
def test_the_longest_word_that_every_piece_must_have(query: str, word: str | None) -> None:
    found = required_word(inside(query))
    assert (found and found.source) == word
    assert required_word(None) is None


@pytest.mark.parametrize(
    ("pattern", "text", "start", "places"),
    [
        ("an", "banana an", 0, [(1, 3)]),
        ("an", "an" + " " * 98 + "an", 0, [(0, 2), (100, 102)]),
        ("an", "an" + " " * 97 + "an", 0, [(0, 2)]),
        ("an", "an\nan\n\nan", 0, [(0, 2), (3, 5), (7, 9)]),
        ("an", "éan\nan", 2, [(4, 6)]),
        ("é", "日é\né", 0, [(1, 2), (3, 4)]),
        ("^", "a\nb", 0, [(0, 1), (1, 3)]),
        ("x*", "", 0, [(0, 1)]),
        ("a{150}", "a" * 300, 0, [(0, 150), (150, 300)]),
    ],
)
def test_the_places_of_an_expression(
    pattern: str, text: str, start: int, places: list[tuple[int, int]]
) -> None:
    search = PatternSearch(ReadingBudget())
    assert list(search.places(compile_regex(pattern), SearchedText(text), start)) == places


@pytest.mark.parametrize("words", ["\ud800", "a \ud800"])
def test_a_phrase_that_no_text_has_is_looked_for_without_a_scan(words: str) -> None:
    pattern = text_pattern(words)
    assert pattern.scanner is None
    assert not pattern.is_in("a b" * 50)
