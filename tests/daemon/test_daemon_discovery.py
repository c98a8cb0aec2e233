"""The files by which a daemon is found: written whole, read without trust, taken back."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from vault_indexer.daemon.discovery import (
    ADDRESS_FILE,
    DAEMON_FILE,
    OPEN_FILE,
    START_FILE,
    DaemonInfo,
    KeptAddress,
    forget_start,
    read_address,
    read_daemon,
    read_index_pointer,
    remove_daemon,
    shared_daemon_dir,
    write_address,
    write_daemon,
    write_index_pointer,
    write_open_file,
)
from vault_indexer.errors import IndexUnusableError

COMMAND = ("/bin/indexer", "start", "--vault", "/v")
INFO = DaemonInfo(os.getpid(), "http://127.0.0.1:4000", "secret", "/v", "2026-01-01T00:00:00Z", COMMAND)
NOBODY = (1 << 22) + 1
"""No process has this number."""


def test_a_daemon_is_found_by_what_it_wrote_and_leaves_the_command_that_starts_it(tmp_path: Path) -> None:
    assert read_daemon(tmp_path) is None
    write_daemon(tmp_path, INFO)
    assert read_daemon(tmp_path) == INFO
    assert json.loads((tmp_path / START_FILE).read_text()) == {"vault": "/v", "command": list(COMMAND)}
    page = write_open_file(tmp_path, 'http://127.0.0.1:4000/?a=1&b="x"')
    assert page == tmp_path / OPEN_FILE
    assert 'url=http://127.0.0.1:4000/?a=1&amp;b=&quot;x&quot;"' in page.read_text()
    for name in (DAEMON_FILE, START_FILE, OPEN_FILE):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    remove_daemon(tmp_path, NOBODY)
    assert read_daemon(tmp_path) == INFO, "another one's file stays"
    remove_daemon(tmp_path, os.getpid())
    assert [file.name for file in tmp_path.iterdir()] == [START_FILE]
    remove_daemon(tmp_path, os.getpid())
    for _ in range(2):
        forget_start(tmp_path)
    assert list(tmp_path.iterdir()) == []
    write_daemon(tmp_path, replace(INFO, command=()))
    assert not (tmp_path / START_FILE).exists()
    remove_daemon(tmp_path, os.getpid())  # nobody has opened a page
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        {"pid": NOBODY},
        {"pid": 0},
        {"pid": -1},
        {"pid": "1"},
        {"url": "http://example.org:4000"},
        {"url": None},
        {"token": 7},
        {"started": None},
    ],
)
def test_nobody_is_found_by_a_file_that_is_wrong(tmp_path: Path, change: dict[str, object]) -> None:
    write_daemon(tmp_path, INFO)
    (tmp_path / DAEMON_FILE).write_text(json.dumps({**asdict(INFO), **change}))
    assert read_daemon(tmp_path) is None
    remove_daemon(tmp_path, os.getpid())
    assert (tmp_path / DAEMON_FILE).exists()


@pytest.mark.parametrize("text", ["", "[]", "7", "{}", '{"pid": 1}', "[" * 100_000])
def test_nobody_is_found_by_a_file_that_is_damaged(tmp_path: Path, text: str) -> None:
    (tmp_path / DAEMON_FILE).write_text(text)
    (tmp_path / DAEMON_FILE).chmod(0o600)
    assert read_daemon(tmp_path) is None
    (tmp_path / ADDRESS_FILE).write_text(text)
    assert read_address(tmp_path) is None


@pytest.mark.parametrize("command", [None, "indexer start", ["indexer", 7], {"a": "b"}])
def test_a_command_that_is_no_list_of_texts_is_none(tmp_path: Path, command: object) -> None:
    write_daemon(tmp_path, INFO)
    (tmp_path / DAEMON_FILE).write_text(json.dumps({**asdict(INFO), "command": command}))
    found = read_daemon(tmp_path)
    assert found == replace(INFO, command=())


def test_an_announcement_that_others_may_write_is_refused(tmp_path: Path) -> None:
    write_daemon(tmp_path, INFO)
    tmp_path.chmod(0o777)
    with pytest.raises(IndexUnusableError, match=r"is not used: .*chmod go-w"):
        read_daemon(tmp_path)
    (tmp_path / DAEMON_FILE).unlink()
    assert read_daemon(tmp_path) is None, "nobody has announced anything"


@pytest.mark.parametrize(
    ("port", "kept"), [(1, True), (65_535, True), (0, False), (65_536, False), ("1", False)]
)
def test_the_address_of_the_last_daemon_is_kept(tmp_path: Path, port: object, kept: bool) -> None:
    write_address(tmp_path, KeptAddress(4000, ""))
    file = tmp_path / ADDRESS_FILE
    assert (read_address(tmp_path), file.stat().st_mode & 0o777) == (KeptAddress(4000, ""), 0o600)
    before = file.stat().st_ino
    write_address(tmp_path, KeptAddress(4000, ""))
    assert file.stat().st_ino == before, "nothing has changed"
    file.write_text(json.dumps({"port": port, "token": "t"}))
    assert read_address(tmp_path) == (KeptAddress(int(str(port)), "t") if kept else None)
    file.write_text(json.dumps({"port": 4000, "token": None}))
    assert read_address(tmp_path) is None


def test_a_vault_points_to_its_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    vault, other = tmp_path / "vault", tmp_path / "other"
    for folder in (vault, other):
        folder.mkdir()
    assert read_index_pointer(vault) is None
    write_index_pointer(vault, tmp_path / "index")
    write_index_pointer(other, other / ".." / "index of the other")
    assert read_index_pointer(vault) == tmp_path / "index"
    assert read_index_pointer(other) == tmp_path / "index of the other"
    (tmp_path / "link").symlink_to(vault)
    assert read_index_pointer(tmp_path / "link") == tmp_path / "index"
    daemons = tmp_path / "state" / "vault-indexer" / "daemons"
    assert daemons.stat().st_mode & 0o777 == 0o700
    for file in daemons.iterdir():
        file.write_text("relative/index")
    assert read_index_pointer(vault) is None


def test_a_daemon_of_all_vaults_is_found_by_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    daemons = tmp_path / "vault-indexer" / "daemons"
    assert shared_daemon_dir(None) == daemons / "all"
    first, second = (shared_daemon_dir(tmp_path / name) for name in ("a.toml", "b.toml"))
    assert first.parent == daemons and first.name.startswith("all-") and first != second
    assert shared_daemon_dir(tmp_path / "x" / ".." / "a.toml") == first
