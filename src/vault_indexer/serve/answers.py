"""The answer of each endpoint, from the service: for an HTTP route and for a command without a daemon.

One function for each row of `endpoints`; its keyword parameters are those of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from vault_indexer.errors import UsageError
from vault_indexer.model import AskAnswer, AskRequest, ClusterKind, Expand, SearchRequest
from vault_indexer.serve.endpoints import (
    ALL_LINKS,
    ASK,
    BODIES,
    CHUNKS,
    CLUSTERS,
    COMPLETE,
    EXPLAIN,
    GRAPH,
    HEALTH,
    NOTE,
    PAUSE,
    RELATED,
    RESUME,
    SEARCH,
    STATUS,
    VERIFY,
    VIEW,
    Answer,
    Endpoint,
    Value,
)
from vault_indexer.serve.shapes import (
    AskEventJson,
    AskJson,
    BodiesJson,
    ClustersJson,
    CompletionsJson,
    DaemonJson,
    ExplainJson,
    HealthJson,
    LinksJson,
    MentionsJson,
    NoteChunksJson,
    NoteGraphJson,
    NoteJson,
    NoteViewJson,
    OrphansJson,
    PauseJson,
    RelatedJson,
    SearchJson,
    StatusJson,
    UnresolvedJson,
    VerifyJson,
)
from vault_indexer.serve.wire import (
    answer_sentence_json,
    ask_json,
    explain_json,
    pause_json,
    search_json,
    status_json,
    verify_json,
)
from vault_indexer.serve.wire_links import (
    links_json,
    mentions_json,
    orphans_json,
    related_json,
    unresolved_json,
)
from vault_indexer.serve.wire_page import (
    chunks_json,
    clusters_json,
    completions_json,
    graph_json,
    health_json,
    view_json,
)
from vault_indexer.service import VaultService
from vault_indexer.text.bounds import DEFAULT_MENTIONS, MAX_LIMIT
from vault_indexer.vault import read_note

_NOTE_BYTES = 64 << 20
"""Notes of the index are smaller (`files.max_file_bytes`); one may have grown since."""

_LARGEST_KEY = (1 << 63) - 1
_KEY_DIGITS = len(str(_LARGEST_KEY))


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """What an answer is made from. `is_cancelled` says that nobody waits for it any more."""

    service: VaultService
    daemon: DaemonJson
    is_cancelled: Callable[[], bool] = _never


def answer(endpoint: Endpoint[Answer], context: AnswerContext, arguments: Mapping[str, Value]) -> Answer:
    """The answer of an endpoint, given a value for each of its parameters. Raises VaultIndexerError."""
    return cast("Answer", FUNCTIONS[endpoint.name](context, **arguments))


def _search(  # noqa: PLR0913 - the parameters of the endpoint
    context: AnswerContext,
    *,
    q: str,
    limit: int,
    by: str,
    fresh: bool,
    as_you_type: bool,
    expand: Expand,
    correct: bool,
    min_relevance: float | None,
    fields: str,
) -> SearchJson:
    request = SearchRequest(q, limit, by == "note", as_you_type, fresh, expand, correct, min_relevance)
    return search_json(context.service.search(request, is_cancelled=context.is_cancelled), fields)


def _ask(  # the stream has a response of its own, see `http`
    context: AnswerContext, *, q: str, limit: int, model: bool, fresh: bool, stream: bool
) -> AskJson:
    del stream
    return ask_json(
        context.service.ask(AskRequest(q, limit, model, fresh), is_cancelled=context.is_cancelled)
    )


def ask_events(
    context: AnswerContext, *, q: str, limit: int, model: bool, fresh: bool, stream: bool
) -> Iterator[AskEventJson]:
    """The answer to a question as it arises: `passages`, each `sentence`, and `answer` at last."""
    del stream
    request = AskRequest(q, limit, model, fresh)
    is_first = True
    for event in context.service.ask_events(request, is_cancelled=context.is_cancelled):
        if not isinstance(event, AskAnswer):
            yield {"event": "sentence", "data": answer_sentence_json(event)}
            continue
        yield {"event": "passages" if is_first else "answer", "data": ask_json(event)}
        is_first = False


def _explain(context: AnswerContext, *, path: str, q: str, correct: bool) -> ExplainJson:
    request = SearchRequest(q, correct=correct)
    return explain_json(context.service.explain(path, request, is_cancelled=context.is_cancelled))


def _status(context: AnswerContext) -> StatusJson:
    return status_json(context.service.status(), context.daemon)


def _related(context: AnswerContext, *, path: str, limit: int) -> RelatedJson:
    known = context.service.path_of(path)
    return related_json(known, context.service.related(known, limit))


def _links(
    context: AnswerContext, *, path: str, view: str, limit: int | None
) -> LinksJson | MentionsJson | UnresolvedJson | OrphansJson:
    match view:
        case "mentions":
            return mentions_json(context.service.mentions(path, limit or DEFAULT_MENTIONS))
        case "unresolved":
            return unresolved_json(context.service.unresolved_links(), limit)
        case "orphans":
            return orphans_json(context.service.orphans(), limit)
        case _:
            return links_json(context.service.links(path), limit)


def _note(context: AnswerContext, *, path: str) -> NoteJson:
    # Only notes of the index are shown, never a file that is excluded.
    known = context.service.path_of(path)
    read = read_note(Path(context.service.status().vault), known, _NOTE_BYTES)
    modified = datetime.fromtimestamp(read.stat.mtime_ns // 10**9, UTC).isoformat().replace("+00:00", "Z")
    return {
        "path": known,
        "text": read.data.decode("utf-8-sig", "replace"),
        "modified_time": modified,
    }


def _graph(
    context: AnswerContext, *, path: str, q: str, depth: int, limit: int, related: bool
) -> NoteGraphJson:
    return graph_json(context.service.graph(path, q, depth=depth, limit=limit, related=related))


def _clusters(context: AnswerContext, *, by: ClusterKind, folder: str) -> ClustersJson:
    return clusters_json(context.service.clusters(by, folder))


def _view(context: AnswerContext, *, path: str) -> NoteViewJson:
    return view_json(context.service.view(path))


def _chunks(context: AnswerContext, *, path: str, strategy: str) -> NoteChunksJson:
    return chunks_json(context.service.chunks(path, strategy))


def _complete(context: AnswerContext, *, q: str, limit: int) -> CompletionsJson:
    return completions_json(context.service.complete(q, limit))


def _health(context: AnswerContext) -> HealthJson:
    return health_json(context.service.health())


def _bodies(context: AnswerContext, *, keys: str) -> BodiesJson:
    written = keys.split(",")
    if len(written) > MAX_LIMIT or not all(key.isascii() and key.isdecimal() for key in written):
        raise UsageError(f"keys: 1 to {MAX_LIMIT} whole numbers, separated by commas")
    possible = (int(key) for key in written if len(key) <= _KEY_DIGITS)
    found = context.service.chunk_rows(key for key in possible if key <= _LARGEST_KEY)
    return {
        "bodies": [
            {
                "key": row.key,
                "path": path,
                "start_pos": row.chunk.start_pos,
                "end_pos": row.chunk.end_pos,
                "body": row.chunk.body,
            }
            for row, path in found
        ]
    }


def _verify(context: AnswerContext, *, repair: bool) -> VerifyJson:
    return verify_json(context.service.verify(repair=repair))


def _pause(context: AnswerContext, *, seconds: float | None) -> PauseJson:
    return pause_json(context.service.pause(seconds))


def _resume(context: AnswerContext) -> PauseJson:
    return pause_json(context.service.resume())


def _row(endpoint: Endpoint[Answer], function: Callable[..., Answer]) -> tuple[str, Callable[..., object]]:
    """A function under the name of its endpoint. mypy checks that it returns the endpoint's answer."""
    return endpoint.name, function


# A rebuild is not among them: one runs at a time and is watched, see `rebuilds` and the clients' `rebuild`.
FUNCTIONS: Mapping[str, Callable[..., object]] = dict(
    (
        _row(SEARCH, _search),
        _row(ASK, _ask),
        _row(EXPLAIN, _explain),
        _row(STATUS, _status),
        _row(RELATED, _related),
        _row(ALL_LINKS, _links),
        _row(NOTE, _note),
        _row(GRAPH, _graph),
        _row(CLUSTERS, _clusters),
        _row(VIEW, _view),
        _row(CHUNKS, _chunks),
        _row(BODIES, _bodies),
        _row(COMPLETE, _complete),
        _row(HEALTH, _health),
        _row(VERIFY, _verify),
        _row(PAUSE, _pause),
        _row(RESUME, _resume),
    )
)
