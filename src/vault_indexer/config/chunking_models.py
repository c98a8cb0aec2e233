"""The options of the strategies that ask a language model or call code of the user's own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vault_indexer.config.chunking_options import Options
from vault_indexer.config.fields import Trust, Unit

_Seconds = Annotated[float, Field(gt=0, le=3600), Unit("seconds")]
_Calls = Annotated[int, Field(ge=1, le=100_000), Unit("calls")]


class LlmChunkingOptions(Options):
    """A language model (see [llm]) splits and merges the chunks of "discourse". It never writes text."""

    strict: bool = Field(
        default=False,
        description="skip a note if an answer cannot be used, and report it; with false it is split by "
        "discourse alone",
    )
    max_api_calls: _Calls = Field(
        default=8,
        description="largest number of questions per note; the rest of the note is split by discourse alone",
    )
    timeout_s: _Seconds = Field(default=60.0, description="time after which a question is cancelled")


class AgenticOptions(Options):
    """A language model sets the boundaries, or writes a summary of each chunk, or both. The summary is stored
    beside the text.
    """

    mode: Annotated[Literal["split", "summarize", "hybrid"], Trust.VAULT] = Field(
        default="split",
        description="what the model does: split sets boundaries, summarize writes summaries, hybrid "
        "does both",
    )
    target_chunk_size: Annotated[int, Field(ge=100, le=1_000_000), Unit("characters"), Trust.VAULT] = Field(
        default=1000,
        description="chunk size that the model is asked for; no chunk is more than twice as long",
    )
    max_api_calls: _Calls = Field(
        default=8,
        description="largest number of questions per note; the rest of the note is split by boundary",
    )
    timeout_s: _Seconds = Field(default=60.0, description="time after which a question is cancelled")
    prompt: Annotated[str, Field(max_length=4000)] = Field(
        default="",
        description="instructions that replace the built-in ones; the text and the answer format are "
        "added to them",
    )


class CustomOptions(Options):
    """Your own function splits the notes: it gets the parsed note and yields spans of its text."""

    function: Annotated[str, Field(max_length=500)] = Field(
        default="",
        description='"module:function", or the name of an entry point that an installed package has in '
        "the group vault_indexer.chunkers",
    )


class ContextualOptions(Options):
    """A language model writes what a chunk is about within its note, for any strategy. This preamble is
    embedded with the text and stored apart from it. `contextual = true` in [chunking] is short for
    `granularity = "chunk"`.
    """

    granularity: Literal["none", "section", "paragraph", "chunk"] = Field(
        default="none", description="which part of a note gets its own preamble; none asks no model"
    )
    keep_on_failure: bool = Field(
        default=True,
        description="keep a chunk without a preamble if the model does not answer; with false the "
        "note is skipped",
    )
    max_api_calls: _Calls = Field(
        default=50, description="largest number of preambles per note; further chunks have none"
    )
    timeout_s: _Seconds = Field(default=60.0, description="time after which a question is cancelled")
