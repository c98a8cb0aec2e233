"""Integration with LlamaIndex pipelines: chunking as a node parser, and the index as a retriever.

This package imports LlamaIndex, so no other part of `vault_indexer` imports this package: `vault_indexer`
loads it on demand.
"""

from vault_indexer.llamaindex.node_parser import VaultNodeParser
from vault_indexer.llamaindex.retriever import VaultRetriever

__all__ = ["VaultNodeParser", "VaultRetriever"]
