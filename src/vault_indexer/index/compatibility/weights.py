"""Which token weights a generation has: those of the one before, as long as they fit the vault."""

from __future__ import annotations

from collections.abc import Callable

from vault_indexer.index.reading.sample import has_drifted
from vault_indexer.store import Generation, IndexDir
from vault_indexer.store.catalog import CatalogReader, is_sound
from vault_indexer.vault.walk import Scan

WEIGHTS_BLOB = "token_weights"
"""Under this name a generation keeps the token weights it was built with."""


def stored_weights(generation: Generation) -> bytes | None:
    """The token weights of a generation; None if it was built without."""
    with CatalogReader(generation.catalog) as catalog:
        return catalog.blob(WEIGHTS_BLOB)


def weights_for_build(
    found: Scan, index_dir: IndexDir, fit: Callable[[], bytes], *, recompute_weights: bool
) -> bytes:
    """The token weights of the next generation.

    They are those of the active generation, so that known vectors stay good. `fit` makes new ones where there
    are none, where the catalog is damaged, or where `recompute_weights` asks for them and the vault has
    changed much in size.
    """
    current = index_dir.current()
    if current is None or not is_sound(current.catalog):
        return fit()
    stored = stored_weights(current)
    if stored is None or (recompute_weights and _has_outgrown(current, found)):
        return fit()
    return stored


def _has_outgrown(current: Generation, found: Scan) -> bool:
    with CatalogReader(current.catalog) as catalog:
        return has_drifted(catalog.counts().notes, len(found.files))
