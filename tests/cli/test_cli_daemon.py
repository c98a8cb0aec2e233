"""The daemon as a user sees it: serve, start, stop, status, and commands that go through it."""

from __future__ import annotations

import json
import signal
import stat
from pathlib import Path

import pytest
from answering_daemon import answering_daemon
from cli_sandbox import PLAIN_MODEL, Sandbox
from waiting import PROCESS_S, wait_until


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(sandbox: Sandbox, number: signal.Signals) -> None:
    process = sandbox.serve()
    assert (sandbox.index_dir / "daemon.json").exists()
    process.send_signal(number)
    out, err = process.communicate(timeout=PROCESS_S)
    assert process.returncode == 0, err
    assert out == ""
    assert "Traceback" not in err
    assert not (sandbox.index_dir / "daemon.json").exists()


def test_status_with_and_without_a_daemon(served: Sandbox, built: Sandbox) -> None:
    running = served.indexer("status", "--json").data
    assert running["daemon"]["running"] is True
    assert running["daemon"]["pid"] == served.daemon_file()["pid"]
    assert running["notes"] == 3
    without = built.indexer("status", "--json").data
    assert without["daemon"] == {"running": False, "pid": None, "url": None}
    assert without["notes"] == 3
    assert "not running" in built.indexer("status").out


def test_the_token_is_private(served: Sandbox) -> None:
    assert stat.S_IMODE((served.index_dir / "daemon.json").stat().st_mode) == 0o600
    assert len(str(served.daemon_file()["token"])) >= 32


def manifest_of(sandbox: Sandbox) -> dict[str, dict[str, object]]:
    manifest: dict[str, dict[str, object]] = sandbox.indexer("status", "--json").data["manifest"]
    return manifest


def model_of(sandbox: Sandbox) -> object:
    return manifest_of(sandbox)["embedding_model"]["provider"]


@pytest.mark.long
def test_without_a_daemon_they_are_made_here(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, PLAIN_MODEL)
    for number in range(120):
        sandbox.write(f"Note {number}.md", f"# Note {number}\n\n{'About the garden in the rain. ' * 70}\n")
    assert sandbox.indexer("rebuild").code == 0
    assert model_of(sandbox) == "wordllama"
    made = sandbox.indexer("embed", "--now")
    assert (made.code, made.out.startswith("Indexed ")) == (0, True), made
    assert model_of(sandbox) == "multilingual"
    shown = sandbox.indexer("embed")
    assert (shown.code, shown.err) == (0, "There are no better vectors to create.\n")


def strategy_of(sandbox: Sandbox) -> object:
    return manifest_of(sandbox)["chunking_config"]["strategy"]


def test_a_strategy_of_the_option_stays_until_the_next_rebuild(copied: Sandbox) -> None:
    assert copied.indexer("rebuild", "--strategy", "paragraph").code == 0
    assert strategy_of(copied) == "paragraph"
    copied.write("Sky/New.md", "# New\n\nThe telescope is in the shed.\n\nThe lens is not.\n")
    found = copied.indexer("search", "telescope shed")
    assert (found.code, found.complains("rebuilt")) == (0, False), found.err
    assert strategy_of(copied) == "paragraph"
    copied.write(".indexer.toml", "chunking.strategy = 'word'\n")
    assert copied.indexer("search", "telescope").complains("Index rebuilt: chunking.strategy is now word")
    assert copied.indexer("rebuild", "--strategy", "token").code == 0
    assert copied.indexer("rebuild").code == 0
    assert strategy_of(copied) == "word"
    ran = copied.indexer("rebuild", "--strategy", "words")
    assert ran.code == 2
    assert ran.complains("Invalid value for --strategy: unknown strategy words", "paragraph")
    assert "INDEXER" not in ran.err


@pytest.mark.long
def test_a_daemon_takes_a_strategy_for_its_life(copied: Sandbox) -> None:
    assert copied.indexer("start", "--strategy", "word", "--wait", str(PROCESS_S)).code == 0
    try:
        wait_until(lambda: strategy_of(copied) == "word", "the index is rebuilt")
    finally:
        assert copied.indexer("stop").code == 0


@pytest.mark.long
def test_open_starts_the_daemon_whose_end_removes_the_private_file(copied: Sandbox) -> None:
    copied.variables.update(BROWSER="true", INDEXER_SAERCH_LIMIT="3")
    try:
        ran = copied.indexer("open")
        assert (ran.code, ran.complains("Started the daemon at ")) == (0, True), ran.err
        assert ran.err.count("INDEXER_SAERCH_LIMIT is unknown") == 1
        assert (copied.index_dir / "open.html").exists()
    finally:
        assert copied.indexer("stop").code == 0
    assert not (copied.index_dir / "open.html").exists()


def test_a_daemon_that_does_not_listen_any_more_is_not_asked(sandbox: Sandbox) -> None:
    with answering_daemon() as ended:
        ended.announce(sandbox.index_dir)
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "status"}}
    # Another one is started, which fails for a reason of its own.
    place = ("--vault", "nowhere", "--index-dir", str(sandbox.index_dir))
    ran = sandbox.run("mcp", *place, stdin=json.dumps(request) + "\n")
    assert json.loads(ran.out)["error"]["message"].startswith("no such vault: ")
