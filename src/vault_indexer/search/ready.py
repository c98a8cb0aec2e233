"""The vaults that can be searched at the time of a request, and one search over all of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import IndexState, SearchAnswer, SearchRequest, note_id_of
from vault_indexer.ports import Embedder
from vault_indexer.providers import WORD_LANGUAGES
from vault_indexer.search.attachments import match_attachments, name_query
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.multi_vault import (
    AnswerLimits,
    RankedGroup,
    SearchResult,
    place_of_files,
    search_vaults,
    shown_places,
)
from vault_indexer.search.prepare import PreparedQuery, SearchedVault, prepare_query
from vault_indexer.search.question import QuestionWord, question_words
from vault_indexer.search.rank import RepeatedRank, find_copies
from vault_indexer.search.searcher import IndexReader
from vault_indexer.search.terms import Groups
from vault_indexer.store import Snapshot, SnapshotHolder
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.keywords import FIELD_WEIGHTS
from vault_indexer.system import record
from vault_indexer.text.query import analyze_query


@record
class ReadyVault:
    """A vault that can be searched. `name` is "" for a vault that is searched alone. `pending` and `missing`
    return the counts of `IndexState`. `editor` is that of `page.editor`."""

    name: str
    folder: Path
    reader: IndexReader
    pending: Callable[[], int]
    missing: Callable[[], int]
    editor: str = ""


@record
class FoundPassages:
    """The results of a search for a question. `catalogs` maps the `vault` of each hit to the catalog with its
    note. The catalogs can be read during the lease of the search."""

    result: SearchResult
    words: tuple[QuestionWord, ...]
    catalogs: Mapping[str, CatalogReader]
    state: IndexState


@record
class ReadyVaults:
    """One or more vaults that are searched together with `settings`.

    `unready` is the number of vaults that belong to the search but cannot be searched now. Each request
    creates its own instance and uses it in one thread.
    """

    vaults: Sequence[ReadyVault]
    settings: SearchSettings
    is_cancelled: Callable[[], bool]
    unready: int = 0

    def answer(self, request: SearchRequest) -> SearchAnswer:
        """Returns the ranked hits, without the notices of the sessions. Raises as `search_vaults`."""
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
        """Yields the hits for a question; the block leases the snapshots. Raises as `search_vaults`."""
        with self._leased() as (searched, state):
            yield FoundPassages(
                self._search(searched, request),
                question_words(searched, request.query, self.settings.synonyms.groups),
                {vault.name: vault.snapshot.catalog for vault in searched},
                state,
            )

    def _search(self, searched: Sequence[SearchedVault], request: SearchRequest) -> SearchResult:
        deadline = QueryDeadline(self.settings.deadline_s, self.is_cancelled)
        return search_vaults(searched, request, self.settings, deadline)

    @contextmanager
    def _leased(self) -> Iterator[tuple[list[SearchedVault], IndexState]]:
        """Leases the snapshot of each vault during the block, and yields them with their joint state. Several
        vaults have no common generation, so theirs is 0."""
        # Counted before the lease: a counted change may be in the snapshot, but none is left uncounted.
        pending = sum(vault.pending() for vault in self.vaults)
        missing = sum(vault.missing() for vault in self.vaults) + self.unready
        with ExitStack() as leases:
            searched = [
                SearchedVault(
                    vault.name,
                    vault.folder,
                    leases.enter_context(vault.reader.holder.lease()),
                    vault.reader.searcher.embedder,
                    vault.editor,
                )
                for vault in self.vaults
            ]
            first = searched[0].snapshot
            edition = (first.generation, first.seq) if len(searched) == 1 and not self.unready else (0, 0)
            yield searched, IndexState(*edition, pending, missing)


# Loads in advance the data that the first searches would have to wait for.


COMMON_WORDS = 1500
"""The number of most frequent words whose postings are loaded. Their postings are the longest, and most
queries contain some of them. With 400, a new query took a tenth longer."""

_CHUNKS = 100_000
_FEWEST_WORDS = 400
"""Above `_CHUNKS` chunks the number of words falls, down to `_FEWEST_WORDS`, because the time for a word
grows with the number of chunks."""


def load_caches(opened: IndexReader) -> None:
    """Loads the model and the vectors, the postings of the most frequent words, the words of the chunks if
    queries may be compared with them, and the whole vocabulary.

    The caches are bounded, so this cannot fill the memory. Each portion (a word, or the words of a segment)
    has a lease of its own, so that other threads can run in between and later edits are included.
    """
    with opened.holder.lease() as snapshot:
        share = COMMON_WORDS * _CHUNKS // max(1, len(snapshot.keywords))
        count = max(_FEWEST_WORDS, min(COMMON_WORDS, share))
        words = [word.term for word in snapshot.keywords.lexicon.frequent(count)]
        if words:
            opened.searcher.search(snapshot, SearchRequest(words[0], limit=1))
        if WORD_LANGUAGES.intersection(snapshot.languages):
            snapshot.catalog.load_chunk_words()
    for word in reversed(words):  # the most frequent last: the cache keeps the last loaded longest
        with opened.holder.lease() as snapshot:
            snapshot.keywords.warm(analyze_query(word, snapshot.languages), FIELD_WEIGHTS)
    load_words(opened.holder)


def load_words(holder: SnapshotHolder) -> None:
    """Loads the words of segments one by one, including those committed in the meantime."""
    left = True
    while left:
        with holder.lease() as snapshot:
            left = snapshot.keywords.lexicon.load_next()


def warm_in_background(opened: IndexReader) -> threading.Thread:
    """Runs `load_caches` in a thread, which ends early if the index is closed."""
    return _in_background(lambda: load_caches(opened))


def load_words_in_background(holder: SnapshotHolder) -> threading.Thread:
    """Runs `load_words` in a thread, which ends early if the index is closed."""
    return _in_background(lambda: load_words(holder))


def _in_background(load: Callable[[], None]) -> threading.Thread:
    def run() -> None:
        with suppress(VaultIndexerError):  # the index was closed, or another one is active
            load()

    thread = threading.Thread(target=run, name="indexer-warm", daemon=True)
    thread.start()
    return thread


# Repeats one query on one snapshot with many settings, to compare the settings.


_FOR_EVER = 3600.0
"""In seconds. Settings are compared by their results, not by their speed, so no query may time out."""


class RepeatedQuery:
    """Returns the paths of the notes, each once, that a search with the same settings returns.

    It builds no hits, and computes the parts that do not depend on the settings only once (see
    `RepeatedRank`). One thread uses it during the lease of the snapshot.
    """

    def __init__(self, embedder: Embedder, snapshot: Snapshot, text: str, limit: int) -> None:
        """`limit` is the maximum number of notes."""
        self._vault = SearchedVault("", None, snapshot, embedder)
        self._request = SearchRequest(text, limit, by_note=True, min_relevance=0.0)
        self._prepared: dict[Groups, tuple[PreparedQuery, RepeatedRank, list[str]]] = {}

    def paths(self, settings: SearchSettings) -> list[str]:
        """Returns the matching notes and attachments, best first. Raises QueryError."""
        query, repeated, attachments = self._prepare(settings.synonyms.groups)
        if not query.text:
            deadline = QueryDeadline(_FOR_EVER)
            return [hit.path for hit in search_vaults([self._vault], self._request, settings, deadline).hits]
        limits = AnswerLimits.of(self._request, settings)
        table = repeated.rank(settings, by_note=True, limit=limits.notes)
        shown = shown_places([RankedGroup([query], table, find_copies([query], table))], limits)
        ids = [note_id_of(key) for key in table.local_key[[place.row for place in shown]].tolist()]
        notes = self._vault.snapshot.catalog.notes(ids)
        paths = [notes[note_id].path for note_id in ids]
        at = place_of_files(table.note_coverage[place.row] for place in shown)
        return [*paths[:at], *attachments, *paths[at:]][: limits.notes]

    def _prepare(self, synonyms: Groups) -> tuple[PreparedQuery, RepeatedRank, list[str]]:
        if synonyms not in self._prepared:
            deadline = QueryDeadline(_FOR_EVER)
            (query,) = prepare_query([self._vault], self._request, deadline, synonyms)
            names = name_query(query, datetime.now().astimezone())
            files = match_attachments(query, names, self._request.limit)
            self._prepared[synonyms] = query, RepeatedRank(query), files
        return self._prepared[synonyms]
