"""`/mcp` is behind the guard as every other route is; its bridge survives what happens to the daemon."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_clients import bridge_command
from serve_api import Api, end, serve
from waiting import DEADLINE_S, PROCESS_S, wait_until

INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
LIST = {"jsonrpc": "2.0", "id": "two", "method": "tools/list"}
BODY = json.dumps(LIST).encode()
JSON = {"Content-Type": "application/json", "Accept": "application/json"}


@pytest.mark.parametrize(
    ("headers", "host", "status", "kind"),
    [
        ({"Authorization": ""}, None, 401, "token"),
        ({"Authorization": "Bearer wrong"}, None, 401, "token"),
        ({}, "attacker.example", 421, "host"),
        ({"Origin": "https://attacker.example"}, None, 403, "origin"),
        ({"Content-Type": "text/plain"}, None, 415, "content_type"),
        ({"Content-Length": str(2 << 20)}, None, 413, "too_large"),
    ],
)
def test_strangers_are_refused(
    api: Api, headers: dict[str, str], host: str | None, status: int, kind: str
) -> None:
    refused = api.ask("/mcp", "POST", BODY, {**JSON, **headers}, host)
    assert (refused.status, refused.kind) == (status, kind)


def test_an_allowed_page_may_ask(api: Api) -> None:
    found = api.ask("/mcp", "POST", BODY, {**JSON, "Origin": "app://obsidian.md"})
    assert found.status == 200
    assert found.headers["access-control-allow-origin"] == "app://obsidian.md"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b"\xff", b"[" * 100_000])
def test_what_is_no_message_is_refused(api: Api, body: bytes) -> None:
    refused = api.ask("/mcp", "POST", body, JSON)
    assert 400 <= refused.status < 500
    assert "Traceback" not in refused.body.decode()


def lines(api: Api, *messages: object, environ: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """What the bridge answers to some lines of input, and to its end."""
    text = "".join(one if isinstance(one, str) else f"{json.dumps(one)}\n" for one in messages)
    ran = subprocess.run(
        bridge_command(api),
        input=text.encode(),
        capture_output=True,
        env={**os.environ, **(environ or {})},
        timeout=PROCESS_S,
    )
    assert ran.returncode == 0, ran.stderr
    assert b"Traceback" not in ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


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
    command = bridge_command(api)
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, *command[3:]],
        input=f"{json.dumps(INITIALIZE)}\n{json.dumps(LIST)}\n".encode(),
        capture_output=True,
        timeout=PROCESS_S,
    )
    assert ran.stderr.splitlines()[-1] == b"[]", ran.stderr
    assert len(ran.stdout.splitlines()) == 2


@pytest.mark.long
def test_a_daemon_that_nobody_asks_for_mcp_does_not_load_the_sdk(own: Api) -> None:
    assert own.ask("/v1/search?q=telescope").status == 200
    assert not has_sdk(own)
    assert own.ask("/mcp", "POST", BODY, JSON).status == 200
    assert has_sdk(own)


def has_sdk(api: Api) -> bool:
    """Whether the daemon's process has mapped pydantic's and the SDK's only compiled part: cryptography."""
    pid = json.loads((api.index_dir / "daemon.json").read_text())["pid"]
    return "cryptography" in Path(f"/proc/{pid}/maps").read_text()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Api]:
    process, api = serve(tmp_path)
    yield api
    assert "Traceback" not in end(process)


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
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    found = lines(api, INITIALIZE, LIST, environ=environ)
    assert "result" in found[0]
    assert "search.limit" in found[1]["error"]["message"]
    assert "\n" not in found[1]["error"]["message"]
