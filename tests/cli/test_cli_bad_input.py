"""Bad input of every kind: one clear line on standard error, the right status, never a traceback."""

from __future__ import annotations

import socket

import pytest
from cli_sandbox import Sandbox
from waiting import PROCESS_S


def test_no_such_vault(sandbox: Sandbox) -> None:
    ran = sandbox.run("search", "x", "--vault", str(sandbox.root / "nowhere"))
    assert ran.code == 3
    assert ran.out == ""
    assert ran.complains("indexer: no such vault: ", "nowhere")
    assert len(ran.err.splitlines()) == 1


@pytest.mark.long
def test_a_vault_that_is_a_file(sandbox: Sandbox) -> None:
    ran = sandbox.run("status", "--vault", str(sandbox.vault / "Welcome.md"))
    assert ran.code == 3
    assert ran.complains("the vault is not a folder", "Welcome.md")


THREE_MISTAKES = """
[chunking]
max_chunk_chars = "many"
[search]
limt = 5
[search.recency]
enabled = 3
"""


@pytest.mark.long
def test_a_config_with_three_mistakes_names_all_three(sandbox: Sandbox) -> None:
    sandbox.write(".indexer.toml", THREE_MISTAKES)
    for command in (("config", "show"), ("search", "x"), ("serve",)):
        ran = sandbox.indexer(*command)
        assert ran.code == 2, command
        assert ran.complains(
            "chunking.max_chunk_chars", "search.limt", "search.limit", "search.recency.enabled"
        )
        assert len(ran.err.splitlines()) == 3
    told = sandbox.indexer("check", "--json").data["vaults"][0]  # type: ignore[index]
    assert len(told["configuration"]) == 3


@pytest.mark.long
def test_a_port_in_use(sandbox: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        config = sandbox.root / "own.toml"
        config.write_text(f"[server]\nport = {port}\n")
        ran = sandbox.indexer("serve", "--config", str(config))
        assert ran.code == 3
        assert ran.complains(f"cannot bind to port {port}", "server.port")
        assert not (sandbox.index_dir / "daemon.json").exists()
        background = sandbox.indexer("start", "--config", str(config), "--wait", str(PROCESS_S))
        assert background.code == 3
        assert background.complains("the daemon did not start", f"cannot bind to port {port}")


@pytest.mark.parametrize(
    "command",
    [
        ("search", "x"),
        ("start",),
        *(pytest.param(one, marks=pytest.mark.long) for one in (("rebuild",), ("serve",))),
    ],
)
def test_an_index_folder_that_cannot_be_written(sandbox: Sandbox, command: tuple[str, ...]) -> None:
    blocked = sandbox.vault / "Welcome.md" / "index"
    ran = sandbox.run(*command, "--vault", str(sandbox.vault), "--index-dir", str(blocked))
    assert ran.code == 3
    assert ran.complains("indexer: ", "Welcome.md/index")
