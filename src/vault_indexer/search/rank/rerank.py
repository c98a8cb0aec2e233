"""Reranks the first candidates of the fusion by their evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from math import isnan
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from vault_indexer.arrays import Floats
from vault_indexer.model import GraphReason, KeywordReason, NoteReason, VectorReason, Why
from vault_indexer.search.prepare import PreparedQuery, words_with_signs
from vault_indexer.search.rank.candidates import Candidates, RankRequest
from vault_indexer.search.rank.retrieve import NOTE_MEANING, NOTE_WORDS
from vault_indexer.search.terms import lacking_weight, vector_weight, weight_by_idf
from vault_indexer.store.keywords import FIELD_WEIGHTS, held_weight

_TYPED = 2.0
"""The weight of words with signs (see `_typed`): more than all evidence and age together."""


class Evidence(NamedTuple):
    """The weight of one source of evidence, and its value in [0, 1] for each row."""

    weight: float
    values: Floats


def rerank(table: Candidates, request: RankRequest) -> None:
    """Scores each row by the weighted mean of all evidence, or with `search.rerank = 0` by the fusion only.

    The fusion selects the rows but has no weight in their score: from a share of one fifth, every blend with
    the fusion score lowered nDCG.
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
    """Returns for each row the share of the query, in [0, 1], in words with signs, such as `12:30` or `.NET`,
    that it contains as typed. A title with only a piece of such a word is no evidence."""
    typed = np.zeros(len(table))
    for number, query in enumerate(request.queries):
        rows = table.rows_of_vault(number)
        for start, end, word in words_with_signs(query.text):
            words = weight_by_idf(query.statistics, query.words)
            within = np.array([[start <= term.start and term.end <= end for term in words]])
            matching = query.typed_words.chunks_with(word, table.local_key[rows])
            typed[rows] += held_weight(within, words) * matching
    return typed


def weighted_mean(parts: Sequence[Evidence | None], size: int) -> Floats:
    """Returns the weighted mean of the available evidence, or 0 if there is none (a convex combination;
    Bruch, Gai and Ingber, TOIS 2023). A source without a value for any row is left out, which differs from 0
    for all."""
    counted = [part for part in parts if part is not None and part.weight]
    total = sum(part.weight for part in counted)
    mean = np.zeros(size)
    for part in counted:
        mean = mean + part.weight / total * part.values
    return mean


def _by_words(table: Candidates, request: RankRequest) -> Evidence | None:
    """Returns the evidence of words: the BM25F score relative to the best one, because it has no fixed scale,
    and the shares of the query that the chunk and its note cover."""
    if np.isnan(table.words).all():
        return None
    chunk, weight = _positive(table.words) / np.nanmax(table.words), 1.0
    if table.coverage_weight:
        chunk = chunk + table.coverage_weight * _positive(table.coverage)
        weight += table.coverage_weight
    values = (chunk + NOTE_WORDS * _positive(table.note_coverage)) / (weight + NOTE_WORDS)
    return Evidence(request.settings.weights.keyword, values)


def _by_meaning(table: Candidates, request: RankRequest) -> Evidence | None:
    """Returns the evidence of meaning: the cosines of the chunk and of the mean of its note's vectors. They
    are not normalized, because they are comparable between queries, and low if no chunk is similar."""
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
    {"words": _by_words, "meaning": _by_meaning, "links": _by_links}
)
"""The sources of evidence by name. If `Why` has a field of that name, a hit shows the value there. A
cross-encoder would be one more entry."""


def _positive(values: Floats) -> Floats:
    """Returns the values, with 0 in place of unknown and negative ones."""
    return np.fmax(values, 0.0)


def _weight_of_vectors(table: Candidates, request: RankRequest) -> float:
    """Returns the weight of the vectors for this query, taken from the first vault. In a language that the
    model does not support, missing words are no evidence in favour of the vectors."""
    weights, query = request.settings.weights, request.queries[0]
    if query.language_weight < 1.0 or not (weights.vector and weights.keyword):
        return query.language_weight
    share = query.statistics.language_share(query.language)
    lacking = lacking_weight(query.vault.embedder.model, share)
    # The best chunk by words shows how much of the query the words can find at all.
    best = np.flatnonzero(table.word_rank == 1)
    if not len(best):
        return vector_weight(0.0, lacking)
    number = int(table.vault[best[0]])
    rows, mask = table.held[number]
    held = held_weight(mask[rows == best[0]], request.queries[number].terms)
    return vector_weight(float(held[0]), lacking)


# The reasons for the rank of a chunk: its row in the table, and the score of each query word.

_FIELDS = frozenset(field.name for field in fields(Why))


def reasons_of(
    query: PreparedQuery, table: Candidates, rows: Sequence[int], *, by_field: bool = True
) -> dict[int, Why]:
    """Returns the reasons for rows of one vault. With `by_field` they include the score of each field."""
    words = _keyword_reasons(query, table, rows, by_field=by_field)
    filters = query.filters
    return {row: _why(table, row, words.get(row), filters) for row in rows}


def _why(table: Candidates, row: int, keyword: KeywordReason | None, filters: tuple[str, ...]) -> Why:
    vector, graph, note = None, None, None
    if rank := int(table.vector_rank[row]):
        vector = VectorReason(rank, float(table.cosine[row]))
    if rank := int(table.link_rank[row]):
        graph = GraphReason(rank, float(table.link[row]), table.via[row])
    if not isnan(table.note_coverage[row]):
        note = NoteReason(_known(table.note_cosine[row]), float(table.note_coverage[row]))
    return Why(
        vector=vector,
        keyword=keyword,
        graph=graph,
        recency=float(table.age[row]),
        document_weight=float(table.document[row]),
        fused=float(table.fused[row]),
        fused_rank=int(table.fused_rank[row]),
        title=float(table.title[row]),
        filters=filters,
        note=note,
        **{name: _known(values[row]) for name, values in table.evidence.items() if name in _FIELDS},
    )


def _keyword_reasons(
    query: PreparedQuery, table: Candidates, rows: Sequence[int], *, by_field: bool
) -> dict[int, KeywordReason]:
    """Returns the rank, score, matched words and fields of the rows that the ranking by word contains."""
    known = [row for row in rows if table.word_rank[row]]
    keys = table.local_key[known].tolist()
    keywords = query.snapshot.keywords
    terms: list[dict[str, float]]
    fields: list[dict[str, float]] = [{} for _ in known]
    if by_field:
        matches = keywords.explain(keys, query.terms, FIELD_WEIGHTS)
        terms = [{match.word: sum(score for _, score in match.fields) for match in own} for own in matches]
        for shares, own in zip(fields, matches, strict=True):
            for field, score in (part for match in own for part in match.fields):
                shares[field] = shares.get(field, 0.0) + score
    else:
        terms = [dict(own) for own in keywords.word_scores(keys, query.terms, FIELD_WEIGHTS)]
    synonyms = _synonyms(query, keys)
    return {
        row: KeywordReason(
            int(table.word_rank[row]),
            float(table.words[row]),
            by_word,
            shares,
            _known(table.coverage[row]),
            synonyms.get(key, {}),
        )
        for row, key, by_word, shares in zip(known, keys, terms, fields, strict=True)
    }


def _synonyms(query: PreparedQuery, keys: Sequence[int]) -> dict[int, dict[str, str]]:
    """Returns for each chunk the synonyms that it contains, with the query words that they replace."""
    by_chunk: dict[int, dict[str, str]] = {}
    for synonym in query.synonyms:
        matching = np.array(keys, np.int64)
        for word in synonym.searched_words:
            matching = query.snapshot.keywords.filter_keys(matching, word.forms)
        for key in matching.tolist():
            by_chunk.setdefault(key, {})[synonym.searched] = synonym.written
    return by_chunk


def _known(value: float) -> float | None:
    return None if isnan(value) else float(value)
