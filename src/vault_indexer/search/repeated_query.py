"""One query asked of one snapshot with many settings, for a comparison of settings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vault_indexer.config.settings import SearchSettings
from vault_indexer.model import SearchRequest, note_id_of
from vault_indexer.ports import Embedder
from vault_indexer.search.attachments import match_attachments, name_query
from vault_indexer.search.copies import find_copies
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.multi_vault import AnswerLimits, place_of_files, search_vaults, shown_places
from vault_indexer.search.prepare import PreparedQuery, SearchedVault, prepare_query
from vault_indexer.search.rank import RepeatedRank
from vault_indexer.search.terms import Groups
from vault_indexer.store import Snapshot

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
