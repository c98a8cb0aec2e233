"""A command that would open the index itself says what its user's limits do not allow, and does not begin."""

from __future__ import annotations

import sys

import pytest
from cli_sandbox import Ran, Sandbox

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")

ADDRESS_SPACE_KB = 400 * 1024
SAID = (
    "indexer: to open the index itself, a command needs as much as a daemon: "
    "the daemon needs 1024 MB of address space, and has 400: raise `ulimit -v`"
)


def limited(sandbox: Sandbox, *arguments: str) -> Ran:
    """`indexer ARGUMENTS` in a shell that has set the limit."""
    shell = f'ulimit -v {ADDRESS_SPACE_KB}; exec "$0" -m vault_indexer.cli "$@"'
    return sandbox.run_program(["/bin/sh", "-c", shell, sys.executable, *arguments])


def place(sandbox: Sandbox) -> tuple[str, ...]:
    return ("--vault", str(sandbox.vault), "--index-dir", str(sandbox.index_dir))


@pytest.mark.parametrize(
    "command",
    ["search telescope", "ask telescope", "status", "rebuild", "check", "export", "eval judge telescope"],
)
def test_too_little_address_space_is_said_in_one_line(sandbox: Sandbox, command: str) -> None:
    ended = limited(sandbox, *command.split(), *place(sandbox))
    assert ended.err.splitlines() == [SAID]
    assert (ended.code, ended.out) == (3, "")
    assert not sandbox.index_dir.exists()


def test_all_vaults_are_no_exception(sandbox: Sandbox) -> None:
    config = sandbox.root / "config" / "vault-indexer" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[vaults]\none = "{sandbox.vault}"\ntwo = "{sandbox.vault / "Sky"}"\n', "utf-8")
    ended = limited(sandbox, "search", "telescope")
    assert ended.err.splitlines() == [SAID]
    assert ended.code == 3


def test_a_command_that_a_daemon_answers_does_with_less(served: Sandbox) -> None:
    found = limited(served, "search", "telescope", *place(served))
    assert found.code == 0, found.err
    assert "Night sky" in found.out
