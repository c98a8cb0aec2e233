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
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
RESTARTS = {"RestartSec": "30", "StartLimitBurst": "10", "StartLimitIntervalSec": "900"}


def spec(vault: str | None, program: str = sys.executable) -> ServiceSpec:
    named = ("--vault", vault) if vault else ()
    path = PurePosixPath(vault) if vault else None
    return ServiceSpec(
        path,  # type: ignore[arg-type]
        (program, "-m", "vault_indexer.cli", "serve", *named),
        PurePosixPath("/home/me/logs"),  # type: ignore[arg-type]
        ENVIRONMENT,
    )


def unit(text: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # keys keep their case
    parser.read_string(text)
    return parser


@pytest.mark.parametrize("vault", [None, "/home/me/Notes", ODD])
def test_a_unit_starts_the_command_and_limits_its_restarts(vault: str | None) -> None:
    found = unit(supervisor("systemd", ENVIRONMENT).definition(spec(vault)))
    service = found["Service"]
    # `shlex` and systemd read double quotes alike; the colon ends the meaning of `$`.
    words = shlex.split(service["ExecStart"].removeprefix(":"))
    assert [word.replace("%%", "%") for word in words] == list(spec(vault).command)
    assert shlex.split(service["Environment"]) == ["XDG_STATE_HOME=/home/me/my state/100%%"]
    assert {**service, **found["Unit"]}.items() >= RESTARTS.items()
    assert (service["Restart"], service["RestartPreventExitStatus"]) == ("on-failure", "2")
    assert (service["Nice"], service["NoNewPrivileges"]) == ("10", "yes")
    assert found["Install"]["WantedBy"] == "default.target"


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


@pytest.mark.parametrize("vault", [None, "/home/me/Notes", ODD])
def test_a_property_list_survives_being_read(vault: str | None) -> None:
    chosen = supervisor("launchd", ENVIRONMENT)
    given_spec = spec(vault)
    found = plistlib.loads(chosen.definition(given_spec).encode())
    name = chosen.name_of(given_spec.vault)
    log = ["--log-file", f"/home/me/logs/{name}.log"]
    assert found["ProgramArguments"] == [*given_spec.command, *log]
    assert found["Label"] == name
    assert found["KeepAlive"] == {"SuccessfulExit": False}
    assert (found["ThrottleInterval"], found["RunAtLoad"]) == (30, True)
    assert (found["ProcessType"], found["LowPriorityIO"], found["Nice"]) == ("Background", True, 10)
    assert found["EnvironmentVariables"] == dict(ENVIRONMENT.variables)


def test_an_agent_says_where_it_runs_and_how_it_ends() -> None:
    chosen = supervisor("launchd", Environment(ENVIRONMENT.home, "me"))
    plain = dataclasses.replace(spec(None), environment=Environment(ENVIRONMENT.home, "me"))
    found = plistlib.loads(chosen.definition(plain).encode())
    assert "EnvironmentVariables" not in found
    assert (found["WorkingDirectory"], found["ExitTimeOut"]) == ("/", 30)
    assert found["StandardErrorPath"] == f"/home/me/logs/{found['Label']}.err"
    assert list(found)[:2] == ["Label", "ProgramArguments"], "what it is stands first"


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


@pytest.mark.parametrize(
    ("vault", "said"),
    [
        (None, "vault-indexer: search of the configured vaults"),
        ("/home/me/100%", "vault-indexer: search of /home/me/100%"),
    ],
)
def test_a_definition_says_what_is_searched(vault: str | None, said: str) -> None:
    described = unit(supervisor("systemd", ENVIRONMENT).definition(spec(vault)))["Unit"]["Description"]
    assert described == said.replace("%", "%%")
    task = ET.fromstring(supervisor("schtasks", ENVIRONMENT).definition(spec(vault)).encode("utf-16"))
    (text,) = (one.text for one in task.iter(f"{TASK}Description"))
    assert text == said


def test_a_task_belongs_to_its_user_and_runs_without_a_console(tmp_path: Path) -> None:
    chosen = supervisor("schtasks", ENVIRONMENT)
    task = ET.fromstring(chosen.definition(spec(None)).encode("utf-16"))
    assert [one.text for one in task.iter(f"{TASK}UserId")] == ["me", "me"]
    (principal,) = task.iter(f"{TASK}Principal")
    (actions,) = task.iter(f"{TASK}Actions")
    assert principal.attrib["id"] == actions.attrib["Context"] == "Author"
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


@pytest.mark.parametrize("vault", [None, "/home/me/Notes", ODD])
def test_a_task_has_the_elements_of_the_schema(vault: str | None) -> None:
    given_spec = spec(vault)
    chosen = supervisor("schtasks", ENVIRONMENT)
    task = ET.fromstring(chosen.definition(given_spec).encode("utf-16"))
    assert (task.tag, task.attrib) == (f"{TASK}Task", {"version": "1.2"})
    allowed = {"RegistrationInfo", "Triggers", "Principals", "Settings", "Actions"}
    assert {child.tag.removeprefix(TASK) for child in task} == allowed
    texts = {element.tag.removeprefix(TASK): element.text for element in task.iter()}
    program, *arguments = given_spec.command
    assert texts["Command"] == program
    arguments += ["--log-file", f"/home/me/logs/{chosen.name_of(given_spec.vault)}.log"]
    assert texts["Arguments"] == subprocess.list2cmdline(arguments)
    assert (texts["Interval"], texts["Count"], texts["Priority"]) == ("PT1M", "10", "7")
    assert (texts["ExecutionTimeLimit"], texts["MultipleInstancesPolicy"]) == ("PT0S", "IgnoreNew")
    assert (texts["LogonType"], texts["RunLevel"]) == ("InteractiveToken", "LeastPrivilege")
    # xs:sequence in the schema: a trigger names the user last, an action the program first.
    logon, action = task.find(f".//{TASK}LogonTrigger"), task.find(f".//{TASK}Exec")
    assert logon is not None
    assert action is not None
    assert [child.tag.removeprefix(TASK) for child in logon] == ["Enabled", "UserId"]
    assert [child.tag.removeprefix(TASK) for child in action] == ["Command", "Arguments"]


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
