"""A path that fails by itself stays alone, whatever fails beside it later."""

from __future__ import annotations

import pytest

from vault_indexer.vault.failed_edits import FailedEdits


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


class Edits:
    """Failed edits at a time that a test says, each path a letter."""

    def __init__(self, first_s: float = 3.0) -> None:
        self.now = 0.0
        self.edits = FailedEdits(lambda: self.now, first_s)

    def due(self, now: float) -> str:
        self.now = now
        return "".join(sorted(self.edits.next_due() or ()))


@pytest.mark.parametrize(("took", "wait"), [(0.0, 3.0), (0.3, 3.0), (0.5, 5.0), (50.0, 60.0)])
def test_what_failed_waits_three_seconds_or_ten_times_as_long_as_the_try(took: float, wait: float) -> None:
    kept = Edits()
    assert kept.due(99.0) == ""
    kept.edits.fail("ab", took)
    assert (kept.due(98.9 + wait), kept.due(99.0 + wait)) == ("", "ab")
    assert (len(kept.edits), kept.edits.paths) == (2, frozenset("ab"))


def test_while_nothing_succeeds_one_group_is_tried_at_a_time() -> None:
    kept = Edits()
    kept.edits.fail("ab")
    kept.edits.fail("c")
    assert kept.due(3.0) == "ab"
    kept.edits.fail("ab")
    assert (kept.due(5.9), kept.due(6.0)) == ("", "c"), "a try in vain holds the others back"
    kept.edits.fail("c")
    assert (kept.due(8.9), kept.due(9.0)) == ("", "a")


def test_a_success_makes_one_group_of_all_which_is_halved_until_the_faulty_path_is_alone() -> None:
    kept = Edits()
    for path in "abcde":
        kept.edits.fail(path)
    assert kept.due(1.0) == ""
    kept.edits.retry_all()
    tried = []
    while group := kept.due(1.0):
        tried.append(group)
        if "d" in group:
            kept.edits.fail(group)
        else:
            kept.edits.drop({*group})
    assert tried == ["abcde", "abc", "de", "d", "e"]
    assert kept.edits.paths == {"d"}
    assert (kept.due(3.9), kept.due(4.0)) == ("", "d")
    kept.edits.fail("d")
    kept.edits.retry_all()
    assert kept.due(6.9) == "", "its failure is its own: a success changes nothing"
    assert kept.due(7.0) == "d"


def test_a_success_ends_the_wait_of_a_group_that_was_tried_in_vain() -> None:
    kept = Edits(first_s=20.0)
    kept.edits.fail("ab")
    assert kept.due(20.0) == "ab"
    kept.edits.fail("ab")
    assert kept.due(30.0) == ""
    kept.edits.retry_all()
    assert kept.due(30.0) == "ab"


def test_what_is_as_it_is_indexed_has_not_failed() -> None:
    kept = Edits()
    kept.edits.fail("abc")
    kept.edits.drop({"a", "b"}, kept={"b"})
    assert kept.edits.paths == frozenset("bc")
    kept.edits.fail({"whole/folder"})
    kept.edits.drop({""}, kept={"c"})
    assert (kept.edits.paths, len(kept.edits)) == (frozenset("c"), 1)
    kept.edits.drop({"c"})
    assert (len(kept.edits), kept.due(99.0)) == (0, "")
    kept.edits.retry_all()
    assert kept.due(99.0) == ""
