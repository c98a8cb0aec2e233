"""What words a text can be found by."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.text.tokens import LONGEST_TERM, analyze, compound_parts


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("Search", "en", {"search"}),
        ("searching", "en", {"searching", "~search"}),
        ("searching", "", {"searching"}),
        ("Häuser", "de", {"häuser", "~haus", "~hauser"}),
        ("canciones", "es", {"canciones", "~cancion"}),
        ("книгами", "ru", {"книгами", "~книг"}),
        ("café", "", {"café", "~cafe"}),
        ("STRASSE Straße", "", {"strasse"}),
        ("ёж й", "", {"ёж", "~еж", "й"}),
        ("ﬁle Ｆｕｌｌ", "", {"file", "full"}),
        ("snake_case", "", {"snake_case", "snake", "case"}),
        ("_emphasis_ __init__", "", {"emphasis", "init"}),
        ("searchBar", "", {"searchbar", "~search", "~bar"}),
        ("HTMLParser", "", {"htmlparser", "~html", "~parser"}),
        ("src/main.rs", "", {"src/main.rs", "src", "main", "rs"}),
        ("v1.2.3", "", {"v1.2.3", "~1.2.3", "~1.2", "v1"}),
        ("E0277", "", {"e0277", "~0277"}),
        ("TS-999", "", {"ts-999", "ts", "999"}),
        ("C++ and C#.", "", {"c++", "and", "c#"}),
        ("std::vec", "", {"std::vec", "std", "vec"}),
        ("検索機能", "ja", {"検索", "索機", "機能", "能"}),
        ("ｶﾞｷﾞ", "ja", {"ガギ", "ギ"}),
        ("한국어", "ko", {"한국", "국어", "어"}),
        ("ที่นี่", "th", {"ที่นี่", "นี่"}),
        ("हिन्दी", "hi", {"हिन्दी", "~हिन्द"}),
        ("to be or not to be", "en", {"to", "be", "or", "not"}),
        ("**,,  --", "en", set()),
    ],
)
def test_words_give_their_form_and_what_else_they_are_found_by(
    text: str, language: str, terms: set[str]
) -> None:
    assert set(analyze(text, language)) == terms


def test_every_occurrence_counts() -> None:
    assert analyze("note notes note", "en").count("note") == 2
    assert analyze("note notes note", "en").count("~note") == 1


@pytest.mark.parametrize(
    ("word", "parts"), [("plain", []), ("getName", ["get", "Name"]), ("a/bc.md", ["bc", "md"])]
)
def test_parts_of_a_compound(word: str, parts: list[str]) -> None:
    assert compound_parts(word) == parts


@given(st.text(max_size=60), st.sampled_from(["", "en", "de", "ru", "ja", "th"]))
def test_composed_and_decomposed_text_are_alike(text: str, language: str) -> None:
    composed = analyze(unicodedata.normalize("NFC", text), language)
    assert sorted(composed) == sorted(analyze(unicodedata.normalize("NFD", text), language))


@given(st.text(max_size=200), st.sampled_from(["", "en", "ar"]))
def test_terms_are_never_empty_nor_endless(text: str, language: str) -> None:
    assert all(0 < len(term) <= LONGEST_TERM + 1 for term in analyze(text, language))
