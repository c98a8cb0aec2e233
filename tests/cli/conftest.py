from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_sandbox import DEADLINE_S, Sandbox, make


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """A vault without an index."""
    return make(tmp_path)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A vault with an index, for commands that only read."""
    made = make(tmp_path_factory.mktemp("indexed"))
    ran = made.indexer("rebuild")
    assert ran.code == 0, ran.err
    return made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A vault with a daemon in the background."""
    made = make(tmp_path_factory.mktemp("served"))
    assert made.indexer("rebuild").code == 0
    started = made.indexer("start", "--wait", str(DEADLINE_S))
    assert started.code == 0, started.err
    yield made
    assert made.indexer("stop").code == 0
