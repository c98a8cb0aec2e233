"""What a configuration lacks to run: settings that a provider cannot do without.

Loading does not check this. A provider is only needed where a model is asked, and says itself what it lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from vault_indexer.config.load import LoadedConfig
from vault_indexer.config.values import toml_text
from vault_indexer.errors import ConfigProblem

_NEEDED: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("embedding", "huggingface"): ("model",),
        ("embedding", "ollama"): ("model",),
        ("embedding", "openai"): ("model", "url"),
        ("llm", "ollama"): ("model",),
        ("llm", "openai"): ("model", "url"),
        ("llm", "anthropic"): ("model", "api_key_env"),
    }
)
"""The keys that must not be empty, by table and provider. The providers raise ProviderError without them."""


def missing_settings(loaded: LoadedConfig, environ: Mapping[str, str]) -> Iterator[ConfigProblem]:
    """Each setting, or environment variable with an API key, that the configuration needs and lacks."""
    settings = loaded.settings
    for table, of_table in (("embedding", settings.embedding), ("llm", settings.llm)):
        origin = loaded.origins[f"{table}.provider"]
        reason = f"must be set: {table}.provider is {toml_text(of_table.provider)}"
        for key in _NEEDED.get((table, of_table.provider), ()):
            if not getattr(of_table, key):
                yield ConfigProblem(f"{table}.{key}", '""', reason, origin)
        variable = of_table.api_key_env
        if variable and (table, of_table.provider) in _NEEDED and not environ.get(variable):
            key = f"{table}.api_key_env"
            reason = "this environment variable is not set"
            yield ConfigProblem(key, toml_text(variable), reason, loaded.origins[key])
    if settings.chunking.asks_model and settings.llm.provider == "none":
        yield ConfigProblem(
            "llm.provider",
            toml_text("none"),
            "must be set: the options of chunking need a language model",
            loaded.origins["llm.provider"],
        )
