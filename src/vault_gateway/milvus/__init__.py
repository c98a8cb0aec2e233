"""The derived indices of many vaults on a Milvus server. Only this package uses Milvus.

`MilvusVaults` provides the published vaults and their states, `MilvusPublisher` writes the notes of one
vault, and `MilvusRetriever` searches those of a scope.
"""

from __future__ import annotations

from vault_gateway.milvus.connection import CollectionMissingError, MilvusConnection, TokenMissingError
from vault_gateway.milvus.publisher import MilvusPublisher
from vault_gateway.milvus.retriever import MilvusRetriever
from vault_gateway.milvus.schema import CollectionLayout, collection_name
from vault_gateway.milvus.vaults import (
    MilvusVaults,
    OutdatedStateError,
    VaultState,
    place_digest,
    require_version,
)

__all__ = [
    "CollectionLayout",
    "CollectionMissingError",
    "MilvusConnection",
    "MilvusPublisher",
    "MilvusRetriever",
    "MilvusVaults",
    "OutdatedStateError",
    "TokenMissingError",
    "VaultState",
    "collection_name",
    "place_digest",
    "require_version",
]
