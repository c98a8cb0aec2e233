"""What words a text can be found by."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from golden_cases import check_golden, of_escapes, of_parts
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.text.tokens import LONGEST_TERM, analyze, concepts


def test_terms_and_concepts_are_those_of_the_golden() -> None:
    def terms(text: str, language: str) -> str:
        return " ".join(sorted(set(analyze(text, language))))

    def stands_for(word: str, language: str) -> str:
        return " ".join(concepts(word, language))

    sections = {"terms": of_escapes(of_parts(terms)), "concepts": of_parts(stands_for)}
    check_golden(Path(__file__).parent / "fixtures" / "tokens.md", sections)


def test_every_occurrence_counts() -> None:
    assert analyze("note notes note", "en").count("note") == 2
    assert analyze("note notes note", "en").count("~note") == 1


def test_a_term_has_64_characters_at_most_and_a_compound_is_cut_like_a_word() -> None:
    assert LONGEST_TERM == 64
    assert analyze("x" * 64, "") == ["x" * 64]
    assert analyze("x" * 65, "") == ["x" * 64]
    assert analyze(f"{'x' * 40}-{'y' * 40}", "") == [f"{'x' * 40}-{'y' * 23}", "x" * 40, "y" * 40]


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
