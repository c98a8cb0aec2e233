"""What a query asks of the keyword index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.text.query import OTHER_LANGUAGE_WEIGHT, PART_WEIGHT, analyze_query
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import analyze


def reaches(query: QueryTerm, text: str, language: str) -> bool:
    """Whether a text holds any index term of the query's word."""
    wanted = {term for one in query.classes for term in one.terms}
    return bool(wanted & set(analyze(text, language)))


@pytest.mark.parametrize(
    ("query", "text", "language"),
    [
        ("cafe", "café", "fr"),
        ("café", "cafe", "en"),
        ("cafe", "cafés", "fr"),
        ("search", "searching", "en"),
        ("searching", "search", "en"),
        ("searches", "searching", "en"),
        ("hauser", "Häuser", "de"),
        ("Haus", "Häuser", "de"),
        ("канцию", "канция", "ru"),
        ("ёлка", "елка", "ru"),
        ("search", "searchBar", "en"),
        ("1.2.3", "v1.2.3", "en"),
        ("0277", "E0277", "en"),
        ("المكتبة", "مكتبة", "ar"),
    ],
)
def test_a_word_reaches_its_other_forms(query: str, text: str, language: str) -> None:
    (term, *_) = analyze_query(query, ["en", language])
    assert reaches(term, text, language)


def test_stop_words_stay_and_repetition_weighs() -> None:
    terms = analyze_query("to be or not to be", ["en"])
    assert [(term.word, term.weight) for term in terms] == [("to", 2), ("be", 2), ("or", 1), ("not", 1)]


def test_the_language_of_the_query_comes_first() -> None:
    (_, word, *_) = analyze_query("les notes sont dans le dossier", ["en", "fr"])
    assert word.word == "notes"
    assert "~not" in word.classes[0].terms
    assert [one.weight for one in word.classes] == [1.0, OTHER_LANGUAGE_WEIGHT]


def test_a_compound_is_asked_whole_and_by_part() -> None:
    whole, *parts = analyze_query("see src/main.rs", ["en"])[1:]
    assert (whole.word, whole.weight) == ("src/main.rs", 1.0)
    assert [(part.word, part.weight) for part in parts] == [
        ("src", PART_WEIGHT),
        ("main", PART_WEIGHT),
        ("rs", PART_WEIGHT),
    ]


def test_the_last_word_is_open_while_typing() -> None:
    assert [term.prefix for term in analyze_query("link sea", ["en"], typing=True)] == [False, True]
    assert [term.prefix for term in analyze_query("link sea ", ["en"], typing=True)] == [False, False]
    assert not analyze_query("", ["en"], typing=True)


def test_a_single_character_of_a_script_without_spaces_is_open() -> None:
    (term,) = analyze_query("検", ["ja"])
    assert term.prefix


@given(st.text(max_size=60), st.lists(st.sampled_from(["en", "de", "ja"]), max_size=3))
def test_spans_stand_in_the_query(text: str, languages: list[str]) -> None:
    for term in analyze_query(text, languages, typing=True):
        assert 0 <= term.start < term.end <= len(text)


def test_a_word_that_stands_there_three_times_weighs_thrice_what_each_of_its_forms_does() -> None:
    once = {term.classes: term.weight for term in analyze_query("garden shed", ["en"])}
    thrice = {term.classes: term.weight for term in analyze_query("garden garden shed garden", ["en"])}
    weights = [thrice[classes] / weight for classes, weight in once.items()]
    assert weights == [3.0, 1.0]


def test_the_last_word_is_closed_by_the_blank_behind_it() -> None:
    open_end = analyze_query("red gar", ["en"], typing=True)
    closed = analyze_query("red gar ", ["en"], typing=True)
    assert closed == analyze_query("red gar ", ["en"])
    assert open_end[0] == closed[0]
    assert open_end[1] != closed[1]
