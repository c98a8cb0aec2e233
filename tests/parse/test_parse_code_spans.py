"""What the text of a code span is, where it is shown without its ticks."""

from __future__ import annotations

import pytest

from vault_indexer.parse.plain import plain


@pytest.mark.parametrize(
    ("source", "shown"),
    [("`` `a` ``", "`a`"), ("x` b`y", "x by"), ("x`b `y", "xb y"), ("x`  `y", "x  y"), ("x`  b `y", "x by")],
)
def test_one_blank_is_removed_where_both_ends_have_one(source: str, shown: str) -> None:
    assert plain(source) == shown
