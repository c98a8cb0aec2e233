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
    "Pruning.md": (
        "# Pruning vines\n\nThe pruning of vines depends on these things:\n\n"
        "The weather of February decides when the pruning of vines begins.\n"
    ),
    "Backups.md": (
        "# Restoring backups\n\nTo restore the backups of the photographs, run this on the server:\n\n"
        "```sh\nborg extract /srv/photos::latest\nchown -R photos .\n```\n\n"
        "[restore the backups of the photographs](https://example.org/restore/backups/photographs)\n\n"
        "**Restore backups**\n"
    ),
    "Kilns.md": (
        "# Ceramics\n\n| glaze | temperature | colour |\n| --- | --- | --- |\n"
        "| celadon glaze | 1280 | green |\n| tenmoku glaze | 1300 | dark<br>brown |\n"
    ),
    "Panels.md": (
        "# Panels\n\nYou can make a panel foldable with a minus sign behind its name. "
        "Every panel has a name and an icon.\n"
    ),
    "Vats.md": (
        "---\ncellar_code: 4711\n---\nThe copper vats are rinsed on [[Days|Thursday]] with warm vinegar.\n"
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


def test_a_lead_in_brings_its_list(vault: AskedVault) -> None:
    (first, *others) = quotes(vault, "Which conditions hold for drying hops in the kiln?")
    assert first.split("\n") == [
        "The following three conditions hold for drying hops in the kiln:",
        "The kiln stays below 60 degrees.",
        "The hops lie ten centimetres deep.",
        "A fan moves the air.",
    ]
    assert "The kiln stays below 60 degrees." not in others


def test_a_lead_in_without_a_list_is_no_quote(vault: AskedVault) -> None:
    found = quotes(vault, "What does the pruning of vines depend on?")
    assert found
    assert not any("depends on these things" in text for text in found)


def test_code_is_quoted_whole_with_the_sentence_before_it(vault: AskedVault) -> None:
    found = quotes(vault, "How do I restore the backups of the photographs?")
    assert found[0].split("\n") == [
        "To restore the backups of the photographs, run this on the server:",
        "borg extract /srv/photos::latest",
        "chown -R photos .",
    ]
    assert "restore the backups of the photographs" not in found, "a line that is only a link"
    assert "Restore backups" not in found, "a line that is only bold"


def test_a_row_is_quoted_with_its_header(vault: AskedVault) -> None:
    answer = vault.ask("temperature of celadon glaze")
    row = answer.sentences[0]
    assert row.text == "glaze | temperature | colour\nceladon glaze | 1280 | green"
    assert [one.quote for one in row.citations] == [
        "| celadon glaze | 1280 | green |",
        "| glaze | temperature | colour |",
    ]
    assert not any("tenmoku" in text for text in quotes(vault, "temperature of tenmoku glaze"))


def test_a_word_with_an_ending_is_held(vault: AskedVault) -> None:
    found = quotes(vault, "how do I fold a panel")
    assert found[0] == "You can make a panel foldable with a minus sign behind its name."
