"""Several vaults beside each other: each with its own service, all answered for by one server."""

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
