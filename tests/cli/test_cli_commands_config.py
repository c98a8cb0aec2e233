"""`config edit`, `path` and `check`, in the test's process."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from command_here import CommandHere

from vault_indexer.config.documents import starter_config


def editor(here: CommandHere, line: str) -> Path:
    """A program that appends a line to the file that it opens."""
    program = here.sandbox.root / "my editor"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' '{line}' >> \"$2\"\n")
    program.chmod(0o755)
    return program


def test_the_path_of_the_configuration_is_printed(here: CommandHere, monkeypatch: pytest.MonkeyPatch) -> None:
    assert here.run("config", "path").out == f"{here.config}\n"
    monkeypatch.setenv("INDEXER_CONFIG", "/other.toml")
    assert here.run("config", "path").out == "/other.toml\n"
    assert here.run("config", "path", "--config", "mine.toml").out == "mine.toml\n"


def test_a_new_configuration_is_edited_and_checked(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.setenv("VISUAL", f"'{editor(here, '# mine')}' -x")
    ran = here.run("config", "edit")
    assert (ran.code, ran.out, ran.err) == (0, "", f"No mistakes in {here.config}.\n")
    assert here.config.read_text() == f"{starter_config()}# mine\n"
    editor(here, "zebra = 1")
    wrong = here.run("config", "edit")
    said = f"indexer: file {here.config}: llm.zebra = 1: unknown key\n"
    assert (wrong.code, wrong.out, wrong.err) == (2, "", said)
    assert here.config.read_text() == f"{starter_config()}# mine\nzebra = 1\n", "it is not begun again"


def test_an_editor_is_needed(here: CommandHere, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = here.run("config", "edit")
    said = f"indexer: No editor is set (VISUAL or EDITOR). Your configuration is {here.config}\n"
    assert (ran.code, ran.err, here.config.exists()) == (2, said, False)
    monkeypatch.setenv("EDITOR", "/no/such/editor -w")
    ran = here.run("config", "edit")
    assert (ran.code, ran.err) == (2, f"indexer: cannot run /no/such/editor: {os.strerror(2)}\n")
    assert here.config.read_text() == starter_config()


def test_defaults_have_no_mistakes_and_nothing_to_show(here: CommandHere) -> None:
    shown = here.run("config", "show")
    assert (shown.code, shown.err) == (0, "Every value is the default (--all shows them).\n")
    assert shown.out.splitlines() == [
        "Configuration files; later ones override earlier ones:",
        f"  {here.config}  not found",
    ]
    every = here.run("config", "show", "--all")
    assert (every.err, len(every.out.splitlines()) > 20) == ("", True)


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
    assert f"{here.sandbox.vault}/.indexer.toml\x1b[0m\x1b[2m  not found" in every


def test_mistakes_are_data_too(here: CommandHere) -> None:
    here.configure("[search]\nlimit = 0\n")
    told = here.indexer("check", "--json")
    assert told.code == 1
    vault = told.data["vaults"][0]  # type: ignore[index]
    assert vault["configuration"] == [
        {
            "key": "search.limit",
            "value": "0",
            "allowed": "a whole number from 1 to 200",
            "source": f"file {here.config}",
        }
    ]


def test_mistakes_in_the_exclusions_of_a_vault_are_mistakes(here: CommandHere) -> None:
    (here.sandbox.vault / ".obsidian").mkdir()
    (here.sandbox.vault / ".obsidian" / "app.json").write_text('{"userIgnoreFilters": ["/(/"]}')
    ran = here.indexer("check")
    assert ran.code == 1
    assert "app.json" in ran.out
