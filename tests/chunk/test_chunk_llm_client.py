"""How a language model is asked: its failures, how many calls at once, and when not at all."""

import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from asked_models import FAILURES, ScriptedModel
from golden_cases import check_golden, of_parts
from waiting import DEADLINE_S

from vault_indexer.chunk.llm_client import (
    Asker,
    LimitedLlm,
    LlmSwitch,
    Question,
    UnusableAnswerError,
    batches,
    excerpt,
    json_table,
    one_line,
    reason_of,
    return_value,
    unreached_by,
    without_thoughts,
)
from vault_indexer.errors import ProviderError

QUESTION = Question("task", 1, "Why?", timeout_s=7.0, max_tokens=9)
DOWN = FAILURES["no protocol"]


def test_a_model_that_is_switched_off_is_not_asked(model: ScriptedModel) -> None:
    switch = LlmSwitch(model)
    assert switch.complete("Who?", timeout_s=1.0) == "fine"
    model.requests.clear()
    with pytest.raises(KeyError), switch.off():
        with pytest.raises(ProviderError, match="the model has not been called yet"):
            switch.complete("Why?", timeout_s=7.0)
        raise KeyError
    assert model.requests == []
    assert switch.complete("Why?", timeout_s=7.0, max_tokens=9) == "fine"
    assert (switch.name, model.requests[0].timeout_s, model.requests[0].max_tokens) == (model.name, 7.0, 9)


@dataclass
class Counted:
    """A model that answers two calls at a time together, and counts how many there are."""

    name: str = "counted/test"
    now: int = 0
    most: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    pair: threading.Barrier = field(default_factory=lambda: threading.Barrier(2))

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.pair.wait(DEADLINE_S)
        with self.lock:
            self.now -= 1
        return f"{prompt} {timeout_s:g} {max_tokens}"


def test_no_more_calls_are_made_at_once_than_the_limit_allows(tmp_path: Path) -> None:
    model = Counted()
    several = [LimitedLlm(model, tmp_path / "calls", 2) for _ in range(2)]
    with ThreadPoolExecutor(4) as pool:
        calls = [
            pool.submit(several[number % 2].complete, f"{number}", timeout_s=7.0, max_tokens=9)
            for number in range(4)
        ]
        assert [one.result(DEADLINE_S) for one in calls] == [f"{number} 7 9" for number in range(4)]
    assert model.most == 2
    assert several[0].name == "counted/test"
    if os.name == "posix":  # Windows removes a lock with its last user
        assert {one.name for one in (tmp_path / "calls").iterdir()} == {"0.lock", "1.lock"}
        assert (tmp_path / "calls").stat().st_mode & 0o777 == 0o700


def test_a_call_that_fails_gives_its_place_back(tmp_path: Path, model: ScriptedModel) -> None:
    model.script.append(DOWN)
    limited = LimitedLlm(model, tmp_path, 1)
    with pytest.raises(ProviderError, match="this is no answer"):
        limited.complete("Why?", timeout_s=1)
    assert LimitedLlm(model, tmp_path, 1).complete("Why?", timeout_s=1) == "fine"


def test_where_no_file_can_be_locked_the_model_is_not_asked(tmp_path: Path, model: ScriptedModel) -> None:
    (tmp_path / "file").write_text("in the way")
    limited = LimitedLlm(model, tmp_path / "file", 1)
    with pytest.raises(ProviderError, match=r"cannot be limited by .*file: .*exists"):
        limited.complete("Why?", timeout_s=1)
    assert model.requests == []


def outcomes(asker: Asker, count: int) -> list[str]:
    """What so many questions get: an answer, or why there is none."""
    found = []
    for _ in range(count):
        try:
            found.append(asker.ask(QUESTION, str.upper))
        except ProviderError as error:
            found.append(str(error))
    return found


def test_a_model_that_fails_three_times_in_a_row_rests(model: ScriptedModel) -> None:
    asker = Asker(model, pause_s=DEADLINE_S)
    model.script += [DOWN, DOWN, "one", DOWN, DOWN, DOWN]
    down = "this is no answer"
    rests = "model scripted/test failed 3 times in a row: it is not called again"
    assert outcomes(asker, 8) == [down, down, "ONE", down, down, down, rests, rests]
    assert len(model.requests) == 6


def test_after_its_rest_the_model_is_asked_again(model: ScriptedModel) -> None:
    model.script += [DOWN] * 3
    assert outcomes(Asker(model, pause_s=0.0), 4)[-1] == "FINE"


@pytest.mark.parametrize(
    ("failures", "retries", "pauses", "is_answered"),
    [
        (0, 2, [], True),
        (1, 2, [0.5], True),
        (2, 2, [0.5, 1.0], True),
        (3, 2, [0.5, 1.0], False),
        (1, 0, [], False),
        (4, 4, [0.5, 1.0, 2.0, 4.0], True),
    ],
)
def test_a_question_is_repeated_after_pauses_that_double(
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    failures: int,
    retries: int,
    pauses: list[float],
    is_answered: bool,
) -> None:
    found: list[float] = []
    monkeypatch.setattr("time.sleep", found.append)
    model.script += [FAILURES["500"]] * failures
    question = Question("task", 1, "Why?", timeout_s=7.0, retries=retries)
    if is_answered:
        assert Asker(model).ask(question, str) == "fine"
    else:
        with pytest.raises(ProviderError, match="out of memory"):
            Asker(model).ask(question, str)
    assert found == pauses
    assert len(model.requests) == len(pauses) + 1


@pytest.mark.parametrize(
    ("error", "reason", "is_unreached"),
    [
        (ProviderError(" out of\n memory "), "out of memory", True),
        (UnusableAnswerError("a" * 200), "a" * 200, False),
        (UnusableAnswerError("a" * 201), "a" * 200, False),
    ],
)
def test_why_there_is_no_answer_is_told_on_one_short_line(
    error: Exception, reason: str, is_unreached: bool
) -> None:
    assert reason_of(error) == reason
    assert unreached_by(error) == ({"unreached": True} if is_unreached else {})


def unusable(answer: str) -> str:
    raise UnusableAnswerError(answer)


def test_an_answer_that_cannot_be_read_is_neither_kept_nor_a_failure_of_the_model(
    tmp_path: Path, model: ScriptedModel
) -> None:
    asker = Asker(model, tmp_path, pause_s=DEADLINE_S)
    for _ in range(4):
        with pytest.raises(UnusableAnswerError, match="fine"):
            asker.ask(QUESTION, unusable)
    assert outcomes(asker, 2) == ["FINE", "FINE"]
    assert len(model.requests) == 5


def test_a_kept_answer_that_can_no_longer_be_read_is_asked_for_again(
    tmp_path: Path, model: ScriptedModel
) -> None:
    model.script += ["old", "new"]
    asker = Asker(model, tmp_path)
    assert asker.ask(QUESTION, str) == "old"

    def read(answer: str) -> str:
        return unusable(answer) if answer == "old" else answer

    assert asker.ask(QUESTION, read) == "new"
    assert asker.ask(QUESTION, read) == "new"
    assert len(model.requests) == 2


def test_an_answer_is_heard_as_it_comes_and_a_kept_one_in_one_piece(
    tmp_path: Path, model: ScriptedModel
) -> None:
    asker = Asker(model, tmp_path)

    def heard(pieces: Callable[[], Iterator[str]]) -> tuple[list[str], str]:
        found: list[str] = []

        def kept() -> Iterator[str]:
            result = yield from asker.listen(QUESTION, str.upper, pieces)
            found.append(result)

        return list(kept()), found[0]

    assert heard(lambda: iter("abc")) == (["a", "b", "c"], "ABC")
    assert heard(lambda: iter("xyz")) == (["abc"], "ABC")
    assert return_value(asker.listen(QUESTION, str, lambda: iter("xyz"))) == "abc"


@pytest.mark.parametrize(
    "other",
    [
        Question("other", 1, "Why?", 7.0, 9),
        Question("task", 2, "Why?", 7.0, 9),
        Question("task", 1, "Who?", 7.0, 9),
        Question("task", 1, "Why?", 7.0, 8),
        Question("task", 1, "Why?", 7.0),
    ],
)
def test_an_answer_is_kept_for_its_own_question_alone(
    tmp_path: Path, model: ScriptedModel, other: Question
) -> None:
    asker = Asker(model, tmp_path)
    for question in (QUESTION, other, QUESTION, Question("task", 1, "Why?", 1.0, 9, retries=3)):
        asker.ask(question, str)
    assert len(model.requests) == 2


def test_questions_and_answers_are_read_as_the_golden_says() -> None:
    def table(answer: str) -> str:
        try:
            return json.dumps(json_table(answer))
        except UnusableAnswerError as error:
            return str(error)

    def excerpt_of(text: str, size: str) -> str:
        """Twice the size at each end is looked at."""
        return excerpt(re.sub(r"(.)\{(\d+)\}", lambda found: found[1] * int(found[2]), text), int(size))

    check_golden(
        Path(__file__).parent / "fixtures" / "model_answers.md",
        {
            "The object in an answer": table,
            "Thoughts are taken off, also those that have not ended": without_thoughts,
            "A line has its size": of_parts(lambda answer, limit: one_line(answer, int(limit))),
            "An excerpt has its size, and of a text of more than four times the size both ends": of_parts(
                excerpt_of
            ),
            "Neighbours are asked about together as far as five have room": lambda sizes: str(
                batches(list(map(int, sizes.split())), 5)
            ),
        },
    )
