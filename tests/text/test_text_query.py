"""What a query asks of the keyword index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.text.query import (
    FOLDED_WEIGHT,
    OTHER_LANGUAGE_WEIGHT,
    PART_WEIGHT,
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


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("red-hot", [("red-hot", 1.0, 0, 7), ("red", PART_WEIGHT, 0, 3), ("hot", PART_WEIGHT, 4, 7)]),
        ("a-b", [("a-b", 1.0, 0, 3), ("a", PART_WEIGHT, 0, 1), ("b", PART_WEIGHT, 2, 3)]),
        ("a/bc", [("a/bc", 1.0, 0, 4), ("bc", PART_WEIGHT, 2, 4)]),
        ("ab/xab", [("ab/xab", 1.0, 0, 6), ("ab", PART_WEIGHT, 0, 2), ("xab", PART_WEIGHT, 3, 6)]),
        ("x __init__", [("x", 1.0, 0, 1), ("init", 1.0, 2, 10)]),
        ("___", [("___", 1.0, 0, 3)]),
        ("ﬁleName", [("ﬁleName", 1.0, 0, 7), ("file", PART_WEIGHT, 0, 7), ("Name", PART_WEIGHT, 3, 7)]),
        ("see 検索機", [("see", 1.0, 0, 3), ("検索", 1.0, 4, 7), ("索機", 1.0, 4, 7)]),
        ("検 索", [("検", 1.0, 0, 1), ("索", 1.0, 2, 3)]),
        ("red blue red", [("red", 2.0, 0, 3), ("blue", 1.0, 4, 8)]),
    ],
)
def test_each_word_and_each_part_has_its_weight_and_its_place(
    query: str, words: list[tuple[str, float, int, int]]
) -> None:
    assert [(one.word, one.weight, one.start, one.end) for one in analyze_query(query, [])] == words


def test_only_a_lone_character_of_a_run_without_spaces_is_open() -> None:
    assert [one.prefix for one in analyze_query("検 検索 a", ["en"])] == [True, False, False]


def test_of_a_compound_the_whole_one_is_open_while_typing() -> None:
    terms = analyze_query("see red-ho", ["en"], typing=True)
    assert [(one.word, one.prefix) for one in terms] == [
        ("see", False),
        ("red-ho", True),
        ("red", False),
        ("ho", False),
    ]


def variants(*forms: str) -> tuple[tuple[str, float], ...]:
    return tuple((form, VARIANT_WEIGHT) for form in forms)


@pytest.mark.parametrize(
    ("query", "languages", "classes"),
    [
        ("sea", [], [TermClass("sea", variants("~sea"))]),
        ("Seas", ["en"], [TermClass("seas", variants("~sea", "~seas", "sea"))]),
        (
            "red-hot",
            [],
            [TermClass("red-hot", variants("~red-hot")), TermClass("redhot", variants("~redhot"))],
        ),
        (
            "searching",
            ["de", "en", "nb"],
            [
                TermClass("searching", variants("~searching")),
                TermClass("searching", variants("~search", "~searching", "search"), OTHER_LANGUAGE_WEIGHT),
            ],
        ),
        (
            "Müller",
            ["de"],
            [
                TermClass("müller", variants("~mull", "mull", "~müller")),
                TermClass("müller", variants("~mull", "~muller", "mull", "muller"), FOLDED_WEIGHT, True),
            ],
        ),
        (
            "mạ",
            ["vi"],
            [TermClass("mạ", variants("~mạ")), TermClass("mạ", variants("~ma", "ma"), FOLDED_WEIGHT, True)],
        ),
        (
            "oraşe",
            ["ro"],
            [
                TermClass("oraşe", (("orașe", 1.0), *variants("~oras", "oraș", "oras", "~oraşe"))),
                TermClass(
                    "oraşe", variants("~oras", "~ora", "~orase", "oras", "ora", "orase"), FOLDED_WEIGHT, True
                ),
            ],
        ),
        ("ёлка", ["ru"], [TermClass("ёлка", variants("~елк", "~елка", "елк", "елка"))]),
        ("検索", ["ja"], [TermClass("検索")]),
        ("かき", ["ja"], [TermClass("かき", variants("カキ"))]),
        ("カき", ["ja"], [TermClass("カき", variants("かき", "カキ"))]),
    ],
)
def test_a_word_is_asked_by_its_forms_and_what_each_of_them_weighs(
    query: str, languages: list[str], classes: list[TermClass]
) -> None:
    (term, *_) = analyze_query(query, languages)
    assert list(term.classes) == classes


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


@pytest.mark.parametrize(
    ("word", "language", "part"),
    [
        ("Newton's", "en", "Newton"),
        ("Newton’s", "en", "Newton"),
        ("l'homme", "fr", "homme"),
        ("ab'cd", "fr", "ab"),
        ("ab'cde", "fr", "cde"),
        ("a'bcd", "tr", "a"),
        ("a'bcd", "az", "a"),
        ("a'b'c", "en", ""),
        ("a'1", "en", ""),
        ("homme", "fr", ""),
    ],
)
def test_of_a_word_with_an_apostrophe_the_longer_part_is_meant_and_in_turkish_the_first(
    word: str, language: str, part: str
) -> None:
    assert part_at_apostrophe(word, language) == part


def test_a_term_names_its_forms_and_the_compounds_that_stand_for_it() -> None:
    classes = (TermClass("sea", variants("~sea")), TermClass("sea", (), 0.5), TermClass("sealife"))
    term = QueryTerm("sea", classes)
    assert term.forms == {"sea", "~sea", "sealife"}
    assert term.compounds == ("sealife",)
    assert QueryTerm.plain("sea", 2.0) == QueryTerm("sea", (TermClass("sea"),), 2.0, 0, 3)
