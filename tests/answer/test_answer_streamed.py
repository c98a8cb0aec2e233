"""Sentences of a model while it still writes: each is checked and sent as soon as it is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from asked_vault import AS_WRITTEN, AskedVault, ScriptedLlm, id_of, says

from vault_indexer.answer.written import ClaimStream, StreamOptions
from vault_indexer.errors import QueryCancelledError
from vault_indexer.model import AnswerSentence, AskAnswer

QUESTION = "When was the lighthouse at Sumner Point built?"
BUILT, HIGH = "built in 1887", "24 metres high"


def two_sentences(prompt: str, second: str = "It is 24 metres high.") -> str:
    return says(
        ("The lighthouse was built in 1887.", [id_of(prompt, BUILT)], "built in 1887"),
        (second, [id_of(prompt, HIGH)], "24 metres high"),
    )


class WatchedLlm(ScriptedLlm):
    """Writes character by character; `written` is how much of the answer was read so far."""

    written = ""

    def pieces(
        self, prompt: str, *, timeout_s: float, is_cancelled: Callable[[], bool], as_written: bool
    ) -> Iterator[str]:
        for piece in super().pieces(
            prompt, timeout_s=timeout_s, is_cancelled=is_cancelled, as_written=as_written
        ):
            self.written += piece
            yield piece


def text_of(event: AskAnswer | AnswerSentence) -> str:
    assert isinstance(event, AnswerSentence)
    return event.text


def test_a_sentence_comes_before_the_model_has_ended(notes: AskedVault) -> None:
    llm = WatchedLlm(reply=two_sentences)
    events = notes.events(QUESTION, llm, AS_WRITTEN)
    next(events)
    assert text_of(next(events)) == "The lighthouse was built in 1887."
    assert "24 metres" not in llm.written
    assert text_of(next(events)) == "It is 24 metres high."
    (last,) = events
    assert isinstance(last, AskAnswer)
    assert (last.kind, [one.text for one in last.sentences]) == (
        "written",
        ["The lighthouse was built in 1887.", "It is 24 metres high."],
    )


def test_what_fails_the_check_is_never_sent(notes: AskedVault) -> None:
    llm = ScriptedLlm(reply=lambda prompt: two_sentences(prompt, "It is 42 metres high."))
    _, *sentences, last = notes.events(QUESTION, llm, AS_WRITTEN)
    assert isinstance(last, AskAnswer)
    assert list(map(text_of, sentences)) == ["The lighthouse was built in 1887."]
    (dropped,) = last.dropped
    assert (dropped.text, dropped.verdict) == ("It is 42 metres high.", "dropped")
    assert "42" in dropped.reason


def test_the_answer_withdraws_a_sentence_where_less_than_half_survives(notes: AskedVault) -> None:
    def reply(prompt: str) -> str:
        built = id_of(prompt, BUILT)
        wrong = [(f"The lighthouse was built in 19{year}.", [built], "built in 1887") for year in (10, 20)]
        return says(("The lighthouse was built in 1887.", [built], "built in 1887"), *wrong)

    _, first, *quotes, last = notes.events(QUESTION, ScriptedLlm(reply=reply), AS_WRITTEN)
    assert isinstance(last, AskAnswer)
    assert text_of(first) == "The lighthouse was built in 1887."
    assert (last.kind, last.sentences) == ("quotes", tuple(quotes))
    assert first not in last.sentences
    assert last.sentences == notes.ask(QUESTION).sentences
    assert any("1 of 3 sentences" in notice for notice in last.notices)


def test_an_answer_that_breaks_off_is_asked_for_once_more_and_nothing_comes_twice(notes: AskedVault) -> None:
    broken: list[str] = []

    def reply(prompt: str) -> str:
        whole = two_sentences(prompt)
        broken.append(whole[: len(whole) // 2] if not broken else whole)
        return broken[-1]

    _, *sentences, last = notes.events(QUESTION, ScriptedLlm(reply=reply), AS_WRITTEN)
    assert len(broken) == 2
    assert isinstance(last, AskAnswer)
    assert tuple(sentences) == last.sentences
    assert len(sentences) == 2


def test_nothing_more_comes_when_nobody_waits(notes: AskedVault) -> None:
    events = notes.events(
        QUESTION, ScriptedLlm(reply=two_sentences), StreamOptions(lambda: True, as_written=True)
    )
    with pytest.raises(QueryCancelledError):
        list(events)


WHOLE = says(("One {brace}.", ["s1"], "o"), ('Two "quoted" ].', ["s2"], "t"))


@pytest.mark.parametrize("around", ["{}", "Here it is:\n```json\n{}\n```"])
def test_pieces_of_any_size_give_the_same_sentences(around: str) -> None:
    text = around.replace("{}", WHOLE)
    for size in range(1, len(text) + 1):
        stream = ClaimStream()
        found = [one for at in range(0, len(text), size) for one in stream.feed(text[at : at + size])]
        assert [one.text for one in found] == ["One {brace}.", 'Two "quoted" ].']


@pytest.mark.parametrize(
    "text",
    [
        '{"sentences": [' + "{" * 50_000 + "}",
        '{"sentences": [' + '{"a":' * 50_000 + "}",
        '{"sentences": ["' + "}" * 5_000,
    ],
)
def test_of_garbage_nothing_is_taken(text: str) -> None:
    assert ClaimStream().feed(text) == []
