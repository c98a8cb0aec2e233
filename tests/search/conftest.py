from collections.abc import Iterator
from contextlib import closing

import pytest
from small_vault import Ask, write_vault

from vault_indexer.bootstrap import Assembly, open_index, resolve_target
from vault_indexer.model import SearchAnswer, SearchRequest
from vault_indexer.search.reader import IndexReader
from vault_indexer.service import VaultService


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[VaultService, IndexReader]]:
    """The small vault's service, and the same index opened to be read."""
    folder = tmp_path_factory.mktemp("small")
    vault = write_vault(folder / "vault")
    target = resolve_target(vault, folder / "index", None, environ={}, options={"index.workers": 1})
    with closing(open_index(target, lambda _: None)) as service:
        assembly = Assembly.of(target)
        generation = assembly.index_dir.current()
        assert generation is not None
        yield service, assembly.open_to_read(generation)


@pytest.fixture
def ask(indexed: tuple[VaultService, IndexReader]) -> Ask:
    service, _ = indexed

    def asked(query: str, **options: bool | int) -> SearchAnswer:
        return service.search(SearchRequest(query, **options))  # type: ignore[arg-type]

    return asked
