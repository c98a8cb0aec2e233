"""Opens and builds the generations of one index, from one vault and one configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from vault_indexer.config import LoadedConfig, Manifest, Settings
from vault_indexer.config.manifest import settings_of
from vault_indexer.config.settings import EmbeddingSettings, FilesSettings, IndexSettings
from vault_indexer.config.tables.chunking import ContextualOptions
from vault_indexer.errors import (
    DamagedError,
    ExclusionError,
    IndexUnusableError,
    ProviderError,
    UnavailableError,
)
from vault_indexer.index.build import BuildSpec, build_next
from vault_indexer.index.compatibility import (
    WEIGHTS_BLOB,
    StrategiesInUse,
    check_compatibility,
    manifest_for,
    settings_for_build,
    stored_weights,
    upgraded_settings,
    weights_for_build,
)
from vault_indexer.index.derived import open_to_read
from vault_indexer.index.jobs import Pool
from vault_indexer.index.note_workers import WorkerSpec, make_chunker, make_embedder, start_pool
from vault_indexer.index.reading import FIRST_BYTES, sample_texts
from vault_indexer.index.workers.budget import LOWEST_PRIORITY, PoolPlan, is_slow_model, upkeep_limits
from vault_indexer.index.workers.pool import Slots
from vault_indexer.index.writer import IndexWriter
from vault_indexer.model import Progress, RebuildReport, SkippedFile
from vault_indexer.ports import Chunker, Embedder, EmbeddingModel
from vault_indexer.providers import (
    AUTO_PROVIDERS,
    LazyEmbedder,
    TokenWeights,
    WordLlamaEmbedder,
    better_model_advice,
    model_for,
)
from vault_indexer.search import IndexReader, Searcher
from vault_indexer.store import Generation, IndexDir, SnapshotHolder, index_errors
from vault_indexer.store.catalog import CatalogReader, is_sound
from vault_indexer.system import record, usable_cores
from vault_indexer.vault.ignore import Decision, IgnoreRules, load_ignore_rules
from vault_indexer.vault.walk import Scan, scan

Report = Callable[[Progress], None]

LLM_CALLS = "llm-calls"
"""The subfolder that counts the running calls to the language model. It is in the index folder, or in the
folder of a daemon with several vaults."""

_READ_BY = ("files", "documents", "index", "llm")
"""The configuration tables that workers read notes by. Their current values apply, not those of the build."""


def load_rules_for_index(vault: Path, files: FilesSettings, index_dir: IndexDir) -> IgnoreRules:
    """Returns the active rules. If an ignore list in the vault cannot be parsed, the files already in the
    index stay in it and no others are added, because a process that has just started has no earlier rules.
    Raises ExclusionError if there is no index yet."""
    try:
        return load_ignore_rules(vault, files)
    except ExclusionError:
        known = _known_files(index_dir)
        if known is None:
            raise
        return load_ignore_rules(vault, files, IgnoreRules(known=known))


def _known_files(index_dir: IndexDir) -> dict[str, Decision] | None:
    """Returns the decision of the active generation for each of its files, or None if it cannot be read."""
    try:
        with index_errors(index_dir.root):
            generation = index_dir.current()
            if generation is None:
                return None
            with CatalogReader(generation.catalog) as catalog:
                rows = catalog.files()
    except UnavailableError:
        return None
    return {row.path: Decision.LINK_ONLY if row.state == "linked" else Decision.INDEX for row in rows}


def llm_cache_folder(settings: Settings, root: Path) -> Path:
    """The folder for answers of the language model: the configured one, else one in `root`."""
    return settings.llm.cache_dir or root / "llm-cache"


@record
class Upgrade:
    """The model that a generation will change to, and one worker process that computes its vectors."""

    model: EmbeddingModel
    pool: Pool


@record
class OpenGeneration:
    """A generation open for edits and searches. `settings` are those it was built with.

    `reasons` explain why it no longer fits the configuration (empty: it fits). `advice` explains how to get
    a model that suits the notes better (empty: none is needed). `spare` is one worker process for work other
    than edits. `worker` specifies the workers. `upgrade` is the model that `auto` will change to (None: the
    generation already uses the best available model).
    """

    generation: Generation
    manifest: Manifest
    settings: Settings
    writer: IndexWriter
    reader: IndexReader
    reasons: tuple[str, ...]
    spare: Pool
    worker: WorkerSpec
    close: Callable[[], None]
    advice: str = ""
    upgrade: Upgrade | None = None


@record
class Target:
    """The vault, the index and the configuration that a command works on."""

    vault: Path
    index_dir: Path
    config: LoadedConfig
    reload: Callable[[], LoadedConfig]
    files: tuple[Path, ...] = ()


@record
class Assembly:
    """One vault, one index folder and one configuration. Picklable.

    `make_pool` starts the worker processes. `is_slow` returns whether a model is so slow that a build should
    make words searchable before vectors. `shared_root` is another index folder of nearly the same notes, or
    None. While its own folder is empty, a build reuses the model, the token weights and the vectors of
    `shared_root`. `first_bytes` limits the part of a large vault that a first build makes searchable at once.
    """

    vault: Path
    root: Path
    settings: Settings
    reload: Callable[[], LoadedConfig]
    files: tuple[Path, ...]
    make_pool: Callable[[WorkerSpec, int], Pool] = start_pool
    is_slow: Callable[[EmbeddingSettings], bool] = is_slow_model
    shared_root: Path | None = None
    first_bytes: int = FIRST_BYTES

    @classmethod
    def of(cls, target: Target) -> Assembly:
        return cls(target.vault, target.index_dir, target.config.settings, target.reload, target.files)

    @property
    def index_dir(self) -> IndexDir:
        return IndexDir(self.root)

    @property
    def llm_cache(self) -> Path:
        return llm_cache_folder(self.settings, self.root)

    def chunker(self, strategy: str) -> Chunker:
        """Returns a chunker for one strategy, with the configured options and without a language model.
        Raises UsageError if the strategy does not exist."""
        alone = ContextualOptions(granularity="none")
        chunking = self.settings.chunking.model_copy(update={"rules": (), "contextual": alone})
        settings = self.settings.model_copy(update={"chunking": chunking})
        return make_chunker(settings, LazyEmbedder(self.load_embedder), strategy=strategy)

    def with_reloaded_config(self) -> Assembly:
        """Returns a copy with the configuration read again. The index folder stays the same."""
        return replace(self, settings=self.reload().settings)

    def open_generation(self, generation: Generation) -> OpenGeneration:
        """Opens and repairs a generation. Edits continue with the settings it was built with."""
        fit = check_compatibility(generation, self.settings)
        settings = settings_of(fit.manifest, self.settings)
        try:
            weights = stored_weights(generation)
            embedder = self._embedder_of_index(settings, weights)
        except Exception:
            # This check is the fast one. The writer below verifies every page, which takes seconds.
            if not is_sound(generation.catalog):
                raise DamagedError(f"{generation.catalog} differs from the data written") from None
            raise
        model, caches = embedder.model, (generation.catalog,)
        worker = self._worker(settings, model, weights, caches)
        slow = self.is_slow(settings.embedding)
        # A process of its own for work other than edits, so that no edit waits for it.
        pool, spare = self._pool(worker), self.make_pool(worker, 1)
        documents = self.make_pool(_behind_edits(worker), 1)
        try:
            writer = IndexWriter(
                generation,
                model.key,
                model.dimension,
                pool,
                is_slow_model=slow,
                strategies=StrategiesInUse(generation, settings),
                link_style=fit.manifest.link_style,
                document_pool=documents,
            )
        except BaseException:
            pool.close()
            raise
        reader = IndexReader(writer.holder, Searcher(embedder, self.settings.search), writer.model)
        upgrade = self._upgrade(worker, fit.manifest)
        close = partial(_close, writer, pool, spare, documents, *([upgrade.pool] if upgrade else []))
        advice = self._advice(writer.holder, fit.manifest)
        manifest, reasons = fit.manifest, fit.reasons
        return OpenGeneration(
            generation, manifest, settings, writer, reader, reasons, spare, worker, close, advice, upgrade
        )

    def _upgrade(self, worker: WorkerSpec, built: Manifest) -> Upgrade | None:
        upgraded = upgraded_settings(self.settings, built.embedding_model)
        if upgraded is None:
            return None
        model = model_for(upgraded.embedding)
        spec = replace(worker, settings=_with_priority(upgraded, LOWEST_PRIORITY), model=model, weights=None)
        return Upgrade(model, self.make_pool(spec, 1))

    def reconfigure(self, opened: OpenGeneration) -> OpenGeneration:
        worker = self._reconfigure_workers(opened)
        searcher = opened.reader.searcher.with_settings(self.settings.search)
        fit = check_compatibility(opened.generation, self.settings)
        reader = replace(opened.reader, searcher=searcher)
        advice = self._advice(opened.writer.holder, fit.manifest)
        return replace(
            opened, manifest=fit.manifest, reasons=fit.reasons, reader=reader, advice=advice, worker=worker
        )

    def _reconfigure_workers(self, opened: OpenGeneration) -> WorkerSpec:
        """Makes the workers read notes by this configuration from their next job on. The manifest still
        determines how notes are split and embedded."""
        read_by = {name: getattr(self.settings, name) for name in _READ_BY}
        worker = replace(opened.worker, settings=opened.worker.settings.model_copy(update=read_by))
        if worker == opened.worker:
            return opened.worker
        opened.writer.pool.become(self._pool(worker))
        opened.spare.become(self.make_pool(worker, 1))
        if opened.writer.document_pool is not None:
            opened.writer.document_pool.become(self.make_pool(_behind_edits(worker), 1))
        if opened.upgrade is not None and (upgrade := self._upgrade(worker, opened.manifest)) is not None:
            opened.upgrade.pool.become(upgrade.pool)
        return worker

    def _pool(self, worker: WorkerSpec) -> Pool:
        slow = self.is_slow(worker.settings.embedding)
        return self.make_pool(worker, PoolPlan.of(worker.settings.index, is_slow_model=slow).workers)

    def open_to_read(self, generation: Generation) -> IndexReader:
        settings = settings_of(check_compatibility(generation, self.settings).manifest, self.settings)
        embedder = make_embedder(settings, stored_weights(generation))
        holder = SnapshotHolder()
        holder.publish(open_to_read(generation, embedder.model.key, embedder.model.dimension))
        return IndexReader(holder, Searcher(embedder, self.settings.search), embedder.model.key)

    def build_next(
        self, report: Report, *, recompute_weights: bool, newest_only: bool = False, better: bool = False
    ) -> tuple[Generation, RebuildReport]:
        """Builds in this process and its workers, and reuses the vectors of existing generations. With
        `better`, the build uses the better model of `auto`, no matter how long that takes."""
        rules = self._rules()
        found = self._scan(rules)
        generation, done = self._with_model_for(found, better=better)._build(
            found, report, recompute_weights=recompute_weights, newest_only=newest_only
        )
        problems = (
            SkippedFile(one.source, str(one).removeprefix(f"{one.source}: ")) for one in rules.problems
        )
        return generation, replace(done, skipped=(*problems, *done.skipped))

    def _build(
        self, found: Scan, report: Report, *, recompute_weights: bool, newest_only: bool
    ) -> tuple[Generation, RebuildReport]:
        index_dir = self.index_dir
        # The newest generation first: it contains the most of the texts.
        known = [*reversed(index_dir.complete())]
        if self._predecessor.root != index_dir.root:
            known += reversed(self._predecessor.complete())
        # A damaged catalog could give wrong vectors to a new index.
        caches = [one.catalog for one in known if is_sound(one.catalog)]
        weights = self._weights(found, recompute_weights=recompute_weights)
        model = make_embedder(self.settings, weights).model
        plain = replace(model_for(self.settings.embedding.unweighted()), dimension=model.dimension)
        name = TokenWeights.from_bytes(weights).name if weights is not None else ""
        blobs = {WEIGHTS_BLOB: weights} if weights is not None else {}
        manifest = partial(manifest_for, self.settings, plain, name)
        words_first = newest_only and self.is_slow(self.settings.embedding)
        style = self.settings.links.style_of_build
        spec = BuildSpec(manifest, model.key, model.dimension, blobs, words_first, self.first_bytes, style)
        pool = self._pool(self._worker(self.settings, model, weights, tuple(caches)))
        return build_next(index_dir, spec, found, pool, report, newest_only=newest_only)

    def load_embedder(self) -> Embedder:
        """Loads the model that a build would use now. Writes nothing. Raises ProviderError."""
        found = self._scan(self._rules())
        assembly = self._with_model_for(found)
        return make_embedder(assembly.settings, assembly._weights(found, recompute_weights=False))

    def _with_model_for(self, found: Scan, *, better: bool = False) -> Assembly:
        """Returns a copy with a model for the languages of the vault if the configured provider is `auto`."""
        current = self._predecessor.current()
        sound = current if current is not None and is_sound(current.catalog) else None
        return replace(self, settings=settings_for_build(self.settings, found, sound, better=better))

    def _embedder_of_index(self, settings: Settings, weights: bytes | None) -> Embedder:
        """Returns the embedder of a generation. Raises IndexUnusableError if the configured provider is
        `auto` and the model was uninstalled: a rebuild then chooses another model."""
        try:
            return make_embedder(settings, weights)
        except ProviderError as error:
            if self.settings.embedding.provider == "auto" and settings.embedding.provider in AUTO_PROVIDERS:
                raise IndexUnusableError(f"the index needs its embedding model: {error}") from error
            raise

    def _advice(self, holder: SnapshotHolder, built: Manifest) -> str:
        if self.settings.embedding.provider != "auto":
            return ""
        with holder.lease() as snapshot:
            return better_model_advice(snapshot.catalog.notes_by_language(), built.embedding_model.provider)

    def _rules(self) -> IgnoreRules:
        return load_rules_for_index(self.vault, self.settings.files, self.index_dir)

    def _scan(self, rules: IgnoreRules) -> Scan:
        return scan(self.vault, rules, limits=self.settings.files.limits)

    def _worker(
        self, settings: Settings, model: EmbeddingModel, weights: bytes | None, caches: tuple[Path, ...]
    ) -> WorkerSpec:
        calls = self.root / LLM_CALLS
        return WorkerSpec(self.vault, settings, model, weights, caches, self.llm_cache, calls)

    def _weights(self, found: Scan, *, recompute_weights: bool) -> bytes | None:
        if not self.settings.embedding.weighting:
            return None

        def fit() -> bytes:
            return TokenWeights.fit(WordLlamaEmbedder().count(sample_texts(self.vault, found))).to_bytes()

        return weights_for_build(found, self._predecessor, fit, recompute_weights=recompute_weights)

    @property
    def _predecessor(self) -> IndexDir:
        own = self.index_dir
        if self.shared_root is None or own.current() is not None:
            return own
        return IndexDir(self.shared_root)


def _behind_edits(worker: WorkerSpec) -> WorkerSpec:
    """Returns the worker with a priority below that of workers that read edits."""
    settings = worker.settings
    return replace(worker, settings=_with_priority(settings, upkeep_limits(settings.index).nice))


def _with_priority(settings: Settings, nice: int) -> Settings:
    return settings.model_copy(update={"index": settings.index.model_copy(update={"nice": nice})})


def _close(writer: IndexWriter, *pools: Pool) -> None:
    for pool in pools:  # first: their readers of the catalog would keep the log from being removed
        pool.close()
    writer.close()


class SharedBudget:
    """The limits that the vaults of one process share. Builds run one at a time, each with all workers. For
    edits each vault has one worker, and together they run at most as many workers as a single vault would.
    The workers of all vaults share the limit of calls to the language model.

    Thread-safe. It is pickled with an assembly for a build in a separate process. There it limits only the
    calls to the language model, because builds run one at a time.
    """

    def __init__(self, settings: IndexSettings | None, llm_calls: Path | None = None) -> None:
        """`settings` of None set no limit. `llm_calls` is the folder that counts the calls of all vaults
        (None: each vault counts its own)."""
        self.build, self.vectors = Slots(), Slots()
        self._slots = Slots(settings.workers or usable_cores()) if settings else None
        self._llm_calls = llm_calls

    def make_pool(self, worker: WorkerSpec, size: int) -> Pool:
        """Starts a pool as `start_pool` does, within the shared limits."""
        worker = replace(worker, llm_calls=self._llm_calls or worker.llm_calls)
        if self._slots is not None:
            self._slots.resize(worker.settings.index.workers or usable_cores())
        return start_pool(worker, size if self._slots is None else 1, self._slots)

    def __reduce__(self) -> tuple[type[SharedBudget], tuple[None, Path | None]]:
        """Pickles only the folder of the calls."""
        return SharedBudget, (None, self._llm_calls)
