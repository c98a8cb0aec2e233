"""The three rankings of chunks for one query, each the same size or smaller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_indexer.model import GraphReason, KeywordReason, NoteRow, VectorReason, note_id_of
from vault_indexer.search.link_texts import called
from vault_indexer.store.keyword_schema import FieldWeights
from vault_indexer.store.snapshot import Snapshot
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors

    Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rankings:
    """Chunk keys with what each ranking says of them, every dict in its ranking's order. What stands at rank
    `depth` + 1 was only looked up, because another ranking gave it."""

    vector: dict[int, VectorReason]
    keyword: dict[int, tuple[int, float]]
    graph: dict[int, GraphReason]
    depth: int = 0


def by_meaning(
    snapshot: Snapshot, query: Vectors, k: int, allowed: Keys | None = None
) -> dict[int, VectorReason]:
    """The k chunks (of those allowed) nearest to the query vector; none if it has no known token."""
    if not query.any():
        return {}
    keys, scores = snapshot.vectors.search(query, k, allowed)
    found = zip(keys.tolist(), scores.tolist(), strict=True)
    return {key: VectorReason(rank, score) for rank, (key, score) in enumerate(found, start=1)}


def by_word(
    snapshot: Snapshot,
    terms: Sequence[QueryTerm],
    weights: FieldWeights,
    k: int,
    allowed: Keys | None = None,
) -> dict[int, tuple[int, float]]:
    """Rank and BM25F score of the k best chunks (of those allowed) that hold any of the words."""
    ranking = snapshot.keywords.search(terms, weights, k, allowed)
    found = zip(ranking.keys.tolist(), ranking.scores.tolist(), strict=True)
    return {key: (rank, score) for rank, (key, score) in enumerate(found, start=1)}


def completed(
    snapshot: Snapshot, found: Rankings, query: Vectors, terms: Sequence[QueryTerm], weights: FieldWeights
) -> Rankings:
    """The same, and for every chunk that only one of the two rankings gave, its score in the other."""
    import numpy as np

    behind = found.depth + 1
    only_words = np.array(sorted(found.keyword.keys() - found.vector.keys()), np.int64)
    only_meaning = np.array(sorted(found.vector.keys() - found.keyword.keys()), np.int64)
    meaning = by_meaning(snapshot, query, len(only_words), only_words) if len(only_words) else {}
    words = by_word(snapshot, terms, weights, len(only_meaning), only_meaning) if len(only_meaning) else {}
    return Rankings(
        found.vector | {key: VectorReason(behind, reason.score) for key, reason in meaning.items()},
        found.keyword | {key: (behind, score) for key, (_, score) in words.items()},
        found.graph,
        found.depth,
    )


def by_link_text(
    snapshot: Snapshot, notes: Mapping[int, NoteRow], strongest: Sequence[int], terms: Sequence[QueryTerm]
) -> dict[int, GraphReason]:
    """For each of the strongest notes that links call by words of the query: its best chunk. `strongest` are
    chunk keys, best first, `notes` their notes by id."""
    best = {notes[note_id_of(key)].path: key for key in reversed(strongest) if note_id_of(key) in notes}
    languages = {note.path: note.language for note in notes.values()}
    found = called(snapshot, languages, terms)
    return {best[one.path]: GraphReason(rank, one.weight, one.via) for rank, one in enumerate(found, start=1)}


def keyword_reasons(
    snapshot: Snapshot,
    ranked: dict[int, tuple[int, float]],
    wanted: Sequence[int],
    terms: Sequence[QueryTerm],
    weights: FieldWeights,
) -> dict[int, KeywordReason]:
    """Matched words and fields of the chunks that are shown."""
    shown = [key for key in wanted if key in ranked]
    explained = snapshot.keywords.explain(shown, terms, weights)
    reasons = {}
    for key, matches in zip(shown, explained, strict=True):
        fields: dict[str, float] = {}
        for match in matches:
            for name, score in match.fields:
                fields[name] = fields.get(name, 0.0) + score
        rank, score = ranked[key]
        reasons[key] = KeywordReason(rank, score, {match.word: match.score for match in matches}, fields)
    return reasons


def note_ids(keys: Sequence[int]) -> list[int]:
    """The distinct notes of chunks, in order of first appearance."""
    return list(dict.fromkeys(note_id_of(key) for key in keys))
