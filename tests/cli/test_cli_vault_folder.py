"""Which vault, note and file are meant, by option, variable, folder and configuration; who opens them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon, Reply, answering_daemon
from cli_sandbox import Sandbox, make
from command_here import CommandHere
from test_cli_imports import LOADED
from waiting import PROCESS_S

from vault_indexer.bootstrap import resolve_target
from vault_indexer.cli.connection.in_process import DirectDispatcher
from vault_indexer.cli.known_vaults import remember_vault
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import (
    asks_all,
    current_folder,
    default_vault,
    enclosing_vault,
    enclosing_vault_here,
    is_pinned,
    keeps_all,
    named_or_enclosing_vault,
    names_one,
    names_vaults,
    note_in_vault,
    only_vault,
    shown_path,
    vaults_in_config,
    vaults_meant,
    vaults_to_choose,
)
from vault_indexer.config import NamedVault
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.discovery import write_index_pointer
from vault_indexer.errors import UsageError
from vault_indexer.model import PauseState
from vault_indexer.serve.api.endpoints import RESUME, SEARCH, STATUS
from vault_indexer.system import user_config_file


def variables(here: CommandHere, **more: str) -> Mapping[str, str]:
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
        return named_or_enclosing_vault(selection, variables(here, **more))

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
    assert default_vault(selection, variables(here)) is None
    for text, expected in (
        ('vault = "~/n"', here.sandbox.root / "home" / "n"),
        ('vault = "n"', here.config.parent / "n"),
        ('vault = ""', None),
        ("vault = 5", None),
        ("vault = ", None),
    ):
        here.configure(text)
        assert default_vault(selection, variables(here)) == expected
        assert only_vault(selection, variables(here)) == expected
    other = here.sandbox.root / "other.toml"
    other.write_text('vault = "n"')
    assert default_vault(VaultSelection(config=other), variables(here)) == here.sandbox.root / "n"
    assert default_vault(selection, variables(here, INDEXER_CONFIG=str(other))) == here.sandbox.root / "n"


def test_a_table_is_read_as_far_as_it_makes_sense(here: CommandHere) -> None:
    here.configure('[vaults]\na = "x"\nb = { path = "~/y" }\nc = 5\nd = { index_dir = "z" }\ne = ""\n')
    found = vaults_in_config(VaultSelection(), variables(here))
    assert found == {"a": here.config.parent / "x", "b": here.sandbox.root / "home" / "y"}
    here.configure("vaults = 5")
    assert vaults_in_config(VaultSelection(), variables(here)) == {}


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


def test_a_vault_of_the_table_is_found_through_a_link_and_a_loop_of_links_is_no_error(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, loop = here.sandbox.root / "link", here.sandbox.root / "loop"
    link.symlink_to(here.sandbox.vault)
    loop.symlink_to(loop)
    monkeypatch.chdir(here.sandbox.vault / "Sky")
    assert enclosing_vault_here(VaultSelection(), variables(here)) is None
    here.configure(f'[vaults]\na = "{loop}"\nb = "{link}"\n')
    assert enclosing_vault_here(VaultSelection(), variables(here)) == here.sandbox.vault


def test_in_a_folder_that_was_removed_nothing_is_enclosing(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = here.sandbox.vault / "Gone"
    gone.mkdir()
    (here.sandbox.vault / ".obsidian").mkdir()
    monkeypatch.chdir(gone)
    assert enclosing_vault_here(VaultSelection(), variables(here)) == here.sandbox.vault
    gone.rmdir()
    assert current_folder() is None
    assert enclosing_vault_here(VaultSelection(), variables(here)) is None
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
        *((outside, "") for outside in ("/etc/hostname", "../../x.md", "{vault}", "~/x.md")),
    ],
)
def test_a_note_as_a_person_names_it(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch, note: str, path: str
) -> None:
    vault, link = here.sandbox.vault, here.sandbox.root / "link"
    (here.sandbox.root / "home").mkdir()
    link.symlink_to(vault)
    monkeypatch.chdir(vault / "Kitchen")
    named = note.format(vault=vault, link=link)
    if path:
        assert note_in_vault(named, vault) == path.format(vault=vault)
        return
    with pytest.raises(UsageError, match=re.escape(f"{named} is outside the vault {vault}")):
        note_in_vault(named, vault)


def test_from_outside_a_path_names_a_note_only_where_there_is_the_file(here: CommandHere) -> None:
    vault = here.sandbox.vault
    assert note_in_vault("./vault/Welcome.md", vault) == "Welcome.md"
    assert note_in_vault("./Welcome.md", vault) == "./Welcome.md"
    assert note_in_vault("vault/Welcome.md", vault) == "Welcome.md"
    here.sandbox.write("vault/Welcome.md", "# Another")
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
    [(b"attachment", "vi -R", ["-R"]), (b"note", "code", ["--goto"])],
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


def table(here: CommandHere, *names: str) -> None:
    here.configure("[vaults]\n" + "".join(f'{name} = "{here.sandbox.root / name}"\n' for name in names))


HITS = (
    b'{"query": "x", "verdict": "strong", "missing_words": [], "notices": [], "results": [{"vault": "b", '
    b'"path": "A.md", "kind": "base", "line": 1, "snippet": "", "marks": [], "stale": false, "why": '
    b'{"keyword": null, "vector": null, "graph": null, "title": 0, "recency": 1, "filters": []}}]}'
)


def test_a_search_of_several_vaults_is_answered_by_their_daemon(
    here: CommandHere, daemon: AnsweringDaemon
) -> None:
    table(here, "a", "b")
    daemon.announce(here.daemons)
    daemon.reply(SEARCH, Reply(200, HITS))
    for arguments in (("search", "x"), ("search", "x", "--all-vaults", "--vault", "a")):
        ran = here.run(*arguments)
        assert (ran.code, ran.out, ran.err) == (0, "b: A.md  name\n", "")
    assert here.run("search", "x", "--paths").out == "b/A.md:1\n"
    one = here.run("search", "x", "--vault", "a")
    assert (one.code, one.complains("no such vault")) == (3, True)
    assert len(daemon.requests) == 3
    table(here, "a")
    assert here.run("search", "x").code == 3, "one alone is meant itself"


def test_where_their_daemon_listens_nowhere_the_vaults_are_opened_here(here: CommandHere) -> None:
    table(here, "a", "b")
    with answering_daemon() as ended:
        ended.announce(here.daemons)
    ran = here.run("ask", "x")
    assert (ran.code, ran.out) == (3, "")
    (line,) = ran.err.splitlines()
    assert line.startswith(f"indexer: a is not searched: no such vault: {here.sandbox.root}/a")
    assert f"; b is not searched: no such vault: {here.sandbox.root}/b" in line


def test_what_is_about_one_vault_is_not_asked_of_several(tmp_path: Path) -> None:
    both = DirectDispatcher(None, [NamedVault(name, tmp_path / name) for name in "ab"])
    for ask in (partial(both.ask, STATUS), partial(both.rebuild, lambda _: None, RebuildOptions())):
        with pytest.raises(UsageError, match=r"^Which vault\? Add --vault a or --vault b\.$"):
            ask()


def test_without_a_table_the_known_vaults_are_the_choices_of_a_command(here: CommandHere) -> None:
    assert here.run("search", "x", "--all-vaults").complains("There are no vaults.")
    for part in "ab":
        folder = here.sandbox.root / part / "Notes"
        folder.mkdir(parents=True)
        (folder.parent / "CURRENT").touch()
        remember_vault(folder, folder.parent)
    ran = here.run("search", "x")
    assert (ran.code, ran.complains("Add --vault notes or --vault notes-2.")) == (2, True)


NAMED = VaultSelection(Path("work")), VaultSelection(index_dir=Path("i"))


@pytest.mark.parametrize(
    ("names", "key", "inside", "environ", "asks", "meant", "choices"),
    [
        ("", "", False, {}, False, "", ""),
        ("a", "", False, {}, False, "", "a"),
        ("a b", "", False, {}, True, "a b", "a b"),
        ("a b", "", True, {}, False, "", "a b"),
        ("a b", "c", False, {}, False, "", "c"),
        ("a b", "", False, {"INDEXER_VAULT": "a"}, False, "", "a b"),
        ("a b", "", False, {"INDEXER_INDEX_DIR": "a"}, False, "", "a b"),
        ("a b", "", False, {"INDEXER_CONFIG": "none.toml"}, False, "", ""),
    ],
)
def test_a_question_means_all_vaults_where_it_means_none_of_them(
    here: CommandHere,
    monkeypatch: pytest.MonkeyPatch,
    names: str,
    key: str,
    inside: bool,
    environ: dict[str, str],
    asks: bool,
    meant: str,
    choices: str,
) -> None:
    lines = [f'vault = "{here.sandbox.root / key}"'] if key else []
    lines += ["[vaults]", *(f'{name} = "{here.sandbox.root / name}"' for name in names.split())]
    here.configure("\n".join(lines))
    (here.sandbox.root / "other" / ".obsidian").mkdir(parents=True)
    if inside:
        monkeypatch.chdir(here.sandbox.root / "other")
    full = {**here.sandbox.environ, **environ}
    selection = VaultSelection()
    assert asks_all(selection, full) == asks
    assert " ".join(vaults_meant(selection, full)) == meant
    assert " ".join(vaults_to_choose(selection, full)) == choices
    assert names_vaults(selection, full) == bool(choices)
    only = only_vault(selection, full)
    assert (only is not None) == (len(choices.split()) == 1)
    for one in NAMED:
        assert (names_one(one, full), asks_all(one, full), vaults_meant(one, full)) == (True, False, {})
    assert names_one(selection, full) == bool(environ.keys() & {"INDEXER_VAULT", "INDEXER_INDEX_DIR"})


@pytest.mark.parametrize(
    ("selection", "environ", "pinned"),
    [
        (VaultSelection(), {}, False),
        (VaultSelection(Path("a")), {"INDEXER_VAULT": "a"}, False),
        (VaultSelection(index_dir=Path("a")), {}, True),
        (VaultSelection(config=Path("a")), {}, True),
        (VaultSelection(), {"INDEXER_INDEX_DIR": "a"}, True),
        (VaultSelection(), {"INDEXER_CONFIG": "a"}, True),
        (VaultSelection(), {"INDEXER_CONFIG": "", "INDEXER_INDEX_DIR": ""}, False),
    ],
)
def test_an_index_or_configuration_is_named_for_one_command_alone(
    selection: VaultSelection, environ: dict[str, str], pinned: bool
) -> None:
    assert is_pinned(selection, environ) == pinned


def test_of_several_vaults_one_is_named(here: CommandHere) -> None:
    here.configure('[vaults]\na = "x"\nb = "y"\n')
    environ = here.sandbox.environ
    with pytest.raises(UsageError, match=r"^Which vault\? Add --vault a or --vault b\."):
        resolve_target(None, None, None, environ=environ, options={})
    here.configure(f'[vaults]\na = {{ path = "{here.sandbox.vault}", index_dir = "i" }}\n')
    target = resolve_target(None, None, None, environ=environ, options={})
    assert (target.vault, target.index_dir) == (here.sandbox.vault, here.config.parent / "i")
    with_option = resolve_target(None, Path("/tmp/other"), None, environ=environ, options={})
    assert with_option.index_dir == Path("/tmp/other")


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


def configure(sandbox: Sandbox, text: str) -> Path:
    file = user_config_file(sandbox.environ)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.long
def test_a_search_through_the_daemon_below_the_vault_or_of_the_default_one_loads_no_configuration(
    served_alone: Sandbox,
) -> None:
    file = configure(served_alone, f'vault = "{served_alone.vault}"\n')
    for folder_of_search in (served_alone.root, served_alone.vault / "Kitchen"):
        ran = served_alone.run("search", "telescope", code=LOADED, cwd=folder_of_search)
        *found, last = ran.out.splitlines()
        code, modules = json.loads(last)
        assert (code, found[0].partition("  ")[0]) == (0, "Sky/Night sky.md"), ran.err
        assert {"numpy", "yaml", "vault_indexer.bootstrap", "vault_indexer.config"} & set(modules) == set()
    file.unlink()


@pytest.mark.long
def test_a_default_vault_that_is_not_there_is_named_with_its_file(sandbox: Sandbox) -> None:
    file = configure(sandbox, 'vault = "/no/such/notes"\n')
    ran = sandbox.run("search", "x")
    assert ran.code == 3
    assert ran.complains("no such vault: /no/such/notes", f"named by file {file}")
