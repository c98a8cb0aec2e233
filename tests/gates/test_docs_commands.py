"""The reference has every command with every option, and no command that does not exist."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator, Mapping
from typing import Protocol, cast

import pytest
from python_source import ROOT

from vault_indexer.cli.app import COMMANDS, program_of
from vault_indexer.cli.output.plain_help import EXAMPLES

PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


class Described(Protocol):
    """A command or a parameter, as far as this test reads it; typer may carry a click of its own."""

    commands: Mapping[str, Described]
    params: list[Described]
    opts: list[str]
    param_type_name: str
    hidden: bool


def program(arguments: list[str]) -> Described:
    return cast("Described", program_of(arguments))


def sections() -> dict[str, str]:
    """The commands of the page's headings, each with the text below, that of its subcommands included."""
    return dict(re.findall(r"^### `indexer ([a-z]+).*\n([\s\S]*?)(?=^#{2,3} |\Z)", PAGE, re.MULTILINE))


def options(command: str) -> Iterator[str]:
    """The long names of the options of a command and its subcommands."""
    described = program([command]).commands[command]
    for one in [described, *getattr(described, "commands", {}).values()]:
        for parameter in one.params:
            if parameter.param_type_name == "option" and not parameter.hidden:
                yield from (name for name in parameter.opts if name.startswith("--"))


def undocumented(names: Iterator[str], *texts: str) -> set[str]:
    return {name for name in names if not any(re.search(rf"{name}(?![\w-])", text) for text in texts)}


def test_the_page_describes_exactly_the_commands_there_are() -> None:
    assert set(sections()) == {command.name for command in COMMANDS}


@pytest.mark.parametrize("command", [one.name for one in COMMANDS])
def test_the_page_describes_every_option_of_a_command(command: str) -> None:
    shared = PAGE.partition("## What every command takes")[2].partition("\n## ")[0]
    assert undocumented(options(command), sections()[command], shared) == set()


def runnable() -> Iterator[str]:
    """Every command and subcommand by its words."""
    for row in COMMANDS:
        parts = getattr(program([row.name]).commands[row.name], "commands", None)
        yield from (f"{row.name} {part}" for part in parts) if parts else (row.name,)


def test_the_help_of_every_command_has_an_example_whose_options_exist() -> None:
    assert set(EXAMPLES) == set(runnable())
    for name, example in EXAMPLES.items():
        known = {*options(name.partition(" ")[0])}
        assert set(re.findall(r"--[a-z-]+", example)) <= known, name
    assert [name for name, example in EXAMPLES.items() if f"indexer {name}" not in example] == []


def test_the_page_describes_the_options_of_the_program() -> None:
    names = (
        name for one in program([]).params if not one.hidden for name in one.opts if name.startswith("--")
    )
    assert undocumented(names, PAGE) == set()


def test_the_reference_and_the_man_page_of_the_commands_are_theirs() -> None:
    module = runpy.run_path(str(ROOT / ".ci" / "commands.py"))
    assert module["MANUAL"].read_text(encoding="utf-8") == module["manual"](), "run `make docs`"
    assert module["PAGE"].read_text(encoding="utf-8") == module["reference"](), "run `make docs`"
