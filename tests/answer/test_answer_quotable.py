"""What is quoted says something by itself: no lead-in without its list, no row without its header."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from asked_vault import AskedVault, asked_vault
from golden_cases import check_golden
from note_files import read_notes

FIXTURES = Path(__file__).parent / "fixtures"
NOTES = read_notes(FIXTURES / "quotable_vault.md")


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedVault]:
    with asked_vault(tmp_path_factory.mktemp("quotable"), NOTES) as made:
        yield made


def quotes(vault: AskedVault, question: str) -> list[str]:
    answer = vault.ask(question)
    for sentence in answer.sentences:
        for citation in sentence.citations:
            assert vault.file(citation.path)[citation.start_pos : citation.end_pos] == citation.quote
    return [sentence.text for sentence in answer.sentences]


def test_what_is_quoted_is_that_of_the_golden(vault: AskedVault) -> None:
    def quoted(question: str) -> str:
        answer = vault.ask(question)
        assert answer.sentences or answer.passages
        lines = quotes(vault, question)
        cited = [one.citations[0] for one in answer.sentences]
        places = [f" (property {one.property}, line {one.start_line})" * bool(one.property) for one in cited]
        return " / ".join(map(str.__add__, lines, places)) or "passages"

    check_golden(FIXTURES / "quotable.md", {"": quoted})


def test_a_row_is_quoted_with_its_header(vault: AskedVault) -> None:
    answer = vault.ask("temperature of celadon glaze")
    row = answer.sentences[0]
    assert row.text == "glaze: celadon glaze; temperature: 1280; colour: green"
    assert [one.quote for one in row.citations] == [
        "| celadon glaze | 1280 | green |",
        "| glaze | temperature | colour |",
    ]
    assert not any("tenmoku" in text for text in quotes(vault, "temperature of tenmoku glaze"))


@pytest.mark.parametrize(
    "question",
    ["What is Alpha?", "The locker for the skates", "The vault room", "The safe room", "What is Toml?"],
)
def test_frontmatter_is_not_quoted_also_if_it_is_broken_or_toml(vault: AskedVault, question: str) -> None:
    found = vault.ask(question)
    assert not any("code" in one.text or one.citations[0].property for one in found.sentences), (
        found.sentences
    )


@pytest.mark.parametrize("name", ["catalogue", "labels"])
def test_notes_of_several_kinds_are_quoted_as_in_the_golden(name: str, tmp_path: Path) -> None:
    with asked_vault(tmp_path, read_notes(FIXTURES / f"{name}_vault.md")) as vault:
        check_golden(FIXTURES / f"{name}.md", {"": lambda question: "\n".join(quotes(vault, question))})
