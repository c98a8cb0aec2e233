"""A bounded cache: what goes, what stays, and what it counts; and long lists in parts."""

from collections.abc import Mapping

import pytest

from vault_indexer.system import LruCache, batches


def test_what_was_asked_for_last_stays_within_the_bound() -> None:
    asked: list[list[int]] = []

    def read(keys: list[int]) -> Mapping[int, str]:
        asked.append(keys)
        return {key: str(key) for key in keys if key < 9}

    cache: LruCache[int, str] = LruCache(3)
    assert cache.get_all([1, 2, 3, 3], read) == {1: "1", 2: "2", 3: "3"}
    assert cache.get_all([1, 9], read) == {1: "1"}, "9 is unknown"
    assert cache.get_all([4, 3], read) == {4: "4", 3: "3"}
    assert cache.get_all([1, 3, 4], read) == {1: "1", 3: "3", 4: "4"}, "2 had to go"
    assert cache.get_all([2], read) == {2: "2"}
    cache.clear()
    assert cache.get_all([2], read) == {2: "2"}
    assert asked == [[1, 2, 3], [9], [4], [2], [2]]


def test_the_bound_counts_sizes_and_one_value_always_stays() -> None:
    cache: LruCache[int, str] = LruCache(5, len)
    cache.get_all([1, 2], lambda keys: dict.fromkeys(keys, "abc"))
    assert cache.get_all([1, 2], lambda _: {}) == {2: "abc"}
    cache.get_all([3], lambda _: {3: "longer than that"})
    assert cache.get_all([2, 3], lambda _: {}) == {3: "longer than that"}


def test_what_is_read_in_advance_takes_nothing_from_others() -> None:
    cache: LruCache[int, str] = LruCache(5, len)
    cache.get_all([1], lambda _: {1: "abc"})
    assert cache.add({2: "ab"})
    assert not cache.add({3: "a"}), "there is no room"
    passed = cache.get_all([3, 4], lambda keys: dict.fromkeys(keys, "ab"), evict=False)
    assert passed == {3: "ab", 4: "ab"}, "who looks through everything takes nothing either"
    assert cache.get_all([1, 2, 3], lambda _: {}) == {1: "abc", 2: "ab"}


def test_a_cache_forgets_what_was_used_least_recently_and_replaces_what_is_put_again() -> None:
    cache: LruCache[str, bytes] = LruCache(1_500, len)
    for name in "abc":
        cache.put(name, b"x" * 500)
    assert cache.peek("a") is not None
    cache.put("d", b"x" * 500)
    assert [name for name in "abcd" if cache.peek(name) is not None] == ["a", "c", "d"]
    used = cache.used
    cache.put("a", b"y" * 500)
    assert (cache.peek("a"), cache.used) == (b"y" * 500, used)


def test_what_a_cache_holds_is_counted_in_what_it_is_measured_by() -> None:
    cache: LruCache[str, str] = LruCache(6, len)
    assert cache.get("a", lambda: "xx") == "xx"
    assert cache.get("a", lambda: "other") == "xx"
    assert cache.used == 2
    assert cache.add({"b": "xxxx"})
    assert cache.used == 6
    assert not cache.add({"b": "xxxx", "c": "x"})
    cache.drop(lambda value: len(value) == 2)
    assert (cache.used, cache.peek("a"), cache.peek("b")) == (4, None, "xxxx")
    cache.put("d", "xx")
    assert cache.used == 6
    cache.limit = 3
    cache.put("e", "x")
    assert (cache.used, cache.peek("b"), cache.peek("d"), cache.peek("e")) == (3, None, "xx", "x")
    cache.put("huge", "x" * 9)
    assert (cache.used, cache.peek("e"), cache.peek("huge")) == (9, None, "x" * 9)
    cache.clear()
    assert (cache.used, cache.peek("huge")) == (0, None)
    assert LruCache[str, str](2).put("a", "xxxx") == "xxxx"


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ([], []),
        ([1], [[1]]),
        ([1, 2, 3, 4], [[1, 2], [3, 4]]),
        ((1, 2, 3), [(1, 2), (3,)]),
        ("abc", ["ab", "c"]),
        (b"abc", [b"ab", b"c"]),
    ],
)
def test_batches_are_all_values_in_order_and_of_the_kind_that_the_list_is(
    values: list[int], parts: list[list[int]]
) -> None:
    assert list(batches(values, 2)) == parts
