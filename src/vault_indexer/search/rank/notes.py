"""Group: where notes are ranked, what several good chunks of one note say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS, note_id_of
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates, HeldWords, RankRequest
from vault_indexer.store.catalog import unpack_words
from vault_indexer.store.keywords import FIELD_WEIGHTS, held_weight
from vault_indexer.text.language import is_function_word
from vault_indexer.text.terms import QueryTerm

DECAY = 0.1
"""The weight of a note's next best chunk, relative to the one before it. At 0.3 and above questions found
less often the note that answers; between 0 and 0.2 the measures hardly move."""


def group(table: Candidates, request: RankRequest) -> None:
    """Where notes are ranked: keep one row of each, its best one, with the score of all; of a note whose name
    is the query, its first one."""
    if not request.by_note:
        return
    scores = note_scores(dict(zip(table.key.tolist(), table.score.tolist(), strict=True)))
    chunks = {table.named.get(note_id, key): score for note_id, (key, score) in scores.items()}
    table.take(table.rows_at(np.array(list(chunks), np.int64)))
    table.score = np.array(list(chunks.values()), np.float64)


def note_scores(chunks: Mapping[int, float]) -> dict[int, tuple[int, float]]:
    """For each note, by id, its best chunk and the sum of its chunks' scores, the i-th best times
    DECAY ** i. The result does not depend on the order of the chunks."""
    found: dict[int, list[tuple[float, int]]] = {}
    for key, score in chunks.items():
        found.setdefault(note_id_of(key), []).append((-score, key))
    return {note: _sum_up(own) for note, own in found.items()}


def _sum_up(chunks: list[tuple[float, int]]) -> tuple[int, float]:
    if len(chunks) == 1:  # as most notes have
        (negative, key), *_ = chunks
        return key, -negative
    chunks.sort()
    return chunks[0][1], sum(-score * DECAY**place for place, (score, _) in enumerate(chunks))


# Weigh notes: what whole notes say of a query, in addition to their chunks.


if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors, WordVectors

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float32]
    Keys = NDArray[np.int64]
    Mask = NDArray[np.bool_]

NOTE_MEANING = 2.0
"""The weight of the whole note's meaning, relative to that of the chunk."""

NOTE_WORDS = 0.6
"""The weight of the whole note's words, relative to those of the chunk. The first, and .5 here, are the best
of 160 choices on the tuning halves of six sets. With less than .6 beside words that are alike, two words in
two sections of a note no longer count together."""


def weigh_notes(table: Candidates, request: RankRequest) -> None:
    """For each row the cosine of the mean of its note's vectors, how much of the query the whole text of the
    note holds, and which words of the query the chunk holds. Nothing is stored for it: all comes from the
    chunks."""
    for number, query in enumerate(request.queries):
        rows = table.rows_of_vault(number)
        chunks = table.local_key[rows]
        notes, note_of = np.unique(chunks >> CHUNK_KEY_BITS, return_inverse=True)
        firsts, ends = notes << CHUNK_KEY_BITS, (notes + 1) << CHUNK_KEY_BITS
        held = query.snapshot.keywords.term_presence(firsts, ends, query.terms, FIELD_WEIGHTS)
        table.note_coverage[rows] = held_weight(held.ranges, query.terms)[note_of]
        if query.vector.any():
            table.note_cosine[rows] = query.snapshot.vectors.note_scores(query.vector, notes)[note_of]
        table.held[number] = HeldWords(rows, held.documents_of(chunks))
        query.deadline.check()


# Cover: how much of a query each chunk says, by the words that it holds, or by words like them.


HELD = 1.0
"""What the part of the query's words that a chunk holds counts beside its BM25F score. As much as the score
itself, which is a rule of thumb."""

ALIKE = 2.0
"""The same for words that are like them. From 1.5 to 2.5 all are about alike on the tuning halves."""

BY_CHANCE = 0.2
"""A cosine of two words that says nothing. From .1 to .4, or with the cosine squared, all are about alike."""

_NUMBERS = 1 << 16


def cover(table: Candidates, request: RankRequest) -> None:
    """How much of the query each chunk says, each word at its weight, in [0, 1]. Chunks of a vault where that
    says nothing (`_is_spoken`) have none."""
    for number, query in enumerate(request.queries):
        if _is_spoken(query):
            rows, mask = table.held[number]
            table.coverage[rows], weight = chunk_coverage(query, table.local_key[rows], mask)
            table.coverage_weight = max(table.coverage_weight, weight)


def _is_spoken(query: PreparedQuery) -> bool:
    """Whether the query is in a language of the vault, and one that the model knows. What a chunk holds of
    another one are names and words that look alike, and where the vectors count little there is no need."""
    return query.language_weight >= 1.0 and query.language in query.statistics.languages


def chunk_coverage(query: PreparedQuery, keys: Keys, held: Mask) -> tuple[Floats, float]:
    """How much of the query the chunks say, of which `held` says what words they hold; and what that counts
    beside the BM25F score of a chunk.

    In a language whose words can be compared, a word of the query counts by its likeness to the nearest word
    of the chunk (late interaction; Khattab and Zaharia 2020 do so with vectors of words in their context).
    Words without a vector, and one that is still typed, count where the chunk holds them. A chunk of which
    the catalog has no words keeps the share that it holds. Function words count nothing: which of them a
    chunk holds is chance, and in a small vault they are hardly more frequent than others.
    """
    said = held.astype(np.float32)
    terms = _speaking(query)
    vectors = query.word_vectors
    words = query.snapshot.catalog.chunk_words(keys.tolist()) if vectors is not None else {}
    weight = HELD
    if vectors is not None and any(words.values()):
        weight = ALIKE
        kept = np.array([key in words for key in keys.tolist()])
        nearest = _nearest(terms, vectors, [words[key] for key in keys.tolist() if key in words])
        said[kept] = np.where(np.isnan(nearest), said[kept], nearest)
    return held_weight(said, terms), weight


def _speaking(query: PreparedQuery) -> list[QueryTerm]:
    """The query's terms, function words without weight, unless there are only such."""
    terms = [
        replace(term, weight=0.0) if is_function_word(term.word, query.language) else term
        for term in query.terms
    ]
    return terms if any(term.weight for term in terms) else list(query.terms)


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
