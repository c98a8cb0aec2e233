"""The options of the language model that chunking and answers may ask."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from vault_indexer.config.fields import PUBLIC, Glob, Table, Trust, Tuned, Unit, Url, VariableName


class LlmSettings(Table):
    """The language model for chunking and answers. Without a model here, none is asked and nothing
    is sent."""

    provider: Annotated[Literal["none", "ollama", "openai", "anthropic"], PUBLIC] = Field(
        default="none",
        description="which program runs the language model; none asks no model, openai is any compatible "
        "URL. Each provider is an extra to install",
    )
    model: Annotated[str, PUBLIC] = Field(default="", description="name of the model at the provider")
    url: Annotated[Url, PUBLIC] = Field(
        default="", description="base URL; empty means the default of the provider; openai needs one"
    )
    api_key_env: Annotated[VariableName, PUBLIC] = Field(
        default="",
        description="environment variable that holds the API key; the key itself is never in a file",
    )
    temperature: Annotated[float, Field(ge=0, le=2), Unit("temperature")] = Field(
        default=0.0, description="how much answers vary; 0 gives the most repeatable answers"
    )
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000), Unit("tokens")] = Field(
        default=1024, description="largest number of tokens in an answer"
    )
    context_window: Annotated[int, Field(ge=256, le=10_000_000), Unit("tokens")] = Field(
        default=8192, description="largest number of tokens in prompt and answer together"
    )


# The options of answers to questions.


class AskSettings(Table):
    """How `indexer ask` answers. With a model in the table llm, that model writes the answer; without one,
    the answer quotes sentences of your notes.
    """

    trust: ClassVar[Trust] = Trust.VAULT

    limit: Tuned[int] = 10  # passages that are read
    sentences: Tuned[int] = 3  # sentences that an answer quotes
    max_tokens: Tuned[int] = 4000  # tokens of notes that one question sends to the language model
    min_relevance: Tuned[float] = 0.3  # relevance; passages below are not sent to the language model
    never_send: Annotated[tuple[Glob, ...], Trust.USER] = Field(
        default=(),
        description="notes that no question sends to a language model: patterns of paths as in .gitignore, "
        'and properties, as "[private]" or "[status:secret]". Such notes are still searched and quoted. '
        'Examples: "Private/", "[private]"',
    )
    timeout_s: Tuned[float] = 60.0  # seconds for a whole answer; the model is asked once more after that
    judge: Annotated[bool, Trust.USER] = Field(
        default=False,
        description="have the language model look at each sentence of its answer once more, after the "
        "checks that need none: one more request for each sentence",
    )
