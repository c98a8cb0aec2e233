"""What words a text can be found by."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.text.tokens import LONGEST_TERM, analyze, concepts


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("searching", "en", {"searching", "~search"}),
        ("Häuser", "de", {"häuser", "~haus", "~hauser"}),
        ("книгами", "ru", {"книгами", "~книг"}),
        ("STRASSE Straße", "", {"strasse"}),
        ("ёж й", "", {"ёж", "~еж", "й"}),
        ("_emphasis_ __init__", "", {"emphasis", "init"}),
        ("searchBar", "", {"searchbar", "~search", "~bar"}),
        ("HTMLParser", "", {"htmlparser", "~html", "~parser"}),
        ("v1.2.3", "", {"v1.2.3", "~1.2.3", "~1.2", "v1"}),
        ("E0277", "", {"e0277", "~0277"}),
        ("C++ and C#.", "", {"c++", "and", "c#"}),
        ("std::vec", "", {"std::vec", "std", "vec"}),
        ("検索機能", "ja", {"検索", "索機", "機能", "能"}),
        ("ｶﾞｷﾞ", "ja", {"ガギ", "ギ"}),
        ("한국어", "ko", {"한국", "국어", "어"}),
        ("ที่นี่", "th", {"ที่นี่", "นี่"}),
        ("हिन्दी", "hi", {"हिन्दी", "~हिन्द"}),
        ("é", "fr", {"é", "~e"}),
        ("I", "tr", {"i", "~ı", "~i"}),
        ("I", "en", {"i"}),
        ("ILIK", "az", {"ilik", "~ılık", "~ilik"}),
        ("_ __", "en", {"_", "__"}),
        ("1.2.3", "", {"1.2.3", "~1.2"}),
        ("1.2", "", {"1.2"}),
        ("v1.2", "", {"v1.2", "~1.2", "v1"}),
        ("1.2.3.4", "", {"1.2.3.4", "~1.2.3", "~1.2"}),
        ("ab12 Ab1", "", {"ab12", "~ab", "~12", "ab1"}),
        ("éaBcé", "", {"éabcé", "~eabce", "~éa", "~ea", "~bcé", "~bce"}),
        ("کتاب\u200cها", "", {"كتابها", "كتاب", "ها"}),
        ("ab::cd ef:::gh", "", {"ab::cd", "ab", "cd", "ef", "gh"}),
        ("a++b C#x", "", {"a++b", "c#x"}),
        ("don't don’t", "en", {"don't", "don"}),
    ],
)
def test_words_give_their_form_and_what_else_they_are_found_by(
    text: str, language: str, terms: set[str]
) -> None:
    assert set(analyze(text, language)) == terms


def test_every_occurrence_counts() -> None:
    assert analyze("note notes note", "en").count("note") == 2
    assert analyze("note notes note", "en").count("~note") == 1


def test_a_term_has_64_characters_at_most_and_a_compound_is_cut_like_a_word() -> None:
    assert LONGEST_TERM == 64
    assert analyze("x" * 64, "") == ["x" * 64]
    assert analyze("x" * 65, "") == ["x" * 64]
    assert analyze(f"{'x' * 40}-{'y' * 40}", "") == [f"{'x' * 40}-{'y' * 23}", "x" * 40, "y" * 40]


@pytest.mark.parametrize(
    ("word", "language", "expected"),
    [
        ("searching", "en", ("search",)),
        ("café", "fr", ("caf", "cafe")),
        ("cafés", "fr", ("caf", "cafes")),
        ("naïve", "", ("naive",)),
        ("runs2", "en", ("runs2",)),
        ("é1", "en", ("e1",)),
    ],
)
def test_a_word_stands_for_its_stem_the_stem_without_marks_and_itself_without_marks(
    word: str, language: str, expected: tuple[str, ...]
) -> None:
    assert concepts(word, language) == expected


@given(st.text(max_size=60), st.sampled_from(["", "en", "de", "ru", "ja", "th"]))
def test_composed_and_decomposed_text_are_alike(text: str, language: str) -> None:
    composed = analyze(unicodedata.normalize("NFC", text), language)
    assert sorted(composed) == sorted(analyze(unicodedata.normalize("NFD", text), language))


@given(st.text(max_size=200), st.sampled_from(["", "en", "ar"]))
def test_terms_are_never_empty_nor_endless(text: str, language: str) -> None:
    assert all(0 < len(term) <= LONGEST_TERM + 1 for term in analyze(text, language))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("a " + "x" * 200 + " b", 3),
        ("a " + "x" * 201 + " b", 2),
        ("a " + "Ab3+Zoe/" * 30 + " b", 2),
        ("ж " + "0f" * 150 + " b", 2),
        ("a " + "word-" * 60 + "end b", 5),
    ],
)
def test_data_is_no_word(text: str, terms: int) -> None:
    assert len(set(analyze(text, ""))) == terms
