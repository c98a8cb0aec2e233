"""`indexer help`: the pages of the documentation, in a pipe and at a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_sandbox import Sandbox

from vault_indexer.cli.app import COMMANDS
from vault_indexer.cli.output.doc_pages import about, docs_folder, guide_sections, overview, page_names
from vault_indexer.errors import UsageError

DOCS = docs_folder()


def test_without_a_topic_every_page_is_listed_with_its_line() -> None:
    lines = overview(DOCS).splitlines()
    assert all(line.endswith((".", "*")) for line in lines[3:]), "none is cut"
    for page in page_names(DOCS):
        assert any(line.split()[:1] == [page] and len(line.split()) > 1 for line in lines), page


def test_there_is_help_on_every_command() -> None:
    sections = guide_sections((DOCS / "guide.md").read_text(encoding="utf-8"))
    assert {command.name for command in COMMANDS if command.group} <= sections.keys()


def test_a_command_shows_its_section_alone() -> None:
    assert about(DOCS, "stop").startswith("### `indexer start`, `stop`")
    assert "###" not in about(DOCS, "stop").partition("\n")[2]


def test_a_command_that_has_a_page_shows_both() -> None:
    shown = about(DOCS, "search")
    assert shown.startswith("### `indexer search`")
    assert (DOCS / "search.md").read_text(encoding="utf-8") in shown


@pytest.mark.parametrize(
    ("topic", "beginning"),
    [("query", "# Query language"), ("Guide.md", "# Guide"), ("exit-status", "### Exit status")],
)
def test_a_topic_is_a_page_its_beginning_or_a_heading_of_the_guide(topic: str, beginning: str) -> None:
    assert about(DOCS, topic).startswith(beginning)


@pytest.mark.parametrize("topic", ["nothing", "c", "../README", "/etc/passwd", " ", "\x1b[2J", "a\nb"])
def test_an_unknown_topic_is_answered_with_the_topics(topic: str) -> None:
    with pytest.raises(UsageError, match=r"^No help on .*indexer help. lists the topics") as refused:
        about(DOCS, topic)
    assert len(str(refused.value).splitlines()) == 1


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
