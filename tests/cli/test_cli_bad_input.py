"""Bad input of every kind: one clear line on standard error, the right status, never a traceback."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

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


def test_no_vault_named_and_none_here(sandbox: Sandbox) -> None:
    ran = sandbox.run("search", "x")
    assert ran.code == 2
    assert ran.complains("indexer init ~/Notes", "--vault DIR")


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


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("search", "x", "--limt", "3"), "--limt"),
        (("search", "  "), "the query is empty"),
        (("search",), "QUERY"),
        (("serch", "x"), "serch"),
        *(
            pytest.param(*one, marks=pytest.mark.long)
            for one in (
                (("search", "x", "--limit", "1000"), "200"),
                (("inspect",), "--all"),
                (("inspect", "Welcome", "--strategy", "magic"), "header_based"),
                (("rebuild", "extra"), "extra"),
            )
        ),
    ],
)
def test_wrong_usage(sandbox: Sandbox, arguments: tuple[str, ...], told: str) -> None:
    ran = sandbox.indexer(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.complains(told)


def test_a_reader_that_has_read_enough_is_no_error(indexed: Sandbox) -> None:
    command = [sys.executable, "-m", "vault_indexer.cli", "export"]
    place = ["--vault", str(indexed.vault), "--index-dir", str(indexed.index_dir)]
    with subprocess.Popen(
        [*command, *place],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=indexed.environ,
        cwd=indexed.root,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        _, err = process.communicate(timeout=PROCESS_S)
        assert err == b""
        assert process.returncode == 0


def test_a_mistake_in_the_program_is_one_line_too(sandbox: Sandbox) -> None:
    code = """
from vault_indexer.cli.app import main
try:
    main(["--version"])
except SystemExit:
    pass
print(1 / 0)
"""
    ran = sandbox.run(code=code)
    assert ran.code == 3
    assert ran.complains("indexer: internal error: ZeroDivisionError")
    assert len(ran.err.splitlines()) == 1


def test_init_needs_a_folder(sandbox: Sandbox) -> None:
    ran = sandbox.run("init", "--vault", str(Path(sandbox.root) / "nowhere"))
    assert ran.code == 3
    assert ran.complains("no such vault")
