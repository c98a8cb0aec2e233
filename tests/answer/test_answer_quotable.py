"""What is quoted says something by itself: no lead-in without its list, no row without its header."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asked_vault import AskedVault, asked_vault

NOTES = {
    "Drying.md": (
        "# Drying hops\n\nThe following three conditions hold for drying hops in the kiln:\n\n"
        "- The kiln stays below 60 degrees.\n- The hops lie ten centimetres deep.\n- A fan moves the air.\n\n"
        "Hops are stored in the cold room afterwards.\n"
    ),
    "Kilns.md": (
        "# Ceramics\n\n| glaze | temperature | colour |\n| --- | --- | --- |\n"
        "| celadon glaze | 1280 | green |\n| tenmoku glaze | 1300 | dark<br>brown |\n"
    ),
    "Vats.md": (
        "---\ncellar_code: 4711\n---\nThe copper vats are rinsed on [[Days|Thursday]] with warm vinegar.\n"
    ),
    "Alpha.md": (
        "---\nstatus: waiting for parts\ndue: 2026-12-24\nowners:\n  - Rosa Lind\n  - Tim Holt\n---\n"
        "# Alpha\n\n"
        "The bridge for the model railway.\n\n## Next steps\n\n"
        "- [ ] glue the arches\n- [x] order the rails\n\n"
        "## Wiring table\n\n| wire | goes to |\n| --- | --- |\n| red | lamp |\n\n"
        "## Reset sequence\n\n```\nhold both keys\n```\n"
    ),
    "Broken.md": ("---\ntitle: [broken\nlocker_code: 9912\n---\nThe locker for the skates is by the door.\n"),
    "Open end.md": "---\nvault_code: 7733\nroom: 4\n\nThe vault room is cleaned on Friday.\n",
    "Toml.md": '+++\nsafe_code = "5521"\n+++\nThe safe room is painted white.\n',
    "Skis.md": (
        "# Skis\n\n> [!tip] Waxing the skis\n> Use the blue block below zero.\n\n"
        "**How long do the skis dry?**\nThey dry for two hours.\n\n"
        "- Sharpen the edges of the skis:\n\n`sharpen --angle 88`\n\n[edges of the skis][36]\n"
    ),
    "Thorn whip.md": (
        "# Thorn whip\n\n| Attribute | Value |\n| --- | --- |\n| Name | Thorn whip |\n| Range | 30 feet |\n"
        "| Damage | - |\n\nA thorn whip lashes out at a creature in range.\n\n- **Weight:** 2 kg\n"
    ),
    "Giant spider.md": "# Giant spider\n\nThe poison of the spider lasts for three hours.\n",
    "Giant wolf spider.md": (
        "# Giant wolf spider\n\n"
        "The poison of the spider lasts for two days. How long the poison of a giant lasts!\n"
    ),
    "Filters.md": "# Filters\n\nThe parameter foldState of a filter: `panel` with type and title.\n",
}


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
