"""`indexer service`, through the real command; the programs of the system record how they are called."""

from __future__ import annotations

import dataclasses
import json
import os
import plistlib
from pathlib import Path

import pytest
from cli_sandbox import Sandbox, make
from fake_programs import FakePrograms, fake_programs

pytestmark = pytest.mark.long

UNREACHABLE = (1, "", "Failed to connect to bus: No medium found\n")
RUNNING = "UnitFileState=enabled\nActiveState=active\nSubState=running\nMainPID=4321\nNRestarts=2\n"


@pytest.fixture
def programs(tmp_path: Path) -> FakePrograms:
    return fake_programs(tmp_path / "bin", "systemctl", "launchctl", "schtasks", "journalctl")


@pytest.fixture
def sandbox(tmp_path: Path, programs: FakePrograms) -> Sandbox:
    """A vault called `vault`, which the calls may name, and a system that is not there."""
    variables = {"PATH": programs.path, "OPENAI_API_KEY": "sk-secret", "INDEXER_SEARCH_LIMIT": "7"}
    return dataclasses.replace(make(tmp_path), variables=variables)


def systemctl(*arguments: str) -> list[str]:
    return ["systemctl", "--user", *arguments]


def test_a_unit_is_installed_once_and_removed(sandbox: Sandbox, programs: FakePrograms) -> None:
    vault = ("--vault", str(sandbox.vault))
    first = sandbox.run("service", "install", *vault, "--system", "systemd")
    assert first.code == 0, first.err
    [file] = (sandbox.root / "config" / "systemd" / "user").iterdir()
    text = file.read_text()
    assert f"--vault {sandbox.vault}" in text
    assert f"XDG_STATE_HOME={sandbox.root}/state" in text
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

    again = sandbox.run("service", "install", *vault, "--system", "systemd")
    assert "already installed" in again.err
    assert [call[2:] for call in programs.take_calls()[3:]] == [
        ["enable", file.name],
        ["reset-failed", file.name],
        ["start", file.name],
    ]

    programs.answer(show=(0, RUNNING, ""))
    state = sandbox.run("service", "status", *vault, "--system", "systemd", "--json")
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

    removed = sandbox.run("service", "uninstall", *vault, "--system", "systemd")
    assert (removed.code, "removed" in removed.err, file.exists()) == (0, True, False)
    assert [call[2:] for call in programs.take_calls()[1:]] == [
        ["disable", "--now", file.name],
        ["daemon-reload"],
        ["reset-failed", file.name],
    ]
    assert "not installed" in sandbox.run("service", "uninstall", *vault, "--system", "systemd").err
    assert programs.take_calls() == []


def test_an_agent_of_launchd(sandbox: Sandbox, programs: FakePrograms) -> None:
    place = ("--vault", str(sandbox.vault), "--system", "launchd")
    programs.answer(launchctl_print=(113, "", "Could not find service\n"))
    assert sandbox.run("service", "install", *place).code == 0
    [file] = (sandbox.root / "home" / "Library" / "LaunchAgents").iterdir()
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
    assert sandbox.run("service", "install", *place).code == 0
    assert programs.take_calls() == [asked, asked, ["launchctl", "kickstart", f"{domain}/{label}"]]

    assert sandbox.run("service", "uninstall", *place).code == 0
    assert programs.take_calls() == [asked, ["launchctl", "bootout", f"{domain}/{label}"]]
    assert not file.exists()


def test_a_task_of_windows(sandbox: Sandbox, programs: FakePrograms) -> None:
    place = ("--vault", str(sandbox.vault), "--system", "schtasks")
    assert sandbox.run("service", "install", *place).code == 0
    calls = programs.take_calls()
    name = calls[0][3]
    assert calls == [
        ["schtasks", "/Query", "/TN", name, "/FO", "CSV", "/NH"],
        ["schtasks", "/Create", "/TN", name, "/XML", "FILE", "/F"],
        ["schtasks", "/Run", "/TN", name],
    ]
    given = (programs.folder / "task.xml").read_bytes().decode("utf-16")
    printed = sandbox.run("service", "install", *place, "--print")
    assert printed.out == given
    assert programs.take_calls() == []

    assert sandbox.run("service", "uninstall", *place).code == 0
    assert [call[1] for call in programs.take_calls()] == ["/Query", "/End", "/Delete"]


def test_without_a_systemd_for_the_user_it_says_what_to_do(sandbox: Sandbox, programs: FakePrograms) -> None:
    programs.answer(Version=UNREACHABLE)
    ran = sandbox.run("service", "install", "--vault", str(sandbox.vault), "--system", "systemd")
    assert ran.code == 3
    assert ran.complains("No medium found", "loginctl enable-linger", "indexer start")
    assert not (sandbox.root / "config" / "systemd").exists()


def test_what_cannot_be_installed_is_refused(sandbox: Sandbox) -> None:
    nothing = sandbox.run("service", "install", "--system", "systemd")
    assert (nothing.code, nothing.complains("--vault DIR", "indexer init")) == (2, True)

    odd = sandbox.root / "two\nlines"
    odd.mkdir()
    broken = sandbox.run("service", "install", "--print", "--vault", str(odd))
    assert (broken.code, broken.out, broken.complains("control characters")) == (2, "", True)

    bare = dataclasses.replace(sandbox, variables={"PATH": str(sandbox.root)})
    missing = bare.run("service", "status", "--vault", str(sandbox.vault), "--system", "launchd")
    assert (missing.code, missing.complains("launchctl is not installed")) == (3, True)


def test_the_configuration_names_the_vault(sandbox: Sandbox) -> None:
    config = sandbox.root / "config" / "vault-indexer" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"vault = {json.dumps(str(sandbox.vault))}\n")
    ran = sandbox.run("service", "install", "--print", "--system", "systemd")
    assert ran.code == 0, ran.err
    assert "-m vault_indexer.cli serve\n" in ran.out
    assert "vault-indexer.service" in ran.err


def test_without_a_vault_the_service_keeps_all_of_the_table(sandbox: Sandbox) -> None:
    added = sandbox.run("vault", "add", "notes", str(sandbox.vault))
    assert added.code == 0, added.err
    shown = sandbox.run("service", "install", "--print", "--system", "systemd")
    assert shown.code == 0, shown.err
    [start] = [line for line in shown.out.splitlines() if line.startswith("ExecStart=")]
    assert start.endswith("serve --all-vaults")
    one = sandbox.run("service", "install", "--print", "--system", "systemd", "--vault", str(sandbox.vault))
    assert "--all-vaults" not in one.out


def test_logs_are_the_journal_or_the_file(sandbox: Sandbox, programs: FakePrograms) -> None:
    place = ("--vault", str(sandbox.vault))
    assert sandbox.run("service", "logs", *place, "--lines", "5", "--system", "systemd").code == 0
    [call] = programs.take_calls()
    assert call[:3] == ["journalctl", "--user", "--unit"]
    assert call[4:6] == ["--lines", "5"]

    none = sandbox.run("service", "logs", *place, "--system", "launchd")
    assert (none.code, none.complains("no log yet")) == (3, True)
    log = Path(none.err.rpartition(": ")[2].strip())
    log.parent.mkdir(parents=True)
    log.write_text("".join(f"line {number}\n" for number in range(9)))
    last = sandbox.run("service", "logs", *place, "--lines", "2", "--system", "launchd")
    assert last.out == "line 7\nline 8\n"
