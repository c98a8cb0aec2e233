"""Answers about links: links and backlinks of a note, unlinked mentions, related notes, unresolved links."""

from __future__ import annotations

from vault_indexer.links.links import links_of, orphans, unresolved_links
from vault_indexer.links.mentions import mentions
from vault_indexer.links.related import related_notes

__all__ = ["links_of", "mentions", "orphans", "related_notes", "unresolved_links"]
