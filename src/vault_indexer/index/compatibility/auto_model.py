"""Which embedding model `embedding.provider = "auto"` stands for, in a build and for an index that exists."""

from __future__ import annotations

from vault_indexer.config import Manifest, Settings
from vault_indexer.errors import ManifestError
from vault_indexer.index.plan import is_indexed
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import AUTO_PROVIDERS, IndexedTexts, better_model, choose_provider
from vault_indexer.store import Generation
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.vault.walk import Scan


def settings_for_build(
    settings: Settings, found: Scan, current: Generation | None, *, better: bool = False
) -> Settings:
    """The settings with the model for a build of these notes, where they say `auto`: with `better` the best
    that there is. `current` is the generation that the next one replaces (None: there is none, or it cannot
    be read)."""
    if settings.embedding.provider != "auto":
        return settings
    if better and (best := better_model()) is not None:
        return _with_provider(settings, best.provider)
    text_bytes = sum(file.stat.size for file in found.files if is_indexed(file))
    indexed = _indexed_texts(current) if current is not None else None
    return _with_provider(settings, choose_provider(text_bytes, indexed))


def _indexed_texts(generation: Generation) -> IndexedTexts | None:
    better = better_model()
    if better is None:
        return None
    try:
        built = Manifest.from_toml(generation.read_manifest()).embedding_model
    except (ManifestError, OSError, UnicodeDecodeError):
        return None
    with CatalogReader(generation.catalog) as catalog:
        return IndexedTexts(built.provider, catalog.embedded_count(), catalog.missing_count(better.key))


def upgraded_settings(settings: Settings, built: EmbeddingModel) -> Settings | None:
    """The settings for the vectors that an index is to change to when all are there; None where it has the
    best that `auto` stands for, or the configuration names a model or wants no change."""
    embedding, better = settings.embedding, better_model()
    if embedding.provider != "auto" or not embedding.max_upgrade_hours or better is None:
        return None
    if built.provider not in AUTO_PROVIDERS or built.provider == better.provider:
        return None
    return _with_provider(settings, better.provider)


def settings_for_index(settings: Settings, built: EmbeddingModel) -> Settings:
    """The settings with the model of an index, where they say `auto` and `auto` may have chosen it: only a
    build chooses another."""
    if settings.embedding.provider != "auto" or built.provider not in AUTO_PROVIDERS:
        return settings
    return _with_provider(settings, built.provider)


def _with_provider(settings: Settings, provider: str) -> Settings:
    embedding = settings.embedding.model_copy(update={"provider": provider})
    return settings.model_copy(update={"embedding": embedding})
