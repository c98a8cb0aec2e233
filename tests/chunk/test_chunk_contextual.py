"""`contextual`: a sentence from a model in front of what is embedded, around any strategy."""

import sys
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pytest
from asked_models import FAILURES, Answer, ScriptedModel, chunker, prompts, says
from chunk_laws import EDGE_NOTES, EVERY_STRATEGY, NEEDED, SMALL, Letters, Oracle, Words, check_laws, note_of

from vault_indexer.chunk import ChoosingChunker, chunker_for
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.errors import NoteError, UsageError
from vault_indexer.model import Chunk
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


def contextual(model: ScriptedModel, cache: Path | None = None, **options: object) -> Chunker:
    table = {"granularity": "chunk", "timeout_s": 60, "max_workers": 1, "num_retries": 0, **options}
    return chunker(model, {**PARAGRAPH, "contextual": table}, cache)


PLAIN = chunker_for(ChunkingSettings.model_validate(PARAGRAPH)).chunk(NOTE)


def test_a_preamble_a_chunk_is_embedded_and_not_shown(model: ScriptedModel) -> None:
    assert len(PLAIN) == 4
    says(model, "One.", ' "Two."\n', "Three,\n\nstill three.", "x" * 401)
    chunks = contextual(model).chunk(NOTE)
    assert [chunk.preamble for chunk in chunks] == ["One.", "Two.", "Three, still three.", "x" * 399 + "…"]
    assert chunks[0].embedding_text("") == f"One.\n\n{PLAIN[0].content}"
    assert [replace(chunk, preamble="") for chunk in chunks] == PLAIN


@pytest.mark.parametrize(
    ("granularity", "groups"),
    [("section", [0, 1, 1, 2]), ("paragraph", [0, 1, 2, 3]), ("chunk", [0, 1, 2, 3])],
)
def test_what_stands_together_shares_a_preamble(
    model: ScriptedModel, granularity: str, groups: list[int]
) -> None:
    says(model, *(f"Group {n}" for n in range(4)))
    chunks = contextual(model, granularity=granularity).chunk(NOTE)
    assert [chunk.preamble for chunk in chunks] == [f"Group {n}" for n in groups]
    assert len(model.requests) == groups[-1] + 1


def test_pieces_of_one_paragraph_share_a_preamble(model: ScriptedModel) -> None:
    note = note_of("One sentence of words. " * 20 + "\n\nAnother paragraph.\n")
    says(model, "First.", "Second.")
    chunks = contextual(model, granularity="paragraph").chunk(note)
    assert len(chunks) > 5
    assert [chunk.preamble for chunk in chunks] == ["First."] * (len(chunks) - 1) + ["Second."]


@pytest.mark.parametrize("answer", [*FAILURES.values(), "---"], ids=[*FAILURES, "no words"])
def test_a_failure_costs_the_preamble_alone(model: ScriptedModel, answer: Answer) -> None:
    model.script.extend([answer] * (4 if isinstance(answer, str) else 1))
    chunks = contextual(model).chunk(NOTE)
    assert [replace(chunk, extra={}) for chunk in chunks] == PLAIN
    assert all(chunk.extra["no_preamble"] for chunk in chunks)
    asked = len(model.requests)
    assert asked == (4 if isinstance(answer, str) else 1), "a model that is down is asked once a note"
    model.script.extend([answer] * (4 if isinstance(answer, str) else 1))
    with pytest.raises(NoteError, match=r"Note\.md: chunking\.contextual\.keep_on_failure"):
        contextual(model, keep_on_failure=False).chunk(NOTE)


NO_WORDS = {"no_preamble": "the answer contains no words"}
NO_CALL = {"no_preamble": "max_api_calls = 2 is reached"}
DROP = {"keep_on_failure": False}


@pytest.mark.parametrize(
    ("script", "options", "kept", "extras"),
    [
        (["One.", "?!", "Three.", "Four."], {}, [0, 1, 2, 3], [{}, NO_WORDS, {}, {}]),
        (["One.", "?!", "Three.", "Four."], DROP, [0, 2, 3], [{"dropped_chunks": 1}, {}, {}]),
        (["One.", "Two.", "Three.", "Four."], DROP, [0, 1, 2, 3], [{}, {}, {}, {}]),
        (["One.", "Two."], {"max_api_calls": 2}, [0, 1, 2, 3], [{}, {}, NO_CALL, NO_CALL]),
        (["One.", "Two."], {"max_api_calls": 2, **DROP}, [0, 1], [{"dropped_chunks": 2}, {}]),
        # A model that is down is not asked about the rest of the note.
        (["?!", "Two.", FAILURES["no protocol"]], DROP, [1], [{"dropped_chunks": 3, "unreached": True}]),
    ],
)
def test_a_chunk_without_its_preamble_is_kept_or_dropped(
    model: ScriptedModel,
    script: list[Answer],
    options: dict[str, object],
    kept: list[int],
    extras: list[dict[str, object]],
) -> None:
    model.script += script
    chunks = contextual(model, None, **options).chunk(NOTE)
    assert [replace(chunk, preamble="", extra={}) for chunk in chunks] == [PLAIN[number] for number in kept]
    assert [chunk.extra for chunk in chunks] == extras
    said = [*script, "", ""]
    assert [chunk.preamble for chunk in chunks] == [
        "" if "no_preamble" in chunk.extra else said[number]
        for chunk, number in zip(chunks, kept, strict=True)
    ]
    assert len(model.requests) == len(script)


def test_a_summary_stays_behind_the_preamble(model: ScriptedModel) -> None:
    says(model, {"summaries": ["Sum."]}, "Place.")
    settings = {"strategy": "agentic", "agentic": {"mode": "summarize"}, "contextual": True}
    (chunk,) = chunker(model, settings).chunk(note_of("Text of a note."))
    assert chunk.preamble == "Place.\nSum."


def test_what_is_not_embedded_needs_no_preamble(model: ScriptedModel) -> None:
    says(model, "Child.")
    settings = {"strategy": "hierarchical", "contextual": True}
    parent, child = chunker(model, settings).chunk(note_of("Text of a note."))
    assert (parent.embed, parent.preamble, child.preamble) == (False, "", "Child.")
    assert len(model.requests) == 1


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


def test_a_rule_of_the_user_may_ask_for_preambles_and_a_note_may_not(model: ScriptedModel) -> None:
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


# --- groups, prompts of the user, requests at once


def first_letter(chunk: Chunk) -> str | None:
    """A grouper: chunks by the first letter of their text, those of apples without a preamble."""
    return None if "Apple" in chunk.header_path and "Pests" not in chunk.header_path else chunk.body[0]


def no_key(_chunk: Chunk) -> object:
    return ["a list cannot be a key"]


def test_a_function_of_the_user_groups_the_chunks(model: ScriptedModel) -> None:
    sys.modules.setdefault("chunk_contextual_under_test", sys.modules[__name__])
    says(model, "One.", "Two.")
    chunks = contextual(model, group_by="chunk_contextual_under_test:first_letter").chunk(NOTE)
    assert [chunk.preamble for chunk in chunks] == ["One.", "", "", "Two."]
    assert not any("no_preamble" in chunk.extra for chunk in chunks)
    with pytest.raises(NoteError, match=r"group_by: chunk_contextual_under_test:no_key raised TypeError"):
        contextual(model, group_by="chunk_contextual_under_test:no_key").chunk(NOTE)
    with pytest.raises(UsageError, match=r"no entry point of the group vault_indexer\.groupers"):
        contextual(model, group_by="none_of_that_name")


def by_place(chunk: Chunk) -> tuple[int, int]:
    return (0, 1) if chunk.start_pos > NOTE.body_start else (0, 0)


def test_a_key_of_the_user_may_be_a_pair_of_numbers(model: ScriptedModel) -> None:
    sys.modules.setdefault("chunk_contextual_under_test", sys.modules[__name__])
    says(model, "One.", "Two.")
    group_by, template = "chunk_contextual_under_test:by_place", "{chunk_text}"
    chunks = contextual(model, group_by=group_by, user_template=template).chunk(NOTE)
    assert [chunk.preamble for chunk in chunks] == ["One.", "Two.", "Two.", "Two."]
    assert prompts(model)[0] == "Before any heading."
    assert prompts(model)[1].startswith("# Apple It is pruned")


def test_of_a_chunk_with_several_sections_the_first_is_shown(model: ScriptedModel) -> None:
    says(model, "One.")
    table = {"granularity": "section", "user_template": "{chunk_text}"}
    (chunk,) = chunker(model, {"strategy": "none", "contextual": table}).chunk(NOTE)
    assert (chunk.preamble, prompts(model)) == ("One.", ["Before any heading."])


def test_the_user_writes_the_prompt(model: ScriptedModel) -> None:
    says(model, *"abcd")
    template = "<doc>{document_text}</doc> What is this? {chunk_text}"
    contextual(model, system_prompt="Be brief.", user_template=template).chunk(NOTE)
    document = NOTE.text[NOTE.body_start :].strip()
    text = " ".join(PLAIN[3].body.split())
    assert prompts(model)[3] == f"Be brief.\n\n<doc>{document}</doc> What is this? {text}"
    assert [request.max_tokens for request in model.requests] == [160] * 4


def test_the_whole_note_is_in_the_prompt_where_it_fits_and_comes_first(model: ScriptedModel) -> None:
    says(model, *"abcdabcd")
    contextual(model).chunk(NOTE)
    whole = prompts(model)
    assert all("It gets scab." in prompt and "Before any heading." in prompt for prompt in whole)
    shared = whole[0].partition("Where the text stands")[0]
    assert all(prompt.startswith(shared) for prompt in whole) and "It gets scab." in shared
    contextual(model, max_document_chars=10).chunk(NOTE)
    long = prompts(model)[4:]
    assert not any("The whole note" in prompt for prompt in long)
    shared = long[0].partition("Where the text stands")[0]
    assert all(prompt.startswith(shared) for prompt in long) and "Excerpt of the note:\n" in shared


def told(prompt: str) -> list[str]:
    """What a prompt says of headings, of the place of the text, and of what comes before it."""
    keys = ("Its headings", "Where the text stands", "What comes before it")
    return [line.partition(": ")[2] for line in prompt.splitlines() if line.startswith(keys)]


@pytest.mark.parametrize(("spare", "is_whole"), [(0, True), (-1, False)])
def test_a_note_that_is_too_long_for_the_prompt_is_shown_up_to_the_text(
    model: ScriptedModel, spare: int, is_whole: bool
) -> None:
    body = NOTE.text[NOTE.body_start :].strip()
    says(model, *"abcd")
    contextual(model, max_document_chars=len(body) + spare).chunk(NOTE)
    first, second, _, last = prompts(model)
    assert (f"The whole note:\n{body}\n" in first) is is_whole
    apples = "# Apple It is pruned in winter. It likes sun. So is the pear."
    before = (
        ["see above"] * 3 if is_whole else ["nothing", "Before any heading.", f"Before any heading. {apples}"]
    )
    assert [told(prompt) for prompt in (first, second, last)] == [
        ["Apple; Pests", "before the first heading", before[0]],
        ["Apple; Pests", "Apple", before[1]],
        ["Apple; Pests", "Apple > Pests", before[2]],
    ]


def test_a_prompt_holds_a_thousand_characters_before_the_text(model: ScriptedModel) -> None:
    note = note_of(f"---\na: 1\n---\n{'word ' * 300}\n\nAnother paragraph.\n")
    says(model, "First.", "Second.")
    contextual(model, granularity="paragraph", max_document_chars=0).chunk(note)
    assert told(prompts(model)[0]) == ["none", "before the first heading", "nothing"]
    before = told(prompts(model)[1])[2]
    assert before == " ".join(note.text[: note.text.index("Another")][-1000:].split())


def test_what_a_prompt_names_is_shortened(model: ScriptedModel) -> None:
    headings = [letter * 350 for letter in "ABC"]
    sections = "".join(f"# {heading}\n\n{'x' * 4000}\n\n" for heading in headings)
    note = note_of(f"---\ntitle: {'T' * 300}\n---\n{sections}")
    says(model, *"abc")
    contextual(model, granularity="section", max_document_chars=0).chunk(note)
    lines = prompts(model)[2].splitlines()
    assert len(next(line for line in lines if line.startswith("Note: "))) == len("Note: ") + 200
    assert [len(part) for part in told(prompts(model)[2])][:2] == [800, 300]
    assert len(lines[lines.index("The text:") + 1]) == 3000


def test_a_transient_error_is_asked_again(model: ScriptedModel) -> None:
    longest = "x" * 400
    model.script.extend([FAILURES["500"], longest])
    note = note_of("One paragraph.")
    (chunk,) = contextual(model, num_retries=1).chunk(note)
    assert chunk.preamble == longest
    model.script.append(FAILURES["no protocol"])
    (chunk,) = contextual(model, num_retries=5).chunk(note)
    assert "no_preamble" in chunk.extra
    assert len(model.requests) == 3, "an answer that is no answer is not transient"


def test_where_all_chunks_fail_the_first_reason_is_told(model: ScriptedModel) -> None:
    model.script += ["?!", FAILURES["no protocol"]]
    with pytest.raises(NoteError, match=r"keep_on_failure is false: the answer contains no words$"):
        contextual(model, keep_on_failure=False).chunk(NOTE)


class AllAtOnce:
    """A model that answers nobody before `count` questions have come."""

    name = "test/barrier"

    def __init__(self, count: int) -> None:
        self._barrier = Barrier(count)

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:  # noqa: ARG002
        self._barrier.wait(timeout=30)
        return "A preamble."


@pytest.mark.parametrize("count", [2, 8])
def test_a_note_is_asked_about_with_so_many_questions_at_once(count: int) -> None:
    note = note_of(
        "\n\n".join(f"Paragraph {n} of the note, with some more words. " * 2 for n in range(3 * count))
    )
    table = {**PARAGRAPH, "max_chars": 100, "contextual": {"granularity": "chunk", "max_workers": count}}
    chunks = chunker_for(ChunkingSettings.model_validate(table), llm=AllAtOnce(count)).chunk(note)
    assert len(chunks) == 3 * count
    assert all(chunk.preamble == "A preamble." for chunk in chunks)
