"""The daemon as a user sees it: serve, start, stop, status, and commands that go through it."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys

import pytest
from cli_sandbox import Sandbox
from waiting import PROCESS_S


def serving(sandbox: Sandbox) -> subprocess.Popen[str]:
    """`indexer serve`, once it answers."""
    place = ["--vault", str(sandbox.vault), "--index-dir", str(sandbox.index_dir)]
    process = subprocess.Popen(
        [sys.executable, "-m", "vault_indexer.cli", "serve", *place],
        env=sandbox.environ,
        cwd=sandbox.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said: list[str] = []
    for line in process.stderr:
        said.append(line)
        if "http://127.0.0.1:" in line:
            return process
    raise AssertionError("".join(said))


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(sandbox: Sandbox, number: signal.Signals) -> None:
    process = serving(sandbox)
    assert (sandbox.index_dir / "daemon.json").exists()
    process.send_signal(number)
    out, err = process.communicate(timeout=PROCESS_S)
    assert process.returncode == 0, err
    assert out == ""
    assert "Traceback" not in err
    assert not (sandbox.index_dir / "daemon.json").exists()


def test_status_with_and_without_a_daemon(served: Sandbox, indexed: Sandbox) -> None:
    running = json.loads(served.indexer("status", "--json").out)
    assert running["daemon"]["running"] is True
    assert running["daemon"]["pid"] == served.daemon_file()["pid"]
    assert running["notes"] == 3
    without = json.loads(indexed.indexer("status", "--json").out)
    assert without["daemon"] == {"running": False, "pid": None, "url": None}
    assert without["notes"] == 3
    assert set(without) >= {
        *("vault", "index_dir", "state", "generation", "seq", "pending", "notes", "chunks", "links"),
        *("unresolved", "daemon", "manifest"),
    }
    assert "not running" in indexed.indexer("status").out


@pytest.mark.long
def test_commands_answer_alike_through_the_daemon(served: Sandbox, indexed: Sandbox) -> None:
    for command in (("links", "Welcome"), ("related", "Night sky")):
        assert served.indexer(*command, "--json").data == indexed.indexer(*command, "--json").data
    through = json.loads(served.indexer("search", "telescope", "--json").out)
    within = json.loads(indexed.indexer("search", "telescope", "--json").out)
    assert [hit["chunk_id"] for hit in through["results"]] == [hit["chunk_id"] for hit in within["results"]]
    assert served.indexer("links", "Nowhere").code == 2


@pytest.mark.long
def test_rebuild_and_check_through_the_daemon(served: Sandbox) -> None:
    before = json.loads(served.indexer("status", "--json").out)["generation"]
    report = served.indexer("rebuild", "--json")
    assert report.code == 0, report.err
    assert report.data["notes"] == 3
    assert report.data["generation"] == before + 1
    assert set(report.data) >= {"generation", "notes", "chunks", "skipped", "seconds"}
    checked = served.indexer("check", "--json").data["vaults"][0]  # type: ignore[index]
    assert checked["index"] == {"ok": True, "problems": []}


def test_the_token_is_private(served: Sandbox) -> None:
    assert stat.S_IMODE((served.index_dir / "daemon.json").stat().st_mode) == 0o600
    assert len(str(served.daemon_file()["token"])) >= 32
