"""The candidates of a search as one table, with a row for each chunk and a column for each of its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
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
"""The bits of a key in its catalog: 20 for the chunk, and 28 for up to 268 million notes."""

_KEYS = (1 << _KEY_BITS) - 1


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class _Column:
    """Creates a column without rows. `new` is the value of a row before a stage fills the column."""

    new: float | None
    dtype: type[object] = np.float64

    def __call__(self) -> NDArray[Any]:
        return np.empty(0, self.dtype)


_KEY = _RANK = _Column(0, np.int64)
_PATHS = _Column(None, object)
_UNKNOWN, _ZERO, _ONE = map(_Column, (np.nan, 0.0, 1.0))


@dataclass(eq=False)
class Candidates:
    """The candidates of one search. The stages of ranking add rows and fill columns; one thread uses it.

    `key` tells the chunks of all vaults apart: the number of the vault stands above the key in its catalog.
    So does `note` for notes. A rank of 0 and the value nan are "unknown", which is not the same as a score of
    0. A rank of `depth` + 1 is that of a score which was only looked up, as another ranking gave the chunk.

    `named` is the first chunk of each note whose name is the query, by note. `coverage_weight` is what the
    coverage of a chunk counts beside its BM25F score. `last_cosine` and `last_words` are the scores of the
    last chunk of each ranking. `fusion_order` has the keys of all rows that were fused, best first, of which
    the first `reranked` stayed (0: all). `evidence` are the columns that reranking adds, by name: what each
    of its sources says, and their mean, which has the name `evidence`, too.
    """

    depth: int
    named: dict[int, int] = field(default_factory=dict)
    coverage_weight: float = 0.0
    last_cosine: float = 0.0
    last_words: float = 0.0
    reranked: int = 0
    fusion_order: Keys = field(default_factory=lambda: np.empty(0, np.int64))
    held: dict[int, HeldWords] = field(default_factory=dict)
    evidence: dict[str, Floats] = field(default_factory=dict)
    key: Keys = field(default_factory=_KEY)
    vector_rank: Ints = field(default_factory=_RANK)
    cosine: Floats = field(default_factory=_UNKNOWN)
    word_rank: Ints = field(default_factory=_RANK)
    words: Floats = field(default_factory=_UNKNOWN)
    link_rank: Ints = field(default_factory=_RANK)
    link: Floats = field(default_factory=_UNKNOWN)
    via: NDArray[np.object_] = field(default_factory=_PATHS)
    note_cosine: Floats = field(default_factory=_UNKNOWN)
    note_coverage: Floats = field(default_factory=_UNKNOWN)
    coverage: Floats = field(default_factory=_UNKNOWN)
    fused: Floats = field(default_factory=_ZERO)
    fused_rank: Ints = field(default_factory=_RANK)
    age: Floats = field(default_factory=_ONE)
    title: Floats = field(default_factory=_ZERO)
    score: Floats = field(default_factory=_ZERO)

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
        return rows[self.key[rows].argsort()]

    def best_first(self, values: Floats) -> Ints:
        """Returns all rows by descending value, and equal values by key."""
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
            added = keys if name == "key" else np.full(len(keys), column.new, column.dtype)
            setattr(self, name, np.concatenate([getattr(self, name), added]))
        unknown = np.full(len(keys), np.nan)
        self.evidence = {name: np.concatenate([values, unknown]) for name, values in self.evidence.items()}


_COLUMNS: Mapping[str, _Column] = MappingProxyType(
    {one.name: one.default_factory for one in fields(Candidates) if isinstance(one.default_factory, _Column)}
)


def global_keys(vault: int, keys: Keys) -> Keys:
    """Returns the keys, unique among all vaults, of chunks of one catalog."""
    return keys | vault << _KEY_BITS


def local_notes(notes: Ints) -> Ints:
    return notes & (_KEYS >> CHUNK_KEY_BITS)
