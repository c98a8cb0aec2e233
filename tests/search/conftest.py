from collections.abc import Iterator

import pytest
from indexed_vault import Indexed, OpenNotes, indexed_vault, open_notes
from small_vault import Ask, write_vault

from vault_indexer.model import SearchAnswer, SearchRequest
from vault_indexer.service import VaultService

__all__ = ["open_notes"]


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    """The small vault's service, and the same index opened to be read."""
    folder = tmp_path_factory.mktemp("small")
    vault = write_vault(folder / "vault")
    with indexed_vault(vault, folder / "index") as opened:
        yield opened


@pytest.fixture
def ask(indexed: Indexed) -> Ask:
    service, _ = indexed

    def asked(query: str, **options: bool | int) -> SearchAnswer:
        return service.search(SearchRequest(query, **options))  # type: ignore[arg-type]

    return asked


@pytest.fixture(scope="module")
def opened(request: pytest.FixtureRequest, open_notes: OpenNotes) -> Indexed:
    """The service of a vault of the module's `NOTES`, and the same index opened to be read."""
    return open_notes(request.module.NOTES)


@pytest.fixture(scope="module")
def service(opened: Indexed) -> VaultService:
    """The service of a vault of the module's `NOTES`."""
    return opened[0]
