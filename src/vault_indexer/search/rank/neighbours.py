"""Notes one link away from others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

from vault_indexer.store import Snapshot

_WEIGHED = 60
"""Of the many neighbours of a hub only so many are looked at: counting their links is the dear part. A rule
of thumb."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note beside hits. `weight` sums, over those hits, 1 / (their rank + 1), shared among the
    links of a hub: a note that is linked with everything says little about anything."""

    path: str
    weight: float
    via: tuple[str, ...]


def neighbours_of(snapshot: Snapshot, seeds: Sequence[str]) -> list[Neighbour]:
    """Notes linked with the seeds (paths, strongest first) either way, heaviest first."""
    linked = snapshot.graph.neighbours(seeds)
    via: dict[str, dict[str, float]] = {}
    for rank, seed in enumerate(seeds, start=1):
        for other in linked.get(seed, ()):
            via.setdefault(other, {})[seed] = 1.0 / (rank + 1)
    likely = sorted(via, key=lambda path: (-sum(via[path].values()), path))[:_WEIGHED]
    degrees = snapshot.graph.degrees(likely)
    found = [_neighbour(path, via[path], degrees) for path in likely]
    return sorted(found, key=lambda neighbour: (-neighbour.weight, neighbour.path))


def _neighbour(path: str, shares: Mapping[str, float], degrees: Mapping[str, int]) -> Neighbour:
    weight = sum(shares.values()) / log2(2 + degrees.get(path, 0))
    return Neighbour(path, weight, tuple(sorted(shares, key=lambda seed: -shares[seed])))
