"""`--strategy` of `rebuild` and `start`: another way to split, without a change of the configuration."""

from __future__ import annotations

import pytest
from cli_sandbox import Sandbox
from waiting import PROCESS_S, wait_until


def strategy_of(sandbox: Sandbox) -> object:
    manifest = sandbox.indexer("status", "--json").data["manifest"]
    assert isinstance(manifest, dict)
    return manifest["chunking_config"]["strategy"]


def test_rebuild_takes_a_strategy_for_once(copied: Sandbox) -> None:
    assert copied.indexer("rebuild", "--strategy", "paragraph").code == 0
    assert strategy_of(copied) == "paragraph"
    assert copied.indexer("search", "telescope").complains(
        "Index rebuilt: chunking.strategy is now header_based"
    )
    ran = copied.indexer("rebuild", "--strategy", "words")
    assert ran.code == 2
    assert ran.complains("Invalid value for --strategy: there is no strategy words", "paragraph")
    assert "INDEXER" not in ran.err


@pytest.mark.long
def test_a_daemon_takes_a_strategy_for_its_life(copied: Sandbox) -> None:
    assert copied.indexer("start", "--strategy", "word", "--wait", str(PROCESS_S)).code == 0
    try:
        wait_until(lambda: strategy_of(copied) == "word", "the index is rebuilt")
        ran = copied.indexer("rebuild", "--strategy", "paragraph")
        assert (ran.code, ran.complains("a daemon keeps this index")) == (2, True), ran.err
    finally:
        assert copied.indexer("stop").code == 0
