"""A command that is made of a row of the table of endpoints does what a command of its own would."""

from __future__ import annotations

import pytest
from cli_sandbox import Ran, Sandbox

FROM_THE_TABLE = """
import sys, typer
from vault_indexer.cli.app import build, command_from
from vault_indexer.serve.api.endpoints import ENDPOINTS
commands = [command_from(one) for one in ENDPOINTS]
typer.main.get_command(build(sys.argv[1:], commands))(prog_name="indexer")
"""


def made(sandbox: Sandbox, *arguments: str) -> Ran:
    place = ("--vault", str(sandbox.vault), "--index-dir", str(sandbox.index_dir))
    return sandbox.run(*arguments, *place, code=FROM_THE_TABLE)


def test_its_arguments_and_options_are_the_parameters(served: Sandbox) -> None:
    found = made(served, "search", "the", "telescope", "-flour", "--limit", "1", "--by", "note", "--json")
    assert found.code == 0, found.err
    assert found.data["query"] == "the telescope -flour"
    results = found.data["results"]
    assert isinstance(results, list)
    assert [hit["path"] for hit in results] == ["Sky/Night sky.md"]
    assert made(served, "search", "x", "--by", "word").code == 2
    assert made(served, "search", "x", "--limit", "201").code == 2


def test_it_answers_as_the_command_with_a_module_does(served: Sandbox) -> None:
    expected = served.indexer("links", "--orphans", "--json")
    assert made(served, "links", "--view", "orphans", "--json").data == expected.data
    named = made(served, "note", f"{served.vault}/Kitchen/Bread.md", "--json")
    assert named.data["path"] == "Kitchen/Bread.md"


def test_it_answers_without_a_daemon(indexed: Sandbox) -> None:
    found = made(indexed, "chunks", "Bread", "--strategy", "none")
    assert found.code == 0, found.err
    first, second = found.out.splitlines()
    assert first == "Kitchen/Bread.md  1 chunk, none"
    assert "Flour, water, salt" in second


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("note", "Elsewhere"), "no such note"), (("related", ""), "no note is named")],
)
def test_its_errors_are_one_line(served: Sandbox, arguments: tuple[str, ...], message: str) -> None:
    refused = made(served, *arguments)
    assert refused.code == 2
    assert refused.complains(message)
    assert len(refused.err.splitlines()) == 1


def test_its_help_is_the_row(sandbox: Sandbox) -> None:
    shown = sandbox.run("verify", "--help", code=FROM_THE_TABLE).out
    assert "Compare the vault with the index, and list every" in shown
    assert "--repair" in shown
