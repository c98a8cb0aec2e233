import subprocess
import sys

import pytest

from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.errors import ProviderError
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import TokenWeights, WordLlamaEmbedder, embedder_for, is_same_model, model_for
from vault_indexer.providers.choose import OTHER_PROVIDERS

WEIGHTS = TokenWeights.fit(WordLlamaEmbedder().count(["some text"]))

# What a child process prints: the modules that searching with the default provider loaded.
_DEFAULT_SEARCH = """
import sys
from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.providers import embedder_for, model_for
embedder_for(EmbeddingSettings()).embed_query("boat")
print(*sys.modules)
"""


def test_every_provider_of_the_settings_is_known() -> None:
    allowed = EmbeddingSettings.model_json_schema()["properties"]["provider"]["enum"]
    assert sorted(allowed) == sorted([*OTHER_PROVIDERS, "auto", "wordllama"])


@pytest.mark.parametrize("token_weights", ["idf", "none"])
def test_the_model_is_named_as_the_embedder_names_it(token_weights: str) -> None:
    settings = EmbeddingSettings.model_validate({"token_weights": token_weights})
    assert model_for(settings, weights=WEIGHTS) == embedder_for(settings, weights=WEIGHTS).model


def test_an_index_without_the_configured_weights_is_not_current() -> None:
    wanted = model_for(EmbeddingSettings())
    assert not is_same_model(wanted, model_for(EmbeddingSettings(token_weights="none")))
    assert not is_same_model(wanted, model_for(EmbeddingSettings(), weights=WEIGHTS))


def test_an_unknown_dimension_agrees_with_any() -> None:
    wanted = model_for(EmbeddingSettings(provider="ollama", model="nomic-embed-text"))
    assert is_same_model(wanted, EmbeddingModel("ollama", "nomic-embed-text", 768))
    assert not is_same_model(wanted, EmbeddingModel("ollama", "another", 768))
    assert not is_same_model(EmbeddingModel("ollama", "x", 512), EmbeddingModel("ollama", "x", 768))


@pytest.mark.parametrize("provider", ["openai", "ollama", "huggingface"])
def test_a_missing_model_is_named(provider: str) -> None:
    with pytest.raises(ProviderError, match=r"embedding\.model"):
        embedder_for(EmbeddingSettings.model_validate({"provider": provider}))


def test_nothing_is_sent_to_openai_unless_a_url_is_named() -> None:
    with pytest.raises(ProviderError, match=r"embedding\.url is empty"):
        embedder_for(EmbeddingSettings(provider="openai", model="text-embedding-3-small"))


@pytest.mark.long
def test_the_default_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _DEFAULT_SEARCH], capture_output=True, text=True, check=True, timeout=300
    )
    heavy = {"llama_index", "torch", "transformers", "sentence_transformers", "wordllama", "openai", "httpx"}
    assert heavy.isdisjoint(done.stdout.split())
    assert done.stderr == ""
