"""The fields of a document of the keyword index, their weights, and the Whoosh schema."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from vault_indexer.system import record

if TYPE_CHECKING:
    from whoosh.fields import Schema

FIELDS = ("title", "aliases", "headers", "tags", "path", "content", "properties")
"""Scored fields, in the order of every per-field array. A segment on disk names its own fields, so a segment
that was written with more of them stays readable."""

KEY_COLUMN = "key"
INDEX_NAME = "MAIN"


@record
class KeywordDocument:
    """A chunk as lists of index terms (`text.analyze`); `key` is the catalog's chunk key (int64)."""

    key: int
    title: list[str] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    content: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)


@record
class FieldWeight:
    """`boost` multiplies the field's score; `b` in [0, 1] is the degree of BM25's length normalisation."""

    boost: float = 1.0
    b: float = 0.75


@record
class FieldWeights:
    """Parameters of BM25F, chosen at query time. `k1` controls the saturation of term frequency.

    The boosts were chosen with `benchmarks/search_quality.py`: with 3, 3, 2 and 1 for title, aliases, headers
    and path, nDCG@10 on the large vault was .03 lower. k1 and the b of the lengths changed it by less than
    .01.
    """

    title: FieldWeight = FieldWeight(2.0, 0.4)
    aliases: FieldWeight = FieldWeight(2.0, 0.4)
    headers: FieldWeight = FieldWeight(1.0, 0.5)
    tags: FieldWeight = FieldWeight(1.5, 0.3)
    path: FieldWeight = FieldWeight(0.5, 0.4)
    content: FieldWeight = FieldWeight(1.0, 0.75)
    properties: FieldWeight = FieldWeight(1.0, 0.4)
    k1: float = 1.2

    def of(self, name: str) -> FieldWeight:
        """The weight of one of `FIELDS`."""
        weight: FieldWeight = getattr(self, name)
        return weight


FIELD_WEIGHTS = FieldWeights()
"""The default weights of the fields in a search."""


def keyword_schema() -> Schema:
    """Term frequencies without positions: phrases are verified on the text. The key is a column."""
    from whoosh.columns import NumericColumn
    from whoosh.fields import COLUMN, KEYWORD, Schema

    scored = {name: KEYWORD(scorable=True) for name in FIELDS}
    return Schema(**scored, **{KEY_COLUMN: COLUMN(NumericColumn("q"))})
