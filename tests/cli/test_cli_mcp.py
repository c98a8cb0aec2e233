"""What `indexer mcp` does before it reaches a daemon."""

from __future__ import annotations

import json
import os
import socket

from cli_sandbox import Sandbox

from vault_indexer.daemon.discovery import DaemonInfo, write_daemon


def test_a_daemon_that_does_not_listen_any_more_is_not_asked(sandbox: Sandbox) -> None:
    sandbox.index_dir.mkdir(mode=0o700)
    with socket.socket() as bound:  # nobody listens at its port
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        write_daemon(sandbox.index_dir, DaemonInfo(os.getpid(), url, "token", "", "2026-01-01T00:00:00Z"))
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "status"}}
        # Another one is started, which fails for a reason of its own.
        place = ("--vault", "nowhere", "--index-dir", str(sandbox.index_dir))
        ran = sandbox.run("mcp", *place, stdin=json.dumps(request) + "\n")
    assert json.loads(ran.out)["error"]["message"].startswith("no such vault: ")
