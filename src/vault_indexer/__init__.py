"""Local search for Markdown vaults: by meaning, by word and by link.

    from vault_indexer import open_vault

    with open_vault("~/Notes") as vault:
        for hit in vault.search("how to prune an apple tree").results:
            print(hit.path, hit.start_line, hit.snippet)

The names below are loaded when they are first used: LlamaIndex, on which some of them are built, takes
seconds to import.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_indexer.api import Vault, VaultGroup, open_all_vaults, open_vault
    from vault_indexer.llamaindex import VaultNodeParser, VaultRetriever

__all__ = ["Vault", "VaultGroup", "VaultNodeParser", "VaultRetriever", "open_all_vaults", "open_vault"]

_ROOMS: Mapping[str, str] = MappingProxyType(
    {
        "Vault": "vault_indexer.api",
        "VaultGroup": "vault_indexer.api",
        "VaultNodeParser": "vault_indexer.llamaindex",
        "VaultRetriever": "vault_indexer.llamaindex",
        "open_vault": "vault_indexer.api",
        "open_all_vaults": "vault_indexer.api",
    }
)


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(importlib.import_module(_ROOMS[name]), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
