"""What of a clause differs from the statement that it cites, and what comes of a whole claim."""

from __future__ import annotations

import pytest

from vault_indexer.answer.check import Claim, Evidence, Finding, check_claim
from vault_indexer.answer.check.facts import Statement, conflict

DENIES = "it denies what the note says, or says what the note denies"
MORE_OR_FEWER = "it claims more or less than the note"
SURER = "it is more certain than the note"
OPTIONAL = "it makes optional what the note requires"
OTHER = "the note says {} about something else"


def read(text: str, heading: str = "", quote: str = "") -> Statement:
    return Statement.read(text, heading, quote or text, "en")


@pytest.mark.parametrize(
    ("clause", "text", "why"),
    [
        # numbers and dates
        ("5 cats", "5 cats", ""),
        ("from 5 to 5 cats", "from 3 to 5 cats", "the number 5 is not in what it cites"),
        ("from 5 to 3 cats", "from 3 to 5 cats", "it reverses a direction"),
        ("7 or 6 cats", "5 cats", "the number 6 is not in what it cites"),
        ("-5 cats", "5 cats", "the number -5 is not in what it cites"),
        ("in 2021 it opened", "it opened in May 2021", ""),
        ("5 cats came", "cats came on 5 May", ""),
        ("He went in May", "He went", "the date or time May is not in what it cites"),
        ("He went in May 2020", "He went in May 2021", "the date or time May 2020 is not in what it cites"),
        # units
        ("a 5 km walk", "a 5 mile walk", "5 is not in km in what it cites"),
        ("a 5 km walk", "a 5 walk", "5 is not in km in what it cites"),
        ("a 5 walk", "a 5 km walk", ""),
        ("a 5 km walk", "a walk of 5 of 7 km", ""),
        ("a 5 km walk", "a walk of 5 and 5 miles", "5 is not in km in what it cites"),
        ("a 5 km walk", "a walk of 5 miles, or 8 km", "5 is not in km in what it cites"),
        ("a 7 km walk of 5 km", "a 7 km walk of 5 miles", "5 is not in km in what it cites"),
        ("a walk of 8 km", "8 bays in 5 km", "8 is not in km in what it cites"),
        ("a walk of 8 km", "between 8 and 9 km", ""),
        # code and names
        ("use `ab.py` now", "use `ab.py`", ""),
        ("use `ab.py` now", "use `ac.py`", "'ab.py' is not in what it cites"),
        ("He met Anna", "He met Bob", "the name Anna is not in what it cites"),
        ("In May he met Bob", "He met Bob in May", ""),
        # denials
        ("Open it", "Do not open it", DENIES),
        ("Do not open it", "Open it", DENIES),
        ("Do it", "Do not do it", ""),  # it has no words of its own
        ("The cat sleeps", "The cat sleeps, the dog does not sleep", ""),
        # how many
        ("Most cats sleep", "Cats sleep", MORE_OR_FEWER),
        ("Cats sleep", "Most cats sleep", MORE_OR_FEWER),
        ("Most cats sleep", "Most cats sleep", ""),
        ("Some cats sleep", "Cats sleep", MORE_OR_FEWER),
        ("Few cats sleep", "Cats sleep", MORE_OR_FEWER),
        ("Some cats sleep", "Most cats sleep", MORE_OR_FEWER),
        ("The cat sleeps", "The cat sleeps, some dogs bark", ""),
        ("All cats sleep", "Cats sleep", ""),
        ("Only cats sleep", "Cats sleep", "it excludes what the note does not"),
        ("Only cats sleep", "Only cats sleep", ""),
        ("Cats sleep", "Only cats sleep", ""),
        # how sure, and what is demanded
        ("Cats sleep", "Cats may sleep", SURER),
        ("Cats may sleep", "Cats may sleep", ""),
        ("Cats may sleep", "Cats sleep", ""),
        ("Cats sleep in May", "Cats may sleep in May", SURER),
        ("It contains nuts", "May contain nuts", SURER),
        ("In 2021 it was cold", "May 2021 was cold", ""),
        ("Cats may sleep", "Cats must sleep", OPTIONAL),
        ("Cats may and must sleep", "Cats must sleep", ""),
        ("Cats sleep", "Cats must sleep", ""),
        # a fact of something else
        ("An oak garden gate costs 30", "An oak garden gate costs 20, a pen costs 30", OTHER.format(30)),
        ("An oak garden gate costs 20", "An oak garden gate costs 20, a pen costs 30", ""),
        ("An oak garden gate costs 30", "An oak garden gate is green, a pen costs 30", ""),
        ("The gate costs 30", "The gate costs 20, a pen costs 30", OTHER.format("it")),
        ("Oak garden gates open in May", "Oak garden gates open in June, shops in May", OTHER.format(5)),
        (
            "Bob built oak garden gates",
            "Oak garden gates Tom built, pens Bob",
            OTHER.format("Bob"),
        ),
        ("Clean carp pond filters every 9 days", "Clean carp pond filters after 4 or every 9 days", ""),
    ],
)
def test_a_clause_differs_from_a_statement(clause: str, text: str, why: str) -> None:
    assert conflict(clause, clause, read(text)) == why


def test_a_heading_states_facts_and_markup_numbers_only_with_the_text() -> None:
    assert conflict("5 cats", "5 cats", read("cats", heading="5 of them")) == ""
    assert conflict("5 cats", "5 cats", read("cats", quote="5 cats")) != ""
    assert conflict("He met Anna", "He met Anna", read("He met Bob", heading="Anna")) == ""
    assert conflict("May 2021", "May 2021", read("in May", heading="2021")) == ""
    assert conflict("May 2021", "May 2021", read("in May", heading="2020")) != ""
    assert conflict("use `ab.py`", "use `ab.py`", read("use it", quote="use [it](ab.py)")) == ""


@pytest.mark.parametrize(
    ("clause", "claim", "text", "why"),
    [
        ("cats sleep", "cats sleep, most of them", "Most cats sleep", ""),
        ("cats sleep", "maybe cats sleep", "Cats may sleep", ""),
        ("cats sleep", "in May, cats sleep", "Cats may sleep", SURER),
        ("may sleep", "cats must, and may sleep", "Cats must sleep", OPTIONAL),
    ],
)
def test_what_limits_a_statement_may_stand_elsewhere_in_the_claim(
    clause: str, claim: str, text: str, why: str
) -> None:
    assert conflict(clause, claim, read(text)) == why


@pytest.mark.parametrize(
    ("text", "clause", "added"),
    [
        ("Cats sleep", "all cats may and must sleep always", ("all", "always", "must", "may")),
        ("All cats sleep", "every cat may sleep", ("may",)),
        ("Cats must sleep", "cats have to sleep", ()),
        ("Cats sleep in May", "Cats may sleep in May", ("may",)),
        ("Cats sleep", "Cats sleep in May", ()),
    ],
)
def test_words_that_oblige_or_generalise_are_added(text: str, clause: str, added: tuple[str, ...]) -> None:
    assert read(text).added_limits(clause) == added


OFFERED = {
    name: Evidence(text, text, "", "en")
    for name, text in {
        "cat": "The red cat sleeps on the sofa.",
        "dog": "The dog barks at night.",
        "fish": "The red cat eats fish at noon.",
    }.items()
}


def dropped(reason: str) -> Finding:
    return Finding("dropped", reason)


@pytest.mark.parametrize(
    ("text", "ids", "finding"),
    [
        ("The red  cat\nsleeps on the sofa.", "cat", Finding("quoted")),
        ("The red cat sleeps.", "cat", Finding("supported")),
        ("The red cat sleeps", "", dropped("it cites nothing")),
        ("The red cat sleeps", "cat x y", dropped("it cites x, y, which was not offered")),
        ("...", "cat", dropped("it has no words")),
        ("The red cat sleeps. It snores.", "cat", dropped("it is more than one sentence")),
        ("A cow", "cat", dropped("what it cites contains none of its words: 'cow'")),
        ("A cow flies", "cat", dropped("its words are not those of what it cites")),
        ("The red cow of the sofa", "cat", Finding("unchecked", "", ("cow",))),
        # two words of five are enough
        ("red cow milk sofa cream", "cat", Finding("unchecked", "", ("cow", "milk", "cream"))),
        ("red cow milk sofa cream wool", "cat", dropped("its words are not those of what it cites")),
        ("The red cat always sleeps", "cat", Finding("unchecked", "", ("always",))),
        (
            "The red cat sleeps and purrs, and the red cat sings and purrs",
            "cat",
            Finding("unchecked", "", ("purrs", "sings")),
        ),
        ("The red cat sleeps, and the red cat eats fish", "cat fish", Finding("supported")),
        (
            "The red cat sleeps, and the dog barks",
            "cat dog",
            dropped("it joins sentences that are not about the same"),
        ),
        (
            "The red cat sleeps at noon",
            "cat fish",
            dropped("no single sentence that it cites says it of noon"),
        ),
        ("The red cat sleeps at home", "cat fish", Finding("unchecked", "", ("home",))),
    ],
)
def test_a_claim_is_what_its_clauses_are(text: str, ids: str, finding: Finding) -> None:
    assert check_claim(Claim(text, tuple(ids.split()), "red cat sleeps"), OFFERED) == finding


NO_QUOTE = "its quote is not in what it cites"
TOO_SHORT = "its quote is too short to say anything"


@pytest.mark.parametrize(
    ("quote", "source", "why"),
    [
        ("red cat sleeps", "The red cat sleeps on it.", ""),  # three words
        ("red cat", "The red cat sleeps on it.", TOO_SHORT),
        ("t sleeps on", "The cat sleeps on it.", ""),
        ("cat sleeping", "The cat sleeping on it.", ""),  # twelve characters
        ("at sleeping", "The cat sleeping on it.", TOO_SHORT),
        ("Red cat", "Red cat", ""),  # all of it
        ("红色的猫睡在", "红色的猫睡在沙发上。", ""),  # six ideographs
        ("红色的猫睡", "红色的猫睡在沙发上。", TOO_SHORT),
        ("red  cat\nsleeps", "The red cat sleeps on it.", ""),
        ("Red cat sleeps", "The red cat sleeps on it.", NO_QUOTE),
        ("", "The cat", NO_QUOTE),
        ("?", "The cat?", NO_QUOTE),
    ],
)
def test_a_quote_stands_there_and_is_long_enough(quote: str, source: str, why: str) -> None:
    offered = {"s": Evidence(source, source, "", "en")}
    assert check_claim(Claim(source, ("s",), quote), offered) == (dropped(why) if why else Finding("quoted"))


def test_a_quote_may_run_over_two_sentences_in_the_order_cited() -> None:
    claim = Claim("The red cat sleeps.", ("cat", "dog"), "sofa. The dog barks")
    assert check_claim(claim, OFFERED) == Finding("supported")
    turned = Claim("The red cat sleeps.", ("cat", "dog"), "at night. The red cat")
    assert check_claim(turned, OFFERED) == dropped(NO_QUOTE)


def test_a_quote_or_claim_may_be_without_the_markup() -> None:
    offered = {"s": Evidence("The **red** cat _sleeps_ here.", "The red cat sleeps here.", "", "en")}
    for text in ("The red cat sleeps here.", "The **red** cat _sleeps_ here."):
        for quote in ("red cat sleeps", "**red** cat _sleeps_"):
            assert check_claim(Claim(text, ("s",), quote), offered) == Finding("quoted")


def test_characters_that_are_not_held_are_named_as_runs() -> None:
    offered = {"s": Evidence("红色的猫睡在沙发上。", "红色的猫睡在沙发上。", "", "zh")}
    claim = Claim("红猫睡在飞机沙发", ("s",), "红色的猫睡在")
    assert check_claim(claim, offered) == Finding("unchecked", "", ("飞机",))
    unlike = Claim("红猫飞机天河山水", ("s",), "红色的猫睡在")
    assert check_claim(unlike, offered) == dropped("its words are not those of what it cites")


def test_where_a_note_has_no_language_its_words_tell_it() -> None:
    spanish = "El gato duerme en la casa, pero no come."
    offered = {"s": Evidence(spanish, spanish, "", "")}
    assert check_claim(Claim("El gato come.", ("s",), "El gato duerme"), offered).reason == DENIES
    assert check_claim(Claim("El gato no come.", ("s",), "El gato duerme"), offered).verdict == "supported"
