"""Which segments a commit rewrites, so that there are few of them and no commit takes long.

Segments stand in tiers by size, each eight times the one before. A tier that would hold more than
`PER_TIER` is merged into one segment of the next; the largest are left alone. A document is thus rewritten
at most once a tier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whoosh.codec.whoosh3 import W3Segment

PER_TIER = 4
TIERS = (64, 512, 4096, 32_768)
"""Upper bounds of the tiers, in live documents; a segment beyond the last is never merged."""


def segments_to_merge(segments: Sequence[W3Segment], added: int) -> list[W3Segment]:
    """Those to write again together with `added` new documents; often none."""
    tiers: dict[int, list[W3Segment]] = defaultdict(list)
    for segment in segments:
        tiers[_tier(segment.doc_count())].append(segment)
    chosen: list[W3Segment] = []
    size = added
    for tier in range(len(TIERS)):
        if _tier(size) > tier or not (size or chosen):
            continue
        if len(tiers[tier]) < PER_TIER:
            break
        chosen += tiers[tier]
        size += sum(segment.doc_count() for segment in tiers[tier])
    return chosen + [one for one in segments if one not in chosen and _mostly_deleted(one)]


def _tier(documents: int) -> int:
    return sum(documents > bound for bound in TIERS)


def _mostly_deleted(segment: W3Segment) -> bool:
    live: int = segment.doc_count()
    return 0 < live <= TIERS[-1] and int(segment.deleted_count()) > live
