"""Several vaults in one server, each with its own service."""

from __future__ import annotations

from vault_indexer.vaults.managed import ClosedVault, ManagedVault, OpenVault, VaultRuntime
from vault_indexer.vaults.supervisor import VaultSupervisor, VaultTable
from vault_indexer.vaults.vaults import Vaults

__all__ = [
    "ClosedVault",
    "ManagedVault",
    "OpenVault",
    "VaultRuntime",
    "VaultSupervisor",
    "VaultTable",
    "Vaults",
]
