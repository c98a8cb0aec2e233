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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_indexer.api import AsyncVault, Vault, VaultGroup, open_all_vaults, open_vault, open_vault_async
    from vault_indexer.llamaindex import VaultNodeParser, VaultRetriever

__all__ = [
    "AsyncVault",
    "Vault",
    "VaultGroup",
    "VaultNodeParser",
    "VaultRetriever",
    "open_all_vaults",
    "open_vault",
    "open_vault_async",
]

_IN_LLAMAINDEX = frozenset({"VaultNodeParser", "VaultRetriever"})


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "vault_indexer.llamaindex" if name in _IN_LLAMAINDEX else "vault_indexer.api"
    value: object = getattr(importlib.import_module(module), name)
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
