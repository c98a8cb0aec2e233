"""Which words of a vault are compounds of a word, and which parts of a compound it knows."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from golden_cases import check_golden, of_parts

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


def test_compounds_and_their_parts_are_those_of_the_golden() -> None:
    def compound(word: str) -> str:
        (term,) = Vocabulary({word: 1}).widen("Haus")
        assert term.compounds in ((), (word,))
        return "compound" if term.compounds else "none"

    def parts(query: str, known: str) -> str:
        whole, *found = Vocabulary(dict.fromkeys(known.split(), 1)).widen(query)
        assert {(one.start, one.end) for one in found} <= {(whole.start, whole.end)}
        assert {one.weight for one in found} <= {whole.weight * PART_WEIGHT}
        return " ".join(one.word for one in found)

    check_golden(
        Path(__file__).parent / "fixtures" / "compounds.md",
        {
            "A compound of `Haus` has letters enough in front or behind": compound,
            "The known parts of a word that nothing holds": of_parts(parts),
        },
    )


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
