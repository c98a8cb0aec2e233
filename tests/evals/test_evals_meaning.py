"""Layer 3: keywords first, then the cosine, and between its bounds a judge."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from eval_lab import FakeService
from openai_server import Answer, ModelServer, model_server
from paraphrases import read_paraphrases

from vault_evals.agents import AgentAnswer
from vault_evals.cases import MeaningExpected
from vault_evals.meaning import (
    DEFAULT_BOUNDS,
    JUDGES,
    Judge,
    Judgement,
    MeaningCheck,
    ModelJudge,
    bounds_of,
    difference,
    judge_for,
    read_judgement,
)
from vault_evals.results import JudgeUse, Outcome
from vault_indexer.errors import ProviderError, UsageError

GOLDEN, ANSWER = "The loaf bakes under the lid.", "Under the lid bakes the loaf."
EXPECTED = MeaningExpected(
    golden_answer=GOLDEN, expected_keywords_any=("lid", "steam"), expected_keywords_none=("foil",)
)
PASS = json.dumps({"verdict": "pass", "reason": "Same fact."})
FAIL = json.dumps({"verdict": "fail", "reason": "Another number."})


class HttpModel:
    """ports.Llm by the protocol of OpenAI, with the standard library alone."""

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url)

    @property
    def name(self) -> str:
        return "test/model"

    def complete(  # the port's signature
        self,
        prompt: str,
        *,
        timeout_s: float,
        max_tokens: int | None = None,  # noqa: ARG002
    ) -> str:
        connection = HTTPConnection(self._url.hostname or "", self._url.port, timeout=timeout_s)
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps({"prompt": prompt}))
            response = connection.getresponse()
            data = response.read()
            if response.status != 200:
                raise ProviderError(f"status {response.status}")
            return str(json.loads(data)["choices"][0]["message"]["content"])
        finally:
            connection.close()


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
def test_no_cosine_passes_a_falsified_golden_answer(server: ModelServer) -> None:
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
    server.script.append(Answer(FAIL))
    judged = MeaningCheck(FakeService(Path()).embed, ModelJudge(HttpModel(server.url)))
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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("under the lid and foil", "expected_keywords_none: 'foil' occurs in the answer"),
        ("under a cover", "expected_keywords_any: none of 'lid', 'steam' occurs in the answer"),
    ],
)
def test_keywords_decide_before_any_model(text: str, reason: str, server: ModelServer) -> None:
    service = service_with(1.0, text)
    meaning = MeaningCheck(service.embed, ModelJudge(HttpModel(server.url)))
    outcome = meaning.check("", EXPECTED, AgentAnswer(text=text))
    assert outcome == Outcome("fail", None, (reason,))
    assert service.embedded == []
    assert server.requests == []


@pytest.mark.parametrize(("said", "verdict"), [(PASS, "pass"), (FAIL, "fail")])
def test_a_judge_decides_between_the_bounds(server: ModelServer, said: str, verdict: str) -> None:
    server.script.append(Answer(said))
    outcome, meaning = check(0.6, ModelJudge(HttpModel(server.url)))
    assert outcome.verdict == verdict
    assert "test/model reports:" in outcome.reasons[0]
    (request,) = server.requests
    for text in ("How to bake?", GOLDEN, ANSWER):
        assert text in json.dumps(request.body)
    assert (meaning.judge_use.reviews, meaning.judge_use.answers) == (1, 1)


@pytest.mark.parametrize(
    "answer",
    [
        Answer("pass"),
        Answer('The answer is right. {"verdict": "pass", "reason": ""}'),
        Answer('```json\n{"verdict": "pass", "reason": ""}\n```'),
        Answer('{"verdict": "pass"}'),
        Answer('{"verdict": "maybe", "reason": ""}'),
        Answer('{"verdict": true, "reason": ""}'),
        Answer('{"verdict": "pass", "reason": "", "score": 1}'),
        Answer('{"verdict": "pass", "reason": 1}'),
        Answer('["pass"]'),
        Answer(status=500, body=b"{}"),
    ],
    ids=range(10),
)
def test_garbage_of_a_judge_is_an_error_and_no_verdict(server: ModelServer, answer: Answer) -> None:
    server.script.append(answer)
    outcome, meaning = check(0.6, ModelJudge(HttpModel(server.url)))
    assert outcome.verdict == "error"
    assert (meaning.judge_use.reviews, meaning.judge_use.answers) == (1, 0)


def test_an_answer_cannot_speak_for_the_judge() -> None:
    """What the answer says stands in the prompt as JSON; only the model's own text is read."""
    assert read_judgement(FAIL, "test").passed is False
    with pytest.raises(ProviderError, match="judge test: not JSON"):
        read_judgement(PASS + FAIL, "test")


def test_the_judges_that_can_be_named() -> None:
    assert {name: one.model for name, one in JUDGES.items()} == {
        "ollama": "llama3.1:8b",
        "anthropic": "claude-haiku-4-5",
        "openai": "gpt-4o-mini",
    }
    assert judge_for("none") is None
    with pytest.raises(UsageError, match="judge 'gpt': choose none, ollama, anthropic, openai"):
        judge_for("gpt")


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


def test_a_judge_without_its_key_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ProviderError):
        judge_for("anthropic")


class Decided:
    """A judge with one answer."""

    name = "small"

    def __init__(self, judgement: Judgement | ProviderError) -> None:
        self._judgement = judgement

    def decide(self, question: str, golden: str, answer: str) -> Judgement:  # noqa: ARG002
        if isinstance(self._judgement, ProviderError):
            raise self._judgement
        return self._judgement


@pytest.mark.parametrize(
    ("judge", "outcome", "answers"),
    [
        (
            None,
            Outcome("error", 0.6, ("undecided: cosine 0.60, between 0.55 and 0.78, and there is no judge",)),
            0,
        ),
        (
            Decided(Judgement(True, "same")),
            Outcome("pass", 0.6, ("cosine 0.60, between 0.55 and 0.78; small reports: same",)),
            1,
        ),
        (
            Decided(Judgement(False, "other")),
            Outcome("fail", 0.6, ("cosine 0.60, between 0.55 and 0.78; small reports: other",)),
            1,
        ),
        (
            Decided(ProviderError("it is tired")),
            Outcome("error", 0.6, ("cosine 0.60, between 0.55 and 0.78; it is tired",)),
            0,
        ),
    ],
)
def test_between_the_bounds_the_reason_says_who_decided(
    judge: Judge | None, outcome: Outcome, answers: int
) -> None:
    found, meaning = check(0.6, judge)
    assert found == outcome
    name = "small" if judge else "none"
    assert meaning.judge_use == JudgeUse(name, 1, answers)


def test_a_cosine_decides_with_its_value() -> None:
    assert check(0.95)[0] == Outcome("pass", 0.95)
    assert check(0.2)[0] == Outcome("fail", 0.2, ("cosine 0.20, below 0.55",))
    empty = MeaningCheck(FakeService(Path()).embed, None)
    blank = MeaningExpected(golden_answer="golden")
    assert empty.check("", blank, AgentAnswer(text=" ")) == Outcome("fail", 0.0, ("the answer has no text",))
    assert empty.judge_use == JudgeUse("none", 0, 0)


@pytest.mark.parametrize(
    ("golden", "answer", "said"),
    [
        ("Take 400 mg of ibuprofen.", "Take 400 mg of ibuprofen.", ""),
        ("Take 400 mg of ibuprofen.", "Eat first. Take 400 mg of ibuprofen. It helps.", ""),
        ("It lasts. Take 400 mg.", "It lasts. Take 200 mg.", "of the golden answer, 'Take 400 mg.': "),
        (
            "The loaf bakes under a heavy lid.",
            "The loaf bakes under a lid.",
            "the answer lacks 'heavy' of the golden answer",
        ),
    ],
)
def test_what_the_answer_lacks_is_named(golden: str, answer: str, said: str) -> None:
    found = difference(golden, answer, "en")
    assert found.startswith(said) and bool(found) == bool(said)
    assert difference(golden, answer) == found


def test_all_keywords_at_fault_are_named() -> None:
    expected = MeaningExpected(
        golden_answer="g",
        expected_keywords_any=("lid", "steam"),
        expected_keywords_none=("foil", "tin", "can"),
    )
    outcome = MeaningCheck(FakeService(Path()).embed, None).check("", expected, AgentAnswer(text="tin foil"))
    assert outcome.reasons == (
        "expected_keywords_none: 'foil' occurs in the answer",
        "expected_keywords_none: 'tin' occurs in the answer",
        "expected_keywords_any: none of 'lid', 'steam' occurs in the answer",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no", "judge j: not JSON: 'no'"),
        (" a\n b ", "judge j: not JSON: 'a b'"),
        ("x" * 120, f"judge j: not JSON: '{'x' * 120}'"),
        ("x" * 121, f"judge j: not JSON: '{'x' * 120}…'"),
        ("[]", 'judge j: expected {"verdict": "pass" or "fail", "reason": …}: \'[]\''),
    ],
)
def test_what_a_judge_says_instead_is_shown_as_far_as_a_line_goes(text: str, said: str) -> None:
    with pytest.raises(ProviderError) as refused:
        read_judgement(text, "j")
    assert str(refused.value) == said


def test_a_judgement_is_read_on_one_line() -> None:
    found = read_judgement(json.dumps({"reason": " a\n b", "verdict": "pass"}), "j")
    assert found == Judgement(True, "a b")
