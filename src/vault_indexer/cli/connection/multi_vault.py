"""When a command is about all vaults of the table `[vaults]`. Loads no configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import (
    default_vault,
    enclosing_vault_here,
    vaults_in_config,
    vaults_to_choose,
)


def keeps_all(selection: VaultSelection, environ: Mapping[str, str]) -> bool:
    """Whether a daemon that is started so keeps all vaults of the table: no vault and no index is named, and
    it does not start in a vault that the table lacks."""
    if names_one(selection, environ):
        return False
    table = vaults_in_config(selection, environ)
    around = enclosing_vault_here(selection, environ) if table else None
    return bool(table) and (around is None or any(around == folder.resolve() for folder in table.values()))


def asks_all(selection: VaultSelection, environ: Mapping[str, str]) -> bool:
    """Whether a question means all vaults of the table: there are several, it names none, is not asked in
    one, and there is no key `vault` that says which is meant then."""
    if names_one(selection, environ) or enclosing_vault_here(selection, environ) is not None:
        return False
    return default_vault(selection, environ) is None and len(vaults_in_config(selection, environ)) > 1


def vaults_meant(selection: VaultSelection, environ: Mapping[str, str]) -> dict[str, Path]:
    """The vaults that a question about each of them means, by name: those of the table, else all that were
    indexed. Empty where it names one, is asked in one, or there is no choice."""
    if names_one(selection, environ) or enclosing_vault_here(selection, environ) is not None:
        return {}
    found = vaults_to_choose(selection, environ)
    return found if len(found) > 1 else {}


def names_one(selection: VaultSelection, environ: Mapping[str, str]) -> bool:
    """Whether a vault or an index is named."""
    named = (
        selection.vault,
        environ.get("INDEXER_VAULT"),
        selection.index_dir,
        environ.get("INDEXER_INDEX_DIR"),
    )
    return any(named)
