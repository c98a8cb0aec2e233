"""Resolves the links of the catalog, and resolves them again when files come and go."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from vault_indexer.parse import VaultPaths, link_key, resolve
from vault_indexer.store.catalog import CatalogWriter, ResolvedLink


class Linker:
    """Resolves links against the files of the vault, and knows which links a change of files affects.

    IndexWriter and a build own one each, and call it from one thread. `add` and `remove` only record a
    change; `relink` then resolves the affected links of the catalog again, within the transaction that stores
    the change. After a transaction that failed the owner makes a new one: this one knows files that were not
    stored.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._initial_paths = list(paths)
        self._affected: set[str] = set()

    @cached_property
    def _paths(self) -> VaultPaths:
        """Made when the first note is written, or before by `load`: a command that only searches never needs
        it."""
        initial, self._initial_paths = self._initial_paths, []
        return VaultPaths(initial)

    def load(self) -> None:
        """Do now what the first note would have to wait for: a second for 166,000 files."""
        self._paths  # noqa: B018 - it is made by being read

    def __call__(self, target: str, source: str) -> ResolvedLink:
        """Where `target`, written in the note `source`, leads now."""
        found = resolve(target, source, self._paths)
        return ResolvedLink(link_key(target), found.path, bool(found.ambiguous))

    def add(self, path: str) -> None:
        self._affected.update(self._paths.add(path))

    def remove(self, path: str) -> None:
        self._affected.update(self._paths.remove(path))

    def relink(self, writer: CatalogWriter) -> int:
        """Resolve the stored links again that changes since the last call affect. Returns how many moved."""
        keys, self._affected = self._affected, set()
        return writer.relink(keys, self)

    def relink_all(self, writer: CatalogWriter) -> int:
        """Resolve all stored links again. Returns how many moved."""
        return writer.relink(writer.link_keys(), self)
