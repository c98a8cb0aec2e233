"""Likely spellings are searched beside the words asked for, never instead of them."""

import subprocess
import sys
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from note_files import read_notes

from vault_indexer.api import Vault
from vault_indexer.model import Correction, SearchAnswer, SearchRequest
from vault_indexer.search.terms.words import is_common, vocabulary_file
from vault_indexer.service import VaultService

NEIGHBOURS = {"diaro", "break", "stack", "base", "zahl", "obsidian"}
"""Words of the notes that are one letter away from real words that are asked for below."""

NOTES = read_notes(Path(__file__).parent / "fixtures" / "words_vault.md")


def search(service: VaultService, query: str, *, correct: bool = True) -> SearchAnswer:
    return service.search(SearchRequest(query, correct=correct))


def words_of(answer: SearchAnswer) -> set[str]:
    """The words by which the hits were found."""
    return {word for hit in answer.results if hit.why.keyword for word in hit.why.keyword.terms}


@pytest.mark.parametrize(
    "query",
    ["diary", "DIARY", "bread", "sync stuck", "Bass on Top", "der Garten ist kahl", "старый сарай или диван"],
)
def test_a_real_word_has_no_correction(service: VaultService, query: str) -> None:
    answer = search(service, query)
    assert answer.corrections == ()
    assert not any("searched for" in notice for notice in answer.notices)
    assert not words_of(answer) & NEIGHBOURS


def test_a_word_that_is_only_in_the_title_of_a_blank_note_has_no_correction(service: VaultService) -> None:
    assert search(service, "obsydian").corrections == ()


def test_a_misspelt_word_finds_what_is_meant(service: VaultService) -> None:
    def corrected(query: str, path: str) -> str:
        answer = search(service, query)
        (one,) = answer.corrections
        assert f"no note contains {one.written!r}: also searched for {one.searched!r}" in answer.notices
        assert one.searched in words_of(answer)
        assert path in [hit.path for hit in answer.results[:3]]
        return f"{one.searched} for {one.written}"

    check_golden(Path(__file__).parent / "fixtures" / "misspelt.md", {"": of_parts(corrected)})


@pytest.mark.parametrize(
    ("typed", "meant"), [("obsidain opens a folder", "obsidian opens a folder"), ("recieves", "receives")]
)
def test_the_meaning_is_that_of_the_likely_spelling(service: VaultService, typed: str, meant: str) -> None:
    def cosines(query: str) -> dict[str, float]:
        hits = search(service, query).results
        return {hit.path: hit.why.vector.score for hit in hits if hit.why.vector is not None}

    found, wanted = cosines(typed), cosines(meant)
    assert wanted
    assert found.keys() & wanted.keys()
    assert all(found[path] == wanted[path] for path in found.keys() & wanted.keys())


def test_a_rare_word_of_no_language_is_nobodys_correction(service: VaultService) -> None:
    assert search(service, "diaru").corrections == ()


def test_a_correction_counts_less_than_the_word_itself(service: VaultService) -> None:
    def score(query: str) -> float:
        hit = next(one for one in search(service, query).results if one.path == "Parcels.md")
        assert hit.why.keyword is not None
        return hit.why.keyword.score

    assert 0 < score("recieves") < score("receives")


@pytest.mark.parametrize(
    "query", ['"obsidain"', 'obsidain OR "obsidain"', "line:obsidain", "notes -obsidain"]
)
def test_words_of_filters_are_taken_as_written(service: VaultService, query: str) -> None:
    assert search(service, query).corrections == ()


def test_an_explanation_counts_the_likely_spelling_like_the_search(service: VaultService) -> None:
    explained = service.explain("Parcels.md", SearchRequest("recieves"))
    assert explained.why is not None
    assert explained.why.keyword is not None
    assert set(explained.why.keyword.terms) == {"receives"}
    assert words_of(search(service, "recieves", correct=False)) == set()
    assert Vault(service).search("obsidain", correct=False).corrections == ()
    plain = service.explain("Parcels.md", SearchRequest("recieves", correct=False))
    assert plain.why is None or plain.why.keyword is None


def test_while_typing_a_correction_is_data_and_no_notice(service: VaultService) -> None:
    typed = service.search(SearchRequest("recieves", as_you_type=True))
    assert typed.corrections == (Correction("recieves", "receives"),)
    assert not any("searched for" in notice for notice in typed.notices)


def test_common_words_are_known_and_common_misspellings_are_not() -> None:
    assert vocabulary_file() is not None, "llama-index-core has moved the vocabulary: name its new place"
    common = ("diary", "bread", "stuck", "Bass", "umbrella", "invoice", "телефон", "Straße", "maison")
    assert [word for word in common if not is_common(word)] == []
    misspelt = ("recieve", "definately", "seperate", "obsidain", "tomatos", "becuase", "diaro", "\udcff")
    assert [word for word in misspelt if is_common(word)] == []


@pytest.mark.long
def test_looking_a_word_up_loads_neither_llamaindex_nor_a_tokenizer() -> None:
    code = (
        "import sys; from vault_indexer.search.terms.words import is_common; is_common('diary');"
        "print({one.split('.')[0] for one in sys.modules} & {'llama_index', 'tokenizers', 'tiktoken'})"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert ran.stdout.strip() == "set()"
