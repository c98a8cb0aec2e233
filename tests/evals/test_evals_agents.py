"""What an evaluation reads in the answer of each agent of the index."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from eval_lab import FakeService

from vault_evals.agents import AgentAnswer, CitedSpan, Finding, ServiceAgents, read_answer
from vault_evals.cases import AgentInput
from vault_indexer.errors import UsageError
from vault_indexer.model import (
    AskAnswer,
    AskRequest,
    IndexState,
    JsonValue,
    LinksAnswer,
    RelatedNote,
    SearchAnswer,
    SearchRequest,
)


@pytest.mark.parametrize(
    ("agent", "data", "answer"),
    [
        (
            "search",
            {
                "verdict": "good",
                "results": [
                    {"path": "a.md", "content": "one", "snippet": "o", "start_pos": 3, "end_pos": 6},
                    {"path": "b.md", "content": "", "snippet": "two", "start_pos": 5, "end_pos": 5},
                    "no hit",
                ],
            },
            AgentAnswer(
                (Finding("a.md", "one"), Finding("b.md", "two")), "one", (CitedSpan("a.md", 3, 6, ""),)
            ),
        ),
        ("search", {"verdict": "none", "results": None}, AgentAnswer(declined=True)),
        (
            "related",
            {"results": [{"path": "a.md", "title": "A"}, {"path": 3}]},
            AgentAnswer((Finding("a.md", "A"), Finding("", ""))),
        ),
        (
            "links",
            {
                "outgoing": [
                    {"resolved": "a.md", "display": "shown", "target": "a"},
                    {"resolved": "b.md", "display": None, "target": "b"},
                    {"resolved": None, "display": "c", "target": "c"},
                ],
                "backlinks": [{"path": "d.md", "snippet": "see this"}],
            },
            AgentAnswer((Finding("a.md", "shown"), Finding("b.md", "b"), Finding("d.md", "see this"))),
        ),
        (
            "ask",
            {
                "kind": "quotes",
                "sentences": [
                    {
                        "text": "One.",
                        "citations": [
                            {"path": "a.md", "start_pos": 1, "end_pos": 4, "quote": "One", "sha256": "x"},
                            {"path": "b.md", "start_pos": "1", "end_pos": 2, "quote": "Eins"},
                        ],
                    },
                    {"text": "Two."},
                ],
                "passages": [{"path": "c.md", "content": "not read"}],
            },
            AgentAnswer(
                (Finding("a.md", "One"), Finding("b.md", "Eins")),
                "One. Two.",
                (CitedSpan("a.md", 1, 4, "One", "x"), CitedSpan("b.md", 0, 2, "Eins")),
            ),
        ),
        (
            "ask",
            {"kind": "passages", "sentences": [], "passages": [{"path": "c.md", "content": "read this"}]},
            AgentAnswer((Finding("c.md", "read this"),)),
        ),
        (
            "ask",
            {"kind": "declined", "passages": [{"path": "c.md", "content": "near"}]},
            AgentAnswer(declined=True),
        ),
    ],
)
def test_an_answer_is_read_from_the_json_of_its_agent(
    agent: str, data: Mapping[str, JsonValue], answer: AgentAnswer
) -> None:
    assert read_answer(agent, json.loads(json.dumps(data))) == answer


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


@pytest.mark.parametrize(
    ("agent", "given", "asked", "answer"),
    [
        (
            "search",
            AgentInput(query="q", limit=3, by_note=True),
            SearchRequest("q", 3, by_note=True),
            AgentAnswer(declined=True),
        ),
        ("related", AgentInput(note="a.md", limit=3), ("a.md", 3), AgentAnswer()),
        ("related", AgentInput(note="a.md"), ("a.md", 10), AgentAnswer()),
        ("links", AgentInput(note="a.md"), ("a.md",), AgentAnswer()),
        (
            "ask",
            AgentInput(question="Why?", limit=4, use_model=False),
            AskRequest("Why?", 4, use_model=False),
            AgentAnswer(declined=True),
        ),
    ],
)
def test_each_agent_is_asked_for_what_the_case_says(
    tmp_path: Path, agent: str, given: AgentInput, asked: object, answer: AgentAnswer
) -> None:
    service = Answering(tmp_path)
    assert ServiceAgents(service).answer(agent, given) == answer
    assert service.asked == (agent, *(asked if type(asked) is tuple else (asked,)))


def test_an_agent_that_the_index_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="agent ask: this index does not support questions"):
        ServiceAgents(Recording(tmp_path)).answer("ask", AgentInput(question="Why?"))
    with pytest.raises(UsageError, match="agent baker: not available here"):
        ServiceAgents(Recording(tmp_path)).answer("baker", AgentInput())
    with pytest.raises(UsageError, match="agent baker: not available here"):
        read_answer("baker", {})
