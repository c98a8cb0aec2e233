"""The answer of each endpoint, from the service: for an HTTP route and for a command without a daemon.

One function for each row of `endpoints`; its keyword parameters are those of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vault_indexer.answer import AskEvent
from vault_indexer.contract.bounds import DEFAULT_MENTIONS, MAX_LIMIT
from vault_indexer.errors import UsageError
from vault_indexer.model import (
    AnswerSentence,
    AskAnswer,
    AskLine,
    AskRequest,
    Bodies,
    ChunkBody,
    ClusterKind,
    ClusterMap,
    Completions,
    DaemonState,
    Expand,
    Explanation,
    JudgingPool,
    KeptClick,
    KeptGrade,
    LinksAnswer,
    MentionsAnswer,
    NoteChunks,
    NoteGraph,
    NoteText,
    NoteView,
    Orphans,
    PauseState,
    Picture,
    RelatedAnswer,
    SearchAnswer,
    SearchRequest,
    StatusReport,
    UnresolvedLinks,
    VaultHealth,
    VaultList,
    Verification,
)
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
    Endpoint,
    Value,
)
from vault_indexer.serve.hit_keys import hit_keys, with_shares
from vault_indexer.service import VaultService
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
    daemon: DaemonState
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


def answer(endpoint: Endpoint[Any], context: AnswerContext, arguments: Mapping[str, Value]) -> object:
    """The answer of an endpoint, a dataclass of its row, given a value for each of its parameters. Raises
    VaultIndexerError."""
    return FUNCTIONS[endpoint.name](context, **arguments)


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
) -> SearchAnswer:
    keys = hit_keys(fields)
    request = SearchRequest(
        q,
        limit,
        by == "note",
        as_you_type,
        fresh,
        expand,
        correct,
        min_relevance,
        stale=keys is None or "stale" in keys,
        by_field=keys is None or "why" in keys,
    )
    found = replace(context.search(request), keys=keys)
    return with_shares(found) if keys and "shares" in keys else found


def _ask(  # the stream has a response of its own, see `http`
    context: AnswerContext, *, q: str, limit: int, **options: bool
) -> AskAnswer:
    *_, last = context.ask_events(_ask_request(q, limit, {**options, "stream": False}))
    assert isinstance(last, AskAnswer)
    return last


def ask_events(context: AnswerContext, *, q: str, limit: int, **options: bool) -> Iterator[AskLine]:
    """The answer to a question as it arises: `passages`, each `sentence`, and `answer` at last."""
    request = _ask_request(q, limit, options)
    is_first = True
    for event in context.ask_events(request):
        if isinstance(event, AnswerSentence):
            yield AskLine("sentence", event)
            continue
        yield AskLine("passages" if is_first else "answer", event)
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


def _explain(context: AnswerContext, *, path: str, q: str, correct: bool) -> Explanation:
    request = SearchRequest(q, correct=correct)
    return context.service.explain(path, request, is_cancelled=context.is_cancelled)


def _status(context: AnswerContext) -> StatusReport:
    return replace(context.vaults.status(context.vault), daemon=context.daemon)


def _related(context: AnswerContext, *, path: str, limit: int) -> RelatedAnswer:
    known = context.service.path_of(path)
    return RelatedAnswer(known, context.service.related(known, limit))


def _links(
    context: AnswerContext, *, path: str, view: str, limit: int | None
) -> LinksAnswer | MentionsAnswer | UnresolvedLinks | Orphans:
    match view:
        case "mentions":
            return context.service.mentions(path, limit or DEFAULT_MENTIONS)
        case "unresolved":
            return UnresolvedLinks.of(context.service.unresolved_links(), limit)
        case "orphans":
            return Orphans.of(context.service.orphans(), limit)
        case _:
            return context.service.links(path).first(limit)


def _note(context: AnswerContext, *, path: str) -> NoteText:
    # Only notes of the index are shown, never a file that is excluded.
    known = context.service.path_of(path)
    read = read_note(Path(context.service.status().vault), known, _NOTE_BYTES)
    modified = datetime.fromtimestamp(read.stat.mtime_ns // 10**9, UTC).isoformat().replace("+00:00", "Z")
    return NoteText(known, read.data.decode("utf-8-sig", "replace"), modified)


def _graph(context: AnswerContext, *, path: str, q: str, depth: int, limit: int, related: bool) -> NoteGraph:
    return context.service.graph(path, q, depth=depth, limit=limit, related=related)


def _clusters(context: AnswerContext, *, by: ClusterKind, folder: str) -> ClusterMap:
    return context.service.clusters(by, folder)


def _view(context: AnswerContext, *, path: str, part: str, line: int) -> NoteView:
    return context.service.view(path, part, line)


def _picture(context: AnswerContext, *, path: str) -> Picture:
    return context.service.picture(path)


def _chunks(context: AnswerContext, *, path: str, strategy: str) -> NoteChunks:
    return context.service.chunks(path, strategy)


def _complete(context: AnswerContext, *, q: str, limit: int) -> Completions:
    return context.service.complete(q, limit)


def _health(context: AnswerContext) -> VaultHealth:
    return context.service.health()


def _click(context: AnswerContext, *, q: str, path: str, rank: int) -> KeptClick:
    return KeptClick(_desk(context).record_click(q, path, rank))


def _judge_pool(context: AnswerContext, *, q: str) -> JudgingPool:
    return _desk(context).next_pool(q)


def _judge(context: AnswerContext, *, q: str, path: str, grade: int) -> KeptGrade:
    known = context.service.path_of(path)
    return KeptGrade(q, known, grade, _desk(context).keep_grade(q, known, grade))


def _desk(context: AnswerContext) -> EvalDesk:
    if context.desk is None and context.vaults.are_several and not context.vault:
        raise UsageError(f"vault is missing: choose one of {', '.join(context.vaults.names)}")
    if context.desk is None:
        raise UsageError("grades and clicks need the daemon (`indexer start`)")
    return context.desk


def _bodies(context: AnswerContext, *, keys: str) -> Bodies:
    written = keys.split(",")
    if len(written) > MAX_LIMIT or not all(key.isascii() and key.isdecimal() for key in written):
        raise UsageError(f"keys: 1 to {MAX_LIMIT} whole numbers, separated by commas")
    possible = (int(key) for key in written if len(key) <= _KEY_DIGITS)
    found = context.service.chunk_rows(key for key in possible if key <= _LARGEST_KEY)
    return Bodies(
        tuple(
            ChunkBody(row.key, path, row.chunk.start_pos, row.chunk.end_pos, row.chunk.body)
            for row, path in found
        )
    )


def _verify(context: AnswerContext, *, repair: bool) -> Verification:
    problems = context.service.verify(repair=repair)
    return Verification(not problems, problems)


def _pause(context: AnswerContext, *, seconds: float | None) -> PauseState:
    return _pause_state(context.service.pause(seconds))


def _pause_state(report: StatusReport) -> PauseState:
    return PauseState(report.paused, report.paused_until, report.pending)


def _resume(context: AnswerContext) -> PauseState:
    return _pause_state(context.service.resume())


def _vaults(context: AnswerContext) -> VaultList:
    return VaultList(tuple(context.vaults.summaries()), context.vaults.problem)


def _row(endpoint: Endpoint[Any], function: Callable[..., object]) -> tuple[str, Callable[..., object]]:
    """A function under the name of its endpoint. A test compares what it returns with the row."""
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
