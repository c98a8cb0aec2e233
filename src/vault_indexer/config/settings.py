"""Every key of the configuration with its type, default, unit, bounds and meaning, and who may set it.

The classes mirror the TOML tables. A key is declared here (or in `chunking*.py`, or by an optional package)
and nowhere else. `config show`, `indexer init`, `config.example.toml` and the tables of
`docs/configuration.md` are written from these fields; `make docs` brings the last two up to date. A number
needs a unit. A `description` is one to three sentences without the last full stop; text in double quotes
becomes code in the docs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, PrivateAttr, create_model, model_validator

from vault_indexer.config.fields import (
    PUBLIC,
    RESTART,
    Allowed,
    DisagreementError,
    ExtensionTable,
    Glob,
    OptionalFolder,
    Table,
    Trust,
    Tuned,
    Unit,
    Url,
    VariableName,
    VaultTable,
)
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.config.tables.vault_table import VaultEntries
from vault_indexer.extensions import extensions, load, package_of
from vault_indexer.model import SOURCE_SUFFIXES, LinkStyle


def _memory(value: int) -> int:
    if 0 < value < _LEAST_MEMORY_MB:
        raise ValueError(_MEMORY)
    return value


def _source_suffix(value: str) -> str:
    if value not in SOURCE_SUFFIXES:
        raise ValueError(f"suffixes of source files: {' '.join(SOURCE_SUFFIXES)}")
    return value


_LEAST_MEMORY_MB = 512
"""Memory for a process for edits, one for a build, and the builder's own, with the model that is always
there."""

_MEMORY = f"0 for no limit, or {_LEAST_MEMORY_MB} to {1 << 20}"

Memory = Annotated[int, Field(ge=0, le=1 << 20), AfterValidator(_memory), Allowed(_MEMORY), Unit("MB")]
SynonymGroup = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=100)], ...], Field(min_length=2, max_length=100)
]
Origin = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z0-9+.-]*://[^\s/*]+$"),
    Allowed("an origin such as app://obsidian.md or http://localhost:3000, without path or *"),
]
SourceSuffix = Annotated[
    str, AfterValidator(_source_suffix), Allowed(f"suffixes of source files: {' '.join(SOURCE_SUFFIXES)}")
]


@dataclass(frozen=True, slots=True)
class VaultPatterns:
    """`files.include` and `files.exclude` of the file inside the vault. They can only leave out more files:
    whoever shares the vault wrote them."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class FilesSettings(VaultTable):
    """Which files of the vault are notes to index."""

    include: Annotated[tuple[Glob, ...], Trust.NARROW, PUBLIC] = Field(
        default=(), description="index only notes whose path matches; an empty list means every note"
    )
    exclude: Annotated[tuple[Glob, ...], Trust.NARROW, PUBLIC] = Field(
        default=(),
        description="never index notes whose path matches, even if include matches, too. Examples: "
        '"Archive/", "*.draft.md"',
    )
    max_file_bytes: Annotated[int, Field(ge=1024, le=1 << 30), Unit("bytes")] = Field(
        default=5 * 1024 * 1024,
        description="larger notes are skipped, and status names them: they are exports, not notes",
    )
    sources: Annotated[tuple[SourceSuffix, ...], Trust.USER] = Field(
        default=(),
        description="index source files with these suffixes, too; their headings are their classes and "
        'functions. The strategy "code" splits them at these: give it to them by a rule',
    )
    use_obsidian_filters: Annotated[bool, Trust.NARROW] = Field(
        default=True, description="leave out the files that Obsidian excludes in .obsidian/app.json"
    )
    _of_vault: VaultPatterns = PrivateAttr(default=VaultPatterns())

    @property
    def exclude_lists(self) -> tuple[tuple[str, ...], ...]:
        """The user's own list and that of the vault's file. What any of them excludes is excluded."""
        return self.exclude, self._of_vault.exclude

    @property
    def include_lists(self) -> tuple[tuple[str, ...], ...]:
        """The same for `include`: only what each of them that is not empty includes is included."""
        return self.include, self._of_vault.include

    @property
    def of_vault(self) -> VaultPatterns:
        """The lists of the vault's own file."""
        return self._of_vault

    def with_vault(self, patterns: VaultPatterns) -> FilesSettings:
        """The same with the lists of the vault's own file in addition to the user's."""
        settings = self.model_copy()
        settings._of_vault = patterns
        return settings


class LinksSettings(VaultTable):
    """How links are written. After a change, the index is rebuilt automatically."""

    style: Literal["auto", LinkStyle] = Field(
        default="auto",
        description="the program that the notes are written for: its links lead where they lead there. auto "
        "takes the one whose configuration file is at the root of the vault, such as hugo.toml, else "
        "obsidian",
    )

    @property
    def style_of_build(self) -> LinkStyle:
        """The style; `obsidian` for `auto`, which a build has replaced if it found another."""
        return "obsidian" if self.style == "auto" else self.style


class EmbeddingSettings(Table):
    """Which model turns text into vectors. After a change of the model, the index is rebuilt
    automatically.
    """

    provider: Annotated[
        Literal["auto", "wordllama", "multilingual", "e5", "minilm", "huggingface", "ollama", "openai"],
        PUBLIC,
    ] = Field(
        default="auto",
        description="which program runs the model: auto takes multilingual, at once for a vault of up to "
        "200 kB; for a larger one wordllama until the daemon, when it is idle, has made the vectors of "
        "multilingual. Each provider except auto, wordllama and multilingual is an extra to install. Only "
        "ollama and openai, which is any compatible URL, send text over the network",
    )
    model: Annotated[str, PUBLIC] = Field(
        default="",
        description="name or local path of the model; empty means the default of the provider. With "
        'huggingface, an E5 model gets "query: " or "passage: " before each text, as it was trained',
    )
    url: Annotated[Url, PUBLIC, RESTART] = Field(
        default="", description="base URL of ollama or openai; empty means the default of the provider"
    )
    api_key_env: Annotated[VariableName, PUBLIC, RESTART] = Field(
        default="",
        description="environment variable that holds the API key; the key itself is never in a file",
    )
    batch_size: Annotated[int, Field(ge=1, le=4096), Unit("texts"), RESTART] = Field(
        default=64,
        description="number of texts sent to the model in one call; a larger number is faster and "
        "takes more memory",
    )
    # "idf" is the smooth inverse frequency (SIF) of a token in this vault, "none" the plain mean
    token_weights: Tuned[Literal["idf", "none"]] = "idf"
    max_upgrade_hours: Annotated[float, Field(ge=0, le=1000), Unit("hours")] = Field(
        default=3.0,
        description="with provider auto, vectors of the better model are made for a large vault only if that "
        "takes at most so much processor time; 0 makes none",
    )
    upgrade_on_battery: bool = Field(
        default=False, description="whether they are made while the machine runs on its battery"
    )

    @property
    def weighting(self) -> str:
        """How tokens are weighted: `token_weights`, or "" where they are not, as by any other model."""
        weighted = self.provider in ("auto", "wordllama") and self.token_weights != "none"
        return self.token_weights if weighted else ""

    def unweighted(self) -> EmbeddingSettings:
        """The same model without token weights."""
        return self.model_copy(update={"token_weights": "none"})


class LlmSettings(Table):
    """The language model for chunking and answers. Without a model here, none is asked and nothing
    is sent."""

    provider: Annotated[Literal["none", "ollama", "openai", "anthropic"], PUBLIC] = Field(
        default="none",
        description="which program runs the language model; none asks no model, openai is any compatible "
        "URL. Each provider is an extra to install",
    )
    model: Annotated[str, PUBLIC] = Field(default="", description="name of the model at the provider")
    url: Annotated[Url, PUBLIC] = Field(
        default="", description="base URL; empty means the default of the provider; openai needs one"
    )
    api_key_env: Annotated[VariableName, PUBLIC] = Field(
        default="",
        description="environment variable that holds the API key; the key itself is never in a file",
    )
    temperature: Annotated[float, Field(ge=0, le=2), Unit("temperature")] = Field(
        default=0.0, description="how much answers vary; 0 gives the most repeatable answers"
    )
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000), Unit("tokens")] = Field(
        default=1024, description="largest number of tokens in an answer"
    )
    context_window: Annotated[int, Field(ge=256, le=10_000_000), Unit("tokens")] = Field(
        default=8192, description="largest number of tokens in prompt and answer together"
    )
    cache_dir: Annotated[OptionalFolder, RESTART] = Field(
        default=None,
        description="folder where answers are cached, for all indices that ask the same; empty "
        "means the folder llm-cache of each index. A relative path starts at the folder of this file",
    )


class AskSettings(VaultTable):
    """How `indexer ask` answers. With a model in the table llm, that model writes the answer; without one,
    the answer quotes sentences of your notes.
    """

    limit: Tuned[int] = 10  # passages that are read
    sentences: Tuned[int] = 3  # sentences that an answer quotes
    max_tokens: Tuned[int] = 4000  # tokens of notes that one question sends to the language model
    min_relevance: Tuned[float] = 0.3  # relevance; passages below are not sent to the language model
    never_send: Annotated[tuple[Glob, ...], Trust.USER] = Field(
        default=(),
        description="notes that no question sends to a language model: patterns of paths as in .gitignore, "
        'and properties, as "[private]" or "[status:secret]". Such notes are still searched and quoted. '
        'Examples: "Private/", "[private]"',
    )
    timeout_s: Tuned[float] = 60.0  # seconds for a whole answer; the model is asked once more after that
    judge: Annotated[bool, Trust.USER] = Field(
        default=False,
        description="have the language model look at each sentence of its answer once more, after the "
        "checks that need none: one more request for each sentence",
    )


class RecencyTier(VaultTable):
    """Notes modified within `days` have their score multiplied by `boost`."""

    days: Annotated[float, Field(gt=0, le=36_500), Unit("days")]
    boost: Annotated[float, Field(ge=1.0, le=10.0), Unit("factor")]


class RecencySettings(VaultTable):
    """Recently changed notes can rank a little higher."""

    enabled: Annotated[bool, PUBLIC] = Field(
        default=True,
        description="rank recently changed notes a little higher. With false, age does not count, as "
        "suits a reference work",
    )
    tiers: tuple[RecencyTier, ...] = Field(
        default=(RecencyTier(days=7, boost=1.2), RecencyTier(days=30, boost=1.1)),
        description='the score of a note changed in the last "days" is multiplied by "boost"; the largest'
        " boost counts. Write them as one list",
    )


class WeightSettings(VaultTable):
    """How much each ranking counts."""

    vector: Annotated[float, Field(ge=0, le=100), Unit("factor")] = Field(
        default=1.0,
        description="weight of the ranking by meaning; 0 turns it off. Raise it if you search with other "
        "words than you write",
    )
    keyword: Annotated[float, Field(ge=0, le=100), Unit("factor")] = Field(
        default=1.0,
        description="weight of the ranking by word; 0 turns it off. Raise it if you search for exact names",
    )
    graph: Annotated[float, Field(ge=0, le=100), Unit("factor")] = Field(
        default=0.5,
        description="weight of the ranking by link; 0 turns it off. Raise it if the texts of your links "
        "say much about the notes",
    )


class SynonymSettings(Table):
    """Your own words for one thing. A search for one of a group finds the others too, behind what it is about
    itself, and says so under Why.
    """

    groups: Annotated[
        tuple[SynonymGroup, ...],
        Field(max_length=1000),
        Allowed("a list of groups; each a list of two or more words or phrases"),
        Trust.USER,
    ] = Field(
        default=(),
        description="lists of words and phrases that mean the same to you, in any language. Example: "
        "\"[['car', 'automobile'], ['notebook', 'commonplace book']]\"",
    )


class SearchSettings(VaultTable):
    """How a query becomes a ranking."""

    limit: Annotated[int, Field(ge=1, le=200), Unit("notes"), PUBLIC] = Field(
        default=10, description="number of notes that are shown, unless a search asks for another number"
    )
    candidates: Tuned[int] = 0  # chunks of each ranking; 0 is max(MIN_CANDIDATES, 2 x limit)
    rerank: Annotated[int, Field(ge=0, le=10_000), Unit("chunks")] = Field(
        default=100,
        description="number of chunks that reranking orders by all evidence, at least 2 x limit: the first of"
        " the fusion of the rankings by meaning, word and link. 0 turns it off; the order is that of the"
        " fusion then, by ranks alone",
    )
    rrf_k: Tuned[int] = 60  # ranks: the constant of reciprocal rank fusion
    max_chunks_per_note: Annotated[int, Field(ge=1, le=200), Unit("hits")] = Field(
        default=3,
        description="largest number of hits from one note, so that a long note does not fill the page",
    )
    snippet_chars: Annotated[int, Field(ge=40, le=4000), Unit("characters")] = Field(
        default=240, description="length of the text shown around the match"
    )
    min_relevance: Annotated[float, Field(ge=0, le=1), Unit("relevance")] = Field(
        default=0.0,
        description="hits whose relevance is lower are left out; 0 shows all. A hit from 0.5 on is likely "
        "about what the query asks",
    )
    deadline_s: Tuned[float] = 30.0  # seconds
    max_parent_tokens: Tuned[int] = 2000  # tokens that --expand shows around a hit
    window_paragraphs: Tuned[int] = 3  # paragraphs on each side of a hit, with --expand window
    weights: WeightSettings = WeightSettings()
    recency: RecencySettings = RecencySettings()
    synonyms: SynonymSettings = SynonymSettings()


class WatchSettings(VaultTable):
    """How the daemon notices changes."""

    mode: Annotated[Literal["auto", "native", "poll"], RESTART] = Field(
        default="auto",
        description="how changes are found: auto polls only where the system cannot watch, such as on "
        "network drives; native never polls, poll always does",
    )
    debounce_s: Annotated[float, Field(ge=0.05, le=60), Unit("seconds"), RESTART] = Field(
        default=0.5,
        description="time without further changes before a change is indexed: editors save in several steps",
    )
    max_wait_s: Tuned[float] = 5.0  # seconds until a change is indexed while others keep coming
    # seconds that a missing note stays: programs save by deleting and renaming
    delete_hold_s: Tuned[float] = 2.0
    rescan_s: Tuned[float] = 3600.0  # seconds between full scans, which find what the watcher missed
    poll_s: Tuned[float] = 30.0  # seconds between scans when polling
    folder_scan_threshold: Tuned[int] = 128  # changed paths of one folder; with more, it is scanned whole
    full_scan_threshold: Tuned[int] = 512  # changed paths; with more, the vault is scanned whole


class ServerSettings(Table):
    """The HTTP API of the daemon. It listens on 127.0.0.1 only; no key can change that."""

    port: Annotated[int, Field(ge=0, le=65_535), Unit("TCP port"), PUBLIC, RESTART] = Field(
        default=0,
        description="port on 127.0.0.1; 0 takes that of the last daemon of the index, or one that the system "
        "chooses, and clients read it from daemon.json",
    )
    allowed_origins: Annotated[tuple[Origin, ...], RESTART] = Field(
        default=("app://obsidian.md",),
        description="browser origins that may call the API; all others get status 403",
    )
    max_concurrent: Tuned[int] = 32  # requests at the same time; further ones wait
    timeout_s: Tuned[float] = 30.0  # seconds
    token_env: Annotated[VariableName, RESTART] = Field(
        default="",
        description="environment variable that holds the token of the API, for clients that cannot read "
        "daemon.json, such as a gateway; empty takes that of the last daemon of the index, or a new one",
    )


class IndexSettings(Table):
    """Where the index is stored, and which resources indexing may use."""

    backend: Literal["embedded", "milvus"] = Field(
        default="embedded",
        description="where the index is searched: embedded searches it here; milvus publishes it to a "
        "server, too, where a gateway searches many vaults",
    )
    dir: Annotated[OptionalFolder, PUBLIC, RESTART] = Field(
        default=None,
        description="folder of the index; empty means a folder for this vault in the state folder of the "
        "user. No sync tool copies it there. A relative path starts at the folder of this "
        "file",
    )
    workers: Annotated[int, Field(ge=0, le=256), Unit("processes")] = Field(
        default=0,
        description="number of processes that read and embed notes; 0 means one per core. Fewer keep a "
        "small machine responsive",
    )
    nice: Annotated[int, Field(ge=0, le=19), Unit("niceness")] = Field(
        default=10,
        description="priority of those processes below other programs; 19 is the lowest",
    )
    # of Linux; the schedulers bfq and mq-deadline heed it
    io_priority: Tuned[Literal["idle", "low", "normal"]] = "low"
    max_memory_mb: Memory = Field(
        default=0,
        description="memory that those processes may use together; with little memory fewer run. The "
        "daemon itself, which holds the index for searches, does not count",
    )
    max_note_seconds: Tuned[float] = 30.0  # seconds of processor time for reading one note; 0 is no limit
    # MB for reading one note, beyond what its process had; 0 is no limit
    max_note_memory_mb: Tuned[int] = 600


EXTENSION_TABLES: Mapping[str, type[ExtensionTable]] = MappingProxyType(
    {name: load(table) for extension in extensions() for name, table in extension.tables.items()}
)
"""The tables of the optional packages that are present."""


class Settings(Table):
    """The whole configuration. Tables of optional packages are added below."""

    vault: OptionalFolder = Field(
        default=None,
        description="the vault of commands that name none (no --vault, no INDEXER_VAULT) and that run "
        "outside of any vault; empty means that there is none",
    )
    vaults: Annotated[VaultEntries, PUBLIC] = Field(
        default_factory=dict,
        description="the vaults that one daemon keeps together, by name: the name stands before the paths "
        'of hits, and filters them ("vault:work"). "indexer vault add" writes it',
    )
    files: FilesSettings = FilesSettings()
    links: LinksSettings = LinksSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    llm: LlmSettings = LlmSettings()
    search: SearchSettings = SearchSettings()
    ask: AskSettings = AskSettings()
    watch: WatchSettings = WatchSettings()
    server: ServerSettings = ServerSettings()
    index: IndexSettings = IndexSettings()
    _replaced_strategy: str = PrivateAttr(default="")

    @property
    def replaced_strategy(self) -> str:
        """The configured strategy that the option `--strategy` replaces; "" without that option."""
        return self._replaced_strategy

    def with_replaced_strategy(self, configured: str) -> Self:
        """Return a copy whose strategy is that of the option, in place of the configured one."""
        settings = self.model_copy()
        settings._replaced_strategy = configured
        return settings

    def with_strategy(self, strategy: JsonValue) -> Self:
        """Return a copy with another strategy and the same options."""
        return self.model_copy(update={"chunking": self.chunking.model_copy(update={"strategy": strategy})})

    @model_validator(mode="before")
    @classmethod
    def _with_defaults_of_extensions(cls, tables: object) -> object:
        if not isinstance(tables, dict):
            return tables
        given: Mapping[str, object] = tables
        for table in EXTENSION_TABLES.values():
            given = table.with_defaults(given)
        return given

    @model_validator(mode="after")
    def _fits_extensions(self) -> Self:
        backend = self.index.backend
        if backend != "embedded" and backend not in EXTENSION_TABLES:
            package = package_of(table=backend)
            raise DisagreementError(
                f"embedded only: {backend} needs the package {package}, which is not installed",
                "index.backend",
            )
        for name in EXTENSION_TABLES:
            self.table(name).check(self)
        return self

    def table(self, name: str) -> Any:
        """The table of an optional package, which knows its type."""
        return getattr(self, name)

    @property
    def records_clicks(self) -> bool:
        """Whether the package that keeps clicks is present, and the user wants them to be kept."""
        return "evals" in EXTENSION_TABLES and self.table("evals").record_clicks is True


if not TYPE_CHECKING:
    Settings = create_model(
        "Settings",
        __base__=Settings,
        __module__=__name__,
        __doc__=Settings.__doc__,
        **{name: (table, table()) for name, table in EXTENSION_TABLES.items()},
    )
