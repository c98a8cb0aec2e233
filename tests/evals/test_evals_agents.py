"""What an evaluation reads in the answer of each agent of the index."""

import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from eval_lab import FakeService, shown
from golden_cases import check_golden, of_parts

from vault_evals.agents import AgentAnswer, Finding, ServiceAgents, read_answer
from vault_evals.cases import AgentInput
from vault_indexer.errors import UsageError
from vault_indexer.model import (
    AskAnswer,
    AskRequest,
    IndexState,
    LinksAnswer,
    RelatedNote,
    SearchAnswer,
    SearchRequest,
)


def test_an_answer_is_read_from_the_json_of_its_agent() -> None:
    def read(agent: str, data: str) -> str:
        return shown(read_answer(agent, json.loads(data)))

    agents = ("search", "related", "links", "ask")
    golden = Path(__file__).parent / "fixtures" / "answers.md"
    check_golden(golden, {agent: partial(read, agent) for agent in agents})


def test_the_notes_of_an_answer_are_named_once() -> None:
    findings = tuple(Finding(path, "") for path in ("b.md", "a.md", "b.md"))
    assert AgentAnswer(findings).paths == ("b.md", "a.md")


@dataclass
class Recording(FakeService):
    """An EvalService that keeps what it is asked."""

    asked: tuple[object, ...] = ()

    def search(self, request: SearchRequest) -> SearchAnswer:
        self.asked = ("search", request)
        return replace(super().search(request), verdict="none")

    def related(self, note: str, limit: int = 10) -> tuple[RelatedNote, ...]:
        self.asked = ("related", note, limit)
        return super().related(note, limit)

    def links(self, note: str) -> LinksAnswer:
        self.asked = ("links", note)
        return super().links(note)


@dataclass
class Answering(Recording):
    """One that answers questions, too."""

    def ask(self, request: AskRequest) -> AskAnswer:
        self.asked = ("ask", request)
        return AskAnswer(request.question, "declined", "none", (), (), (), (), "", 0.0, IndexState(1, 1, 0))


def test_each_agent_is_asked_for_what_the_case_says(tmp_path: Path) -> None:
    def asked(agent: str, given: str) -> str:
        service = Answering(tmp_path)
        answer = ServiceAgents(service).answer(agent, AgentInput.model_validate_json(given))
        return f"{service.asked}: {shown(answer)}"

    check_golden(Path(__file__).parent / "fixtures" / "asked.md", {"": of_parts(asked)})


def test_an_agent_that_the_index_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="agent ask: this index does not support questions"):
        ServiceAgents(Recording(tmp_path)).answer("ask", AgentInput(question="Why?"))
    with pytest.raises(UsageError, match="agent baker: not available here"):
        ServiceAgents(Recording(tmp_path)).answer("baker", AgentInput())
    with pytest.raises(UsageError, match="agent baker: not available here"):
        read_answer("baker", {})
