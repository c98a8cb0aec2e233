"""What tests of the daemon share: a clock, a built index, a copy of it, and its loop stepped by hand."""

from pathlib import Path

import pytest
from loop_by_hand import Clock, built, kept
from vault_at_work import Place, copy_of

__all__ = ["built", "clock", "kept", "where"]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def where(built: Place, tmp_path: Path) -> Place:
    """A copy of the vault and its index."""
    return copy_of(built, tmp_path)
