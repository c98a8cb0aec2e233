"""Why a chunk has its place: what each ranking says of it, and what the fusion made of that."""

from __future__ import annotations

from collections.abc import Sequence

from vault_indexer.model import KeywordReason, VectorReason, Why, note_id_of
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.rank import Ranked
from vault_indexer.store.keywords import FIELD_WEIGHTS


def reasons_of(
    prepared: PreparedQuery, ranked: Ranked, keys: Sequence[int], *, by_field: bool = True
) -> dict[int, Why]:
    """The reasons for each of the keys, all of which `ranked` holds; `by_field` with what each field gave."""
    words = _keyword_reasons(prepared, ranked, keys, by_field=by_field)
    return {key: _why(key, prepared, ranked, words.get(key)) for key in keys}


def _why(key: int, prepared: PreparedQuery, ranked: Ranked, keyword: KeywordReason | None) -> Why:
    rankings = ranked.rankings
    return Why(
        vector=VectorReason(*rankings.vector[key]) if key in rankings.vector else None,
        keyword=keyword,
        graph=rankings.graph.get(key),
        recency=ranked.recency[key],
        fused=ranked.fused[key],
        title=ranked.titles.get(key, 0.0),
        filters=prepared.filters,
        note=rankings.notes.get(note_id_of(key)),
    )


def _keyword_reasons(
    prepared: PreparedQuery, ranked: Ranked, keys: Sequence[int], *, by_field: bool
) -> dict[int, KeywordReason]:
    """Rank, score, matched words and fields of those keys that the ranking by word holds."""
    keywords = prepared.snapshot.keywords
    ranking, covered = ranked.rankings.keyword, ranked.rankings.coverage.shares
    known = [key for key in keys if key in ranking]
    if not by_field:
        words = keywords.word_scores(known, prepared.terms, FIELD_WEIGHTS)
        return {
            key: KeywordReason(*ranking[key], dict(own), {}, covered.get(key))
            for key, own in zip(known, words, strict=True)
        }
    reasons = {}
    for key, matches in zip(known, keywords.explain(known, prepared.terms, FIELD_WEIGHTS), strict=True):
        shares: dict[str, float] = {}
        for match in matches:
            for name, score in match.fields:
                shares[name] = shares.get(name, 0.0) + score
        by_word = {match.word: match.score for match in matches}
        reasons[key] = KeywordReason(*ranking[key], by_word, shares, covered.get(key))
    return reasons
