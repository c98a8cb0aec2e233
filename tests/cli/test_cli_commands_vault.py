"""`vault add`, `list`, `remove` and `init`: what they write, and what they say of a daemon."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from answering_daemon import TOKEN, AnsweringDaemon, answering_daemon
from cli_sandbox import index_at
from command_here import CommandHere
from golden_cases import check_golden, of_parts
from golden_commands import GOLDENS
from sessions import compare_session, sessions

from vault_indexer.cli.known_vaults import forget_vault, recorded_vaults, remember_vault
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import note_in_vault, vault_of_note
from vault_indexer.daemon.discovery import DaemonInfo, write_daemon
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.model import IndexCounts, StatusReport, VaultList, VaultSummary
from vault_indexer.serve.api.endpoints import STATUS, VAULTS

VAULTS_MD = Path(__file__).parent / "fixtures" / "sessions" / "vaults.md"
NO_VAULTS = 'There are no vaults. Run "indexer init ~/Notes" once.'
WORK = VaultSummary("work", "/work", "ready", 2, 0, "")


def configure_work(here: CommandHere) -> Path:
    """The table has the sandbox's vault as `work`; its index."""
    index = index_at(here.sandbox.root / "work-index")
    here.configure(f'[vaults]\nwork = {{ path = "{here.sandbox.vault}", index_dir = "{index}" }}\n')
    return index


@pytest.mark.posix("paths with slashes")
@pytest.mark.parametrize("heading", sessions(VAULTS_MD))
def test_vaults_are_added_listed_and_removed(
    here: CommandHere, heading: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering_daemon() as daemon:
        compare_session(VAULTS_MD, heading, here, daemon, monkeypatch)


@pytest.mark.posix("paths with slashes")
def test_an_index_that_another_process_uses_is_kept(here: CommandHere) -> None:
    index = configure_work(here)
    with IndexLock(index, "a test"):
        ran = here.run("vault", "remove", "work", "--delete-index")
    assert (ran.code, "a test" in ran.err, (index / "CURRENT").exists()) == (3, True, True)


@pytest.mark.posix("paths with slashes")
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


@pytest.mark.posix("paths with slashes")
def test_a_state_folder_that_cannot_be_read_has_no_records(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", f"/{'x' * 300}")
    assert recorded_vaults() == []
    remember_vault(here.sandbox.vault, index_at(here.sandbox.index_dir))
    forget_vault(here.sandbox.vault)
    assert here.run("vault", "list").err == f"{NO_VAULTS}\n"


@pytest.mark.posix("paths with slashes")
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


@pytest.mark.posix("paths with slashes")
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


@pytest.mark.posix("paths with slashes")
def test_of_several_vaults_a_command_means_the_one_with_the_note(
    here: CommandHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = here.sandbox.root
    for path in ("first/Bread.md", "first/Both.md", "second/Both.md", "second/sub/Rye.md", "other/x"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    here.configure(f'vaults = {{ a = "{root}/first", b = "{root}/second" }}\n')

    def found(folder: str, written: str) -> str:
        monkeypatch.chdir(root / folder)
        note = written.replace("/box", str(root))
        vault = vault_of_note(note, VaultSelection(None, None, None), os.environ).vault
        if vault is None:
            return "none"
        named = note_in_vault(note, vault)
        assert (vault / f"{named.removesuffix('.md')}.md").is_file()
        return f"{vault}: {named}".replace(str(root), "/box")

    check_golden(GOLDENS / "notes.md", {"": of_parts(found)})


@pytest.fixture
def homeless(here: CommandHere, monkeypatch: pytest.MonkeyPatch) -> CommandHere:
    """The command of a user without a home folder and a name."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME", "USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", _no_entry)
    monkeypatch.setenv("INDEXER_EMBEDDING_PROVIDER", "wordllama")
    return here


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the folders of users elsewhere")
def test_without_a_home_a_command_works_or_says_so_in_one_line(homeless: CommandHere) -> None:
    root = homeless.sandbox.root
    (root / "file").touch()

    def said(home: str, command: str) -> str:
        with pytest.MonkeyPatch.context() as patch:
            if home:
                patch.setenv("HOME", str(root / home))
            ran = homeless.run(*command.split())
        return f"{ran.code} {ran.err.removesuffix(chr(10))}".replace(str(root), "/box")

    check_golden(GOLDENS / "homes.md", {"": of_parts(said)})


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the folders of users elsewhere")
def test_without_a_home_a_named_vault_is_searched(homeless: CommandHere) -> None:
    assert homeless.indexer("search", "bread").code == 0


def _no_entry(uid: int) -> NoReturn:
    raise KeyError(f"getpwuid(): uid not found: {uid}")
