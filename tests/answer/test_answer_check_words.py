"""The words, names, code and clauses of a sentence that is checked, and how it denies."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.answer.check.facts import (
    capitalised_words,
    count_negations,
    same_polarity,
    unknown_code,
    unknown_names,
)
from vault_indexer.answer.check.lexicon import (
    Phrases,
    any_of,
    blank,
    expand_contractions,
    lexicon,
    read_list,
    tokens,
)
from vault_indexer.answer.check.words import (
    CODE,
    clauses,
    clauses_about,
    content_words,
    is_form,
    is_held,
    overlap,
    share_held,
)


def words(text: str, language: str) -> dict[str, str]:
    found = content_words(text, language)
    return {stem: word for stem, word in found.items() if stem not in "はに"}


def forms(one: str, other: str) -> bool:
    assert is_form(one, other) is is_form(other, one)
    return is_form(one, other)


def phrases(text: str) -> str:
    listed = ("avoid", "ban", "decide against")
    exact, inflected = (
        Phrases.read(listed, "en", is_inflected=one).find(text, "en") for one in (False, True)
    )
    return f"exact {exact}, inflected {inflected}"


def test_words_are_read_and_compared_as_the_golden_says() -> None:
    check_golden(
        Path(__file__).parent / "fixtures" / "check_words.md",
        {
            "Words that say something, by their stems": of_parts(words),
            "Code": lambda text: str([one["span"] or one["token"] for one in CODE.finditer(text)]),
            "Code that the evidence does not hold as it is": of_parts(unknown_code),
            "Forms of a word share four letters and differ in four at most": of_parts(forms),
            "A word is held in any form or as a part of a compound": of_parts(
                lambda own, known, language: is_held(own, known.split(), language)
            ),
            "Clauses each say something": of_parts(clauses),
            "A clause is about the clauses with most of their words in it": lambda clause: str(
                clauses_about(clause, EVIDENCE, "en")
            ),
            "Names are words with a capital that no rule of the language asks for": of_parts(
                lambda *parts: list(capitalised_words(*parts))
            ),
            "Names that the evidence does not hold": of_parts(unknown_names),
            "An elided article is no part of its word": of_parts(
                lambda *parts: [(one.normal, one.start, one.end) for one in tokens(*parts)]
            ),
            "Phrases are found whole, and single words in other forms as well": phrases,
            "Words that deny or reverse": of_parts(count_negations),
            "A clause denies what its evidence denies": of_parts(
                lambda clause, evidence: same_polarity(clause, [evidence], "en")
            ),
            "Contrary words of a script without spaces, and several clauses": of_parts(
                lambda clause, language, *evidence: same_polarity(clause, evidence, language)
            ),
        },
    )


EVIDENCE = ("The cat sleeps on the sofa", "The dog barks at night", "The cat eats fish")


def test_half_of_the_words_are_not_most_of_them() -> None:
    assert clauses_about("cat fish", ["cat dog", "cat fish bird", "cow"], "en") == ["cat fish bird"]
    assert clauses_about("cat", ["cat dog", "cat bird cow"], "en") == ["cat dog"]
    assert clauses_about("cat", [], "en") == []


def test_a_share_and_a_number_of_words_are_held() -> None:
    assert share_held("the cat eats fish", ["cat", "fish"], "en") == pytest.approx(2 / 3)
    assert share_held("the", ["cat"], "en") == 0.0
    assert overlap("the cat eats fish", "fish and cats", "en") == 2
    assert overlap("the cat eats fish", "the", "en") == 0


def test_a_token_has_its_exact_and_its_folded_form_and_its_stem() -> None:
    (word,) = tokens("Cafés", "fr")
    assert (word.normal, word.folded, word.stem) == ("cafés", "cafes", "caf")


def test_of_two_phrases_the_longest_wins() -> None:
    assert Phrases.read(["not", "not only"], "en", is_inflected=False).find("not only not", "en") == [
        (0, 8),
        (9, 12),
    ]
    assert Phrases.read(["不", "不仅", "没"], "zh", is_inflected=True).find("不仅没不", "zh") == [
        (0, 2),
        (2, 3),
        (3, 4),
    ]
    pattern = any_of(["a", "", "b.", "ab"])
    assert pattern is not None and pattern.pattern == r"ab|b\.|a"
    assert any_of([""]) is None


def test_a_lexicon_has_the_words_of_a_language_and_english_ones_for_an_unknown() -> None:
    own = lexicon("en")
    assert lexicon("xx") is own and lexicon("de") is not own
    assert own.words("negators", "Never say not") == ["never", "not"]
    assert own.without("negators", "is not it") == "is     it"
    assert own.opposites["more"] == {"less", "fewer"}
    assert own.opposites["open"] == {"close"}
    assert own.opposites["close"] == {"open"}
    assert own.calendar["seasons"] == {"spring": 1, "summer": 2, "autumn": 3, "winter": 4}
    weekdays = own.calendar["weekdays"]
    assert [weekdays[day] for day in ("Monday", "Sunday", "workdays", "weekend")] == [1, 7, 8, 9]
    assert own.minus == ("minus",)
    assert own.prefixes[:2] == ("un", "in") and own.suffixes == ("less",)


def test_lists_have_commas_with_a_space_and_blanks_keep_every_place() -> None:
    assert read_list({"a": "x, y z,  , q,r"}, "a") == ["x", "y z", "q,r"]
    assert read_list({}, "a") == []
    assert blank("abcdef", [(1, 3), (4, 5)]) == "a  d f"
    assert expand_contractions("isn't don’t n't isn'tx") == "is not do not n't isn'tx"
