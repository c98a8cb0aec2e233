"""A path that fails by itself stays alone, whatever fails beside it later."""

import pytest

from vault_indexer.vault.dirty import FailedEdits


def test_a_path_that_fails_by_itself_joins_no_later_group() -> None:
    now = [0.0]
    edits = FailedEdits(lambda: now[0])
    edits.fail(["a", "b"])
    edits.retry_all()
    edits.fail(edits.next_due() or ())
    assert len(edits) == 2
    edits.fail(["a", "c"])
    assert len(edits) == 3
    now[0] = 100.0
    tried = set()
    while (group := edits.next_due()) is not None:
        tried.add(group)
        edits.drop(group)
    assert tried == {frozenset("a"), frozenset("b"), frozenset("c")}


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def due(edits: FailedEdits) -> set[str] | None:
    found = edits.next_due()
    return None if found is None else set(found)


@pytest.mark.parametrize(("seconds", "wait"), [(0.0, 3.0), (0.3, 3.0), (0.5, 5.0), (6.0, 60.0), (99.0, 60.0)])
def test_the_wait_is_ten_times_as_long_as_the_try_up_to_a_minute(seconds: float, wait: float) -> None:
    clock = Clock()
    edits = FailedEdits(clock)
    edits.fail(["a"], seconds)
    clock.now += wait - 0.25
    assert edits.next_due() is None
    clock.now += 0.25
    assert due(edits) == {"a"}


def test_while_nothing_succeeds_one_group_is_tried_at_a_time() -> None:
    clock = Clock()
    edits = FailedEdits(clock)
    for paths in (["a", "b"], ["c"], []):
        edits.fail(paths)
    assert len(edits) == 3
    assert edits.paths == {"a", "b", "c"}
    clock.now += 3
    assert due(edits) == {"a", "b"}
    edits.fail(["a", "b"], 0.5)
    assert edits.next_due() is None, "the other waits as well"
    clock.now += 4.75
    assert edits.next_due() is None
    clock.now += 0.25
    assert due(edits) == {"c"}
    edits.drop(["c"])
    assert due(edits) == {"a"}, "a group that has failed is halved"
    edits.drop(["a"])
    assert due(edits) == {"b"}


def test_after_a_success_all_that_failed_is_tried_once_together_and_then_by_halves() -> None:
    clock = Clock()
    edits = FailedEdits(clock)
    edits.fail(["c", "b", "a"])
    edits.fail(["e", "d"])
    edits.retry_all()
    assert due(edits) == {"a", "b", "c", "d", "e"}
    edits.fail(edits.paths)
    assert due(edits) == {"a", "b", "c"}
    edits.drop(["a", "b", "c"])
    assert due(edits) == {"d", "e"}
    edits.fail(["d", "e"])
    tried = due(edits)
    assert tried == {"d"}
    edits.fail(["d"])
    assert due(edits) == {"e"}
    edits.drop(["e"])
    assert edits.next_due() is None, "a path that fails by itself waits"
    edits.retry_all()
    assert edits.next_due() is None
    clock.now += 3
    assert due(edits) == {"d"}


def test_what_is_indexed_no_longer_counts_but_for_what_is_kept() -> None:
    edits = FailedEdits(Clock())
    edits.fail(["a", "b"])
    edits.fail(["c"])
    edits.drop(["a", "c", "z"], kept=["c"])
    assert edits.paths == {"b", "c"}
    edits.drop([""], kept=["b"])
    assert (set(edits.paths), len(edits)) == ({"b"}, 1)
    edits.drop([""])
    assert (len(edits), edits.next_due(), edits.paths) == (0, None, frozenset())
    edits.retry_all()
    assert len(edits) == 0
