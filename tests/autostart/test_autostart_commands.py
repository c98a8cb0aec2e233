"""`indexer service`; the programs of the system record how they are called."""

import dataclasses
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon, answering_daemon
from cli_sandbox import Sandbox, make
from command_here import CommandHere
from fake_programs import FakePrograms, fake_programs
from sessions import compare_session, sessions

from vault_indexer.autostart import Environment, supervisor
from vault_indexer.daemon.discovery import remove_daemon
from vault_indexer.model import IndexCounts, StatusReport
from vault_indexer.serve.api.endpoints import STATUS

pytestmark = pytest.mark.posix("programs that are scripts")

SESSIONS = Path(__file__).parent / "fixtures" / "service.md"


@pytest.fixture
def programs(tmp_path: Path) -> FakePrograms:
    return fake_programs(tmp_path / "bin", "systemctl", "launchctl", "schtasks", "journalctl")


@pytest.fixture
def sandbox(tmp_path: Path, programs: FakePrograms) -> Sandbox:
    """A vault called `vault`, which the calls may name, and a system that is not there."""
    variables = {"PATH": programs.path, "OPENAI_API_KEY": "sk-secret"}
    return dataclasses.replace(make(tmp_path), variables=variables)


@pytest.fixture
def here(
    sandbox: Sandbox, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> CommandHere:
    made = CommandHere(sandbox, capsys, monkeypatch)
    monkeypatch.setenv("LOGNAME", "me")
    monkeypatch.setenv("INDEXER_SEARCH_LIMIT", "7")
    monkeypatch.delenv("INDEXER_EMBEDDING_PROVIDER", raising=False)
    return made


@pytest.fixture
def daemon() -> Iterator[AnsweringDaemon]:
    with answering_daemon() as made:
        yield made


@pytest.mark.parametrize("heading", sessions(SESSIONS))
def test_a_service_is_installed_shown_and_removed(
    here: CommandHere,
    programs: FakePrograms,
    daemon: AnsweringDaemon,
    monkeypatch: pytest.MonkeyPatch,
    heading: str,
) -> None:
    def answer(key: str, status: str, output: str, errors: str) -> None:
        texts = [text.replace("\\n", "\n").replace("\\t", "\t") for text in (output, errors)]
        programs.answer(**{key: (int(status), texts[0], texts[1])})

    def ran() -> str:
        return "".join(f"ran {shlex.join(call)}\n" for call in programs.take_calls())

    vault, made = here.sandbox.vault, Environment(here.sandbox.root, "u")
    names = {
        "UNIT": supervisor("systemd", made).name_of(vault),
        "LABEL": supervisor("launchd", made).name_of(vault),
        "DOMAIN": f"gui/{os.getuid()}",
        '"pid": OWN': f'"pid": {os.getpid()}',
        "PYTHON": sys.executable,
    }
    compare_session(SESSIONS, heading, here, daemon, monkeypatch, names, program=answer, after=ran)


def test_a_task_of_windows_is_what_is_printed(here: CommandHere, programs: FakePrograms) -> None:
    place = ("--vault", str(here.sandbox.vault), "--system", "schtasks")
    assert here.run("service", "install", *place).code == 0
    given = (programs.folder / "task.xml").read_bytes().decode("utf-16")
    programs.take_calls()
    assert here.run("service", "install", *place, "--print").out == given
    assert programs.take_calls() == []


def test_a_path_with_control_characters_is_refused(here: CommandHere) -> None:
    odd = here.sandbox.root / "two\nlines"
    odd.mkdir()
    broken = here.run("service", "install", "--print", "--vault", str(odd))
    assert (broken.code, broken.out, broken.complains("control characters")) == (2, "", True)


def test_the_configuration_names_the_vaults_of_a_service(here: CommandHere) -> None:
    vault = str(here.sandbox.vault)
    for table, named, end in (
        (f"vault = {vault!r}", (), "serve"),
        (f"[vaults]\nnotes = {vault!r}", (), "serve --all-vaults"),
        (f"[vaults]\nnotes = {vault!r}", ("--vault", vault), f"serve --vault {vault}"),
    ):
        here.configure(table)
        shown = here.run("service", "install", "--print", "--system", "systemd", *named)
        assert (shown.code, "vault-indexer" in shown.err) == (0, True)
        [start] = [line for line in shown.out.splitlines() if line.startswith("ExecStart=")]
        assert start.endswith(f"-m vault_indexer.cli {end}")


def place(here: CommandHere, system: str) -> tuple[str, ...]:
    index = str(here.sandbox.index_dir)
    return ("--vault", str(here.sandbox.vault), "--index-dir", index, "--system", system)


def test_a_daemon_that_was_started_otherwise_gives_way(
    here: CommandHere, programs: FakePrograms, daemon: AnsweringDaemon
) -> None:
    asked: list[int] = []

    def end(number: int, _: object) -> None:
        asked.append(number)
        remove_daemon(here.sandbox.index_dir, os.getpid())

    daemon.announce(here.sandbox.index_dir, here.sandbox.vault)
    counts = IndexCounts(3, 5, 4, 0)
    daemon.answer(STATUS, StatusReport("/v", "/i", "ready", 1, 1, 0, counts))
    programs.answer(show=(0, f"MainPID={os.getpid()}\n", ""))
    before = signal.signal(signal.SIGTERM, end)
    try:
        own = here.run("service", "install", *place(here, "systemd"))
        assert (own.code, "stopped" in own.err, asked) == (0, False, []), "it is the service itself"
        programs.answer(show=(0, "MainPID=1\n", ""))
        ran = here.run("service", "install", *place(here, "systemd"))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (ran.code, asked) == (0, [signal.SIGTERM])
    assert ran.err.splitlines()[0] == f"stopped: process {os.getpid()}; the service takes its place"
