"""Several snapshots ranked as one: their chunks under keys that tell them apart.

Keys of chunks and ids of notes are counted in each catalog from 1. The number of the source stands above
both, so that the rules of ranking work on them as on those of one catalog. Source 0 keeps its own keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from vault_indexer.model import CHUNK_KEY_BITS, GraphReason
from vault_indexer.search.rank.chunk_coverage import ChunkCoverage
from vault_indexer.search.rank.retrieve import Rankings, Ranks

T = TypeVar("T")

_KEY_BITS = 48
"""Of a key in its catalog: 20 for the chunk, and 28 for 268 million notes."""

_KEYS = (1 << _KEY_BITS) - 1
_NOTE_BITS = _KEY_BITS - CHUNK_KEY_BITS


def global_key(source: int, key: int) -> int:
    """The key of a chunk among those of all sources."""
    return source << _KEY_BITS | key


def global_note(source: int, note_id: int) -> int:
    """The id of a note among those of all sources: what `note_id_of` gives for the keys of its chunks."""
    return source << _NOTE_BITS | note_id


def local_key(key: int) -> int:
    """The key of a chunk in its own catalog."""
    return key & _KEYS


def local_notes(notes: Iterable[int], source: int) -> set[int]:
    """Of the ids of notes of all sources those of one, as its own catalog has them."""
    first = global_note(source, 0)
    return {note_id - first for note_id in notes if first <= note_id < first + (1 << _NOTE_BITS)}


def source_of(key: int) -> int:
    """The number of the source of a chunk."""
    return key >> _KEY_BITS


def first_chunk_by_note(named: Sequence[Mapping[int, int]]) -> dict[int, int]:
    """Chunk by note of all sources."""
    return {
        global_note(number, note_id): global_key(number, key)
        for number, own in enumerate(named)
        for note_id, key in own.items()
    }


def best_of(rankings: Sequence[Ranks], k: int) -> Ranks:
    """The k best of several rankings by comparable scores."""
    if len(rankings) == 1:
        return rankings[0]
    scores = {
        global_key(number, key): score
        for number, own in enumerate(rankings)
        for key, (_, score) in own.items()
    }
    best = sorted(scores, key=lambda key: (-scores[key], key))[:k]
    return {key: (rank, scores[key]) for rank, key in enumerate(best, start=1)}


def of_source(values: Mapping[int, T], source: int) -> dict[int, T]:
    """What one source has of a mapping of all, by its own keys."""
    return {local_key(key): value for key, value in values.items() if source_of(key) == source}


def together(found: Sequence[Rankings]) -> Rankings:
    """The rankings of all sources as one; what they say of links is joined later."""
    if len(found) == 1:
        return found[0]
    return replace(
        found[0],
        vector=_merged([one.vector for one in found]),
        keyword=_merged([one.keyword for one in found]),
        notes={
            global_note(number, note_id): reason
            for number, own in enumerate(found)
            for note_id, reason in own.notes.items()
        },
        coverage=ChunkCoverage(
            {
                global_key(number, key): share
                for number, own in enumerate(found)
                for key, share in own.coverage.shares.items()
            },
            max(own.coverage.weight for own in found),
        ),
    )


def alone(rankings: Rankings, source: int) -> Rankings:
    """The part of one source, by its own keys."""
    return replace(
        rankings,
        vector=of_source(rankings.vector, source),
        keyword=of_source(rankings.keyword, source),
        graph=of_source(rankings.graph, source),
        notes={
            note_id & ((1 << _NOTE_BITS) - 1): one
            for note_id, one in rankings.notes.items()
            if note_id >> _NOTE_BITS == source
        },
        coverage=ChunkCoverage(of_source(rankings.coverage.shares, source), rankings.coverage.weight),
    )


def in_order_of_score(reasons: Mapping[int, GraphReason]) -> dict[int, GraphReason]:
    """A ranking by link of all sources."""
    ordered = sorted(reasons, key=lambda key: (-reasons[key].score, key))
    return {key: replace(reasons[key], rank=rank) for rank, key in enumerate(ordered, start=1)}


def _merged(rankings: Sequence[Ranks]) -> Ranks:
    """In the order of their ranks, which are those of one ranking already."""
    places = {
        global_key(number, key): place for number, own in enumerate(rankings) for key, place in own.items()
    }
    return dict(sorted(places.items(), key=lambda item: (item[1][0], -item[1][1], item[0])))
