"""The keyword index: Whoosh segments on disk, BM25F by numpy over them. Only this package uses Whoosh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_indexer.store.keywords.index import KeywordIndex
from vault_indexer.store.keywords.lexicon import Lexicon, edit_distances
from vault_indexer.store.keywords.memory_segment import (
    TermCounts,
    Vocabulary,
    count_terms,
    snapshot_of_documents,
)
from vault_indexer.store.keywords.schema import FIELD_WEIGHTS, FIELDS, FieldWeights, KeywordDocument
from vault_indexer.store.keywords.snapshot import KeywordSnapshot, held_weight
from vault_indexer.store.keywords.whoosh_segment import SegmentBuilder

if TYPE_CHECKING:
    from vault_indexer.store.keywords.whoosh_segment import Segment as Segment

__all__ = [
    "FIELDS",
    "FIELD_WEIGHTS",
    "FieldWeights",
    "KeywordDocument",
    "KeywordIndex",
    "KeywordSnapshot",
    "Lexicon",
    "SegmentBuilder",
    "TermCounts",
    "Vocabulary",
    "count_terms",
    "edit_distances",
    "held_weight",
    "snapshot_of_documents",
]
