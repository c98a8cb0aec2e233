"""A hit for tests that look at a few of its fields."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vault_indexer.model import Hit, Why

NO_REASON = Why(vector=None, keyword=None, graph=None, recency=1.0)

_HIT = Hit(
    path="n.md",
    title="",
    header_path="",
    chunk_id="c",
    chunk_index=0,
    start_pos=0,
    end_pos=1,
    start_line=1,
    end_line=1,
    score=1.0,
    snippet="",
    content="",
    modified_time="",
    tags=(),
    stale=False,
    why=NO_REASON,
)


def make_hit(path: str, **fields: Any) -> Hit:
    """A hit of this file, with no reason, in the first line, and these fields."""
    return replace(_HIT, path=path, **fields)
