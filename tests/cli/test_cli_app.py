"""The program `indexer` itself, in this process: its help, its version, its end."""

from __future__ import annotations

import importlib.metadata
import re
import sys
import time
import traceback
from collections import ChainMap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli_sandbox import Sandbox
from command_here import CommandHere

from vault_indexer.cli.app import ADVANCED, COMMANDS, GROUPS, command_rows, main, program_of
from vault_indexer.cli.commands.status import LANGUAGES
from vault_indexer.providers.choose import languages_of_provider

if TYPE_CHECKING:
    pass


@pytest.fixture
def hook() -> Iterator[None]:
    """The hook of this process, which the program replaces by its own."""
    before = sys.excepthook
    yield
    sys.excepthook = before


def test_the_commands_of_a_group_stand_in_columns() -> None:
    assert command_rows("Begin") == [
        ("init [DIR]       ", "Add a folder of notes and index it."),
        ("help [TOPIC]     ", "Show the documentation of a command or topic."),
    ]
    rows = [row for group in (*GROUPS, ADVANCED) for row in command_rows(group)]
    assert len(rows) == len(COMMANDS)
    assert [name.split()[0] for name, _ in command_rows("Keep")] == [
        "status",
        "check",
        "rebuild",
        "vault",
        "config",
    ]


def test_the_help_has_groups_options_and_the_names_of_the_rest(here: CommandHere) -> None:
    ran = here.run("--help")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[:3] == [
        "Usage: indexer COMMAND",
        "",
        "Search your Markdown notes. Everything stays on this computer.",
    ]
    assert [line.rstrip(":") for line in lines if line.endswith(":")] == [*GROUPS, "Options"]
    assert "  search QUERY       Find notes by meaning, word and link." in lines
    options = lines[lines.index("Options:") + 1 : lines.index("", lines.index("Options:"))]
    named = [line.split("  ")[1] for line in options if line.startswith("  -")]
    assert [one.split()[0] for one in named] == [
        "--vault",
        "--index-dir",
        "--config",
        "--json",
        "--version",
        "-h,",
    ]
    rest = " ".join(ran.out.partition("Advanced (indexer help advanced): ")[2].split())
    assert rest == " ".join(one.name for one in COMMANDS if one.group == ADVANCED)
    assert here.run("-h").out == ran.out
    without = here.run()
    assert (without.code, without.out, without.err) == (2, "", ran.out)


def test_the_version_needs_no_command(here: CommandHere) -> None:
    ran = here.run("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"{importlib.metadata.version('vault-indexer')}\n", "")


@pytest.mark.parametrize(
    ("words", "loaded", "others"),
    [
        ("status related", {"status", "related"}, False),
        ("-x status related", {"status", "related"}, True),
        ("vault", {"vault"}, False),
        ("", set(), True),
    ],
)
def test_a_command_is_loaded_if_a_word_names_it(words: str, loaded: set[str], others: bool) -> None:
    program = program_of(words.split())
    full = {name for name, one in program.commands.items() if name == "vault" or len(one.params) > 1}
    assert full & (loaded | set(program.commands) - {"vault"}) == loaded
    assert set(program.commands) == ({one.name for one in COMMANDS} if others else loaded)
    assert all(option.hidden for option in program.params if "completion" in option.name)


def test_a_process_leaves_with_the_status_of_its_command(
    capsys: pytest.CaptureFixture[str], hook: None
) -> None:
    for words, status in ((["--version"], 0), (["zebra"], 2)):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert (ended.value.code or 0) == status
    capsys.readouterr()
    assert sys.excepthook is not sys.__excepthook__


def test_an_error_that_nobody_foresaw_is_one_line_with_its_place(
    capsys: pytest.CaptureFixture[str], hook: None
) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    capsys.readouterr()
    try:
        ChainMap[str, str]()["a\nb"]
    except KeyError as error:
        (*_, (place, line)) = traceback.walk_tb(error.__traceback__)
        assert Path(place.f_code.co_filename).name == "__init__.py", "of collections"
        for found, where in ((error.__traceback__, f" (__init__.py:{line})"), (None, "")):
            with pytest.raises(SystemExit) as ended:
                sys.excepthook(KeyError, error, found)
            assert ended.value.code == 3
            told = capsys.readouterr()
            assert told.err == f"indexer: internal error: KeyError: 'a\\nb'{where}\n"


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
    more = [name for name in more if name.split()[0] in names]
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
