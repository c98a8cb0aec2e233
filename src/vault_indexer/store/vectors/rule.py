"""Which search a base gets: exact up to a number of vectors, then by short codes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IndexRule:
    """Decides from the number of vectors alone, so that an index can be made again the same.

    Up to `exact_up_to` vectors every search looks at all of them. Beyond, it looks at a code of two bits a
    dimension of each, and exactly at the `looked_at` times k (`fewest` at least) whose codes are nearest.
    """

    exact_up_to: int = 250_000
    looked_at: int = 10
    fewest: int = 600

    def has_codes(self, vectors: int, dimension: int) -> bool:
        """Whether a base of so many vectors has codes: a code is of pairs of dimensions."""
        return vectors > self.exact_up_to and dimension % 2 == 0

    def candidates(self, k: int) -> int:
        """How many vectors are looked at exactly for the k best."""
        return max(self.fewest, self.looked_at * k)

    def __str__(self) -> str:
        """As a manifest says it: another text means another index."""
        return f"exact to {self.exact_up_to} vectors, then codes of 2 bits a dimension"


RULE = IndexRule()
"""What is used everywhere; tests have smaller ones. The figures are in benchmarks/notebook/2026-11.md."""
