"""The agents of golden cases, asked through the endpoints of an index: those of a daemon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from vault_indexer.cli.index_connection import Index
from vault_indexer.contract.parameters import Value
from vault_indexer.errors import UsageError
from vault_indexer.evals import AgentAnswer, AgentInput, AgentName, read_answer
from vault_indexer.model import JsonValue
from vault_indexer.serve.api.endpoints import ENDPOINTS


class EndpointAgents:
    """The agents of an index behind its endpoints. An agent has the name of its endpoint."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def answer(self, agent: AgentName, question: AgentInput) -> AgentAnswer:
        """The answer of an agent. Raises VaultIndexerError."""
        endpoint = next((one for one in ENDPOINTS if one.name == agent), None)
        if endpoint is None:
            raise UsageError(f"agent {agent}: the daemon answers no questions")
        names = {parameter.name for parameter in endpoint.parameters}
        given = {name: value for name, value in _parameters(agent, question).items() if name in names}
        data = self._index.ask(endpoint, **given)
        return read_answer(agent, cast("Mapping[str, JsonValue]", data))


def _parameters(agent: AgentName, question: AgentInput) -> dict[str, Value]:
    """The parameters of a question, under each name that an endpoint may give them."""
    match agent:
        case "search":
            by = "note" if question.by_note else "chunk"
            return {"q": question.query, "limit": question.limit, "by": by}
        case "related":
            return {"path": question.note, "limit": question.limit or 10}
        case "links":
            return {"path": question.note}
        case "ask":
            return {
                "q": question.question,
                "question": question.question,
                "limit": question.limit,
                "model": question.use_model,
            }
    raise UsageError(f"agent {agent}: it is not asked here")
