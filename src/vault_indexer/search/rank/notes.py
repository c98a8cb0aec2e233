"""Group: where notes are ranked, what several good chunks of one note say together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vault_indexer.model import note_id_of
from vault_indexer.search.rank.candidates import Candidates, RankRequest

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
