"""`config edit`, `path` and `check`, in the test's process."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_here import CommandHere

from vault_indexer.config.documents import STARTER


def editor(here: CommandHere, line: str) -> Path:
    """A program that appends a line to the file that it opens."""
    program = here.sandbox.root / "my editor"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' '{line}' >> \"$2\"\n")
    program.chmod(0o755)
    return program


@pytest.mark.posix("programs that are scripts")
def test_a_new_configuration_is_edited_and_checked(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.setenv("VISUAL", f"'{editor(here, '# mine')}' -x")
    ran = here.run("config", "edit")
    assert (ran.code, ran.out, ran.err) == (0, "", f"No mistakes in {here.config}.\n")
    assert here.config.read_text() == f"{STARTER}# mine\n"
    editor(here, "zebra = 1")
    wrong = here.run("config", "edit")
    said = f"indexer: file {here.config}: llm.zebra = 1: unknown key\n"
    assert (wrong.code, wrong.out, wrong.err) == (2, "", said)
    assert here.config.read_text() == f"{STARTER}# mine\nzebra = 1\n", "it is not begun again"


def test_what_is_chosen_is_shown_with_its_origin(here: CommandHere) -> None:
    here.configure("[search]\nlimit = 7\n")
    shown = here.indexer("config", "show")
    lines = shown.out.splitlines()
    assert f"  {here.config}  read" in lines
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in lines[lines.index("") + 1 :]}
    assert rows["search.limit"] == f"7 notes file {here.config}"
    assert rows["index.dir"].endswith("option --index-dir")
    assert "search.snippet_chars" not in rows
    every = here.terminal("config", "show", "--all", columns=200).out
    assert re.search(r"\x1b\[1msearch\.limit +\x1b\[0m\x1b\[32m7\x1b\[0m", every)
    assert re.search(r"search\.snippet_chars +\x1b\[2m240\x1b\[0m\x1b\[2m characters\x1b\[0m\n", every)
    assert f"{here.config}\x1b[0m  read" in every
    assert f"{here.sandbox.vault / '.indexer.toml'}\x1b[0m\x1b[2m  not found" in every


def test_the_only_vault_is_checked_with_its_own_files_from_anywhere(here: CommandHere) -> None:
    vault = here.sandbox.vault
    here.configure(f'[vaults]\nnotes = "{vault.as_posix()}"\n')
    (vault / ".indexerignore").write_text("[bad\n")
    found = here.run("check")
    assert (found.code, found.out.split()[:4]) == (1, ["!", "configuration", ".indexerignore:", "line"])
