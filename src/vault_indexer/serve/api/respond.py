"""Answers each endpoint with the service, for HTTP routes and for commands without a daemon.

Each row has a function here or a method of `VaultService`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, NamedTuple, Protocol

from vault_indexer import model
from vault_indexer.answer import AskEvent, whole_answer
from vault_indexer.contract import requests
from vault_indexer.contract.codec import json_fields
from vault_indexer.contract.marks import DEFAULT_MENTIONS
from vault_indexer.contract.parameters import Value, request_of
from vault_indexer.errors import UsageError
from vault_indexer.extensions import offered
from vault_indexer.serve.api import endpoints
from vault_indexer.service import VaultService
from vault_indexer.system import record
from vault_indexer.vaults import Vaults

_NAME_CHARS = 60


def hit_keys(fields: str) -> frozenset[str] | None:
    """The keys that the parameter `fields` names, and the vault, without which a path may be that of two
    notes; None means all.

    Raises UsageError for a key that hits do not have.
    """
    wanted = frozenset(name.strip() for name in fields.split(",") if name.strip())
    keys = json_fields(model.Hit)
    unknown = sorted(wanted - {one.key for one in keys})
    if unknown:
        known = sorted(one.key for one in keys)
        named = ", ".join(repr(name[:_NAME_CHARS]) for name in unknown)
        raise UsageError(f"fields: a hit has no key {named}; it has {', '.join(known)}")
    return wanted | {"vault"} if wanted else None


def with_shares(answer: model.SearchAnswer) -> model.SearchAnswer:
    strongest = max((hit.why.keyword.score for hit in answer.results if hit.why.keyword), default=0.0)
    hits = []
    for hit in answer.results:
        why = hit.why
        shares = model.Shares(
            words=why.keyword.score / strongest if why.keyword and strongest > 0 else 0.0,
            meaning=why.vector.score if why.vector else 0.0,
            links=why.graph.score if why.graph else 0.0,
        )
        hits.append(replace(hit, shares=shares))
    return replace(answer, results=tuple(hits))


ToolCall = Callable[[Mapping[str, Value]], dict[str, model.JsonValue]]
"""Answers a tool, given a value for each of its parameters. It is called in a thread, and raises
VaultIndexerError."""


class StrategySetting(Protocol):
    """The key `chunking.strategy` of the vault's configuration."""

    @property
    def choices(self) -> Sequence[str]: ...

    def current(self) -> str:
        """The strategy in use. Raises ConfigError."""

    def check(self, strategy: str) -> None:
        """Raises UsageError if the strategy cannot be chosen."""

    def choose(self, strategy: str) -> None:
        """Writes the key; the daemon notices and rebuilds. Raises VaultIndexerError."""


@record
class AgentActions:
    """The actions of tools beyond queries to the service. Without a strategy, `set_chunker` is not offered.
    `tools` belong to optional packages."""

    strategy: StrategySetting | None = None
    tools: Mapping[str, ToolCall] = field(default_factory=dict)


def no_actions(_: str) -> AgentActions:
    return AgentActions()


@record
class AnswerContext:
    """The context for answering a request.

    `vault` is the name of the vault in the request, "" if it names none; `address` is the vault name in its
    URL, "" if the URL covers all vaults. `is_cancelled` reports that the client has disconnected or the
    server is stopping. `actions_of` maps a vault name, or "", to the actions of tools. A tool waits at most
    `first_notes_s` for the first notes of an index under construction.
    """

    vaults: Vaults
    daemon: model.DaemonState
    is_cancelled: Callable[[], bool] = lambda: False
    vault: str = ""
    actions_of: Callable[[str], AgentActions] = no_actions
    address: str = ""
    first_notes_s: float = 20.0

    @property
    def service(self) -> VaultService:
        """The vault of the request. Raises UsageError if the request must name one, and any error that
        prevents that vault from answering."""
        return self.vaults.service(self.vault)

    @property
    def actions(self) -> AgentActions:
        return self.actions_of(self.vault)


class ExtensionRoute(NamedTuple):
    """An endpoint of an optional package, and the function that answers it, given the request. A non-public
    endpoint is for the page and the plugin of the same release; `/openapi.json` does not list it."""

    endpoint: endpoints.Endpoint[Any]
    answer: Callable[[AnswerContext, Any], object]
    is_public: bool = True


@functools.cache
def extension_routes() -> tuple[ExtensionRoute, ...]:
    return tuple(route for routes in offered("routes") for route in routes)


def answer(
    endpoint: endpoints.Endpoint[Any], context: AnswerContext, arguments: Mapping[str, Value]
) -> object:
    """Returns the answer of an endpoint, a dataclass of its row, given a value for each of its parameters.
    Raises VaultIndexerError."""
    request: Any = request_of(endpoint.request, arguments)
    if own := FUNCTIONS.get(endpoint.name):
        return own(context, request)
    for route in extension_routes():
        if route.endpoint.name == endpoint.name:
            return route.answer(context, request)
    method = getattr(context.service, endpoint.name)
    return method(**request._asdict())


def _search(context: AnswerContext, request: model.SearchRequest) -> model.SearchAnswer:
    keys = hit_keys(request.fields)
    stale, by_field = keys is None or "stale" in keys, keys is None or "why" in keys
    request = request._replace(stale=stale, by_field=by_field)
    hits = context.vaults.search(request, context.vault, is_cancelled=context.is_cancelled)
    hits = replace(hits, keys=keys)
    return with_shares(hits) if keys and "shares" in keys else hits


def _ask(context: AnswerContext, request: model.AskRequest) -> model.AskAnswer:
    """Returns the whole answer; the stream has its own response, see `http`."""
    return whole_answer(_ask_events(context, request._replace(as_written=False)))


def _ask_events(context: AnswerContext, request: model.AskRequest) -> Iterator[AskEvent]:
    return context.vaults.ask_events(request, context.vault, is_cancelled=context.is_cancelled)


def ask_events(context: AnswerContext, request: model.AskRequest) -> Iterator[model.AskLine]:
    """Yields the parts of an answer as they arrive: `passages`, each `sentence`, and finally `answer`."""
    is_first = True
    for event in _ask_events(context, request):
        if isinstance(event, model.AnswerSentence):
            yield model.AskLine("sentence", event)
            continue
        yield model.AskLine("passages" if is_first else "answer", event)
        is_first = False


def _explain(context: AnswerContext, request: requests.ExplainRequest) -> model.Explanation:
    wanted = model.SearchRequest(request.query, correct=request.correct)
    return context.service.explain(request.note, wanted, is_cancelled=context.is_cancelled)


def _status(context: AnswerContext, _: requests.NoParameters) -> model.StatusReport:
    return replace(context.vaults.status(context.vault), daemon=context.daemon)


def _related(context: AnswerContext, request: requests.RelatedRequest) -> model.RelatedAnswer:
    known = context.service.path_of(request.note)
    return model.RelatedAnswer(known, context.service.related(known, request.limit))


def _links(
    context: AnswerContext, request: requests.LinksRequest
) -> model.LinksAnswer | model.MentionsAnswer | model.UnresolvedLinks | model.Orphans:
    limit = request.limit
    match request.view:
        case "mentions":
            found = context.service.mentions(request.note, limit or DEFAULT_MENTIONS)
            if request.rendered:
                return replace(found, mentions=context.service.with_trees(found.mentions))
            return found
        case "unresolved":
            return model.UnresolvedLinks.of(context.service.unresolved_links(), limit)
        case "orphans":
            return model.Orphans.of(context.service.orphans(), limit)
        case _:
            answer = context.service.links(request.note).first(limit)
            if request.rendered:
                return replace(answer, backlinks=context.service.with_trees(answer.backlinks))
            return answer


def _verify(context: AnswerContext, request: requests.VerifyRequest) -> model.Verification:
    problems = context.service.verify(repair=request.repair)
    return model.Verification(not problems, problems)


def _embed(context: AnswerContext, request: requests.EmbedRequest) -> model.UpgradeState:
    return context.service.pause_upgrade(request.paused)


def _pause(context: AnswerContext, request: requests.PauseRequest) -> model.PauseState:
    return _pause_state(context.service.pause(request.seconds))


def _pause_state(report: model.StatusReport) -> model.PauseState:
    return model.PauseState(report.paused, report.paused_until, report.pending)


def _resume(context: AnswerContext, _: requests.NoParameters) -> model.PauseState:
    return _pause_state(context.service.resume())


def _vaults(context: AnswerContext, _: requests.NoParameters) -> model.VaultList:
    return model.VaultList(tuple(context.vaults.summaries()), context.vaults.problem)


# A row without a function is answered by the method of `VaultService` with its name, and the fields of its
# request are the parameters. A rebuild has neither: only one runs at a time, and clients watch it, see
# `rebuilds` and the clients' `rebuild`.
FUNCTIONS: Mapping[str, Callable[[AnswerContext, Any], object]] = {
    endpoints.SEARCH.name: _search,
    endpoints.ASK.name: _ask,
    endpoints.EXPLAIN.name: _explain,
    endpoints.STATUS.name: _status,
    endpoints.RELATED.name: _related,
    endpoints.ALL_LINKS.name: _links,
    endpoints.VERIFY.name: _verify,
    endpoints.EMBED.name: _embed,
    endpoints.PAUSE.name: _pause,
    endpoints.RESUME.name: _resume,
    endpoints.VAULTS.name: _vaults,
}
