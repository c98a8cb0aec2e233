"""Retrieves candidates by meaning, by word and by name, and looks up their evidence: the missing scores,
whole notes, the words that they cover, and copies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial

import numpy as np

from vault_indexer.arrays import Floats32, Keys, Mask, Vectors
from vault_indexer.model import CHUNK_KEY_BITS, doc_id_of, note_id_of
from vault_indexer.ports import WordVectors
from vault_indexer.search.filters import ChunkFilter, plain, text_pattern
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates, HeldWords, RankRequest, global_keys
from vault_indexer.search.terms import as_spelt
from vault_indexer.store import Snapshot
from vault_indexer.store.catalog import CatalogReader, unpack_words
from vault_indexer.store.keywords import FIELD_WEIGHTS, FieldWeights, held_weight
from vault_indexer.system import record
from vault_indexer.text.fold import normalize
from vault_indexer.text.language import is_function_word
from vault_indexer.text.terms import VARIANT_MARK, QueryTerm
from vault_indexer.text.tokens import WORD

_REACHES = (2, 16)
"""A filter is first checked on the best chunks only, up to these multiples of `k`. A rule of thumb."""


def retrieve(table: Candidates, request: RankRequest) -> None:
    """Adds the first `depth` chunks by meaning and by word. Scores of several vaults must be comparable."""
    weights, k = request.settings.weights, table.depth
    queries, notes = request.queries, request.limit if request.by_note else 0
    by_meanings = (_spread(partial(_meaning, query), k, notes) for query in queries)
    near, cosines = merge_top_k(list(by_meanings) if weights.vector else [], k)
    by_words = (_spread(partial(_matching, query), k, notes) for query in queries)
    matching, scores = merge_top_k(list(by_words) if weights.keyword else [], k)
    rows = table.rows_at(np.concatenate([near, matching]))
    nearest, best = rows[: len(near)], rows[len(near) :]
    table.vector_rank[nearest] = np.arange(1, len(near) + 1)
    table.cosine[nearest] = cosines
    table.last_cosine = float(min(cosines, default=0.0))
    table.word_rank[best] = np.arange(1, len(matching) + 1)
    table.words[best] = scores
    table.last_words = float(min(scores, default=0.0))


def _spread(search: Callable[[int], tuple[Keys, Floats32]], k: int, notes: int) -> tuple[Keys, Floats32]:
    """Returns the k best chunks. Where they are of fewer than `notes` notes, only the best ones of each note
    count, so that a long note leaves room for others."""
    (keys, scores), asked = search(k), k
    for reach in _REACHES:
        if len(keys) < asked or len(np.unique(keys >> CHUNK_KEY_BITS)) >= notes:
            break
        asked = reach * k
        keys, scores = search(asked)
    if len(keys) <= k:
        return keys, scores
    note = keys >> CHUNK_KEY_BITS
    order = note.argsort(kind="stable")
    place = np.empty(len(keys), np.int64)
    place[order] = np.arange(len(keys)) - note[order].searchsorted(note[order])
    kept = np.flatnonzero(place < max(1, k // notes))[:k]
    return keys[kept], scores[kept]


def merge_top_k(rankings: Sequence[tuple[Keys, Floats32]], k: int) -> tuple[Keys, Floats32]:
    """Returns the k best chunks of the rankings of vaults, with keys unique among the vaults."""
    if len(rankings) == 1:
        return rankings[0]
    keys = [global_keys(number, keys) for number, (keys, _) in enumerate(rankings)]
    # The empty array, because `concatenate` needs one: a ranking of weight 0 has no parts.
    every = np.concatenate([np.empty(0, np.int64), *keys])
    scores = np.concatenate([np.empty(0, np.float32), *(scores for _, scores in rankings)])
    # Equal scores by key, so that the same query always has the same order.
    best = np.lexsort((every, -scores))[:k]
    return every[best], scores[best]


def _matching(query: PreparedQuery, k: int) -> tuple[Keys, Floats32]:
    return by_word(query.snapshot, query.terms, FIELD_WEIGHTS, k, query.chosen)


def _meaning(query: PreparedQuery, k: int) -> tuple[Keys, Floats32]:
    nearest = by_meaning(query.snapshot, query.vector, k, query.chosen)
    query.deadline.check()
    return nearest


def by_meaning(
    snapshot: Snapshot, query: Vectors, k: int, chosen: ChunkFilter | None = None
) -> tuple[Keys, Floats32]:
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
) -> tuple[Keys, Floats32]:
    """Returns the k best chunks that pass the filter and contain any of the words, and their BM25F scores."""

    def search(k: int, allowed: Keys | None) -> tuple[Keys, Floats32]:
        ranking = snapshot.keywords.search(terms, weights, k, allowed)
        return ranking.keys, ranking.scores

    return _best(search, k, chosen)


def _best(
    search: Callable[[int, Keys | None], tuple[Keys, Floats32]], k: int, chosen: ChunkFilter | None
) -> tuple[Keys, Floats32]:
    """Returns the k best chunks that pass the filter. The filter is checked on the notes of the best chunks
    first, and on all notes only if too few of these pass."""
    if chosen is None:
        return search(k, None)
    for reach in _REACHES:
        if not chosen.is_open:
            break
        # More than k, because some of them will not pass.
        keys, scores = search(reach * k, chosen.keys)
        kept = chosen.passing(keys, k)
        # Fewer than requested: the search has returned all there are.
        if int(kept.sum()) >= k or len(keys) < reach * k:
            return keys[kept][:k], scores[kept][:k]
    # Too few pass, so only a filter that is completely known can limit the search.
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
            # The real rank is unknown, but certainly beyond those that were retrieved.
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
    # As much as the best row has, so that a named note is first and the others keep their order.
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
    # A note with the name as written needs no correction.
    if query.corrections and not matches:
        matches = match_titles(query.snapshot, as_spelt(query.text, query.corrections))
    named = catalog.notes(sorted(matches))
    chunks = catalog.chunk_keys_at([note.path for note in named.values()])
    first = []
    for _, note in sorted(named.items()):
        own = np.array(chunks.get(note.path, ()), np.int64)
        first += own[query.passing(own)][:1].tolist()
    return first


_JOINED = re.compile(r"(?<=[^\W\d_])[-_](?=[^\W\d_])")
"""A sign between two words. In a date or a version it has a meaning."""


def match_titles(snapshot: Snapshot, name: str) -> frozenset[int]:
    """Returns the ids of the notes whose title, alias or file name is `name`, ignoring case, accents and the
    signs of file names (`red-kite`, `red_kite`).

    If `name` has accents, notes with exactly these accents replace all others, and notes with different
    accents do not match: `mạ` and `mả` are different words.
    """
    written = _spelling(name)
    wanted = plain(written)
    same, similar = set(), set()
    for note_id, note in snapshot.catalog.notes(_candidates(snapshot, name)).items():
        names = (note.title, *note.aliases, doc_id_of(note.path.rpartition("/")[2]))
        spellings = {one for one in map(_spelling, map(str, names)) if plain(one) == wanted}
        if written in spellings:
            same.add(note_id)
        elif spellings and (written == wanted or wanted in spellings):
            similar.add(note_id)
    return frozenset(same | similar if written == wanted else same or similar)


def _spelling(name: str) -> str:
    """Returns the name without case, but with accents, and with single spaces between its words."""
    return " ".join(_JOINED.sub(" ", normalize(name)).split())


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


# Stages that rank by whole notes and by the coverage of the query's words.


DECAY = 0.1
"""The weight of a note's next best chunk, relative to the one before it. From 0.3 up, questions find the
answering note less often. Between 0 and 0.2 the measures hardly change."""


def group(table: Candidates, request: RankRequest) -> None:
    """If notes are ranked, keeps one row for each note, with the score of all its rows: its best row, or its
    first one if the name of the note is the query."""
    if not request.by_note:
        return
    scores = note_scores(dict(zip(table.key.tolist(), table.score.tolist(), strict=True)))
    chunks = {table.named.get(note_id, key): score for note_id, (key, score) in scores.items()}
    table.take(table.rows_at(np.array(list(chunks), np.int64)))
    table.score = np.array(list(chunks.values()), np.float64)


def note_scores(chunks: Mapping[int, float]) -> dict[int, tuple[int, float]]:
    """Returns for each note, by id, its best chunk and the sum of its chunks' scores. The score of the i-th
    best chunk, counted from 0, is multiplied by DECAY ** i. The order of the chunks has no influence."""
    by_note: dict[int, list[tuple[float, int]]] = {}
    for key, score in chunks.items():
        by_note.setdefault(key >> CHUNK_KEY_BITS, []).append((-score, key))
    return {note: _sum_up(own) for note, own in by_note.items()}


def _sum_up(chunks: list[tuple[float, int]]) -> tuple[int, float]:
    if len(chunks) == 1:  # the usual case
        (negative, key), *_ = chunks
        return key, -negative
    chunks.sort()
    return chunks[0][1], sum(-score * DECAY**place for place, (score, _) in enumerate(chunks))


# Weighs notes: the evidence of whole notes, in addition to that of their chunks.


NOTE_MEANING = 2.0
"""The weight of the whole note's meaning, relative to that of the chunk."""

NOTE_WORDS = 0.6
"""The weight of the whole note's words, relative to those of the chunk. Of 160 choices on the tuning halves
of six sets, `NOTE_MEANING` and 0.5 here were the best. Below 0.6, in addition to `ALIKE` for similar words,
two words in two sections of a note no longer count together."""


def weigh_notes(table: Candidates, request: RankRequest) -> None:
    """Sets for each row the cosine of the mean of its note's vectors, the share of the query that the whole
    text of the note contains, and the query words that the chunk contains. All values are computed from the
    chunks; nothing is stored."""
    for number, query in enumerate(request.queries):
        rows = table.rows_of_vault(number)
        chunks = table.local_key[rows]
        notes, note_of = np.unique(chunks >> CHUNK_KEY_BITS, return_inverse=True)
        firsts, ends = notes << CHUNK_KEY_BITS, (notes + 1) << CHUNK_KEY_BITS
        presence = query.snapshot.keywords.term_presence(firsts, ends, query.terms, FIELD_WEIGHTS)
        table.note_coverage[rows] = held_weight(presence.ranges, query.terms)[note_of]
        if query.vector.any():
            table.note_cosine[rows] = query.snapshot.vectors.note_scores(query.vector, notes)[note_of]
        table.held[number] = HeldWords(rows, presence.documents_of(chunks))
        query.deadline.check()


# Coverage: the share of the query that each chunk covers, by the same words or by similar ones.


HELD = 1.0
"""The weight of a chunk's share of the query's words, relative to its BM25F score. A rule of thumb."""

ALIKE = 2.0
"""The weight of the share that similar words cover. From 1.5 to 2.5 the tuning halves differ little."""

BY_CHANCE = 0.2
"""The cosine of two unrelated words. Values from .1 to .4, or squared cosines, differ little."""

_NUMBERS = 1 << 16


def cover(table: Candidates, request: RankRequest) -> None:
    """Sets the share of the query, in [0, 1], that each chunk covers. Each word counts by its weight. Chunks
    of a vault where this is no evidence (see `_is_spoken`) get no coverage."""
    for number, query in enumerate(request.queries):
        if _is_spoken(query):
            rows, mask = table.held[number]
            table.coverage[rows], weight = chunk_coverage(query, table.local_key[rows], mask)
            table.coverage_weight = max(table.coverage_weight, weight)


def _is_spoken(query: PreparedQuery) -> bool:
    """Whether the query is in a language of the vault that the model supports. In another language, chunks
    contain only names and words that happen to look alike. If the vectors have little weight, coverage is not
    needed."""
    return query.language_weight >= 1.0 and query.language in query.statistics.languages


def chunk_coverage(query: PreparedQuery, keys: Keys, held: Mask) -> tuple[Floats32, float]:
    """Returns the share of the query that each chunk covers, and the weight of this share relative to the
    BM25F score of a chunk. `held` marks the words that each chunk contains.

    In a language whose words can be compared, a query word counts by its similarity to the nearest word of
    the chunk (late interaction; Khattab and Zaharia 2020 do this with vectors of words in context). Words
    without a vector, and a word that is still being typed, count if the chunk contains them. If the catalog
    has no words of a chunk, the share of contained words remains. Function words have weight 0, because a
    chunk contains them by chance, and in a small vault they are hardly more frequent than other words.
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
    """Returns the query's terms with weight 0 for function words, unless there are no other terms."""
    terms = [
        replace(term, weight=0.0) if is_function_word(term.word, query.language) else term
        for term in query.terms
    ]
    return terms if any(term.weight for term in terms) else list(query.terms)


def _nearest(terms: Sequence[QueryTerm], vectors: WordVectors, packed: Sequence[bytes]) -> Vectors:
    """Returns for each chunk and each query word the similarity, in [0, 1], of the nearest word of the chunk.
    `packed` are the words of each chunk. The value is nan for a query word that is not in the model's
    vocabulary, is still being typed, or has weight 0."""
    every, sizes = unpack_words(packed)
    seen = np.zeros(_NUMBERS, bool)
    # A mask over all numbers finds the distinct words faster than sorting them.
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
    # Along the rows, which are contiguous in memory. Along the columns this takes several times as long.
    best[sizes > 0] = np.maximum.reduceat(alike[:, place[every]], firsts[sizes > 0], axis=1).T
    best[:, np.isnan(cosines).any(axis=1)] = np.nan
    nearest[:, compared] = best
    return nearest


# Detects notes with the same text, so that the results show the best one and name the others.


@record
class Copies:
    """The copies among the candidates of one search. Notes are identified by their number in the table.
    `shown_note` maps each copy to the note shown in its place; `paths` maps each shown note to the paths of
    its copies."""

    shown_note: Mapping[int, int] = field(default_factory=dict)
    paths: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def find_copies(queries: Sequence[PreparedQuery], table: Candidates) -> Copies:
    """Finds the copies among ranked candidates. The first of several notes of one vault with the same text
    represents all.

    The names of copies may differ, their frontmatter may not. A note with hardly any text is never a copy,
    because it is found by its name. A note's text is read only if one of its chunks has the same number and
    length as a chunk of another candidate.
    """
    shown_note: dict[int, int] = {}
    paths: dict[int, tuple[str, ...]] = {}
    numbers, keys, notes = table.vault.tolist(), table.local_key.tolist(), table.note.tolist()
    for number, query in enumerate(queries):
        rows = [row for row, vault in enumerate(numbers) if vault == number]
        note_of = {keys[row] >> CHUNK_KEY_BITS: notes[row] for row in rows}
        catalog = query.snapshot.catalog
        for first, *others in _same_texts(catalog, [keys[row] for row in rows]):
            shown_note |= {note_of[other]: note_of[first] for other in others}
            copies = catalog.notes(others)
            paths[note_of[first]] = tuple(sorted(copies[other].path for other in others))
    return Copies(shown_note, paths)


def _same_texts(catalog: CatalogReader, keys: Sequence[int]) -> Iterator[list[int]]:
    """Yields each group of at least two notes with the same text, in the order of the chunks."""
    same: dict[str, list[int]] = {}
    for note_id, text in catalog.texts(_suspects(catalog, keys)).items():
        same.setdefault(text.strip(), []).append(note_id)
    # In reverse, so that the first chunk of each note sets its place.
    order = {key >> CHUNK_KEY_BITS: place for place, key in reversed(list(enumerate(keys)))}
    return (sorted(notes, key=order.__getitem__) for notes in same.values() if len(notes) > 1)


def _suspects(catalog: CatalogReader, keys: Iterable[int]) -> set[int]:
    """Returns the notes that have a chunk of the same number and text length as a chunk of another note."""
    alike: dict[tuple[int, int], set[int]] = {}
    for key, shape in catalog.chunk_shapes(keys).items():
        alike.setdefault(shape, set()).add(key >> CHUNK_KEY_BITS)
    return {note_id for notes in alike.values() if len(notes) > 1 for note_id in notes}
