"""The composition root: the only place where configuration, models and strategies meet the ports."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from vault_indexer.chunk import STRATEGIES, ChoosingChunker, chunker_for
from vault_indexer.chunk.llm_client import LlmSwitch
from vault_indexer.config import (
    LoadedConfig,
    Manifest,
    NamedVault,
    Settings,
    config_files,
    default_index_dir,
    load,
    load_own,
    vaults_of,
)
from vault_indexer.config.chunking import ContextualOptions
from vault_indexer.config.manifest import settings_of
from vault_indexer.config.settings import EmbeddingSettings, IndexSettings
from vault_indexer.config.sources import OptionValue
from vault_indexer.daemon.assembly import LLM_CACHE, OpenGeneration, Report
from vault_indexer.daemon.discovery import refuse_foreign
from vault_indexer.daemon.exclusions import load_rules_for_index
from vault_indexer.daemon.local_session import LocalSession, ReadOnlySession
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.daemon.session import DaemonSession
from vault_indexer.daemon.turn import Turn
from vault_indexer.errors import (
    DamagedError,
    IndexUnusableError,
    LockedError,
    ProviderError,
    UsageError,
    VaultError,
)
from vault_indexer.index.auto_model import settings_for_build
from vault_indexer.index.budget import NoteMeter
from vault_indexer.index.build import BuildSpec, Pool, build_next
from vault_indexer.index.fit import Fit, fit_of, manifest_for
from vault_indexer.index.inspection import Inspector, LateEmbedder
from vault_indexer.index.jobs import FinishJob, NoteWorker
from vault_indexer.index.opening import open_to_read
from vault_indexer.index.pool_plan import PoolPlan, is_slow_model, limits_of, note_budget
from vault_indexer.index.prepare import Preparer, UnmeteredEmbedder
from vault_indexer.index.published_chunks import ChunkWorker
from vault_indexer.index.publishing import CatalogPublisher, EpochMark, Publication, PublishedVault
from vault_indexer.index.sample import FIRST_BYTES, sample_texts
from vault_indexer.index.shared_pool import SharedPool, WorkerPlaces
from vault_indexer.index.strategies import StrategiesInUse
from vault_indexer.index.weights import WEIGHTS_BLOB, stored_weights, weights_for_build
from vault_indexer.index.worker_pool import WorkerPool
from vault_indexer.index.writer import IndexWriter
from vault_indexer.model import RebuildReport, SkippedFile
from vault_indexer.ports import Chunker, Embedder, EmbeddingModel, Llm
from vault_indexer.providers import (
    AUTO_PROVIDERS,
    LazyEmbedder,
    TokenWeights,
    WordLlamaEmbedder,
    WordLlamaTokenizer,
    better_model_advice,
    embedder_for,
    llm_for,
    model_for,
)
from vault_indexer.search import IndexReader, Searcher
from vault_indexer.service import VaultService
from vault_indexer.store import Generation, IndexDir, SnapshotHolder
from vault_indexer.store.catalog import CatalogReader, is_sound
from vault_indexer.store.milvus import MilvusConnection, MilvusPublisher, MilvusVaults, place_digest
from vault_indexer.system import own_usage, usable_cores
from vault_indexer.text.counts import which_vault
from vault_indexer.vault.ignore import IgnoreRules
from vault_indexer.vault.walk import Scan, root_identity, scan

_WITH_TOKENIZER = frozenset({"auto", *AUTO_PROVIDERS})
"""Providers for which sizes in tokens are measured by the tokens of wordllama: what `auto` chooses must not
decide how notes are split."""


@dataclass(frozen=True, slots=True)
class Target:
    """Which vault, which index, which configuration a command works on."""

    vault: Path
    index_dir: Path
    config: LoadedConfig
    reload: Callable[[], LoadedConfig]
    files: tuple[Path, ...] = ()


def resolve_target(
    vault: Path | None,
    index_dir: Path | None,
    config_file: Path | None,
    *,
    environ: Mapping[str, str],
    options: Mapping[str, OptionValue],
) -> Target:
    """From arguments and environment to a target. Raises UsageError, VaultError or ConfigError.

    Where no vault is named, neither here nor by INDEXER_VAULT, it is the one of the user's configuration.
    """
    chosen = dict(options)
    if index_dir is not None:
        chosen["index.dir"] = str(index_dir)
    config = load(vault, config_file=config_file, environ=environ, options=chosen)
    listed = list(config.settings.vaults.items())
    if config.vault is None and len(listed) == 1:
        config = load(listed[0][1].path, config_file=config_file, environ=environ, options=chosen)
    folder = config.vault
    if folder is None and listed:
        raise UsageError(which_vault(dict(listed)))
    if folder is None:
        raise UsageError('No vault here. Run "indexer init ~/Notes" once, or add --vault DIR.')
    # The daemon reads its configuration again when a file changes, but stays with its vault.
    reload = partial(load, folder, config_file=config_file, environ=dict(environ), options=chosen)
    try:
        root_identity(folder)
    except VaultError as error:
        key = "vault" if config.settings.vault else "vaults"
        named = "" if vault else f" (named by {config.origins[key]})"
        raise VaultError(f"{error}{named}") from error
    folder = folder.resolve()
    where = _index_folder(folder, config, environ)
    refuse_foreign(where)
    files = tuple(file.path for file in config_files(folder, config_file, environ))
    return Target(folder, where.expanduser().absolute(), config, reload, files)


def _index_folder(folder: Path, config: LoadedConfig, environ: Mapping[str, str]) -> Path:
    """The key `index.dir`, else the default folder. A vault of the table `[vaults]` has a folder of its own,
    which only an option or a variable overrules."""
    default, chosen = default_index_dir(folder, environ), config.settings.index.dir
    own = [one for one in config.settings.vaults.values() if one.path.resolve() == folder]
    if own and not config.origins["index.dir"].startswith(("option", "environment")):
        return own[0].index_dir or default
    return chosen or default


def named_vaults(config_file: Path | None, environ: Mapping[str, str]) -> tuple[NamedVault, ...]:
    """The vaults of the user's own configuration, none if it has no table of them. Raises ConfigError, and
    UsageError where two of them would share a folder or an index."""
    settings = load_own(config_file, environ).settings
    found = vaults_of(settings.vaults, settings.vault)
    for kind, folders in (
        ("are the same folder", [(one.name, one.path) for one in found]),
        ("have the same index folder", [(one.name, _index_dir_of(one, environ)) for one in found]),
    ):
        seen: dict[Path, str] = {}
        for name, folder in folders:
            other = seen.setdefault(folder.resolve(), name)
            if other != name:
                raise UsageError(f"[vaults]: {other} and {name} {kind}, {folder}: give each its own")
    return found


def named_target(named: NamedVault, config_file: Path | None, environ: Mapping[str, str]) -> Target:
    """The target of a vault of the table. Raises as `resolve_target`."""
    where = _index_dir_of(named, environ)
    return resolve_target(named.path, where, config_file, environ=environ, options={})


def _index_dir_of(named: NamedVault, environ: Mapping[str, str]) -> Path:
    return named.index_dir or default_index_dir(named.path, environ)


def open_index(target: Target, report: Report, *, build: bool = True) -> VaultService:
    """The index in this process, for one command: built or rebuilt if need be, in step with the vault.

    Where another process writes the index, it is only read.
    """
    assembly = Assembly.of(target)
    session = LocalSession(assembly)
    try:
        session.open(report, build=build)
    except LockedError as busy:
        return VaultService(ReadOnlySession(assembly, busy), assembly.chunker)
    except BaseException:
        session.close()
        raise
    return VaultService(session, assembly.chunker)


def open_to_rebuild(target: Target) -> VaultService:
    """The index in this process, for a rebuild: there need not be one yet. Raises LockedError."""
    session = LocalSession(Assembly.of(target))
    try:
        session.open_as_is()
    except BaseException:
        session.close()
        raise
    return VaultService(session)


def open_daemon(target: Target, budget: SharedBudget | None = None) -> VaultService:
    """The index with the threads that keep it; `budget` is shared with other vaults of the process. Raises
    LockedError naming the holder."""
    assembly = Assembly.of(target)
    if budget is None:
        return VaultService(DaemonSession(assembly), assembly.chunker)
    assembly = replace(assembly, make_pool=budget.make_pool)
    return VaultService(DaemonSession(assembly, turns=(budget.build, budget.vectors)), assembly.chunker)


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """What a worker process needs to prepare notes; picklable. `caches` are catalogs with known vectors."""

    vault: Path
    settings: Settings
    model: EmbeddingModel
    weights: bytes | None
    caches: tuple[Path, ...]
    llm_cache: Path


def make_preparer(worker: WorkerSpec, meter: NoteMeter) -> Preparer:
    """In the worker: parser, chunker, model and caches of a worker."""
    embedder = LazyEmbedder(worker.model, partial(_embedder, worker.settings, worker.weights))
    unmetered = UnmeteredEmbedder(embedder, meter)
    llm = LlmSwitch(llm_for(worker.settings.llm)) if worker.settings.chunking.asks_model else None
    chunker = make_chunker(worker.settings, unmetered, llm_cache=worker.llm_cache, llm=llm)
    return Preparer(
        worker.vault,
        worker.settings.files.max_file_bytes,
        lambda _: chunker,
        embedder,
        [CatalogReader(path) for path in worker.caches if path.exists()],
        llm=llm,
    )


def start_worker(worker: WorkerSpec) -> NoteWorker:
    """In the worker: it starts; models load with the first note."""
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
    """The chunker that the settings choose, with every model that a strategy may need.

    It follows the rules of the settings and the frontmatter of each note. With `strategy`, it splits every
    note by that one. Models are loaded when a note first needs them. `llm_cache` is the folder where answers
    of the language model are kept (None: nowhere), and `llm` that model (None: the one of the settings).
    Raises UsageError for a strategy that does not exist.
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


def make_inspector(target: Target, strategy: str | None = None) -> Inspector:
    """What splits notes as a build would, with the token weights of the index where there is one.

    Nothing is written, except answers of a language model beside an index that exists. Raises UsageError
    for a strategy that does not exist.
    """
    assembly = Assembly.of(target)
    chunker = make_chunker(
        assembly.settings,
        LateEmbedder(assembly.load_embedder),
        strategy=strategy,
        llm_cache=assembly.llm_cache if assembly.root.is_dir() else None,
    )
    return Inspector(assembly.vault, assembly.settings.files, chunker)


def _embedder(settings: Settings, weights: bytes | None) -> Embedder:
    return embedder_for(
        settings.embedding, weights=TokenWeights.from_bytes(weights) if weights is not None else None
    )


def start_pool(worker: WorkerSpec, size: int) -> Pool:
    """A pool of up to `size` worker processes, limited as the worker's settings say; each starts with its
    first job."""
    return _pool(worker, size, None)


def _pool(worker: WorkerSpec, size: int, places: WorkerPlaces | None) -> Pool:
    index = worker.settings.index
    start = partial(start_worker, worker)
    limits = PoolPlan.of(index, slow=is_slow_model(worker.settings.embedding)).limits
    final_job, budget = FinishJob(), note_budget(index)
    if places is None:
        return WorkerPool(size, start, limits, final_job, budget)
    return SharedPool(places, size, start, limits, final_job, budget)


class SharedBudget:
    """What the vaults of one process share: builds are made in turn, each with all workers; for edits each
    vault has one worker, of which as many are alive and at work as one vault alone would have.

    Any thread may use it. It is pickled with an assembly, for a build in a process of its own: there it
    limits nothing, since builds are in turn.
    """

    def __init__(self, settings: IndexSettings | None) -> None:
        """`settings` of None limit nothing."""
        self.build, self.vectors = Turn(), Turn()
        self._places = WorkerPlaces(settings.workers or usable_cores()) if settings else None

    def make_pool(self, worker: WorkerSpec, size: int) -> Pool:
        """As `start_pool`."""
        return start_pool(worker, size) if self._places is None else _pool(worker, 1, self._places)

    def __reduce__(self) -> tuple[type[SharedBudget], tuple[None]]:
        """Nothing of it goes to another process."""
        return SharedBudget, (None,)


@dataclass(frozen=True, slots=True)
class Assembly:
    """Implements daemon.assembly.Assembly: one vault, one index folder, one configuration. Picklable.

    `make_pool` starts the worker processes, and `is_slow` says whether words are worth having before vectors.
    `shared_root` is another index folder of nearly the same notes (None: there is none): a build takes its
    model, its token weights and the vectors it knows from there, as long as its own folder is empty.
    `first_bytes` bounds the part of a large vault that a first build makes searchable at once.
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
        """The assembly of a command's target."""
        return cls(target.vault, target.index_dir, target.config.settings, target.reload, target.files)

    @property
    def index_dir(self) -> IndexDir:
        """Where the generations are."""
        return IndexDir(self.root)

    @property
    def llm_cache(self) -> Path:
        """The folder where answers of the language model are kept."""
        return self.root / LLM_CACHE

    def chunker(self, strategy: str) -> Chunker:
        """What splits notes by one strategy, with the options of the configuration and without a language
        model. Raises UsageError for a strategy that does not exist."""
        alone = ContextualOptions(granularity="none")
        chunking = self.settings.chunking.model_copy(update={"rules": (), "contextual": alone})
        settings = self.settings.model_copy(update={"chunking": chunking})
        return make_chunker(settings, LateEmbedder(self.load_embedder), strategy=strategy)

    def config_files(self) -> tuple[Path, ...]:
        """The files that can hold configuration."""
        return self.files

    def with_reloaded_config(self) -> Assembly:
        """The same with the configuration read again; the index stays where it is."""
        return replace(self, settings=self.reload().settings)

    def open_generation(self, generation: Generation) -> OpenGeneration:
        """Open and heal; edits go on by what the generation was built with."""
        fit = self._fit(generation)
        settings = settings_of(fit.manifest, self.settings)
        try:
            weights = stored_weights(generation)
            embedder = self._embedder_of_index(settings, weights)
        except Exception:
            # Whether every page is what was written, the writer below finds out: that takes seconds.
            if not is_sound(generation.catalog):
                raise DamagedError(f"{generation.catalog} is not what was written") from None
            raise
        model, caches = embedder.model, (generation.catalog,)
        worker = WorkerSpec(self.vault, settings, model, weights, caches, self.llm_cache)
        slow = self.is_slow(settings.embedding)
        pool = self.make_pool(worker, PoolPlan.of(settings.index, slow=slow).workers)
        spare = self.make_pool(worker, 1)
        try:
            writer = IndexWriter(
                generation,
                model.key,
                model.dimension,
                pool,
                slow=slow,
                strategies=StrategiesInUse(generation, settings),
            )
        except BaseException:
            pool.close()
            raise
        reader = IndexReader(writer.holder, Searcher(embedder, self.settings.search), writer.model)
        close = partial(_close, writer, pool, spare)
        advice = self._advice(writer.holder, fit.manifest)
        return OpenGeneration(
            generation, fit.manifest, settings, writer, reader, fit.reasons, spare, close, advice
        )

    def reconfigure(self, opened: OpenGeneration) -> OpenGeneration:
        """The same generation, searched by this configuration."""
        searcher = opened.reader.searcher.with_settings(self.settings.search)
        fit = self._fit(opened.generation)
        reader = replace(opened.reader, searcher=searcher)
        advice = self._advice(opened.writer.holder, fit.manifest)
        return replace(opened, manifest=fit.manifest, reasons=fit.reasons, reader=reader, advice=advice)

    def publication(self, opened: OpenGeneration) -> Publication | None:
        """What a generation is published as, if the settings say so. Raises UnavailableError if the token's
        variable is not set."""
        milvus = self.settings.milvus
        if self.settings.index.backend != "milvus":
            return None
        connection = MilvusConnection.from_settings(milvus, os.environ)
        vaults = MilvusVaults(connection, milvus.collection_prefix)
        published = published_vault(self.vault, milvus.keeper)
        model = opened.reader.searcher.embedder.model
        publisher = MilvusPublisher(vaults, published.vault, model, store_bodies=milvus.store_bodies)
        worker = ChunkWorker(opened.generation.catalog, limits_of(self.settings.index))
        number = opened.generation.number
        catalog = CatalogPublisher(vaults, publisher, published, number, model.key, worker)
        return Publication(catalog, EpochMark(opened.generation))

    def open_to_read(self, generation: Generation) -> IndexReader:
        """Open without writing."""
        settings = settings_of(self._fit(generation).manifest, self.settings)
        embedder = _embedder(settings, stored_weights(generation))
        holder = SnapshotHolder()
        holder.publish(open_to_read(generation, embedder.model.key, embedder.model.dimension))
        return IndexReader(holder, Searcher(embedder, self.settings.search), embedder.model.key)

    def build_next(
        self, report: Report, *, refit: bool, soon: bool = False
    ) -> tuple[Generation, RebuildReport]:
        """Build in this process and its workers; known vectors come from the generations that exist."""
        rules = self._rules()
        found = self._scan(rules)
        generation, done = self._with_model_for(found)._build(found, report, refit=refit, soon=soon)
        problems = (
            SkippedFile(one.source, str(one).removeprefix(f"{one.source}: ")) for one in rules.problems
        )
        return generation, replace(done, skipped=(*problems, *done.skipped))

    def _build(
        self, found: Scan, report: Report, *, refit: bool, soon: bool
    ) -> tuple[Generation, RebuildReport]:
        index_dir = self.index_dir
        known = [*reversed(index_dir.complete())]
        if self._predecessor.root != index_dir.root:
            known += reversed(self._predecessor.complete())
        caches = [one.catalog for one in known if is_sound(one.catalog)]
        weights = self._weights(found, refit=refit)
        model = _embedder(self.settings, weights).model
        slow = self.is_slow(self.settings.embedding)
        spec = self._spec(model, weights, words_first=soon and slow)
        worker = WorkerSpec(self.vault, self.settings, model, weights, tuple(caches), self.llm_cache)
        pool = self.make_pool(worker, PoolPlan.of(self.settings.index, slow=slow).workers)
        return build_next(index_dir, spec, found, pool, report, soon=soon)

    def load_embedder(self) -> Embedder:
        """The model as a build would use it now, loaded. Nothing is written. Raises ProviderError."""
        found = self._scan(self._rules())
        assembly = self._with_model_for(found)
        return _embedder(assembly.settings, assembly._weights(found, refit=False))

    def _with_model_for(self, found: Scan) -> Assembly:
        """The same, with a model for the languages of the vault where the configuration says `auto`."""
        current = self._predecessor.current()
        sound = current if current is not None and is_sound(current.catalog) else None
        return replace(self, settings=settings_for_build(self.settings, self.vault, found, sound))

    def _embedder_of_index(self, settings: Settings, weights: bytes | None) -> Embedder:
        """The embedder of a generation. Raises IndexUnusableError if the configuration says `auto` and the
        model was uninstalled: then a build chooses another."""
        try:
            return _embedder(settings, weights)
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
        return scan(self.vault, rules, max_file_bytes=self.settings.files.max_file_bytes)

    def _spec(self, model: EmbeddingModel, weights: bytes | None, *, words_first: bool) -> BuildSpec:
        plain = replace(self._plain_model(), dimension=model.dimension)
        name = TokenWeights.from_bytes(weights).name if weights is not None else ""
        blobs = {WEIGHTS_BLOB: weights} if weights is not None else {}
        manifest = partial(manifest_for, self.settings, plain, name)
        return BuildSpec(manifest, model.key, model.dimension, blobs, words_first, self.first_bytes)

    def _weights(self, found: Scan, *, refit: bool) -> bytes | None:
        if not self.settings.embedding.weighting:
            return None
        fit = partial(_fit_weights, self.vault, found)
        return weights_for_build(found, self._predecessor, fit, refit=refit)

    @property
    def _predecessor(self) -> IndexDir:
        """Where the generation is that the next one follows."""
        own = self.index_dir
        if self.shared_root is None or own.current() is not None:
            return own
        return IndexDir(self.shared_root)

    def _fit(self, generation: Generation) -> Fit:
        return fit_of(generation, self.settings)

    def _plain_model(self) -> EmbeddingModel:
        return model_for(self.settings.embedding.unweighted())


def _fit_weights(vault: Path, found: Scan) -> bytes:
    return TokenWeights.fit(WordLlamaEmbedder().count(sample_texts(vault, found))).to_bytes()


def unpublish(target: Target, environ: Mapping[str, str]) -> bool:
    """Remove what is published of the vault from the server of its settings; whether there was any.

    Raises UsageError if the settings name no server, LockedError if a daemon would publish the vault again,
    UnavailableError if the token's variable is not set, and BackendError.
    """
    settings = target.config.settings
    milvus = settings.milvus
    if not milvus.uri:
        raise UsageError("milvus.uri is not set: there is no server from which to remove the vault")
    with ExitStack() as held:
        if settings.index.backend == "milvus" and target.index_dir.is_dir():
            _keep_from_publishing(target.index_dir, held)
        connection = held.enter_context(closing(MilvusConnection.from_settings(milvus, environ)))
        vaults = MilvusVaults(connection, milvus.collection_prefix)
        return vaults.drop(published_vault(target.vault, milvus.keeper).vault)


def _keep_from_publishing(index_dir: Path, held: ExitStack) -> None:
    try:
        held.enter_context(IndexLock(index_dir, "unpublish"))
    except LockedError as busy:
        raise LockedError(
            f'{busy}, which would publish the vault again: stop it, or set index.backend = "embedded"'
        ) from busy


def published_vault(vault: Path, keeper: str) -> PublishedVault:
    """The identity of a vault on a server: its folder's name, and a hash of that with the keeper's, so that
    vaults of one name on two machines stay apart. The same on each start."""
    keeper = keeper or socket.gethostname()
    readable = re.sub(r"[^A-Za-z0-9]+", "-", vault.name).strip("-").lower()[:40] or "vault"
    name = vault.name.encode("utf-8", "replace").decode("utf-8")
    return PublishedVault(f"{readable}-{place_digest(str(vault), keeper)}", name, keeper)


def _close(writer: IndexWriter, *pools: Pool) -> None:
    for pool in pools:  # first: their readers of the catalog would keep the log from being removed
        pool.close()
    writer.close()
