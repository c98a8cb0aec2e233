"""What a generation would be built with now, and whether one that exists still fits that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vault_indexer.config import SPEC_VERSION, Manifest, Settings, chunking_config, differences
from vault_indexer.config.manifest import language_model, strategies_in
from vault_indexer.errors import ManifestError
from vault_indexer.index.compatibility.auto_model import settings_for_index
from vault_indexer.parse import PARSERS
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import WORD_VECTORS, is_same_model, model_for
from vault_indexer.store import Generation
from vault_indexer.text.tokens import ANALYZER


@dataclass(frozen=True, slots=True)
class Compatibility:
    """How a generation fits the configuration.

    `manifest` is what it was built with, as far as it tells; `reasons` say why it no longer fits (empty: it
    does).
    """

    manifest: Manifest
    reasons: tuple[str, ...] = ()


def manifest_for(
    settings: Settings, model: EmbeddingModel, weights: str, strategies: Iterable[str] = ()
) -> Manifest:
    """The manifest of a generation built now with this model, whose name is the one without token weights.

    `weights` names the token weights, "" for none. `strategies` are those that notes chose: their options
    count as well.
    """
    return Manifest(
        spec_version=SPEC_VERSION,
        embedding_model=model,
        parsers=dict(PARSERS),
        chunking_config=chunking_config(settings, strategies),
        analyzer=ANALYZER,
        token_weights=weights,
        language_model=language_model(settings),
        word_vectors=WORD_VECTORS,
    )


def check_compatibility(generation: Generation, settings: Settings) -> Compatibility:
    """How the generation fits the settings.

    A manifest that cannot be read never fits, and is taken for the one that is wanted.
    """
    try:
        built = Manifest.from_toml(generation.read_manifest())
    except (ManifestError, OSError, UnicodeDecodeError) as error:
        return Compatibility(_wanted(settings), (f"manifest.toml: {error}",))
    wanted = _wanted(settings_for_index(settings, built.embedding_model))
    chosen = chunking_config(settings, strategies_in(built.chunking_config))
    wanted = wanted.model_copy(update={"chunking_config": chosen})
    if is_same_model(wanted.embedding_model, built.embedding_model):
        wanted = wanted.model_copy(update={"embedding_model": built.embedding_model})
    return Compatibility(built, tuple(differences(built, wanted)))


def _wanted(settings: Settings) -> Manifest:
    return manifest_for(settings, model_for(settings.embedding.unweighted()), settings.embedding.weighting)
