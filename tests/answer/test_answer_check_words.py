"""The words, names, code and clauses of a sentence that is checked, and how it denies."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("The boiler needs 1.5 bar in May.", "en", {"boiler": "boiler"}),
        ("Never open `x.py` or --force", "en", {"open": "open"}),
        ("It may not be all, must it?", "en", {}),
        ("a x yy", "en", {"yy": "yy"}),
        ("Gardens garden", "en", {"garden": "garden"}),
        ("Er läuft schnell", "de", {"lauft": "läuft", "schnell": "schnell"}),
        ("l'eau de l'homme", "fr", {"eau": "eau", "homm": "homme"}),
        ("猫は5月に行", "ja", {"猫": "猫", "行": "行"}),
        ("API 好", "zh", {"api": "API", "好": "好"}),
        ("see foo_bar fooBar $HOME /etc/x.y", "en", {"see": "see"}),
    ],
)
def test_the_words_that_say_something(text: str, language: str, words: dict[str, str]) -> None:
    found = content_words(text, language)
    assert {stem: word for stem, word in found.items() if stem not in "はに"} == words


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("`a b` and `c`", ["a b", "c"]),
        ("`a\nb`", []),
        ("-x --long-name=va x", ["-x", "--long-name=va"]),
        ("a-x 5-6", []),
        ("(http://a.b/c) x", ["http://a.b/c"]),
        ("/etc/x.y ~/z", ["/etc/x.y", "~/z"]),
        ("x/etc", []),
        ("foo_bar_baz _foo", ["foo_bar_baz"]),
        ("fooBar FooBar", ["fooBar"]),
        ("$HOME $1", ["$HOME"]),
        ("ab.toml a.toml ab.tomlx", ["ab.toml"]),
    ],
)
def test_code_is_what_is_written_as_such(text: str, codes: list[str]) -> None:
    assert [match["span"] or match["token"] for match in CODE.finditer(text)] == codes


@pytest.mark.parametrize(
    ("sentence", "evidence", "unknown"),
    [
        ("Use `a b` and --x", "use --x", ["a b"]),
        ("Use `a b`", "a b", []),
        ("Use `A`", "a", ["A"]),
        ("Use `café.py`", "cafe\u0301.py", []),
        ("Use `b` and `a`", "", ["b", "a"]),
    ],
)
def test_code_has_to_stand_in_the_evidence_as_it_is(sentence: str, evidence: str, unknown: list[str]) -> None:
    assert unknown_code(sentence, evidence) == unknown


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("germany", "german", True),
        ("abcd", "abcdefgh", True),
        ("abcd", "abcdefghi", False),
        ("abcdefgh", "abcdxxxx", True),
        ("abcdefgh", "abcdxxxxx", False),
        ("abc", "abcd", False),
        ("abcx", "abcy", False),
    ],
)
def test_forms_of_a_word_share_four_letters_and_differ_in_four_at_most(
    one: str, other: str, is_one: bool
) -> None:
    assert is_form(one, other) is is_form(other, one) is is_one


@pytest.mark.parametrize(
    ("own", "known", "language", "held"),
    [
        ("cat", ["dog", "cat"], "en", True),
        ("cat", ["dog"], "en", False),
        ("garden", ["dog", "gardens"], "en", True),
        ("tagen", ["feiertagen"], "de", True),
        ("tagenfeier", ["tagen"], "nl", True),
        ("agen", ["feiertagen"], "de", False),
        ("tagen", ["xtagenx"], "de", False),
        ("tagen", ["feiertagen"], "en", False),
        ("garden", ["gardens"], "zh", False),
        ("猫", ["猫"], "zh", True),
    ],
)
def test_a_word_is_held_in_any_form_or_as_a_part_of_a_compound(
    own: str, known: list[str], language: str, held: bool
) -> None:
    assert is_held(own, known, language) is held


@pytest.mark.parametrize(
    ("text", "language", "parts"),
    [
        ("The cat sleeps, the dog barks.", "en", ["The cat sleeps", "the dog barks"]),
        ("The cat sleeps and the dog barks", "en", ["The cat sleeps", "the dog barks"]),
        ("In 1932, the bridge opened", "en", ["In 1932", "the bridge opened"]),
        ("However, the bridge opened", "en", ["However, the bridge opened"]),
        ("yes, it is, the cat sleeps", "en", ["yes, it is", "the cat sleeps"]),
        ("not, never", "en", ["not, never"]),
        (
            "cat; dog — bird (fish): cow! pig? hen\nfox",
            "en",
            ["cat", "dog", "bird", "fish", "cow", "pig", "hen", "fox"],
        ),
        ("1,500 cats at 3:30, well,fed", "en", ["1,500 cats at 3:30", "well,fed"]),
        ("The cat, and", "en", ["The cat"]),
        ("", "en", []),
        ("猫很好，狗不好。", "zh", ["猫很好", "狗不好"]),
    ],
)
def test_a_sentence_has_clauses_that_each_say_something(text: str, language: str, parts: list[str]) -> None:
    assert clauses(text, language) == parts


EVIDENCE = ("The cat sleeps on the sofa", "The dog barks at night", "The cat eats fish")


@pytest.mark.parametrize(
    ("clause", "about"),
    [
        ("cat sofa", [0]),  # most words of the first
        ("dog", [1]),  # the best one
        ("cat", [0, 2]),
        ("cat sleeps sofa eats", [0, 2]),
        ("bird", [0, 1, 2]),
    ],
)
def test_a_clause_is_about_the_clauses_with_most_of_their_words_in_it(clause: str, about: list[int]) -> None:
    assert clauses_about(clause, EVIDENCE, "en") == [EVIDENCE[number] for number in about]


def test_half_of_the_words_are_not_most_of_them() -> None:
    assert clauses_about("cat fish", ["cat dog", "cat fish bird", "cow"], "en") == ["cat fish bird"]
    assert clauses_about("cat", ["cat dog", "cat bird cow"], "en") == ["cat dog"]
    assert clauses_about("cat", [], "en") == []


def test_a_share_and_a_number_of_words_are_held() -> None:
    assert share_held("the cat eats fish", ["cat", "fish"], "en") == pytest.approx(2 / 3)
    assert share_held("the", ["cat"], "en") == 0.0
    assert overlap("the cat eats fish", "fish and cats", "en") == 2
    assert overlap("the cat eats fish", "the", "en") == 0


@pytest.mark.parametrize(
    ("sentence", "language", "names"),
    [
        ("The cat saw Rome", "en", ["Rome"]),
        ("Rome is old", "en", ["Rome"]),
        ("Tower is high. Tower is in Rome", "en", ["Rome"]),
        ("NASA came", "en", ["NASA"]),
        ("Olaf Berg met Jack's dog", "en", ["Olaf", "Berg", "Jack"]),
        ("I saw I", "en", []),
        ("O’Brien left with Jean-Luc", "en", ["O’Brien", "Jean-Luc"]),
        ('"Rome fell', "en", ["Rome"]),
        ("Das Haus am Ring von Anna", "de", ["Anna"]),
        ("Anna Berg kam", "de", ["Berg"]),
        ("NASA kam", "de", []),
        ("Анна пришла", "ru", []),
        ("Анна Берг пришла к Ивану", "ru", ["Анна", "Берг", "Ивану"]),
    ],
)
def test_a_name_is_a_word_with_a_capital_that_no_rule_of_the_language_asks_for(
    sentence: str, language: str, names: list[str]
) -> None:
    assert list(capitalised_words(sentence, language)) == names


@pytest.mark.parametrize(
    ("sentence", "evidence", "language", "unknown"),
    [
        ("He met Anna", "Anna came", "en", []),
        ("He met Anna's dog", "anna came", "en", []),
        ("He met Anna", "Ann came", "en", ["Anna"]),
        ("He met Germany", "a German", "en", []),
        ("He met Rome and Anna", "", "en", ["Rome", "Anna"]),
        ("He met NATO", "North Atlantic Treaty Organization", "en", []),
        ("He met NATO", "north atlantic treaty organization", "en", ["NATO"]),
        ("He met NATO", "The North Atlantic", "en", ["NATO"]),
        ("He met Jean-Luc", "Luc and Jean", "en", []),
        ("He met Jean-Luc", "Jean", "en", ["Jean-Luc"]),
        ("他去北京", "他去上海", "zh", ["北京"]),
        ("他去北京", "他在北京", "zh", []),
        ("阿尔法来了", "他来了", "zh", ["阿尔法"]),
        ("尔法", "他", "zh", ["尔法"]),
        ("王明来了", "李明来了", "zh", ["王"]),
        ("张三来", "他来", "zh", ["张三"]),
    ],
)
def test_a_name_that_the_evidence_does_not_hold_is_unknown(
    sentence: str, evidence: str, language: str, unknown: list[str]
) -> None:
    assert unknown_names(sentence, evidence, language) == unknown


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("L'eau qu'il", "fr", [("eau", 2, 5), ("il", 9, 11)]),
        ("aujourd'hui", "fr", [("aujourd'hui", 0, 11)]),
        ("l'acqua", "it", [("acqua", 2, 7)]),
        ("l'eau", "es", [("l'eau", 0, 5)]),
        ("Jean-Luc a1b", "en", [("jean-luc", 0, 8), ("a", 9, 10), ("b", 11, 12)]),
    ],
)
def test_an_elided_article_is_no_part_of_its_word(
    text: str, language: str, found: list[tuple[str, int, int]]
) -> None:
    assert [(one.normal, one.start, one.end) for one in tokens(text, language)] == found


def test_a_token_has_its_exact_and_its_folded_form_and_its_stem() -> None:
    (word,) = tokens("Cafés", "fr")
    assert (word.normal, word.folded, word.stem) == ("cafés", "cafes", "caf")


@pytest.mark.parametrize(
    ("text", "exact", "inflected"),
    [
        ("decide against it", [(0, 14)], [(0, 14)]),
        ("decide it against", [], []),
        ("He AVOIDED it", [], [(3, 10)]),
        ("avoid decide against", [(0, 5), (6, 20)], [(0, 5), (6, 20)]),
        ("bans a ban", [(7, 10)], [(7, 10)]),  # a stem of three letters is compared as a word
    ],
)
def test_phrases_are_found_whole_and_single_words_in_other_forms_as_well(
    text: str, exact: list[tuple[int, int]], inflected: list[tuple[int, int]]
) -> None:
    listed = ("avoid", "ban", "decide against")
    for is_inflected, spans in ((False, exact), (True, inflected)):
        assert Phrases.read(listed, "en", is_inflected=is_inflected).find(text, "en") == spans


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


@pytest.mark.parametrize(
    ("text", "language", "count"),
    [
        ("He failed not to pay", "en", 2),
        ("not only this", "en", 0),
        ("no doubt never", "en", 1),
        ("It isn't and won’t", "en", 2),
        ("refused instead of paying", "en", 2),
        ("unhealthy", "en", 0),
        ("Nicht nur Brot, aber kein Wein.", "de", 1),
        ("Le pain n'est pas prêt.", "fr", 1),
        ("No hay pan; sin embargo, hay vino.", "es", 1),
        ("Он не только пил, но и не ел.", "ru", 1),
        ("Không chỉ bánh mì, chưa có rượu.", "vi", 1),
        ("这不仅是面包，没有酒，非常好。", "zh", 1),
    ],
)
def test_words_that_deny_or_reverse_are_counted(text: str, language: str, count: int) -> None:
    assert count_negations(text, language) == count


@pytest.mark.parametrize(
    ("clause", "evidence", "is_same"),
    [
        ("It is so", "It is not so", False),
        ("It is not so", "It is never so", True),
        ("It is not not so", "It is not so", False),
        ("It is never not so", "It is never not so", True),
        ("It is healthy", "It is unhealthy", False),
        ("It is unhealthy", "It is healthy", False),
        ("It is not healthy", "It is unhealthy", True),
        ("It is unhealthy", "It is not unhealthy", False),
        ("It is unhealthy", "It is healthy and unhealthy", True),
        ("It is hopeless", "There is hope", False),
        ("It is impossible", "It is possible", False),
        ("He failed to pay", "He did not pay", True),
        ("He failed to pay", "He paid", False),
        ("The painting is new", "The pain is new", True),  # that is no suffix
        ("the cat is uncut", "the cat is cut", True),  # three letters are no base
        ("It is open", "It is closed", False),
        ("It is open and closed", "It is closed", True),
        ("It is open", "It is closed and open", True),
        ("It is not open", "It is closed", True),
        ("It is not open", "It is not closed", False),
    ],
)
def test_a_clause_denies_what_its_evidence_denies(clause: str, evidence: str, is_same: bool) -> None:
    assert same_polarity(clause, [evidence], "en") is is_same


@pytest.mark.parametrize(
    ("clause", "evidence", "language", "is_same"),
    [
        ("饭前吃药", ["饭后吃药"], "zh", False),
        ("饭后吃药", ["饭前吃药"], "zh", False),
        ("饭前吃药", ["饭前吃药"], "zh", True),
        ("饭前和饭后吃药", ["饭后吃药"], "zh", True),
        ("It is not so", ["That is it", "It is not so"], "en", True),
        ("It is so", ["That is it", "It is not so"], "en", False),
        ("It is so", [], "en", True),
    ],
)
def test_contrary_words_of_a_script_without_spaces_and_several_clauses(
    clause: str, evidence: list[str], language: str, is_same: bool
) -> None:
    assert same_polarity(clause, evidence, language) is is_same
