"""The bridge and what happens to the daemon behind it; neither loads the SDK before it is needed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp_clients import bridge_command
from serve_api import Api, end, serve
from waiting import DEADLINE_S, PROCESS_S, wait_until

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
INITIALIZE: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
LIST = {"jsonrpc": "2.0", "id": "two", "method": "tools/list"}
BODY = json.dumps(LIST).encode()
BOTH = f"{json.dumps(INITIALIZE)}\n{json.dumps(LIST)}\n".encode()
JSON = {"Content-Type": "application/json", "Accept": "application/json"}


LOADED = """
import sys
from vault_indexer.cli.app import main
try:
    main(sys.argv[1:])
finally:
    loaded = {name.partition(".")[0] for name in sys.modules}
    heavy = {"mcp", "mcp_types", "pydantic", "httpx2", "anyio", "asyncio", "numpy"}
    print(sorted(loaded & heavy), file=sys.stderr)
"""


def test_the_bridge_loads_neither_the_sdk_nor_pydantic(api: Api) -> None:
    command = [sys.executable, "-c", LOADED, *bridge_command(api)[3:]]
    ran = subprocess.run(command, input=BOTH, capture_output=True, timeout=PROCESS_S)
    assert ran.stderr.splitlines()[-1] == b"[]", ran.stderr
    assert len(ran.stdout.splitlines()) == 2


@pytest.mark.long
def test_a_daemon_that_nobody_asks_for_mcp_does_not_load_the_sdk(tmp_path: Path) -> None:
    process, own = serve(tmp_path)
    assert own.ask("/v1/search?q=telescope").status == 200
    assert not has_sdk(own)
    assert own.ask("/mcp", "POST", BODY, JSON).status == 200
    assert has_sdk(own)
    assert "Traceback" not in end(process)


def has_sdk(api: Api) -> bool:
    """Whether the daemon's process has mapped pydantic's and the SDK's only compiled part: cryptography."""
    return "cryptography" in Path(f"/proc/{daemon_pid(api)}/maps").read_text()


def place(root: Path) -> Api:
    (root / "vault").mkdir()
    (root / "vault" / "Sky.md").write_text("# Sky\n\nThe telescope shows the rings of Saturn.\n")
    return Api(0, "", root / "index", root / "vault")


def daemon_pid(api: Api) -> int:
    return int(json.loads((api.index_dir / "daemon.json").read_text())["pid"])


@pytest.mark.long
def test_the_bridge_starts_the_daemon_and_another_one_when_it_is_killed(tmp_path: Path) -> None:
    api = place(tmp_path)
    environ = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    search = {"name": "search", "arguments": {"q": "telescope", "fresh": True}}
    bridge = subprocess.Popen(
        bridge_command(api),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
    )
    assert bridge.stdin is not None
    assert bridge.stdout is not None
    pids: list[int] = []

    def ask(message: dict[str, Any]) -> dict[str, Any]:
        assert bridge.stdin is not None
        assert bridge.stdout is not None
        bridge.stdin.write(json.dumps(message).encode() + b"\n")
        bridge.stdin.flush()
        found: dict[str, Any] = json.loads(bridge.stdout.readline())
        return found

    try:
        assert ask(INITIALIZE)["result"]["serverInfo"]["name"] == "vault-indexer"
        for number in (2, 3):
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": search}
            # Until the first index is built, the result says so.
            wait_until(lambda: "rings of Saturn" in json.dumps(ask(message)), "the note is found")  # noqa: B023
            pids.append(daemon_pid(api))
            os.kill(pids[-1], signal.SIGKILL if number == 2 else signal.SIGTERM)
        assert pids[0] != pids[1]
    finally:
        bridge.stdin.close()
        bridge.wait(DEADLINE_S)
        for pid in {*pids, *([daemon_pid(api)] if (api.index_dir / "daemon.json").exists() else [])}:
            stop(pid)
    assert b"Traceback" not in (bridge.stderr.read() if bridge.stderr else b"")


def stop(pid: int) -> None:
    def is_gone() -> bool:
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            return True
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return status[0] == "Z"  # its parent was the bridge

    wait_until(is_gone, "the daemon ends")


@pytest.mark.long
def test_what_keeps_the_daemon_from_starting_is_the_answer(tmp_path: Path) -> None:
    api = place(tmp_path)
    (tmp_path / "vault" / ".indexer.toml").write_text("[search]\nlimit = -3\n")
    own = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    ran = subprocess.run(bridge_command(api), input=BOTH, capture_output=True, env=own, timeout=PROCESS_S)
    assert (ran.returncode, b"Traceback" in ran.stderr) == (0, False), ran.stderr
    first, second = map(json.loads, ran.stdout.splitlines())
    assert "result" in first
    assert "search.limit" in second["error"]["message"]
    assert "\n" not in second["error"]["message"]
