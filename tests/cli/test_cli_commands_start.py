"""`start`, `stop`, `open` and `mcp`, where a daemon runs, is gone, or does not come."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from answering_daemon import TOKEN, AnsweringDaemon, Reply, answering_daemon
from cli_sandbox import Sandbox
from command_here import CommandHere
from sessions import compare_session, sessions
from waiting import wait_until

from vault_indexer.cli.commands.start import end_daemon
from vault_indexer.daemon.discovery import DaemonInfo, announced_daemon, remove_daemon, write_daemon
from vault_indexer.model import VaultList, VaultSummary
from vault_indexer.serve.api.endpoints import VAULTS


def kept(*names: str) -> VaultList:
    return VaultList(tuple(VaultSummary(name, f"/{name}", "ready", 1, 0, "") for name in names), "")


SESSIONS = Path(__file__).parent / "fixtures" / "sessions" / "daemon.md"


class Ended:
    """How often this process was asked to end, in place of the daemon that it announces."""

    def __init__(self) -> None:
        self.times = 0
        self.announced: list[Path] = []

    def asked(self, *_: object) -> None:
        self.times += 1
        for folder in self.announced:
            remove_daemon(folder, os.getpid())


@pytest.fixture
def ended(sandbox: Sandbox) -> Iterator[Ended]:
    """A daemon that ends when it is asked to; its last act is to take its announcement back."""
    found = Ended()
    found.announced.append(sandbox.index_dir)
    before = signal.signal(signal.SIGTERM, found.asked)
    yield found
    signal.signal(signal.SIGTERM, before)


def gone(folder: Path, vault: str = "/v") -> DaemonInfo:
    """An announcement of this process, which listens nowhere."""
    with answering_daemon() as ended:
        ended.announce(folder, vault)
    return ended.info(vault)


_AS_DAEMON = """
import json, os, signal, sys
from pathlib import Path
log = Path(sys.orig_argv[sys.orig_argv.index("--log-file") + 1])
with (log.parent / "commands").open("a") as commands:
    commands.write(json.dumps(sys.orig_argv[1:]) + "\\n")
{what}
"""
_FAIL = "sys.stderr.write({said!r}); sys.stderr.flush(); os._exit(3)"
_ANNOUNCE = """
found = json.loads((log.parent / "other.json").read_text())
(log.parent / "started").write_text(str(os.getpid()))
(log.parent / "daemon.json").write_text(json.dumps(found))
os.chmod(log.parent / "daemon.json", 0o600)
signal.pause()
"""


def commands_in(folder: Path) -> list[list[str]]:
    """The commands that were started there."""
    return [json.loads(line) for line in (folder / "commands").read_text().splitlines()]


@pytest.fixture
def started_as(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Python runs this code instead of a command: a process that a command starts is one of milliseconds."""

    def start_as(what: str) -> None:
        (sandbox.root / "sitecustomize.py").write_text(_AS_DAEMON.replace("{what}", what))
        monkeypatch.setenv("PYTHONPATH", str(sandbox.root))

    return start_as


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("indexer: the disk is full\n", "the disk is full"),
        ("1\n2\n3\nindexer: 4\n5\n6\n", "\nindexer: 2\nindexer: 3\nindexer: 4\nindexer: 5\nindexer: 6"),
        ("", "no reason given; see {log}"),
    ],
)
def test_a_daemon_that_does_not_start_says_why(
    here: CommandHere, started_as: Callable[[str], None], said: str, told: str
) -> None:
    started_as(_FAIL.format(said=said))
    ran = here.indexer("start", "--take-over")
    log = here.sandbox.index_dir / "daemon.log"
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == f"indexer: the daemon did not start: {told.format(log=log)}\n"
    (command,) = commands_in(here.sandbox.index_dir)
    assert command[-10:-2] == ["vault_indexer.cli", "serve", "--log-file", str(log), *here.sandbox.place]
    assert command[-2:] == ["--take-over", "--yes"]


@pytest.mark.posix("signals")
def test_a_daemon_that_answers_has_started(
    here: CommandHere, daemon: AnsweringDaemon, started_as: Callable[[str], None]
) -> None:
    here.configure(f"[vaults]\nwork = {str(here.sandbox.vault)!r}\n")
    started_as(_ANNOUNCE)
    daemon.announce(here.daemons)
    opening = VaultList((VaultSummary("work", "/work", "opening", 0, 0, ""),), "")
    daemon.answer(VAULTS, opening, kept("work"))
    (here.daemons / "daemon.json").rename(here.daemons / "other.json")
    gone(here.daemons)  # what one that was killed has left
    ran = here.run("start")
    os.kill(int((here.daemons / "started").read_text()), signal.SIGKILL)
    log = here.daemons / "daemon.log"
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"Started the daemon at {daemon.url} (process {os.getpid()}, log in {log}).\n"
    (command,) = commands_in(here.daemons)
    assert command[-5:] == ["vault_indexer.cli", "serve", "--log-file", str(log), "--all-vaults"]
    assert len(daemon.requests) == 2, "it waits until the vaults are open"


@pytest.mark.posix("signals")
def test_a_daemon_that_does_not_answer_in_time_is_named(
    here: CommandHere, started_as: Callable[[str], None]
) -> None:
    started_as("signal.pause()")
    ran = here.indexer("start", "--wait", "0.1")
    assert (ran.code, ran.out) == (3, "")
    found = re.fullmatch(
        r"indexer: the daemon \(process (\d+)\) did not answer within 0.1 s; see (.*)\n", ran.err
    )
    assert found is not None
    os.kill(int(found[1]), signal.SIGKILL)
    assert found[2] == str(here.sandbox.index_dir / "daemon.log")


@pytest.mark.posix("signals")
def test_the_announcement_of_a_daemon_that_ends_without_a_word_is_removed(
    here: CommandHere, ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_indexer.cli.commands.start._SILENT_S", 0.0)
    ended.announced.clear()
    folder = here.sandbox.index_dir
    end_daemon(gone(folder), folder)
    assert (announced_daemon(folder), ended.times) == (None, 1)


@pytest.fixture(
    params=[
        "nobody",
        "another program",
        pytest.param("the next daemon", marks=pytest.mark.posix("os.getppid, which Wine does not have")),
        "a daemon that has ended",
    ]
)
def left_over(request: pytest.FixtureRequest, here: CommandHere, daemon: AnsweringDaemon) -> None:
    """What a daemon that was killed has announced, by who has its address or its process id by now."""
    info = gone(here.sandbox.index_dir, str(here.sandbox.vault))
    match request.param:
        case "another program":
            info = replace(info, url=daemon.url, token="s" * 40)
        case "the next daemon":  # with the same token, but not of this index
            info = replace(info, url=daemon.url, pid=os.getppid())
        case "a daemon that has ended":
            info = replace(info, pid=2**31 - 1)
    write_daemon(here.sandbox.index_dir, info)


@pytest.mark.usefixtures("left_over")
def test_what_a_killed_daemon_left_is_no_daemon(
    here: CommandHere, daemon: AnsweringDaemon, ended: Ended, started_as: Callable[[str], None]
) -> None:
    """Whatever its process id is by now: one is started, none is stopped, and no token is sent."""
    ran = here.indexer("stop")
    assert (ran.code, ran.out, ran.err, ended.times) == (0, "", "No daemon is running.\n", 0)
    started_as(_FAIL.format(said="not now"))
    ran = here.indexer("start")
    assert (ran.code, ran.err) == (3, "indexer: the daemon did not start: not now\n")
    here.sandbox.vault.rename(here.sandbox.root / "moved")
    for command in (("status",), ("links", "--broken")):
        ran = here.indexer(*command)
        assert (ran.code, ran.err.startswith("indexer: no such vault: ")) == (3, True)
    assert daemon.requests == []


def test_a_daemon_that_is_silent_is_named(here: CommandHere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_indexer.daemon.discovery._ANSWER_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        info = replace(gone(here.sandbox.index_dir), url=url)
        write_daemon(here.sandbox.index_dir, info)
        said = f"indexer: the daemon (process {os.getpid()}) at {url} does not answer: nothing for 0.05 s\n"
        for command in ("start", "stop", "search x"):
            ran = here.indexer(*command.split())
            assert (ran.code, ran.out, ran.err) == (3, "", said)


@pytest.mark.posix("paths with slashes")
@pytest.mark.parametrize("heading", sessions(SESSIONS))
def test_daemons_are_stopped_and_opened(
    here: CommandHere, ended: Ended, heading: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_address(kind: str, address: str) -> bool:
        opened.append(address)
        return kind == "open"

    def browser(kind: str) -> None:
        def get() -> SimpleNamespace:
            if kind == "missing":
                raise webbrowser.Error
            return SimpleNamespace(open=partial(open_address, kind))

        monkeypatch.setattr("webbrowser.get", get)

    def take_opened() -> str:
        taken = " ".join(opened)
        opened.clear()
        return taken or "nothing"

    monkeypatch.setenv("INDEXER_STRATEGY_OPTION", "")  # an option sets it
    browser("open")
    ended.announced.append(here.daemons)
    with answering_daemon() as daemon:
        names = {"«token»": TOKEN}
        commands: dict[str, Callable[..., str | None]] = {
            "browser": browser,
            "opened": take_opened,
            "ended": lambda: f"{ended.times}",
            "serves": lambda *vaults: daemon.answer(VAULTS, kept(*vaults)),
        }
        compare_session(SESSIONS, heading, here, daemon, monkeypatch, names, **commands)


REQUEST = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n'
ANSWER = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'


class Input(io.StringIO):
    """Standard input that ends after one request."""

    buffer = io.BytesIO()

    def __init__(self) -> None:
        super().__init__()
        self.buffer = io.BytesIO(REQUEST)


def test_an_agent_is_answered_by_the_daemon_that_another_process_starts_meanwhile(
    here: CommandHere,
    daemon: AnsweringDaemon,
    started_as: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    daemon.reply(replace(VAULTS, method="POST", path="/mcp"), Reply(200, ANSWER))
    index_dir = here.sandbox.index_dir
    remove_daemon(index_dir, os.getpid())
    monkeypatch.setattr(sys, "stdin", Input())

    def announce() -> None:
        wait_until((index_dir / "daemon.log").exists, "a daemon is being started")
        daemon.announce(index_dir, here.sandbox.vault)

    started_as(_FAIL.format(said="another process holds it"))
    other = threading.Thread(target=announce)
    other.start()
    ran = here.indexer("mcp")
    other.join()
    assert json.loads(ran.out) == json.loads(ANSWER)
    started = index_dir / "commands"
    wait_until(lambda: started.exists() and started.read_text()[-1:] == "\n", "the other one has begun")
    assert len(commands_in(index_dir)) == 1


@pytest.mark.posix("paths with slashes")
def test_an_agent_is_answered_by_the_daemon_that_runs(
    here: CommandHere, daemon: AnsweringDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.reply(replace(VAULTS, method="POST", path="/mcp"), Reply(200, ANSWER))
    here.configure(f'[index]\ndir = "{here.sandbox.index_dir}"\n')
    for run in (here.indexer, here.run):
        monkeypatch.setattr(sys, "stdin", Input())
        ran = run("mcp", *(["--vault", "vault"] if run == here.run else []))
        assert (ran.code, json.loads(ran.out)) == (0, json.loads(ANSWER))
    assert not (here.sandbox.index_dir / "daemon.log").exists(), "none was started"
