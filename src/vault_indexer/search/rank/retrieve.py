"""Retrieves the chunks nearest to the query in meaning, and those that match its words best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS, doc_id_of, note_id_of
from vault_indexer.search.filters import ChunkFilter, plain, text_pattern
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates, RankRequest, global_keys
from vault_indexer.search.terms import as_spelt
from vault_indexer.store import Snapshot
from vault_indexer.store.keywords import FIELD_WEIGHTS, FieldWeights
from vault_indexer.text.fold import normalize
from vault_indexer.text.terms import VARIANT_MARK, QueryTerm
from vault_indexer.text.tokens import WORD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors

    Keys = NDArray[np.int64]
    Scores = NDArray[np.float32]

_REACHES = (2, 16)
"""A filter is first checked on the best chunks only, up to these multiples of `k`. A rule of thumb."""


def retrieve(table: Candidates, request: RankRequest) -> None:
    """Adds the first `depth` chunks by meaning and by word. Scores of several vaults must be comparable."""
    weights, k = request.settings.weights, table.depth
    queries = request.queries
    near, cosines = merge_top_k([_meaning(query, k) for query in queries] if weights.vector else [], k)
    matching, scores = merge_top_k([_words(query, k) for query in queries] if weights.keyword else [], k)
    rows = table.rows_at(np.concatenate([near, matching]))
    nearest, best = rows[: len(near)], rows[len(near) :]
    table.vector_rank[nearest] = np.arange(1, len(near) + 1)
    table.cosine[nearest] = cosines
    table.last_cosine = float(min(cosines, default=0.0))
    table.word_rank[best] = np.arange(1, len(matching) + 1)
    table.words[best] = scores
    table.last_words = float(min(scores, default=0.0))


def merge_top_k(rankings: Sequence[tuple[Keys, Scores]], k: int) -> tuple[Keys, Scores]:
    """Returns the k best chunks of the rankings of several vaults by score, with keys unique among the
    vaults."""
    if len(rankings) == 1:
        return rankings[0]
    keys = [global_keys(number, keys) for number, (keys, _) in enumerate(rankings)]
    every = np.concatenate([np.empty(0, np.int64), *keys])
    scores = np.concatenate([np.empty(0, np.float32), *(scores for _, scores in rankings)])
    best = np.lexsort((every, -scores))[:k]
    return every[best], scores[best]


def _meaning(query: PreparedQuery, k: int) -> tuple[Keys, Scores]:
    nearest = by_meaning(query.snapshot, query.vector, k, query.chosen)
    query.deadline.check()
    return nearest


def _words(query: PreparedQuery, k: int) -> tuple[Keys, Scores]:
    return by_word(query.snapshot, query.terms, FIELD_WEIGHTS, k, query.chosen)


def by_meaning(
    snapshot: Snapshot, query: Vectors, k: int, chosen: ChunkFilter | None = None
) -> tuple[Keys, Scores]:
    """Returns the k chunks that pass the filter and are nearest to the query vector, and their cosines, best
    first. There are none for a zero vector, which means that the query has no known token."""
    if not query.any():
        return np.empty(0, np.int64), np.empty(0, np.float32)
    return _best(partial(snapshot.vectors.search, query), k, chosen)


def by_word(
    snapshot: Snapshot,
    terms: Sequence[QueryTerm],
    weights: FieldWeights,
    k: int,
    chosen: ChunkFilter | None = None,
) -> tuple[Keys, Scores]:
    """Returns the k best chunks that pass the filter and contain any of the words, and their BM25F scores."""

    def search(k: int, allowed: Keys | None) -> tuple[Keys, Scores]:
        ranking = snapshot.keywords.search(terms, weights, k, allowed)
        return ranking.keys, ranking.scores

    return _best(search, k, chosen)


def _best(
    search: Callable[[int, Keys | None], tuple[Keys, Scores]], k: int, chosen: ChunkFilter | None
) -> tuple[Keys, Scores]:
    """Returns the k best chunks that pass the filter. The filter is checked on the notes of the best chunks
    first, and on all notes only if too few of these pass."""
    if chosen is None:
        return search(k, None)
    for reach in _REACHES:
        if not chosen.is_open:
            break
        keys, scores = search(reach * k, chosen.keys)
        kept = chosen.passing(keys, k)
        if int(kept.sum()) >= k or len(keys) < reach * k:
            return keys[kept][:k], scores[kept][:k]
    chosen.settle()
    return search(k, chosen.keys)


# Completes the scores: looks up the score of a chunk in each ranking that did not retrieve it.


def complete(table: Candidates, request: RankRequest) -> None:
    """Looks up each missing cosine and BM25F score, unless one of the two rankings has weight 0. Chunks whose
    score is looked up get the rank `depth` + 1."""
    weights = request.settings.weights
    if not (weights.vector and weights.keyword):
        return
    for number, query in enumerate(request.queries):
        own = table.rows_of_vault(number)
        rows = own[np.isnan(table.cosine[own])]
        if query.vector.any():
            cosines = query.snapshot.vectors.scores(query.vector, table.local_key[rows])
            near = ~np.isnan(cosines)
            table.cosine[rows[near]] = cosines[near]
            table.vector_rank[rows[near]] = table.depth + 1
        rows = own[np.isnan(table.words[own])]
        scores = query.snapshot.keywords.scores(table.local_key[rows], query.terms, FIELD_WEIGHTS)
        matching = scores > 0
        table.words[rows[matching]] = scores[matching]
        table.word_rank[rows[matching]] = table.depth + 1


# Puts notes first whose title, alias or file name is the query, as written or as corrected.


_NAME_FIELDS = ("title", "aliases", "path")


def add_title_scores(table: Candidates, request: RankRequest) -> None:
    """Adds the best score of all rows to the first chunk of each note whose name is the query."""
    del request
    named = np.isin(table.key, list(table.named.values()))
    table.title[named] = table.score.max(initial=0.0)
    table.score = table.score + table.title


def first_chunks_by_name(queries: Sequence[PreparedQuery]) -> dict[int, int]:
    """Returns the first chunk, among those allowed, of each note whose name is the query, with keys unique
    among the vaults. A user who searches for a note by name wants its beginning."""
    first: dict[int, int] = {}
    for number, query in enumerate(queries):
        keys = global_keys(number, np.array(_first_chunks(query), np.int64))
        first |= {note_id_of(key): key for key in keys.tolist()}
    return first


def _first_chunks(query: PreparedQuery) -> list[int]:
    catalog = query.snapshot.catalog
    matches = match_titles(query.snapshot, query.text)
    if query.corrections and not matches:
        matches = match_titles(query.snapshot, as_spelt(query.text, query.corrections))
    named = catalog.notes(sorted(matches))
    chunks = catalog.chunk_keys_at([note.path for note in named.values()])
    first = []
    for _, note in sorted(named.items()):
        own = np.array(chunks.get(note.path, ()), np.int64)
        first += own[query.passing(own)][:1].tolist()
    return first


def match_titles(snapshot: Snapshot, name: str) -> frozenset[int]:
    """Returns the ids of the notes whose title, alias or file name is `name`, ignoring case and accents.

    If `name` has accents, notes with exactly these accents replace all others, and notes with different
    accents do not match: `mạ` and `mả` are different words.
    """
    wanted, written = plain(name), _spelling(name)
    same, similar = set(), set()
    for note_id, note in snapshot.catalog.notes(_candidates(snapshot, name)).items():
        names = (note.title, *note.aliases, doc_id_of(note.path.rpartition("/")[2]))
        spellings = {_spelling(str(one)) for one in names if plain(str(one)) == wanted}
        if written in spellings:
            same.add(note_id)
        elif spellings and (written == wanted or wanted in spellings):
            similar.add(note_id)
    return frozenset(same | similar if written == wanted else same or similar)


def _spelling(name: str) -> str:
    """Returns the name without case, but with accents, and with single spaces."""
    return " ".join(normalize(name).split())


def _candidates(snapshot: Snapshot, name: str) -> list[int]:
    """Returns the notes with all words of the name in title, aliases or path. It reads only the index."""
    pattern = text_pattern(name)
    needs: list[tuple[str, ...]] = [(word, VARIANT_MARK + word) for word in pattern.words]
    needs += [(pair,) for pair in pattern.pairs]
    needs = needs or [(normalize(word),) for word in WORD.findall(name)]
    if not needs:  # only signs, which are not indexed
        sql = "SELECT note_id FROM notes WHERE instr(title, ?1) OR instr(aliases, ?1) OR instr(path, ?1)"
        return [note_id for (note_id,) in snapshot.catalog.rows(sql, [name])]
    # The rarest word comes first, because most queries have no note left after a word or two.
    rarity = {terms: snapshot.keywords.largest_document_frequency(terms) for terms in needs}
    ordered = sorted(rarity, key=lambda terms: rarity[terms])
    keys = snapshot.keywords.keys_containing(ordered[0], _NAME_FIELDS)
    for terms in ordered[1:]:
        if not len(keys):
            return []
        keys = snapshot.keywords.filter_keys(keys, terms, _NAME_FIELDS)
    note_ids: list[int] = np.unique(keys >> CHUNK_KEY_BITS).tolist()
    return note_ids
