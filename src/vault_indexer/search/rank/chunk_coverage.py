"""How much of a query each candidate chunk says: by the words that it holds, or by words like them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.note_evidence import Evidence
from vault_indexer.store.catalog import unpack_words
from vault_indexer.store.keywords import held_weight
from vault_indexer.text.function_words import is_function_word
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors, WordVectors

HELD = 1.0
"""What the part of the query's words that a chunk holds counts beside its BM25F score."""

ALIKE = 2.0
"""The same for words that are like them. From 1.5 to 2.5 all are about alike on the tuning halves."""

BY_CHANCE = 0.2
"""A cosine of two words that says nothing. From .1 to .4, or with the cosine squared, all are about alike."""

_NUMBERS = 1 << 16


@dataclass(frozen=True, slots=True)
class ChunkCoverage:
    """The part of the query that each chunk says, in [0, 1] by key, each word at its weight; and what that
    counts beside the chunk's BM25F score."""

    shares: Mapping[int, float] = field(default_factory=dict)
    weight: float = HELD


def chunk_coverage(prepared: PreparedQuery, evidence: Evidence) -> ChunkCoverage:
    """How much of the query the chunks say.

    Where the model has vectors of single words, a word of the query counts by its likeness to the nearest
    word of the chunk (late interaction; Khattab and Zaharia 2020 do so with vectors of words in their
    context). Words that it does not know, and one that is still typed, count where the chunk holds them. A
    chunk of which the catalog has no words keeps the share that it holds. Function words count nothing: which
    of them a chunk holds is chance, and in a small vault they are hardly more frequent than others.
    """
    keys = evidence.chunks.tolist()
    said = evidence.held.astype(np.float32)
    terms = _speaking(prepared)
    vectors = prepared.word_vectors
    words = prepared.snapshot.catalog.chunk_words(keys) if vectors is not None else {}
    weight = HELD
    if vectors is not None and any(words.values()):
        weight = ALIKE
        kept = np.array([key in words for key in keys])
        nearest = _nearest(terms, vectors, [words[key] for key in keys if key in words])
        said[kept] = np.where(np.isnan(nearest), said[kept], nearest)
    shares = held_weight(said, terms)
    return ChunkCoverage(dict(zip(keys, shares.tolist(), strict=True)), weight)


def _speaking(prepared: PreparedQuery) -> list[QueryTerm]:
    """The query's terms, function words without weight, unless there are only such."""
    terms = [
        replace(term, weight=0.0) if is_function_word(term.word, prepared.language) else term
        for term in prepared.terms
    ]
    return terms if any(term.weight for term in terms) else list(prepared.terms)


def _nearest(terms: Sequence[QueryTerm], vectors: WordVectors, packed: Sequence[bytes]) -> Vectors:
    """For each chunk, given by its words, and each word of the query how alike the nearest two are, in
    [0, 1]; nan for a word of the query that the model does not know, that is still typed, or that counts
    nothing."""
    every, sizes = unpack_words(packed)
    seen = np.zeros(_NUMBERS, bool)
    seen[every] = True
    distinct = np.flatnonzero(seen).astype(np.uint16)
    place = np.empty(_NUMBERS, np.uint16)
    place[distinct] = np.arange(len(distinct), dtype=np.uint16)
    compared = [number for number, term in enumerate(terms) if term.weight and not term.prefix]
    cosines = vectors.likeness([terms[number].word for number in compared], distinct)
    alike = np.clip((cosines - BY_CHANCE) / (1.0 - BY_CHANCE), 0.0, 1.0)
    nearest: Vectors = np.full((len(packed), len(terms)), np.nan, np.float32)
    best = np.zeros((len(packed), len(compared)), np.float32)
    firsts = sizes.cumsum() - sizes
    # Along the rows, which lie in a row in memory: along columns it takes several times as long.
    best[sizes > 0] = np.maximum.reduceat(alike[:, place[every]], firsts[sizes > 0], axis=1).T
    best[:, np.isnan(cosines).any(axis=1)] = np.nan
    nearest[:, compared] = best
    return nearest
