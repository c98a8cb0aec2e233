"""A path that fails by itself stays alone, whatever fails beside it later."""

from __future__ import annotations

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
