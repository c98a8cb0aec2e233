"""Which strategies split the notes of a generation: a note may choose one that no note had before."""

from __future__ import annotations

from collections.abc import Iterable

from vault_indexer.config import Manifest, Settings, chunking_config
from vault_indexer.config.manifest import strategies_in
from vault_indexer.errors import ManifestError
from vault_indexer.store import Generation
from vault_indexer.store.catalog import PreparedNote


class StrategiesInUse:
    """Keeps the options of every strategy that split a note, as `settings` have them, in the manifest."""

    def __init__(self, generation: Generation, settings: Settings) -> None:
        self._generation = generation
        self._settings = settings
        self._known: frozenset[str] = frozenset()

    def put(self, notes: Iterable[PreparedNote]) -> frozenset[str]:
        """Before the notes are in the catalog, so that from then on another option of their strategies starts
        a rebuild. Returns the strategies that are new. Raises OSError."""
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
