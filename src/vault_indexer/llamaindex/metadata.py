"""Which metadata of a node is for programs only."""

from __future__ import annotations

UNSHOWN_KEYS = (
    "start_char",
    "end_char",
    "start_line",
    "end_line",
    "chunk_index",
    "strategy",
    "overlap",
    "context",
    "embed",
    "modified_time",
    "stale",
    "doc_id",
    "wikilinks",
    "aliases",
    "frontmatter",
)
"""Numbers and flags that would only be noise to a model that embeds or reads a node."""
