"""The options of the language model that chunking and answers may ask."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from vault_indexer.config.fields import Unit, Url, VariableName


class LlmSettings(BaseModel):
    """`[llm]`: no model is asked unless one is named here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: Literal["none", "ollama", "openai", "anthropic"] = Field(
        default="none", description="who runs the language model; openai means any compatible URL"
    )
    model: str = Field(default="", description="the model's name at the provider")
    url: Url = Field(default="", description="base URL; empty means the provider's own (openai: required)")
    api_key_env: VariableName = Field(
        default="", description="variable that holds the API key, which never stands in a file"
    )
    temperature: Annotated[float, Field(ge=0, le=2), Unit("temperature")] = Field(
        default=0.0, description="how freely it answers; 0 gives the most repeatable answers"
    )
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000), Unit("tokens")] = Field(
        default=1024, description="tokens an answer may have"
    )
    context_window: Annotated[int, Field(ge=256, le=10_000_000), Unit("tokens")] = Field(
        default=8192, description="tokens that prompt and answer may have together"
    )
