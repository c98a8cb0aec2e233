"""The link graph: neighbours from the catalog, whole-graph work by networkx, known only here."""

from __future__ import annotations

from vault_indexer.store.graph.communities import communities
from vault_indexer.store.graph.graph import Arrival, LinkGraph, LinkText
from vault_indexer.store.graph.places import LinkPlaces

__all__ = ["Arrival", "LinkGraph", "LinkPlaces", "LinkText", "communities"]
