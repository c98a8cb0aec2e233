"""Layer 3: keywords first, then the cosine, and between its bounds a judge."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from eval_lab import FakeService
from golden_cases import check_golden, of_parts
from openai_server import Answer, ModelServer, model_server
from paraphrases import read_paraphrases

from vault_evals.agents import AgentAnswer
from vault_evals.cases import MeaningExpected
from vault_evals.meaning import (
    DEFAULT_BOUNDS,
    JUDGES,
    Judge,
    MeaningCheck,
    bounds_of,
    difference,
    judge_for,
    read_judgement,
)
from vault_evals.results import JudgeUse, Outcome
from vault_indexer.errors import ProviderError, UsageError

GOLDEN, ANSWER = "The loaf bakes under the lid.", "Under the lid bakes the loaf."
EXPECTED = MeaningExpected(
    golden_answer=GOLDEN, expected_keywords_any=("lid", "steam"), expected_keywords_none=("foil", "tin")
)
PASS = json.dumps({"verdict": "pass", "reason": "Same fact."})
FAIL = json.dumps({"verdict": "fail", "reason": "Another number."})


@dataclass
class Model:
    """ports.Llm with one answer."""

    said: str
    prompts: list[str] = field(default_factory=list)
    name: str = "small"

    def complete(  # the port's signature
        self,
        prompt: str,
        *,
        timeout_s: float,  # noqa: ARG002
        max_tokens: int | None = None,  # noqa: ARG002
    ) -> str:
        self.prompts.append(prompt)
        return self.said


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as made:
        yield made


def service_with(cosine: float, text: str) -> FakeService:
    sine = math.sqrt(max(0.0, 1 - cosine * cosine))
    return FakeService(Path(), vectors={GOLDEN: [1.0, 0.0], text: [cosine, sine]})


def check(cosine: float, judge: Judge | None = None) -> tuple[Outcome, MeaningCheck]:
    meaning = MeaningCheck(service_with(cosine, ANSWER).embed, judge)
    return meaning.check("How to bake?", EXPECTED, AgentAnswer(text=ANSWER)), meaning


@pytest.mark.parametrize(
    ("cosine", "verdict"),
    [(1.0, "pass"), (0.7801, "pass"), (0.7799, "error"), (0.5501, "error"), (0.5499, "fail"), (-0.5, "fail")],
)
def test_the_cosine_decides_without_a_judge(cosine: float, verdict: str) -> None:
    outcome, meaning = check(cosine)
    assert outcome.verdict == verdict
    assert outcome.score == pytest.approx(cosine, abs=1e-3)
    is_reviewed = 0.55 <= cosine < 0.78
    assert any("undecided" in reason for reason in outcome.reasons) is is_reviewed
    assert meaning.judge_use.reviews == is_reviewed


@pytest.mark.long
def test_no_cosine_passes_a_falsified_golden_answer() -> None:
    """Whatever the model of the index says: a judge sees it, and without one it is undecided."""
    meaning = MeaningCheck(FakeService(Path()).embed, None)  # every cosine is 1
    verdicts = Counter(
        (
            kind,
            meaning.check(
                "", MeaningExpected(golden_answer=one.honest), AgentAnswer(text=text), one.language
            ).verdict,
        )
        for one in read_paraphrases()
        for kind, text in [("honest", one.honest), *one.falsified()]
    )
    assert {verdict for kind, verdict in verdicts if kind == "honest"} == {"pass"}
    falsified = sum(count for (kind, _), count in verdicts.items() if kind != "honest")
    passed = sum(count for (kind, said), count in verdicts.items() if kind != "honest" and said == "pass")
    assert falsified >= 300
    assert passed <= 0.05 * falsified
    judged = MeaningCheck(FakeService(Path()).embed, Judge(Model(FAIL)))
    expected = MeaningExpected(golden_answer="Take 400 mg of ibuprofen.")
    outcome = judged.check("", expected, AgentAnswer(text="Take 400 mg of aspirin."))
    assert outcome.verdict == "fail"
    assert "'ibuprofen'" in outcome.reasons[0]


def test_each_model_has_bounds_of_its_own() -> None:
    assert bounds_of("e5").fails_below > bounds_of("wordllama").passes_from
    assert bounds_of("openai") == DEFAULT_BOUNDS


def test_a_cosine_that_is_no_number_fails() -> None:
    service = FakeService(Path(), vectors={GOLDEN: [math.nan, 0.0]})
    outcome = MeaningCheck(service.embed, None).check("", EXPECTED, AgentAnswer(text="the lid"))
    assert outcome.verdict == "fail"


def test_a_judge_that_cannot_be_had_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judge_for("none") is None
    with pytest.raises(UsageError, match="judge 'gpt': choose none, ollama, anthropic, openai"):
        judge_for("gpt")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ProviderError):
        judge_for("anthropic")


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("ollama", "llama_index.llms.ollama"),
        ("anthropic", "llama_index.llms.anthropic"),
        ("openai", "llama_index.llms.openai_like"),
    ],
)
def test_each_judge_is_asked_over_http(
    name: str, package: str, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(package)
    monkeypatch.setenv("TEST_JUDGE_KEY", "secret")
    server.script.append(Answer(PASS))
    url = server.url + ("/v1" if name == "openai" else "")
    judge = judge_for(name, url=url, api_key_env="TEST_JUDGE_KEY")
    assert judge is not None
    assert judge.name == f"{name}/{JUDGES[name].model}"
    assert check(0.6, judge)[0].verdict == "pass"
    (request,) = server.requests
    assert request.body["model"] == JUDGES[name].model


def test_meanings_are_judged_as_the_golden_says() -> None:
    """What a judge says instead is shown as far as a line goes."""

    def read(written: str) -> str:
        text = re.sub(r"(\w)\{(\d+)\}", lambda found: found[1] * int(found[2]), written)
        try:
            found = read_judgement(text, "small")
        except ProviderError as refused:
            return str(refused).removeprefix("judge small: ")
        return f"{'pass' if found.passed else 'fail'}: {found.reason}"

    def lacks(golden: str, answer: str) -> str:
        found = difference(golden, answer, "en")
        assert difference(golden, answer) == found
        return found

    def by_keywords(text: str) -> str:
        service, model = service_with(1.0, text), Model(PASS)
        outcome = MeaningCheck(service.embed, Judge(model)).check("", EXPECTED, AgentAnswer(text=text))
        assert (service.embedded, model.prompts) == ([], [])
        return str(outcome)

    def between(said: str) -> str:
        model = Model(said)
        found, meaning = check(0.6, None if said == "nobody" else Judge(model))
        for prompt in model.prompts:
            assert all(text in prompt for text in ("How to bake?", GOLDEN, ANSWER))
        return f"{found}, {meaning.judge_use}"

    check_golden(
        Path(__file__).parent / "fixtures" / "meaning.md",
        {
            "What a judge says": read,
            "What the answer lacks": of_parts(lacks),
            "Keywords decide before any model, and all at fault are named": by_keywords,
            "Between the bounds the reason says who decided": between,
        },
    )


def test_a_cosine_decides_with_its_value() -> None:
    assert check(0.95)[0] == Outcome("pass", 0.95)
    assert check(0.2)[0] == Outcome("fail", 0.2, ("cosine 0.20, below 0.55",))
    empty = MeaningCheck(FakeService(Path()).embed, None)
    blank = MeaningExpected(golden_answer="golden")
    assert empty.check("", blank, AgentAnswer(text=" ")) == Outcome("fail", 0.0, ("the answer has no text",))
    assert empty.judge_use == JudgeUse("none", 0, 0)
