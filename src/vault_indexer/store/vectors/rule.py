"""Which search a base gets: exact up to a number of vectors, then by clusters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IndexRule:
    """Decides from the number of vectors alone, so that an index can be made again the same.

    Up to `exact_up_to` vectors every search looks at all of them. Beyond, they are divided into clusters of
    about `per_cluster`, and a search looks at the `probed` clusters whose centres are nearest to the query.
    """

    exact_up_to: int = 250_000
    per_cluster: int = 512
    probed: int = 64

    def clusters(self, vectors: int) -> int:
        """How many clusters there are to be; 0 where the search is exact."""
        return 0 if vectors <= self.exact_up_to else max(1, vectors // self.per_cluster)

    def __str__(self) -> str:
        """As a manifest says it: another text means another index."""
        beyond = f"ivf with {self.per_cluster} to a cluster, {self.probed} clusters probed"
        return f"exact to {self.exact_up_to}, then {beyond}"


RULE = IndexRule()
"""What is used everywhere; tests have smaller ones. Its figures are measured in docs/benchmarks.md."""
