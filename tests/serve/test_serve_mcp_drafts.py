"""What the check of a draft finds of its citations, whatever their form."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
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


def checked(tools: Tools, draft: str) -> list[tuple[int, str, str]]:
    found = tools.answer("check_draft", text=draft)["citations"]
    return [(one["line"], one["cites"].rpartition("/")[2], one["verdict"]) for one in found]


PUMP, SERVERS = (1, "Pump.md", "supported"), (1, "Servers.md", "unsupported")
CARE = (1, "Pump.md#Care", "supported")
DAYS = "The sensor is changed in 10 days"


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        (f"{DAYS} [[Pump]].", [PUMP]),
        (f"{DAYS} (see [[Pump]], lines 5-6).", [PUMP]),
        (f"{DAYS} [[Pump]] (line 5).", [PUMP]),
        (f"{DAYS} [[Pump#Care]], line 5.", [CARE]),
        (f"{DAYS} [[Pump]]:5", [PUMP]),
        (f"{DAYS} [here](Reference/Pump.md#care).", [(1, "Pump.md#care", "supported")]),
        (f"{DAYS} [here](<Reference/Pump.md>)", [PUMP]),
        (f"{DAYS} *[[Pump]]*.", [PUMP]),
        (f'{DAYS} "[[Pump]]"', [PUMP]),
        (f"{DAYS} [[Pump]] and [[Servers]].", [PUMP, SERVERS]),
        (f"{DAYS} — [[Servers]]; [[Pump#Care|care]]", [SERVERS, CARE]),
        (f"{DAYS}[^1].\n\n[^1]: [[Pump]], p. 3", [PUMP]),
        (f"{DAYS}. [[Pump]] The rack is in the cellar. [[Servers]]", [PUMP, (1, "Servers.md", "quoted")]),
        (f"{DAYS} [[Manual.html]].", [(1, "Manual.html", "supported")]),
        (f"According to [[Pump]], {DAYS}.", [PUMP]),
        (f"[[Pump]]: {DAYS}.", [PUMP]),
        (f"| a | b |\n| - | - |\n| {DAYS} | [[Pump]] |", [(3, *PUMP[1:])]),
        (
            f"---\na: 1\n---\n\n1. {DAYS} [[Pump]]\n2. The sensor is changed [[Pump]]",
            [(5, *PUMP[1:]), (6, *PUMP[1:])],
        ),
        (
            f"{DAYS}.\n[[Pump]]\nThe rack is in the cellar. [[Servers]]",
            [PUMP, (3, "Servers.md", "quoted")],
        ),
        ("The sensor of [[Pump]] is changed.", [(1, "Pump.md", "not checked")]),
        ("99 days [[Pump]].", [(1, "Pump.md", "unsupported")]),
        ("So what?\n\n- [[Pump]]", [(3, "Pump.md", "not checked")]),
        (f"{DAYS}.\n## [[Pump]]", []),
    ],
)
def test_a_citation_is_checked_or_named(
    tools: Tools, draft: str, expected: list[tuple[int, str, str]]
) -> None:
    assert checked(tools, draft) == expected


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("Mara Lind lives in Rome", "supported"),
        ("Grandma lives in Rome", "supported"),
        ("Mara owns Kestrel", "supported"),
        ("Mara has the role lead", "supported"),
        ("The host cedar has a disk of 12 TB", "supported"),
        ("The host cedar has a disk of 2 TB", "unsupported"),
        ("Tomas owns Kestrel", "unsupported"),
    ],
)
def test_the_names_and_properties_of_a_note_belong_to_its_sentences(
    tools: Tools, sentence: str, verdict: str
) -> None:
    assert checked(tools, f"{sentence} [[Mara]].") == [(1, "Mara.md", verdict)]


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
