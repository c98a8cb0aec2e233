"""Where the links of the catalog lead, kept true while files come and go."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from vault_indexer.parse import VaultPaths, link_key, resolve
from vault_indexer.store.catalog import CatalogWriter, ResolvedLink


class Linker:
    """Resolves links against the files of the vault; remembers which outcomes a change can alter."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._given = list(paths)
        self._affected: set[str] = set()

    @cached_property
    def _paths(self) -> VaultPaths:
        """Made when the first note is written: a command that only searches never needs it."""
        given, self._given = self._given, []
        return VaultPaths(given)

    def __call__(self, target: str, source: str) -> ResolvedLink:
        """Where `target`, written in the note `source`, leads now."""
        found = resolve(target, source, self._paths)
        return ResolvedLink(link_key(target), found.path, bool(found.ambiguous))

    def add(self, path: str) -> None:
        """A file has come."""
        self._affected.update(self._paths.add(path))

    def remove(self, path: str) -> None:
        """A file has gone."""
        self._affected.update(self._paths.remove(path))

    def relink(self, writer: CatalogWriter) -> int:
        """Resolve anew the stored links that changes since the last call concern. Returns how many moved."""
        keys, self._affected = self._affected, set()
        return writer.relink(keys, self)
