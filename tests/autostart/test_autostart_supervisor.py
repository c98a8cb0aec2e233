"""What is written for each system says what was meant, also of a vault with an odd path."""

import configparser
import dataclasses
import ntpath
import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from xml.etree import ElementTree as ET

import pytest
from golden_cases import compare_golden
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from vault_indexer.autostart import SUPERVISORS, Environment, ServiceSpec, supervisor, supervisor_of_platform
from vault_indexer.autostart.supervisor import escape_path
from vault_indexer.errors import UsageError

pytestmark = pytest.mark.portable

ODD = '/home/mé/My "100%" $HOME notes; \\x20 и заметки'
TASK = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
ENVIRONMENT = Environment(
    PurePosixPath("/home/me"),  # type: ignore[arg-type] # the same on every system that runs this
    "me",
    {"XDG_STATE_HOME": "/home/me/my state/100%"},
)


def spec(vault: str | None, program: str = sys.executable) -> ServiceSpec:
    named = ("--vault", vault) if vault else ()
    path = PurePosixPath(vault) if vault else None
    return ServiceSpec(
        path,  # type: ignore[arg-type]
        (program, "-m", "vault_indexer.cli", "serve", *named),
        PurePosixPath("/home/me/logs"),  # type: ignore[arg-type]
        ENVIRONMENT,
    )


@pytest.mark.parametrize("system", SUPERVISORS)
def test_a_definition_is_that_of_its_golden(system: str) -> None:
    """In `fixtures/` for the configured vaults, and for a vault with an odd path."""
    chosen = supervisor(system, ENVIRONMENT)
    texts = (chosen.definition(spec(vault, "/usr/bin/python3")) for vault in (None, ODD))
    compare_golden(Path(__file__).parent / "fixtures" / f"{system}.txt", "\n".join(texts))


def test_a_definition_that_is_read_has_the_command_and_the_variables() -> None:
    given = spec(ODD)
    texts = {name: supervisor(name, ENVIRONMENT).definition(given) for name in SUPERVISORS}
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), strict=True)
    parser.read_string(texts["systemd"])
    service = parser["Service"]
    # `shlex` and systemd read double quotes alike; the colon ends the meaning of `$`.
    words = shlex.split(service["ExecStart"].removeprefix(":"))
    assert [word.replace("%%", "%") for word in words] == list(given.command)
    assert shlex.split(service["Environment"]) == ["XDG_STATE_HOME=/home/me/my state/100%%"]
    agent = plistlib.loads(texts["launchd"].encode())
    log = ["--log-file", f"/home/me/logs/{agent['Label']}.log"]
    assert agent["ProgramArguments"] == [*given.command, *log]
    assert agent["EnvironmentVariables"] == dict(ENVIRONMENT.variables)
    task = {
        one.tag.removeprefix(TASK): one.text
        for one in ET.fromstring(texts["schtasks"].encode("utf-16")).iter()
    }
    program, *arguments = given.command
    assert (task["Command"], task["Arguments"]) == (program, subprocess.list2cmdline([*arguments, *log]))


def test_an_agent_without_variables_names_none() -> None:
    plain = dataclasses.replace(spec(None), environment=Environment(ENVIRONMENT.home, "me"))
    assert "EnvironmentVariables" not in supervisor("launchd", ENVIRONMENT).definition(plain)


STRINGS, FLAGS = dict[str, str], dict[str, bool]
LAUNCHD: dict[str, Any] = {
    "Label": str,
    "ProgramArguments": list[str],
    "EnvironmentVariables": STRINGS,
    "WorkingDirectory": str,
    "RunAtLoad": bool,
    "KeepAlive": FLAGS,
    "ThrottleInterval": int,
    "ExitTimeOut": int,
    "ProcessType": Literal["Background", "Standard", "Adaptive", "Interactive"],
    "LowPriorityIO": bool,
    "Nice": int,
    "StandardErrorPath": str,
}
"""The keys that an agent has, with the types of launchd.plist(5)."""


@pytest.mark.posix("paths with slashes")
@pytest.mark.parametrize("vault", [None, "/home/me/Notes", ODD, "/home/me/x & <y>"])
def test_launchd_knows_each_key_of_an_agent_and_its_type(vault: str | None) -> None:
    chosen, given_spec = supervisor("launchd", ENVIRONMENT), spec(vault)
    agent = plistlib.loads(chosen.definition(given_spec).encode(), fmt=plistlib.FMT_XML)
    assert agent.keys() == LAUNCHD.keys()
    for key, value in agent.items():
        TypeAdapter(LAUNCHD[key]).validate_python(value, strict=True)
    assert agent["KeepAlive"].keys() == {"SuccessfulExit"}
    assert -20 <= agent["Nice"] <= 20
    assert min(agent["ThrottleInterval"], agent["ExitTimeOut"]) > 0
    # launchd expands no `~`, and finds no program through PATH.
    for path in (agent["ProgramArguments"][0], agent["WorkingDirectory"], agent["StandardErrorPath"]):
        assert path.startswith("/")
    assert chosen.place(agent["Label"]) == f"/home/me/Library/LaunchAgents/{agent['Label']}.plist"


@pytest.mark.parametrize("vault", [None, "/home/me/Notes", ODD])
def test_systemd_finds_nothing_wrong_with_a_unit(vault: str | None, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed (Debian: package systemd)")
    chosen = supervisor("systemd", ENVIRONMENT)
    given_spec = spec(vault)
    file = tmp_path / chosen.name_of(given_spec.vault)
    file.write_text(chosen.definition(given_spec))
    (tmp_path / "run").mkdir(mode=0o700)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(file)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "run"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("system", "place"),
    [
        ("systemd", "/home/me/.config/systemd/user/a"),
        ("launchd", "/home/me/Library/LaunchAgents/a.plist"),
        ("schtasks", "task a"),
    ],
)
def test_a_definition_has_its_place_and_a_service_its_log(system: str, place: str) -> None:
    chosen = supervisor(system, ENVIRONMENT)
    assert chosen.place("a") == place
    journal = ["journalctl", "--user", "--unit", "a", "--lines", "7", "--output=short-iso"]
    for follow, last in ((True, "--follow"), (False, "--no-pager")):
        found = chosen.log_command("a", 7, follow=follow)
        assert found == ([*journal, last] if system == "systemd" else [])


def test_the_folder_of_configuration_is_that_of_the_variable_else_the_usual_one() -> None:
    elsewhere = dataclasses.replace(ENVIRONMENT, variables={"XDG_CONFIG_HOME": "/etc/mine"})
    assert supervisor("systemd", elsewhere).place("a") == str(Path("/etc/mine/systemd/user/a"))


def test_a_task_runs_without_a_console(tmp_path: Path) -> None:
    chosen = supervisor("schtasks", ENVIRONMENT)
    for name, is_there, shown in (
        ("python.exe", True, "pythonw.exe"),
        ("PYTHON.EXE", True, "pythonw.exe"),
        ("python3.exe", True, "python3.exe"),
        ("python.exe", False, "python.exe"),
    ):
        windowless = Path(ntpath.join(tmp_path / "bin", "pythonw.exe"))
        windowless.parent.mkdir(exist_ok=True)
        windowless.unlink(missing_ok=True)
        if is_there:
            windowless.touch()
        text = chosen.definition(spec(None, f"{tmp_path}/bin/{name}"))
        (command,) = ET.fromstring(text.encode("utf-16")).iter(f"{TASK}Command")
        assert command.text is not None
        assert ntpath.basename(command.text) == shown


@pytest.mark.parametrize("system", SUPERVISORS)
def test_a_path_with_a_line_break_is_refused(system: str) -> None:
    chosen = supervisor(system, ENVIRONMENT)
    for broken in (spec("/home/me/a\nExecStartPre=/bin/rm"), spec(None, "/opt/py\rthon")):
        with pytest.raises(UsageError, match="control characters"):
            chosen.name_of(broken.vault)
            chosen.definition(broken)


@pytest.mark.parametrize("system", SUPERVISORS)
def test_each_vault_has_a_service_of_its_own(system: str) -> None:
    chosen = supervisor(system, ENVIRONMENT)
    long = f"/home/me/{'заметки/' * 60}"
    vaults = [None, "/home/me/Notes", "/home/you/Notes", "/home/me-Notes", "/Notes", ODD, long, f"{long}2"]
    names = [chosen.name_of(PurePosixPath(vault) if vault else None) for vault in vaults]  # type: ignore[arg-type]
    assert len(set(names)) == len(vaults)
    assert all(len(name) <= 255 and "/" not in name for name in names)


def test_names_of_units_are_escaped_as_systemd_escapes_them() -> None:
    assert escape_path("/home/me/My notes/") == r"home-me-My\x20notes"
    assert escape_path("/.hidden//a-b.c:d_e/é") == r"\x2ehidden-a\x2db.c:d_e-\xc3\xa9"
    assert escape_path("/") == "-"


@pytest.mark.long
@given(
    st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), min_size=1, max_size=30)
)
def test_systemd_escape_agrees(text: str) -> None:
    if shutil.which("systemd-escape") is None:
        pytest.skip("systemd-escape is not installed (Debian: package systemd)")
    path = f"/{text}"
    if any(part in (".", "..") for part in path.split("/")):
        return
    done = subprocess.run(
        ["systemd-escape", "--path", "--", path], capture_output=True, text=True, check=True
    )
    assert escape_path(path) == done.stdout.removesuffix("\n")


def test_each_platform_has_its_system() -> None:
    platforms = ("linux", "darwin", "win32", "freebsd14")
    assert [supervisor_of_platform(one) for one in platforms] == ["systemd", "launchd", "schtasks", "systemd"]
    with pytest.raises(UsageError, match="allowed: systemd, launchd, schtasks"):
        supervisor("upstart", ENVIRONMENT)
