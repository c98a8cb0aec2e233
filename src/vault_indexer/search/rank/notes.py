"""Stages that rank by whole notes and by the coverage of the query's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates, HeldWords, RankRequest
from vault_indexer.store.catalog import CatalogReader, unpack_words
from vault_indexer.store.keywords import FIELD_WEIGHTS, held_weight
from vault_indexer.text.language import is_function_word
from vault_indexer.text.terms import QueryTerm

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


if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors, WordVectors

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float32]
    Keys = NDArray[np.int64]
    Mask = NDArray[np.bool_]

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
"""The weight of the share of query words that a chunk contains, relative to its BM25F score. A rule of
thumb."""

ALIKE = 2.0
"""The weight of the share that similar words cover. Values from 1.5 to 2.5 give about the same results on the
tuning halves."""

BY_CHANCE = 0.2
"""The cosine of two unrelated words. Values from .1 to .4, or squared cosines, give about the same
results."""

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
    """Whether the query is in a language of the vault that the model knows. In another language, chunks
    contain only names and words that happen to look alike. If the vectors have little weight, coverage is not
    needed."""
    return query.language_weight >= 1.0 and query.language in query.statistics.languages


def chunk_coverage(query: PreparedQuery, keys: Keys, held: Mask) -> tuple[Floats, float]:
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
    `packed` are the words of each chunk. The value is nan for a query word that the model does not know, that
    is still being typed, or that has weight 0."""
    every, sizes = unpack_words(packed)
    seen = np.zeros(_NUMBERS, bool)
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


@dataclass(frozen=True, slots=True)
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
