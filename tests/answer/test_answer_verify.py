"""The check of a model's sentence against what it cites: honest ones pass, falsified ones do not."""

from __future__ import annotations

from collections import Counter

import pytest
from paraphrases import Paraphrase, read_paraphrases

from vault_indexer.answer.details import unknown_names
from vault_indexer.answer.negation import count_negations, denies_the_same
from vault_indexer.answer.numbers import numbers_in
from vault_indexer.answer.verify import Claim, Evidence, objection

PARAPHRASES = read_paraphrases()
BRIDGE = (
    "The bridge was opened in 1932 by Jack Lang, and `bridge.toml` says that it "
    "does not carry 2 million cars."
)
OFFERED = {
    "s1": Evidence(BRIDGE, BRIDGE.replace("`", ""), "Sydney > Harbour", "en"),
    "s2": Evidence("It is **unhealthy** to\nswim there.", "It is unhealthy to swim there.", "Sydney", "en"),
}


def reason(text: str, quote: str = "The bridge was opened", ids: tuple[str, ...] = ("s1",)) -> str:
    return objection(Claim(text, ids, quote), OFFERED)


def accepted(one: Paraphrase, text: str) -> bool:
    offered = {"s1": Evidence(one.source, one.source, "", one.language)}
    return objection(Claim(text, ("s1",), one.source), offered) == ""


def test_there_are_enough_paraphrases_to_judge_by() -> None:
    counts = Counter(one.language for one in PARAPHRASES)
    assert set(counts) == {"en", "es", "zh", "ru"}
    assert min(counts.values()) >= 15
    assert len({one.honest for one in PARAPHRASES}) >= 60


def test_honest_paraphrases_are_accepted() -> None:
    rejected = [one.honest for one in PARAPHRASES if not accepted(one, one.honest)]
    assert len(rejected) <= 0.15 * len(PARAPHRASES), rejected


@pytest.mark.parametrize(("kind", "most"), [("number", 0.02), ("name", 0.02), ("negation", 0.10)])
def test_falsified_sentences_are_dropped(kind: str, most: float) -> None:
    falsified = [(one, text) for one in PARAPHRASES for what, text in one.falsified() if what == kind]
    assert len(falsified) >= 50
    wrong = [text for one, text in falsified if accepted(one, text)]
    assert len(wrong) <= most * len(falsified), wrong


@pytest.mark.parametrize(
    ("text", "quote", "ids", "why"),
    [
        ("The bridge was opened in 1932.", "The bridge was opened", (), "cites nothing"),
        (
            "The bridge was opened in 1932.",
            "The bridge was opened",
            ("s1", "s9"),
            "s9, which was not offered",
        ),
        ("The bridge was opened in 1932.", "The bridge was built", ("s1",), "its quote does not stand"),
        ("The bridge was opened in 1932.", "", ("s1",), "its quote does not stand"),
        ("The bridge was opened in 1932.", " … ", ("s1",), "its quote does not stand"),
        ("The bridge was opened in 1932.", "It is unhealthy", ("s1",), "its quote does not stand"),
        ("The bridge was opened in 1933.", "The bridge was opened", ("s1",), "the number 1933"),
        ("The bridge was opened by Joan Hill.", "The bridge was opened", ("s1",), "the name Joan"),
        ("Set `tower.toml` for the bridge.", "The bridge was opened", ("s1",), "'tower.toml'"),
        ("Open the bridge with --force.", "The bridge was opened", ("s1",), "'--force'"),
        ("Jack Lang did not open the bridge.", "The bridge was opened", ("s1",), "it denies"),
        ("The bridge carries 2 million cars.", "The bridge was opened", ("s1",), "it denies"),
        ("It is healthy to swim there.", "swim there", ("s2",), "it denies"),
        ("Many tourists admire wonderful sunsets daily.", "swim there", ("s2",), "its words"),
    ],
)
def test_each_check_says_what_is_wrong(text: str, quote: str, ids: tuple[str, ...], why: str) -> None:
    assert why in reason(text, quote, ids)


@pytest.mark.parametrize(
    ("text", "quote", "ids"),
    [
        ("Jack Lang opened the bridge in 1932.", "The bridge was opened in 1932", ("s1",)),
        ("The bridge in Sydney was opened in 1932.", "The bridge was\n opened", ("s1",)),
        ("It does not carry 2,000,000 cars.", "it does not carry 2 million cars.", ("s1",)),
        ("The file is `bridge.toml` of the bridge.", "`bridge.toml` says", ("s1",)),
        ("It is not healthy to swim there.", "**unhealthy** to swim", ("s2",)),
        ("It is unhealthy to swim there.", "unhealthy to swim", ("s2",)),
    ],
)
def test_what_the_note_says_is_accepted(text: str, quote: str, ids: tuple[str, ...]) -> None:
    assert reason(text, quote, ids) == ""


def test_a_quote_is_compared_in_nfc() -> None:
    offered = {"s1": Evidence("Cafe\u0301 opens at 9.", "Cafe\u0301 opens at 9.", "", "en")}
    assert objection(Claim("The Café opens at 9.", ("s1",), "Café opens"), offered) == ""


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("1,234.5 and 1 234,5", "", {"1234.5"}),
        ("2 million, 2,000,000 and dos millones", "es", {"2000000"}),
        ("三十五 and 35 and 3.5万 and 两百万", "zh", {"35", "35000", "2000000"}),
        ("twelve, двенадцать, zwölf", "", {"12"}),
        ("In 2023 two ships came.", "en", {"2023", "2"}),
        ("once upon a time", "en", set()),
        ("a las once", "es", {"11"}),
        ("in the 16th century", "en", {"16"}),
        ("二〇二六年", "zh", {"2026"}),
    ],
)
def test_a_number_is_one_value_however_it_is_written(text: str, language: str, values: set[str]) -> None:
    assert set(numbers_in(text, language)) == values


@pytest.mark.parametrize(
    ("text", "language", "count"),
    [
        ("It isn't here, and never was.", "en", 2),
        ("Not only bread but wine.", "en", 0),
        ("Nicht nur Brot, aber kein Wein.", "de", 1),
        ("Le pain n'est pas prêt.", "fr", 1),
        ("No hay pan; sin embargo, hay vino.", "es", 1),
        ("Он не только пил, но и не ел.", "ru", 1),
        ("Không chỉ bánh mì, chưa có rượu.", "vi", 1),
        ("这不仅是面包，没有酒，非常好。", "zh", 1),
    ],
)
def test_negations_are_counted_by_language(text: str, language: str, count: int) -> None:
    assert count_negations(text, language) == count


def test_only_the_clauses_count_that_a_sentence_is_about() -> None:
    evidence = "The bridge carries cars, but trains are not allowed on it."
    assert denies_the_same("The bridge carries cars.", evidence, "en")
    assert denies_the_same("Trains are not allowed on it.", evidence, "en")
    assert not denies_the_same("Trains are allowed on it.", evidence, "en")


@pytest.mark.parametrize(
    ("sentence", "evidence", "unknown"),
    [
        ("They moved to Germany.", "A German family moved.", []),  # an inflected form of the name
        (
            "The map shows Marseille.",
            "The map shows Marathon.",
            ["Marseille"],
        ),  # only its beginning is shared
        ("It is in Constantinopolis.", "Constantin built it.", ["Constantinopolis"]),  # the rest is too long
        ("We met Ann there.", "We met Anneliese there.", ["Ann"]),  # too little is shared
    ],
)
def test_a_form_of_a_name_shares_its_beginning_and_most_of_its_length(
    sentence: str, evidence: str, unknown: list[str]
) -> None:
    assert unknown_names(sentence, evidence, "en") == unknown
