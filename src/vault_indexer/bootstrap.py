"""The composition root: the only place where configuration, models and strategies meet the ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from vault_indexer.chunk import ChoosingChunker
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
from vault_indexer.daemon.keeper import DaemonKeeper
from vault_indexer.daemon.local import LocalKeeper, ReadingKeeper
from vault_indexer.errors import DamagedError, LockedError, ManifestError, UsageError
from vault_indexer.index.budget import NoteMeter
from vault_indexer.index.build import BuildSpec, Pool, build
from vault_indexer.index.live import LiveIndex
from vault_indexer.index.manners import Crew, note_budget, own_usage
from vault_indexer.index.opening import open_to_read
from vault_indexer.index.prepare import Preparer, UnmeteredEmbedder
from vault_indexer.index.sample import first_part, sample_texts
from vault_indexer.index.strategies import StrategiesInUse
from vault_indexer.index.worker import FinishJob, NoteWorker
from vault_indexer.index.workers import WorkerPool
from vault_indexer.model import Note, RebuildReport
from vault_indexer.parse import PARSERS
from vault_indexer.ports import Chunker, Embedder, EmbeddingModel
from vault_indexer.providers import (
    LazyEmbedder,
    TokenWeights,
    WordLlamaEmbedder,
    WordLlamaTokenizer,
    embedder_for,
    is_same_model,
    llm_for,
    model_for,
)
from vault_indexer.search.opened import OpenIndex
from vault_indexer.search.searcher import Searcher
from vault_indexer.service import VaultService
from vault_indexer.store.catalog_pages import is_sound
from vault_indexer.store.catalog_reader import CatalogReader
from vault_indexer.store.generations import Generation, IndexDir
from vault_indexer.store.snapshot import SnapshotHolder
from vault_indexer.text.tokens import ANALYZER
from vault_indexer.vault.ignore import load_ignore_rules
from vault_indexer.vault.walk import Scan, root_identity, scan

WEIGHTS_BLOB = "token_weights"
"""Under this name a generation keeps the token weights it was built with."""

_DRIFT = 1.25
"""Token weights are fitted anew when the vault has this many times the notes, or as many times fewer."""


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

    Without a vault named, the current folder is one if it looks like one.
    """
    chosen = dict(options)
    if index_dir is not None:
        chosen["index.dir"] = str(index_dir)
    reload = partial(load, vault, config_file=config_file, environ=dict(environ), options=chosen)
    config = reload()
    folder = config.vault or _vault_here()
    if config.vault is None:
        reload = partial(load, folder, config_file=config_file, environ=dict(environ), options=chosen)
        config = reload()
    root_identity(folder)
    folder = folder.resolve()
    where = config.settings.index.dir or default_index_dir(folder, environ)
    files = tuple(file.path for file in config_files(folder, config_file, environ))
    return Target(folder, where.expanduser().absolute(), config, reload, files)


def _vault_here() -> Path:
    here = Path.cwd()
    if any((here / name).exists() for name in (".obsidian", ".indexer.toml")):
        return here
    raise UsageError(
        "no vault: name one with --vault DIR or INDEXER_VAULT (this folder does not look like one)"
    )


def open_index(target: Target, report: Report, *, build: bool = True) -> VaultService:
    """The index in this process, for one command: built or rebuilt if need be, in step with the vault.

    Where another process writes the index, it is only read.
    """
    assembly = Assembly.of(target)
    keeper = LocalKeeper(assembly)
    try:
        keeper.open(report, build=build)
    except LockedError as busy:
        return VaultService(ReadingKeeper(assembly, busy))
    except BaseException:
        keeper.close()
        raise
    return VaultService(keeper)


def open_to_rebuild(target: Target) -> VaultService:
    """The index in this process, to be built anew: there need not be one yet. Raises LockedError."""
    keeper = LocalKeeper(Assembly.of(target))
    try:
        keeper.open_as_is()
    except BaseException:
        keeper.close()
        raise
    return VaultService(keeper)


def open_daemon(target: Target) -> VaultService:
    """The index with the threads that keep it. Raises LockedError naming the holder."""
    return VaultService(DaemonKeeper(Assembly.of(target)))


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a worker process needs to prepare notes; picklable. `caches` are catalogs with known vectors."""

    vault: Path
    settings: Settings
    model: EmbeddingModel
    weights: bytes | None
    caches: tuple[Path, ...]
    llm_cache: Path


def make_preparer(recipe: Recipe, meter: NoteMeter) -> Preparer:
    """In the worker: parser, chunker, model and caches of a recipe."""
    embedder = LazyEmbedder(recipe.model, partial(_embedder, recipe.settings, recipe.weights))
    return Preparer(
        recipe.vault,
        recipe.settings.files.max_file_bytes,
        _chunker_of(recipe, UnmeteredEmbedder(embedder, meter)),
        embedder,
        [CatalogReader(path) for path in recipe.caches if path.exists()],
    )


def start_worker(recipe: Recipe) -> NoteWorker:
    """In the worker: its life begins; models load with the first note."""
    meter = NoteMeter(own_usage)
    return NoteWorker(partial(make_preparer, recipe, meter), meter)


def _chunker_of(recipe: Recipe, embedder: Embedder) -> Callable[[Note], Chunker]:
    chunking = recipe.settings.chunking
    llm = llm_for(recipe.settings.llm) if chunking.asks_model else None
    tokenizer = WordLlamaTokenizer() if recipe.settings.embedding.provider == "wordllama" else None
    chunker = ChoosingChunker(
        chunking, embedder=embedder, tokenizer=tokenizer, llm=llm, llm_cache=recipe.llm_cache
    )
    return lambda _: chunker


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

    def config_files(self) -> tuple[Path, ...]:
        """The files that can hold configuration."""
        return self.files

    def reloaded(self) -> Assembly:
        """The same with the configuration read anew; the index stays where it is."""
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
        embedder = _embedder(settings, weights)
        model, caches = embedder.model, (generation.catalog,)
        recipe = Recipe(self.vault, settings, model, weights, caches, self._llm_cache)
        pool, spare = self._pool(recipe, size=self._crew().workers), self._pool(recipe, size=1)
        slow = self._is_slow(settings)
        try:
            live = LiveIndex(
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
        opened = OpenIndex(live.holder, Searcher(embedder, self.settings.search), live.model)
        return OpenGeneration(
            generation, manifest, settings, live, opened, reasons, spare, partial(_close, live, pool, spare)
        )

    def reconfigured(self, opened: OpenGeneration) -> OpenGeneration:
        """The same generation, searched by this configuration."""
        searcher = opened.opened.searcher.with_settings(self.settings.search)
        manifest, reasons = self._fit(opened.generation)
        found = replace(opened.opened, searcher=searcher)
        return replace(opened, manifest=manifest, reasons=reasons, opened=found)

    def open_to_read(self, generation: Generation) -> OpenIndex:
        """Open without writing."""
        manifest, _ = self._fit(generation)
        embedder = _embedder(settings_of(manifest, self.settings), _weights_of(generation))
        holder = SnapshotHolder()
        holder.publish(open_to_read(generation, embedder.model.key, embedder.model.dimension))
        return OpenIndex(holder, Searcher(embedder, self.settings.search), embedder.model.key)

    def build_next(
        self, report: Report, *, refit: bool, soon: bool = False
    ) -> tuple[Generation, RebuildReport]:
        """Build in this process and its workers; known vectors come from the generations that exist."""
        rules = load_ignore_rules(self.vault, self.settings.files)
        found = scan(self.vault, rules, max_file_bytes=self.settings.files.max_file_bytes)
        index_dir = self.index_dir
        current = index_dir.current()
        caches = [one.catalog for one in reversed(index_dir.complete()) if is_sound(one.catalog)]
        sound = current if current is not None and current.catalog in caches else None
        weights = self._weights(found, sound, refit=refit)
        model = _embedder(self.settings, weights).model
        spec = self._spec(model, weights, words_first=soon and self._is_slow(self.settings))
        generation = index_dir.begin()
        recipe = Recipe(self.vault, self.settings, model, weights, tuple(caches), self._llm_cache)
        pool = self._pool(recipe, size=self._crew().workers)
        try:
            result = build(generation, spec, first_part(found) if soon else found, pool, report)
        finally:
            pool.close()
        return index_dir.finish(generation), result

    def _is_slow(self, settings: Settings) -> bool:
        """Whether words are worth having before vectors: static ones cost less than reading the note does."""
        return settings.embedding.provider != "wordllama"

    def _spec(self, model: EmbeddingModel, weights: bytes | None, *, words_first: bool) -> BuildSpec:
        plain = replace(model_for(_unweighted(self.settings)), dimension=model.dimension)
        name = TokenWeights.from_bytes(weights).name if weights is not None else ""
        blobs = {WEIGHTS_BLOB: weights} if weights is not None else {}
        manifest = partial(_manifest_text, self.settings, plain, name)
        return BuildSpec(manifest, model.key, model.dimension, blobs, words_first)

    def _weights(self, found: Scan, current: Generation | None, *, refit: bool) -> bytes | None:
        """Those of the generation in force, so that known vectors stay good; fitted anew where there are
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
        now = len(found.files)
        return not before / _DRIFT <= now <= before * _DRIFT

    def _fit(self, generation: Generation) -> tuple[Manifest, tuple[str, ...]]:
        """What the generation was built with, as far as it tells, and why it does not fit any more."""
        wanted = self.wanted()
        try:
            built = Manifest.from_toml(generation.read_manifest())
        except (ManifestError, OSError, UnicodeDecodeError) as error:
            return wanted, (f"manifest.toml: {error}",)
        chosen = chunking_config(self.settings, strategies_in(built.chunking_config))
        wanted = wanted.model_copy(update={"chunking_config": chosen})
        if is_same_model(wanted.embedding_model, built.embedding_model):
            wanted = wanted.model_copy(update={"embedding_model": built.embedding_model})
        return built, tuple(differences(built, wanted))

    def _pool(self, recipe: Recipe, size: int) -> Pool:
        return WorkerPool(
            size,
            partial(start_worker, recipe),
            self._crew().manners,
            parting=FinishJob(),
            budget=note_budget(self.settings.index),
        )

    @property
    def _llm_cache(self) -> Path:
        return self.root / "llm-cache"

    def _crew(self) -> Crew:
        return Crew.of(self.settings.index, slow=self._is_slow(self.settings))


def _close(live: LiveIndex, *pools: Pool) -> None:
    for pool in pools:  # first: their readers of the catalog would keep the log from being removed
        pool.close()
    live.close()


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


def _weighting(settings: Settings) -> str:
    embedding = settings.embedding
    return (
        embedding.token_weights
        if embedding.provider == "wordllama" and embedding.token_weights != "none"
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
