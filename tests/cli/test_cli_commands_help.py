"""`indexer help`: the pages of the documentation, in a pipe and at a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_sandbox import Sandbox
from command_here import CommandHere

from vault_indexer.cli.commands.help import about, docs_folder, overview, page_names, reference_sections
from vault_indexer.errors import UsageError

DOCS = docs_folder()


@pytest.mark.parametrize(
    ("topic", "beginning"),
    [
        ("query", "# Query language"),
        ("Commands.md", "# Commands"),
        ("exit-status", "## Exit status"),
        ("guide", "# Commands"),
        ("advanced-settings", "---\naliases: [Config"),
        ("uninstall", "# Maintenance"),
    ],
)
def test_a_topic_is_a_page_by_any_of_its_names_or_a_heading(topic: str, beginning: str) -> None:
    assert about(DOCS, topic).startswith(beginning)


@pytest.mark.parametrize("topic", ["nothing", "c", "../README", "/etc/passwd", " ", "\x1b[2J", "a\nb"])
def test_an_unknown_topic_is_answered_with_the_topics(topic: str) -> None:
    with pytest.raises(UsageError, match=r"^No help on .*indexer help. lists the topics") as refused:
        about(DOCS, topic)
    assert len(str(refused.value).splitlines()) == 1


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


def test_a_heading_ends_where_one_as_high_begins(pages: Path) -> None:
    search, run, deep = (
        "### `indexer search`\n\nFinds.\n",
        "### `indexer start`, `stop`\n\nRuns.\n",
        "\n#### Deeper\n\nDeep.\n",
    )
    assert reference_sections((pages / "commands.md").read_text(encoding="utf-8")) == {
        "search-and-find": f"## Search and find\n\nTwo ways.\n\n{search}\n{run}{deep}",
        "search": search,
        "start": run + deep,
        "stop": run + deep,
        "exit-status-more": "## Exit status & more\n\nNumbers.\n",
    }


def test_pages_are_listed_with_their_lines(pages: Path) -> None:
    assert page_names(pages) == ["commands", "query-language", "querying", "stop"]
    assert overview(pages).splitlines()[3:] == [
        "    commands        what it is.",
        "    query-language  of a query.",
        "    querying",
        "    stop",
    ]


@pytest.mark.parametrize(
    ("topic", "heads"),
    [
        ("search", ["### `indexer search`"]),
        (" STOP.md ", ["### `indexer start`, `stop`", "#### Deeper", "# Stopping"]),
        ("exit-status-more", ["## Exit status & more"]),
        ("query-", ["# Query language"]),
        ("queryi", ["# Querying"]),
        ("Querying", ["# Querying"]),
        ("comm", [line for line in REFERENCE.splitlines() if line.startswith("#")]),
        ("query", []),
        ("home", []),
        ("", []),
        ("start-", []),
    ],
)
def test_a_page_is_found_by_its_beginning_if_no_other_begins_so(
    pages: Path, topic: str, heads: list[str]
) -> None:
    if heads:
        text = about(pages, topic)
        assert [line for line in text.splitlines() if line.startswith("#")] == heads
    else:
        with pytest.raises(UsageError) as refused:
            about(pages, topic)
        assert str(refused.value) == f'No help on "{topic}". "indexer help" lists the topics.'


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
    refused = sandbox.run("help", "nothing")
    assert (refused.code, refused.out) == (2, "")
    assert refused.complains('No help on "nothing". "indexer help" lists the topics.')


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
