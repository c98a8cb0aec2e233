"""Which vault, note and file are meant, by option, variable, folder and configuration; who opens them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon, Reply
from command_here import CommandHere

from vault_indexer.cli.known_vaults import remember_vault
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import (
    current_folder,
    default_vault,
    enclosing_vault,
    enclosing_vault_here,
    named_or_enclosing_vault,
    note_in_vault,
    only_vault,
    shown_path,
    vaults_in_config,
)
from vault_indexer.daemon.discovery import write_index_pointer
from vault_indexer.errors import UsageError
from vault_indexer.model import PauseState
from vault_indexer.serve.api.endpoints import RESUME, SEARCH


def environ(here: CommandHere, **more: str) -> Mapping[str, str]:
    return {**here.sandbox.environ, **more}


@pytest.fixture
def named(here: CommandHere) -> Path:
    """A table of one vault, `work`, and an indexed folder that is known as `notes`."""
    here.configure(f'[vaults]\nwork = "{here.sandbox.vault}"\n')
    notes = here.sandbox.root / "far" / "Notes"
    notes.mkdir(parents=True)
    (here.sandbox.root / "far" / "CURRENT").touch()
    remember_vault(notes, here.sandbox.root / "far")
    return notes


def test_option_and_variable_take_names_and_folders(here: CommandHere, named: Path) -> None:
    def meant(option: str | None, **more: str) -> Path | None:
        selection = VaultSelection(Path(option) if option else None)
        return named_or_enclosing_vault(selection, environ(here, **more))

    vault = here.sandbox.vault
    assert (meant("work"), meant("notes"), meant("nowhere")) == (vault, named, Path("nowhere"))
    assert meant(None, INDEXER_VAULT="work") == vault
    assert meant(None, INDEXER_VAULT="notes") == named
    assert meant(None, INDEXER_VAULT="~/x") == here.sandbox.root / "home" / "x"
    assert meant("work", INDEXER_VAULT="notes") == vault, "the option is stronger"
    assert meant(None, INDEXER_VAULT="./work") == Path("work"), "a folder"
    (here.sandbox.root / "notes").mkdir()
    assert meant("notes") == Path("notes"), "there is such a folder here"
    assert meant(None) is None


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("folder", ["./work", "work/"])
def test_a_name_with_a_separator_is_a_folder(here: CommandHere, folder: str) -> None:
    (here.sandbox.root / "work").mkdir()
    for option, vault in ((folder, here.sandbox.root / "work"), ("work", here.sandbox.vault)):
        assert here.run("config", "show", "--vault", option, "--json").data["vault"] == str(vault)


def test_the_default_vault_is_beside_its_configuration(here: CommandHere) -> None:
    selection = VaultSelection()
    assert default_vault(selection, environ(here)) is None
    for text, expected in (
        ('vault = "~/n"', here.sandbox.root / "home" / "n"),
        ('vault = "n"', here.config.parent / "n"),
        ('vault = ""', None),
        ("vault = 5", None),
        ("vault = ", None),
    ):
        here.configure(text)
        assert default_vault(selection, environ(here)) == expected
        assert only_vault(selection, environ(here)) == expected
    other = here.sandbox.root / "other.toml"
    other.write_text('vault = "n"')
    assert default_vault(VaultSelection(config=other), environ(here)) == here.sandbox.root / "n"
    assert default_vault(selection, environ(here, INDEXER_CONFIG=str(other))) == here.sandbox.root / "n"


def test_a_table_is_read_as_far_as_it_makes_sense(here: CommandHere) -> None:
    here.configure('[vaults]\na = "x"\nb = { path = "~/y" }\nc = 5\nd = { index_dir = "z" }\ne = ""\n')
    found = vaults_in_config(VaultSelection(), environ(here))
    assert found == {"a": here.config.parent / "x", "b": here.sandbox.root / "home" / "y"}
    here.configure("vaults = 5")
    assert vaults_in_config(VaultSelection(), environ(here)) == {}


def test_the_nearest_vault_upwards_ends_at_the_home_folder(tmp_path: Path) -> None:
    deep = tmp_path / "home" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / ".obsidian").mkdir()
    assert enclosing_vault(deep, None) == tmp_path
    assert enclosing_vault(deep, tmp_path / "home") is None
    assert enclosing_vault(deep, tmp_path / "home", {tmp_path / "home"}) == tmp_path / "home"
    (tmp_path / "home" / ".indexer.toml").touch()
    assert enclosing_vault(deep, tmp_path / "home") == tmp_path / "home"
    assert enclosing_vault(deep / "gone", None) is None, "a folder that is not there"


def test_a_loop_of_links_in_the_table_is_no_error(here: CommandHere, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = here.sandbox.root / "loop"
    loop.symlink_to(loop)
    here.configure(f'[vaults]\na = "{loop}"\nb = "{here.sandbox.vault}"\n')
    monkeypatch.chdir(here.sandbox.vault / "Kitchen")
    assert enclosing_vault_here(VaultSelection(), environ(here)) == here.sandbox.vault


def test_a_vault_of_the_table_is_found_through_a_link(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = here.sandbox.root / "link"
    link.symlink_to(here.sandbox.vault)
    monkeypatch.chdir(here.sandbox.vault / "Sky")
    assert enclosing_vault_here(VaultSelection(), environ(here)) is None
    here.configure(f'[vaults]\na = "{link}"\n')
    assert enclosing_vault_here(VaultSelection(), environ(here)) == here.sandbox.vault


def test_in_a_folder_that_was_removed_nothing_is_enclosing(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = here.sandbox.vault / "Gone"
    gone.mkdir()
    (here.sandbox.vault / ".obsidian").mkdir()
    monkeypatch.chdir(gone)
    assert enclosing_vault_here(VaultSelection(), environ(here)) == here.sandbox.vault
    gone.rmdir()
    assert current_folder() is None
    assert enclosing_vault_here(VaultSelection(), environ(here)) is None
    assert note_in_vault("Bread", here.sandbox.vault) == "Bread"
    assert shown_path("A.md", here.sandbox.vault) == str(here.sandbox.vault / "A.md")
    ran = here.run("search", "x")
    assert (ran.code, ran.complains("No vault here.")) == (2, True)


@pytest.mark.parametrize(
    ("note", "path"),
    [
        ("Bread", "Kitchen/Bread"),
        ("Bread.md", "Kitchen/Bread.md"),
        ("./Bread.md", "Kitchen/Bread.md"),
        ("../Welcome", "Welcome"),
        ("../Kitchen/../Welcome.md", "Welcome.md"),
        ("{vault}/Welcome.md", "Welcome.md"),
        ("{link}/Welcome.md", "Welcome.md"),
        ("~/../vault/Welcome.md", "Welcome.md"),
        ("./Gone.md", "{vault}/Kitchen/Gone.md"),
        ("Gone", "Gone"),
        ("Welcome", "Welcome"),
        ("x" * 300, "x" * 300),
        (" ", " "),
    ],
)
def test_a_note_as_a_person_names_it(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch, note: str, path: str
) -> None:
    vault, link = here.sandbox.vault, here.sandbox.root / "link"
    (here.sandbox.root / "home").mkdir()
    link.symlink_to(vault)
    monkeypatch.chdir(vault / "Kitchen")
    found = note_in_vault(note.format(vault=vault, link=link), vault)
    assert found == path.format(vault=vault)


@pytest.mark.parametrize("note", ["/etc/hostname", "../../x.md", "{vault}", "~/x.md"])
def test_a_note_outside_of_the_vault_is_refused(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch, note: str
) -> None:
    vault = here.sandbox.vault
    monkeypatch.chdir(vault / "Kitchen")
    named = note.format(vault=vault)
    with pytest.raises(UsageError) as refused:
        note_in_vault(named, vault)
    assert str(refused.value) == f"{named} is outside of the vault {vault}"


def test_from_outside_a_path_names_a_note_only_where_there_is_the_file(here: CommandHere) -> None:
    vault = here.sandbox.vault
    assert note_in_vault("./vault/Welcome.md", vault) == "Welcome.md"
    assert note_in_vault("./Welcome.md", vault) == "./Welcome.md"
    assert note_in_vault("vault/Welcome.md", vault) == "vault/Welcome.md"


def test_a_path_is_shown_from_the_current_folder_and_is_no_option(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = here.sandbox.vault
    assert shown_path("Kitchen/Bread.md", vault) == "vault/Kitchen/Bread.md"
    monkeypatch.chdir(vault)
    assert (shown_path("-n.md", vault), shown_path("a-n.md", vault)) == ("./-n.md", "a-n.md")
    monkeypatch.chdir(vault / "Kitchen")
    assert shown_path("Welcome.md", vault) == str(vault / "Welcome.md")


def test_the_daemon_of_a_vault_is_found_without_its_index(
    here: CommandHere, daemon: AnsweringDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.answer(RESUME, PauseState(False, "", 0))
    write_index_pointer(here.sandbox.vault, here.sandbox.index_dir)
    (here.sandbox.vault / ".obsidian").mkdir()
    monkeypatch.chdir(here.sandbox.vault / "Kitchen")
    assert here.run("resume").code == 0
    monkeypatch.chdir(here.sandbox.root)
    assert here.run("resume", "--vault", "vault").code == 0
    (here.sandbox.root / "other.toml").touch()
    other = here.run("resume", "--vault", "vault", "--config", "other.toml")
    assert (other.code, other.complains("no daemon is running")) == (3, True), "it may name another index"
    here.configure('vault = "../../vault"\n')
    assert here.run("resume").code == 0
    monkeypatch.setenv("INDEXER_INDEX_DIR", "index")
    monkeypatch.setenv("INDEXER_VAULT", "elsewhere")
    assert here.run("resume").code == 0
    assert len(daemon.requests) == 4


HIT = (
    b'{"query": "x", "verdict": "strong", "missing_words": [], "notices": [], "results": [{"path": '
    b'"Welcome.md", "kind": "%s", "line": 3, "uri": "obsidian://x"}]}'
)


@pytest.mark.parametrize(
    ("kind", "editor", "options"),
    [(b"note", "vi -R", ["-R", "+3"]), (b"attachment", "vi -R", ["-R"]), (b"note", "code", ["--goto"])],
)
def test_the_first_hit_is_opened_in_the_editor(
    here: CommandHere,
    daemon: AnsweringDaemon,
    monkeypatch: pytest.MonkeyPatch,
    kind: bytes,
    editor: str,
    options: list[str],
) -> None:
    program = here.sandbox.root / editor.split()[0]
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{here.sandbox.root}/opened"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{here.sandbox.root}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.setenv("VISUAL", editor)
    daemon.reply(SEARCH, Reply(200, HIT % kind))
    assert here.indexer("search", "x", "--open").code == 0
    file = here.sandbox.vault / "Welcome.md"
    place = f"{file}:3" if editor == "code" else str(file)
    assert (here.sandbox.root / "opened").read_text().splitlines() == [*options, place]


def test_without_an_editor_obsidian_opens_its_own_notes(
    here: CommandHere, daemon: AnsweringDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_uri(uri: str) -> bool:
        opened.append(uri)
        return True

    monkeypatch.setattr("webbrowser.open", open_uri)
    daemon.reply(SEARCH, Reply(200, HIT % b"note"))
    needs = "indexer: --open needs an editor: set the variable EDITOR, such as EDITOR=vim\n"
    ran = here.indexer("search", "x", "--open")
    assert (ran.code, ran.err, opened) == (2, needs, [])
    (here.sandbox.vault / ".obsidian").mkdir()
    assert (here.indexer("search", "x", "--open").code, opened) == (0, ["obsidian://x"])
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    assert here.indexer("search", "x", "--open").err == needs
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    ran = here.indexer("search", "x", "--open")
    assert (ran.code, ran.err) == (3, f"indexer: /no/such/editor: {os.strerror(2)}\n")
