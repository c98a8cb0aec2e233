"""How much of a query each candidate chunk says: by the words that it holds, or by words like them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.store import Snapshot
from vault_indexer.store.keywords import FieldWeights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors, WordNumbers

    Keys = NDArray[np.int64]

HELD = 1.0
"""What the part of the query's words that a chunk holds counts beside its BM25F score."""

ALIKE = 2.0
"""The same for words that are like them. From 1.5 to 2.5 all are about alike on the tuning halves."""

BY_CHANCE = 0.2
"""A cosine of two words that says nothing. From .1 to .4, or with the cosine squared, all are about alike."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The part of the query that each chunk says, in [0, 1] by key, each word at its weight; and what that
    counts beside the chunk's BM25F score."""

    shares: Mapping[int, float] = field(default_factory=dict)
    weight: float = HELD


def chunk_coverage(
    snapshot: Snapshot, prepared: PreparedQuery, held: Mapping[int, float], fields: FieldWeights
) -> Coverage:
    """How much of the query the chunks say. `held` is the part of its words that each holds, by key.

    Where the model has vectors of single words, a word of the query counts by its likeness to the nearest
    word of the chunk (late interaction; Khattab and Zaharia 2020 do so with vectors of words in their
    context). Words that it does not know, and one that is still typed, count where the chunk holds them. A
    chunk of which the catalog has no words keeps the share that it holds.
    """
    if prepared.word_vectors is None or not held:
        return Coverage(held)
    words = snapshot.catalog.chunk_words(held)
    if not any(words.values()):
        return Coverage(held)
    keys = np.array(sorted(words), np.int64)
    numbers = [np.frombuffer(words[key], "<u2") for key in keys.tolist()]
    terms = prepared.terms
    nearest = _nearest(prepared, numbers)
    unknown = np.flatnonzero(np.isnan(nearest).any(axis=0) | np.array([term.prefix for term in terms]))
    nearest = np.clip((nearest - BY_CHANCE) / (1.0 - BY_CHANCE), 0.0, 1.0)
    if len(unknown):
        others = [terms[number] for number in unknown.tolist()]
        nearest[:, unknown] = snapshot.keywords.held(keys, keys + 1, others, fields)
    weights = np.array([term.weight for term in terms], np.float32)
    shares = nearest @ (weights / (weights.sum() or 1.0))
    return Coverage({**held, **dict(zip(keys.tolist(), shares.tolist(), strict=True))}, ALIKE)


def _nearest(prepared: PreparedQuery, numbers: Sequence[WordNumbers]) -> Vectors:
    """For each chunk, given by its words' numbers, and each word of the query the best cosine of the two, at
    least 0; nan for a word that the model does not know."""
    assert prepared.word_vectors is not None
    sizes = np.array([len(own) for own in numbers])
    every = np.concatenate(numbers)
    distinct = np.unique(every)
    cosines = prepared.word_vectors.likeness([term.word for term in prepared.terms], distinct).T
    nearest: Vectors = np.zeros((len(numbers), cosines.shape[1]), np.float32)
    firsts = sizes.cumsum() - sizes
    nearest[sizes > 0] = np.maximum.reduceat(cosines[distinct.searchsorted(every)], firsts[sizes > 0])
    return nearest
