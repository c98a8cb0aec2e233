"""Which words of a vault are compounds of a word, and which parts of a compound it knows."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import cast

import pytest

from vault_indexer.search.terms import with_compounds
from vault_indexer.search.terms.words import WordStatistics
from vault_indexer.store import Snapshot
from vault_indexer.store.keywords.lexicon import Word
from vault_indexer.text.query import PART_WEIGHT, analyze_query
from vault_indexer.text.terms import QueryTerm


@dataclass
class Vocabulary:
    """The words of a vault with the number of chunks that hold each, all in German."""

    words: Mapping[str, int]

    def words_with(self, piece: str) -> tuple[Word, ...]:
        return tuple(Word(*item) for item in self.words.items() if piece in item[0])

    def with_prefix(self, prefix: str, limit: int) -> list[str]:
        return [word for word in self.words if word.startswith(prefix)][:limit]

    def largest_document_frequency(self, forms: Collection[str]) -> int:
        counts = {
            form: count for word, count in self.words.items() for form in analyze_query(word, ["de"])[0].forms
        }
        return max((counts.get(form, 0) for form in forms), default=0)

    def widen(self, query: str, language: str = "de") -> list[QueryTerm]:
        snapshot = cast(Snapshot, SimpleNamespace(keywords=SimpleNamespace(lexicon=self)))
        terms = analyze_query(query, [language])
        return list(with_compounds(snapshot, cast(WordStatistics, self), terms, language))


@pytest.mark.parametrize(
    ("word", "is_compound"),
    [
        ("steinhaus", True),
        ("umhaus", False),  # two letters in front
        ("ausbaum", False),
        ("ölehaus", True),
        ("steinhauses", True),
        ("steinhausern", False),  # an ending of three letters
        ("haustür", False),  # three letters behind
        ("hauses", False),
        ("haustüre", True),
        ("umhaustüre", False),
        ("haushaus", True),
        ("hausumhaus", True),
        ("stein2haus", False),
    ],
)
def test_a_compound_has_letters_enough_in_front_or_behind(word: str, is_compound: bool) -> None:
    (term,) = Vocabulary({word: 1}).widen("Haus")
    assert term.compounds == ((word,) if is_compound else ())


def test_the_sixteen_most_frequent_compounds_are_taken_the_first_by_name_among_equals() -> None:
    names = [f"{chr(ord('a') + n)}steinhaus" for n in range(20)]
    words = {name: 5 if n == 19 else 1 + (n % 2) for n, name in enumerate(names)}
    (term,) = Vocabulary(dict(reversed(words.items()))).widen("Haus")
    assert term.compounds == (names[19], *names[1:19:2], *names[0:12:2])
    assert len(term.compounds) == 16


@pytest.mark.parametrize(("chunks", "found"), [(0, True), (3, True), (4, False)])
def test_a_word_that_few_chunks_hold_is_looked_for_within_others(chunks: int, found: bool) -> None:
    (term,) = Vocabulary({"haus": chunks, "steinhaus": 1}).widen("Haus")
    assert bool(term.compounds) == found


@pytest.mark.parametrize(
    ("query", "known", "parts"),
    [
        ("Gartenbank", ["garten", "bank"], ["garten", "bank"]),
        ("Gartenbank", ["garte", "nbank"], ["garte", "nbank"]),
        ("Gartenbanka", ["garten", "banka", "gartenb", "anka"], ["gartenb", "anka"]),  # the longest first
        ("Tierbank", ["tier", "bank"], ["tier", "bank"]),
        ("Teebank", ["tee", "bank"], []),  # no part of three letters
        ("Banktee", ["bank", "tee"], []),
        ("Rasenflur", ["rasen"], []),  # one is known, and four letters are left
        ("Rasenflure", ["rasen"], ["rasen"]),
        ("Rasenfluren", ["rasen", "rasenf"], ["rasenf"]),  # the longest one
        ("Rasenfluren", ["sender", "fluren"], ["fluren"]),
        ("Dieserfluren", ["dieser", "fluren"], ["fluren"]),  # a function word is none
    ],
)
def test_a_word_that_nothing_holds_is_followed_by_the_parts_that_are_known(
    query: str, known: list[str], parts: list[str]
) -> None:
    whole, *found = Vocabulary(dict.fromkeys(known, 1)).widen(query)
    assert [one.word for one in found] == parts
    assert [(one.start, one.end) for one in found] == [(whole.start, whole.end)] * len(parts)
    assert [one.weight for one in found] == [whole.weight * PART_WEIGHT] * len(parts)


@pytest.mark.parametrize(("first", "found"), [("garten", True), ("garte", False)])
def test_a_first_part_of_six_letters_may_be_known_within_compounds_alone(first: str, found: bool) -> None:
    _, *parts = Vocabulary({f"{first}zaun": 1, "bank": 1}).widen(f"{first}bank")
    assert [(one.word, one.compounds) for one in parts] == (
        [(first, (f"{first}zaun",)), ("bank", ())] if found else []
    )


def test_a_word_that_one_chunk_holds_stands_without_its_parts() -> None:
    (term,) = Vocabulary({"gartenbank": 1, "garten": 1, "bank": 1}).widen("Gartenbank")
    assert (term.word, term.compounds) == ("Gartenbank", ())


@pytest.mark.parametrize(("language", "found"), [("sv", True), ("nl", True), ("en", False), ("fr", False)])
def test_some_languages_write_compounds_as_one_word(language: str, found: bool) -> None:
    (term,) = Vocabulary({"husbalkar": 1}).widen("balk", language)
    assert bool(term.compounds) == found


@pytest.mark.parametrize("query", ["eine", "Bau", "unbekannt", 40 * "x" + "schlauch"])
def test_function_words_short_long_and_unknown_words_have_none(query: str) -> None:
    words = {"einebank": 1, "steinbau": 1, f"{40 * 'x'}schlauch": 1, "schlauch": 1}
    assert Vocabulary(words).widen(query) == analyze_query(query, ["de"])


def test_of_many_words_the_first_eight_are_looked_for() -> None:
    vocabulary = Vocabulary({"zwetschgenkuchen": 1})
    unknown = "Flieder Ginster Rhabarber Spargel Petersilie Majoran Thymian"
    assert vocabulary.widen(f"{unknown} Kuchen")[-1].compounds
    assert not vocabulary.widen(f"{unknown} Basilikum Kuchen")[-1].compounds
