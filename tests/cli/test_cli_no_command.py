"""`indexer` without a command."""

from __future__ import annotations

from typer.testing import CliRunner

from vault_indexer.cli.app import COMMANDS, build


def test_the_help_is_shown_with_every_command() -> None:
    output = CliRunner().invoke(build([]), []).output
    assert output.startswith("Usage: indexer")
    assert {command.name for command in COMMANDS} <= set(output.split())
