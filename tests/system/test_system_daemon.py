"""A daemon from its start to its end, by the commands alone: what CI runs on Windows and macOS, too."""

from pathlib import Path

import pytest
from cli_sandbox import make
from waiting import PROCESS_S

pytestmark = [pytest.mark.portable, pytest.mark.long]


def test_a_daemon_indexes_follows_and_ends(tmp_path: Path) -> None:
    sandbox = make(tmp_path)
    built = sandbox.indexer("rebuild")
    assert built.code == 0, built.err
    started = sandbox.indexer("start", "--wait", str(PROCESS_S))
    assert started.code == 0, started.err
    try:
        sandbox.write("Sky/Comet.md", "# Comet\n\nA tail of dust and gas.\n")
        found = sandbox.indexer("search", "comet", "--fresh", "--json")
        assert found.code == 0, found.err
        hits = found.data["results"]
        assert isinstance(hits, list)
        assert hits[0]["path"] == "Sky/Comet.md"
    finally:
        stopped = sandbox.indexer("stop")
    assert stopped.code == 0, stopped.err
    again = sandbox.indexer("search", "comet", "--json")
    assert again.code == 0, again.err
