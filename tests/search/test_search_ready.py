"""What a search does before its caches are warm, and without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from indexed_vault import Indexed

from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import IndexUnusableError, ProviderError
from vault_indexer.model import SearchRequest
from vault_indexer.ports import EmbeddingModel
from vault_indexer.search.ready import load_caches
from vault_indexer.search.searcher import Searcher
from vault_indexer.store.snapshot import SnapshotHolder

if TYPE_CHECKING:
    from vault_indexer.arrays import Vectors


class Unreachable:
    """A model whose server does not answer."""

    model = EmbeddingModel("ollama", "some-model", 256)

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise ProviderError(f"the model did not answer for {len(texts)} texts")

    def embed_query(self, text: str) -> Vectors:
        raise ProviderError(f"the model did not answer for {text!r}")


def test_without_its_model_a_search_goes_by_words_and_says_so(indexed: Indexed) -> None:
    with indexed[1].holder.lease() as snapshot:
        found = Searcher(Unreachable(), SearchSettings()).search(snapshot, SearchRequest("compost"))
    assert found.hits
    assert all(hit.why.vector is None for hit in found.hits)
    assert found.notices == ("only words and links were searched: the model did not answer for 'compost'",)


def test_warming_changes_no_answer(indexed: Indexed) -> None:
    request = SearchRequest("tomatoes in the garden")
    with indexed[1].holder.lease() as snapshot:
        before = indexed[1].searcher.search(snapshot, request)
        load_caches(indexed[1])
        assert indexed[1].searcher.search(snapshot, request) == before


def test_warming_an_index_that_is_closed_meanwhile_says_so(indexed: Indexed) -> None:
    with pytest.raises(IndexUnusableError):
        load_caches(replace(indexed[1], holder=SnapshotHolder()))
