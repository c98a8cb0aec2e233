"""Containers: a bounded cache that threads can share, batches, texts that one search covers, and records."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import accumulate, islice
from operator import attrgetter
from threading import Lock
from typing import Any, AnyStr, Generic, Protocol, Self, TypeVar, cast, dataclass_transform

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """A cache that evicts the least recently used values when the sum of `size_of` exceeds `limit`, which may
    be changed. It always keeps one value. Thread-safe."""

    def __init__(self, limit: int, size_of: Callable[[Value], int] = lambda _: 1) -> None:
        self.limit = limit
        self.used = 0
        self._size_of = size_of
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def peek(self, key: Key) -> Value | None:
        """Returns the value, or None if there is none. It counts as used."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def get(self, key: Key, load: Callable[[], Value]) -> Value:
        """Returns the value, or loads and stores it. Two threads may load the same value at once."""
        value = self.peek(key)
        return self.put(key, load()) if value is None else value

    def get_all(
        self, keys: Iterable[Key], read: Callable[[list[Key]], Mapping[Key, Value]], *, evict: bool = True
    ) -> dict[Key, Value]:
        """Returns the values of the keys. Missing values come from `read` and are stored; keys that it does
        not return are left out. Without `evict`, values are stored only if there is room. A pass through all
        values would otherwise evict those that the next pass needs first."""
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
            # Without the lock, because reading takes long. Two threads may read the same value.
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
        """Stores values in advance if there is room. Returns whether all of them were stored."""
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


class _Sliceable(Protocol):
    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Self: ...


_Values = TypeVar("_Values", bound=_Sliceable)


def batches(values: _Values, size: int) -> Iterator[_Values]:
    """Returns the values in order, in parts of at most `size`; no part if there are no values."""
    return (values[start : start + size] for start in range(0, len(values), size))


class JoinedTexts(Generic[AnyStr]):
    """Texts, numbered from 0. `text` contains all of them, each followed by a line break, so that one search
    covers them. Any thread may use it.

    `ends` contains the position in `text` of the line break after each text. It takes 4 bytes for each, so
    all texts together are limited to 4 GB. A text may contain line breaks.
    """

    def __init__(self, texts: Sequence[AnyStr], line_break: AnyStr) -> None:
        """`line_break` is "\\n" or b"\\n", according to the type of the texts."""
        self._line_break: AnyStr = line_break
        ended = list(texts)
        ended.append(line_break[:0])  # so that the last one also has its line break
        self.text: AnyStr = line_break.join(ended)
        ends = accumulate((len(text) + 1 for text in texts), initial=-1)
        self.ends = array("I", islice(ends, 1, None))

    def numbers_containing(self, piece: AnyStr) -> Iterator[int]:
        """Yields, lazily and in ascending order, the numbers of the texts that contain a piece.

        No text counts as containing a piece with a line break. Every text contains the empty piece.
        """
        if self._line_break in piece:
            return
        start = 0
        while start < len(self.text) and (at := self.text.find(piece, start)) >= 0:
            number = bisect_left(self.ends, at)
            yield number
            start = self.ends[number] + 1


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(kind: type[Value]) -> type[Value]:
    """Makes a dataclass with slots whose fields only `__init__` sets.

    A frozen `dataclass` compiles six methods, which took a third of the start of each command. This one
    compiles `__init__` alone. The type checker refuses assignments, which nothing does at run time.
    """
    made: Any = dataclass(slots=True, repr=False, eq=False)(kind)
    shown = [each.name for each in fields(made) if each.repr]
    compared = [each.name for each in fields(made) if each.compare]
    values: Callable[[Any], object] = attrgetter(*compared) if compared else lambda _: ()

    def represent(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def equal(self: Any, other: Any) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    for name, method in (("__repr__", represent), ("__eq__", equal), ("__hash__", hashed)):
        if name not in vars(kind):
            setattr(made, name, method)
    return cast("type[Value]", made)
