from collections.abc import Iterator

import pytest
from indexed_vault import indexed_vault, open_notes, write_notes
from linked_vault import NOTES, PICTURE

from vault_indexer.service import VaultService

__all__ = ["open_notes"]


@pytest.fixture(scope="session")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    """The service of a small vault whose every link is known."""
    folder = tmp_path_factory.mktemp("linked")
    with indexed_vault(write_notes(folder / "vault", {**NOTES, PICTURE: "PNG"}), folder / "index") as (
        opened,
        _,
    ):
        yield opened
