"""The vaults that can be searched when a question comes, and one search over all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.config.settings import SearchSettings
from vault_indexer.model import IndexState, SearchAnswer, SearchRequest
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.index_reader import IndexReader
from vault_indexer.search.multi_vault import SearchResult, search_vaults
from vault_indexer.search.prepare import SearchedVault
from vault_indexer.search.question import QuestionWord, question_words
from vault_indexer.store.catalog import CatalogReader


@dataclass(frozen=True, slots=True)
class ReadyVault:
    """A vault that can be searched. `name` is "" for a vault that is searched alone; `pending` and `missing`
    count as in `IndexState`."""

    name: str
    folder: Path
    reader: IndexReader
    pending: Callable[[], int]
    missing: Callable[[], int]


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """What a search found for a question. `catalogs` hold the notes of the hits, by the `vault` of the hit.
    They can be read as long as the search is leased."""

    result: SearchResult
    words: tuple[QuestionWord, ...]
    catalogs: Mapping[str, CatalogReader]
    state: IndexState


@dataclass(frozen=True, slots=True)
class ReadyVaults:
    """One vault, or several that are searched together by `settings`.

    `unready` counts the vaults that belong to them and cannot be searched now. One request makes it and uses
    it in one thread.
    """

    vaults: Sequence[ReadyVault]
    settings: SearchSettings
    is_cancelled: Callable[[], bool]
    unready: int = 0

    def answer(self, request: SearchRequest) -> SearchAnswer:
        """Ranked hits of all the vaults, without what their sessions have to say. Raises as
        `search_vaults`."""
        started = time.perf_counter()
        with self._leased() as (searched, state):
            found = self._search(searched, request)
        return SearchAnswer(
            request.query,
            round((time.perf_counter() - started) * 1000, 3),
            state,
            found.hits,
            found.notices,
            found.corrections,
            state.restrict(found.verdict),
            found.missing_words,
            found.likely,
        )

    @contextmanager
    def passages(self, request: SearchRequest) -> Iterator[FoundPassages]:
        """The hits for a question, leased for the time of the block. Raises as `search_vaults`."""
        with self._leased() as (searched, state):
            yield FoundPassages(
                self._search(searched, request),
                question_words(searched, request.query, self.settings.synonyms.groups),
                {one.name: one.snapshot.catalog for one in searched},
                state,
            )

    def _search(self, searched: Sequence[SearchedVault], request: SearchRequest) -> SearchResult:
        deadline = QueryDeadline(self.settings.deadline_s, self.is_cancelled)
        return search_vaults(searched, request, self.settings, deadline)

    @contextmanager
    def _leased(self) -> Iterator[tuple[list[SearchedVault], IndexState]]:
        """The snapshot of each, for the time of the block, and what they lack. Several have no generation
        together. What is counted before the lease may be in the snapshot, but nothing is uncounted."""
        pending = sum(one.pending() for one in self.vaults)
        missing = sum(one.missing() for one in self.vaults) + self.unready
        with ExitStack() as leases:
            searched = [
                SearchedVault(
                    one.name,
                    one.folder,
                    leases.enter_context(one.reader.holder.lease()),
                    one.reader.searcher.embedder,
                )
                for one in self.vaults
            ]
            first = searched[0].snapshot
            edition = (first.generation, first.seq) if len(searched) == 1 and not self.unready else (0, 0)
            yield searched, IndexState(*edition, pending, missing)
