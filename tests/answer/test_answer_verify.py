"""The check of a model's sentence against what it cites: honest ones pass, falsified ones do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from claim_sets import HONEST, LANGUAGES, read_claim_set, read_paraphrased_claims
from golden_cases import check_golden, of_parts
from paraphrases import Paraphrase, read_paraphrases

from vault_indexer.answer.check import Claim, Evidence, Finding, check_claim
from vault_indexer.answer.check.lexicon import languages, lexicon

PARAPHRASES = read_paraphrases()


def check(text: str, *sentences: str, language: str = "en") -> Finding:
    """The finding for a text that cites all these sentences of notes."""
    offered = {one: Evidence(one, one, "", language) for one in sentences}
    return check_claim(Claim(text, sentences, sentences[0]), offered)


def accepted(one: Paraphrase, text: str) -> bool:
    offered = {"s1": Evidence(one.source, one.source, "", one.language)}
    return check_claim(Claim(text, ("s1",), one.source), offered).verdict != "dropped"


@pytest.mark.long
def test_honest_paraphrases_are_accepted() -> None:
    rejected = [one.honest for one in PARAPHRASES if not accepted(one, one.honest)]
    assert len(rejected) <= 0.15 * len(PARAPHRASES), rejected


@pytest.mark.long
@pytest.mark.parametrize(("kind", "most"), [("number", 0.02), ("name", 0.02), ("negation", 0.10)])
def test_falsified_sentences_are_dropped(kind: str, most: float) -> None:
    falsified = [(one, text) for one in PARAPHRASES for what, text in one.falsified() if what == kind]
    assert len(falsified) >= 50
    wrong = [text for one, text in falsified if accepted(one, text)]
    assert len(wrong) <= most * len(falsified), wrong


@pytest.mark.long
@pytest.mark.parametrize("halves", [(1,), (0, 1)], ids=["kept aside", "both"])
def test_the_check_keeps_its_bars_on_the_claim_set(halves: tuple[int, ...]) -> None:
    """Falsified and supported: at most .15 in all, .05 of numbers, names, dates and negations; honest and
    dropped: at most .10."""
    verdicts = [(one, one.check().verdict) for half in halves for one in read_claim_set(half)]
    honest = [verdict for one, verdict in verdicts if one.kind == HONEST]
    falsified = [(one.kind, verdict) for one, verdict in verdicts if one.kind != HONEST]
    assert len(honest) >= 70 * len(halves)
    assert len(falsified) >= 140 * len(halves)
    assert {one.language for one, _ in verdicts} == set(LANGUAGES)
    assert honest.count("dropped") <= 0.10 * len(honest)
    assert sum(verdict == "supported" for _, verdict in falsified) <= 0.15 * len(falsified)
    for kind in ("number", "name", "date", "negation"):
        own = [verdict for one, verdict in falsified if one == kind]
        assert own
        assert own.count("supported") <= 0.05 * len(own), kind


@pytest.mark.long
def test_the_check_keeps_its_bars_on_paraphrases_by_others() -> None:
    verdicts = [(one.kind == HONEST, one.check().verdict) for one in read_paraphrased_claims()]
    honest = [verdict for is_honest, verdict in verdicts if is_honest]
    others = [verdict for is_honest, verdict in verdicts if not is_honest]
    assert (len(honest), len(others)) == (130, 130)
    assert others.count("supported") <= 0.08 * len(others)
    assert honest.count("dropped") <= 0.25 * len(honest)


def test_every_lexicon_has_every_list() -> None:
    assert len(languages()) >= 19
    for language in languages():
        own = lexicon(language)
        assert [len(set(own.calendar[name].values())) for name in ("months", "weekdays", "seasons")] == [
            12,
            9,
            4,
        ]
        for name in ("negators", "reversing", "possible", "necessary", "all", "most", "some", "few", "only"):
            assert own.classes[name].phrases or own.classes[name].pattern, (language, name)
        assert own.opposites
        assert own.minus


def test_each_language_tells_what_is_changed() -> None:
    def verdicts(language: str, note: str, *claims: str) -> str:
        return ", ".join(check(claim, note, language=language).verdict for claim in claims)

    check_golden(Path(__file__).parent / "fixtures" / "changed.md", {"": of_parts(verdicts)})


def test_a_quote_is_compared_in_nfc() -> None:
    offered = {"s1": Evidence("Cafe\u0301 opens at 9.", "Cafe\u0301 opens at 9.", "", "en")}
    assert (
        check_claim(Claim("The Café opens at 9.", ("s1",), "Café opens at"), offered).verdict == "supported"
    )
