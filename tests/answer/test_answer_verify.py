"""The check of a model's sentence against what it cites: honest ones pass, falsified ones do not."""

from __future__ import annotations

from collections import Counter

import pytest
from claim_sets import HONEST, LANGUAGES, read_claim_set
from paraphrases import Paraphrase, read_paraphrases

from vault_indexer.answer.check import Claim, Evidence, Finding, check_claim
from vault_indexer.answer.check.dates import find_dates
from vault_indexer.answer.check.facts import count_negations, same_polarity, unknown_names
from vault_indexer.answer.check.lexicon import languages, lexicon
from vault_indexer.answer.check.numbers import quantities
from vault_indexer.answer.check.words import is_form

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
    return check_claim(Claim(text, ids, quote), OFFERED).reason


def check(text: str, *sentences: str, language: str = "en") -> Finding:
    """The finding for a text that cites all these sentences of notes."""
    offered = {one: Evidence(one, one, "", language) for one in sentences}
    return check_claim(Claim(text, sentences, sentences[0]), offered)


def accepted(one: Paraphrase, text: str) -> bool:
    offered = {"s1": Evidence(one.source, one.source, "", one.language)}
    return check_claim(Claim(text, ("s1",), one.source), offered).verdict != "dropped"


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


@pytest.mark.long
@pytest.mark.parametrize("halves", [(1,), (0, 1)], ids=["kept aside", "both"])
def test_the_check_keeps_its_bars_on_the_claim_set(halves: tuple[int, ...]) -> None:
    """Falsified and supported: at most .15 in all, .05 of numbers, names, dates and negations; honest and
    dropped: at most .10."""
    verdicts = [(one, one.check().verdict) for half in halves for one in read_claim_set(half)]
    honest = [verdict for one, verdict in verdicts if one.kind == HONEST]
    falsified = [(one.kind, verdict) for one, verdict in verdicts if one.kind != HONEST]
    assert honest.count("dropped") <= 0.10 * len(honest)
    assert sum(verdict == "supported" for _, verdict in falsified) <= 0.15 * len(falsified)
    for kind in ("number", "name", "date", "negation"):
        own = [verdict for one, verdict in falsified if one == kind]
        assert own
        assert own.count("supported") <= 0.05 * len(own), kind


def test_the_claim_set_is_as_large_as_its_bars_need() -> None:
    texts = [one for half in (0, 1) for one in read_claim_set(half)]
    honest = [one for one in texts if one.kind == HONEST]
    assert len(honest) >= 150
    assert len(texts) - len(honest) >= 300
    assert {one.language for one in texts} == set(LANGUAGES)


@pytest.mark.parametrize(
    ("text", "verdict", "unchecked"),
    [
        ("Prune the apple tree in late winter.", "quoted", ()),
        ("In late winter, the apple tree is pruned.", "supported", ()),
        ("Prune the cherry tree in late winter.", "unchecked", ("cherry",)),
        ("Prune the apple tree in early winter.", "dropped", ()),
    ],
)
def test_a_claim_is_quoted_or_supported_or_names_its_unchecked_words(
    text: str, verdict: str, unchecked: tuple[str, ...]
) -> None:
    finding = check(text, "Prune the apple tree in late winter.")
    assert (finding.verdict, finding.unchecked) == (verdict, unchecked)


NOTES = ("The boiler needs a pressure of 1.5 bar.", "Olaf Berg replaced the pump of the pool in June.")


@pytest.mark.parametrize(
    "text",
    [
        "The boiler was replaced by Olaf Berg.",
        "The boiler needs 1.5 bar and was replaced in June.",
        "The pump of the pool needs a pressure of 1.5 bar.",
    ],
)
def test_two_notes_are_not_merged_into_one_statement(text: str) -> None:
    assert check(text, *NOTES).verdict == "dropped"


def test_two_sentences_on_one_thing_may_be_joined() -> None:
    heater = ("The boiler needs a pressure of 1.5 bar.", "The boiler is serviced in June.")
    assert check("The boiler needs 1.5 bar, and it is serviced in June.", *heater).verdict == "supported"


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


@pytest.mark.parametrize(
    ("language", "note", "honest", "falsified"),
    [
        (
            "it",
            "Il treno per Como parte il 3 maggio.",
            "Il 3 maggio parte il treno per Como.",
            "Il treno per Como parte il 3 giugno.",
        ),
        ("it", "La porta è sempre aperta.", "Sempre aperta è la porta.", "La porta è sempre chiusa."),
        (
            "pt",
            "A bomba talvez precise de óleo.",
            "Talvez a bomba precise de óleo.",
            "A bomba precisa de óleo.",
        ),
        (
            "nl",
            "De ketel heeft 2 liter water.",
            "Met 2 liter water is de ketel.",
            "De ketel heeft 2 kilo water.",
        ),
        ("pl", "Kot pije mleko przed snem.", "Przed snem kot pije mleko.", "Kot pije mleko po śnie."),
        (
            "cs",
            "Většina stromů kvete v dubnu.",
            "V dubnu kvete většina stromů.",
            "Všechny stromy kvetou v dubnu.",
        ),
        ("sv", "Tåget går på tisdagar.", "På tisdagar går tåget.", "Tåget går på fredagar."),
        (
            "da",
            "Foreningen ejer huset i Aarhus.",
            "I Aarhus ejer foreningen huset.",
            "Foreningen nægter at eje huset i Aarhus.",
        ),
        (
            "nb",
            "Båten kan ha plass til 12 personer.",
            "12 personer kan båten ha plass til.",
            "Båten kan aldri ha plass til 12 personer.",
        ),
        ("uk", "Потяг прибуває у квітні.", "У квітні потяг прибуває.", "Потяг прибуває у травні."),
        ("tr", "Kedi 5 gram mama yer.", "5 gram mama yer kedi.", "Kedi 5 kilo mama yer."),
        (
            "id",
            "Kapal berangkat pada hari Senin.",
            "Pada hari Senin kapal berangkat.",
            "Kapal berangkat pada hari Jumat.",
        ),
        ("vi", "Tàu rời ga vào thứ hai.", "Vào thứ hai tàu rời ga.", "Tàu rời ga vào thứ sáu."),
        ("ja", "猫は5月に病院へ行く。", "5月に猫は病院へ行く。", "猫は6月に病院へ行く。"),
    ],
)
def test_each_language_tells_what_is_changed(language: str, note: str, honest: str, falsified: str) -> None:
    assert check(honest, note, language=language).verdict in ("supported", "unchecked")
    assert check(falsified, note, language=language).verdict == "dropped"


@pytest.mark.parametrize(
    ("text", "language", "parts"),
    [
        ("on 3 May 2021", "en", {"day": 3, "month": 5, "year": 2021}),
        ("on May 3, 2021", "en", {"day": 3, "month": 5, "year": 2021}),
        ("2021-05-03", "", {"day": 3, "month": 5, "year": 2021}),
        ("am 3. Mai 2021", "de", {"day": 3, "month": 5, "year": 2021}),
        ("am 3.5.2021", "de", {"day": 3, "month": 5, "year": 2021}),
        ("el 3 de mayo de 2021", "es", {"day": 3, "month": 5, "year": 2021}),
        ("2021年5月3日", "zh", {"day": 3, "month": 5, "year": 2021}),
        ("at 2:30 pm", "en", {"hour": 14, "minute": 30}),
        ("à 8 h 20", "fr", {"hour": 8, "minute": 20}),
        ("下午2点15分", "zh", {"hour": 14, "minute": 15}),
        ("on Sundays", "en", {"weekday": 7}),
    ],
)
def test_a_date_is_one_whole_however_it_is_written(text: str, language: str, parts: dict[str, int]) -> None:
    (mention,) = find_dates(text, language)
    assert dict(mention.parts) == parts


def test_may_is_a_month_only_with_a_capital() -> None:
    assert find_dates("The landlord may raise the rent in June.", "en")[0].parts == {"month": 6}


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("at -18 degrees", "-18", "degree"),
        ("bei minus 18 Grad", "-18", "degree"),
        ("零下18度", "-18", "degree"),
        ("pages 3-5", "3", ""),
        ("$5", "5", "dollar"),
        ("5 €", "5", "euro"),
        ("20分钟", "20", "min"),
        ("в 2021 году", "2021", ""),
    ],
)
def test_a_number_has_its_sign_and_its_unit(text: str, value: str, unit: str) -> None:
    assert next((one.value, one.unit) for one in quantities(text)) == (value, unit)


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
        ("The bridge was opened in 1932.", "The bridge was built", ("s1",), "its quote is not in"),
        ("The bridge was opened in 1932.", "", ("s1",), "its quote is not in"),
        ("The bridge was opened in 1932.", " … ", ("s1",), "its quote is not in"),
        ("The bridge was opened in 1932.", "It is unhealthy", ("s1",), "its quote is not in"),
        ("The bridge was opened in 1933.", "The bridge was opened", ("s1",), "the number 1933"),
        ("The bridge was opened by Joan Hill.", "The bridge was opened", ("s1",), "the name Joan"),
        ("Set `tower.toml` for the bridge.", "The bridge was opened", ("s1",), "'tower.toml'"),
        ("Open the bridge with --force.", "The bridge was opened", ("s1",), "'--force'"),
        ("Jack Lang did not open the bridge.", "The bridge was opened", ("s1",), "it denies"),
        ("The bridge carries 2 million cars.", "The bridge was opened", ("s1",), "it denies"),
        ("It is healthy to swim there.", "to swim there", ("s2",), "it denies"),
        ("Many tourists admire wonderful sunsets.", "to swim there", ("s2",), "its words"),
        ("The bridge was opened in 1932.", "T", ("s1",), "too short"),
        ("The bridge was opened in 1932.", "opened in", ("s1",), "too short"),
        ("The bridge was opened in 1932. Jack Lang slept.", "The bridge was opened", ("s1",), "one sentence"),
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
        (
            "The bridge does not carry 2 million cars, as `bridge.toml` says.",
            "`bridge.toml` says",
            ("s1",),
        ),
        ("It is not healthy to swim there.", "**unhealthy** to swim", ("s2",)),
        ("It is unhealthy to swim there.", "unhealthy to swim", ("s2",)),
    ],
)
def test_what_the_note_says_is_accepted(text: str, quote: str, ids: tuple[str, ...]) -> None:
    assert reason(text, quote, ids) == ""


def test_a_quote_is_compared_in_nfc() -> None:
    offered = {"s1": Evidence("Cafe\u0301 opens at 9.", "Cafe\u0301 opens at 9.", "", "en")}
    assert (
        check_claim(Claim("The Café opens at 9.", ("s1",), "Café opens at"), offered).verdict == "supported"
    )


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
    assert {one.value for one in quantities(text, language)} == values


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
    assert check("The bridge carries cars.", evidence).verdict == "supported"
    assert check("Trains are not allowed on it.", evidence).verdict == "supported"
    assert "denies" in check("Trains are allowed on it.", evidence).reason


def test_words_that_reverse_deny_as_a_negation_does() -> None:
    assert same_polarity("He failed to pay.", ["He did not pay."], "en")
    assert not same_polarity("He failed to pay.", ["He paid."], "en")
    assert not same_polarity("The door is open.", ["The door is closed."], "en")
    assert not same_polarity("A hopeless case.", ["A case of hope."], "en")
    assert same_polarity("The painting is new.", ["The pain is new."], "en"), "that is no suffix"
    assert same_polarity("The door is open.", ["The door is not closed."], "en")


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


@pytest.mark.parametrize(
    ("word", "other", "is_one"),
    [
        ("hand", "handlers", True),  # four letters more
        ("hand", "handlings", False),  # five
        ("cat", "cats", False),  # three letters shared
        ("cats", "catsup", True),
    ],
)
def test_two_words_of_one_form_share_four_letters_and_differ_in_four_at_most(
    word: str, other: str, is_one: bool
) -> None:
    assert is_form(word, other) is is_one
    assert is_form(other, word) is is_one
