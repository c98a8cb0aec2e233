"""Which segments are merged in an index of many full ones: none of these, ever."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from vault_indexer.store.keywords.merge_policy import segments_to_merge, segments_to_merge_later
from vault_indexer.store.keywords.segment_writer import MAX_DOCUMENTS


@dataclass(frozen=True)
class Counted:
    """As much of a segment as the policy looks at."""

    live: int
    deleted: int = 0

    def doc_count(self) -> int:
        return self.live

    def deleted_count(self) -> int:
        return self.deleted


@pytest.mark.parametrize("deleted", [0, 1, 1_000])
def test_full_segments_are_left_alone_however_many_there_are(deleted: int) -> None:
    full = [Counted(MAX_DOCUMENTS - deleted, deleted) for _ in range(40)]
    assert segments_to_merge(full, 3) == []
    assert segments_to_merge_later(full) == []


def test_smaller_ones_beside_them_are_merged() -> None:
    full, small = [Counted(MAX_DOCUMENTS)] * 30, [Counted(600)] * 5
    assert segments_to_merge_later([*full, *small]) == small


def test_a_full_segment_that_is_mostly_deleted_is_written_again() -> None:
    mostly = Counted(MAX_DOCUMENTS // 4, MAX_DOCUMENTS // 4 * 3)
    assert segments_to_merge_later([Counted(MAX_DOCUMENTS), mostly]) == [mostly]
