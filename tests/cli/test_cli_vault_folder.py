"""Which vault a command means, and which note: by option, variable, current folder, configuration."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_sandbox import Sandbox, make
from test_cli_imports import LOADED
from waiting import PROCESS_S

from vault_indexer.system import user_config_file

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def served_alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A vault of Obsidian with a daemon, whose index folder nobody has to name."""
    made = make(tmp_path_factory.mktemp("alone"))
    (made.vault / ".obsidian").mkdir()
    made.write("Sky/Bread.md", "# Bread of the gods\n\nManna.\n")
    built = made.run("rebuild", "--vault", str(made.vault))
    assert built.code == 0, built.err
    started = made.run("start", "--vault", str(made.vault), "--wait", str(PROCESS_S))
    assert started.code == 0, started.err
    yield made
    assert made.run("stop", "--vault", str(made.vault)).code == 0


def configure(sandbox: Sandbox, text: str) -> Path:
    file = user_config_file(sandbox.environ)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def vault_in(sandbox: Sandbox, cwd: Path, *arguments: str) -> str | None:
    """The vault that a command in this folder works on."""
    ran = sandbox.run("config", "show", "--json", *arguments, cwd=cwd)
    assert ran.code == 0, ran.err
    found = ran.data["vault"]
    assert found is None or isinstance(found, str)
    return found


def folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def test_a_command_below_a_vault_finds_it(served_alone: Sandbox) -> None:
    deep = folder(served_alone.vault / "Plugins" / "mine" / "src")
    ran = served_alone.run("search", "telescope", "--json", cwd=deep)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["results"][0]["path"] == "Sky/Night sky.md"


def test_the_nearest_vault_wins(sandbox: Sandbox) -> None:
    folder(sandbox.vault / ".obsidian")
    inner = folder(sandbox.vault / "Inner" / "Notes")
    assert vault_in(sandbox, inner) == str(sandbox.vault)
    sandbox.write("Inner/.indexer.toml", "[search]\nlimit = 7\n")
    assert vault_in(sandbox, inner) == str(sandbox.vault / "Inner")


def test_the_search_for_a_vault_ends_with_the_home_folder(sandbox: Sandbox) -> None:
    folder(sandbox.root / ".obsidian")
    below = folder(sandbox.root / "home" / "Documents")
    assert vault_in(sandbox, below) is None
    folder(sandbox.root / "home" / ".obsidian")
    assert vault_in(sandbox, below) == str(sandbox.root / "home")
    assert vault_in(sandbox, sandbox.vault) == str(sandbox.root), "outside of the home folder up to the root"


def test_option_and_variable_win_over_the_current_folder(sandbox: Sandbox) -> None:
    folder(sandbox.vault / ".obsidian")
    configure(sandbox, f'vault = "{folder(sandbox.root / "default")}"\n')
    other = folder(sandbox.root / "other")
    assert vault_in(sandbox, sandbox.vault) == str(sandbox.vault)
    named = Sandbox(sandbox.root, {"INDEXER_VAULT": str(other)})
    assert vault_in(named, sandbox.vault) == str(other)
    assert vault_in(named, sandbox.vault, "--vault", str(sandbox.root)) == str(sandbox.root)


def test_a_folder_that_has_been_removed_is_in_no_vault(sandbox: Sandbox) -> None:
    gone = folder(sandbox.root / "gone")
    code = (
        "import os, sys; os.rmdir(os.getcwd()); from vault_indexer.cli.app import main; main(['search', 'x'])"
    )
    ran = sandbox.run(code=code, cwd=gone)
    assert ran.code == 2
    assert ran.complains("No vault here.")


def test_the_default_vault_of_the_users_configuration(served_alone: Sandbox) -> None:
    file = configure(served_alone, 'vault = "../../vault"\n')
    ran = served_alone.run("search", "telescope", "--json")
    assert ran.code == 0, ran.err
    shown = served_alone.run("config", "show", "--json").data
    vault = str(file.parent / "../../vault")
    keys = shown["keys"]
    assert isinstance(keys, dict)
    assert shown["vault"] == keys["vault"]["value"] == vault
    assert keys["vault"]["origin"] == f"file {file}"
    home = configure(served_alone, 'vault = "~/../vault"\n')
    assert served_alone.run("search", "telescope").code == 0
    home.unlink()


def test_a_search_of_the_default_vault_through_the_daemon_loads_no_configuration(
    served_alone: Sandbox,
) -> None:
    file = configure(served_alone, f'vault = "{served_alone.vault}"\n')
    for folder_of_search in (served_alone.root, served_alone.vault / "Kitchen"):
        ran = served_alone.run("search", "telescope", code=LOADED, cwd=folder_of_search)
        code, modules = json.loads(ran.out.splitlines()[-1])
        assert code == 0, ran.err
        assert {"numpy", "yaml", "vault_indexer.bootstrap", "vault_indexer.config"} & set(modules) == set()
    file.unlink()


def test_a_default_vault_that_is_not_there_is_named_with_its_file(sandbox: Sandbox) -> None:
    file = configure(sandbox, 'vault = "/no/such/notes"\n')
    ran = sandbox.run("search", "x")
    assert ran.code == 3
    assert ran.complains("no such vault: /no/such/notes", f"named by file {file}")


def test_a_vault_may_not_name_the_default_vault(sandbox: Sandbox) -> None:
    sandbox.write(".indexer.toml", 'vault = "/etc"\n')
    ran = sandbox.run("config", "show", cwd=sandbox.vault)
    assert ran.code == 2
    assert ran.complains("vault = ", "cannot set this", str(user_config_file(sandbox.environ)))


@pytest.mark.parametrize(
    "note", ["Bread", "Bread.md", "./Bread.md", "../Kitchen/Bread.md", "~/../vault/Kitchen/Bread.md"]
)
def test_a_note_is_named_from_the_current_folder(served_alone: Sandbox, note: str) -> None:
    ran = served_alone.run("links", note, "--json", cwd=served_alone.vault / "Kitchen")
    assert ran.code == 0, ran.err
    assert ran.data["path"] == "Kitchen/Bread.md"


def test_other_names_go_on_meaning_a_note_of_the_vault(served_alone: Sandbox) -> None:
    for note in ("Sky/Night sky.md", "Night sky", "Sky/Night sky"):
        ran = served_alone.run("links", note, "--json", cwd=served_alone.vault / "Kitchen")
        assert ran.data["path"] == "Sky/Night sky.md"


def test_every_command_about_a_note_takes_an_absolute_path(served_alone: Sandbox) -> None:
    normalize_strategy_options = folder(served_alone.root / "home")
    link = normalize_strategy_options / "linked"
    link.symlink_to(served_alone.vault)
    for note in (served_alone.vault / "Kitchen/Bread.md", link / "Kitchen/Bread.md"):
        place = (str(note), "--vault", str(served_alone.vault))
        assert served_alone.run("related", *place, "--json").data["note"] == "Kitchen/Bread.md"
        assert served_alone.run("links", *place, "--json").data["path"] == "Kitchen/Bread.md"
        assert served_alone.run("links", "--mentions", *place, "--json").data["path"] == "Kitchen/Bread.md"
        assert served_alone.run("inspect", *place, "--json").data["path"] == "Kitchen/Bread.md"
        explained = served_alone.run("search", "flour", "--explain", *place, "--json")
        assert explained.data["path"] == "Kitchen/Bread.md"


def test_a_note_outside_of_the_vault_is_a_clear_error(served_alone: Sandbox) -> None:
    away = "/etc/hostname.md"
    for command in (("links", "../x.md"), ("related", away), ("search", "~/x.md", "x"), ("inspect", away)):
        options = ("--explain",) if command[0] == "search" else ()
        ran = served_alone.run(command[0], *options, *command[1:], cwd=served_alone.vault)
        assert ran.code == 2, command
        assert ran.complains(f"indexer: {command[1]} is outside of the vault {served_alone.vault}")
        assert len(ran.err.splitlines()) == 1


def test_a_name_longer_than_any_file_is_just_no_note(served_alone: Sandbox) -> None:
    ran = served_alone.run("links", "x" * 2 * os.pathconf("/", "PC_NAME_MAX"), cwd=served_alone.vault / "Sky")
    assert ran.code == 2
    assert ran.complains("no such note")
