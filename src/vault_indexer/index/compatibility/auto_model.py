"""Which embedding model `embedding.provider = "auto"` stands for, in a build and for an index that exists."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from vault_indexer.config import Manifest, Settings
from vault_indexer.errors import ManifestError
from vault_indexer.index.reading.sample import sample_languages
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import AUTO_PROVIDERS, choose_provider
from vault_indexer.store import Generation
from vault_indexer.vault.walk import Scan


def settings_for_build(settings: Settings, vault: Path, found: Scan, current: Generation | None) -> Settings:
    """The settings with a model for the languages of the vault, where they say `auto`. `current` is the
    generation that the next one replaces (None: there is none, or it cannot be read)."""
    if settings.embedding.provider != "auto":
        return settings
    built_with = ""
    if current is not None:
        with suppress(ManifestError, OSError, UnicodeDecodeError):
            built_with = Manifest.from_toml(current.read_manifest()).embedding_model.provider
    return _with_provider(settings, choose_provider(sample_languages(vault, found), current=built_with))


def settings_for_index(settings: Settings, built: EmbeddingModel) -> Settings:
    """The settings with the model of an index, where they say `auto` and `auto` may have chosen it: only a
    build chooses another."""
    if settings.embedding.provider != "auto" or built.provider not in AUTO_PROVIDERS:
        return settings
    return _with_provider(settings, built.provider)


def _with_provider(settings: Settings, provider: str) -> Settings:
    embedding = settings.embedding.model_copy(update={"provider": provider})
    return settings.model_copy(update={"embedding": embedding})
