"""The options of the language model that chunking and answers may ask."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vault_indexer.config.fields import PUBLIC, Table, Unit, Url, VariableName


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
