"""The agents that cases query, with a common form of their answers.

An agent answers with the JSON that users see: the same keys from a `VaultService`, from a daemon and from a
test. The layers check an `AgentAnswer`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Protocol, cast, runtime_checkable

from vault_evals.cases import AgentInput, AgentName
from vault_indexer.arrays import Vectors
from vault_indexer.chunk import import_function
from vault_indexer.cli.connection.connect import Dispatcher
from vault_indexer.contract.codec import encode
from vault_indexer.contract.parameters import Value
from vault_indexer.errors import ProviderError, UsageError
from vault_indexer.model import (
    AskRequest,
    JsonValue,
    LinksAnswer,
    RelatedNote,
    SearchAnswer,
    SearchRequest,
    StatusReport,
)
from vault_indexer.model.ask import AskAnswer
from vault_indexer.serve.api.endpoints import ENDPOINTS
from vault_indexer.system import record

Json = Mapping[str, JsonValue]


@record
class CitedSpan:
    """A span of a note that an answer quotes; positions are characters of the note. `sha256` is that of the
    quote according to the agent ("": none given)."""

    path: str
    start: int
    end: int
    quote: str
    sha256: str = ""


@record
class Finding:
    """A note, or a part of one, in an answer. `text` is the text shown in the answer; `part` is the page,
    slide or sheet of a document that contains it ("page 3")."""

    path: str
    text: str
    part: str = ""

    @property
    def place(self) -> str:
        """The path, with the part as in a link: `paper.pdf#page=3`."""
        return f"{self.path}#{self.part.replace(' ', '=')}" if self.part else self.path


@record
class AgentAnswer:
    """An answer: the findings, best first; the text to read; the cited spans.

    `declined`: the agent itself states that the vault contains no answer. `sources` are the notes and pages
    that a user's agent names as the origin of its findings.
    """

    findings: tuple[Finding, ...] = ()
    text: str = ""
    citations: tuple[CitedSpan, ...] = ()
    declined: bool = False
    sources: tuple[str, ...] = field(default=(), compare=False)

    @property
    def paths(self) -> tuple[str, ...]:
        """The distinct notes of the findings, in order."""
        return tuple(dict.fromkeys(finding.path for finding in self.findings))


class Agents(Protocol):
    """Answers the questions of cases: the index, or functions of the user."""

    def answer(self, agent: AgentName, question: AgentInput) -> AgentAnswer:
        """The answer of an agent. Raises VaultIndexerError."""
        ...


class EvalService(Protocol):
    """The parts of the index that a suite uses. Implemented by `VaultService` and by fakes in tests."""

    def search(self, request: SearchRequest) -> SearchAnswer: ...

    def related(self, note: str, limit: int = 10) -> tuple[RelatedNote, ...]: ...

    def links(self, note: str) -> LinksAnswer: ...

    def status(self) -> StatusReport: ...

    def note_paths(self) -> list[str]: ...

    def indexed_text(self, note: str) -> str:
        """The text of a note as indexed. Raises UnknownNoteError."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1 by the model of the index."""
        ...


@runtime_checkable
class AnswersQuestions(Protocol):
    """A service that also answers questions."""

    def ask(self, request: AskRequest) -> AskAnswer: ...


class ServiceAgents:
    def __init__(self, service: EvalService) -> None:
        self._service = service

    def answer(self, agent: AgentName, question: AgentInput) -> AgentAnswer:
        match agent:
            case "search":
                request = SearchRequest(question.query, question.limit, question.by_note)
                return read_answer(agent, encode(self._service.search(request)))
            case "related":
                near = self._service.related(question.note, question.limit or 10)
                return read_answer(agent, {"results": [encode(one) for one in near]})
            case "links":
                return read_answer(agent, encode(self._service.links(question.note)))
            case "ask":
                return read_answer(agent, encode(self._ask(question)))
        raise UsageError(f"agent {agent}: not available here")

    def _ask(self, question: AgentInput) -> AskAnswer:
        if not isinstance(self._service, AnswersQuestions):
            raise UsageError("agent ask: this index does not support questions")
        return self._service.ask(AskRequest(question.question, question.limit, use_model=question.use_model))


def read_answer(agent: AgentName, data: Json) -> AgentAnswer:
    match agent:
        case "search":
            return _search_answer(data)
        case "related":
            near = _objects(data, "results")
            return AgentAnswer(tuple(Finding(_text(one, "path"), _text(one, "title")) for one in near))
        case "links":
            return AgentAnswer(tuple(_linked(data)))
        case "ask":
            return _ask_answer(data)
    raise UsageError(f"agent {agent}: not available here")


def _search_answer(data: Json) -> AgentAnswer:
    hits = _objects(data, "results")
    texts = [_text(hit, "content") or _text(hit, "snippet") for hit in hits]
    return AgentAnswer(
        tuple(
            Finding(_text(hit, "path"), text, _text(hit, "part"))
            for hit, text in zip(hits, texts, strict=True)
        ),
        texts[0] if texts else "",
        # The content begins with headings from other places in the note, so the span itself is cited.
        tuple(
            CitedSpan(_text(hit, "path"), _number(hit, "start_pos"), _number(hit, "end_pos"), "")
            for hit in hits
            if _number(hit, "end_pos") > _number(hit, "start_pos")
        ),
        _text(data, "verdict") == "none",
    )


def _linked(data: Json) -> Iterator[Finding]:
    """The targets of a note's links, then the notes that link to it."""
    for link in _objects(data, "outgoing"):
        if link.get("resolved"):
            yield Finding(_text(link, "resolved"), _text(link, "display") or _text(link, "target"))
    for link in _objects(data, "backlinks"):
        yield Finding(_text(link, "path"), _text(link, "snippet"))


def _ask_answer(data: Json) -> AgentAnswer:
    sentences = _objects(data, "sentences")
    cited = [one for sentence in sentences for one in _objects(sentence, "citations")]
    citations = tuple(
        CitedSpan(
            _text(one, "path"),
            _number(one, "start_pos"),
            _number(one, "end_pos"),
            _text(one, "quote"),
            _text(one, "sha256"),
        )
        for one in cited
    )
    # If the answer consists of passages to read, these are its findings.
    passages = [] if cited else _objects(data, "passages")
    found = [Finding(_text(one, "path"), _text(one, "quote"), _text(one, "part")) for one in cited]
    found += [Finding(_text(one, "path"), _text(one, "content"), _text(one, "part")) for one in passages]
    declined = _text(data, "kind") == "declined"
    return AgentAnswer(
        () if declined else tuple(found),
        " ".join(_text(sentence, "text") for sentence in sentences),
        citations,
        declined,
    )


def _objects(data: Json, key: str) -> Sequence[Json]:
    value = data.get(key)
    rows = value if isinstance(value, list | tuple) else ()
    return [cast("Json", one) for one in rows if isinstance(one, dict)]


def _text(data: Json, key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _number(data: Json, key: str) -> int:
    value = data.get(key)
    return value if isinstance(value, int) else 0


GROUP = "vault_indexer.agents"
"""Entry points of this group may be named in `evals.agents`."""


class OwnAgents:
    """The functions of the user by name, with the agents of the index as a fallback."""

    def __init__(self, functions: Mapping[str, str], others: Agents) -> None:
        """Raises UsageError or ProviderError for a function that cannot be imported."""
        self._others = others
        self._functions: dict[str, Callable[..., object]] = {
            name: import_function(f"evals.agents.{name}", function, GROUP)
            for name, function in functions.items()
        }

    def answer(self, agent: AgentName, question: AgentInput) -> AgentAnswer:
        if agent not in self._functions:
            return self._others.answer(agent, question)
        try:
            return read_findings(self._functions[agent](dict(question.keys or {})))
        except Exception as error:  # another's code: whatever it raises, the other cases go on
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise ProviderError(f"agent {agent}: {reason}") from error


def read_findings(found: object) -> AgentAnswer:
    """Converts the result of a function to an answer: an `AgentAnswer`, or findings, best first.

    A finding is a `Finding`, the path or URL of a source, or a mapping with `source` (or `path`, `url`) and
    `text`. With `start` and `end` it cites that span; `quote` and `sha256` are checked if given. A mapping
    instead of the list has the findings in `findings`, and may have `text` and `declined`. Raises ValueError
    for anything else.
    """
    if isinstance(found, AgentAnswer):
        return found
    if isinstance(found, Mapping):
        answer = read_findings(found.get("findings") or ())
        text = _checked_text(found, "text") or answer.text
        return replace(answer, text=text, declined=bool(found.get("declined")))
    # A text is iterable as well, but its characters are not findings.
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise ValueError(f"returns {type(found).__name__}, expected a list of findings")
    findings, citations = [], []
    for one in found:
        finding, cited = _finding(one)
        findings.append(finding)
        citations += [cited] if cited else []
    text = findings[0].text if findings else ""
    sources = tuple(finding.path for finding in findings)
    return AgentAnswer(tuple(findings), text, tuple(citations), sources=sources)


def _finding(found: object) -> tuple[Finding, CitedSpan | None]:
    match found:
        case Finding():
            return found, None
        case str():
            return Finding(found, ""), None
        case Mapping():
            source = (
                _checked_text(found, "source") or _checked_text(found, "path") or _checked_text(found, "url")
            )
            if not source:
                raise ValueError("a finding without source")
            quote, start, end = _checked_text(found, "quote"), found.get("start"), found.get("end")
            cited = None
            if isinstance(start, int) and isinstance(end, int):
                cited = CitedSpan(source, start, end, quote, _checked_text(found, "sha256"))
            return Finding(source, _checked_text(found, "text") or quote), cited
    raise ValueError(f"a finding of type {type(found).__name__}, expected a mapping or the path of a source")


def _checked_text(found: Mapping[object, object], key: str) -> str:
    value = found.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f"{key} of type {type(value).__name__}, expected a text")
    return value


class EndpointAgents:
    """The agents of an index behind its endpoints. An agent is named like its endpoint."""

    def __init__(self, index: Dispatcher) -> None:
        self._index = index

    def answer(self, agent: AgentName, question: AgentInput) -> AgentAnswer:
        endpoint = next((one for one in ENDPOINTS if one.name == agent), None)
        if endpoint is None:
            raise UsageError(f"agent {agent}: the daemon does not support questions")
        names = {parameter.name for parameter in endpoint.parameters}
        given = {name: value for name, value in _parameters(agent, question).items() if name in names}
        data = self._index.ask(endpoint, **given)
        return read_answer(agent, cast("Mapping[str, JsonValue]", data))


def _parameters(agent: AgentName, question: AgentInput) -> dict[str, Value]:
    """The parameters of a question, under each name that an endpoint may use for them."""
    match agent:
        case "search":
            by = "note" if question.by_note else "chunk"
            return {"q": question.query, "limit": question.limit, "by": by}
        case "related":
            return {"path": question.note, "limit": question.limit or 10}
        case "links":
            return {"path": question.note}
        case "ask":
            return {"q": question.question, "limit": question.limit, "model": question.use_model}
    raise UsageError(f"agent {agent}: not available here")
