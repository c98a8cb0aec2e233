"""Answers questions about links: links and backlinks of a note, unlinked mentions, related notes, unresolved
links, and the graph of some notes or of the whole vault. It also finds the note for a name."""

from __future__ import annotations

from vault_indexer.links.mentions import mentions
from vault_indexer.links.neighbourhood import MAX_DEPTH, MAX_NODES, cluster_map, neighbourhood
from vault_indexer.links.note_links import (
    links_of,
    links_of_draft,
    mark_missing_parts,
    orphans,
    unresolved_links,
)
from vault_indexer.links.note_names import note_hint, note_of, part_of, path_of, vault_path
from vault_indexer.links.related import related_notes

__all__ = [
    "MAX_DEPTH",
    "MAX_NODES",
    "cluster_map",
    "links_of",
    "links_of_draft",
    "mark_missing_parts",
    "mentions",
    "neighbourhood",
    "note_hint",
    "note_of",
    "orphans",
    "part_of",
    "path_of",
    "related_notes",
    "unresolved_links",
    "vault_path",
]
