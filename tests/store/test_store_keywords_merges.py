"""Which segments are merged, by a commit and between edits; of full ones none, ever."""

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

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


def held(sizes: str) -> list[Counted]:
    """Segments by their sizes: so many times so many documents, and those deleted behind a minus sign."""
    found = []
    for group in sizes.split():
        count, _, size = group.rpartition("x")
        live, _, deleted = size.partition("-")
        found += [Counted(int(live), int(deleted or 0))] * int(count or 1)
    return found


def shown(segments: list[Counted]) -> str:
    groups = ((len(list(same)), live) for live, same in groupby(one.live for one in segments))
    return " ".join(f"{count}x{live}" for count, live in groups) or "none"


def test_segments_are_merged_as_the_golden_says() -> None:
    def rewritten(sizes: str) -> str:
        segments = held(sizes)
        by_commit, later = segments_to_merge(segments, 1), segments_to_merge_later(segments)
        assert {tuple(by_commit), tuple(later)} <= {(), tuple(segments)}
        return f"{bool(by_commit)}, {bool(later)}"

    check_golden(
        Path(__file__).parent / "fixtures" / "merges.md",
        {
            "A commit merges a tier that is full": of_parts(
                lambda sizes, added: shown(segments_to_merge(held(sizes), int(added)))
            ),
            "Between edits a tier of more than four becomes one segment": lambda sizes: shown(
                segments_to_merge_later(held(sizes))
            ),
            "A segment that is mostly deleted is written again": rewritten,
        },
    )


def test_a_segment_is_merged_once_for_whatever_reason() -> None:
    four, five = ([Counted(3, 90)] * count for count in (4, 5))
    assert (segments_to_merge(four, 1), segments_to_merge_later(five)) == (four, five)
