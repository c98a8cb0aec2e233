"""Long lists in parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, Self, TypeVar


class _Sliceable(Protocol):
    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Self: ...


_Values = TypeVar("_Values", bound=_Sliceable)


def batches(values: _Values, size: int) -> Iterator[_Values]:
    """The values in order, at most `size` at a time; none if there are none."""
    return (values[start : start + size] for start in range(0, len(values), size))
