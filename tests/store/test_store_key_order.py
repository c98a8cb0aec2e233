"""Documents by key: what is deleted is not found, and whatever order the segments have, all else is."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.store.keywords.snapshot import KeyOrder

KEYS = st.lists(st.integers(0, 30), unique=True, max_size=12)


@given(KEYS, st.data())
def test_the_positions_of_keys_and_of_ranges(keys: list[int], data: st.DataObject) -> None:
    live = data.draw(st.lists(st.booleans(), min_size=len(keys), max_size=len(keys)))
    borders = sorted(data.draw(st.lists(st.integers(0, 31), max_size=6)))
    wanted = sorted(data.draw(KEYS))
    order = KeyOrder(np.array(keys, np.int64), np.array(live, bool))
    position = {key: at for at, (key, alive) in enumerate(zip(keys, live, strict=True)) if alive}
    assert order.holds(np.array(wanted, np.int64)).tolist() == [key in position for key in wanted]
    found = order.positions_of(np.array(wanted, np.int64))
    assert found.tolist() == [position[key] for key in wanted if key in position]
    firsts, ends = borders[::2], borders[1::2]
    firsts = firsts[: len(ends)]
    owners, within = order.positions_between(np.array(firsts, np.int64), np.array(ends, np.int64))
    expected = [
        (owner, position[key])
        for owner, (first, end) in enumerate(zip(firsts, ends, strict=True))
        for key in range(first, end)
        if key in position
    ]
    assert list(zip(owners.tolist(), within.tolist(), strict=True)) == expected


@given(KEYS, st.data())
def test_the_keys_at_positions_are_those_of_live_documents_once_each(
    keys: list[int], data: st.DataObject
) -> None:
    live = data.draw(st.lists(st.booleans(), min_size=len(keys), max_size=len(keys)))
    at = data.draw(st.lists(st.integers(0, len(keys) - 1))) if keys else []
    order = KeyOrder(np.array(keys, np.int64), np.array(live, bool))
    found = order.keys_at(np.array(at, np.int32))
    assert found.tolist() == sorted({keys[place] for place in at if live[place]})
