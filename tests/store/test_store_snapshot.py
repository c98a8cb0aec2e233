"""Who leases a snapshot, and who waits until nobody does."""

from __future__ import annotations

import threading
from typing import cast

import pytest

from vault_indexer.errors import IndexUnusableError
from vault_indexer.store.snapshot import Snapshot, SnapshotHolder

LONG_S = 3600.0


class Closable:
    """What a holder closes of a snapshot."""

    def close(self) -> None:
        """Nothing is open."""


class Leased:
    """What a holder needs of a snapshot."""

    catalog = Closable()


@pytest.fixture
def holder() -> SnapshotHolder:
    made = SnapshotHolder()
    made.publish(cast("Snapshot", Leased()))
    return made


def test_it_is_quiet_before_anybody_has_read(holder: SnapshotHolder) -> None:
    assert holder.wait_for_quiet(LONG_S, 0)


def test_it_is_not_quiet_while_somebody_reads_and_for_some_time_after(holder: SnapshotHolder) -> None:
    with holder.lease(), holder.lease():
        assert not holder.wait_for_quiet(0, 0)
    assert not holder.wait_for_quiet(LONG_S, 0)
    assert holder.wait_for_quiet(0, 0)


def test_a_lease_in_the_background_does_not_count(holder: SnapshotHolder) -> None:
    with holder.lease_in_background():
        assert holder.wait_for_quiet(LONG_S, 0)
    assert holder.wait_for_quiet(LONG_S, 0)


def test_a_lease_that_was_refused_counts_as_ended() -> None:
    empty = SnapshotHolder()
    with pytest.raises(IndexUnusableError), empty.lease():
        pass
    assert empty.wait_for_quiet(0, 0)


def test_who_waits_goes_on_when_the_last_reader_has_ended(holder: SnapshotHolder) -> None:
    quiet: list[bool] = []
    waiting = threading.Thread(target=lambda: quiet.append(holder.wait_for_quiet(0, LONG_S)))
    with holder.lease():
        waiting.start()
    waiting.join(60)
    assert quiet == [True]
