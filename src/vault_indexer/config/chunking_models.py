"""The options of the strategies that ask a language model or call code of the user's own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vault_indexer.config.chunking_options import Options
from vault_indexer.config.fields import Unit

_Seconds = Annotated[float, Field(gt=0, le=3600), Unit("seconds")]
_Calls = Annotated[int, Field(ge=1, le=100_000), Unit("calls")]


class LlmChunkingOptions(Options):
    """`llm`: a model says which chunks of `discourse` to split and which to merge."""

    strict: bool = Field(
        default=False, description="true: a note with an answer that cannot be used is skipped and named"
    )
    max_api_calls: _Calls = Field(
        default=8, description="questions a note may cost; what they do not reach is cut by discourse alone"
    )
    timeout_s: _Seconds = Field(default=60.0, description="a question is given up after this time")


class AgenticOptions(Options):
    """`agentic`: a model proposes the boundaries, or writes a summary of each chunk, or both."""

    mode: Literal["split", "summarize", "hybrid"] = Field(
        default="split", description="split: the model sets boundaries; summarize: it sums up; hybrid: both"
    )
    target_chunk_size: Annotated[int, Field(ge=100, le=1_000_000), Unit("characters")] = Field(
        default=1000, description="size the model is asked for; no chunk is more than twice as long"
    )
    max_api_calls: _Calls = Field(
        default=8, description="questions a note may cost; what they do not reach is cut by boundary"
    )
    timeout_s: _Seconds = Field(default=60.0, description="a question is given up after this time")
    prompt: Annotated[str, Field(max_length=4000)] = Field(
        default="", description="instructions in place of the built-in ones; text and form are added to it"
    )


class CustomOptions(Options):
    """`custom`: a function of the user's own."""

    function: Annotated[str, Field(max_length=500)] = Field(
        default="", description="module:function, or an entry point of the group vault_indexer.chunkers"
    )


class ContextualOptions(Options):
    """`contextual`: a model writes where a text stands, for any strategy.

    `contextual = true` is short for a preamble a chunk.
    """

    granularity: Literal["none", "section", "paragraph", "chunk"] = Field(
        default="none", description="what gets a preamble of its own; none asks no model"
    )
    keep_on_failure: bool = Field(
        default=True, description="without an answer: true keeps the chunk as it is, false skips the note"
    )
    max_api_calls: _Calls = Field(
        default=50, description="preambles a note may cost; the chunks after that have none"
    )
    timeout_s: _Seconds = Field(default=60.0, description="a question is given up after this time")
