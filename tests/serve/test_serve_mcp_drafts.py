"""What the check of a draft finds of its citations, whatever their form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_cases import check_golden
from mcp_in_process import Tools, opened

from vault_indexer.vaults import Vaults

NOTES = {
    "Reference/Pump.md": "# Pump\n\n## Care\n\nThe sensor is changed every 10 days.\n",
    "The rack.md": "---\naliases: [machines]\n---\n",
    "Servers.md": "---\nalias: Machines\n---\nThe rack is in the cellar.\n",
    "People/Mara.md": "---\naliases: [Grandma]\nrole: lead\n---\n# Mara Lind\n\nShe lives in Rome.\n\n"
    "## Kestrel\n\nShe owns it.\n\n| host | disk |\n| --- | --- |\n| alder | 2 TB |\n| cedar | 12 TB |\n",
    "Manual.html": "<html><body><p>The sensor is changed every 10 days.</p></body></html>",
}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    with opened(tmp_path_factory.mktemp("drafts") / "vault", NOTES) as service:
        yield Tools(Vaults.of(service))


DAYS = "The sensor is changed in 10 days"


def test_a_citation_is_checked_or_named(tools: Tools) -> None:
    def checked(draft: str) -> str:
        found = tools.answer("check_draft", text=draft)["citations"]
        cited = [(one["line"], one["cites"].rpartition("/")[2], one["verdict"]) for one in found]
        return "; ".join(f"{line}: {note} {verdict}" for line, note, verdict in cited)

    check_golden(Path(__file__).parent / "fixtures" / "drafts.md", {"": checked})


def test_the_nearest_sentence_is_one_that_supports_the_claim_and_copies_are_named_once(tools: Tools) -> None:
    draft = "Mara, who lives elsewhere, has the role lead [[Mara]]. " + f"{DAYS}. " * 2
    found = tools.answer("check_draft", text=draft)
    assert [one["nearest"]["line"] for one in found["citations"]] == [3]
    assert sorted(one["path"] for one in found["same"]) == ["Manual.html", "Reference/Pump.md"]


def test_an_alias_names_the_only_note_that_has_it(tools: Tools) -> None:
    found = {tools.answer("read_note", path=name)["path"] for name in ("grandma", "Mara", "Mara.md")}
    assert found == {"People/Mara.md"}
    assert "ambiguous: Servers.md, The rack.md" in tools.error("read_note", path="Machines")


def test_text_belongs_only_in_notes(tools: Tools) -> None:
    said = tools.error("insertion_point", path="Manual.html")
    assert said == "Manual.html is no Markdown note: text belongs only in notes"
