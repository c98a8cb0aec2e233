"""Which strategies cut the notes of a generation: a note may choose one that no note had before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from vault_indexer.store.generations import Generation
from vault_indexer.store.rows import PreparedNote


class StrategiesInUse:
    """Keeps in the manifest the options of every strategy that cut a note: `manifest` writes it with those of
    the strategies given, and holds those of `known` already."""

    def __init__(self, known: Collection[str], manifest: Callable[[Iterable[str]], str]) -> None:
        self._known = frozenset(known)
        self._manifest = manifest

    def put(self, notes: Iterable[PreparedNote], generation: Generation) -> frozenset[str]:
        """Before the notes are in the catalog, so that from then on another option of their strategies starts
        a rebuild. Returns the strategies that are new. Raises OSError."""
        chosen = frozenset(name for note in notes for name in note.rows.strategies) - self._known
        if chosen:
            generation.write_manifest(self._manifest(self._known | chosen))
            self._known |= chosen
        return chosen
