"""Creates the worker processes that prepare notes, with their chunkers and models."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from vault_indexer.chunk import STRATEGIES, ChoosingChunker, chunker_for
from vault_indexer.chunk.llm_client import LimitedLlm, LlmSwitch
from vault_indexer.config import Settings
from vault_indexer.errors import UsageError
from vault_indexer.index.jobs import FinishJob, NoteWorker, Pool
from vault_indexer.index.reading import Preparer, UnmeteredEmbedder
from vault_indexer.index.workers.budget import NoteMeter, PoolPlan, is_slow_model, note_budget
from vault_indexer.index.workers.pool import Slots, WorkerPool
from vault_indexer.ports import Chunker, Embedder, EmbeddingModel, Llm
from vault_indexer.providers import (
    AUTO_PROVIDERS,
    LazyEmbedder,
    TokenWeights,
    WordLlamaTokenizer,
    embedder_for,
    llm_for,
)
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import own_usage, record

_WITH_TOKENIZER = frozenset({"auto", *AUTO_PROVIDERS})
"""Providers for which token sizes are measured with the tokenizer of wordllama. The model that `auto` chooses
must not affect how notes are split."""


@record
class WorkerSpec:
    """The parameters of a worker process that prepares notes. Picklable. `caches` are catalogs with reusable
    vectors. Workers with the same folder `llm_calls` share the limit of calls to the language model."""

    vault: Path
    settings: Settings
    model: EmbeddingModel
    weights: bytes | None
    caches: tuple[Path, ...]
    llm_cache: Path
    llm_calls: Path


def make_preparer(worker: WorkerSpec, meter: NoteMeter) -> Preparer:
    """Creates the parser, chunker, model and caches of a worker. Runs in the worker process."""
    embedder = LazyEmbedder(partial(make_embedder, worker.settings, worker.weights), worker.model)
    unmetered = UnmeteredEmbedder(embedder, meter)
    llm = None
    if worker.settings.chunking.asks_model:
        most = worker.settings.chunking.contextual.max_workers
        llm = LlmSwitch(LimitedLlm(llm_for(worker.settings.llm), worker.llm_calls, most))
    chunker = make_chunker(worker.settings, unmetered, llm_cache=worker.llm_cache, llm=llm)
    return Preparer(
        worker.vault,
        worker.settings.files.limits,
        lambda _: chunker,
        embedder,
        # An older generation may have been removed since the worker was specified.
        [CatalogReader(path) for path in worker.caches if path.exists()],
        llm=llm,
        style=worker.settings.links.style_of_build,
        outside=meter.outside,
    )


def start_worker(worker: WorkerSpec) -> NoteWorker:
    """Creates the worker. Runs in the worker process. Models are loaded with the first note."""
    meter = NoteMeter(own_usage)
    return NoteWorker(partial(make_preparer, worker, meter), meter)


def make_chunker(
    settings: Settings,
    embedder: Embedder,
    *,
    strategy: str | None = None,
    llm_cache: Path | None = None,
    llm: Llm | None = None,
) -> Chunker:
    """Returns the chunker that the settings choose, with every model that a strategy may need.

    It follows the rules of the settings and the frontmatter of each note. With `strategy`, it splits every
    note by that strategy. Models are loaded when a note first needs them. `llm_cache` is the folder that
    stores the answers of the language model (None: they are not stored), and `llm` is that model (None: the
    one of the settings). Raises UsageError if the strategy does not exist.
    """
    if strategy is not None and strategy not in STRATEGIES:
        raise UsageError(f"no strategy {strategy!r}: choose one of {', '.join(STRATEGIES)}")
    choice = {} if strategy is None else {"strategy": strategy}
    chunking = settings.chunking.model_copy(update=choice)
    make = ChoosingChunker if strategy is None else chunker_for
    return make(
        chunking,
        embedder=embedder,
        tokenizer=WordLlamaTokenizer() if settings.embedding.provider in _WITH_TOKENIZER else None,
        llm=(llm or llm_for(settings.llm)) if chunking.asks_model else None,
        llm_cache=llm_cache,
    )


def make_embedder(settings: Settings, weights: bytes | None) -> Embedder:
    """Returns the model that the settings choose, with the token weights of a build. Raises ProviderError."""
    return embedder_for(
        settings.embedding, weights=TokenWeights.from_bytes(weights) if weights is not None else None
    )


def start_pool(worker: WorkerSpec, size: int, slots: Slots | None = None) -> Pool:
    """Returns a pool of up to `size` worker processes, with the limits of the worker's settings. Each process
    starts with its first job. The pool works only while it has one of the `slots` (None: not shared)."""
    index = worker.settings.index
    start = partial(start_worker, worker)
    limits = PoolPlan.of(index, is_slow_model=is_slow_model(worker.settings.embedding)).limits
    # FinishJob: a worker that is replaced must not lose the segments that it has written.
    return WorkerPool(size, start, limits, FinishJob(), note_budget(index), slots)
