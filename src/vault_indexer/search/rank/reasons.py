"""The reasons for the rank of a chunk: its row in the table of candidates, and the score of each query
word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from math import isnan

import numpy as np

from vault_indexer.model import GraphReason, KeywordReason, NoteReason, VectorReason, Why
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates
from vault_indexer.store.keywords import FIELD_WEIGHTS

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
    """Returns None for an unknown value."""
    return None if isnan(value) else float(value)
