"""`indexer` without a command."""

from __future__ import annotations

from typer.testing import CliRunner

from vault_indexer.cli.app import COMMANDS, build


def test_the_help_is_shown_with_every_command() -> None:
    lines = CliRunner().invoke(build([]), []).output.split("\n")
    assert any(line.strip().startswith("Usage: indexer") for line in lines)
    assert {command.name for command in COMMANDS} <= {line.split()[0] for line in lines if line.strip()}
