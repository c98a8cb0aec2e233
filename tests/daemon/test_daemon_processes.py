"""A daemon as processes: they talk to nobody, a first edit imports nothing, a recorded command starts it."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cli_sandbox import make
from vault_at_work import Place, place
from waiting import PROCESS_S

RECORDER = """
import os, sys
EVENTS = {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"}
def record(event, args):
    if event in EVENTS:
        with open(os.environ["RECORD"], "a") as file:
            file.write(f"{event} {args!r}\\n")
with open(os.environ["RECORD"], "a") as file:
    file.write("process\\n")
sys.addaudithook(record)
"""
LOCAL = re.compile(r"127\.0\.0\.1|'localhost'|'::1'|AF_UNIX|'/[^']*'")


@pytest.fixture
def where(tmp_path: Path) -> Place:
    return place(tmp_path)


def commands(where: Place) -> list[list[str]]:
    common = ["--vault", str(where.vault), "--index-dir", str(where.index_dir), "--config", str(where.config)]
    run = [sys.executable, "-m", "vault_indexer.cli"]
    return [[*run, "rebuild", *common], [*run, "search", "fan error", *common]]


@pytest.mark.long
def test_no_python_code_of_any_process_opens_a_connection(where: Place, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(RECORDER)
    record = tmp_path / "record"
    environ = {**os.environ, "PYTHONPATH": str(hooks), "RECORD": str(record)}
    for command in commands(where):
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
    told = record.read_text().splitlines()
    assert told.count("process") >= 3, "the workers are watched too"
    assert [line for line in told if line != "process" and not LOCAL.search(line)] == []


@pytest.mark.long
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_native_code_opens_a_connection_either(where: Place, tmp_path: Path) -> None:
    record = tmp_path / "calls"
    trace = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg,bind", "-o", str(record)]
    for command in commands(where):
        done = subprocess.run([*trace, *command], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        outward = re.compile(r'AF_INET6?,.*(sin_addr=inet_addr\("(?!127\.)|inet_pton\(AF_INET6, "(?!::1"))')
        assert [line for line in record.read_text().splitlines() if outward.search(line)] == []


@pytest.fixture
def imported(tmp_path: Path) -> dict[str, list[str]]:
    """By process, what the first edit imports."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Note.md").write_text("# Note\n\nSomething.\n", "utf-8")
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from pathlib import Path; import first_edit_child\n"
        f"first_edit_child.main(*map(Path, {[str(tmp_path / 'vault'), str(tmp_path / 'index')]!r}))"
    )
    environ = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environ, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.long
def test_the_first_edit_imports_nothing(imported: dict[str, list[str]]) -> None:
    assert imported == {"daemon": [], "worker": []}


@pytest.mark.long
def test_the_recorded_command_starts_the_daemon_again(tmp_path: Path) -> None:
    sandbox = make(tmp_path)
    assert sandbox.indexer("start", "--wait", str(PROCESS_S)).code == 0
    command = sandbox.daemon_file()["command"]
    assert sandbox.indexer("stop").code == 0
    start_file = sandbox.index_dir / "start.json"
    assert stat.S_IMODE(start_file.stat().st_mode) == 0o600
    assert json.loads(start_file.read_text()) == {"vault": str(sandbox.vault), "command": command}
    assert isinstance(command, list)
    assert Path(command[0]).is_absolute()

    # Another folder, and a PATH as a GUI program may have it.
    bare, again = {**sandbox.environ, "PATH": "/usr/bin:/bin"}, [*command, "--wait", str(PROCESS_S)]
    ran = subprocess.run(
        again, env=bare, cwd="/", capture_output=True, text=True, timeout=PROCESS_S, check=False
    )
    try:
        assert ran.returncode == 0, ran.stderr
        assert sandbox.daemon_file()["vault"] == str(sandbox.vault)
    finally:
        assert sandbox.indexer("stop").code == 0
