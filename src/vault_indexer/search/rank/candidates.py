"""The candidates of a search as one table: a row for each chunk, a column for each thing known of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vault_indexer.config.settings import SearchSettings
from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.search.prepare import PreparedQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Keys = NDArray[np.int64]
    Mask = NDArray[np.bool_]

_KEY_BITS = 48
"""Of a key in its catalog: 20 for the chunk, and 28 for 268 million notes."""

_KEYS = (1 << _KEY_BITS) - 1


@dataclass(frozen=True, slots=True)
class RankRequest:
    """What is ranked: the query as it was prepared for each vault (of comparable models), by which settings,
    for an answer of at most `limit` hits, notes (`by_note`) or chunks."""

    queries: Sequence[PreparedQuery]
    settings: SearchSettings
    limit: int
    by_note: bool


class HeldWords(NamedTuple):
    """Which of the terms of a query some rows of one vault hold: shape (rows, terms)."""

    rows: Ints
    mask: Mask


class Candidates:
    """The candidates of one search. The stages of ranking add rows and fill columns; one thread uses it.

    `key` tells the chunks of all vaults apart: the number of the vault stands above the key in its catalog.
    So does `note` for notes. A rank of 0 and the value nan are "unknown", which is not the same as a score of
    0. A rank of `depth` + 1 is that of a score which was only looked up, as another ranking gave the chunk.

    `named` is the first chunk of each note whose name is the query, by note. `coverage_weight` is what the
    coverage of a chunk counts beside its BM25F score. `last_cosine` and `last_words` are the scores of the
    last chunk of each ranking. `fusion_order` has the keys of all rows that were fused, best first, of which
    the first `reranked` stayed (0: all).
    """

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.coverage_weight = 0.0
        self.named: dict[int, int] = {}
        self.last_cosine = 0.0
        self.last_words = 0.0
        self.reranked = 0
        self.fusion_order: Keys = np.empty(0, np.int64)
        self.held: dict[int, HeldWords] = {}
        self.key: Keys = np.empty(0, np.int64)
        self.vector_rank: Ints = np.empty(0, np.int64)
        self.cosine: Floats = np.empty(0)
        self.word_rank: Ints = np.empty(0, np.int64)
        self.words: Floats = np.empty(0)
        self.link_rank: Ints = np.empty(0, np.int64)
        self.link: Floats = np.empty(0)
        self.via: NDArray[np.object_] = np.empty(0, object)
        self.note_cosine: Floats = np.empty(0)
        self.note_coverage: Floats = np.empty(0)
        self.coverage: Floats = np.empty(0)
        self.fused: Floats = np.empty(0)
        self.fused_rank: Ints = np.empty(0, np.int64)
        self.evidence: Floats = np.empty(0)
        self.age: Floats = np.empty(0)
        self.title: Floats = np.empty(0)
        self.score: Floats = np.empty(0)

    def __len__(self) -> int:
        return len(self.key)

    @property
    def note(self) -> Ints:
        """The note of each row, among those of all vaults."""
        return self.key >> CHUNK_KEY_BITS

    @property
    def local_key(self) -> Keys:
        """The key of each row in the catalog of its vault."""
        return self.key & _KEYS

    @property
    def vault(self) -> Ints:
        """The number of the vault of each row."""
        return self.key >> _KEY_BITS

    def rows_at(self, keys: Keys) -> Ints:
        """The rows of the keys, which join where they are none yet."""
        if not len(keys):
            return np.empty(0, np.int64)
        row_of = {key: row for row, key in enumerate(self.key.tolist())}
        new = [key for key in dict.fromkeys(keys.tolist()) if key not in row_of]
        if new:
            row_of |= {key: row for row, key in enumerate(new, start=len(self))}
            self._append(np.array(new, np.int64))
        return np.array([row_of[key] for key in keys.tolist()], np.int64)

    def rows_of_vault(self, number: int) -> Ints:
        """The rows of one vault, by key."""
        rows = np.flatnonzero(self.vault == number)
        return rows[self.key[rows].argsort()]

    def best_first(self, values: Floats) -> Ints:
        """All rows by falling value; equal ones by key."""
        return np.lexsort((self.key, -values))

    def normalized_scores(self) -> Floats:
        """The scores relative to the best one: 1 for all where nothing says anything for any of them."""
        top = self.score.max(initial=0.0)
        return self.score / top if top else np.ones(len(self))

    def take(self, rows: Ints | Mask) -> None:
        """Keep these rows, in this order."""
        for name, _ in _columns():
            setattr(self, name, getattr(self, name)[rows])

    def _append(self, keys: Keys) -> None:
        for name, default in _columns():
            added = keys if name == "key" else np.full(len(keys), default, getattr(self, name).dtype)
            setattr(self, name, np.concatenate([getattr(self, name), added]))


def global_keys(vault: int, keys: Keys) -> Keys:
    """The keys of chunks of one catalog among those of all vaults."""
    return keys | vault << _KEY_BITS


def local_notes(notes: Ints) -> Ints:
    """The ids of notes in their catalogs."""
    return notes & (_KEYS >> CHUNK_KEY_BITS)


def _columns() -> Iterator[tuple[str, Any]]:
    """The columns, each with what a new row has."""
    yield "key", 0
    for name in ("vector_rank", "word_rank", "link_rank", "fused_rank"):
        yield name, 0
    for name in ("cosine", "words", "link", "note_cosine", "note_coverage", "coverage", "evidence"):
        yield name, np.nan
    yield "via", None
    for name in ("fused", "title", "score"):
        yield name, 0.0
    yield "age", 1.0
