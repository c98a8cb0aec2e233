"""Which vault a command means, and which note: by option, variable, current folder, configuration."""

from __future__ import annotations

import json
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


def folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def test_a_command_below_a_vault_finds_it(served_alone: Sandbox) -> None:
    deep = folder(served_alone.vault / "Plugins" / "mine" / "src")
    ran = served_alone.run("search", "telescope", "--json", cwd=deep)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["results"][0]["path"] == "Sky/Night sky.md"


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
