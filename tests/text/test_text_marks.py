"""Which spellings of a word are one word, which are forms of it, and which are others, by language."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_cases import check_golden, of_escapes, of_parts

from vault_indexer.text.query import FOLDED_WEIGHT, analyze_query
from vault_indexer.text.tokens import analyze


def worth(query: str, text: str, language: str) -> float:
    """What a text of one word counts for a query of one word, in (0, 1]; 0: it is not found."""
    (term, *_) = analyze_query(query, [language])
    held = set(analyze(text, language))
    found = [0.0]
    for one in term.classes:
        weights = {form: weight for form, weight in one.variants if form in held}
        own = 1.0 if one.exact in held else 0.0
        found.append(one.weight * max([own, *weights.values()]))
    return max(found)


def test_a_word_counts_by_what_its_marks_and_its_form_say() -> None:
    def worths(query: str, text: str, language: str) -> str:
        assert worth(query, query, language) == 1.0
        return f"{worth(query, text, language):.2g}, {worth(text, query, language):.2g}"

    golden = Path(__file__).parent / "fixtures" / "marks.md"
    check_golden(golden, {"": of_escapes(of_parts(worths))})


def test_in_a_vietnamese_query_with_marks_a_word_without_is_meant_so() -> None:
    first = {term.word: term.classes[0].terms for term in analyze_query("ma của làng", ["vi", "en"])}
    assert first["ma"] == ("ma",)
    (alone,) = analyze_query("ma", ["vi"])
    assert "~ma" in alone.classes[0].terms


def test_in_a_vietnamese_query_without_any_marks_each_word_may_have_been_meant_with_some() -> None:
    for query in ("anh cho em trong khi", "“anh cho em trong khi”"):
        for term in analyze_query(query, ["vi"]):
            assert f"~{term.word}" in term.classes[0].terms


def test_in_other_languages_a_word_without_marks_may_have_been_meant_with_some() -> None:
    for query, language in (("Käse uber den Tisch", "de"), ("la garcon et la forêt", "fr")):
        terms = [term.classes[0].terms for term in analyze_query(query, [language])][1]
        assert [term for term in terms if term.startswith("~")], terms


def test_another_language_of_the_vault_does_not_bring_the_folded_form_back() -> None:
    for term in analyze_query("mạ vàng của làng ma", ["vi", "en", "es"]):
        assert all(one.folded and one.weight <= FOLDED_WEIGHT for one in term.classes if "~ma" in one.terms)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("हिन्दी की किताबें", ["हिन्दी", "की", "किताबें"]),
        ("מִלִּים", ["מִלִּים"]),
        ("வணக்கம் உலகம்", ["வணக்கம்", "உலகம்"]),
        ("বাংলা", ["বাংলা"]),
    ],
)
def test_vowel_signs_do_not_end_a_word(text: str, words: list[str]) -> None:
    assert [term for term in analyze(text, "") if term[0] != "~"] == words
