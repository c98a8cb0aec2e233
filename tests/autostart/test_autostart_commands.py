"""`indexer service`; the programs of the system record how they are called."""

import dataclasses
import errno
import os
import plistlib
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from answering_daemon import AnsweringDaemon, answering_daemon
from cli_sandbox import Sandbox, make
from command_here import CommandHere
from fake_programs import FakePrograms, fake_programs

from vault_indexer.autostart import Environment, supervisor
from vault_indexer.daemon.discovery import remove_daemon
from vault_indexer.model import IndexCounts, StatusReport
from vault_indexer.serve.api.endpoints import STATUS

UNREACHABLE = (1, "", "Failed to connect to bus: No medium found\n")
NOT_LOADED = (113, "", "Could not find service\n")
RUNNING = "UnitFileState=enabled\nActiveState=active\nSubState=running\nMainPID=4321\nNRestarts=2\n"


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
    monkeypatch.setenv("INDEXER_SEARCH_LIMIT", "7")
    monkeypatch.delenv("INDEXER_EMBEDDING_PROVIDER", raising=False)
    return made


def systemctl(*arguments: str) -> list[str]:
    return ["systemctl", "--user", *arguments]


def test_a_unit_is_installed_once_and_removed(here: CommandHere, programs: FakePrograms) -> None:
    vault = ("--vault", str(here.sandbox.vault))
    first = here.run("service", "install", *vault, "--system", "systemd")
    assert first.code == 0, first.err
    [file] = (here.sandbox.root / "config" / "systemd" / "user").iterdir()
    text = file.read_text()
    assert f"--vault {here.sandbox.vault}" in text
    assert f"XDG_STATE_HOME={here.sandbox.root}/state" in text
    assert "secret" not in text
    assert "not part of the service: INDEXER_SEARCH_LIMIT" in first.err
    reachable = systemctl("show", "--property=Version")
    shown = systemctl(
        "show", file.name, "--property=LoadState,UnitFileState,ActiveState,SubState,MainPID,Result,NRestarts"
    )
    look = [reachable, shown]
    assert programs.take_calls() == [
        *look,
        reachable,
        systemctl("daemon-reload"),
        systemctl("enable", file.name),
        systemctl("reset-failed", file.name),
        systemctl("restart", file.name),
    ]

    again = here.run("service", "install", *vault, "--system", "systemd")
    assert "already installed" in again.err
    assert [call[2:] for call in programs.take_calls()[3:]] == [
        ["enable", file.name],
        ["reset-failed", file.name],
        ["start", file.name],
    ]

    programs.answer(show=(0, RUNNING, ""))
    state = here.run("service", "status", *vault, "--system", "systemd", "--json")
    assert state.code == 0
    assert state.data == {
        "system": "systemd",
        "name": file.name,
        "definition": str(file),
        "installed": True,
        "enabled": True,
        "running": True,
        "pid": 4321,
        "detail": "active (running), 2 restarts",
        "daemon": None,
    }
    programs.take_calls()

    removed = here.run("service", "uninstall", *vault, "--system", "systemd")
    assert (removed.code, "removed" in removed.err, file.exists()) == (0, True, False)
    assert [call[2:] for call in programs.take_calls()[1:]] == [
        ["disable", "--now", file.name],
        ["daemon-reload"],
        ["reset-failed", file.name],
    ]
    assert "not installed" in here.run("service", "uninstall", *vault, "--system", "systemd").err
    assert programs.take_calls() == []


def test_an_agent_of_launchd(here: CommandHere, programs: FakePrograms) -> None:
    place = ("--vault", str(here.sandbox.vault), "--system", "launchd")
    programs.answer(launchctl_print=NOT_LOADED)
    assert here.run("service", "install", *place).code == 0
    [file] = (here.sandbox.root / "home" / "Library" / "LaunchAgents").iterdir()
    label = plistlib.loads(file.read_bytes())["Label"]
    domain = f"gui/{os.getuid()}"
    asked = ["launchctl", "print", f"{domain}/{label}"]
    assert programs.take_calls() == [
        asked,
        asked,
        ["launchctl", "enable", f"{domain}/{label}"],
        ["launchctl", "bootstrap", domain, str(file)],
    ]

    programs.answer(launchctl_print=(0, "\tstate = running\n\tpid = 77\n", ""))
    assert here.run("service", "install", *place).code == 0
    assert programs.take_calls() == [asked, asked, ["launchctl", "kickstart", f"{domain}/{label}"]]

    assert here.run("service", "uninstall", *place).code == 0
    assert programs.take_calls() == [asked, ["launchctl", "bootout", f"{domain}/{label}"]]
    assert not file.exists()
    programs.answer(launchctl_print=NOT_LOADED)
    assert "not installed" in here.run("service", "uninstall", *place).err
    assert programs.take_calls() == [asked]


def test_a_task_of_windows(here: CommandHere, programs: FakePrograms) -> None:
    place = ("--vault", str(here.sandbox.vault), "--system", "schtasks")
    assert here.run("service", "install", *place).code == 0
    calls = programs.take_calls()
    name = calls[0][3]
    assert calls == [
        ["schtasks", "/Query", "/TN", name, "/FO", "CSV", "/NH"],
        ["schtasks", "/Create", "/TN", name, "/XML", "FILE", "/F"],
        ["schtasks", "/Run", "/TN", name],
    ]
    given = (programs.folder / "task.xml").read_bytes().decode("utf-16")
    printed = here.run("service", "install", *place, "--print")
    assert printed.out == given
    assert programs.take_calls() == []

    assert here.run("service", "uninstall", *place).code == 0
    assert [call[1] for call in programs.take_calls()] == ["/Query", "/End", "/Delete"]
    programs.answer(Query=(1, "", "ERROR: The system cannot find the file specified.\n"))
    assert "not installed" in here.run("service", "uninstall", *place).err
    assert [call[1] for call in programs.take_calls()] == ["/Query"]


def test_without_a_systemd_for_the_user_it_says_what_to_do(here: CommandHere, programs: FakePrograms) -> None:
    programs.answer(Version=UNREACHABLE)
    ran = here.run("service", "install", "--vault", str(here.sandbox.vault), "--system", "systemd")
    assert ran.code == 3
    assert ran.complains("No medium found", "loginctl enable-linger", "indexer start")
    assert not (here.sandbox.root / "config" / "systemd").exists()


def test_what_cannot_be_installed_is_refused(here: CommandHere) -> None:
    nothing = here.run("service", "install", "--system", "systemd")
    assert (nothing.code, nothing.complains("--vault DIR", "indexer init")) == (2, True)
    gone = here.run("service", "install", "--vault", "gone", "--system", "systemd")
    assert (gone.code, gone.complains(f"no such vault: {here.sandbox.root / 'gone'}")) == (3, True)

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


def test_logs_are_the_journal_or_the_file(here: CommandHere, programs: FakePrograms) -> None:
    place = ("--vault", str(here.sandbox.vault))
    assert here.run("service", "logs", *place, "--lines", "5", "--system", "systemd").code == 0
    [call] = programs.take_calls()
    assert call[:3] == ["journalctl", "--user", "--unit"]
    assert call[4:6] == ["--lines", "5"]

    none = here.run("service", "logs", *place, "--system", "launchd")
    assert (none.code, none.complains("no log yet")) == (3, True)
    log = Path(none.err.rpartition(": ")[2].strip())
    log.parent.mkdir(parents=True)
    log.write_text("".join(f"line {number}\n" for number in range(9)))
    last = here.run("service", "logs", *place, "--lines", "2", "--system", "launchd")
    assert last.out == "line 7\nline 8\n"


@pytest.fixture
def daemon() -> Iterator[AnsweringDaemon]:
    with answering_daemon() as made:
        yield made


def place(here: CommandHere, system: str) -> tuple[str, ...]:
    index = str(here.sandbox.index_dir)
    return ("--vault", str(here.sandbox.vault), "--index-dir", index, "--system", system)


def test_the_status_of_a_service_as_a_person_reads_it(
    here: CommandHere, programs: FakePrograms, daemon: AnsweringDaemon
) -> None:
    name = supervisor("systemd", Environment(here.sandbox.root, "u")).name_of(here.sandbox.vault)
    file = here.sandbox.root / "config" / "systemd" / "user" / name
    answer = "UnitFileState=disabled\nActiveState=failed\nSubState=failed\nResult=exit-code\nNRestarts=1\n"
    programs.answer(show=(0, answer, ""))
    absent = here.run("service", "status", *place(here, "systemd"))
    assert (absent.code, absent.err) == (1, "")
    assert absent.out.splitlines() == [
        f"service   {file}",
        "installed no",
        "at login  no",
        "state     failed (failed), exit-code, 1 restart",
    ]
    assert here.run("service", "status", *place(here, "systemd"), "--json").code == 1
    file.parent.mkdir(parents=True)
    file.touch()
    programs.answer(show=(0, "UnitFileState=enabled\nActiveState=active\nSubState=running\nMainPID=7\n", ""))
    daemon.announce(here.sandbox.index_dir, here.sandbox.vault)
    ran = here.run("service", "status", *place(here, "systemd"))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[1:] == [
        "installed yes",
        "at login  yes",
        "state     active (running)",
        "process   7",
        f"daemon    process {os.getpid()} at {daemon.url}",
    ]
    told = here.run("service", "status", *place(here, "systemd"), "--json").data
    assert told["daemon"] == {"pid": os.getpid(), "url": daemon.url}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((0, "x = {\n\tstate = running\n\tpid = 77\n}\n", ""), (True, True, 77, "running")),
        ((0, "x = {\n\tstate = waiting \n}\n", ""), (True, False, 0, "waiting")),
        ((0, "words of a later version\n", ""), (True, False, 0, "loaded")),
        (
            (113, "\tstate = running\n\tpid = 77\n", "Could not find service\n"),
            (False, False, 0, "not loaded"),
        ),
    ],
)
def test_the_status_of_an_agent_of_launchd(
    here: CommandHere,
    programs: FakePrograms,
    answer: tuple[int, str, str],
    expected: tuple[bool, bool, int, str],
) -> None:
    programs.answer(launchctl_print=answer)
    ran = here.run("service", "status", *place(here, "launchd"), "--json")
    found = tuple(ran.data[key] for key in ("enabled", "running", "pid", "detail"))
    assert (ran.code, ran.data["installed"], found) == (1, False, expected)


def test_a_changed_agent_is_loaded_again(here: CommandHere, programs: FakePrograms) -> None:
    assert here.run("service", "install", *place(here, "launchd")).code == 0
    [file] = (here.sandbox.root / "home" / "Library" / "LaunchAgents").iterdir()
    domain, text = f"gui/{os.getuid()}", file.read_text()
    file.write_text(text.replace("Background", "Interactive"))
    programs.take_calls()
    ran = here.run("service", "install", *place(here, "launchd"))
    assert (ran.code, ran.err.splitlines()[0]) == (0, f"installed: {file}")
    assert file.read_text() == text
    assert [call[1:] for call in programs.take_calls()[2:]] == [
        ["bootout", f"{domain}/{file.stem}"],
        ["enable", f"{domain}/{file.stem}"],
        ["bootstrap", domain, str(file)],
    ]
    programs.answer(launchctl_print=NOT_LOADED)
    again = here.run("service", "install", *place(here, "launchd"))
    assert again.err.splitlines()[0] == f"already installed: {file}", "but it was not loaded"


@pytest.mark.parametrize("system", ["systemd", "launchd"])
def test_a_definition_that_cannot_be_written_is_named(
    here: CommandHere, programs: FakePrograms, system: str
) -> None:
    blocked = here.sandbox.root / ("config/systemd" if system == "systemd" else "home/Library")
    blocked.parent.mkdir(parents=True)
    blocked.touch()
    ran = here.run("service", "install", *place(here, system))
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith(f"indexer: cannot write {blocked}/")
    assert ran.err.endswith(f": {os.strerror(errno.ENOTDIR)}\n")
    assert not any("enable" in call for call in programs.take_calls())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((4, "some\noutput\n", ""), "some output"),
        ((4, "output\n", "an\n error\n"), "an error"),
        ((4, "", ""), "exit status 4"),
    ],
)
def test_what_a_program_says_of_its_failure_is_told(
    here: CommandHere, programs: FakePrograms, answer: tuple[int, str, str], reason: str
) -> None:
    programs.answer(enable=answer)
    ran = here.run("service", "install", *place(here, "systemd"))
    assert ran.code == 3
    name = supervisor("systemd", Environment(here.sandbox.root, "u")).name_of(here.sandbox.vault)
    assert ran.err == f"indexer: `systemctl --user enable {name}` failed: {reason}\n"


def test_a_program_that_cannot_be_run_is_named(
    here: CommandHere, programs: FakePrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(programs.folder))
    (programs.folder / "systemctl").unlink()
    (programs.folder / "launchctl").write_bytes(b"\x7fELF and no more")
    ran = here.run("service", "status", *place(here, "launchd"))
    assert (ran.code, ran.err) == (3, f"indexer: launchctl cannot be run: {os.strerror(errno.ENOEXEC)}\n")
    missing = here.run("service", "status", *place(here, "systemd"))
    said = "indexer: systemctl is not installed: this system has no such services\n"
    assert (missing.code, missing.err) == (3, said)


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


def test_hints_of_a_service(
    here: CommandHere, programs: FakePrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDEXER_INDEX_DIR", str(here.sandbox.index_dir))
    monkeypatch.setenv("INDEXER_A", "1")
    monkeypatch.setenv("INDEXER_VAULT", str(here.sandbox.vault))
    monkeypatch.setenv("LOGNAME", "nobody-here")
    ran = here.run("service", "install", "--system", "systemd")
    assert ran.code == 0
    *_, left, linger = ran.err.splitlines()
    assert left == (
        "not part of the service: INDEXER_A, INDEXER_SEARCH_LIMIT; set these keys in the configuration"
    )
    assert linger == (
        "the service starts when you log in; `loginctl enable-linger nobody-here` starts it at boot"
    )
    assert "loginctl" not in here.run("service", "install", "--system", "launchd").err


def test_both_files_of_a_log_are_printed(here: CommandHere, monkeypatch: pytest.MonkeyPatch) -> None:
    none = here.run("service", "logs", *place(here, "schtasks"))
    log = Path(none.err.rpartition(": ")[2].strip())
    log.parent.mkdir(parents=True)
    log.write_bytes(b"one\ntwo\x1b[2J\nthree\xff")
    log.with_suffix(".err").write_text("first\nsecond\n")
    ran = here.run("service", "logs", *place(here, "schtasks"), "-n", "2")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[:2] == ["first", "second"]
    assert ran.out.splitlines()[2].startswith("two")
    assert "\x1b" not in ran.out
    assert ran.out.splitlines()[3:] == ["three\N{REPLACEMENT CHARACTER}"]
    followed = here.run("service", "logs", *place(here, "schtasks"), "--follow")
    said = f"--follow requires systemd's journal; the log of this service is the file {log}"
    assert (followed.code, followed.out, followed.err) == (2, "", f"indexer: {said}\n")
    monkeypatch.setenv("PATH", str(here.sandbox.root))
    missing = here.run("service", "logs", *place(here, "systemd"))
    assert (missing.code, missing.err) == (3, "indexer: journalctl is not installed\n")


def test_the_status_of_the_journal_is_that_of_the_command(here: CommandHere, programs: FakePrograms) -> None:
    programs.answer(journalctl=(5, "", ""))
    assert here.run("service", "logs", *place(here, "systemd"), "--follow").code == 5
    (call,) = programs.take_calls()
    assert call[-2:] == ["--output=short-iso", "--follow"]
