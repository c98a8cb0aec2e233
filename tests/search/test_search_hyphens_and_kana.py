"""Hyphens and kana: words that are written in another way are found, and are not called missing."""

from pathlib import Path

import pytest
from golden_cases import check_golden
from indexed_vault import OpenNotes

from vault_indexer.model import AskRequest, SearchRequest
from vault_indexer.service import VaultService

GERMAN = {
    "Monte Carlo Verfahren.md": "Das Monte Carlo Verfahren schätzt ein Integral mit vielen Zufallszahlen.",
    "Lagrangeverfahren.md": "Das Lagrangeverfahren bestimmt die Extrema unter Nebenbedingungen.",
    "Q Verfahren.md": "Das Q Verfahren ist ein Verfahren, das die Drehung eines Körpers bestimmt.",
    "Durchhaus.md": "Ein Durchhaus verbindet in Wien zwei Gassen, und es ist für alle offen.",
    **{f"Garten {n}.md": f"Im Beet Nummer {n} wachsen Bohnen, und die Schnecken sind da." for n in range(8)},
}
JAPANESE = {
    "りんご.md": "りんごの木を庭に植えた。春に花が咲く。",
    "コーヒー.md": "コーヒー豆は冷たい場所に置く。",
    "天気.md": "明日の天気は雨です。傘を持って行く。",
}


@pytest.fixture(scope="module")
def german(open_notes: OpenNotes) -> VaultService:
    return open_notes(GERMAN)[0]


@pytest.fixture(scope="module")
def japanese(open_notes: OpenNotes) -> VaultService:
    return open_notes(JAPANESE)[0]


def test_words_are_found_or_missing_as_the_golden_says(german: VaultService, japanese: VaultService) -> None:
    def hyphenated(query: str) -> str:
        answer = german.search(SearchRequest(query))
        assert answer.verdict in ("strong", "likely")
        assert answer.missing_words == ()
        assert not any(query in notice for notice in answer.notices)
        assert german.ask(AskRequest(f"Was ist das {query}?")).missing_words == ()
        return answer.results[0].path

    def kana(query: str) -> str:
        answer = japanese.search(SearchRequest(query))
        assert answer.missing_words == ()
        return next(hit.path for hit in answer.results if hit.why.keyword)

    check_golden(
        Path(__file__).parent / "fixtures" / "hyphens_and_kana.md",
        {
            "A hyphen is a space or nothing": hyphenated,
            "Kana of the same sound find each other": kana,
            "Runs are missing, not pairs": lambda query: " ".join(
                japanese.search(SearchRequest(query)).missing_words
            ),
        },
    )


def test_a_hyphenated_word_with_an_unknown_part_is_missing(german: VaultService) -> None:
    assert german.search(SearchRequest("Gauß-Verfahren")).missing_words == ("Gauß-Verfahren", "Gauß")


def test_a_word_inside_another_is_no_proof(german: VaultService) -> None:
    inside, itself = (german.search(SearchRequest(one)).results[0] for one in ("Haus", "Durchhaus"))
    assert (inside.path, itself.path) == ("Durchhaus.md", "Durchhaus.md")
    assert inside.relevance < 0.95 < itself.relevance


def test_the_same_kana_count_more(japanese: VaultService) -> None:
    def score(query: str) -> float:
        keyword = japanese.search(SearchRequest(query)).results[0].why.keyword
        return keyword.score if keyword else 0.0

    assert 0 < score("リンゴ") < score("りんご")
