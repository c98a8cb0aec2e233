"""How a program that knows only the vault starts the daemon: the command that the last daemon recorded."""

import json
import stat
import subprocess
from pathlib import Path

import pytest
from cli_sandbox import make
from waiting import PROCESS_S


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
