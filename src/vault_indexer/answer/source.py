"""Where the passages for a question are found: in one vault, or in several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vault_indexer.model import IndexState, SearchRequest
from vault_indexer.search import IndexReader, QueryDeadline, QuestionWord, SearchResult, question_words
from vault_indexer.store.catalog import CatalogReader


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """What a search found for a question. `catalogs` hold the notes of the hits, by the `vault` of the hit:
    "" where one vault is asked. They can be read as long as the search is leased."""

    result: SearchResult
    words: tuple[QuestionWord, ...]
    catalogs: Mapping[str, CatalogReader]
    state: IndexState


class PassageSource(Protocol):
    """Searches passages for a question."""

    def search(self, request: SearchRequest) -> AbstractContextManager[FoundPassages]:
        """What is found, leased for the time of the block. Raises as a search does."""
        ...


@dataclass(frozen=True, slots=True)
class OneVault:
    """Implements PassageSource for the index of one vault. `pending` and `missing` are those of its
    IndexState."""

    reader: IndexReader
    vault: Path
    pending: int
    missing: int
    is_cancelled: Callable[[], bool]

    @contextmanager
    def search(self, request: SearchRequest) -> Iterator[FoundPassages]:
        """The hits of this vault."""
        searcher = self.reader.searcher
        deadline = QueryDeadline(searcher.deadline_s, self.is_cancelled)
        with self.reader.holder.lease() as snapshot:
            yield FoundPassages(
                searcher.search(snapshot, request, deadline, vault=self.vault),
                question_words(snapshot, request.query, searcher.fields),
                {"": snapshot.catalog},
                IndexState(snapshot.generation, snapshot.seq, self.pending, self.missing),
            )
