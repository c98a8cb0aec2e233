"""The vaults that can be searched when a question comes, and one search over all of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import IndexState, SearchAnswer, SearchRequest, note_id_of
from vault_indexer.ports import Embedder
from vault_indexer.providers import WORD_LANGUAGES
from vault_indexer.search.attachments import match_attachments, name_query
from vault_indexer.search.copies import find_copies
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.multi_vault import (
    AnswerLimits,
    SearchResult,
    place_of_files,
    search_vaults,
    shown_places,
)
from vault_indexer.search.prepare import PreparedQuery, SearchedVault, prepare_query
from vault_indexer.search.question import QuestionWord, question_words
from vault_indexer.search.rank import RepeatedRank
from vault_indexer.search.searcher import IndexReader
from vault_indexer.search.terms import Groups
from vault_indexer.store import Snapshot, SnapshotHolder
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.keywords import FIELD_WEIGHTS
from vault_indexer.text.query import analyze_query


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


# Loads in advance what the first searches would have to wait for.


COMMON_WORDS = 1500
"""This number of the vault's most frequent words: their postings are the long ones, and most queries hold
some. With 400 a query that was not asked before took a tenth longer."""

_CHUNKS = 100_000
_FEWEST_WORDS = 400
"""Of more chunks fewer words: a word takes as much longer as there are more."""


def load_caches(opened: IndexReader) -> None:
    """Read the model and the vectors, the postings of the most frequent words, the words of the chunks (where
    queries may be compared with them), and all words.

    The caches are bounded, so this cannot fill the memory; after each portion, a word or the words of a
    segment, others get their turn, and an edit that comes meanwhile is seen.
    """
    with opened.holder.lease() as snapshot:
        words = [found.term for found in snapshot.keywords.lexicon.frequent(_words_worth(snapshot))]
        if words:
            opened.searcher.search(snapshot, SearchRequest(words[0], limit=1))
        if WORD_LANGUAGES.intersection(snapshot.languages):
            snapshot.catalog.load_chunk_words()
    for word in reversed(words):  # what was loaded last stays longest
        with opened.holder.lease() as snapshot:
            snapshot.keywords.warm(analyze_query(word, snapshot.languages), FIELD_WEIGHTS)
    load_words(opened.holder)


def _words_worth(snapshot: Snapshot) -> int:
    chunks = max(1, len(snapshot.keywords))
    return max(_FEWEST_WORDS, min(COMMON_WORDS, COMMON_WORDS * _CHUNKS // chunks))


def load_words(holder: SnapshotHolder) -> None:
    """Read the words of all segments that nobody has read yet, one segment after the other: those that are
    committed meanwhile."""
    left = True
    while left:
        with holder.lease() as snapshot:
            left = snapshot.keywords.lexicon.load_next()


def warm_in_background(opened: IndexReader) -> threading.Thread:
    """Run `load_caches` in a thread, which ends early if the index is closed meanwhile."""
    return _in_background(lambda: load_caches(opened))


def load_words_in_background(holder: SnapshotHolder) -> threading.Thread:
    """Run `load_words` in a thread, which ends early if the index is closed meanwhile."""
    return _in_background(lambda: load_words(holder))


def _in_background(load: Callable[[], None]) -> threading.Thread:
    def run() -> None:
        with suppress(VaultIndexerError):  # the index was closed, or another one is active
            load()

    thread = threading.Thread(target=run, name="indexer-warm", daemon=True)
    thread.start()
    return thread


# One query asked of one snapshot with many settings, for a comparison of settings.


_FOR_EVER = 3600.0
"""Seconds: settings are compared by what they find, not by how fast they are."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    query: PreparedQuery
    rank: RepeatedRank
    attachments: tuple[str, ...]


class RepeatedQuery:
    """Answers with the paths of notes, one for each, that a search with the same settings gives.

    Hits are not built, and what the settings do not change is made once (see `RepeatedRank`). One thread uses
    it, as long as the snapshot is leased.
    """

    def __init__(self, embedder: Embedder, snapshot: Snapshot, text: str, limit: int) -> None:
        """`limit` is how many notes an answer has at most."""
        self._vault = SearchedVault("", None, snapshot, embedder)
        self._request = SearchRequest(text, limit, by_note=True, min_relevance=0.0)
        self._prepared: dict[Groups, _Prepared] = {}

    def paths(self, settings: SearchSettings) -> list[str]:
        """The notes and attachments that are found, best first. Raises QueryError for a wrong query."""
        prepared = self._prepare(settings.synonyms.groups)
        if not prepared.query.text:
            deadline = QueryDeadline(_FOR_EVER)
            return [hit.path for hit in search_vaults([self._vault], self._request, settings, deadline).hits]
        limits = AnswerLimits.of(self._request, settings)
        group = [prepared.query]
        table = prepared.rank.rank(settings, by_note=True, limit=limits.notes)
        shown = shown_places([group], [table], [find_copies(group, table)], limits)
        ids = [note_id_of(key) for key in table.local_key[[one.row for one in shown]].tolist()]
        known = self._vault.snapshot.catalog.notes(ids)
        found = [known[note_id].path for note_id in ids]
        at = place_of_files(table.note_coverage[one.row] for one in shown)
        return [*found[:at], *prepared.attachments, *found[at:]][: limits.notes]

    def _prepare(self, synonyms: Groups) -> _Prepared:
        if synonyms not in self._prepared:
            deadline = QueryDeadline(_FOR_EVER)
            (query,) = prepare_query([self._vault], self._request, deadline, synonyms)
            files = match_attachments(
                query, name_query(query, datetime.now().astimezone()), self._request.limit
            )
            self._prepared[synonyms] = _Prepared(query, RepeatedRank(query), tuple(files))
        return self._prepared[synonyms]
