"""Which segments are written again as one, and by whom, so that there are few and nobody waits for it.

Segments stand in tiers by size, each eight times the one before. A commit, which somebody waits for, merges
small ones only. The rest is done between edits (`KeywordIndex.tidy`): a tier that holds more than
`PER_TIER` becomes one segment of the next, and what is mostly deleted is rewritten; the largest are left
alone. A document is thus rewritten at most once a tier. Where nobody tidies (commands without a daemon), a
commit also does that, but late: when it is either much overdue or little work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whoosh.codec.whoosh3 import W3Segment

PER_TIER = 4
TIERS = (64, 512, 4096, 16_384)
"""Upper bounds of the tiers, in live documents. A segment beyond the last is never merged: two of these are
more than one segment holds (`segment_writer.MAX_DOCUMENTS`), and would be written again as they were, for
ever."""

LATE_PER_TIER = 16
_LATE_DELETED = 8
_QUICK_TIERS = 2


def segments_to_merge(segments: Sequence[W3Segment], added: int) -> list[W3Segment]:
    """Those that a commit writes again together with `added` new documents; often none."""
    chosen = _full_tiers(segments, added, _limit_of_commit)
    return chosen + [one for one in segments if one not in chosen and _is_deleted(one, _LATE_DELETED)]


def segments_to_merge_later(segments: Sequence[W3Segment]) -> list[W3Segment]:
    """Those to rewrite between edits; none if all is in order."""
    chosen = _full_tiers(segments, 0, lambda _tier: PER_TIER + 1)
    return chosen + [one for one in segments if one not in chosen and _is_deleted(one, 1)]


def _full_tiers(segments: Sequence[W3Segment], added: int, limit: Callable[[int], int]) -> list[W3Segment]:
    """The segments of full tiers: of the lowest one, and of those above that what is merged falls into."""
    tiers: dict[int, list[W3Segment]] = defaultdict(list)
    for segment in segments:
        tiers[_tier(segment.doc_count())].append(segment)
    chosen: list[W3Segment] = []
    size = added
    for tier in range(len(TIERS)):
        if size and _tier(size) > tier:
            continue
        if len(tiers[tier]) < limit(tier):
            if size:
                break
            continue
        chosen += tiers[tier]
        size += sum(segment.doc_count() for segment in tiers[tier])
    return chosen


def _limit_of_commit(tier: int) -> int:
    return PER_TIER if tier < _QUICK_TIERS else LATE_PER_TIER


def _tier(documents: int) -> int:
    return sum(documents > bound for bound in TIERS)


def _is_deleted(segment: W3Segment, times: int) -> bool:
    """Whether more documents are deleted than `times` the live ones (all deleted: it is dropped anyway)."""
    live: int = segment.doc_count()
    return 0 < live <= TIERS[-1] and int(segment.deleted_count()) > times * live
