"""What tests of the daemon share: a built index, its loop stepped by hand, a Milvus server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from loop_by_hand import LoopByHand, loop_by_hand
from milvus_server import shared_server
from vault_at_work import Place, built_by_wordllama, copy_of

__all__ = ["shared_server"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return built_by_wordllama(tmp_path_factory.mktemp("built"))


@pytest.fixture
def kept(built: Place, tmp_path: Path) -> Iterator[LoopByHand]:
    """The loop of a copy of the vault, with nothing pending."""
    with loop_by_hand(copy_of(built, tmp_path)) as made:
        assert made.loop.pending() == 0
        yield made
