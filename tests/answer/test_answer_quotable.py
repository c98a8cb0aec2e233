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


def test_frontmatter_is_no_header_of_a_line_with_a_bar(vault: AskedVault) -> None:
    assert quotes(vault, "When are the copper vats rinsed?") == [
        "The copper vats are rinsed on Thursday with warm vinegar."
    ]


def test_a_row_is_quoted_with_its_header(vault: AskedVault) -> None:
    answer = vault.ask("temperature of celadon glaze")
    row = answer.sentences[0]
    assert row.text == "glaze: celadon glaze; temperature: 1280; colour: green"
    assert [one.quote for one in row.citations] == [
        "| celadon glaze | 1280 | green |",
        "| glaze | temperature | colour |",
    ]
    assert not any("tenmoku" in text for text in quotes(vault, "temperature of tenmoku glaze"))


def test_a_list_table_or_code_below_a_heading_that_the_question_names_answers(vault: AskedVault) -> None:
    assert quotes(vault, "next steps of Alpha")[0] == "glue the arches\norder the rails"
    assert "lamp" in quotes(vault, "wiring table of Alpha")[0]
    assert quotes(vault, "What is the reset sequence of Alpha?")[0] == "hold both keys"


@pytest.mark.parametrize(
    ("question", "text", "line"),
    [
        ("When is Alpha due?", "due: 2026-12-24", 3),
        ("What is the status of Alpha?", "status: waiting for parts", 2),
        ("Who are the owners of Alpha?", "owners: Rosa Lind, Tim Holt", 4),
    ],
)
def test_a_property_answers_and_is_cited_with_its_line(
    vault: AskedVault, question: str, text: str, line: int
) -> None:
    sentence = vault.ask(question).sentences[0]
    (citation,) = sentence.citations
    assert (sentence.text, citation.property, citation.start_line) == (text, text.partition(":")[0], line)


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What is the range of Thorn whip?", ["Attribute: Range; Value: 30 feet"]),
        ("What is the weight of Thorn whip?", ["Weight: 2 kg"]),
        ("Who owns Alpha?", ["owners: Rosa Lind, Tim Holt"]),
    ],
)
def test_a_value_with_the_label_that_the_question_names_is_the_answer(
    vault: AskedVault, question: str, texts: list[str]
) -> None:
    assert quotes(vault, question) == texts


def test_a_note_with_the_subject_as_its_title_comes_before_one_about_something_else(
    vault: AskedVault,
) -> None:
    first = quotes(vault, "How long does the poison of the giant spider last?")[0]
    assert first == "The poison of the spider lasts for three hours."


@pytest.mark.parametrize(
    "question",
    ["What is Alpha?", "The locker for the skates", "The vault room", "The safe room", "What is Toml?"],
)
def test_frontmatter_is_not_quoted_also_if_it_is_broken_or_toml(vault: AskedVault, question: str) -> None:
    found = vault.ask(question)
    assert not any("code" in one.text or one.citations[0].property for one in found.sentences), (
        found.sentences
    )


def test_callouts_and_questions_bring_what_they_introduce(vault: AskedVault) -> None:
    assert quotes(vault, "waxing the skis")[0] == "Waxing the skis\nUse the blue block below zero."
    assert "They dry for two hours." in quotes(vault, "How long do the skis dry?")[0]


def test_a_line_of_code_brings_the_item_that_explains_it(vault: AskedVault) -> None:
    found = quotes(vault, "How do I sharpen the edges of the skis?")
    assert found[0] == "Sharpen the edges of the skis:\nsharpen --angle 88"
    assert "edges of the skis" not in found, "a line that is only a link"


@pytest.mark.parametrize(
    "question",
    [
        "Who rinsed the copper vats?",
        "How many copper vats are there?",
        "When was Alpha painted?",
        "How much do the skis cost?",
        "What is the colour of the kiln?",
    ],
)
def test_a_question_that_no_sentence_answers_gets_passages(vault: AskedVault, question: str) -> None:
    answer = vault.ask(question)
    assert not answer.sentences
    assert answer.passages


@pytest.mark.parametrize("name", ["catalogue", "labels"])
def test_notes_of_several_kinds_are_quoted_as_in_the_golden(name: str, tmp_path: Path) -> None:
    with asked_vault(tmp_path, read_notes(FIXTURES / f"{name}_vault.md")) as vault:
        check_golden(FIXTURES / f"{name}.md", {"": lambda question: "\n".join(quotes(vault, question))})
