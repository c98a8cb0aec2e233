"""Another user of the machine owns or may write an index folder, or a file in it."""

import os
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from cli_sandbox import Sandbox, make
from http_servers import serving

from vault_indexer.daemon.discovery import (
    DaemonInfo,
    announced_daemon,
    read_index_pointer,
    write_daemon,
    write_index_pointer,
)
from vault_indexer.errors import IndexUnusableError
from vault_indexer.store import IndexDir
from vault_indexer.system import read_own

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners are POSIX's")

needs_root = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root gives a file to another user"
)
STRANGER = 1234


@pytest.fixture
def asked() -> Iterator[tuple[int, list[str]]]:
    """A port at which a stranger listens, and what was asked there."""
    paths: list[str] = []

    def respond(request: BaseHTTPRequestHandler) -> None:
        paths.append(request.path)
        request.send_error(404)

    with serving(respond) as server:
        yield server.server_port, paths


@pytest.fixture
def sandbox(tmp_path: Path, asked: tuple[int, list[str]]) -> Sandbox:
    """A vault whose index folder says that the daemon is the stranger's."""
    sandbox = make(tmp_path)
    sandbox.index_dir.mkdir(mode=0o700)
    url = f"http://127.0.0.1:{asked[0]}"
    info = DaemonInfo(os.getpid(), url, "t" * 40, str(sandbox.vault), "2026-01-01T00:00:00Z", ("/bin/false",))
    write_daemon(sandbox.index_dir, info)
    assert announced_daemon(sandbox.index_dir) == info
    return sandbox


def test_no_query_goes_where_others_may_write(sandbox: Sandbox, asked: tuple[int, list[str]]) -> None:
    sandbox.index_dir.chmod(0o777)
    for command in (["search", "my secret"], ["start"]):
        ran = sandbox.indexer(*command)
        assert (ran.code, ran.out) == (3, "")
        assert ran.complains(str(sandbox.index_dir), "other users may write it (mode 777)"), ran.err
    assert asked[1] == []
    assert not (sandbox.index_dir / "daemon.log").exists()


@needs_root
def test_no_query_goes_to_the_owner_of_a_foreign_folder(
    sandbox: Sandbox, asked: tuple[int, list[str]]
) -> None:
    os.chown(sandbox.index_dir, STRANGER, STRANGER)
    ran = sandbox.indexer("search", "my secret")
    assert (ran.code, ran.out) == (3, "")
    assert ran.complains(str(sandbox.index_dir), f"belongs to the user with the number {STRANGER}"), ran.err
    assert asked[1] == []
    (sandbox.index_dir / "daemon.json").unlink()
    with pytest.raises(IndexUnusableError, match="belongs to"):
        announced_daemon(sandbox.index_dir)


def test_no_file_is_believed_that_others_may_write(sandbox: Sandbox, tmp_path: Path) -> None:
    file = sandbox.index_dir / "daemon.json"
    file.chmod(0o620)
    assert announced_daemon(sandbox.index_dir) is None
    file.chmod(0o600)
    file.rename(tmp_path / "theirs.json")
    file.symlink_to(tmp_path / "theirs.json")
    assert announced_daemon(sandbox.index_dir) is None


@needs_root
def test_no_file_of_another_user_is_believed(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = sandbox.index_dir / "daemon.json"
    os.chown(file, STRANGER, STRANGER)
    assert announced_daemon(sandbox.index_dir) is None
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    write_index_pointer(sandbox.vault, sandbox.index_dir)
    assert read_index_pointer(sandbox.vault) == sandbox.index_dir
    [pointer] = (tmp_path / "state" / "vault-indexer" / "daemons").iterdir()
    os.chown(pointer, STRANGER, STRANGER)
    assert read_index_pointer(sandbox.vault) is None


def test_a_folder_of_ones_own_that_others_could_write_becomes_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o775)
    assert announced_daemon(tmp_path) is None
    IndexDir(tmp_path).prepare()
    assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_no_pipe_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "daemon.json", 0o600)
    with pytest.raises(OSError, match="not a regular file"):
        read_own(tmp_path / "daemon.json")
