"""`indexer help`: the pages of the documentation, in a pipe and at a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_sandbox import Sandbox
from command_here import CommandHere
from golden_cases import check_golden

from vault_indexer.cli.commands.help import about, docs_folder, overview, page_names, reference_sections
from vault_indexer.errors import UsageError

DOCS = docs_folder()


REFERENCE = """\
# Commands

## Search and find

Two ways.

### `indexer search`

Finds.

### `indexer start`, `stop`

Runs.

#### Deeper

Deep.

## Exit status & more

Numbers.
"""


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A folder of pages."""
    texts = {
        "Home": "- [[commands|C]]: what it\n  is.\n- [[query-language|Q]]: of a query.\nno [[x|y]]: z.\n",
        "commands": REFERENCE,
        "query-language": "# Query language\n",
        "querying": "# Querying\n",
        "stop": "# Stopping\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_pages_are_listed_with_their_lines(pages: Path) -> None:
    assert page_names(pages) == ["commands", "query-language", "querying", "stop"]
    assert overview(pages).splitlines()[3:] == [
        "    commands        what it is.",
        "    query-language  of a query.",
        "    querying",
        "    stop",
    ]


def test_topics_are_found_as_the_golden_says(pages: Path) -> None:
    def headings(folder: Path, topic: str) -> list[str]:
        try:
            text = about(folder, topic)
        except UsageError as refused:
            return [str(refused).replace("\x1b", "␛")]
        return [line for line in text.splitlines() if line.startswith("#")]

    sections = reference_sections(REFERENCE)
    assert list(sections) == ["search-and-find", "search", "start", "stop", "exit-status-more"]
    check_golden(
        Path(__file__).parent / "fixtures" / "topics.md",
        {
            "A topic of the documentation is a page by any of its names or a heading": (
                lambda topic: headings(DOCS, topic)[0]
            ),
            "A page is found by its beginning if no other begins so": (
                lambda topic: ", ".join(headings(pages, topic))
            ),
            "A heading ends where one as high begins": lambda name: repr(sections[name]),
        },
    )


def test_the_list_of_pages_is_as_wide_as_the_terminal(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", "no-such-pager")
    wide = here.terminal("help", columns=500).out
    assert wide.splitlines()[0].endswith(" or one of these pages:")
    assert wide.splitlines()[1:] == overview(DOCS).splitlines()[2:]
    narrow = here.terminal("help", columns=60).out
    assert narrow.split() == wide.split()
    assert max(map(len, narrow.splitlines())) <= 60
    indent = 4 + max(map(len, page_names(DOCS))) + 2
    begins = {len(line) - len(line.lstrip()) for line in narrow.partition("\n\n")[2].splitlines()}
    assert begins == {4, indent}


def test_in_a_pipe_a_page_is_what_it_is(sandbox: Sandbox) -> None:
    ran = sandbox.run("help", "mcp", cwd=sandbox.vault)
    assert ran.code == 0, ran.err
    assert ran.out.endswith((DOCS / "mcp.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("named", ["", "no-such-pager", 'less "'])
def test_a_terminal_shows_a_page_drawn_and_in_the_pager(sandbox: Sandbox, tmp_path: Path, named: str) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\necho "paged with $LESS"\nexec cat\n')
    pager.chmod(0o755)
    shown = Sandbox(sandbox.root, {"PAGER": named or str(pager)}).terminal("help", "export")
    assert shown.code == 0
    assert "indexer export" in shown.out
    assert "###" not in shown.out
    assert ("paged with FRX" in shown.out) == (named == "")
