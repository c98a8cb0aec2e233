"""Records the settings of a build, and checks whether an index still fits the settings and the vault."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import tomli

from vault_indexer.config import SPEC_VERSION, Manifest, Settings, chunking_config, differences
from vault_indexer.config.manifest import language_model, strategies_in
from vault_indexer.documents import EXTRACT_VERSION
from vault_indexer.errors import ManifestError, NewerIndexError, UnavailableError
from vault_indexer.index.reading import has_drifted, style_of_catalog, style_of_files, text_size
from vault_indexer.model import LinkStyle
from vault_indexer.parse import PARSERS
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers import (
    AUTO_PROVIDERS,
    WORD_VECTORS,
    IndexedTexts,
    better_model,
    choose_provider,
    is_same_model,
    model_for,
)
from vault_indexer.store import Generation, IndexDir
from vault_indexer.store.catalog import CATALOG_VERSION, CatalogReader, PreparedNote, is_sound
from vault_indexer.system import record
from vault_indexer.text.tokens import ANALYZER
from vault_indexer.vault.walk import Scan


def settings_for_build(
    settings: Settings, found: Scan, current: Generation | None, *, better: bool = False
) -> Settings:
    """Returns the settings with the model for a build of these notes if the provider is `auto`; with
    `better`, the best available model. `current` is the generation to be replaced (None: there is none, or it
    cannot be read). The style of links replaces `auto` as well."""
    style = style_of_files(settings, found)
    if style != settings.links.style_of_build:
        links = settings.links.model_copy(update={"style": style})
        settings = settings.model_copy(update={"links": links})
    if settings.embedding.provider != "auto":
        return settings
    if better and (best := better_model()) is not None:
        return _with_provider(settings, best.provider)
    text_bytes = text_size(found.files)
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
    """Returns the settings of the model that an index will change to once all its vectors exist. Returns None
    if the index has the best model of `auto`, or the configuration names a model or disables upgrades."""
    embedding, better = settings.embedding, better_model()
    if embedding.provider != "auto" or not embedding.max_upgrade_hours or better is None:
        return None
    if built.provider not in AUTO_PROVIDERS or built.provider == better.provider:
        return None
    return _with_provider(settings, better.provider)


def settings_for_index(settings: Settings, built: EmbeddingModel) -> Settings:
    """Returns the settings with the model of an index if the provider is `auto` and `auto` may have chosen
    that model: only a build chooses another."""
    if settings.embedding.provider != "auto" or built.provider not in AUTO_PROVIDERS:
        return settings
    return _with_provider(settings, built.provider)


def _with_provider(settings: Settings, provider: str) -> Settings:
    embedding = settings.embedding.model_copy(update={"provider": provider})
    return settings.model_copy(update={"embedding": embedding})


@record
class Compatibility:
    """The result of the comparison of a generation with the configuration.

    `manifest` is that of the build, if it can be read. `reasons` explain why the generation no longer fits
    (empty: it fits).
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
        parsers={**PARSERS, "documents": EXTRACT_VERSION},
        chunking_config=chunking_config(settings, strategies),
        analyzer=ANALYZER,
        token_weights=weights,
        language_model=language_model(settings),
        word_vectors=WORD_VECTORS,
        link_style=settings.links.style_of_build,
        replaced_strategy=settings.replaced_strategy,
    )


def check_compatibility(generation: Generation, settings: Settings) -> Compatibility:
    """Compares the generation with the settings.

    A manifest that cannot be read never fits. The result then contains the manifest of the settings.
    """
    try:
        built = Manifest.from_toml(generation.read_manifest())
    except ManifestError as error:
        return Compatibility(_wanted(settings), (str(error),))
    except OSError as error:
        return Compatibility(_wanted(settings), (f"manifest.toml: {error.strerror}",))
    except UnicodeDecodeError as error:
        return Compatibility(_wanted(settings), (f"manifest.toml: {error}",))
    style = built.link_style
    # A damaged catalog is reported when the generation is opened.
    with suppress(UnavailableError), CatalogReader(generation.catalog) as catalog:
        style = style_of_catalog(settings, catalog)
    # `--strategy` chose another strategy for the build, and without the option the index keeps it.
    if built.replaced_strategy == settings.chunking.strategy and not settings.replaced_strategy:
        as_built = settings.with_strategy(built.chunking_config["strategy"])
        if not _reasons(built, as_built, style):
            return Compatibility(built)
    return Compatibility(built, _reasons(built, settings, style))


def _reasons(built: Manifest, settings: Settings, style: LinkStyle) -> tuple[str, ...]:
    wanted = _wanted(settings_for_index(settings, built.embedding_model))
    chosen = chunking_config(settings, strategies_in(built.chunking_config))
    wanted = wanted.model_copy(update={"chunking_config": chosen, "link_style": style})
    if is_same_model(wanted.embedding_model, built.embedding_model):
        wanted = wanted.model_copy(update={"embedding_model": built.embedding_model})
    return tuple(differences(built, wanted))


def _wanted(settings: Settings) -> Manifest:
    return manifest_for(settings, model_for(settings.embedding.unweighted()), settings.embedding.weighting)


def refuse_newer(index_dir: Path) -> None:
    """Raises NewerIndexError if a newer program has written the active generation: a rebuild would throw away
    the work of that program, and an edit would omit data that only that program writes."""
    newer: list[str] = []
    with suppress(UnavailableError, OSError, ValueError):  # damage is reported when the index is opened
        generation = IndexDir(index_dir).current()
        if generation is None:
            return
        built = tomli.loads(generation.read_manifest()).get("spec_version")
        with CatalogReader(generation.catalog) as catalog:
            versions = (("manifest", built, SPEC_VERSION), ("catalog", catalog.version, CATALOG_VERSION))
        newer = [f"{part} {of} > {own}" for part, of, own in versions if isinstance(of, int) and of > own]
    if newer:
        raise NewerIndexError(
            f"a newer vault-indexer has written the index {index_dir} ({', '.join(newer)}), which stays "
            "as it is: upgrade vault-indexer, or build another index with --index-dir"
        )


class StrategiesInUse:
    """Records in the manifest the options, from `settings`, of every strategy that split a note. A note may
    choose one that no note had before."""

    def __init__(self, generation: Generation, settings: Settings) -> None:
        self._generation = generation
        self._settings = settings
        self._known: frozenset[str] = frozenset()

    def put(self, notes: Iterable[PreparedNote]) -> frozenset[str]:
        """Records the strategies of these notes. This is called before the notes are in the catalog, so that
        a later change of their options starts a rebuild. Returns the new strategies. Raises OSError."""
        used = frozenset(name for note in notes for name in note.rows.strategies)
        if used <= self._known:
            return frozenset()
        try:
            built = Manifest.from_toml(self._generation.read_manifest())
        except (ManifestError, OSError, UnicodeDecodeError):
            return frozenset()  # a rebuild is due, and nothing may make it look as if it were not
        recorded = strategies_in(built.chunking_config)
        self._known = used | recorded
        if used <= recorded:
            return frozenset()
        chosen = chunking_config(self._settings, self._known)
        self._generation.write_manifest(built.model_copy(update={"chunking_config": chosen}).to_toml())
        return used - recorded


WEIGHTS_BLOB = "token_weights"
"""The name of the blob that stores the token weights of a generation."""


def stored_weights(generation: Generation) -> bytes | None:
    """Returns the token weights of a generation; None if it was built without them."""
    with CatalogReader(generation.catalog) as catalog:
        return catalog.blob(WEIGHTS_BLOB)


def weights_for_build(
    found: Scan, index_dir: IndexDir, fit: Callable[[], bytes], *, recompute_weights: bool
) -> bytes:
    """Returns the token weights of the next generation.

    They are taken from the active generation, so that its vectors stay valid. `fit` computes new ones if
    there are none, if the catalog is damaged, or if `recompute_weights` is true and the size of the vault has
    changed much.
    """
    current = index_dir.current()
    if current is None or not is_sound(current.catalog):
        return fit()
    with CatalogReader(current.catalog) as catalog:
        stored = catalog.blob(WEIGHTS_BLOB)
        is_outdated = recompute_weights and has_drifted(catalog.counts().notes, len(found.files))
    return fit() if stored is None or is_outdated else stored
