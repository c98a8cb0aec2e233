"""`contextual`: a sentence from a model in front of what is embedded, around any strategy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from asked_models import FAILURES, chunker, patience_s, prompts, says
from chunk_laws import EDGE_NOTES, EVERY_STRATEGY, NEEDED, SMALL, Letters, Oracle, Words, check_laws, note_of
from openai_server import Answer, ModelServer

from vault_indexer.chunk import ChoosingChunker, chunker_for
from vault_indexer.config.chunking import ChunkingSettings
from vault_indexer.errors import NoteError, UsageError
from vault_indexer.ports import Chunker

TEXT = """\
---
title: Trees
---
Before any heading.

# Apple

It is pruned in winter. It likes sun.

So is the pear.

## Pests

It gets scab.
"""
NOTE = note_of(TEXT)
PARAGRAPH = {"strategy": "paragraph", "max_chars": 60, "min_chars": 0}


def contextual(server: ModelServer, cache: Path | None = None, **options: object) -> Chunker:
    table = {"granularity": "chunk", "timeout_s": 60, **options}
    return chunker(server, {**PARAGRAPH, "contextual": table}, cache)


PLAIN = chunker_for(ChunkingSettings.model_validate(PARAGRAPH)).chunk(NOTE)


def test_a_preamble_a_chunk_is_embedded_and_not_shown(server: ModelServer) -> None:
    assert len(PLAIN) == 4
    says(server, "One.", ' "Two."\n', "Three,\n\nstill three.", "x " * 900)
    chunks = contextual(server).chunk(NOTE)
    assert [chunk.preamble for chunk in chunks[:3]] == ["One.", "Two.", "Three, still three."]
    assert len(chunks[3].preamble) <= 400
    assert chunks[0].embedding_text == f"One.\n\n{PLAIN[0].content}"
    assert [replace(chunk, preamble="") for chunk in chunks] == PLAIN


@pytest.mark.parametrize(
    ("granularity", "groups"),
    [("section", [0, 1, 1, 2]), ("paragraph", [0, 1, 2, 3]), ("chunk", [0, 1, 2, 3])],
)
def test_what_stands_together_shares_a_preamble(
    server: ModelServer, granularity: str, groups: list[int]
) -> None:
    says(server, *(f"Group {n}" for n in range(4)))
    chunks = contextual(server, granularity=granularity).chunk(NOTE)
    assert [chunk.preamble for chunk in chunks] == [f"Group {n}" for n in groups]
    assert len(server.requests) == groups[-1] + 1


def test_pieces_of_one_paragraph_share_a_preamble(server: ModelServer) -> None:
    note = note_of("One sentence of words. " * 20 + "\n\nAnother paragraph.\n")
    says(server, "First.", "Second.")
    chunks = contextual(server, granularity="paragraph").chunk(note)
    assert len(chunks) > 5
    assert [chunk.preamble for chunk in chunks] == ["First."] * (len(chunks) - 1) + ["Second."]


def test_the_model_is_told_where_the_text_stands(server: ModelServer) -> None:
    says(server, *"abcd")
    contextual(server).chunk(NOTE)
    last = prompts(server)[-1]
    for expected in ("Note: Trees", "Apple; Pests", "Apple > Pests", "It gets scab.", "So is the pear."):
        assert expected in last
    assert "title: Trees" not in last


@pytest.mark.parametrize("answer", [*FAILURES.values(), Answer("---")], ids=[*FAILURES, "no words"])
def test_a_failure_costs_the_preamble_alone(server: ModelServer, answer: Answer) -> None:
    server.script.extend([answer] * (4 if answer.text else 1))
    chunks = contextual(server, timeout_s=patience_s(answer)).chunk(NOTE)
    assert [replace(chunk, extra={}) for chunk in chunks] == PLAIN
    assert all(chunk.extra["no_preamble"] for chunk in chunks)
    asked = len(server.requests)
    assert asked == (4 if answer.text else 1), "a model that is down is asked once a note"
    server.script.append(answer)
    with pytest.raises(NoteError, match=r"Note\.md: chunking\.contextual\.keep_on_failure"):
        contextual(server, timeout_s=patience_s(answer), keep_on_failure=False).chunk(NOTE)


def test_a_failure_in_the_middle_costs_that_chunk_alone(server: ModelServer) -> None:
    says(server, "One.", "?!", "Three.", "Four.")
    chunks = contextual(server).chunk(NOTE)
    assert [chunk.preamble for chunk in chunks] == ["One.", "", "Three.", "Four."]
    assert chunks[1].extra == {"no_preamble": "the answer holds no words"}


def test_no_more_than_max_api_calls(server: ModelServer) -> None:
    says(server, "One.", "Two.")
    chunks = contextual(server, max_api_calls=2).chunk(NOTE)
    assert [chunk.preamble for chunk in chunks] == ["One.", "Two.", "", ""]
    assert chunks[3].extra == {"no_preamble": "max_api_calls = 2 is reached"}


def test_answers_are_kept(server: ModelServer, tmp_path: Path) -> None:
    says(server, "One.", "Two.", "Three.", "Four.")
    first = contextual(server, tmp_path).chunk(NOTE)
    assert contextual(server, tmp_path).chunk(NOTE) == first
    assert len(server.requests) == 4


def test_a_summary_stays_behind_the_preamble(server: ModelServer) -> None:
    says(server, {"summaries": ["Sum."]}, "Place.")
    settings = {"strategy": "agentic", "agentic": {"mode": "summarize"}, "contextual": True}
    (chunk,) = chunker(server, settings).chunk(note_of("Text of a note."))
    assert chunk.preamble == "Place.\nSum."


def test_what_is_not_embedded_needs_no_preamble(server: ModelServer) -> None:
    says(server, "Child.")
    settings = {"strategy": "hierarchical", "contextual": True}
    parent, child = chunker(server, settings).chunk(note_of("Text of a note."))
    assert (parent.embed, parent.preamble, child.preamble) == (False, "", "Child.")
    assert len(server.requests) == 1


@pytest.mark.parametrize("strategy", EVERY_STRATEGY)
@pytest.mark.parametrize(
    "granularity",
    ["section", *(pytest.param(name, marks=pytest.mark.long) for name in ("paragraph", "chunk"))],
)
def test_around_every_strategy_the_chunks_stay_the_same(strategy: str, granularity: str) -> None:
    options = {"strategy": strategy, **NEEDED.get(strategy, {}), **SMALL[strategy]}
    for text in EDGE_NOTES.values():
        note = note_of(text)
        plain, wrapped = (
            chunker_for(
                ChunkingSettings.model_validate({**options, **contextual}),
                embedder=Letters(),
                tokenizer=Words(),
                llm=Oracle(),
            )
            for contextual in ({}, {"contextual": {"granularity": granularity}})
        )
        assert wrapped.strategy == strategy
        chunks = wrapped.chunk(note)
        check_laws(note, chunks)
        assert [chunk.content for chunk in chunks] == [chunk.content for chunk in plain.chunk(note)]


def test_true_and_false_are_short_forms() -> None:
    def granularity(value: object) -> str:
        return ChunkingSettings.model_validate({"contextual": value}).contextual.granularity

    assert [granularity(value) for value in (True, False, {}, {"granularity": "section"})] == [
        "chunk",
        "none",
        "none",
        "section",
    ]
    assert ChunkingSettings.model_validate({"contextual": True}).asks_model
    assert not ChunkingSettings().asks_model


def test_a_rule_of_the_user_may_ask_for_preambles_and_a_note_may_not(server: ModelServer) -> None:
    rules = [{"paths": ["Folder/**"], "contextual": True}]
    settings = ChunkingSettings.model_validate({"strategy": "none", "rules": rules})
    assert settings.asks_model
    chooser = ChoosingChunker(settings, llm=Oracle())
    (inside,) = chooser.chunk(note_of("Some text."))
    (outside,) = chooser.chunk(note_of("Some text.", "Elsewhere.md"))
    assert inside.preamble or "no_preamble" in inside.extra
    assert not outside.preamble and not outside.extra
    own = note_of("---\nchunking: {contextual: true}\n---\nText.", "Elsewhere.md")
    (chunk,) = chooser.chunk(own)
    assert not chunk.extra and not chunk.preamble
    (told,) = chooser.diagnostics(own)
    assert "contextual: only your own configuration can set it" in told.detail


def test_without_a_model_it_says_what_is_missing() -> None:
    with pytest.raises(UsageError, match=r"chunking\.contextual: .*llm\.provider"):
        chunker_for(ChunkingSettings.model_validate({"contextual": True}))
