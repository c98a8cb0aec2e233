"""One ranking from those of the retrievers: fused, weighed by age, exact titles first."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vault_indexer.config.settings import SearchSettings
from vault_indexer.model import GraphReason, note_id_of
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.anchor_text import STRONGEST
from vault_indexer.search.rank.chunk_coverage import ChunkCoverage, chunk_coverage
from vault_indexer.search.rank.fuse import best_first, convex_combination, reciprocal_rank_fusion
from vault_indexer.search.rank.note_evidence import NOTE_MEANING, NOTE_WORDS, Evidence, note_evidence
from vault_indexer.search.rank.notes import note_scores
from vault_indexer.search.rank.recency import recency_factors
from vault_indexer.search.rank.retrieve import (
    SEEDS,
    Rankings,
    Ranks,
    by_link,
    by_link_text,
    by_meaning,
    by_word,
    fill_missing_scores,
    note_ids,
)
from vault_indexer.search.rank.sources import (
    alone,
    best_of,
    first_chunk_by_note,
    global_key,
    global_note,
    in_order_of_score,
    local_key,
    local_notes,
    of_source,
    source_of,
    together,
)
from vault_indexer.search.rank.titles import match_titles
from vault_indexer.search.terms import trust_beside
from vault_indexer.store.keywords import FIELD_WEIGHTS

MIN_CANDIDATES = 60
"""Each ranking gives at least this many: what both half know is found deep in each. With 100 nDCG@10 is .004
higher on the help vault, .002 lower on the large one and the same on all others; a search takes longer."""

RANK_TRUST = 0.4
"""What the trust in the vectors counts in a fusion of ranks, where a weak ranking moves as much as a strong
one."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every candidate's final score, and the parts it is made of; `order` is best first. Where several
    snapshots were ranked together, the keys are those of `sources.global_key`."""

    order: tuple[int, ...]
    scores: Mapping[int, float]
    fused: Mapping[int, float]
    recency: Mapping[int, float]
    titles: Mapping[int, float]
    rankings: Rankings = field(default_factory=lambda: Rankings({}, {}, {}))

    def of(self, source: int) -> Ranked:
        """What it says of one of several snapshots, by that one's own keys."""
        order = tuple(local_key(key) for key in self.order if source_of(key) == source)
        return Ranked(
            order,
            of_source(self.scores, source),
            of_source(self.fused, source),
            of_source(self.recency, source),
            of_source(self.titles, source),
            alone(self.rankings, source),
        )


def rank(sources: Sequence[PreparedQuery], settings: SearchSettings, *, by_note: bool, limit: int) -> Ranked:
    """Rank all candidates of a query that has words, those of several vaults as those of one. Cosines and
    statistics of words have to be comparable: the models are the same, and so are the collections of words
    (`WordStatistics`). With `by_note` each note is there once, by its best chunk."""
    k = settings.candidates or max(MIN_CANDIDATES, 2 * limit)
    named = [_first_chunks_by_name(one) for one in sources]
    rankings = _by_meaning_and_word(sources, settings, k, named)
    first = first_chunk_by_note(named)
    fused = _fuse(rankings, settings)
    if settings.weights.graph:
        rankings = replace(rankings, graph=_by_link(sources, best_first(fused)))
        fused = _add_link_scores(fused, rankings, settings)
    for key in first.values():
        fused.setdefault(key, 0.0)
    recency = _recency(sources, fused, settings)
    scores = {key: fused[key] * factor for key, factor in recency.items()}
    if by_note:
        scores = {first.get(note_id, key): score for note_id, (key, score) in note_scores(scores).items()}
    bonus = max(scores.values(), default=0.0)
    titles = {key: bonus for key in first.values() if key in scores}
    final = {key: score + titles.get(key, 0.0) for key, score in scores.items()}
    return Ranked(tuple(best_first(final)), final, fused, recency, titles, rankings)


def _recency(
    sources: Sequence[PreparedQuery], fused: Mapping[int, float], settings: SearchSettings
) -> dict[int, float]:
    """What the age of its note makes of each chunk's score; a note that is gone has none."""
    now = time.time_ns()
    factors: dict[int, float] = {}
    notes = {note_id_of(key) for key in fused}
    for number, source in enumerate(sources):
        modified = source.snapshot.catalog.modified_times(local_notes(notes, number))
        for note_id, factor in recency_factors(modified, now, settings.recency).items():
            factors[global_note(number, note_id)] = factor
    return {key: factors[note_id] for key in fused if (note_id := note_id_of(key)) in factors}


def normalized_score(ranked: Ranked, key: int) -> float:
    """A candidate's score beside the best one's: 1 for all where nothing says anything for any of them."""
    top = ranked.scores[ranked.order[0]]
    return ranked.scores[key] / top if top else 1.0


def _fuse(rankings: Rankings, settings: SearchSettings) -> dict[int, float]:
    """The rankings by meaning and by word, fused as configured, each at two levels: the chunk and its note.

    A convex combination takes a cosine as it is: it is comparable between queries, and low where the model
    knows nothing. A BM25F score has no scale, so it counts beside the best one.
    """
    weights = _weights(rankings, settings)
    if settings.fusion == "rrf":
        return _fuse_ranks(rankings, weights, settings.rrf_k)
    top = max((score for _, score in rankings.keyword.values()), default=1.0)
    cosines = {key: max(score, 0.0) for key, (_, score) in rankings.vector.items()}
    words = {key: score / top for key, (_, score) in rankings.keyword.items()}
    whole = {note_id: max(note.cosine or 0.0, 0.0) for note_id, note in rankings.notes.items()}
    held = {note_id: note.coverage for note_id, note in rankings.notes.items()}
    all_keys = cosines.keys() | words.keys()
    scores = {
        "vector": _with_notes(cosines, 1.0, whole, NOTE_MEANING, all_keys) if cosines else {},
        "keyword": {},
    }
    if words and rankings.coverage.shares:
        covered, weight = rankings.coverage.shares.get, rankings.coverage.weight
        chunks = {key: words.get(key, 0.0) + weight * covered(key, 0.0) for key in all_keys}
        scores["keyword"] = _with_notes(chunks, 1.0 + weight, held, NOTE_WORDS, all_keys)
    elif words:
        scores["keyword"] = _with_notes(words, 1.0, held, NOTE_WORDS, all_keys)
    return convex_combination(scores, weights)


def _with_notes(
    chunks: Mapping[int, float],
    chunk_weight: float,
    notes: Mapping[int, float],
    note_weight: float,
    keys: Iterable[int],
) -> dict[int, float]:
    """For each of the keys the mean of what the chunk says, a sum of scores that weigh `chunk_weight`
    together, and of what its note says."""
    total = chunk_weight + note_weight
    of_chunk, of_note = chunks.get, notes.get
    return {key: (of_chunk(key, 0.0) + note_weight * of_note(note_id_of(key), 0.0)) / total for key in keys}


def _fuse_ranks(rankings: Rankings, weights: Mapping[str, float], k: int) -> dict[int, float]:
    """Reciprocal rank fusion of four lists: by meaning and by word, of chunks and of their notes."""
    lists = {"vector": list(rankings.vector), "keyword": list(rankings.keyword)}
    chunks = reciprocal_rank_fusion(lists, weights, k)
    cosines = {note_id: note.cosine for note_id, note in rankings.notes.items() if note.cosine is not None}
    covered = {note_id: note.coverage for note_id, note in rankings.notes.items() if note.coverage}
    notes = reciprocal_rank_fusion(
        {"vector": best_first(cosines), "keyword": best_first(covered)},
        {"vector": NOTE_MEANING * weights["vector"], "keyword": NOTE_WORDS * weights["keyword"]},
        k,
    )
    return {key: score + notes.get(note_id_of(key), 0.0) for key, score in chunks.items()}


def _add_link_scores(
    fused: Mapping[int, float], rankings: Rankings, settings: SearchSettings
) -> dict[int, float]:
    """The fusion of all three rankings, from that of the first two.

    The ranking by link starts from the strongest chunks of the other two, so it joins last. In a convex
    combination `fused` weighs as much as the rankings whose mean it is.
    """
    weight = settings.weights.graph
    if settings.fusion == "rrf":
        links = reciprocal_rank_fusion({"graph": list(rankings.graph)}, {"graph": weight}, settings.rrf_k)
        return {key: fused.get(key, 0.0) + links.get(key, 0.0) for key in (*fused, *links)}
    weights = _weights(rankings, settings)
    held = (weights["vector"] if rankings.vector else 0.0) + (weights["keyword"] if rankings.keyword else 0.0)
    links = {key: reason.score for key, reason in rankings.graph.items()}
    return convex_combination({"fused": fused, "graph": links}, {"fused": held, "graph": weight})


def _weights(rankings: Rankings, settings: SearchSettings) -> dict[str, float]:
    """What the rankings by meaning and by word count for this query."""
    trust = rankings.trust * (RANK_TRUST if settings.fusion == "rrf" else 1.0)
    return {"vector": settings.weights.vector * trust, "keyword": settings.weights.keyword}


def _by_meaning_and_word(
    sources: Sequence[PreparedQuery],
    settings: SearchSettings,
    k: int,
    named: Sequence[Mapping[int, int]],
) -> Rankings:
    """The first `k` of both rankings, with what the whole notes say; for a convex combination with the
    scores that one of them lacks, and with those of the chunks that are `named`."""
    weights = settings.weights
    meaning = best_of([_meaning(one, k) if weights.vector else {} for one in sources], k)
    words = best_of([_words(one, k) if weights.keyword else {} for one in sources], k)
    found: list[Rankings] = []
    evidence: list[Evidence] = []
    for number, prepared in enumerate(sources):
        own = Rankings(of_source(meaning, number), of_source(words, number), {}, k)
        if weights.vector and weights.keyword and settings.fusion == "convex":
            firsts = named[number].values()
            own = fill_missing_scores(
                prepared.snapshot, own, prepared.vector, prepared.terms, FIELD_WEIGHTS, firsts
            )
        keys = own.vector.keys() | own.keyword.keys()
        said = note_evidence(prepared, keys)
        prepared.deadline.check()
        coverage = ChunkCoverage()
        if _is_spoken(prepared):
            coverage = chunk_coverage(prepared, said)
        found.append(replace(own, notes=said.notes, coverage=coverage))
        evidence.append(said)
    both = weights.vector and weights.keyword
    trust = _trust(sources, words, evidence) if both else sources[0].trust
    return replace(together(found), trust=trust)


def _is_spoken(prepared: PreparedQuery) -> bool:
    """Whether the query is in a language of the vault, and one that the model knows. What a chunk holds of
    another one are names and words that look alike, and where the vectors count little there is no need."""
    return prepared.trust >= 1.0 and prepared.language in prepared.statistics.languages


def _meaning(prepared: PreparedQuery, k: int) -> Ranks:
    found = by_meaning(prepared.snapshot, prepared.vector, k, prepared.chosen)
    prepared.deadline.check()
    return found


def _words(prepared: PreparedQuery, k: int) -> Ranks:
    return by_word(prepared.snapshot, prepared.terms, FIELD_WEIGHTS, k, prepared.chosen)


def _by_link(sources: Sequence[PreparedQuery], strongest: Sequence[int]) -> dict[int, GraphReason]:
    """The ranking by link, from the strongest chunks so far (best first) of all sources."""
    first = note_ids(strongest)
    linking, seeds = set(first[:STRONGEST]), set(first[:SEEDS])
    found: dict[int, GraphReason] = {}
    for number, prepared in enumerate(sources):
        own = [key for key in strongest if source_of(key) == number]
        keys = [local_key(key) for key in own if note_id_of(key) in linking]
        snapshot = prepared.snapshot
        notes = snapshot.catalog.notes(note_ids(keys))
        graph = by_link_text(snapshot, notes, [local_key(key) for key in own], prepared.terms)
        names = [note_id_of(local_key(key)) for key in own if note_id_of(key) in seeds]
        paths = [notes[note_id].path for note_id in dict.fromkeys(names) if note_id in notes]
        for key, reason in by_link(snapshot, paths, graph, prepared.vector, prepared.chosen).items():
            found[global_key(number, key)] = reason
    return found if len(sources) == 1 else in_order_of_score(found)


def _trust(sources: Sequence[PreparedQuery], words: Ranks, evidence: Sequence[Evidence]) -> float:
    """What the vectors count for this query. In a language that the model does not know, what its words
    find or miss says nothing for the vectors."""
    known = sources[0].trust
    if known < 1.0:
        return known
    best = next(iter(words), None)
    if best is None:
        return trust_beside(0.0)
    number = source_of(best)
    return trust_beside(evidence[number].share(local_key(best), sources[number].terms))


def _first_chunks_by_name(prepared: PreparedQuery) -> dict[int, int]:
    """For each note whose name is the query, by id, the first chunk that may be found: who asks for a note by
    its name wants it from its beginning."""
    snapshot = prepared.snapshot
    named = snapshot.catalog.notes(sorted(match_titles(snapshot, prepared.text)))
    chunks = snapshot.catalog.chunk_keys_at([note.path for note in named.values()])
    found: dict[int, int] = {}
    for note_id, note in sorted(named.items()):
        own = np.array(chunks.get(note.path, ()), np.int64)
        left = own[prepared.passing(own)]
        if len(left):
            found[note_id] = int(left[0])
    return found
