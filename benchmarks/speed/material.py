"""What all engines are built from: chunks, keyword documents and vectors as our catalog holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vault_indexer.bootstrap import resolve_target
from vault_indexer.daemon.assembly import Assembly, Target
from vault_indexer.index.compatibility import WEIGHTS_BLOB
from vault_indexer.index.jobs import documents_of
from vault_indexer.model import Progress
from vault_indexer.ports import Embedder
from vault_indexer.providers import TokenWeights, embedder_for
from vault_indexer.store.catalog.reader import CatalogReader
from vault_indexer.store.generations import Generation, IndexDir
from vault_indexer.store.keywords.schema import KeywordDocument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

from speed.questions import Question

CANDIDATES = 50
"""As many as a search of ours takes from each ranking; every engine is asked for so many."""

HITS = 10
"""As many a user sees."""

_BATCH = 1_000

Answer = Callable[[Question], list[int]]
"""Chunk keys, best first."""


def nothing() -> None:
    """What is done before a question where nothing is to be done."""


@dataclass(frozen=True, slots=True)
class Opened:
    """An engine that is ready. `before` is called before each question, outside the clock."""

    answer: Answer
    before: Callable[[], None] = field(default=nothing)


Open = Callable[["Material"], AbstractContextManager[Opened]]


@dataclass(frozen=True, slots=True)
class Material:
    """Where vault and index are; `folder` is for what an engine writes. Picklable."""

    vault: Path
    index_dir: Path
    folder: Path
    environ: Mapping[str, str]

    @property
    def target(self) -> Target:
        """Vault, index and configuration, untouched by the user's own."""
        return resolve_target(self.vault, self.index_dir, None, environ=self.environ, options={})

    @property
    def generation(self) -> Generation:
        """The active generation."""
        found = IndexDir(self.index_dir).current()
        if found is None:
            raise SystemExit(f"no index in {self.index_dir}")
        return found

    @contextmanager
    def catalog(self) -> Iterator[CatalogReader]:
        """The catalog of the active generation."""
        reader = CatalogReader(self.generation.catalog)
        try:
            yield reader
        finally:
            reader.close()

    def embedder(self) -> Embedder:
        """The model of the index, with the index's token weights."""
        with self.catalog() as catalog:
            blob = catalog.blob(WEIGHTS_BLOB)
        weights = TokenWeights.from_bytes(blob) if blob is not None else None
        return embedder_for(self.target.config.settings.embedding, weights=weights)

    def assembly(self) -> Assembly:
        """Our own engine's parts."""
        return Assembly.of(self.target)


@dataclass(frozen=True, slots=True)
class Text:
    """A chunk's columns as other engines index them."""

    key: int
    title: str
    headers: str
    content: str


def texts(catalog: CatalogReader) -> Iterator[Text]:
    """All chunks, ordered by key."""
    keys = sorted(catalog.chunk_keys())
    for start in range(0, len(keys), _BATCH):
        rows = catalog.chunks(keys[start : start + _BATCH])
        notes = catalog.notes({row.note_id for row in rows.values()})
        for key, row in sorted(rows.items()):
            yield Text(key, notes[row.note_id].title, row.chunk.header_path, row.chunk.content)


def documents(catalog: CatalogReader) -> Iterator[KeywordDocument]:
    """All chunks as the term lists of our own keyword index."""
    return documents_of(catalog, catalog.chunk_keys())


def vectors(catalog: CatalogReader, model: str) -> tuple[list[int], NDArray[np.float32]]:
    """Keys and vectors of all chunks that have one, ordered by key; shape (chunks, dimension), length 1."""
    import numpy as np

    rows = [(key, vector) for key, vector in catalog.all_chunk_vectors(model) if vector.strip(b"\0")]
    packed = np.frombuffer(b"".join(vector for _, vector in rows), np.float16)
    return [key for key, _ in rows], packed.reshape(len(rows), -1).astype(np.float32)


def fused(*rankings: list[int]) -> list[int]:
    """The first `HITS` by reciprocal rank fusion (Cormack, Clarke and Büttcher 2009) with k = 60."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + 1 / (60 + rank)
    return sorted(scores, key=lambda key: (-scores[key], key))[:HITS]


def silent(_progress: Progress) -> None:
    """No progress is shown."""
