"""Obsidian's bases: tables of the vault's files, with filters and formulas in a small closed language.

Nothing of a base is executed: `expressions` parses a closed language with the functions in `functions`.
Anything not in their tables is an error that names it.
"""

from vault_indexer.bases.definition import (
    BaseDefinition,
    choose_view,
    read_definition,
    read_definitions_in_note,
)
from vault_indexer.bases.rows import base_view
from vault_indexer.bases.scope import VaultFiles

__all__ = [
    "BaseDefinition",
    "VaultFiles",
    "base_view",
    "choose_view",
    "read_definition",
    "read_definitions_in_note",
]
