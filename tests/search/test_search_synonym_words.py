"""Which words a synonym or a likely spelling stands for, and what its own words weigh."""

from pathlib import Path

import pytest
from golden_cases import check_golden

from vault_indexer.model import Correction
from vault_indexer.search.terms import Groups, as_spelt, find_synonyms, with_corrections
from vault_indexer.search.terms.compounds import SYNONYM_WEIGHT, with_synonyms
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm

GROUPS: Groups = (("automobile", "car", "motor vehicle"), ("car", "wagon"), ("of", "car pool", "car pool"))
Pair = tuple[str, str]


def pairs(query: str, groups: Groups = GROUPS) -> list[Pair]:
    """What is written and what is searched for it, in order."""
    found = find_synonyms(groups, ("en",), analyze_query(query, ["en"]))
    assert all([word.word for word in one.written_words] == one.written.split() for one in found)
    assert all([word.word for word in one.searched_words] == one.searched.split() for one in found)
    return [(one.written, one.searched) for one in found]


def test_synonyms_are_those_of_the_golden() -> None:
    check_golden(
        Path(__file__).parent / "fixtures" / "synonyms.md",
        {
            "Each phrase of a group stands for the others": lambda query: str(pairs(query)),
            "A hyphenated word is one word of a phrase": lambda query: str(pairs(query, HYPHENATED)),
            "Irregular forms stand for each other": lambda query: str(pairs(query, ())),
        },
    )


HYPHENATED = (("add-on", "plugin"), ("src/main", "entry point"))


def test_a_phrase_and_a_word_of_it_both_have_synonyms() -> None:
    groups = (("car pool", "shared ride"), ("car", "wagon"))
    assert pairs("my car pool", groups) == [("car pool", "shared ride"), ("car", "wagon")]


def test_a_phrase_that_a_group_has_twice_and_one_without_words_count_once_and_not_at_all() -> None:
    assert pairs("wagon", (("wagon", "cart", "cart", "...", "wagon"),)) == [("wagon", "cart")]


def test_a_word_is_one_more_form_with_less_weight_and_a_phrase_shares_its_weight() -> None:
    terms = analyze_query("car red", ["en"])
    synonyms = find_synonyms((("car", "wagon", "cart", "big motor vehicle"),), ("en",), terms)
    car, red, *phrase = with_synonyms(terms, synonyms)
    own = len(terms[0].classes)
    added = car.classes[own:]
    assert car.classes[:own] == terms[0].classes
    wagon, cart = (analyze_query(word, ["en"])[0].classes for word in ("wagon", "cart"))
    assert [one.exact for one in added] == [one.exact for one in (*wagon, *cart)]
    assert [one.weight for one in added] == pytest.approx(
        [one.weight * SYNONYM_WEIGHT for one in (*wagon, *cart)]
    )
    assert red == terms[1]
    assert [word.word for word in phrase] == ["big", "motor", "vehicle"]
    assert [word.weight for word in phrase] == pytest.approx([SYNONYM_WEIGHT / 3] * 3)


def test_a_synonym_of_a_phrase_is_a_form_of_each_of_its_words() -> None:
    terms = analyze_query("motor vehicle", ["en"])
    motor, vehicle = with_synonyms(terms, find_synonyms((("motor vehicle", "car"),), ("en",), terms))
    assert "car" in motor.forms
    assert "car" in vehicle.forms


def test_words_without_synonyms_stay_as_they_are() -> None:
    terms = analyze_query("red wine", ["en"])
    assert list(with_synonyms(terms, ())) == terms


def test_a_likely_spelling_takes_most_of_the_weight_of_its_word() -> None:
    terms = [QueryTerm.plain("bread"), QueryTerm.plain("ofen", 0.5)]
    first, written, likely = with_corrections(["en"], terms, [Correction("ofen", "oven")])
    assert first == terms[0]
    assert [written.word, likely.word] == ["ofen", "oven"]
    assert [written.weight, likely.weight] == pytest.approx([0.5 * 0.2, 0.5 * 0.8])
    assert list(with_corrections(["en"], terms, [])) == terms


def test_a_likely_spelling_stands_in_place_of_whole_words() -> None:
    corrections = [Correction("ofen", "oven"), Correction("c+", "c")]
    assert as_spelt("ofen often ofens (ofen) c+ c++", corrections) == "oven often ofens (oven) c c+"
