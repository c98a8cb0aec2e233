"""Several vaults in one server, each with its own service."""

from __future__ import annotations

from vault_indexer.vaults.managed import ClosedVault, ManagedVault, OpenVault, VaultRuntime
from vault_indexer.vaults.vaults import Vaults, VaultSupervisor, VaultTable

__all__ = [
    "ClosedVault",
    "ManagedVault",
    "OpenVault",
    "VaultRuntime",
    "VaultSupervisor",
    "VaultTable",
    "Vaults",
]
