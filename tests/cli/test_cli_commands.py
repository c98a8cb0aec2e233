"""The commands as a person meets them: groups, a plain help for each, wrong names."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from cli_sandbox import Sandbox
from command_here import CommandHere

from vault_indexer.cli.app import COMMANDS, program_of
from vault_indexer.cli.commands.status import LANGUAGES
from vault_indexer.providers.choose import languages_of_provider

if TYPE_CHECKING:
    pass

HELP_OF_EACH = """
import sys
from vault_indexer.cli.app import main
for name in sys.argv[1:]:
    try:
        main([*name.split(), "--help"])
    except SystemExit as end:
        assert not end.code, name
    print(end="\\0")
"""


def test_the_help_takes_no_more_than_its_time() -> None:
    started = time.process_time()
    command = program_of([])
    assert command.get_help(command.make_context("indexer", [], resilient_parsing=True))
    assert time.process_time() - started < 0.2


def test_every_help_is_plain(sandbox: Sandbox) -> None:
    names = [command.name for command in COMMANDS]
    more = ["vault remove", "config show", "service install", "eval run", "eval rank"]
    ran = sandbox.run(*names, *more, code=HELP_OF_EACH)
    assert ran.code == 0, ran.err
    helps = dict(zip([*names, *more], ran.out.split("\0"), strict=False))
    for name, text in helps.items():
        assert text.startswith(f"Usage: indexer {name}"), name
        assert not re.search(r"<\w|default:|x<=|\.\.\.\n|\[required\]|--index-dir", text), (name, text)
        assert re.search(r"\n\n[A-Z]", text), name


@pytest.mark.parametrize("name", ["chunks", "clusters", "explain", "graph", "health", "unpublish", "verify"])
def test_a_name_of_an_earlier_version_is_an_unknown_command(here: CommandHere, name: str) -> None:
    ran = here.run(name, "Bread")
    assert (ran.code, ran.out) == (2, "")
    assert f"No such command '{name}'." in ran.err


def test_what_a_model_knows_is_said_as_the_providers_say_it() -> None:
    known = {name: len(languages_of_provider(name)) for name in LANGUAGES}
    assert known["wordllama"] == known["minilm"] == 1
    assert known["multilingual"] + 1 == 16, "Chinese counts twice"
    assert 95 <= known["e5"] <= 100
    assert LANGUAGES["multilingual"] == "16 languages"
