"""What cached arrays cost, and how much of them is kept."""

from __future__ import annotations

from typing import Protocol

_OVERHEAD = 400
"""The overhead of an entry, without its arrays, in bytes: key, tuple and array headers."""

_USUAL_DOCUMENTS = 100_000
_MOST_TIMES = 4


class Sized(Protocol):
    """What has arrays."""

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        ...


def entry_bytes(value: Sized) -> int:
    """The bytes of an entry of a cache."""
    return value.nbytes + _OVERHEAD


def limit_for(limit: int, documents: int) -> int:
    """A limit that suits an index of 100,000 documents, for one of `documents`: lists of postings grow with
    them. Four times as much at the most."""
    return int(limit * min(_MOST_TIMES, max(1.0, documents / _USUAL_DOCUMENTS)))
