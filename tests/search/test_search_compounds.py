"""Compounds: `Kuchen` finds the note of a `Zwetschgenkuchen`, a `Fahrradschlauch` that of a `Schlauch`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.daemon.assembly import Assembly, Target
from vault_indexer.model import SearchRequest
from vault_indexer.search.terms import with_compounds
from vault_indexer.search.terms.words import WordStatistics
from vault_indexer.service import VaultService
from vault_indexer.store import Snapshot
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm

NOTES = {
    "Zwetschgenkuchen.md": "Hefeteig dünn ausrollen, mit Früchten belegen und die Streusel darüber geben.",
    "Reifenpanne.md": "Den Schlauch ausbauen und das Loch im Wasser suchen, dann wird es geflickt.",
    "Migränetagebuch.md": "Auslöser waren Rotwein und die kurzen Nächte, ein dunkles Zimmer hilft.",
    "Kündigung.md": "Die Kündigungsfristen sind drei Monate, und das gilt zum Ende des Jahres.",
    "Umzug.md": "Die Rückwand des Kleiderschranks ist gebrochen, das war auf der Treppe.",
    **{f"Apfel {n}.md": f"Der Apfel Nummer {n} ist nicht im Korb, sondern im Keller." for n in range(5)},
    "Apfelbaum.md": "Im Februar wird der Baum geschnitten, wenn es nicht zu kalt ist.",
}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    folder = tmp_path_factory.mktemp("compounds")
    (folder / "vault").mkdir()
    for name, text in NOTES.items():
        (folder / "vault" / name).write_text(f"{text}\n", "utf-8")
    return resolve_target(
        folder / "vault", folder / "index", None, environ={}, options={"index.workers": "1"}
    )


@pytest.fixture(scope="module")
def service(target: Target) -> Iterator[VaultService]:
    held = open_index(target, lambda _: None)
    yield held
    held.close()


@pytest.fixture
def snapshot(service: VaultService, target: Target) -> Iterator[Snapshot]:
    assembly = Assembly.of(target)
    generation = assembly.index_dir.current()
    assert generation is not None
    with assembly.open_to_read(generation).holder.lease() as leased:
        yield leased


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Kuchen", "Zwetschgenkuchen.md"),
        ("Zwetschgen", "Zwetschgenkuchen.md"),
        ("Frist", "Kündigung.md"),
        ("Schrank", "Umzug.md"),
        ("Fahrradschlauch", "Reifenpanne.md"),
        ("Migräneanfälle", "Migränetagebuch.md"),
    ],
)
def test_a_word_finds_its_compounds_and_a_compound_its_parts(
    service: VaultService, query: str, path: str
) -> None:
    best = service.search(SearchRequest(query)).results[0]
    assert best.path == path
    assert best.why.keyword is not None


def test_a_note_that_holds_the_compound_is_about_the_word(service: VaultService) -> None:
    answer = service.search(SearchRequest("Frist"))
    assert answer.verdict in ("likely", "strong")
    assert answer.results[0].relevance > 0.5 > answer.results[1].relevance


def test_the_compound_is_marked(service: VaultService) -> None:
    best = service.search(SearchRequest("Frist")).results[0]
    assert [best.snippet[start:end] for start, end in best.marks] == ["Kündigungsfristen"]


def widened(snapshot: Snapshot, query: str, language: str) -> list[QueryTerm]:
    return list(
        with_compounds(snapshot, WordStatistics([snapshot]), analyze_query(query, [language]), language)
    )


def test_a_word_that_the_vault_knows_well_stands_for_itself(snapshot: Snapshot) -> None:
    (apple,) = widened(snapshot, "Apfel", "de")
    assert apple.compounds == ()
    (tree,) = widened(snapshot, "Baum", "de")
    assert tree.compounds == ("apfelbaum",)


def test_where_both_parts_are_known_both_are_searched(snapshot: Snapshot) -> None:
    whole, *parts = widened(snapshot, "Apfelkorb", "de")
    assert [part.word for part in parts] == ["apfel", "korb"]
    assert all((part.start, part.end) == (whole.start, whole.end) for part in parts)


def test_of_two_parts_the_known_one_is_searched_if_both_are_long(snapshot: Snapshot) -> None:
    assert [term.word for term in widened(snapshot, "Luftschlauch", "de")] == ["Luftschlauch"]
    assert [term.word for term in widened(snapshot, "Gartenschlauch", "de")] == ["Gartenschlauch", "schlauch"]


@pytest.mark.parametrize("query", ["Kuchen", "Fahrradschlauch"])
def test_other_languages_have_no_compounds(snapshot: Snapshot, query: str) -> None:
    assert widened(snapshot, query, "en") == analyze_query(query, ["en"])


@pytest.mark.parametrize("query", ["eine", "Bau", "unbekannt", 40 * "x" + "schlauch"])
def test_function_words_short_long_and_unknown_words_have_none(snapshot: Snapshot, query: str) -> None:
    assert widened(snapshot, query, "de") == analyze_query(query, ["de"])


def test_of_many_words_the_first_eight_are_looked_for(snapshot: Snapshot) -> None:
    unknown = "Flieder Ginster Rhabarber Spargel Petersilie Majoran Thymian"
    assert widened(snapshot, f"{unknown} Kuchen", "de")[-1].compounds
    assert not widened(snapshot, f"{unknown} Basilikum Kuchen", "de")[-1].compounds
