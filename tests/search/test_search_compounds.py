"""Compounds: `Kuchen` finds the note of a `Zwetschgenkuchen`, a `Fahrradschlauch` that of a `Schlauch`."""

from pathlib import Path

import pytest
from golden_cases import check_golden
from indexed_vault import OpenNotes

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

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
def service(open_notes: OpenNotes) -> VaultService:
    return open_notes(NOTES, "auto")[0]


def test_a_word_finds_its_compounds_and_a_compound_its_parts(service: VaultService) -> None:
    def best(query: str) -> str:
        hit = service.search(SearchRequest(query)).results[0]
        assert hit.why.keyword is not None
        return hit.path

    check_golden(Path(__file__).parent / "fixtures" / "compound_notes.md", {"": best})


def test_a_note_that_holds_the_compound_is_about_the_word_and_marks_it(service: VaultService) -> None:
    answer = service.search(SearchRequest("Frist"))
    best, second, *_ = answer.results
    assert answer.verdict in ("likely", "strong")
    assert best.relevance > 0.5 > second.relevance
    assert [best.snippet[start:end] for start, end in best.marks] == ["Kündigungsfristen"]
