"""What a query asks of the keyword index."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.text.query import (
    OTHER_LANGUAGE_WEIGHT,
    VARIANT_WEIGHT,
    analyze_query,
    is_hyphenated,
    part_at_apostrophe,
)
from vault_indexer.text.terms import QueryTerm, TermClass


def test_stop_words_stay_and_repetition_weighs() -> None:
    terms = analyze_query("to be or not to be", ["en"])
    assert [(term.word, term.weight) for term in terms] == [("to", 2), ("be", 2), ("or", 1), ("not", 1)]


def test_the_language_of_the_query_comes_first() -> None:
    (_, word, *_) = analyze_query("les notes sont dans le dossier", ["en", "fr"])
    assert word.word == "notes"
    assert "~not" in word.classes[0].terms
    assert [one.weight for one in word.classes] == [1.0, OTHER_LANGUAGE_WEIGHT]


def test_the_last_word_is_open_while_typing() -> None:
    assert [term.prefix for term in analyze_query("link sea", ["en"], typing=True)] == [False, True]
    assert [term.prefix for term in analyze_query("link sea ", ["en"], typing=True)] == [False, False]
    assert not analyze_query("", ["en"], typing=True)


@given(st.text(max_size=60), st.lists(st.sampled_from(["en", "de", "ja"]), max_size=3))
def test_spans_stand_in_the_query(text: str, languages: list[str]) -> None:
    for term in analyze_query(text, languages, typing=True):
        assert 0 <= term.start < term.end <= len(text)


def test_words_classes_and_parts_are_those_of_the_golden() -> None:
    def words(query: str) -> str:
        terms = analyze_query(query, [])
        return ", ".join(f"{term.word} {term.weight:g} at {term.start}-{term.end}" for term in terms)

    def classes(query: str, languages: str) -> str:
        (term, *_) = analyze_query(query, languages.split())
        return "; ".join(map(class_of, term.classes))

    sections = {"words": words, "classes": of_parts(classes), "part": of_parts(part_at_apostrophe)}
    check_golden(Path(__file__).parent / "fixtures" / "query.md", sections)


def class_of(one: TermClass) -> str:
    """Its exact form, its variants with their weights, and what else it is."""
    forms = "".join(f" {form}*{weight:g}" for form, weight in one.variants)
    return f"{one.exact}{forms} (weight {one.weight:g}{', folded' if one.folded else ''})"


def variants(*forms: str) -> tuple[tuple[str, float], ...]:
    return tuple((form, VARIANT_WEIGHT) for form in forms)


def test_a_longer_word_is_asked_by_its_first_64_characters() -> None:
    (term,) = analyze_query("x" * 70, [])
    assert [one.exact for one in term.classes] == ["x" * 64]
    assert (term.word, term.end) == ("x" * 70, 70)


@pytest.mark.parametrize(
    ("words", "is_so"),
    [
        (("red-hot", "a-b-c", "weiß-rot"), True),
        (("red", "red-", "-red", "red--hot", "r2-d2", "a-b_c", "red-hot pan"), False),
    ],
)
def test_a_hyphenated_word_is_letters_with_single_hyphens_between(
    words: tuple[str, ...], is_so: bool
) -> None:
    assert [word for word in words if is_hyphenated(word) is not is_so] == []


def test_a_term_names_its_forms_and_the_compounds_that_stand_for_it() -> None:
    classes = (TermClass("sea", variants("~sea")), TermClass("sea", (), 0.5), TermClass("sealife"))
    term = QueryTerm("sea", classes)
    assert term.forms == {"sea", "~sea", "sealife"}
    assert term.compounds == ("sealife",)
    assert QueryTerm.plain("sea", 2.0) == QueryTerm("sea", (TermClass("sea"),), 2.0, 0, 3)
