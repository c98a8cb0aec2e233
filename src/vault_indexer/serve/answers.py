"""The answer of each endpoint, from the service: for an HTTP route and for a command without a daemon.

One function for each row of `endpoints`; its keyword parameters are those of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from vault_indexer.answer import AskEvent
from vault_indexer.errors import UsageError
from vault_indexer.model import AskAnswer, AskRequest, ClusterKind, Expand, SearchAnswer, SearchRequest
from vault_indexer.serve.desk import EvalDesk
from vault_indexer.serve.endpoints import (
    ALL_LINKS,
    ASK,
    BODIES,
    CHUNKS,
    CLICK,
    CLUSTERS,
    COMPLETE,
    EXPLAIN,
    GRAPH,
    HEALTH,
    JUDGE,
    JUDGE_POOL,
    NOTE,
    PAUSE,
    PICTURE,
    RELATED,
    RESUME,
    SEARCH,
    STATUS,
    VAULTS,
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
    ClickJson,
    ClustersJson,
    CompletionsJson,
    DaemonJson,
    ExplainJson,
    GradeJson,
    HealthJson,
    JudgeJson,
    LinksJson,
    MentionsJson,
    NoteChunksJson,
    NoteGraphJson,
    NoteJson,
    NoteViewJson,
    OrphansJson,
    PauseJson,
    PictureJson,
    RelatedJson,
    SearchJson,
    StatusJson,
    UnresolvedJson,
    VaultsJson,
    VerifyJson,
)
from vault_indexer.serve.wire import (
    answer_sentence_json,
    ask_json,
    explain_json,
    names_key,
    pause_json,
    search_json,
    status_json,
    vaults_json,
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
    judge_json,
    picture_json,
    view_json,
)
from vault_indexer.service import VaultService
from vault_indexer.text.bounds import DEFAULT_MENTIONS, MAX_LIMIT
from vault_indexer.vault import read_note
from vault_indexer.vaults import Vaults

_NOTE_BYTES = 64 << 20
"""Notes of the index are smaller (`files.max_file_bytes`); one may have grown since."""

_LARGEST_KEY = (1 << 63) - 1
_KEY_DIGITS = len(str(_LARGEST_KEY))


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """What an answer is made from. `vault` is the name of the one that the request means, "" if it names
    none. `is_cancelled` says that nobody waits for the answer any more, `desk` keeps what a person does in a
    face."""

    vaults: Vaults
    daemon: DaemonJson
    is_cancelled: Callable[[], bool] = _never
    vault: str = ""
    desk: EvalDesk | None = None

    @property
    def service(self) -> VaultService:
        """The vault that the request is about. Raises UsageError where it has to name one, and whatever keeps
        that vault from answering."""
        return self.vaults.one(self.vault)

    def search(self, request: SearchRequest) -> SearchAnswer:
        """Ranked hits of the vault that the request names, else of all. Raises as `VaultService.search`."""
        return self.vaults.search(request, self.vault, is_cancelled=self.is_cancelled)

    def ask_events(self, request: AskRequest) -> Iterator[AskEvent]:
        """The answer from the vault that the request names, else from all. Raises as
        `VaultService.ask_events`."""
        return self.vaults.ask_events(request, self.vault, is_cancelled=self.is_cancelled)


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
    request = SearchRequest(
        q,
        limit,
        by == "note",
        as_you_type,
        fresh,
        expand,
        correct,
        min_relevance,
        stale=names_key(fields, "stale"),
        by_field=names_key(fields, "why"),
    )
    return search_json(context.search(request), fields)


def _ask(  # the stream has a response of its own, see `http`
    context: AnswerContext, *, q: str, limit: int, **options: bool
) -> AskJson:
    *_, last = context.ask_events(_ask_request(q, limit, {**options, "stream": False}))
    assert isinstance(last, AskAnswer)
    return ask_json(last)


def ask_events(context: AnswerContext, *, q: str, limit: int, **options: bool) -> Iterator[AskEventJson]:
    """The answer to a question as it arises: `passages`, each `sentence`, and `answer` at last."""
    request = _ask_request(q, limit, options)
    is_first = True
    for event in context.ask_events(request):
        if not isinstance(event, AskAnswer):
            yield {"event": "sentence", "data": answer_sentence_json(event)}
            continue
        yield {"event": "passages" if is_first else "answer", "data": ask_json(event)}
        is_first = False


def _ask_request(q: str, limit: int, options: Mapping[str, bool]) -> AskRequest:
    return AskRequest(
        q,
        limit,
        options["model"],
        options["fresh"],
        as_written=options["stream"],
        show_prompt=options["show_prompt"],
    )


def _explain(context: AnswerContext, *, path: str, q: str, correct: bool) -> ExplainJson:
    request = SearchRequest(q, correct=correct)
    return explain_json(context.service.explain(path, request, is_cancelled=context.is_cancelled))


def _status(context: AnswerContext) -> StatusJson:
    return status_json(context.vaults.status(context.vault), context.daemon)


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


def _view(context: AnswerContext, *, path: str, part: str, line: int) -> NoteViewJson:
    return view_json(context.service.view(path, part, line))


def _picture(context: AnswerContext, *, path: str) -> PictureJson:
    return picture_json(context.service.picture(path))


def _chunks(context: AnswerContext, *, path: str, strategy: str) -> NoteChunksJson:
    return chunks_json(context.service.chunks(path, strategy))


def _complete(context: AnswerContext, *, q: str, limit: int) -> CompletionsJson:
    return completions_json(context.service.complete(q, limit))


def _health(context: AnswerContext) -> HealthJson:
    return health_json(context.service.health())


def _click(context: AnswerContext, *, q: str, path: str, rank: int) -> ClickJson:
    return {"file": str(_desk(context).record_click(q, path, rank))}


def _judge_pool(context: AnswerContext, *, q: str) -> JudgeJson:
    return judge_json(_desk(context).next_pool(q))


def _judge(context: AnswerContext, *, q: str, path: str, grade: int) -> GradeJson:
    known = context.service.path_of(path)
    return {
        "question": q,
        "path": known,
        "grade": grade,
        "judged": _desk(context).keep_grade(q, known, grade),
    }


def _desk(context: AnswerContext) -> EvalDesk:
    if context.desk is None and context.vaults.are_several and not context.vault:
        raise UsageError(f"vault is missing: choose one of {', '.join(context.vaults.names)}")
    if context.desk is None:
        raise UsageError("grades and clicks need the daemon (`indexer start`)")
    return context.desk


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


def _vaults(context: AnswerContext) -> VaultsJson:
    return vaults_json(context.vaults.summaries(), context.vaults.problem)


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
        _row(PICTURE, _picture),
        _row(CHUNKS, _chunks),
        _row(BODIES, _bodies),
        _row(COMPLETE, _complete),
        _row(HEALTH, _health),
        _row(CLICK, _click),
        _row(JUDGE_POOL, _judge_pool),
        _row(JUDGE, _judge),
        _row(VERIFY, _verify),
        _row(PAUSE, _pause),
        _row(RESUME, _resume),
        _row(VAULTS, _vaults),
    )
)
