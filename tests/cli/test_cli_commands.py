"""The commands as a person meets them: groups, a plain help for each, wrong names."""

from __future__ import annotations

import re
import time
from collections import Counter
from typing import TYPE_CHECKING, cast

import pytest
from cli_sandbox import Sandbox
from command_here import CommandHere
from test_cli_views import EACH

from vault_indexer.cli.app import ADVANCED, COMMANDS, GROUPS, program_of
from vault_indexer.cli.commands.check import difference_in_words
from vault_indexer.cli.commands.status import LANGUAGES
from vault_indexer.providers.choose import languages_of_provider

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import ProblemJson

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


def test_fifteen_commands_stand_in_the_help_in_four_groups(sandbox: Sandbox) -> None:
    counts = Counter(command.group for command in COMMANDS)
    assert sum(counts[group] for group in GROUPS) == 15
    shown = sandbox.run("--help").out
    for command in COMMANDS:
        line = re.search(rf"^  {command.name}\b.*", shown, re.MULTILINE)
        assert (line is not None) == (command.group in GROUPS), command.name
        assert line is None or line[0].endswith(command.help)
    assert [line.removesuffix(":") for line in shown.splitlines() if line.endswith(":")] == [
        *GROUPS,
        "Options",
    ]
    advanced = [command.name for command in COMMANDS if command.group == ADVANCED]
    assert " ".join(shown.split()).endswith(f"Advanced (indexer help advanced): {' '.join(advanced)}")
    listed = sandbox.run("help", "advanced").out.splitlines()
    assert [line.split()[0] for line in listed] == advanced


def test_the_help_takes_no_more_than_its_time() -> None:
    started = time.process_time()
    command = program_of([])
    assert command.get_help(command.make_context("indexer", [], resilient_parsing=True))
    assert time.process_time() - started < 0.2


def test_the_help_leaves_out_the_old_options_for_completion() -> None:
    hidden = {option.name: option.hidden for option in program_of([]).params if option.name != "help"}
    assert {"install_completion": True, "show_completion": True}.items() <= hidden.items()
    assert not hidden["version"]


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


def test_an_unknown_command_is_told_how_to_search(sandbox: Sandbox) -> None:
    ran = sandbox.run("sync", "my", "notes")
    assert ran.code == 2
    assert ran.complains("No such command 'sync'. To search: indexer search sync my notes")
    assert sandbox.run("serch").complains("Did you mean 'search'", "To search: indexer search serch")


@pytest.mark.parametrize("name", ["chunks", "clusters", "explain", "graph", "health", "unpublish", "verify"])
def test_a_name_of_an_earlier_version_is_an_unknown_command(here: CommandHere, name: str) -> None:
    ran = here.run(name, "Bread")
    assert (ran.code, ran.out) == (2, "")
    assert f"No such command '{name}'." in ran.err


def test_no_data_is_printed_unasked(reader: Sandbox) -> None:
    commands = ("search flour --explain Bread", "links Welcome --depth 1", "inspect Bread", "check")
    place = ("--vault", str(reader.vault), "--index-dir", str(reader.index_dir))
    ran = reader.run("|".join(commands), *place, code=EACH)
    outs = ran.out.split("\u241d")[:-1]
    for command, shown in zip(commands, outs, strict=True):
        status = 1 if command == "check" else 0
        assert shown.endswith(f"[exit status {status}]"), (command, shown)
        assert not re.search(r"[{}]|True|False|None|\['", shown), (command, shown)


def test_check_says_what_is_wrong_one_line_each(reader: Sandbox) -> None:
    ran = reader.indexer("check")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "ok  configuration       defaults, no file",
        "ok  index               agrees with the vault: 3 notes",
        "!   1 broken link       Nowhere 1 (indexer links --broken)",
        ran.out.splitlines()[3],
    ]
    assert ran.out.splitlines()[3].startswith("    3 chunks            ")
    found = reader.indexer("check", "--json").data
    assert found["ok"] is False


def test_check_names_an_orphan_and_says_a_warning_once(copied: Sandbox) -> None:
    copied.write("Alone.md", "# Alone\n")
    copied.write(".indexer.toml", "[search]\nrrf_k = 30\n")
    ran = copied.indexer("check")
    assert "    1 orphan            Alone.md" in ran.out.splitlines()
    assert ran.err.count("search.rrf_k is no longer a setting") == 1


def test_a_difference_is_said_without_words_of_the_code() -> None:
    gone = "in the index, not in the vault"
    assert difference_in_words({"store": "vault", "kind": "ghost", "detail": gone}) == gone
    extra = {"store": "keywords", "kind": "ghost", "detail": "2 chunks, among them 4, 5"}
    assert difference_in_words(cast("ProblemJson", extra)) == "words, left over: 2 chunks, among them 4, 5"


def test_inspect_suggests_the_note_that_is_meant(reader: Sandbox) -> None:
    ran = reader.indexer("inspect", "Bred")
    assert (ran.code, ran.err) == (1, "Bred: no such note in the vault; did you mean Kitchen/Bread.md?\n")


def test_what_a_model_knows_is_said_as_the_providers_say_it() -> None:
    known = {name: len(languages_of_provider(name)) for name in LANGUAGES}
    assert known["wordllama"] == known["minilm"] == 1
    assert known["multilingual"] + 1 == 16, "Chinese counts twice"
    assert 95 <= known["e5"] <= 100
    assert LANGUAGES["multilingual"] == "16 languages"


def test_a_mistake_in_the_configuration_is_a_line_of_check(sandbox: Sandbox) -> None:
    sandbox.write(".indexer.toml", "[search]\nlimit = 0\nlimitt = 3\n")
    ran = sandbox.indexer("check")
    assert ran.code == 1
    first, second = ran.out.splitlines()
    assert first.startswith("!   configuration       file ")
    assert "search.limit = 0: a whole number from 1 to 200" in first
    assert "unknown key" in second


@pytest.mark.long
def test_links_draw_what_is_around_a_note(reader: Sandbox) -> None:
    first = reader.indexer("links", "Welcome", "--depth", "2").out.splitlines()[0]
    assert first.split()[:2] == ["0", "Welcome.md"]
    assert reader.indexer("links", "Welcome", "--dot").out.startswith("graph vault {")
    assert "<graphml" in reader.indexer("links", "Welcome", "--graphml").out
    assert reader.indexer("links", "--orphans", "--dot").code == 2
