"""What a backend of the derived indices answers: the ports, and the values that pass through them.

A question goes to the vaults of a `VaultScope`, which is asked for everywhere: there is no way to search
without saying in which vaults. Milvus answers (`store.milvus`). `tests/store/test_store_milvus_contract.py`
holds it to what a reference over a snapshot answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from vault_indexer.errors import UsageError
from vault_indexer.model import first_per_note
from vault_indexer.text.fold import tag_name
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

MAX_LIMIT = 1000
"""Hits of one question at the most. A rule of thumb."""

DEEPEST = 16_000
"""So many chunks of a ranking are looked at, at the most, for a limit per note; Milvus allows 16,384."""


@dataclass(frozen=True, slots=True)
class VaultScope:
    """The ids of the vaults that a question may read; whoever asks has been checked before. An empty scope
    finds nothing. Make one with `of`."""

    vaults: tuple[str, ...]

    @classmethod
    def of(cls, vaults: Iterable[str]) -> VaultScope:
        """The scope of these vaults, each once. Raises TypeError for a single text: it is one vault's id, and
        not a list of letters."""
        if isinstance(vaults, str):
            raise TypeError("a scope takes a list of vaults")
        return cls(tuple(sorted(set(vaults))))

    def only(self, vaults: Iterable[str]) -> VaultScope:
        """The part of this scope within these vaults: a question can narrow what it may
        read, not widen it."""
        wanted = set(vaults)
        return VaultScope(tuple(vault for vault in self.vaults if vault in wanted))


@dataclass(frozen=True, slots=True)
class Selection:
    """Which chunks of a scope may be found, and how many.

    Of `folders`, `paths`, `note_ids` and `kinds` one must fit, of `tags` all; an empty one leaves everything.
    A folder is a path from the vault without a slash at the end, and holds what is in it at any depth. A tag
    is without `#`, in any case, and also stands for the tags below it (`a` for `a/b`). A kind is a value of
    `vault.FileKind`. `note_ids` are those of the vault's catalog: they make sense in a scope of one vault.
    `per_note` is how many hits one note may have, 0 for any number. `depth` is how many chunks each of the
    two rankings of a hybrid search contributes.
    """

    limit: int = 10
    per_note: int = 0
    folders: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    note_ids: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()
    depth: int = 60

    def __post_init__(self) -> None:
        """Raises UsageError for what nobody can answer."""
        if not 1 <= self.limit <= MAX_LIMIT:
            raise UsageError(f"limit = {self.limit}: 1 to {MAX_LIMIT}")
        if not 0 <= self.per_note <= MAX_LIMIT:
            raise UsageError(f"per_note = {self.per_note}: 0 to {MAX_LIMIT}")
        if not 1 <= self.depth <= DEEPEST:
            raise UsageError(f"depth = {self.depth}: 1 to {DEEPEST}")

    @property
    def folded_tags(self) -> tuple[str, ...]:
        """The tags as both backends store them."""
        return tuple(map(tag_name, self.tags))


@dataclass(frozen=True, slots=True)
class Fusion:
    """How a hybrid search joins its rankings: by rank, 1 / (`rank_constant` + rank) summed (RRF), or by the
    mean of the scores, each brought into [0, 1] and weighted (`weighted`)."""

    kind: Literal["rrf", "weighted"] = "rrf"
    rank_constant: int = 60
    vector_weight: float = 1.0
    keyword_weight: float = 1.0


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A chunk that was found, with what its vault's catalog knows of it.

    `key` and `note_id` are those of the catalog. Positions are characters of the note, lines 1-based.
    `score` is a cosine, a BM25 score or a fused one: comparable within one answer only. `body` is None where
    the backend does not store it.
    """

    vault: str
    key: int
    note_id: int
    path: str
    title: str
    header_path: str
    language: str
    modified_ns: int
    start_pos: int
    end_pos: int
    start_line: int
    end_line: int
    score: float
    body: str | None


class ChunkRetriever(Protocol):
    """Searches the chunks of a scope. Every answer is best first; equal scores are ordered by vault and key.

    Any thread may call its methods. Raises BackendError where the backend cannot answer.
    """

    def nearest(self, scope: VaultScope, vector: Vector, selection: Selection) -> list[FoundChunk]:
        """The chunks of highest cosine with the vector (shape (dimension,), length 1); none for zeros."""
        ...

    def best(self, scope: VaultScope, terms: Sequence[QueryTerm], selection: Selection) -> list[FoundChunk]:
        """The best chunks by BM25 that hold any of the words."""
        ...

    def hybrid(
        self,
        scope: VaultScope,
        vector: Vector,
        terms: Sequence[QueryTerm],
        selection: Selection,
        fusion: Fusion,
    ) -> list[FoundChunk]:
        """Both rankings as one."""
        ...


@dataclass(frozen=True, slots=True)
class PublishedChunk:
    """A chunk as it is written to a backend that knows no catalog.

    `tags` are folded, without `#`. `fields` holds the index terms (`text.tokens.analyze`) by field of the
    keyword index. `vector` is float16 bytes, None where the chunk has none.
    """

    key: int
    note_id: int
    path: str
    title: str
    kind: str
    tags: tuple[str, ...]
    language: str
    modified_ns: int
    header_path: str
    start_pos: int
    end_pos: int
    start_line: int
    end_line: int
    body: str
    fields: tuple[tuple[str, tuple[str, ...]], ...]
    vector: bytes | None


def limit_per_note(ask: Callable[[int], Sequence[FoundChunk]], selection: Selection) -> list[FoundChunk]:
    """The first hits of a ranking of which each note has at most `per_note`. `ask` gives the ranking's first
    so many; it is asked for more while too few are left."""
    reach = selection.limit * (2 if selection.per_note else 1)
    while True:
        found = ask(reach)
        left = list(first_per_note(found, note_of_chunk, selection.per_note))[: selection.limit]
        if len(left) == selection.limit or len(found) < reach or reach >= DEEPEST:
            return left
        reach = min(8 * reach, DEEPEST)


def note_of_chunk(found: FoundChunk) -> tuple[str, int]:
    """What names the note of a chunk among those of all vaults."""
    return found.vault, found.note_id


def in_order(found: Iterable[FoundChunk]) -> list[FoundChunk]:
    """Best first; equal scores by vault and key."""
    return sorted(found, key=lambda one: (-one.score, one.vault, one.key))


def tags_above(tags: Iterable[str]) -> list[str]:
    """The tags and those above them, each once, in order: `a`, `a/b` of `a/b`."""
    return list(
        dict.fromkeys(
            "/".join(parts[: depth + 1])
            for tag in tags
            for parts in [tag.split("/")]
            for depth in range(len(parts))
        )
    )
