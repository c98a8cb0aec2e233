"""Which spellings of a word are one word, which are forms of it, and which are others, by language."""

from __future__ import annotations

import pytest

from vault_indexer.text.query import FOLDED_WEIGHT, VARIANT_WEIGHT, analyze_query
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


CASES = {
    # two encodings of a word are the same word
    (1.0, 1.0): [
        ("Straße", "STRASSE", "de"),
        ("Donau\u00addampf", "Donaudampf", "de"),
        ("θάλασσας", "ΘΆΛΑΣΣΑΣ", "el"),
        ("İstanbul", "istanbul", "tr"),
        ("țară", "ţară", "ro"),
        ("كـتاب", "كتاب", "ar"),
        ("٢٠٢٤", "2024", "ar"),
        ("کتاب", "كتاب", "fa"),
        ("سیب", "سيب", "fa"),
        ("می\u200cخواهم", "میخواهم", "fa"),
        ("क्\u200dष", "क्ष", "hi"),
        ("việt", "vie\u0302\u0323t", "vi"),
        ("ｻｰﾊﾞｰ", "サーバー", "ja"),
        ("각", "\u1100\u1161\u11a8", "ko"),
    ],
    # a form that writers choose freely is found like an inflected one
    (VARIANT_WEIGHT, 1.0): [
        ("viet", "việt", "vi"),
        ("cafe", "café", "fr"),
        ("uber", "über", "de"),
        ("ilica", "Ilıca", "tr"),
        ("ırak", "IRAK", "tr"),
        ("lodz", "łódź", "pl"),
        ("tara", "țară", "ro"),
        ("θαλασσα", "θάλασσα", "el"),
        ("Mueller", "Müller", "de"),
        ("Haeuser", "Haus", "de"),
        ("елка", "ёлка", "ru"),
        ("ёлка", "елка", "ru"),
        ("احمد", "أحمد", "ar"),
        ("أحمد", "احمد", "ar"),
        ("كتب", "كُتُب", "ar"),
        ("مكتبة", "المكتبة", "ar"),
        ("مكتبة", "والمكتبة", "ar"),
        ("على", "علي", "ar"),
        ("ספר", "הספר", "he"),
        ("הספר", "ספר", "he"),
        ("ובספר", "הספר", "he"),
        ("ספר", "סֵפֶר", "he"),
        ("ספר", "הַסֵּפֶר", "he"),
        ("सड़क", "सडक", "hi"),
        ("सडक", "सड़क", "hi"),
        ("सड़क", "स\u095cक", "hi"),
        ("کتاب", "کتاب\u200cها", "fa"),
        ("کتابها", "کتاب", "fa"),
        ("searches", "searching", "en"),
        ("search", "searchBar", "en"),
        ("1.2.3", "v1.2.3", "en"),
        ("0277", "E0277", "en"),
    ],
    # an inflected form is no other word, and stems have no marks, since inflection changes them
    (VARIANT_WEIGHT, VARIANT_WEIGHT): [
        ("canción", "canciones", "es"),
        ("Häuser", "Haus", "de"),
        ("łąki", "łąka", "pl"),
        ("orașului", "oraşe", "ro"),
        ("şehirler", "şehir", "tr"),
        ("θάλασσας", "θάλασσα", "el"),
        ("pêche", "péché", "fr"),
        ("fată", "fata", "ro"),
        ("πότε", "ποτέ", "el"),
        ("préfère", "préférer", "fr"),
    ],
    # a word that differs by its marks is another word
    (0.001, FOLDED_WEIGHT): [
        ("mạ", "ma", "vi"),
        ("mạ", "má", "vi"),
        ("đá", "da", "vi"),
        ("año", "ano", "es"),
        ("schön", "schon", "de"),
        ("ılık", "ilik", "tr"),
        ("kąt", "kat", "pl"),
    ],
    # vowels and letters are no marks
    (0.0, 0.0): [("и", "й", "ru"), ("के", "की", "hi"), ("が", "か", "ja"), ("ข้าว", "ขาว", "th")],
}
"""Queries, texts and their language, by the least and the most that the text counts."""


@pytest.mark.parametrize(
    ("query", "text", "language", "least", "most"),
    [(*case, *bounds) for bounds, cases in CASES.items() for case in cases],
)
def test_a_word_counts_by_what_its_marks_and_its_form_say(
    query: str, text: str, language: str, least: float, most: float
) -> None:
    assert least <= worth(query, text, language) <= most
    assert worth(query, query, language) == 1.0
    if least == 1.0:
        assert worth(text, query, language) == 1.0


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
