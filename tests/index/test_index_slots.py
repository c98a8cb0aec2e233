"""Pools that share slots: no more at work, and no more alive, than there are slots."""

from __future__ import annotations

import threading

from waiting import wait_until

from vault_indexer.index.workers.pool import Slots


def test_a_pool_waits_while_all_places_are_taken() -> None:
    slots = Slots(1)
    began, done = threading.Event(), threading.Event()

    def work() -> None:
        with slots.at_work(2, lambda: None, lambda: False) as has_slot:
            assert has_slot
            began.set()
        done.set()

    with slots.at_work(1, lambda: None, lambda: False):
        other = threading.Thread(target=work)
        other.start()
        assert not began.wait(0.3)
        with slots.at_work(3, lambda: None, lambda: True) as has_slot:
            assert not has_slot
    wait_until(done.is_set)
    other.join()


def test_the_pool_that_rests_longest_ends_its_workers() -> None:
    slots, ended = Slots(2), []
    for number in (1, 2, 1, 3):
        with slots.at_work(number, lambda number=number: ended.append(number), lambda: False):  # type: ignore[misc]
            pass
    assert ended == [2]
    slots.forget(1)
    with slots.at_work(4, lambda: ended.append(4), lambda: False):
        assert ended == [2]


def test_a_pool_at_work_keeps_its_workers() -> None:
    slots, ended = Slots(2), []
    with slots.at_work(1, lambda: ended.append(1), lambda: False):
        for number in (2, 3):
            with slots.at_work(number, lambda number=number: ended.append(number), lambda: False):  # type: ignore[misc]
                pass
    assert ended == [2]


def test_turns_are_had_one_at_a_time() -> None:
    slot, one, other = Slots(), object(), object()
    assert slot.try_acquire(one)
    assert slot.try_acquire(one)
    assert not slot.try_acquire(other)
    slot.release(other)
    assert not slot.try_acquire(other)
    slot.release(one)
    assert slot.try_acquire(other)


def test_pools_that_rest_keep_their_workers_while_there_is_room() -> None:
    slots, ended = Slots(4), []
    for number in range(1, 5):
        with slots.at_work(number, lambda number=number: ended.append(number), lambda: False):  # type: ignore[misc]
            assert ended == []
    with slots.at_work(5, lambda: ended.append(5), lambda: False):
        assert ended == [1]


def test_places_can_become_more_or_fewer() -> None:
    slots = Slots(1)
    assert (slots.try_acquire(1), slots.try_acquire(2)) == (True, False)
    slots.resize(2)
    assert (slots.try_acquire(2), slots.try_acquire(3)) == (True, False)
    slots.resize(1)
    slots.release(1)
    assert (slots.try_acquire(2), slots.try_acquire(3)) == (True, False), "who has one keeps it"
