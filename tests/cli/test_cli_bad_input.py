"""Bad input of every kind: one clear line on standard error, the right status, never a traceback."""

from __future__ import annotations

import shutil
import socket
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon
from cli_sandbox import NOTES, Ran, Sandbox
from command_here import CommandHere
from sessions import compare_session, sessions
from waiting import PROCESS_S

from vault_indexer.store import IndexDir

BAD_INPUT = Path(__file__).parent / "fixtures" / "sessions" / "bad_input.md"


@pytest.mark.posix("paths with slashes")
@pytest.mark.parametrize("heading", sessions(BAD_INPUT))
def test_bad_input_is_told_in_a_line(
    here: CommandHere, heading: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chmod(mode: str, folder: str) -> None:
        Path(folder).chmod(int(mode, 8))

    compare_session(BAD_INPUT, heading, here, AnsweringDaemon("http://none"), monkeypatch, chmod=chmod)


def write_newer_manifest(index_dir: Path) -> None:
    generation = IndexDir(index_dir).current()
    assert generation is not None
    text = generation.read_manifest().replace("spec_version = 3", 'spec_version = 99\ncolour = "red"')
    generation.write_manifest(text)


def write_newer_catalog(index_dir: Path) -> None:
    generation = IndexDir(index_dir).current()
    assert generation is not None
    with closing(sqlite3.connect(generation.catalog)) as db, db:
        db.execute("UPDATE meta SET value = 99 WHERE key = 'version'")


@pytest.mark.parametrize("write_newer", [write_newer_manifest, write_newer_catalog])
def test_an_index_of_a_newer_program_is_refused_and_kept(
    copied_here: CommandHere, write_newer: Callable[[Path], None]
) -> None:
    index_dir = copied_here.sandbox.index_dir
    write_newer(index_dir)
    before = {path: path.read_bytes() for path in index_dir.rglob("*") if path.is_file()}
    for command in (("search", "telescope"), ("rebuild",), ("status",), ("serve",), ("check",)):
        ran = copied_here.indexer(*command)
        assert ran.code == 3, command
        assert ran.complains(f"a newer vault-indexer has written the index {index_dir}", "upgrade")
        assert len(ran.err.splitlines()) == 1
    changed = [path.name for path, content in before.items() if path.read_bytes() != content]
    assert set(changed) <= {"catalog.db-shm", "catalog.db-wal"}


@pytest.mark.long
def test_a_port_in_use(sandbox: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        config = sandbox.root / "own.toml"
        config.write_text(f"[server]\nport = {port}\n")
        ran = sandbox.indexer("serve", "--config", str(config))
        assert ran.code == 3
        assert ran.complains(f"cannot bind to port {port}", "server.port")
        assert not (sandbox.index_dir / "daemon.json").exists()
        background = sandbox.indexer("start", "--config", str(config), "--wait", str(PROCESS_S))
        assert background.code == 3
        assert background.complains("the daemon did not start", f"cannot bind to port {port}")


def test_a_query_and_a_name_have_at_most_4096_bytes(
    served: Sandbox, built: Sandbox, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    too_long = "日" * 1366
    for sandbox in (CommandHere(one, capsys, monkeypatch) for one in (served, built)):
        found = sandbox.indexer("search", "🍞" * 1024)
        assert found.code in (0, 1), found.err
        for command, what in (
            ("search", "the query"),
            ("related", "the path of the note"),
            ("links", "the path of the note"),
        ):
            ran = sandbox.indexer(command, too_long)
            assert (ran.code, ran.complains(f"{what}", "has 4098 bytes: the maximum is 4096")) == (2, True)


ADDRESS_SPACE_KB = 400 * 1024
SAID = (
    "indexer: without a daemon, a command needs the same resources: "
    "the daemon needs 1024 MB of address space, and has 400: raise `ulimit -v`"
)


def limited(sandbox: Sandbox, *arguments: str) -> Ran:
    """`indexer ARGUMENTS` in a shell that has set the limit."""
    shell = f'ulimit -v {ADDRESS_SPACE_KB}; exec "$0" -m vault_indexer.cli "$@"'
    return sandbox.run_program(["/bin/sh", "-c", shell, sys.executable, *arguments])


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
@pytest.mark.parametrize("command", ["search telescope", "rebuild", "check", "export"])
def test_too_little_address_space_is_said_in_one_line(sandbox: Sandbox, command: str) -> None:
    ended = limited(sandbox, *command.split(), *sandbox.place)
    assert ended.err.splitlines() == [SAID]
    assert (ended.code, ended.out) == (3, "")
    assert not sandbox.index_dir.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_all_vaults_are_no_exception(sandbox: Sandbox) -> None:
    config = sandbox.root / "config" / "vault-indexer" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[vaults]\none = "{sandbox.vault}"\ntwo = "{sandbox.vault / "Sky"}"\n', "utf-8")
    ended = limited(sandbox, "search", "telescope")
    assert ended.err.splitlines() == [SAID]
    assert ended.code == 3


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_a_command_that_a_daemon_answers_does_with_less(served: Sandbox) -> None:
    found = limited(served, "search", "telescope", *served.place)
    assert found.code == 0, found.err
    assert "Night sky" in found.out


def test_a_query_from_standard_input(served: Sandbox) -> None:
    for command, key in (("search", "query"), ("ask", "question")):
        ran = served.indexer(command, "-", "--json", stdin="rings of\n  Saturn\n")
        assert ran.data[key] == "rings of Saturn", ran.err


def test_a_closed_pipe_is_no_failure(served: Sandbox) -> None:
    """Whoever reads has closed the pipe before the first line, as `head` does after its last."""
    code = (
        "import os, sys\nread, write = os.pipe()\nos.dup2(write, 1)\nos.close(read)\nos.close(write)\n"
        "from vault_indexer.cli.app import main\nmain()\n"
    )
    for options in ((), ("--json",), ("--paths",)):
        ran = served.run("search", "telescope", *options, *served.place, code=code)
        assert (ran.code, ran.err) == (0, ""), options


def empty(vault: Sandbox) -> None:
    for path in NOTES:
        (vault.vault / path).unlink()


@pytest.fixture
def emptied(copied_here: CommandHere) -> CommandHere:
    """The command on a vault whose notes are gone since they were indexed."""
    empty(copied_here.sandbox)
    return copied_here


def test_rebuild_refuses_an_emptied_folder(emptied: CommandHere) -> None:
    ran = emptied.indexer("rebuild")
    assert (ran.code, ran.out) == (3, "")
    assert ran.complains(
        "Not rebuilt: the vault looks empty (3 files expected). The index is kept.", "--force"
    )
    assert emptied.indexer("search", "telescope", "-l").out.count("Night sky.md") == 1
    shown = emptied.indexer("status").out
    assert ", not kept up to date" in shown.splitlines()[0]
    assert "warning      the vault looks empty (3 files expected). The index is kept." in shown
    forced = emptied.indexer("rebuild", "--force", "--json")
    assert (forced.code, forced.data["notes"]) == (0, 0)


def test_check_repairs_nothing_of_an_emptied_folder(emptied: CommandHere) -> None:
    for options in ((), ("--repair",)):
        ran = emptied.indexer("check", *options)
        assert ran.code == 1
        (line,) = [one for one in ran.out.splitlines() if one.startswith("!   vault ")]
        assert "the vault looks empty (3 files expected). The index is kept." in line
        assert line.endswith("indexer rebuild --force")
        assert "differ" not in ran.out
    assert emptied.indexer("search", "telescope", "-l").out.count("Night sky.md") == 1


@pytest.mark.long
def test_rebuild_refuses_an_emptied_folder_through_the_daemon(copied_here: CommandHere) -> None:
    here, copied = copied_here, copied_here.sandbox  # at once: seconds later the notes count as deleted
    assert copied.indexer("start", "--wait", str(PROCESS_S)).code == 0
    try:
        shutil.copytree(copied.vault, copied.root / "kept")
        empty(copied)
        ran = here.indexer("rebuild")
        assert (ran.code, ran.complains("Not rebuilt", "--force")) == (3, True), ran.err
        assert here.indexer("status", "--json").data["notes"] == 3
        shutil.copytree(copied.root / "kept", copied.vault, dirs_exist_ok=True)
        assert here.indexer("rebuild", "--json").data["notes"] == 3
    finally:
        assert copied.indexer("stop").code == 0
