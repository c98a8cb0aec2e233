"""A vault holds Python files named like modules of the program, and is the current folder of each command."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from cli_sandbox import Sandbox, make
from waiting import PROCESS_S

from vault_indexer.daemon.discovery import read_daemon

pytestmark = pytest.mark.long

INDEXER = str(Path(sys.executable).with_name("indexer"))
MODULES = ("typer", "json", "numpy", "tomllib", "sitecustomize", "usercustomize", "vault_indexer/__init__")
ASKS = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}\n'
"""What an agent's host sends to `indexer mcp`, which starts the daemon to answer it."""


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    sandbox = make(tmp_path_factory.mktemp("poisoned"))
    for name in MODULES:
        sandbox.write(f"{name}.py", f"open({str(ran(sandbox))!r}, 'a').write(__name__ + '\\n')\n")
    return sandbox


@pytest.fixture(autouse=True)
def nothing_ran(sandbox: Sandbox) -> Iterator[None]:
    """No test may end with code of the vault having run, or a daemon left."""
    yield
    if read_daemon(sandbox.index_dir) is not None:
        command(sandbox, "stop")
    assert not ran(sandbox).exists(), f"the vault's own code ran: {ran(sandbox).read_text().split()}"


def ran(sandbox: Sandbox) -> Path:
    return sandbox.root / "ran"


def command(sandbox: Sandbox, *arguments: str, stdin: bytes = b"") -> str:
    return in_the_vault(sandbox, [INDEXER, *arguments, "--vault", ".", "--index-dir", "../index"], stdin)


def in_the_vault(sandbox: Sandbox, words: Sequence[str], stdin: bytes = b"") -> str:
    done = subprocess.run(
        words, cwd=sandbox.vault, env=sandbox.environ, input=stdin, capture_output=True, timeout=PROCESS_S
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("words", ["rebuild", "search bread", "links --broken"])
def test_a_command_runs_nothing_of_its_folder(sandbox: Sandbox, words: str) -> None:
    command(sandbox, *words.split())


@pytest.mark.parametrize("words", ["start", "open --print", "mcp"])
def test_a_daemon_runs_nothing_of_the_folder_it_was_started_in(sandbox: Sandbox, words: str) -> None:
    command(sandbox, *words.split(), stdin=ASKS)
    info = read_daemon(sandbox.index_dir)
    assert info is not None
    if Path("/proc/self/cwd").exists():
        assert Path(f"/proc/{info.pid}/cwd").resolve() == sandbox.index_dir


def test_the_command_that_the_plugin_runs_runs_nothing_of_its_folder(sandbox: Sandbox) -> None:
    recorded = json.loads((sandbox.index_dir / "start.json").read_text())["command"]
    in_the_vault(sandbox, recorded)
    assert read_daemon(sandbox.index_dir) is not None
    assert "Bread.md" in command(sandbox, "search", "bread")


def test_a_service_runs_nothing_of_its_folder(sandbox: Sandbox) -> None:
    for system in ("systemd", "launchd", "schtasks"):
        shown = command(sandbox, "service", "install", "--print", "--system", system)
        assert "-P" in shown.split("vault_indexer.cli")[0]
