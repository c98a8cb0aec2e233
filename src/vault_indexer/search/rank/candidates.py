"""The candidates of a search as one table, with a row for each chunk and a column for each of its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vault_indexer.arrays import Floats, Keys, Mask
from vault_indexer.arrays import Positions as Ints
from vault_indexer.config.settings import SearchSettings
from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.system import record

_KEY_BITS = 48
"""The bits of a key in its catalog: 20 for the chunk, and 28 for up to 268 million notes."""

_KEYS = (1 << _KEY_BITS) - 1


@record
class RankRequest:
    """The input of a ranking: the query prepared for each vault (the models must be comparable), the
    settings, and the maximum number of hits. The hits are notes with `by_note`, otherwise chunks."""

    queries: Sequence[PreparedQuery]
    settings: SearchSettings
    limit: int
    by_note: bool


class HeldWords(NamedTuple):
    """The query terms that rows of one vault contain. `mask` has the shape (rows, terms)."""

    rows: Ints
    mask: Mask


def _column(new: float | None, dtype: type[object] = np.float64) -> Mapping[str, Any]:
    """The metadata of a column. `new` is the value of a row before a stage fills the column."""
    return {"new": new, "dtype": dtype}


_KEY = _RANK = _column(0, np.int64)
_PATHS = _column(None, object)
_UNKNOWN, _ZERO, _ONE = map(_column, (np.nan, 0.0, 1.0))


@dataclass(eq=False)
class Candidates:
    """The candidates of one search. The ranking stages add rows and fill columns, all in one thread.

    `key` identifies a chunk among all vaults: its high bits are the number of the vault, its low bits the key
    in the catalog. `note` identifies notes in the same way. A rank of 0 and the value nan mean "unknown",
    which differs from a score of 0. A rank of `depth` + 1 marks a score that was only looked up, because
    another ranking contributed the chunk. `named` maps each note whose name is the query to its first chunk.
    `coverage_weight` is the weight of a chunk's coverage relative to its BM25F score. `last_cosine` and
    `last_words` are the scores of the last chunk of each ranking. `fusion_order` contains the keys of all
    fused rows, best first; the first `reranked` of them remain in the table (0: all). `evidence` contains the
    columns that reranking adds, by name: the values of each source, and under the name `evidence` their mean.
    """

    depth: int
    named: dict[int, int] = field(default_factory=dict)
    coverage_weight: float = 0.0
    last_cosine: float = 0.0
    last_words: float = 0.0
    reranked: int = 0
    fusion_order: Keys = field(init=False)
    held: dict[int, HeldWords] = field(default_factory=dict)
    evidence: dict[str, Floats] = field(default_factory=dict)
    key: Keys = field(init=False, metadata=_KEY)
    vector_rank: Ints = field(init=False, metadata=_RANK)
    cosine: Floats = field(init=False, metadata=_UNKNOWN)
    word_rank: Ints = field(init=False, metadata=_RANK)
    words: Floats = field(init=False, metadata=_UNKNOWN)
    link_rank: Ints = field(init=False, metadata=_RANK)
    link: Floats = field(init=False, metadata=_UNKNOWN)
    via: NDArray[np.object_] = field(init=False, metadata=_PATHS)
    note_cosine: Floats = field(init=False, metadata=_UNKNOWN)
    note_coverage: Floats = field(init=False, metadata=_UNKNOWN)
    coverage: Floats = field(init=False, metadata=_UNKNOWN)
    fused: Floats = field(init=False, metadata=_ZERO)
    fused_rank: Ints = field(init=False, metadata=_RANK)
    age: Floats = field(init=False, metadata=_ONE)
    document: Floats = field(init=False, metadata=_ONE)
    title: Floats = field(init=False, metadata=_ZERO)
    score: Floats = field(init=False, metadata=_ZERO)

    def __post_init__(self) -> None:
        self.fusion_order = np.empty(0, np.int64)
        for name, column in _COLUMNS.items():
            setattr(self, name, np.empty(0, column["dtype"]))

    def __len__(self) -> int:
        return len(self.key)

    @property
    def note(self) -> Ints:
        return self.key >> CHUNK_KEY_BITS

    @property
    def local_key(self) -> Keys:
        return self.key & _KEYS

    @property
    def vault(self) -> Ints:
        return self.key >> _KEY_BITS

    def rows_at(self, keys: Keys) -> Ints:
        """Returns the rows of the keys. Keys without a row are added."""
        if not len(keys):
            return np.empty(0, np.int64)
        row_of = {key: row for row, key in enumerate(self.key.tolist())}
        new = [key for key in dict.fromkeys(keys.tolist()) if key not in row_of]
        if new:
            row_of |= {key: row for row, key in enumerate(new, start=len(self))}
            self._append(np.array(new, np.int64))
        return np.array([row_of[key] for key in keys.tolist()], np.int64)

    def rows_of_vault(self, number: int) -> Ints:
        rows = np.flatnonzero(self.vault == number)
        # By key: the indices look up ascending keys fastest.
        return rows[self.key[rows].argsort()]

    def best_first(self, values: Floats) -> Ints:
        """Returns all rows by descending value, and equal values by key."""
        # `lexsort` sorts by its last key first.
        return np.lexsort((self.key, -values))

    def normalized_scores(self) -> Floats:
        """Returns the scores relative to the best one, or 1 for all rows if every score is 0."""
        top = self.score.max(initial=0.0)
        return self.score / top if top else np.ones(len(self))

    def take(self, rows: Ints | Mask) -> None:
        """Keeps only these rows, in this order."""
        for name in _COLUMNS:
            setattr(self, name, getattr(self, name)[rows])
        self.evidence = {name: values[rows] for name, values in self.evidence.items()}

    def _append(self, keys: Keys) -> None:
        for name, column in _COLUMNS.items():
            added = keys if name == "key" else np.full(len(keys), column["new"], column["dtype"])
            setattr(self, name, np.concatenate([getattr(self, name), added]))
        # New rows have no evidence yet, which is not the same as evidence of 0.
        unknown = np.full(len(keys), np.nan)
        self.evidence = {name: np.concatenate([values, unknown]) for name, values in self.evidence.items()}


_COLUMNS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {one.name: one.metadata for one in fields(Candidates) if one.metadata}
)


def global_keys(vault: int, keys: Keys) -> Keys:
    """Returns the keys, unique among all vaults, of chunks of one catalog."""
    return keys | vault << _KEY_BITS


def local_notes(notes: Ints) -> Ints:
    return notes & (_KEYS >> CHUNK_KEY_BITS)


# Fuses the three rankings into one list, by rank only.


def fuse(table: Candidates, request: RankRequest) -> None:
    """Sets the score and rank of each row in the fusion. With `search.rerank`, keeps only the first rows, at
    least twice the requested number of hits, and the rows of notes whose name is the query."""
    # A note whose name is the query belongs to the result, even if no ranking has found it.
    table.rows_at(np.array(list(table.named.values()), np.int64))
    table.fused = fused_scores(table, request.settings)
    order = table.best_first(table.fused)
    table.fused_rank[order] = np.arange(1, len(order) + 1)
    table.fusion_order = table.key[order]
    if request.settings.rerank:
        table.reranked = max(request.settings.rerank, 2 * request.limit)
        named = np.isin(table.fusion_order, list(table.named.values()))
        table.take(order[(table.fused_rank[order] <= table.reranked) | named])


def fused_scores(table: Candidates, settings: SearchSettings) -> Floats:
    """Returns for each row the sum of weight / (`rrf_k` + rank) over its ranks so far: reciprocal rank fusion
    (Cormack, Clarke and Büttcher, SIGIR 2009)."""
    weights = settings.weights
    fused = np.zeros(len(table))
    # Always in this order, because the sum of floating-point numbers depends on it.
    for weight, ranks in (
        (weights.graph, table.link_rank),
        (weights.keyword, table.word_rank),
        (weights.vector, table.vector_rank),
    ):
        fused[ranks > 0] += weight / (settings.rrf_k + ranks[ranks > 0])
    return fused
