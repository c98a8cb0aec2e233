"""`indexer embed`: better vectors made at once, paused, and shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_sandbox import PLAIN_MODEL, Sandbox


def model_of(sandbox: Sandbox) -> object:
    manifest = sandbox.indexer("status", "--json").data["manifest"]
    assert isinstance(manifest, dict)
    return manifest["embedding_model"]["provider"]


def test_without_a_daemon_they_are_made_here(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, PLAIN_MODEL)
    for number in range(120):
        sandbox.write(f"Note {number}.md", f"# Note {number}\n\n{'About the garden in the rain. ' * 70}\n")
    assert sandbox.indexer("rebuild").code == 0
    assert model_of(sandbox) == "wordllama"
    made = sandbox.indexer("embed", "--now")
    assert (made.code, made.out.startswith("Indexed ")) == (0, True), made
    assert model_of(sandbox) == "multilingual"
    shown = sandbox.indexer("embed")
    assert (shown.code, shown.err) == (0, "There are no better vectors to make.\n")


@pytest.mark.parametrize("option", ["--pause", "--resume"])
def test_only_a_daemon_can_be_paused(indexed: Sandbox, option: str) -> None:
    ran = indexed.indexer("embed", option)
    assert ran.code == 3
    assert ran.complains("no daemon")
