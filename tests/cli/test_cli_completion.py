"""Completion of commands and options in the user's shell."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_sandbox import Ran, Sandbox
from command_here import CommandHere
from test_cli_imports import ENGINES, FRAMEWORKS, LOADED
from waiting import PROCESS_S

from vault_indexer.cli.parameters import complete_vault

BASH = shutil.which("bash")

COMPLETE = """
COMP_WORDS=({words}) COMP_CWORD={last}
_indexer_completion indexer
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def in_bash(sandbox: Sandbox, script: str) -> Ran:
    """The script in a bash that finds the command `indexer`."""
    assert BASH is not None
    commands = sandbox.root / "bin"
    commands.mkdir(exist_ok=True)
    command = commands / "indexer"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vault_indexer "$@"\n')
    command.chmod(0o755)
    (sandbox.root / "home").mkdir(exist_ok=True)
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    return Sandbox(sandbox.root, {"PATH": path}).run_program([BASH, "--norc", "-c", script])


def completing(*words: str) -> str:
    return COMPLETE.format(words=" ".join(f"'{word}'" for word in words), last=len(words) - 1)


@pytest.mark.long
@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_the_completion_installed_for_bash_works(sandbox: Sandbox) -> None:
    installed = in_bash(sandbox, "indexer --install-completion; exit $?")
    assert installed.code == 0, installed.err
    completed = in_bash(sandbox, "source ~/.bashrc\n" + completing("indexer", "links", "--orph"))
    assert completed.out == "--orphans\n", completed.err


@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_the_script_of_the_command_completion_completes_names_too(sandbox: Sandbox) -> None:
    source = 'eval "$(indexer completion bash)"\n'
    typed = ("se", "search telescope --exp", "inspect --strategy hier", "help quer")
    shown = in_bash(sandbox, source + "".join(completing("indexer", *one.split()) for one in typed))
    assert shown.out.split() == [
        *("search", "serve", "service", "--expand", "--explain", "hierarchical", "query-language")
    ], shown


@pytest.mark.parametrize(
    ("shell", "script", "expected"),
    [
        ("zsh", "compdef _indexer_completion indexer", '"search":"Find notes'),
        ("fish", "complete --command indexer", "search\tFind notes"),
    ],
)
def test_zsh_and_fish_get_a_script_and_completions(
    sandbox: Sandbox, shell: str, script: str, expected: str
) -> None:
    printed = Sandbox(sandbox.root, {"_INDEXER_COMPLETE": f"source_{shell}"}).run()
    assert printed.code == 0, printed.err
    assert f"_INDEXER_COMPLETE=complete_{shell}" in printed.out
    assert script in printed.out
    variables = {"_TYPER_COMPLETE_ARGS": "indexer sea", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    asked = Sandbox(sandbox.root, {"_INDEXER_COMPLETE": f"complete_{shell}", **variables}).run()
    assert expected in asked.out
    assert "serve" not in asked.out
    if found := shutil.which(shell):
        file = Path(sandbox.root / "script")
        file.write_text(printed.out)
        assert subprocess.run([found, "-n", str(file)], timeout=PROCESS_S, check=False).returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        "indexer search --",
        *(
            pytest.param(words, marks=pytest.mark.long)
            for words in ("indexer ", "indexer start --", "indexer links --", "indexer help ")
        ),
    ],
)
def test_completing_loads_nothing_heavy(sandbox: Sandbox, words: str) -> None:
    variables = {
        "_INDEXER_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    ran = Sandbox(sandbox.root, variables).run(code=LOADED)
    *completed, last = ran.out.splitlines()
    assert completed
    modules = {name.partition(".")[0] for name in json.loads(last)[1]}
    assert modules & (ENGINES | FRAMEWORKS | {"pydantic", "yaml", "rich"}) == set()


@pytest.mark.posix("XDG_STATE_HOME")
def test_the_names_of_vaults_are_completed(here: CommandHere) -> None:
    assert complete_vault("") == []
    here.configure('vaults = { work = "/work", walks = "/walks", home = "/home/me/Notes" }\n')
    assert [complete_vault(begin) for begin in ("", "w", "wo", "x")] == [
        ["home", "walks", "work"],
        ["walks", "work"],
        ["work"],
        [],
    ]
