"""A note of `ask.never_send` reaches no model through any face: HTTP, an agent, a command, Python."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from openai_server import ModelServer, model_server
from serve_api import Api, end, serve
from waiting import PROCESS_S

from vault_indexer import open_vault

QUESTION = "What shows the rings of Saturn?"
SECRET = "telescope"

pytestmark = pytest.mark.long


def ask_by_http(api: Api) -> str:
    return api.post("/v1/ask", json.dumps({"q": QUESTION, "stream": False}).encode()).body.decode()


def ask_as_agent(api: Api) -> str:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "ask", "arguments": {"q": QUESTION}},
    }
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    return api.ask("/mcp", "POST", json.dumps(call).encode(), headers).body.decode()


def ask_by_command(api: Api, *options: str) -> str:
    place = ["--vault", str(api.vault), "--index-dir", str(api.index_dir)]
    place += ["--config", str(api.vault.parent / "config.toml")]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("INDEXER_")}
    return subprocess.run(
        [sys.executable, "-m", "vault_indexer.cli", "ask", QUESTION, *options, *place],
        env=environ,
        capture_output=True,
        timeout=PROCESS_S,
        text=True,
        check=True,
    ).stdout


def config(server: ModelServer, never_send: str) -> str:
    llm = f'[llm]\nprovider = "openai"\nmodel = "m"\nurl = "{server.url}/v1"\n'
    return f'{llm}[ask]\nnever_send = ["{never_send}"]\n'


@pytest.mark.parametrize("never_send", ["Sky.md", "Bread.md"])
def test_no_face_sends_the_note(tmp_path: Path, never_send: str) -> None:
    """With the other note kept away, the same questions do send this one."""
    pytest.importorskip("llama_index.llms.openai_like")
    with model_server() as server:
        process, api = serve(tmp_path, config(server, never_send))
        answers = [ask_by_http(api), ask_as_agent(api), ask_by_command(api)]
        shown = ask_by_command(api, "--show-prompt")
        end(process)
        own = {"provider": "openai", "model": "m2", "url": f"{server.url}/v1"}
        with open_vault(
            api.vault, tmp_path / "own", llm=own, ask={"never_send": [never_send]}, index={"workers": 1}
        ) as vault:
            answers.append(vault.ask(QUESTION).sentences[0].text)
        sent = json.dumps([request.body for request in server.requests])
    is_kept_away = never_send == "Sky.md"
    assert (SECRET in sent, SECRET in shown) == (not is_kept_away, not is_kept_away)
    assert all(SECRET in answer for answer in answers)
