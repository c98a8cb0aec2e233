"""Agents of the user: functions, from the input of a case to findings.

Cases may be a stranger's. A case says a name; only the user's own configuration says which function that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from vault_indexer.chunk import import_function
from vault_indexer.errors import ProviderError
from vault_indexer.evals.agents import AgentAnswer, Agents, CitedSpan, Finding
from vault_indexer.evals.cases import AgentInput, AgentName

GROUP = "vault_indexer.agents"
"""Entry points of this group may be named in `evals.agents`."""


class OwnAgents:
    """The functions of the user by name, and behind them the agents of the index."""

    def __init__(self, functions: Mapping[str, str], others: Agents) -> None:
        """Raises UsageError or ProviderError for a function that cannot be imported."""
        self._others = others
        self._functions: dict[str, Callable[..., object]] = {
            name: import_function(f"evals.agents.{name}", function, GROUP)
            for name, function in functions.items()
        }

    def answer(self, agent: AgentName, question: AgentInput) -> AgentAnswer:
        """The answer of an agent. Raises VaultIndexerError."""
        if agent not in self._functions:
            return self._others.answer(agent, question)
        try:
            return read_findings(self._functions[agent](dict(question.keys)))
        except Exception as error:  # another's code: whatever it raises, the other cases go on
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise ProviderError(f"agent {agent}: {reason}") from error


def read_findings(found: object) -> AgentAnswer:
    """The answer in what a function returned: an `AgentAnswer`, or findings, best first.

    A finding is a `Finding`, the path or URL of a source, or a mapping with `source` (or `path`, `url`) and
    `text`. With `start` and `end` it cites that span; `quote` and `sha256` are checked where they are given.
    A mapping instead of the list has the findings in `findings`, and may have `text` and `declined`. Raises
    ValueError for anything else.
    """
    if isinstance(found, AgentAnswer):
        return found
    if isinstance(found, Mapping):
        answer = read_findings(found.get("findings") or ())
        text = _text(found, "text") or answer.text
        return AgentAnswer(answer.findings, text, answer.citations, bool(found.get("declined")))
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise ValueError(f"returns {type(found).__name__}, expected a list of findings")
    findings, citations = [], []
    for one in found:
        finding, cited = _finding(one)
        findings.append(finding)
        citations += [cited] if cited else []
    text = findings[0].text if findings else ""
    return AgentAnswer(tuple(findings), text, tuple(citations))


def _finding(found: object) -> tuple[Finding, CitedSpan | None]:
    match found:
        case Finding():
            return found, None
        case str():
            return Finding(found, ""), None
        case Mapping():
            source = _text(found, "source") or _text(found, "path") or _text(found, "url")
            if not source:
                raise ValueError("a finding without source")
            quote, start, end = _text(found, "quote"), found.get("start"), found.get("end")
            cited = None
            if isinstance(start, int) and isinstance(end, int):
                cited = CitedSpan(source, start, end, quote, _text(found, "sha256"))
            return Finding(source, _text(found, "text") or quote), cited
    raise ValueError(f"a finding of type {type(found).__name__}, expected a mapping or the path of a source")


def _text(found: Mapping[object, object], key: str) -> str:
    value = found.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f"{key} of type {type(value).__name__}, expected a text")
    return value
