"""The rules for an index whose vault holds exclusions that are not understood, where no process knows the
former ones."""

from __future__ import annotations

from pathlib import Path

from vault_indexer.config.settings import FilesSettings
from vault_indexer.errors import ExclusionError, UnavailableError
from vault_indexer.store import IndexDir, index_errors
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.vault.ignore import Decision, IgnoreRules, load_ignore_rules


def load_rules_for_index(vault: Path, files: FilesSettings, index_dir: IndexDir) -> IgnoreRules:
    """The active rules. If a list in the vault is not understood, what the index knows stays in it, and
    nothing else comes in. Raises ExclusionError if there is no index yet."""
    try:
        return load_ignore_rules(vault, files)
    except ExclusionError:
        known = _known_files(index_dir)
        if known is None:
            raise
        return load_ignore_rules(vault, files, IgnoreRules(known=known))


def _known_files(index_dir: IndexDir) -> dict[str, Decision] | None:
    """What the active generation does with each file that it knows; None if it cannot be read."""
    try:
        with index_errors(index_dir.root):
            generation = index_dir.current()
            if generation is None:
                return None
            with CatalogReader(generation.catalog) as catalog:
                rows = catalog.files()
    except UnavailableError:
        return None
    return {row.path: Decision.LINK_ONLY if row.state == "linked" else Decision.INDEX for row in rows}
