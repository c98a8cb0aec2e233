"""Which vault, note and file are meant, by option, variable, folder and configuration; who opens them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon, Reply, answering_daemon
from cli_sandbox import Sandbox, index_at, make
from command_here import CommandHere
from golden_cases import check_golden, of_parts
from golden_commands import GOLDENS
from sessions import compare_session, sessions
from test_cli_imports import ENGINES, FRAMEWORKS, LOADED
from waiting import PROCESS_S

from vault_indexer.cli.connection.in_process import DirectDispatcher
from vault_indexer.cli.known_vaults import remember_vault
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import (
    current_folder,
    enclosing_vault,
    enclosing_vault_here,
    keeps_all,
    named_or_enclosing_vault,
    note_in_vault,
    shown_path,
    vaults_in_config,
)
from vault_indexer.config import NamedVault
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.errors import UsageError, VaultError
from vault_indexer.serve.api.endpoints import SEARCH, STATUS
from vault_indexer.system import user_config_file

WHICH_VAULT = Path(__file__).parent / "fixtures" / "sessions" / "which_vault.md"


@pytest.mark.posix("paths with slashes")
@pytest.mark.parametrize("heading", sessions(WHICH_VAULT))
def test_which_vault_is_meant(here: CommandHere, heading: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering_daemon() as daemon:
        compare_session(WHICH_VAULT, heading, here, daemon, monkeypatch)


@pytest.fixture
def named(here: CommandHere) -> None:
    """A table of one vault, `work`, and an indexed folder that is known as `notes`."""
    here.configure(f'[vaults]\nwork = "{here.sandbox.vault}"\n')
    notes = here.sandbox.root / "far" / "Notes"
    notes.mkdir(parents=True)
    remember_vault(notes, index_at(here.sandbox.root / "far"))


@pytest.mark.usefixtures("named")
@pytest.mark.posix("paths with slashes")
def test_folders_and_notes_are_found_as_the_golden_says(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, vault = here.sandbox.root, here.sandbox.vault
    (root / "home").mkdir()
    (root / "link").symlink_to(vault)

    def meant(option: str, variable: str) -> str:
        monkeypatch.chdir(root)
        selection = VaultSelection(Path(option) if option else None)
        try:
            found = named_or_enclosing_vault(selection, here.sandbox.environ | {"INDEXER_VAULT": variable})
        except VaultError as error:
            return str(error)
        return str(found).replace(str(root), "/box")

    def note(written: str) -> str:
        monkeypatch.chdir(vault / "Kitchen")
        try:
            found = note_in_vault(written.replace("/box", str(root)), vault)
        except UsageError as error:
            found = str(error)
        return found.replace(str(root), "/box")

    check_golden(
        GOLDENS / "vault_folder.md",
        {"Which folder an option and a variable mean": of_parts(meant), "A note as a person names it": note},
    )
    for odd in ("x" * 300, " "):
        assert note_in_vault(odd, vault) == odd
    (root / "notes").mkdir()
    assert meant("notes", "") == "notes", "there is such a folder here"


@pytest.mark.posix("paths with slashes")
@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("folder", ["./work", "work/"])
def test_a_name_with_a_separator_is_a_folder(here: CommandHere, folder: str) -> None:
    (here.sandbox.root / "work").mkdir()
    for option, vault in ((folder, here.sandbox.root / "work"), ("work", here.sandbox.vault)):
        assert here.run("config", "show", "--vault", option, "--json").data["vault"] == str(vault)


def test_a_table_is_read_as_far_as_it_makes_sense(here: CommandHere) -> None:
    here.configure('[vaults]\na = "x"\nb = { path = "~/y" }\nc = 5\nd = { index_dir = "z" }\ne = ""\n')
    found = vaults_in_config(VaultSelection(), here.sandbox.environ)
    assert found == {"a": here.config.parent / "x", "b": here.sandbox.root / "home" / "y"}
    here.configure("vaults = 5")
    assert vaults_in_config(VaultSelection(), here.sandbox.environ) == {}


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


@pytest.mark.posix("symbolic links")
def test_a_vault_of_the_table_is_found_through_a_link_and_a_loop_of_links_is_no_error(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, loop = here.sandbox.root / "link", here.sandbox.root / "loop"
    link.symlink_to(here.sandbox.vault)
    loop.symlink_to(loop)
    monkeypatch.chdir(here.sandbox.vault / "Sky")
    assert enclosing_vault_here(VaultSelection(), here.sandbox.environ) is None
    here.configure(f'[vaults]\na = "{loop}"\nb = "{link}"\n')
    assert enclosing_vault_here(VaultSelection(), here.sandbox.environ) == here.sandbox.vault


@pytest.mark.posix("a current folder that is removed")
def test_in_a_folder_that_was_removed_nothing_is_enclosing(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = here.sandbox.vault / "Gone"
    gone.mkdir()
    (here.sandbox.vault / ".obsidian").mkdir()
    monkeypatch.chdir(gone)
    assert enclosing_vault_here(VaultSelection(), here.sandbox.environ) == here.sandbox.vault
    gone.rmdir()
    assert current_folder() is None
    assert enclosing_vault_here(VaultSelection(), here.sandbox.environ) is None
    assert note_in_vault("Bread", here.sandbox.vault) == "Bread"
    assert shown_path("A.md", here.sandbox.vault) == str(here.sandbox.vault / "A.md")


def test_from_outside_a_path_names_a_note_only_where_there_is_the_file(here: CommandHere) -> None:
    vault = here.sandbox.vault
    assert note_in_vault("./vault/Welcome.md", vault) == "Welcome.md"
    assert note_in_vault("./Welcome.md", vault) == "./Welcome.md"
    assert note_in_vault("vault/Welcome.md", vault) == "Welcome.md"
    here.sandbox.write("vault/Welcome.md", "# Another")
    assert note_in_vault("vault/Welcome.md", vault) == "vault/Welcome.md"


@pytest.mark.posix("paths with slashes")
def test_a_path_is_shown_from_the_current_folder_and_is_no_option(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = here.sandbox.vault
    assert shown_path("Kitchen/Bread.md", vault) == "vault/Kitchen/Bread.md"
    monkeypatch.chdir(vault)
    assert (shown_path("-n.md", vault), shown_path("a-n.md", vault)) == ("./-n.md", "a-n.md")
    monkeypatch.chdir(vault / "Kitchen")
    assert shown_path("Welcome.md", vault) == str(vault / "Welcome.md")


HIT = (
    b'{"query": "x", "verdict": "strong", "missing_words": [], "notices": [], "results": [{"path": '
    b'"Welcome.md", "kind": "%s", "line": 3, "uri": "obsidian://x"}]}'
)


@pytest.mark.posix("paths with slashes")
@pytest.mark.parametrize(
    ("kind", "editor", "options"), [(b"attachment", "vi -R", ["-R"]), (b"note", "code", ["--goto"])]
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


@pytest.mark.posix("paths with slashes")
def test_without_an_editor_obsidian_opens_its_own_notes(
    here: CommandHere, daemon: AnsweringDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_uri(uri: str) -> bool:
        opened.append(uri)
        return True

    monkeypatch.setattr("webbrowser.open", open_uri)
    daemon.reply(SEARCH, Reply(200, HIT % b"note"))
    needs = "indexer: --open needs an editor: set the variable EDITOR, for example EDITOR=vim\n"
    ran = here.indexer("search", "x", "--open")
    assert (ran.code, ran.err, opened) == (2, needs, [])
    (here.sandbox.vault / ".obsidian").mkdir()
    assert (here.indexer("search", "x", "--open").code, opened) == (0, ["obsidian://x"])
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    assert here.indexer("search", "x", "--open").err == needs
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    ran = here.indexer("search", "x", "--open")
    assert (ran.code, ran.err) == (3, f"indexer: /no/such/editor: {os.strerror(2)}\n")


@pytest.mark.parametrize(
    ("table", "here", "expected"),
    [
        ("[vaults]\nwork = 'Work'\n", "", True),
        ("[vaults]\nwork = 'Work'\n", "Work/Plans", True),
        ("[vaults]\nwork = 'Work'\n", "Other/Plans", False),  # a vault that the table lacks
        ("[vaults]\nother = 'Other'\n", "Work/Plans", False),
        ("[vaults]\nother = 'Other'\nwork = 'Work'\n", "Work", True),
        ("", "", False),
        ("", "Other/Plans", False),
    ],
)
def test_a_daemon_that_starts_in_a_vault_of_the_table_or_in_none_keeps_all(
    table: str, here: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for vault in ("Work", "Other"):
        (tmp_path / vault / "Plans").mkdir(parents=True)
        (tmp_path / vault / ".obsidian").mkdir()
    config = tmp_path / "config.toml"
    config.write_text(table, "utf-8")
    monkeypatch.chdir(tmp_path / here)
    assert keeps_all(VaultSelection(config=config), {}) is expected
    assert not keeps_all(VaultSelection(config=config, vault=tmp_path / "Work"), {}), "one is named"


@pytest.mark.posix("paths with slashes")
def test_where_their_daemon_listens_nowhere_the_vaults_are_opened_here(here: CommandHere) -> None:
    here.configure(f"[vaults]\na = '{here.sandbox.root}/a'\nb = '{here.sandbox.root}/b'\n")
    with answering_daemon() as ended:
        ended.announce(here.daemons)
    ran = here.run("ask", "x")
    assert (ran.code, ran.out) == (3, "")
    (line,) = ran.err.splitlines()
    assert line.startswith(
        f"indexer: the vault a is not searched: the folder of the vault a is missing: {here.sandbox.root}/a"
    )
    assert (
        f"; the vault b is not searched: the folder of the vault b is missing: {here.sandbox.root}/b" in line
    )


def test_what_is_about_one_vault_is_not_asked_of_several(tmp_path: Path) -> None:
    both = DirectDispatcher(None, [NamedVault(name, tmp_path / name) for name in "ab"])
    for ask in (partial(both.ask, STATUS), partial(both.rebuild, lambda _: None, RebuildOptions())):
        with pytest.raises(UsageError, match=r"^Which vault\? Add --vault a or --vault b\.$"):
            ask()


@pytest.fixture(scope="module")
def served_alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A vault of Obsidian with a daemon, whose index folder nobody has to name."""
    made = make(tmp_path_factory.mktemp("alone"))
    (made.vault / ".obsidian").mkdir()
    for command in (("rebuild",), ("start", "--wait", str(PROCESS_S))):
        ran = made.run(*command, "--vault", str(made.vault))
        assert ran.code == 0, ran.err
    yield made
    assert made.run("stop", "--vault", str(made.vault)).code == 0


@pytest.mark.long
def test_a_search_through_the_daemon_below_the_vault_or_of_the_default_one_loads_no_configuration(
    served_alone: Sandbox,
) -> None:
    file = user_config_file(served_alone.environ)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'vault = "{served_alone.vault}"\n', encoding="utf-8")
    # pydantic is not ours here: newer versions of typer convert their parameters with it.
    unneeded = ENGINES | FRAMEWORKS | {f"vault_indexer.{name}" for name in ("bootstrap", "config", "model")}
    for folder_of_search in (served_alone.root, served_alone.vault / "Kitchen"):
        ran = served_alone.run("search", "telescope", code=LOADED, cwd=folder_of_search)
        *found, last = ran.out.splitlines()
        code, modules = json.loads(last)
        assert (code, found[0].partition("  ")[0]) == (0, "Sky/Night sky.md"), ran.err
        assert (unneeded | {"yaml"}) & set(modules) == set()
    file.unlink()
