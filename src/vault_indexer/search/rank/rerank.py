"""Rerank: the first candidates of the fusion by the evidence for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_indexer.search.rank.candidates import Candidates, RankRequest
from vault_indexer.search.rank.notes import NOTE_MEANING, NOTE_WORDS
from vault_indexer.search.terms import lacking_weight, vector_weight
from vault_indexer.search.typed_words import only_typed_word
from vault_indexer.store.keywords import held_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


_TYPED = 2.0
"""What it counts that a row holds the whole of such a word, relative to all evidence: more than that and age
together."""


class Evidence(NamedTuple):
    """What one source says of each row, in [0, 1], and what it counts."""

    weight: float
    values: Floats


def rerank(table: Candidates, request: RankRequest) -> None:
    """Score each row by the weighted mean of all evidence; with `search.rerank = 0` by the fusion alone.

    The fusion chose the rows and says no more: each blend with its score lowered nDCG from a fifth on.
    """
    if not request.settings.rerank:
        table.score = table.fused
        return
    parts = {name: read(table, request) for name, read in EVIDENCE.items()}
    mean = weighted_mean(list(parts.values()), len(table))
    table.score = (mean + _TYPED * typed) / (1 + _TYPED) if (typed := _typed(table, request)).any() else mean
    known = {name: part.values for name, part in parts.items() if part is not None}
    table.evidence = known | {"evidence": table.score}


def _typed(table: Candidates, request: RankRequest) -> Floats:
    """1 for the rows that hold the whole of a query that is one word with signs in it, as `12:30` or `.NET`,
    else 0: a title with a piece of it says nothing."""
    typed = np.zeros(len(table))
    for number, query in enumerate(request.queries):
        if word := only_typed_word(query.text):
            rows = table.rows_of_vault(number)
            typed[rows] = query.typed_words.chunks_with(word, table.local_key[rows])
    return typed


def weighted_mean(parts: Sequence[Evidence | None], size: int) -> Floats:
    """The mean of the evidence that there is, each at its weight; 0 without any (a convex combination; Bruch,
    Gai and Ingber, TOIS 2023). What no row has does not count: that is not the same as 0 for all."""
    counted = [part for part in parts if part is not None and part.weight]
    total = sum(part.weight for part in counted)
    mean = np.zeros(size)
    for part in counted:
        mean = mean + part.weight / total * part.values
    return mean


def _by_words(table: Candidates, request: RankRequest) -> Evidence | None:
    """The BM25F score relative to the best one (it has no scale), what the chunk says of the query, and what
    its note holds of it."""
    if np.isnan(table.words).all():
        return None
    chunk, weight = _positive(table.words) / np.nanmax(table.words), 1.0
    if table.coverage_weight:
        chunk = chunk + table.coverage_weight * _positive(table.coverage)
        weight += table.coverage_weight
    values = (chunk + NOTE_WORDS * _positive(table.note_coverage)) / (weight + NOTE_WORDS)
    return Evidence(request.settings.weights.keyword, values)


def _by_meaning(table: Candidates, request: RankRequest) -> Evidence | None:
    """The cosine of the chunk and of the mean of its note's vectors, as they are: they are comparable between
    queries, and low where the model knows nothing."""
    if np.isnan(table.cosine).all():
        return None
    chunk, note = _positive(table.cosine), _positive(table.note_cosine)
    values = (chunk + NOTE_MEANING * note) / (1.0 + NOTE_MEANING)
    return Evidence(request.settings.weights.vector * _weight_of_vectors(table, request), values)


def _by_links(table: Candidates, request: RankRequest) -> Evidence | None:
    if not table.link_rank.any():
        return None
    return Evidence(request.settings.weights.graph, _positive(table.link))


EVIDENCE: Mapping[str, Callable[[Candidates, RankRequest], Evidence | None]] = MappingProxyType(
    {
        "words": _by_words,
        "meaning": _by_meaning,
        "links": _by_links,
    }
)
"""The sources of evidence, each a row. Where `Why` has a field of its name, a hit shows there what it says. A
model that reads query and chunk together is one more row."""


def _positive(values: Floats) -> Floats:
    """The values, 0 for those that are unknown or negative."""
    return np.fmax(values, 0.0)


def _weight_of_vectors(table: Candidates, request: RankRequest) -> float:
    """What the vectors count for this query, as the first vault knows it. In a language that the model
    does not know, what its words find or miss says nothing for the vectors."""
    weights, query = request.settings.weights, request.queries[0]
    if query.language_weight < 1.0 or not (weights.vector and weights.keyword):
        return query.language_weight
    share = query.statistics.language_share(query.language)
    lacking = lacking_weight(query.vault.embedder.model, share)
    best = np.flatnonzero(table.word_rank == 1)
    if not len(best):
        return vector_weight(0.0, lacking)
    number = int(table.vault[best[0]])
    rows, mask = table.held[number]
    held = held_weight(mask[rows == best[0]], request.queries[number].terms)
    return vector_weight(float(held[0]), lacking)
