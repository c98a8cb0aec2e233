"""An answer that a language model writes: what is checked, dropped, retried, kept, and given up."""

from __future__ import annotations

import json

import pytest
from asked_vault import AS_WRITTEN, WHOLE, AskedVault, ScriptedLlm, citing, offered

from vault_indexer.answer import Answerer
from vault_indexer.answer.prompt import CitableSentence, PromptPassage, prompt_for
from vault_indexer.answer.sentences import NoteText, Sentence
from vault_indexer.answer.written import StreamOptions
from vault_indexer.config import Settings
from vault_indexer.errors import ProviderError
from vault_indexer.model import AskAnswer, AskRequest
from vault_indexer.search import estimated_tokens

QUESTION = "When was the lighthouse at Sumner Point built?"
BUILT, HIGH, STEPS = "built in 1887", "24 metres high", "96 steps"


def test_a_confirmed_sentence_is_the_answer(notes: AskedVault) -> None:
    answer = notes.ask(
        QUESTION, ScriptedLlm(reply=citing(BUILT, "Helen Marsh built the lighthouse in 1887."))
    )
    assert (answer.kind, answer.model, answer.dropped) == ("written", "scripted/one", ())
    (sentence,) = answer.sentences
    assert (sentence.text, sentence.verdict) == ("Helen Marsh built the lighthouse in 1887.", "supported")
    (citation,) = sentence.citations
    assert notes.file(citation.path)[citation.start_pos : citation.end_pos] == citation.quote
    assert BUILT in citation.quote


def test_a_model_without_an_answer_leaves_the_quotes(notes: AskedVault) -> None:
    answer = notes.ask(QUESTION, ScriptedLlm(['{"sentences": []}']))
    assert (answer.kind, answer.dropped) == ("quotes", ())
    assert any("finds no answer" in notice for notice in answer.notices)


@pytest.mark.parametrize(
    "garbage", ["I think 1887.", "{" * 50_000, '{"sentences": [{"text": "x", "quote": "y", "ids": [1]}]}']
)
def test_garbage_is_asked_for_once_more_and_then_notes_are_quoted(notes: AskedVault, garbage: str) -> None:
    llm = ScriptedLlm([garbage])
    answer = notes.ask(QUESTION, llm)
    assert len(llm.prompts) == 2
    assert answer.kind == "quotes"
    assert any("no usable answer" in notice for notice in answer.notices)


def test_one_failure_is_retried(notes: AskedVault) -> None:
    llm = ScriptedLlm([ProviderError("down"), '{"sentences": []}'])
    assert notes.ask(QUESTION, llm, ask={"timeout_s": 7}).kind == "quotes"
    assert llm.timeouts == [7, 7]


def test_a_model_that_fails_leaves_the_quotes_and_says_why(notes: AskedVault) -> None:
    llm = ScriptedLlm([ProviderError("the model is down")])
    answer = notes.ask(QUESTION, llm)
    assert (answer.kind, answer.sentences) == ("quotes", notes.ask(QUESTION).sentences)
    assert any("the model is down" in notice for notice in answer.notices)
    assert len(llm.prompts) == 2


def test_the_next_question_tries_a_failed_model_again(notes: AskedVault) -> None:
    """Through one answerer, as a daemon has it, and after more failures than end an indexing run."""
    llm = ScriptedLlm([ProviderError("down")] * 6 + ['{"sentences": []}'])
    answerer = Answerer(Settings.model_validate({"llm": {"provider": "openai"}}), None, lambda _: llm)
    vault = notes.ready()
    last = [list(answerer.answer_from(vault, AskRequest(QUESTION), lambda: False))[-1] for _ in range(4)]
    notices = [" ".join(one.notices) for one in last if isinstance(one, AskAnswer)]
    assert ["down" in one for one in notices] == [True, True, True, False]
    assert "finds no answer" in notices[-1]


THOUGHTS = '{"sentences": [{"text": "draft", "ids": [], "quote": ""}]} or {x}?'


@pytest.mark.parametrize("thoughts", [f"<think>{THOUGHTS}</think>\n", f"Hmm, {THOUGHTS}</think>", ""])
@pytest.mark.parametrize("stream", [WHOLE, AS_WRITTEN])
def test_what_a_model_thinks_is_no_answer(notes: AskedVault, thoughts: str, stream: StreamOptions) -> None:
    answers = citing(BUILT, "Helen Marsh built the lighthouse in 1887.")
    llm = ScriptedLlm(reply=lambda prompt: thoughts + answers(prompt))
    *_, answer = notes.events(QUESTION, llm, stream)
    assert isinstance(answer, AskAnswer)
    assert [one.text for one in answer.sentences] == ["Helen Marsh built the lighthouse in 1887."]
    assert answer.dropped == ()


def test_an_answer_is_kept_by_prompt_and_text(notes: AskedVault) -> None:
    llm = ScriptedLlm(reply=citing(BUILT, "Helen Marsh built the lighthouse in 1887."))
    first, second = notes.ask(QUESTION, llm), notes.ask(QUESTION, llm)
    assert first.sentences == second.sentences
    assert len(llm.prompts) == 1
    notes.ask(f"{QUESTION} Who?", llm)
    assert len(llm.prompts) == 2


def test_declined_and_weak_questions_ask_no_model(notes: AskedVault) -> None:
    llm = ScriptedLlm(['{"sentences": []}'])
    assert notes.ask("Which quarterback won the Superbowl against Denver?", llm).kind == "declined"
    assert llm.prompts == []


def test_the_budget_of_tokens_bounds_the_prompt(notes: AskedVault) -> None:
    small, large = ScriptedLlm(['{"sentences": []}']), ScriptedLlm(['{"sentences": []}'])
    notes.ask(QUESTION, small, ask={"max_tokens": 200, "min_relevance": 0})
    notes.ask(QUESTION, large, ask={"min_relevance": 0})
    sizes = [sum(map(estimated_tokens, offered(llm.prompts[0]).values())) for llm in (small, large)]
    assert 0 < sizes[0] <= 120 < sizes[1]
    bounded = ScriptedLlm(['{"sentences": []}'])
    notes.ask(QUESTION, bounded, llm={"context_window": 1900, "max_tokens": 1024}, ask={"min_relevance": 0})
    assert estimated_tokens(bounded.prompts[0]) <= 1900 - 1024


def test_passages_are_read_beyond_the_chunk(notes: AskedVault) -> None:
    """The section around a hit is offered, not only the sentences that match."""
    llm = ScriptedLlm(['{"sentences": []}'])
    notes.ask("How often does the lantern of the lighthouse turn?", llm)
    assert {BUILT, STEPS} == {
        part for part in (BUILT, STEPS) if any(part in text for text in offered(llm.prompts[0]).values())
    }


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        ('{"verdicts": [true]}', "written"),
        ('{"verdicts": [false]}', "quotes"),
        ("yes", "quotes"),
        ('{"verdicts": ["true"]}', "quotes"),
    ],
)
def test_what_the_judge_does_not_confirm_is_dropped(notes: AskedVault, verdict: str, kind: str) -> None:
    write = citing(BUILT, "Helen Marsh built the lighthouse in 1887.")
    llm = ScriptedLlm(reply=lambda prompt: write(prompt) if "<notes>" in prompt else verdict)
    answer = notes.ask(QUESTION, llm, ask={"judge": True})
    assert answer.kind == kind
    assert all("judge" in one.reason for one in answer.dropped)


def test_a_prompt_names_each_note_and_numbers_each_sentence(notes: AskedVault) -> None:
    llm = ScriptedLlm(['{"sentences": []}'])
    notes.ask(QUESTION, llm)
    prompt = llm.prompts[0]
    assert list(offered(prompt)) == [f"s{number}" for number in range(1, len(offered(prompt)) + 1)]
    lines = prompt.partition("<notes>\n")[2].partition("\n</notes>")[0].splitlines()
    places = [json.loads(line) for line in lines if "id" not in json.loads(line)]
    assert places[0]["path"] == "Places/Sumner Point.md"
    assert json.dumps(QUESTION) in prompt.partition("</notes>")[2]


def test_a_preamble_is_read_and_cannot_be_cited(notes: AskedVault) -> None:
    """What a model said of a chunk when it was split is no text of the note."""
    answer = notes.ask(QUESTION)
    hit, citation = answer.passages[0], answer.sentences[0].citations[0]
    with notes.reader.holder.lease() as snapshot:
        row = snapshot.catalog.note(hit.path)
        assert row is not None
        note = NoteText(row, snapshot.catalog.text(row.note_id), "")
    sentence = Sentence(note, citation.start_pos, citation.end_pos, citation.quote, 0)
    reading = PromptPassage(hit, "This chunk is on ghosts.", (CitableSentence("s1", sentence, citation),))
    prompt = prompt_for(QUESTION, [reading])
    assert '"about": "This chunk is on ghosts."' in prompt
    assert offered(prompt) == {"s1": citation.quote}
