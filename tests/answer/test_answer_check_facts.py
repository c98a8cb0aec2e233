"""What of a clause differs from the statement that it cites, and what comes of a whole claim."""

from __future__ import annotations

from pathlib import Path

from golden_cases import check_golden, of_parts

from vault_indexer.answer.check import Claim, Evidence, Finding, check_claim
from vault_indexer.answer.check.facts import Statement, conflict

DENIES = "it denies what the note says, or says what the note denies"


def read(text: str, heading: str = "", quote: str = "") -> Statement:
    return Statement.read(text, heading, quote or text, "en")


def test_a_heading_states_facts_and_markup_numbers_only_with_the_text() -> None:
    assert conflict("5 cats", "5 cats", read("cats", heading="5 of them")) == ""
    assert conflict("5 cats", "5 cats", read("cats", quote="5 cats")) != ""
    assert conflict("He met Anna", "He met Anna", read("He met Bob", heading="Anna")) == ""
    assert conflict("May 2021", "May 2021", read("in May", heading="2021")) == ""
    assert conflict("May 2021", "May 2021", read("in May", heading="2020")) != ""
    assert conflict("It took 18 months", "It took 18 months", read("It took 1.5 years")) == ""
    assert conflict("use `ab.py`", "use `ab.py`", read("use it", quote="use [it](ab.py)")) == ""


OFFERED = {
    name: Evidence(text, text, "", "en")
    for name, text in {
        "cat": "The red cat sleeps on the sofa.",
        "dog": "The dog barks at night.",
        "fish": "The red cat eats fish at noon.",
        "purrs": "It purrs in the morning.",
    }.items()
}


def dropped(reason: str) -> Finding:
    return Finding("dropped", reason)


NO_QUOTE = "its quote is not in what it cites"


def shown(found: Finding) -> str:
    return " ".join(filter(None, (found.verdict, found.reason, *found.unchecked)))


def test_claims_are_checked_as_the_golden_says() -> None:
    def quote(quoted: str, source: str) -> str:
        return shown(check_claim(Claim(source, ("s",), quoted), {"s": Evidence(source, source, "", "en")}))

    check_golden(
        Path(__file__).parent / "fixtures" / "check_facts.md",
        {
            "A clause differs from a statement": of_parts(
                lambda clause, text: conflict(clause, clause, read(text))
            ),
            "What limits a statement may stand elsewhere in the claim": of_parts(
                lambda clause, text, claim: conflict(clause, claim, read(text))
            ),
            "Words that oblige or generalise are added": of_parts(
                lambda text, clause: read(text).added_limits(clause)
            ),
            "A claim is what its clauses are": of_parts(
                lambda text, ids: shown(
                    check_claim(Claim(text, tuple(ids.split()), "red cat sleeps"), OFFERED)
                )
            ),
            "A quote stands there and is long enough": of_parts(quote),
        },
    )


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
