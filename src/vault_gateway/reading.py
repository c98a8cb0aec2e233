"""The results for users other than hits: a note, the notes near it, and an answer that quotes notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from vault_gateway.access import PublishedVaults
from vault_gateway.calls import MilvusCalls
from vault_gateway.milvus import CollectionMissingError, MilvusRetriever, MilvusVaults, VaultState
from vault_gateway.milvus.retrieval import Selection, VaultScope
from vault_gateway.search import NOTHING_PUBLISHED, GatewaySearch
from vault_gateway.settings import GatewayUser
from vault_gateway.wire import GatewayNote, GatewaySearchRequest
from vault_indexer.answer import Answerer, whole_answer
from vault_indexer.config import Settings
from vault_indexer.errors import UnknownNoteError, UsageError
from vault_indexer.links import related_notes
from vault_indexer.model import AskAnswer, AskRequest, IndexState, RelatedAnswer, SearchRequest
from vault_indexer.search import (
    FoundPassages,
    QueryDeadline,
    QuestionWord,
    SearchResult,
    question_words,
    search_vaults,
)
from vault_indexer.store import Snapshot
from vault_indexer.text.phrases import iso_time

_NEAR = 200
"""The number of chunks that are read for the notes near a note. A rule of thumb."""


class GatewayReader:
    """Reads notes for authorised users. It has no state between two requests; any thread may use it. Raises
    UnknownVaultError, and BackendError if the server does not answer."""

    def __init__(
        self, vaults: MilvusVaults, published: PublishedVaults, calls: MilvusCalls, search: GatewaySearch
    ) -> None:
        self._connection = vaults.connection
        self._published = published
        self._calls = calls
        self._search = search
        self._answerer = Answerer(Settings(), None)

    def note(self, user: GatewayUser, path: str, vault: str) -> GatewayNote:
        """A note as published. Raises UnknownNoteError, and UsageError if several vaults have a note at this
        path, or its text is not published."""
        state, note_id = self._place(user, path, vault)
        with self._notes_of(state, [note_id]) as (snapshot, have_text):
            note = snapshot.catalog.note(path)
            if note is None:
                raise UnknownNoteError(_unknown(path))
            if not have_text:
                raise UsageError(f"the text of {state.full_name} is not published")
            return GatewayNote(
                path=note.path,
                title=note.title,
                language=note.language,
                tags=note.tags,
                aliases=note.aliases,
                frontmatter=note.frontmatter,
                text=snapshot.catalog.text(note.note_id),
                modified_time=iso_time(note.mtime_ns),
                vault=state.name,
                keeper=state.keeper,
                published_at=state.published_at,
            )

    def related(self, user: GatewayUser, path: str, vault: str, limit: int) -> RelatedAnswer:
        """The notes near a note in its vault, by meaning, and by the links among them. Raises as `note`."""
        state, note_id = self._place(user, path, vault)
        with self._notes_of(state, [note_id]) as (alone, _):
            mean = alone.vectors.mean_of_note(note_id)
            linked = alone.graph.neighbours([path]).get(path, frozenset())
        retriever = MilvusRetriever(self._connection, state.collection, [state])
        scope = VaultScope.of([state.vault])
        ids = {note_id, *retriever.notes_at(scope, sorted(linked)).values()}
        if mean is not None:
            ask = partial(retriever.nearest, scope, mean, Selection(limit=_NEAR))
            ids |= {one.note_id for one in self._calls.run("search", ask)}
        with self._notes_of(state, sorted(ids)) as (snapshot, _):
            return RelatedAnswer(path, tuple(related_notes(snapshot, path, limit)))

    def ask(self, user: GatewayUser, question: str, vault: str, limit: int) -> AskAnswer:
        """An answer that quotes notes, each sentence with its span. Raises the errors of a search as well."""
        source = _Passages(self._search, user, vault)
        request = AskRequest(question, limit, use_model=False)
        return whole_answer(self._answerer.answer_from(source, request, lambda: False))

    def _place(self, user: GatewayUser, path: str, vault: str) -> tuple[VaultState, int]:
        """The vault and the id of the note at a path. Raises UnknownNoteError and UsageError."""
        found: dict[str, int] = {}
        missing: list[str] = []
        states = self._published.reread(self._published.of(user, vault))
        for collection in sorted({state.collection for state in states.values()}):
            own = [state.vault for state in states.values() if state.collection == collection]
            retriever = MilvusRetriever(self._connection, collection, states.values())
            try:
                ask = partial(retriever.notes_at, VaultScope.of(own), [path])
                found |= {vault: note_id for (vault, _), note_id in self._calls.run("notes", ask).items()}
            except CollectionMissingError:
                missing += [states[one].full_name for one in own]
        if not found:
            raise UnknownNoteError(_unknown(path) + _reason(states, sorted(missing)))
        if len(found) > 1:
            names = ", ".join(sorted(states[one].full_name for one in found))
            raise UsageError(f"note = {path!r} is in {names}: choose one with vault=")
        ((where, note_id),) = found.items()
        return states[where], note_id

    @contextmanager
    def _notes_of(self, state: VaultState, ids: list[int]) -> Iterator[tuple[Snapshot, bool]]:
        with self._search.candidates.snapshots({state.vault: state}, {state.vault: ids}) as found:
            own = found.get(state.vault)
            if own is None:
                raise UnknownNoteError(f"{state.full_name} is being published again")
            yield own.snapshot, own.have_text


class _Passages:
    """The PassageSource for the vaults of a user."""

    def __init__(self, search: GatewaySearch, user: GatewayUser, vault: str) -> None:
        self._search = search
        self._user = user
        self._vault = vault

    @contextmanager
    def passages(self, request: SearchRequest) -> Iterator[FoundPassages]:
        settings = self._search.search_settings
        deadline = QueryDeadline(settings.deadline_s)
        order = GatewaySearchRequest(request.query, request.limit or settings.limit, vault=self._vault)
        with self._search.searched(self._user, order, deadline) as found:
            result = SearchResult((), found.notices)
            words: tuple[QuestionWord, ...] = ()
            if found.vaults:
                made = search_vaults(found.vaults, request, settings, deadline)
                result = replace(made, notices=(*found.notices, *made.notices))
                words = question_words(found.vaults, request.query)
            catalogs = {vault.name: vault.snapshot.catalog for vault in found.vaults}
            yield FoundPassages(result, words, catalogs, IndexState(0, 0, 0))


def _reason(states: Mapping[str, VaultState], missing: Sequence[str]) -> str:
    if not states:
        return f": {NOTHING_PUBLISHED}"
    return f"; not searched, because it is being published again: {', '.join(missing)}" if missing else ""


def _unknown(path: str) -> str:
    return f"no note {path!r} in the vaults that you may read"
