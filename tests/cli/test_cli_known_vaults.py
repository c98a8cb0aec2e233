"""Every folder that was indexed is known: no command after the first has to name it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from answering_daemon import answering_daemon
from cli_sandbox import Sandbox, index_at, make
from waiting import PROCESS_S

from vault_indexer.cli.known_vaults import (
    delete_index,
    forget_vault,
    free_name,
    known_vaults,
    left_over_indices,
    recorded_vaults,
    remember_vault,
)
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.errors import IndexUnusableError, LockedError


def index_of(folder: Path) -> Path:
    """With a generation and a folder that other processes use."""
    (folder / "generations" / "0001").mkdir(parents=True)
    (folder / "llm-calls").mkdir()
    (folder / "llm-calls" / "0.lock").touch()
    return index_at(folder)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of this test alone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.mark.long
def test_status_and_stop_are_about_all_vaults_and_never_about_another(sandbox: Sandbox) -> None:
    other = make(sandbox.root / "other")
    assert sandbox.run("init", "vault").code == 0
    assert sandbox.run("init", str(other.vault), "--name", "second").code == 0
    assert [line.split()[0] for line in sandbox.run("status").out.splitlines()] == ["second", "vault", "not"]
    assert sandbox.run("start", "--wait", str(PROCESS_S)).code == 0
    assert sandbox.run("stop", "--vault", "second").code == 2
    assert sandbox.run("status").out.splitlines()[-1].startswith("running      http://127.0.0.1:")
    removed = sandbox.run("vault", "remove", "second", "--delete-index")
    assert (removed.code, removed.err.splitlines()[-1]) == (0, "Deleted the index.")
    assert len(list((sandbox.root / "state" / "vault-indexer").glob("vault-*"))) == 1
    assert sandbox.run("stop").err.startswith("Stopped the daemon of vault (process ")
    assert sandbox.run("stop").err == "No daemon is running.\n"


def test_the_vaults_are_listed_while_their_daemon_is_ending(copied: Sandbox) -> None:
    assert copied.run("vault", "add", "work", "vault").code == 0
    with answering_daemon() as ended:
        ended.announce(copied.root / "state" / "vault-indexer" / "daemons" / "all")
    listed = copied.run("vault", "list")
    assert listed.code == 0, listed.err
    assert listed.out.startswith("work ")


@pytest.mark.posix("XDG_STATE_HOME")
def test_an_index_is_left_over_once_its_vault_is_gone(state: Path) -> None:
    vault, index = state / "Notes", index_of(state / "index")
    vault.mkdir()
    remember_vault(vault, index)
    assert (list(known_vaults()), left_over_indices()) == (["notes"], [])
    vault.rmdir()
    assert known_vaults() == {}
    assert [known.vault for known in left_over_indices()] == [str(vault)]
    assert delete_index(index)
    assert recorded_vaults() == []


def test_only_an_index_that_nobody_uses_is_deleted_and_nothing_else(state: Path) -> None:
    index = index_of(state / "index")
    (state / "link").symlink_to(index)
    (state / "file").touch()
    (state / "documents").mkdir()
    for folder in ("link", "file", "gone", "documents"):
        with pytest.raises(IndexUnusableError, match=f"{folder} is not an index folder: nothing was deleted"):
            delete_index(state / folder)
    assert (index / "generations" / "0001").is_dir()
    (index / "evals").mkdir()
    (index / "evals" / "grades.jsonl").write_text("{}\n")
    with IndexLock(index, "a test"), pytest.raises(LockedError):
        delete_index(index)
    assert not delete_index(index), "grades are never deleted"
    assert [path.name for path in index.iterdir()] == ["evals"]


@pytest.fixture
def record(state: Path) -> Path:
    """The record of a vault `Notes` and its index."""
    (state / "Notes").mkdir()
    remember_vault(state / "Notes", index_of(state / "index"))
    (found,) = (state / "state" / "vault-indexer" / "vaults").iterdir()
    return found


@pytest.mark.posix("XDG_STATE_HOME")
def test_a_record_that_another_user_could_write_is_not_believed(record: Path) -> None:
    record.chmod(0o666)
    assert known_vaults() == {}


@pytest.mark.posix("XDG_STATE_HOME")
def test_records_are_those_of_indices_that_are_there_and_by_folder(state: Path) -> None:
    for name in ("b", "a", "c"):
        (state / name / "Notes").mkdir(parents=True)
        remember_vault(state / name / "Notes", index_of(state / f"index {name}"))
    remember_vault(state / "d", state / "no index")
    (state / "index c" / "CURRENT").unlink()
    assert [known.vault for known in recorded_vaults()] == [str(state / name / "Notes") for name in "ab"]
    assert known_vaults() == {"notes": state / "a" / "Notes", "notes-2": state / "b" / "Notes"}
    remember_vault(state / "a" / "Notes", state / "index a", is_removed=True)
    assert known_vaults() == {"notes": state / "b" / "Notes"}
    assert [one.vault for one in left_over_indices()] == [str(state / "a" / "Notes")]
    forget_vault(state / "a" / "Notes")
    forget_vault(state / "a" / "Notes")
    assert [known.vault for known in recorded_vaults()] == [str(state / "b" / "Notes")]
    folder = state / "state" / "vault-indexer" / "vaults"
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.posix("XDG_STATE_HOME")
def test_a_record_is_written_again_only_where_it_changes(state: Path, record: Path) -> None:
    vault, index = state / "Notes", state / "index"
    before = record.stat()
    remember_vault(vault, index)
    assert (record.stat().st_ino, record.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    remember_vault(vault, index, is_removed=True)
    told = {"vault": str(vault), "index_dir": str(index), "is_removed": True}
    assert json.loads(record.read_text()) == told


@pytest.mark.posix("XDG_STATE_HOME")
@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "[" * 5000, '{"vault": "/a", "index_dir": "INDEX"}'),
        '{"vault": "a", "index_dir": "INDEX", "is_removed": false}',
        '{"vault": "/a", "index_dir": "index", "is_removed": false}',
    ],
)
def test_a_damaged_record_is_none(
    state: Path, record: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(state)
    record.write_text(text.replace("INDEX", str(state / "index")))
    assert recorded_vaults() == []


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert [free_name("a", taken.split()) for taken in ("", "b", "a", "a a-2 a-4", "a a-2 a-3")] == [
        *("a", "a", "a-2", "a-3", "a-4")
    ]
    assert free_name("x" * 40, ["x" * 40]) == f"{'x' * 37}-2"


def test_of_an_index_all_is_deleted_that_the_program_wrote(state: Path) -> None:
    index, outside = index_of(state / "index"), state / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    (index / "llm-cache").symlink_to(outside)
    for name in ("start-hint", "daemon.json", "daemon.log.1", "start.json", "open.html", "address.json"):
        (index / name).touch()
    assert delete_index(index)
    assert not index.exists()
    assert (outside / "kept").exists(), "a link is removed, not followed"


def test_an_index_that_is_freed_meanwhile_is_deleted(state: Path) -> None:
    index = index_of(state / "index")
    lock = IndexLock(index, "a test")
    lock.acquire()
    with ThreadPoolExecutor(1) as pool:
        deleted = pool.submit(delete_index, index, PROCESS_S)
        assert index.exists()
        lock.release()
        assert deleted.result(PROCESS_S)
