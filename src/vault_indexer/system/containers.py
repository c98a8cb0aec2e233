"""A bounded cache that many threads share."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from threading import Lock
from typing import Generic, Protocol, Self, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """The least recently used values go when the sum of `size_of` exceeds `limit`, which may be changed; one
    value always stays. Thread-safe."""

    def __init__(self, limit: int, size_of: Callable[[Value], int] = lambda _: 1) -> None:
        self.limit = limit
        self.used = 0
        self._size_of = size_of
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def peek(self, key: Key) -> Value | None:
        """The value, None if there is none. It counts as used."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def get(self, key: Key, load: Callable[[], Value]) -> Value:
        """The value, else what `load` returns (two threads may load the same value at once)."""
        value = self.peek(key)
        return self.put(key, load()) if value is None else value

    def get_all(
        self,
        keys: Iterable[Key],
        read: Callable[[list[Key]], Mapping[Key, Value]],
        *,
        evict: bool = True,
    ) -> dict[Key, Value]:
        """The values of the keys. What is not here comes from `read` and is kept; what that does not have is
        left out. Without `evict` it is kept only where there is room: who looks through everything would
        otherwise read all of it again the next time."""
        found: dict[Key, Value] = {}
        missing: dict[Key, None] = {}
        with self._lock:
            for key in keys:
                value = self._values.get(key)
                if value is None:
                    missing[key] = None
                else:
                    self._values.move_to_end(key)
                    found[key] = value
        if missing:
            fresh = read(list(missing))
            self._keep(fresh, evict=evict)
            found.update(fresh)
        return found

    def put(self, key: Key, value: Value) -> Value:
        with self._lock:
            self._forget(key)
            self._add(key, value)
            self._evict()
            return value

    def add(self, fresh: Mapping[Key, Value]) -> bool:
        """Keep values in advance, as far as there is room. Whether there was for all of them."""
        self._keep(fresh, evict=False)
        with self._lock:
            return all(key in self._values for key in fresh)

    def drop(self, unwanted: Callable[[Value], bool]) -> None:
        with self._lock:
            for key in [key for key, value in self._values.items() if unwanted(value)]:
                self._forget(key)

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self.used = 0

    def _keep(self, fresh: Mapping[Key, Value], *, evict: bool) -> None:
        with self._lock:
            for key, value in fresh.items():
                if key not in self._values and (evict or self.used + self._size_of(value) <= self.limit):
                    self._add(key, value)
            self._evict()

    def _add(self, key: Key, value: Value) -> None:
        self._values[key] = value
        self.used += self._size_of(value)

    def _evict(self) -> None:
        while self.used > self.limit and len(self._values) > 1:
            self._forget(next(iter(self._values)))

    def _forget(self, key: Key) -> None:
        dropped = self._values.pop(key, None)
        if dropped is not None:
            self.used -= self._size_of(dropped)


# Long lists in parts.


class _Sliceable(Protocol):
    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Self: ...


_Values = TypeVar("_Values", bound=_Sliceable)


def batches(values: _Values, size: int) -> Iterator[_Values]:
    """The values in order, at most `size` at a time; none if there are none."""
    return (values[start : start + size] for start in range(0, len(values), size))
