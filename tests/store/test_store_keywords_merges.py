"""Which segments are merged, by a commit and between edits; of full ones none, ever."""

from dataclasses import dataclass

import pytest

from vault_indexer.store.keywords.index import segments_to_merge, segments_to_merge_later
from vault_indexer.store.keywords.whoosh_segment import MAX_DOCUMENTS


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


def sizes(segments: list[Counted]) -> list[int]:
    return [segment.live for segment in segments]


@pytest.mark.parametrize(
    ("held", "added", "merged"),
    [
        ([64] * 3, 1, []),
        ([64] * 4, 1, [64] * 4),
        ([64, 65, 64, 65, 64], 1, []),
        ([64] * 4, 0, [64] * 4),
        ([64] * 4, 64, [64] * 4),
        ([64] * 4, 65, []),
        ([512] * 15, 65, []),
        ([512] * 16, 65, [512] * 16),
        ([512] * 15 + [64] * 4, 1, [64] * 4),
        ([512] * 16 + [64] * 4, 1, [64] * 4 + [512] * 16),
        ([512] * 16 + [10] * 4, 1, [10] * 4 + [512] * 16),
        ([512] * 15 + [10] * 4, 1, [10] * 4),
        ([4096] * 15, 513, []),
        ([4096] * 16, 513, [4096] * 16),
        ([513] * 16, 0, [513] * 16),
        ([16_384] * 16, 0, [16_384] * 16),
        ([16_385] * 16, 0, []),
    ],
)
def test_a_commit_merges_a_tier_that_is_full(held: list[int], added: int, merged: list[int]) -> None:
    assert sizes(segments_to_merge([Counted(live) for live in held], added)) == merged


@pytest.mark.parametrize(
    ("held", "merged"),
    [
        ([64] * 4, []),
        ([64] * 5, [64] * 5),
        ([600] * 4 + [64] * 4, []),
        ([600] * 5 + [64] * 4, [600] * 5),
        ([16_384] * 5, [16_384] * 5),
        ([16_385] * 5, []),
        ([600] * 5 + [64] * 5, [64] * 5),
        ([500] * 5 + [128] * 5, [500] * 5 + [128] * 5),
    ],
)
def test_between_edits_a_tier_of_more_than_four_becomes_one_segment(
    held: list[int], merged: list[int]
) -> None:
    assert sizes(segments_to_merge_later([Counted(live) for live in held])) == merged


@pytest.mark.parametrize(
    ("live", "deleted", "by_commit", "later"),
    [
        (10, 10, False, False),
        (10, 11, False, True),
        (10, 80, False, True),
        (10, 81, True, True),
        (0, 100, False, False),
        (1, 9, True, True),
        (16_384, 16_385, False, True),
        (16_385, 200_000, False, False),
    ],
)
def test_a_segment_that_is_mostly_deleted_is_written_again(
    live: int, deleted: int, by_commit: bool, later: bool
) -> None:
    segment = Counted(live, deleted)
    assert segments_to_merge([segment], 1) == [segment] * by_commit
    assert segments_to_merge_later([segment]) == [segment] * later


def test_a_segment_is_merged_once_for_whatever_reason() -> None:
    held = [Counted(3, 90)] * 4
    assert segments_to_merge(held, 1) == held
    assert segments_to_merge_later([*held, Counted(3, 90)]) == [Counted(3, 90)] * 5
