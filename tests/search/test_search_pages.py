"""The pages of an answer are its whole list, also where a short list ranks fewer candidates."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed_vault import indexed_vault

from vault_indexer.model import Hit, SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    folder = tmp_path_factory.mktemp("pages")
    with indexed_vault(DOCS, folder / "index") as (opened, _):
        yield opened


def places(hits: tuple[Hit, ...]) -> list[tuple[str, int]]:
    return [(hit.path, hit.chunk_index) for hit in hits]


@pytest.mark.parametrize(
    "query",
    [
        *("index", "path:internals"),
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in ("how are notes found", "chunks of a note", "daemon OR server")
        ),
    ],
)
@pytest.mark.parametrize("by_note", [True, False])
def test_pages_are_the_whole_list(service: VaultService, query: str, by_note: bool) -> None:
    request = SearchRequest(query, 200, by_note=by_note, min_relevance=0.0)
    whole = service.search(request._replace(offset=0))
    pages = [service.search(request._replace(limit=7, offset=offset)) for offset in range(0, 126, 7)]
    assert [place for page in pages for place in places(page.results)] == places(whole.results)
    assert sum(page.likely for page in pages) == whole.likely
    assert {page.verdict for page in pages} == {whole.verdict}
