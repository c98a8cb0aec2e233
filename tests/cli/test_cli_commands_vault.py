"""`vault add`, `list`, `remove` and `init`: what they write, and what they say of a daemon."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from answering_daemon import TOKEN, AnsweringDaemon
from command_here import CommandHere, TerminalText

from vault_indexer.cli.known_vaults import forget_vault, known_vaults, recorded_vaults, remember_vault
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import note_in_vault, vault_of_note
from vault_indexer.daemon.discovery import DaemonInfo, write_daemon
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.model import (
    IndexCounts,
    StatusReport,
    VaultList,
    VaultSummary,
)
from vault_indexer.serve.api.endpoints import STATUS, VAULTS

NO_VAULTS = 'There are no vaults. Run "indexer init ~/Notes" once.'
WORK = VaultSummary("work", "/work", "ready", 2, 0, "")


def index_at(folder: Path) -> Path:
    """A folder that looks like a complete index."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / "CURRENT").write_text("0001\n")
    return folder


def configure_work(here: CommandHere) -> Path:
    """The table has the sandbox's vault as `work`; its index."""
    index = index_at(here.sandbox.root / "work-index")
    here.configure(f'[vaults]\nwork = {{ path = "{here.sandbox.vault}", index_dir = "{index}" }}\n')
    return index


def test_a_vault_is_added_and_the_running_daemon_named(here: CommandHere, daemon: AnsweringDaemon) -> None:
    first = here.run("vault", "add", "work", "vault", "--index-dir", "own")
    assert (first.code, first.out) == (0, "")
    assert first.err == f"Added work ({here.sandbox.vault}) to {here.config}.\n"
    assert f'index_dir = "{here.sandbox.root}/own"' in here.config.read_text()
    daemon.announce(here.daemons)
    (here.sandbox.root / "second").mkdir()
    second = here.run("vault", "add", "more", "second")
    assert second.err.splitlines()[1:] == ["The running daemon indexes it now (indexer status)."]
    missing = here.run("vault", "add", "none", "nowhere")
    assert (missing.code, missing.complains("no such vault: nowhere")) == (3, True)
    assert "none" not in here.config.read_text()


def test_a_vault_is_removed_and_its_index_stays(here: CommandHere, daemon: AnsweringDaemon) -> None:
    index = configure_work(here)
    daemon.announce(here.daemons)
    ran = here.run("vault", "remove", "work")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.splitlines() == [
        f"Removed work from {here.config}. Its notes stay.",
        "The running daemon closes it now.",
        f"Its index stays in {index} (--delete-index deletes it).",
    ]
    assert "work" not in here.config.read_text()
    assert [(one.folder, one.is_removed) for one in recorded_vaults()] == [(here.sandbox.vault, True)]
    assert known_vaults() == {}


def test_a_vault_without_an_index_is_removed(here: CommandHere) -> None:
    index = configure_work(here)
    (index / "CURRENT").unlink()
    assert here.run("vault", "remove", "work").err == f"Removed work from {here.config}. Its notes stay.\n"
    configure_work(here)
    (index / "CURRENT").unlink()
    ran = here.run("vault", "remove", "work", "--delete-index")
    assert (ran.code, ran.err) == (0, f"Removed work from {here.config}. Its notes stay.\n")
    assert index.is_dir()


@pytest.mark.parametrize(("other", "rest"), [(False, ""), (True, "; other files stay in {index}")])
def test_an_index_is_deleted_and_nothing_beside_it(here: CommandHere, other: bool, rest: str) -> None:
    index = configure_work(here)
    remember_vault(here.sandbox.vault, index)
    if other:
        (index / "mine.txt").touch()
    ran = here.run("vault", "remove", "work", "--delete-index")
    assert ran.code == 0
    assert ran.err.splitlines()[1:] == [f"Deleted the index{rest.format(index=index)}."]
    assert (index.exists(), list(here.sandbox.vault.iterdir()) != []) == (other, True)
    index_at(index)
    assert recorded_vaults() == [], "it is forgotten"


def test_an_index_that_another_process_uses_is_kept(here: CommandHere) -> None:
    index = configure_work(here)
    with IndexLock(index, "a test"):
        ran = here.run("vault", "remove", "work", "--delete-index")
    assert (ran.code, "a test" in ran.err, (index / "CURRENT").exists()) == (3, True, True)


def test_an_index_with_a_daemon_of_its_own_is_kept(here: CommandHere, daemon: AnsweringDaemon) -> None:
    index = configure_work(here)
    daemon.announce(index, here.sandbox.vault)
    ran = here.run("vault", "remove", "work", "--delete-index")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "indexer: Its daemon is running. Stop it first: indexer stop --vault work\n"
    assert "work" in here.config.read_text()
    daemon.announce(here.daemons)
    write_daemon(here.daemons, DaemonInfo(os.getppid(), daemon.url, TOKEN, "", ""))
    assert here.run("vault", "remove", "work", "--delete-index").code == 2, "it is of another process"
    daemon.announce(here.daemons)
    assert here.run("vault", "remove", "work", "--delete-index").code == 0, "it follows the table"


@pytest.mark.parametrize("name", ["notes-2", "{root}/b/Notes", "{root}/index"])
def test_an_index_is_named_by_its_vault_or_its_folder(here: CommandHere, name: str) -> None:
    index = index_at(here.sandbox.root / "index")
    for vault, own in (("a/Notes", index_at(here.sandbox.root / "first")), ("b/Notes", index)):
        (here.sandbox.root / vault).mkdir(parents=True)
        remember_vault(here.sandbox.root / vault, own)
    ran = here.run("vault", "remove", name.format(root=here.sandbox.root), "--delete-index")
    assert (ran.code, ran.err, index.exists()) == (0, "Deleted the index.\n", False)
    assert (here.sandbox.root / "first" / "CURRENT").exists()


def test_a_name_that_no_vault_has_is_answered_with_those_there_are(here: CommandHere) -> None:
    nothing = here.run("vault", "remove", "x")
    assert (nothing.code, nothing.err) == (2, f"indexer: No vault is called x. {NO_VAULTS}\n")
    configure_work(here)
    notes = here.sandbox.root / "Notes"
    notes.mkdir()
    remember_vault(notes, index_at(here.sandbox.root / "index"))
    ran = here.run("vault", "remove", "x")
    assert (ran.code, ran.err) == (2, "indexer: No vault is called x. Your vaults: notes, work.\n")


def test_vaults_are_listed_with_their_states(here: CommandHere, daemon: AnsweringDaemon) -> None:
    configure_work(here)
    second, third = here.sandbox.root / "work", here.sandbox.root / "third"
    for folder in (second, third):
        folder.mkdir()
        remember_vault(folder, index_at(folder / "index"))
    remember_vault(here.sandbox.vault, index_at(here.sandbox.root / "first"))
    third.joinpath("index", "CURRENT").rename(here.sandbox.root / "CURRENT")
    daemon.announce(here.daemons)
    daemon.answer(
        VAULTS,
        VaultList((WORK, VaultSummary("z", "/z", "degraded", 1, 1, "no room")), "It cannot be read."),
    )
    ran = here.run("vault", "list")
    assert (ran.code, ran.err) == (0, "It cannot be read.\n")
    assert ran.out.splitlines() == [
        "work    /work  ready  2 notes",
        f"work-2  {second}  not running",
        "z       /z  not kept up to date  1 note, 1 change pending  no room",
    ]
    shown = here.terminal("vault", "list", columns=200).out
    assert "\x1b[32m  ready" in shown
    assert "\x1b[33m  not kept up to date" in shown
    told = here.run("vault", "list", "--json").data
    assert told["problem"] == "It cannot be read."
    assert len(told["vaults"]) == 3  # type: ignore[arg-type]


def test_a_vault_whose_folder_is_gone_is_listed(here: CommandHere) -> None:
    here.configure('[vaults]\na = "/no/such/notes"\n')
    ran = here.run("vault", "list")
    assert ran.out.startswith("a  /no/such/notes  unavailable  no such vault: /no/such/notes")
    assert here.run("vault", "list", "--json").data["vaults"][0]["state"] == "unavailable"  # type: ignore[index]


def test_a_state_folder_that_cannot_be_read_has_no_records(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", f"/{'x' * 300}")
    assert recorded_vaults() == []
    remember_vault(here.sandbox.vault, index_at(here.sandbox.index_dir))
    forget_vault(here.sandbox.vault)
    assert here.run("vault", "list").err == f"{NO_VAULTS}\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"notes": 1}, "Indexed 1 note."),
        ({"state": "unusable", "problem": "no room"}, "It is not indexed: no room"),
        ({"state": "locked", "problem": "in use"}, "It is not indexed: in use"),
        ({"state": "unavailable", "problem": "gone"}, "It is not indexed: gone"),
    ],
)
def test_a_running_daemon_indexes_a_new_vault(
    here: CommandHere, daemon: AnsweringDaemon, change: dict[str, object], said: str
) -> None:
    daemon.announce(here.daemons)
    path = str(here.sandbox.vault)
    new = replace(WORK, path=path)
    found = replace(new, pending=1), replace(new, **change)  # type: ignore[arg-type]
    daemon.answer(VAULTS, VaultList((WORK,), ""), *(VaultList((WORK, one), "") for one in found))
    daemon.answer(STATUS, StatusReport("/v", "/i", "ready", 1, 1, 0, IndexCounts(1, 5, 4, 0)))
    ran = here.run("init", "vault", "--name", "mine")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.splitlines()[:4] == [
        f"Added mine ({path}) to {here.config}.",
        "The running daemon indexes it now.",
        said,
        "Next:",
    ]
    assert sum(asked.path == VAULTS.path for asked in daemon.requests) == 3


@pytest.mark.parametrize(
    ("owed", "detail", "said"),
    [
        (
            [40, 40, 30, 10, 0],
            "",
            ["You can search by word and link now, and by meaning in about", "Indexed 9 notes.", "Next:"],
        ),
        ([1, 0], "", ["Indexed 9 notes.", "Next:"]),
        (
            [40],
            "no model",
            ["Searches use words and links; vectors are missing for 40 chunks of 50", "Next:"],
        ),
    ],
)
def test_init_beside_a_daemon_waits_until_meaning_is_searched(
    here: CommandHere, daemon: AnsweringDaemon, owed: list[int], detail: str, said: list[str]
) -> None:
    daemon.announce(here.daemons)
    kept = replace(WORK, path=str(here.sandbox.vault), notes=9)
    daemon.answer(VAULTS, VaultList((kept,), ""))
    report = StatusReport("/v", "/i", "ready", 1, 1, 0, IndexCounts(9, 50, 4, 0), detail=detail)
    daemon.answer(STATUS, *(replace(report, vectors_owed=left) for left in owed))
    ran = here.run("init", "vault")
    lines = ran.err.splitlines()[2:]
    assert [line.startswith(begin) for line, begin in zip(lines, said, strict=False)] == [True] * len(said)
    assert {asked.path for asked in daemon.requests} == {VAULTS.path, "/vault/work/v1/status"}


def test_a_daemon_that_fails_does_not_keep_a_vault_from_being_added(
    here: CommandHere, daemon: AnsweringDaemon
) -> None:
    daemon.announce(here.daemons)
    daemon.fail(VAULTS, "internal", "it fails")
    ran = here.run("init", "vault")
    assert (ran.code, ran.err.splitlines()[2]) == (0, "it fails (indexer status)")
    again = here.run("init", "vault")
    assert again.err.splitlines()[0] == "The running daemon indexes it now.", "it is in the table"


def test_an_index_for_one_command_alone_is_not_added(here: CommandHere, daemon: AnsweringDaemon) -> None:
    counts = IndexCounts(3, 5, 4, 0)
    daemon.answer(STATUS, StatusReport("/v", "/i", "ready", 1, 1, 0, counts))
    found = here.run("init", "vault", "--index-dir", str(here.sandbox.index_dir))
    assert found.err.startswith("Already indexed: 3 notes.\n")
    named = here.run("init", "vault", "--name", "mine", "--index-dir", str(here.sandbox.index_dir))
    assert (named.code, named.complains("--name has no effect")) == (2, True)
    assert not here.config.exists()


@pytest.mark.parametrize(
    ("words", "listed", "code"),
    [
        (("search", "bread", "--vault", "vault"), False, 3),
        (("related", "Bread", "--vault", "./vault"), False, 3),
        (("status", "--vault", "vault"), False, 3),
        pytest.param(
            ("search", "bread", "--vault", "vault", "--index-dir", "i"), False, 0, marks=pytest.mark.long
        ),
        pytest.param(("search", "bread", "--vault", "work"), True, 0, marks=pytest.mark.long),
    ],
)
def test_a_question_builds_no_index_of_a_folder_that_was_only_named(
    here: CommandHere, words: tuple[str, ...], listed: bool, code: int
) -> None:
    if listed:
        here.configure(f'vaults = {{ work = "{here.sandbox.vault}" }}\n')
    ran = here.run(*words)
    assert ran.code == code, ran.err
    if code:
        wanted = f"indexer: {here.sandbox.vault} was never indexed: run `indexer init {here.sandbox.vault}`\n"
        assert ran.err == wanted
        assert not list((here.sandbox.root / "state").rglob("*.db"))


def test_a_vault_of_the_table_keeps_its_name(here: CommandHere) -> None:
    configure_work(here)
    before = here.config.read_text()
    ran = here.run("init", "vault", "--name", "play")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert ran.complains("is already in your table [vaults], as work")
    assert here.config.read_text() == before


@pytest.mark.parametrize(
    "command",
    [("init", "home"), ("init", "/"), ("vault", "add", "all", "home"), ("rebuild", "--vault", "home")],
)
def test_a_folder_that_is_hardly_meant_is_asked_about(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    home = here.sandbox.root / "home"
    home.mkdir()
    refused = here.run(*command)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert refused.complains("add --yes to init, start or rebuild to index it anyway")
    assert not here.config.exists()
    assert known_vaults() == {}
    for answer, code in (("n\n", 2), ("y\n", 0)):
        if command[-1] == "/":
            return
        monkeypatch.setattr(sys, "stdin", TerminalText(answer))
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        asked = here.run(*command)
        assert "is your home folder. Index it anyway? [y/N]" in asked.err
        assert asked.code == code, asked.err
    assert here.run(*command, "--yes").code == (2 if command[0] == "vault" else 0)


@pytest.mark.parametrize("command", ["start", "serve", "open", "search word", "related Note"])
def test_no_command_makes_a_first_index_of_the_home_folder_without_asking(
    here: CommandHere, command: str
) -> None:
    home, index = here.sandbox.root / "home", here.sandbox.root / "index"
    home.mkdir()
    refused = here.run(*command.split(), "--vault", str(home), "--index-dir", str(index))
    assert (refused.code, refused.err.count("\n")) == (2, 1), refused.err
    assert refused.complains("is your home folder: add --yes to init, start or rebuild")
    assert not index.exists()


@pytest.mark.parametrize(
    ("folder", "note", "vault"),
    [
        (".", "Bread.md", "first"),
        (".", "Bread", "first"),
        (".", "sub/Rye.md", "second"),
        (".", "second/sub/Rye", "second"),
        (".", "./second/Both.md", "second"),
        (".", "{root}/first/Both.md", "first"),
        ("other", "../first/Bread.md", "first"),
        (".", "Both.md", None),
        (".", "Nowhere", None),
        (".", "", None),
        ("second/sub", "Bread.md", None),
    ],
)
def test_of_several_vaults_a_command_means_the_one_with_the_note(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch, folder: str, note: str, vault: str | None
) -> None:
    root = here.sandbox.root
    for path in ("first/Bread.md", "first/Both.md", "second/Both.md", "second/sub/Rye.md", "other/x"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    here.configure(f'vaults = {{ a = "{root}/first", b = "{root}/second" }}\n')
    monkeypatch.chdir(root / folder)
    selection = VaultSelection(None, None, None)
    found = vault_of_note(note.format(root=root), selection, os.environ)
    assert found.vault == (root / vault if vault else None)
    if vault:
        named = note_in_vault(note.format(root=root), root / vault)
        assert (root / vault / f"{named.removesuffix('.md')}.md").is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the folders of users elsewhere")
@pytest.mark.parametrize(
    ("home", "command", "code", "said"),
    [
        ("file", "init vault", 3, "Not a directory: {root}/file/.config/vault-indexer; set HOME to"),
        ("file", "vault add work vault", 3, "Not a directory"),
        ("file", "vault list", 0, "There are no vaults."),
        (None, "init vault", 3, "Not a directory: /dev/null/vault-indexer; set HOME to"),
        (None, "status", 2, "No vault here."),
        (None, "status --vault vault", 3, "was never indexed"),
        (None, "service status", 3, "a service needs a user name and a home folder"),
        pytest.param(None, "search bread --vault vault --index-dir index", 0, "", marks=pytest.mark.long),
    ],
)
def test_without_a_home_a_command_works_or_says_so_in_one_line(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch, home: str | None, command: str, code: int, said: str
) -> None:
    root = here.sandbox.root
    (root / "file").touch()
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME", "USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INDEXER_EMBEDDING_PROVIDER", "wordllama")
    if home:
        monkeypatch.setenv("HOME", str(root / home))
    else:
        monkeypatch.setattr("pwd.getpwuid", _no_entry)
    ran = here.run(*command.split())
    assert (ran.code, said.format(root=root) in ran.err) == (code, True), ran.err
    assert not code or ran.err.count("\n") == 1


def _no_entry(uid: int) -> NoReturn:
    raise KeyError(f"getpwuid(): uid not found: {uid}")
