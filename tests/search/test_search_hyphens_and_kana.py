"""Hyphens and kana: words that are written in another way are found, and are not called missing."""

from collections.abc import Iterator

import pytest
from indexed_vault import indexed_vault, write_notes

from vault_indexer.model import AskRequest, SearchAnswer, SearchRequest
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
def german(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    folder = tmp_path_factory.mktemp("hyphens")
    with indexed_vault(write_notes(folder / "vault", GERMAN), folder / "index") as (opened, _):
        yield opened


@pytest.fixture(scope="module")
def japanese(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    folder = tmp_path_factory.mktemp("kana")
    with indexed_vault(write_notes(folder / "vault", JAPANESE), folder / "index") as (opened, _):
        yield opened


def first_by_word(answer: SearchAnswer) -> str:
    return next((hit.path for hit in answer.results if hit.why.keyword), "")


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Monte-Carlo-Verfahren", "Monte Carlo Verfahren.md"),
        ("Lagrange-Verfahren", "Lagrangeverfahren.md"),
        ("Q-Verfahren", "Q Verfahren.md"),
    ],
)
def test_a_hyphen_is_a_space_or_nothing(german: VaultService, query: str, path: str) -> None:
    answer = german.search(SearchRequest(query))
    assert answer.results[0].path == path
    assert answer.verdict in ("strong", "likely")
    assert answer.missing_words == ()
    assert not any(query in notice for notice in answer.notices)
    assert german.ask(AskRequest(f"Was ist das {query}?")).missing_words == ()


def test_a_hyphenated_word_with_an_unknown_part_is_missing(german: VaultService) -> None:
    assert german.search(SearchRequest("Gauß-Verfahren")).missing_words == ("Gauß-Verfahren", "Gauß")


def test_a_word_inside_another_is_no_proof(german: VaultService) -> None:
    inside, itself = (german.search(SearchRequest(one)).results[0] for one in ("Haus", "Durchhaus"))
    assert (inside.path, itself.path) == ("Durchhaus.md", "Durchhaus.md")
    assert inside.relevance < 0.95 < itself.relevance


@pytest.mark.parametrize(
    ("query", "path"), [("リンゴ", "りんご.md"), ("こーひー豆", "コーヒー.md"), ("ﾘﾝｺﾞ", "りんご.md")]
)
def test_kana_of_the_same_sound_find_each_other(japanese: VaultService, query: str, path: str) -> None:
    answer = japanese.search(SearchRequest(query))
    assert first_by_word(answer) == path
    assert answer.missing_words == ()


def test_the_same_kana_count_more(japanese: VaultService) -> None:
    def score(query: str) -> float:
        keyword = japanese.search(SearchRequest(query)).results[0].why.keyword
        return keyword.score if keyword else 0.0

    assert 0 < score("リンゴ") < score("りんご")


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("量子力学", ("量子力学",)),
        ("天気の量子力学", ("の量子力学",)),
        ("明日の天気は雨です量子", ("量子",)),
        ("天気明日", ()),
    ],
)
def test_runs_are_missing_not_pairs(japanese: VaultService, query: str, missing: tuple[str, ...]) -> None:
    assert japanese.search(SearchRequest(query)).missing_words == missing
