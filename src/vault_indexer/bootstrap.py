"""The composition root: the only place where configuration, models and strategies meet the ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from vault_indexer.chunk import STRATEGIES, ChoosingChunker, chunker_for
from vault_indexer.config import (
    SPEC_VERSION,
    LoadedConfig,
    Manifest,
    Settings,
    chunking_config,
    config_files,
    default_index_dir,
    load,
)
from vault_indexer.config.manifest import differences, language_model, settings_of, strategies_in
from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.config.sources import OptionValue
from vault_indexer.daemon.assembly import OpenGeneration, Report
from vault_indexer.daemon.local_session import LocalSession, ReadOnlySession
from vault_indexer.daemon.session import DaemonSession
from vault_indexer.errors import (
    DamagedError,
    IndexUnusableError,
    LockedError,
    ManifestError,
    ProviderError,
    UsageError,
    VaultError,
)
from vault_indexer.index.budget import NoteMeter
from vault_indexer.index.build import BuildSpec, Pool, build
from vault_indexer.index.inspection import Inspector, LateEmbedder
from vault_indexer.index.jobs import FinishJob, NoteWorker
from vault_indexer.index.opening import open_to_read
from vault_indexer.index.plan import is_indexed
from vault_indexer.index.pool_plan import PoolPlan, is_slow_model, note_budget
from vault_indexer.index.prepare import Preparer, UnmeteredEmbedder
from vault_indexer.index.sample import first_part, has_drifted, sample_languages, sample_texts
from vault_indexer.index.strategies import StrategiesInUse
from vault_indexer.index.worker_pool import WorkerPool
from vault_indexer.index.writer import IndexWriter
from vault_indexer.model import RebuildReport
from vault_indexer.parse import PARSERS
from vault_indexer.ports import Chunker, Embedder, EmbeddingModel
from vault_indexer.providers import (
    AUTO_PROVIDERS,
    LazyEmbedder,
    TokenWeights,
    WordLlamaEmbedder,
    WordLlamaTokenizer,
    better_model_advice,
    choose_provider,
    embedder_for,
    is_same_model,
    llm_for,
    model_for,
)
from vault_indexer.search import IndexReader, Searcher
from vault_indexer.service import VaultService
from vault_indexer.store import Generation, IndexDir, SnapshotHolder, index_errors
from vault_indexer.store.catalog import CatalogReader, is_sound
from vault_indexer.system import EDIT_BYTES, own_usage, size_of
from vault_indexer.text.tokens import ANALYZER
from vault_indexer.vault.ignore import load_ignore_rules
from vault_indexer.vault.walk import Scan, root_identity, scan

WEIGHTS_BLOB = "token_weights"
"""Under this name a generation keeps the token weights it was built with."""

_WITH_TOKENIZER = frozenset({"auto", *AUTO_PROVIDERS})
"""Providers for which sizes in tokens are measured by the tokens of wordllama: what `auto` chooses must not
decide how notes are split."""

_BYTES_PER_NOTE_BYTE = 5
"""An index is about five times as large as its notes: 304 MB for 16,593 notes of 61 MB."""


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
    folder = config.vault
    if folder is None:
        raise UsageError(_no_vault(config_file, environ))
    # The daemon reads its configuration again when a file changes, but stays with its vault.
    reload = partial(load, folder, config_file=config_file, environ=dict(environ), options=chosen)
    try:
        root_identity(folder)
    except VaultError as error:
        named = "" if vault else f" (named by {config.origins['vault']})"
        raise VaultError(f"{error}{named}") from error
    folder = folder.resolve()
    where = config.settings.index.dir or default_index_dir(folder, environ)
    files = tuple(file.path for file in config_files(folder, config_file, environ))
    return Target(folder, where.expanduser().absolute(), config, reload, files)


def _no_vault(config_file: Path | None, environ: Mapping[str, str]) -> str:
    file = config_files(None, config_file, environ)[-1].path
    return (
        'no vault: name one with --vault DIR, with INDEXER_VAULT, or by `vault = "DIR"` at the top of '
        f"{file}; or go into one: neither this folder nor one above it holds .obsidian or .indexer.toml"
    )


def open_index(target: Target, report: Report, *, build: bool = True) -> VaultService:
    """The index in this process, for one command: built or rebuilt if need be, in step with the vault.

    Where another process writes the index, it is only read.
    """
    assembly = Assembly.of(target)
    session = LocalSession(assembly)
    try:
        session.open(report, build=build)
    except LockedError as busy:
        return VaultService(ReadOnlySession(assembly, busy))
    except BaseException:
        session.close()
        raise
    return VaultService(session)


def open_to_rebuild(target: Target) -> VaultService:
    """The index in this process, for a rebuild: there need not be one yet. Raises LockedError."""
    session = LocalSession(Assembly.of(target))
    try:
        session.open_as_is()
    except BaseException:
        session.close()
        raise
    return VaultService(session)


def open_daemon(target: Target) -> VaultService:
    """The index with the threads that keep it. Raises LockedError naming the holder."""
    return VaultService(DaemonSession(Assembly.of(target)))


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
    chunker = make_chunker(worker.settings, unmetered, llm_cache=worker.llm_cache)
    return Preparer(
        worker.vault,
        worker.settings.files.max_file_bytes,
        lambda _: chunker,
        embedder,
        [CatalogReader(path) for path in worker.caches if path.exists()],
        asks_model=worker.settings.chunking.asks_model,
    )


def start_worker(worker: WorkerSpec) -> NoteWorker:
    """In the worker: it starts; models load with the first note."""
    meter = NoteMeter(own_usage)
    return NoteWorker(partial(make_preparer, worker, meter), meter)


def make_chunker(
    settings: Settings, embedder: Embedder, *, strategy: str | None = None, llm_cache: Path | None = None
) -> Chunker:
    """The chunker that the settings choose, with every model that a strategy may need.

    It follows the rules of the settings and the frontmatter of each note. With `strategy`, it cuts every
    note by that one. Models are loaded when a note first needs them. `llm_cache` is the folder where answers
    of the language model are kept (None: nowhere). Raises UsageError for a strategy that does not exist.
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
        llm=llm_for(settings.llm) if chunking.asks_model else None,
        llm_cache=llm_cache,
    )


def make_inspector(target: Target, strategy: str | None = None) -> Inspector:
    """What cuts notes as a build would, with the token weights of the index where there is one.

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


@dataclass(frozen=True, slots=True)
class Assembly:
    """Implements daemon.assembly.Assembly: one vault, one index folder, one configuration. Picklable."""

    vault: Path
    root: Path
    settings: Settings
    reload: Callable[[], LoadedConfig]
    files: tuple[Path, ...]

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
        return self.root / "llm-cache"

    def config_files(self) -> tuple[Path, ...]:
        """The files that can hold configuration."""
        return self.files

    def reloaded(self) -> Assembly:
        """The same with the configuration read again; the index stays where it is."""
        return replace(self, settings=self.reload().settings)

    def wanted(self) -> Manifest:
        """What a generation built now would be built with, but for the name of its token weights."""
        return _manifest(self.settings, model_for(_unweighted(self.settings)), _weighting(self.settings))

    def open_generation(self, generation: Generation) -> OpenGeneration:
        """Open and heal; edits go on by what the generation was built with."""
        manifest, reasons = self._fit(generation)
        settings = settings_of(manifest, self.settings)
        if not is_sound(generation.catalog):
            raise DamagedError(f"catalog {generation.catalog}: it is not what was written")
        weights = _weights_of(generation)
        embedder = self._embedder_of_index(settings, weights)
        model, caches = embedder.model, (generation.catalog,)
        worker = WorkerSpec(self.vault, settings, model, weights, caches, self.llm_cache)
        pool = self._pool(worker, size=self._pool_plan(settings).workers)
        spare = self._pool(worker, size=1)
        slow = self._is_slow(settings)
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
        advice = self._advice(writer.holder, manifest)
        return OpenGeneration(generation, manifest, settings, writer, reader, reasons, spare, close, advice)

    def reconfigured(self, opened: OpenGeneration) -> OpenGeneration:
        """The same generation, searched by this configuration."""
        searcher = opened.reader.searcher.with_settings(self.settings.search)
        manifest, reasons = self._fit(opened.generation)
        found = replace(opened.reader, searcher=searcher)
        advice = self._advice(opened.writer.holder, manifest)
        return replace(opened, manifest=manifest, reasons=reasons, reader=found, advice=advice)

    def open_to_read(self, generation: Generation) -> IndexReader:
        """Open without writing."""
        manifest, _ = self._fit(generation)
        embedder = _embedder(settings_of(manifest, self.settings), _weights_of(generation))
        holder = SnapshotHolder()
        holder.publish(open_to_read(generation, embedder.model.key, embedder.model.dimension))
        return IndexReader(holder, Searcher(embedder, self.settings.search), embedder.model.key)

    def build_next(
        self, report: Report, *, refit: bool, soon: bool = False
    ) -> tuple[Generation, RebuildReport]:
        """Build in this process and its workers; known vectors come from the generations that exist."""
        found = self._scan()
        return self._with_model_for(found)._build(found, report, refit=refit, soon=soon)

    def _build(
        self, found: Scan, report: Report, *, refit: bool, soon: bool
    ) -> tuple[Generation, RebuildReport]:
        index_dir = self.index_dir
        caches = [one.catalog for one in reversed(index_dir.complete()) if is_sound(one.catalog)]
        sound = self._sound_generation()
        weights = self._weights(found, sound, refit=refit)
        model = _embedder(self.settings, weights).model
        spec = self._spec(model, weights, words_first=soon and self._is_slow(self.settings))
        worker = WorkerSpec(self.vault, self.settings, model, weights, tuple(caches), self.llm_cache)
        pool = self._pool(worker, size=self._pool_plan(self.settings).workers)
        with index_errors(self.root, _build_bytes(found, sound)):
            generation = index_dir.begin()
            try:
                result = build(generation, spec, first_part(found) if soon else found, pool, report)
            except BaseException:
                pool.close()  # first, for its processes write there
                index_dir.discard(generation)
                raise
            finally:
                pool.close()
            return index_dir.finish(generation), result

    def load_embedder(self) -> Embedder:
        """The model as a build would use it now, loaded. Nothing is written. Raises ProviderError."""
        found = self._scan()
        assembly = self._with_model_for(found)
        weights = assembly._weights(found, self._sound_generation(), refit=False)
        return _embedder(assembly.settings, weights)

    def _with_model_for(self, found: Scan) -> Assembly:
        """The same, with a model for the languages of the vault where the configuration says `auto`."""
        if self.settings.embedding.provider != "auto":
            return self
        current = self._sound_generation()
        built_with = ""
        if current is not None:
            with suppress(ManifestError, OSError, UnicodeDecodeError):
                built_with = Manifest.from_toml(current.read_manifest()).embedding_model.provider
        provider = choose_provider(sample_languages(self.vault, found), current=built_with)
        return replace(self, settings=_with_provider(self.settings, provider))

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

    def _scan(self) -> Scan:
        rules = load_ignore_rules(self.vault, self.settings.files)
        return scan(self.vault, rules, max_file_bytes=self.settings.files.max_file_bytes)

    def _sound_generation(self) -> Generation | None:
        current = self.index_dir.current()
        return current if current is not None and is_sound(current.catalog) else None

    def _is_slow(self, settings: Settings) -> bool:
        return is_slow_model(settings.embedding)

    def _spec(self, model: EmbeddingModel, weights: bytes | None, *, words_first: bool) -> BuildSpec:
        plain = replace(model_for(_unweighted(self.settings)), dimension=model.dimension)
        name = TokenWeights.from_bytes(weights).name if weights is not None else ""
        blobs = {WEIGHTS_BLOB: weights} if weights is not None else {}
        manifest = partial(_manifest_text, self.settings, plain, name)
        return BuildSpec(manifest, model.key, model.dimension, blobs, words_first)

    def _weights(self, found: Scan, current: Generation | None, *, refit: bool) -> bytes | None:
        """Those of the active generation, so that known vectors stay good; fitted again where there are
        none, or where a rebuild was asked for and the vault has changed much in size."""
        if not _weighting(self.settings):
            return None
        old = _weights_of(current) if current else None
        if old is not None and not (refit and self._has_drifted(found, current)):
            return old
        counts = WordLlamaEmbedder().count(sample_texts(self.vault, found))
        return TokenWeights.fit(counts).to_bytes()

    def _has_drifted(self, found: Scan, current: Generation | None) -> bool:
        if current is None:
            return True
        catalog = CatalogReader(current.catalog)
        try:
            before = catalog.counts().notes
        finally:
            catalog.close()
        return has_drifted(before, len(found.files))

    def _fit(self, generation: Generation) -> tuple[Manifest, tuple[str, ...]]:
        """What the generation was built with, as far as it tells, and why it does not fit any more."""
        try:
            built = Manifest.from_toml(generation.read_manifest())
        except (ManifestError, OSError, UnicodeDecodeError) as error:
            return self.wanted(), (f"manifest.toml: {error}",)
        wanted = self._keeping_model(built.embedding_model).wanted()
        chosen = chunking_config(self.settings, strategies_in(built.chunking_config))
        wanted = wanted.model_copy(update={"chunking_config": chosen})
        if is_same_model(wanted.embedding_model, built.embedding_model):
            wanted = wanted.model_copy(update={"embedding_model": built.embedding_model})
        return built, tuple(differences(built, wanted))

    def _keeping_model(self, built: EmbeddingModel) -> Assembly:
        """The same, with the model of an index where the configuration says `auto` and `auto` may have chosen
        it: only a build chooses another."""
        if self.settings.embedding.provider != "auto" or built.provider not in AUTO_PROVIDERS:
            return self
        return replace(self, settings=_with_provider(self.settings, built.provider))

    def _pool(self, worker: WorkerSpec, size: int) -> Pool:
        return WorkerPool(
            size,
            partial(start_worker, worker),
            self._pool_plan(worker.settings).limits,
            final_job=FinishJob(),
            budget=note_budget(self.settings.index),
        )

    def _pool_plan(self, settings: Settings) -> PoolPlan:
        return PoolPlan.of(self.settings.index, slow=self._is_slow(settings))


def _build_bytes(found: Scan, current: Generation | None) -> int:
    """About what a build writes: as much as the last one did, or what notes of this size usually need."""
    if current is not None:
        return EDIT_BYTES + size_of(current.folder)
    return EDIT_BYTES + _BYTES_PER_NOTE_BYTE * sum(file.stat.size for file in found.files if is_indexed(file))


def _close(writer: IndexWriter, *pools: Pool) -> None:
    for pool in pools:  # first: their readers of the catalog would keep the log from being removed
        pool.close()
    writer.close()


def _manifest_text(settings: Settings, model: EmbeddingModel, weights: str, strategies: Iterable[str]) -> str:
    return _manifest(settings, model, weights, strategies).to_toml()


def _manifest(
    settings: Settings, model: EmbeddingModel, weights: str, strategies: Iterable[str] = ()
) -> Manifest:
    """`strategies` are those that notes chose: their options count as well."""
    return Manifest(
        spec_version=SPEC_VERSION,
        embedding_model=model,
        parsers=dict(PARSERS),
        chunking_config=chunking_config(settings, strategies),
        analyzer=ANALYZER,
        token_weights=weights,
        language_model=language_model(settings),
    )


def _with_provider(settings: Settings, provider: str) -> Settings:
    embedding = settings.embedding.model_copy(update={"provider": provider})
    return settings.model_copy(update={"embedding": embedding})


def _weighting(settings: Settings) -> str:
    embedding = settings.embedding
    return (
        embedding.token_weights
        if embedding.provider in ("auto", "wordllama") and embedding.token_weights != "none"
        else ""
    )


def _unweighted(settings: Settings) -> EmbeddingSettings:
    return settings.embedding.model_copy(update={"token_weights": "none"})


def _weights_of(generation: Generation) -> bytes | None:
    catalog = CatalogReader(generation.catalog)
    try:
        return catalog.blob(WEIGHTS_BLOB)
    finally:
        catalog.close()
