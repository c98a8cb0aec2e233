from __future__ import annotations

from collections.abc import Iterator

import pytest
from asked_vault import NOTES, AskedVault, asked_vault


@pytest.fixture(scope="session")
def _notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedVault]:
    with asked_vault(tmp_path_factory.mktemp("asked"), NOTES) as made:
        yield made


@pytest.fixture
def notes(_notes: AskedVault, tmp_path_factory: pytest.TempPathFactory) -> AskedVault:
    """The small vault, with a cache of answers of its own for each test."""
    return AskedVault(_notes.vault, tmp_path_factory.mktemp("cache"), _notes.reader)
