"""Ranking notes: what several good chunks of one note say together."""

from __future__ import annotations

from collections.abc import Mapping

from vault_indexer.model import note_id_of

DECAY = 0.1
"""What a note's next best chunk counts beside the one before it. At 0.3 and above questions found less often
the note that answers; between 0 and 0.2 the measures hardly move."""


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
