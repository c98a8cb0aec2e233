"""Pools that share slots: no more at work, and no more alive, than there are slots."""

import threading
from functools import partial

import pytest
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


def test_places_can_become_more_or_fewer() -> None:
    slots = Slots(1)
    assert (slots.try_acquire(1), slots.try_acquire(2)) == (True, False)
    slots.resize(2)
    assert (slots.try_acquire(2), slots.try_acquire(3)) == (True, False)
    slots.resize(1)
    slots.release(1)
    assert (slots.try_acquire(2), slots.try_acquire(3)) == (True, False), "who has one keeps it"


@pytest.mark.parametrize(
    ("slots", "pools", "ended"), [(2, [1, 2, 1, 3], [2]), (4, [1, 2, 3, 4], []), (4, [1, 2, 3, 4, 5], [1])]
)
def test_of_too_many_pools_the_one_that_rests_longest_ends_its_workers(
    slots: int, pools: list[int], ended: list[int]
) -> None:
    shared, found = Slots(slots), list[int]()
    for number in pools:
        with shared.at_work(number, partial(found.append, number), lambda: False) as has_slot:
            assert has_slot
    assert found == ended


def test_a_pool_that_is_forgotten_does_not_count_among_those_alive() -> None:
    slots, ended = Slots(2), list[str]()
    for name in ("a", "b"):
        with slots.at_work(name, partial(ended.append, name), lambda: False):
            pass
    slots.forget("a")
    slots.forget("none")
    for name, expected in (("c", []), ("d", ["b"])):
        with slots.at_work(name, partial(ended.append, name), lambda: False):
            assert ended == expected


def test_a_slot_is_given_back_by_a_block_that_fails() -> None:
    slots = Slots()
    with pytest.raises(ZeroDivisionError), slots.at_work(1, lambda: None, lambda: False):
        assert not slots.try_acquire(2)
        raise ZeroDivisionError
    assert slots.try_acquire(2)
