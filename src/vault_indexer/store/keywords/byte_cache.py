"""A cache bounded by the bytes of what it holds, for arrays that many threads read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_OVERHEAD = 400
"""Bytes that an entry costs beside its arrays: key, tuple and array headers."""

_USUAL_DOCUMENTS = 100_000
_MOST_TIMES = 4


def limit_for(limit: int, documents: int) -> int:
    """A limit that suits an index of 100,000 documents, for one of `documents`: lists of postings grow with
    them. Four times as much at the most."""
    return int(limit * min(_MOST_TIMES, max(1.0, documents / _USUAL_DOCUMENTS)))


class ByteCache(Generic[Key, Value]):
    """Least recently used entries go when the sum of `size_of` exceeds `limit`, which may be changed."""

    def __init__(self, limit: int, size_of: Callable[[Value], int]) -> None:
        self.limit = limit
        self._size_of = size_of
        self._entries: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()
        self.used = 0

    def get(self, key: Key, load: Callable[[], Value]) -> Value:
        """The cached value, else what `load` returns (two threads may load the same value at once)."""
        value = self.peek(key)
        return self.put(key, load()) if value is None else value

    def peek(self, key: Key) -> Value | None:
        """The cached value, None if there is none. It counts as used."""
        with self._lock:
            value = self._entries.get(key)
            if value is not None:
                self._entries.move_to_end(key)
            return value

    def put(self, key: Key, value: Value) -> Value:
        """Keep the value, in the place of a former one, and return it."""
        with self._lock:
            self._forget(key)
            self._entries[key] = value
            self.used += self._size_of(value) + _OVERHEAD
            while self.used > self.limit and len(self._entries) > 1:
                self._forget(next(iter(self._entries)))
            return value

    def drop(self, unwanted: Callable[[Value], bool]) -> None:
        """Forget all values that are unwanted."""
        with self._lock:
            for key in [key for key, value in self._entries.items() if unwanted(value)]:
                self._forget(key)

    def _forget(self, key: Key) -> None:
        dropped = self._entries.pop(key, None)
        if dropped is not None:
            self.used -= self._size_of(dropped) + _OVERHEAD
