"""`agentic`: a model proposes the boundaries or writes summaries; without it `boundary` cuts."""

from pathlib import Path

import pytest
from asked_models import (
    FAILURES,
    GARBAGE,
    Answer,
    ScriptedModel,
    chunker,
    cut,
    firsts,
    paragraphs,
    prompts,
    says,
)
from chunk_laws import build, note_of

from vault_indexer.model import Note
from vault_indexer.ports import Chunker

BY_BOUNDARY = ["P0", "P2", "P4", "P6", "P7"]
"""Where `boundary` begins a chunk, of 80 characters each, at a target of 200."""


def agentic(model: ScriptedModel, cache: Path | None = None, **options: object) -> Chunker:
    table = {"target_chunk_size": 200, "timeout_s": 60, **options}
    return chunker(model, {"strategy": "agentic", "agentic": table}, cache)


@pytest.fixture
def note() -> Note:
    made = paragraphs(9)
    same = build("boundary", max_chunk_size=200, min_chunk_size=100)
    assert firsts(same.chunk(made)) == BY_BOUNDARY
    return made


@pytest.mark.parametrize(
    ("starts", "first_words"),
    [
        ([0, 4], ["P0", "P4"]),
        ([7, 4, 4], ["P0", "P4", "P7"]),
        ([4, 99, "x", True, None, 7], ["P0", "P4", "P7"]),
    ],
)
def test_the_model_sets_the_boundaries(
    model: ScriptedModel, note: Note, starts: list[object], first_words: list[str]
) -> None:
    says(model, {"starts": starts})
    chunks = cut(agentic(model, target_chunk_size=400), note)
    assert firsts(chunks) == first_words
    assert "fallback" not in chunks[0].extra
    skipped = [str(value) for value in starts if type(value) is not int or value > 8]
    assert chunks[0].extra.get("skipped", []) == skipped


def test_of_what_the_model_named_and_does_not_exist_twenty_are_told(model: ScriptedModel, note: Note) -> None:
    says(model, {"starts": [4, "x" * 50, *range(9, 33)]})
    first, second = cut(agentic(model, target_chunk_size=400), note)
    skipped = first.extra["skipped"]
    assert isinstance(skipped, list)
    assert (len(skipped), skipped[1], skipped[-1]) == (20, "9", "27")
    assert len(str(skipped[0])) == 40
    assert "skipped" not in second.extra


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("The *subject*\nchanges at 4.", "The *subject* changes at 4."),
        ("…", None),
        (7, None),
        ("x" * 900, "x" * 399 + "…"),
    ],
)
def test_what_the_model_says_of_its_cuts_is_shown_and_marked(
    model: ScriptedModel, note: Note, said: object, kept: str | None
) -> None:
    says(model, {"reasoning": said, "starts": [4]})
    first, second = cut(agentic(model, target_chunk_size=400), note)
    assert first.extra.get("reasoning") == kept
    assert first.to_json()["written_by_model"] == (["reasoning"] if kept else [])
    assert "reasoning" not in second.extra
    assert "changes at 4" not in first.content + first.embedding_text("")
    assert '"reasoning"' in prompts(model)[0]


def test_the_first_chunk_of_a_note_with_blank_lines_above_says_what_was_skipped(model: ScriptedModel) -> None:
    note = note_of(f"---\na: 1\n---\n\n\n{paragraphs(9).text}")
    says(model, {"reasoning": "At 4.", "starts": [4, 99]})
    first, second = cut(agentic(model, target_chunk_size=400), note)
    assert (first.extra, second.extra) == ({"reasoning": "At 4.", "skipped": ["99"]}, {})
    says(model, "No.")
    chunks = cut(agentic(model), note)
    assert firsts(chunks) == BY_BOUNDARY
    assert {chunk.extra["fallback"] for chunk in chunks} == {"boundary"}


def test_no_chunk_is_longer_than_twice_the_target(model: ScriptedModel, note: Note) -> None:
    says(model, {"starts": []})
    chunks = cut(agentic(model), note)
    assert len(chunks) == 3
    assert max(len(chunk.body) for chunk in chunks) <= 400


def test_the_target_and_the_users_own_words_are_in_the_prompt(model: ScriptedModel, note: Note) -> None:
    says(model, {"starts": []}, {"starts": []})
    cut(agentic(model, target_chunk_size=345), note)
    cut(agentic(model, prompt="Cut at every {new} hero."), note)
    assert "345" in prompts(model)[0] and "[8] (80) P8" in prompts(model)[0]
    assert "Cut at every {new} hero." in prompts(model)[1] and "[8] (80) P8" in prompts(model)[1]


@pytest.mark.parametrize("answer", [*FAILURES.values(), *GARBAGE.values()], ids=[*FAILURES, *GARBAGE])
@pytest.mark.parametrize("mode", ["split", "summarize", "hybrid"])
def test_without_a_usable_answer_boundary_cuts(
    model: ScriptedModel, note: Note, mode: str, answer: Answer
) -> None:
    model.script.extend([answer] * 2)
    chunks = cut(agentic(model, mode=mode), note)
    assert firsts(chunks) == BY_BOUNDARY
    assert {chunk.extra["fallback"] for chunk in chunks} == {"boundary"}
    assert all(str(chunk.extra["reason"]) for chunk in chunks)
    assert all(chunk.preamble == "" for chunk in chunks)


def test_an_answer_that_names_nothing_that_is_there_is_a_failure(model: ScriptedModel, note: Note) -> None:
    says(model, {"starts": [44, 45]})
    chunks = cut(agentic(model), note)
    assert firsts(chunks) == BY_BOUNDARY
    assert chunks[0].extra["reason"] == "the answer names no paragraph that was shown"


def test_summaries_stand_beside_the_text(model: ScriptedModel, note: Note) -> None:
    says(model, {"summaries": ["The first.", " The\n second. ", "x " * 900, "More", "Last"]})
    chunks = cut(agentic(model, mode="summarize"), note)
    assert firsts(chunks) == BY_BOUNDARY
    assert [chunk.preamble for chunk in chunks[:2]] == ["The first.", "The second."]
    assert len(chunks[2].preamble) <= 400
    assert chunks[0].embedding_text("") == f"The first.\n\n{chunks[0].content}"
    assert "The first." not in chunks[0].content
    assert all("fallback" not in chunk.extra for chunk in chunks)


@pytest.mark.parametrize(
    "summaries", [["a", "b", "c", "d"], [*"abcdef"], ["a", 2, "c", "d", "e"], ["a", "--", "c", "d", "e"]]
)
def test_summaries_that_are_not_one_a_chunk_are_refused(
    model: ScriptedModel, note: Note, summaries: list[object]
) -> None:
    says(model, {"summaries": summaries})
    chunks = cut(agentic(model, mode="summarize"), note)
    assert [chunk.preamble for chunk in chunks] == [""] * len(BY_BOUNDARY)
    assert all(chunk.extra["no_summary"] == chunk.extra["reason"] for chunk in chunks)


def test_hybrid_does_both_and_keeps_the_boundaries_if_summaries_fail(
    model: ScriptedModel, note: Note
) -> None:
    says(model, {"starts": [0, 4]}, {"summaries": ["One.", "Two."]})
    chunks = cut(agentic(model, mode="hybrid", target_chunk_size=250), note)
    assert [(chunk.body[:2], chunk.preamble) for chunk in chunks] == [("P0", "One."), ("P4", "Two.")]
    says(model, {"starts": [0, 4]}, "no")
    chunks = cut(agentic(model, mode="hybrid", target_chunk_size=250), note)
    assert [(chunk.body[:2], chunk.extra) for chunk in chunks] == [
        ("P0", {"no_summary": "the answer contains no JSON object"}),
        ("P4", {"no_summary": "the answer contains no JSON object"}),
    ]


def test_a_long_note_costs_no_more_than_max_api_calls(model: ScriptedModel) -> None:
    note = paragraphs(300, size=200)
    says(model, {"starts": [0, 3]}, {"starts": []})
    chunks = cut(agentic(model, max_api_calls=2), note)
    assert len(model.requests) == 2
    assert all(len(prompt) < 8_000 for prompt in prompts(model))
    first_fallen = next(n for n, chunk in enumerate(chunks) if "fallback" in chunk.extra)
    assert first_fallen > 10
    assert all(chunk.extra["reason"] == "max_api_calls = 2 is reached" for chunk in chunks[first_fallen:])
    plain = build("boundary", max_chunk_size=300, min_chunk_size=100).chunk(note)
    assert firsts(chunks)[-50:] == firsts(plain)[-50:]


def test_a_model_that_fails_is_not_asked_again_for_the_same_note(model: ScriptedModel) -> None:
    model.script.extend([FAILURES["500"]] * 5)
    cut(agentic(model, mode="hybrid"), paragraphs(300, size=200))
    assert len(model.requests) <= 2


def test_a_note_of_one_paragraph_needs_no_model(model: ScriptedModel) -> None:
    for text in ("", "One paragraph alone.", "# Title\n\nwith its text"):
        cut(agentic(model), note_of(text))
    assert model.requests == []
