"""Every key of the configuration with its type, default, unit, bounds and meaning, and who may set it.

The classes mirror the TOML tables. A key is declared here (or in `chunking*.py`, or by an optional package)
and nowhere else. `config show`, `indexer init`, `config.example.toml` and the tables of
`docs/configuration.md` are written from these fields; `make docs` brings the last two up to date. A number
needs a unit. The docstring below a key is its description: one to three sentences; text in double quotes
becomes code in the docs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
from vault_indexer.model import DOCUMENT_KINDS, SOURCE_SUFFIXES, LinkStyle, SizeLimits
from vault_indexer.system import record


def _editor(value: str) -> str:
    template = _PLACEHOLDER.sub("", value)
    if value not in ("", "obsidian", "vscode") and (not _ADDRESS.match(template) or {*"{}"} & {*template}):
        raise ValueError(_EDITORS)
    return value


def _memory(value: int) -> int:
    if 0 < value < _LEAST_MEMORY_MB:
        raise ValueError(_MEMORY)
    return value


def _source_suffix(value: str) -> str:
    if value not in SOURCE_SUFFIXES:
        raise ValueError(f"suffixes of source files: {' '.join(SOURCE_SUFFIXES)}")
    return value


def _document_kind(value: str) -> str:
    if value not in _KIND_NAMES:
        raise ValueError(_KINDS)
    return value


_PLACEHOLDER = re.compile(r"\{(?:path|file|vault|line)\}")
_ADDRESS = re.compile(
    r"(?!(?:about|blob|data|file|filesystem|javascript|vbscript|view-source):)[a-z][a-z0-9+.-]*:\S*$",
    re.IGNORECASE,
)
"""An address that a browser gives to another program, or to a server, and does not run or read itself."""

_EDITORS = "obsidian, vscode, an address with {path}, {file}, {vault} or {line}, or nothing"
_KIND_NAMES = tuple(kind.name for kind in DOCUMENT_KINDS)
_KINDS = f"kinds of documents: {', '.join(_KIND_NAMES)}"
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
DocumentKindName = Annotated[str, AfterValidator(_document_kind), Allowed(_KINDS)]
SourceSuffix = Annotated[
    str, AfterValidator(_source_suffix), Allowed(f"suffixes of source files: {' '.join(SOURCE_SUFFIXES)}")
]


@record
class VaultPatterns:
    """`files.include` and `files.exclude` of the file inside the vault. They can only leave out more files:
    whoever shares the vault wrote them."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class DocumentsSettings(VaultTable):
    """Which files besides notes are read: PDF, office files, books, web pages and plain text. Their text is
    searched as that of notes is."""

    kinds: Annotated[tuple[DocumentKindName, ...], Trust.USER] = tuple(
        kind.name for kind in DOCUMENT_KINDS if not kind.on_request
    )
    """The kinds to read; files of others are found by name only."""
    folders: Annotated[tuple[Glob, ...], Trust.USER] = ()
    """Read only documents whose path matches, such as "Papers/"; empty means all."""
    max_file_bytes: Annotated[int, Field(ge=1024, le=1 << 30), Unit("bytes")] = 100 * 1024 * 1024
    """Larger documents are skipped, and status names them."""
    ocr: Annotated[bool, Trust.USER] = False
    """Recognise the text in images and scanned PDFs, when the daemon is idle; needs the extra "ocr", one
    core, and up to 900 MB of memory."""

    @property
    def chosen(self) -> tuple[str, ...]:
        """The kinds to read, images only with `ocr`."""
        return tuple(kind for kind in self.kinds if self.ocr or kind != "image")


class FilesSettings(VaultTable):
    """Which files of the vault are notes to index."""

    include: Annotated[tuple[Glob, ...], Trust.NARROW, PUBLIC] = ()
    """Index only notes whose path matches; empty means all."""
    exclude: Annotated[tuple[Glob, ...], Trust.NARROW, PUBLIC] = ()
    """Never index notes whose path matches, even if include also matches. Examples: "Archive/",
    "*.draft.md"."""
    max_file_bytes: Annotated[int, Field(ge=1024, le=1 << 30), Unit("bytes")] = 5 * 1024 * 1024
    """Larger notes are skipped, and status names them."""
    sources: Annotated[tuple[SourceSuffix, ...], Trust.USER] = ()
    """Also index source files with these suffixes; the strategy "code" splits them at functions and
    classes."""
    use_obsidian_filters: Annotated[bool, Trust.NARROW] = True
    """Leave out the files that Obsidian excludes in .obsidian/app.json."""
    _of_vault: VaultPatterns = PrivateAttr(default=VaultPatterns())
    _documents: DocumentsSettings = PrivateAttr(default=DocumentsSettings.defaults())

    @property
    def exclude_lists(self) -> tuple[tuple[str, ...], ...]:
        """The user's own list and that of the vault's file. What any of them excludes is excluded."""
        return self.exclude, self._of_vault.exclude

    @property
    def include_lists(self) -> tuple[tuple[str, ...], ...]:
        """The same for `include`: only what each of them that is not empty includes is included."""
        return self.include, self._of_vault.include

    @property
    def documents(self) -> DocumentsSettings:
        """The table `documents`, which decides together with this one which files are read."""
        return self._documents

    @property
    def limits(self) -> SizeLimits:
        return SizeLimits(self.max_file_bytes, self._documents.max_file_bytes)

    @property
    def of_vault(self) -> VaultPatterns:
        return self._of_vault

    def with_vault(self, patterns: VaultPatterns) -> FilesSettings:
        """The same with the lists of the vault's own file in addition to the user's."""
        settings = self.model_copy()
        settings._of_vault = patterns
        return settings


class LinksSettings(VaultTable):
    """How links are written. After a change, the index is rebuilt automatically."""

    style: Literal["auto", LinkStyle] = "auto"
    """The program whose rules resolve links; auto recognises it by its configuration file, such as hugo.toml,
    and otherwise means obsidian."""

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
    ] = "auto"
    """The program that runs the model: auto uses multilingual, in a vault of more than 200 kB only once the
    idle daemon has created its vectors, and wordllama until then. The providers after multilingual are extras
    to install. Only ollama and openai (any compatible server) send text over the network."""
    model: Annotated[str, PUBLIC] = ""
    """Name or local path of the model; empty means the default of the provider. With huggingface, E5 models
    get their prefixes "query: " and "passage: "."""
    url: Annotated[Url, PUBLIC, RESTART] = ""
    """Base URL of ollama or openai; empty means the default of the provider."""
    api_key_env: Annotated[VariableName, PUBLIC, RESTART] = ""
    """Environment variable with the API key."""
    batch_size: Annotated[int, Field(ge=1, le=4096), Unit("texts"), RESTART] = 64
    """Number of texts sent to the model in one call; more is faster and needs more memory."""
    # "idf" is the smooth inverse frequency (SIF) of a token in this vault, "none" the plain mean
    token_weights: Tuned[Literal["idf", "none"]] = "idf"
    max_upgrade_hours: Annotated[float, Field(ge=0, le=1000), Unit("hours")] = 3.0
    """With provider auto, the most processor time for creating the vectors of a large vault; if it is too
    little, none are created."""
    upgrade_on_battery: bool = False
    """Also create them on battery power."""

    @property
    def weighting(self) -> str:
        """How tokens are weighted: `token_weights`, or "" where they are not, as by any other model."""
        weighted = self.provider in ("auto", "wordllama") and self.token_weights != "none"
        return self.token_weights if weighted else ""

    def unweighted(self) -> EmbeddingSettings:
        return self.model_copy(update={"token_weights": "none"})


class LlmSettings(Table):
    """The language model for chunking and answers. Without a model here, none is asked and nothing
    is sent."""

    provider: Annotated[Literal["none", "ollama", "openai", "anthropic"], PUBLIC] = "none"
    """The program that runs the language model; openai means any compatible server. Each requires an
    extra."""
    model: Annotated[str, PUBLIC] = ""
    """Name of the model at the provider."""
    url: Annotated[Url, PUBLIC] = ""
    """Base URL; empty means the default of the provider; openai requires one."""
    api_key_env: Annotated[VariableName, PUBLIC] = ""
    """Environment variable with the API key."""
    temperature: Annotated[float, Field(ge=0, le=2), Unit("temperature")] = 0.0
    """How much answers vary; 0 varies least."""
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000), Unit("tokens")] = 1024
    """Largest number of tokens in an answer."""
    context_window: Annotated[int, Field(ge=256, le=10_000_000), Unit("tokens")] = 8192
    """Largest number of tokens in prompt and answer together."""
    cache_dir: Annotated[OptionalFolder, RESTART] = None
    """Folder where answers are cached, which indices can share; empty means llm-cache in each index."""


class AskSettings(VaultTable):
    """How `indexer ask` answers. With a model in the table llm, that model writes the answer; without one,
    the answer quotes sentences of your notes.
    """

    limit: Tuned[int] = 10  # passages that are read
    sentences: Tuned[int] = 3  # sentences that an answer quotes
    max_tokens: Tuned[int] = 4000  # tokens of notes that one question sends to the language model
    min_relevance: Tuned[float] = 0.3  # relevance; passages below are not sent to the language model
    never_send: Annotated[tuple[Glob, ...], Trust.USER] = ()
    """Notes that are never sent to a language model with a question, by path or property, such as "Private/"
    or "[status:secret]". They are still searched and quoted."""
    timeout_s: Tuned[float] = 60.0  # seconds for a whole answer; the model is asked once more after that
    judge: Annotated[bool, Trust.USER] = False
    """Let the language model verify each sentence that passed the other checks, one request each."""


class RecencyTier(VaultTable):
    """Notes modified within `days` have their score multiplied by `boost`."""

    days: Annotated[float, Field(gt=0, le=36_500), Unit("days")]
    boost: Annotated[float, Field(ge=1.0, le=10.0), Unit("factor")]


class RecencySettings(VaultTable):
    """Recently changed notes can rank a little higher."""

    enabled: Annotated[bool, PUBLIC] = True
    """Rank recently changed notes a little higher; turn it off for reference works."""
    tiers: tuple[RecencyTier, ...] = (
        RecencyTier.model_construct(days=7.0, boost=1.2),
        RecencyTier.model_construct(days=30.0, boost=1.1),
    )
    """The score of a note changed in the last "days" is multiplied by "boost"; the largest boost applies."""


class SearchedDocumentsSettings(VaultTable):
    """Documents among notes."""

    weight: Annotated[float, Field(ge=0.1, le=1), Unit("factor")] = 0.8
    """Factor for the score of a document, such as a PDF; below 1, equally good notes come first."""


class WeightSettings(VaultTable):
    """How much each ranking counts."""

    vector: Annotated[float, Field(ge=0, le=100), Unit("factor")] = 1.0
    """Weight of the ranking by meaning; 0 turns it off."""
    keyword: Annotated[float, Field(ge=0, le=100), Unit("factor")] = 1.0
    """Weight of the ranking by word; 0 turns it off."""
    graph: Annotated[float, Field(ge=0, le=100), Unit("factor")] = 0.5
    """Weight of the ranking by link; 0 turns it off. Raise it if link texts describe your notes well."""


class SynonymSettings(Table):
    """Your own words for one thing. A search for one of a group finds the others too, behind what it is about
    itself, and says so under Why.
    """

    groups: Annotated[
        tuple[SynonymGroup, ...],
        Field(max_length=1000),
        Allowed("a list of groups; each a list of two or more words or phrases"),
        Trust.USER,
    ] = ()
    """Groups of words and phrases that mean the same to you, such as "[['car', 'automobile']]"."""


class SearchSettings(VaultTable):
    """How a query becomes a ranking."""

    limit: Annotated[int, Field(ge=1, le=200), Unit("notes"), PUBLIC] = 10
    """Number of notes that a search shows."""
    candidates: Tuned[int] = 0  # chunks of each ranking; 0 is max(MIN_CANDIDATES, 2 x limit)
    rerank: Annotated[int, Field(ge=0, le=10_000), Unit("chunks")] = 100
    """Number of chunks that are reranked by all evidence, at least 2 x limit; 0 keeps the order of the
    fusion."""
    rrf_k: Tuned[int] = 60  # ranks: the constant of reciprocal rank fusion
    max_chunks_per_note: Annotated[int, Field(ge=1, le=200), Unit("hits")] = 3
    """Largest number of hits from one note."""
    snippet_chars: Annotated[int, Field(ge=40, le=4000), Unit("characters")] = 240
    """Length of the text shown around the match."""
    min_relevance: Annotated[float, Field(ge=0, le=1), Unit("relevance")] = 0.0
    """Hits with a lower relevance are left out; from 0.5, a hit is probably about the subject."""
    deadline_s: Tuned[float] = 30.0  # seconds
    max_parent_tokens: Tuned[int] = 2000  # tokens that --expand shows around a hit
    window_paragraphs: Tuned[int] = 3  # paragraphs on each side of a hit, with --expand window
    weights: WeightSettings = WeightSettings.defaults()
    recency: RecencySettings = RecencySettings.defaults()
    documents: SearchedDocumentsSettings = SearchedDocumentsSettings.defaults()
    synonyms: SynonymSettings = SynonymSettings.defaults()


class WatchSettings(VaultTable):
    """How the daemon notices changes."""

    mode: Annotated[Literal["auto", "native", "poll"], RESTART] = "auto"
    """How changes are detected: auto polls only where the system cannot watch, such as on network drives."""
    debounce_s: Annotated[float, Field(ge=0.05, le=60), Unit("seconds"), RESTART] = 0.5
    """Time without further changes before a change is indexed."""
    max_wait_s: Tuned[float] = 5.0  # seconds until a change is indexed while others keep coming
    # seconds that a missing note stays: programs save by deleting and renaming
    delete_hold_s: Tuned[float] = 2.0
    rescan_s: Tuned[float] = 3600.0  # seconds between full scans, which find what the watcher missed
    poll_s: Tuned[float] = 30.0  # seconds between scans when polling
    folder_scan_threshold: Tuned[int] = 128  # changed paths of one folder; with more, it is scanned whole
    full_scan_threshold: Tuned[int] = 512  # changed paths; with more, the vault is scanned whole


class ServerSettings(Table):
    """The HTTP API of the daemon. It listens on 127.0.0.1 only; no key can change that."""

    port: Annotated[int, Field(ge=0, le=65_535), Unit("TCP port"), PUBLIC, RESTART] = 0
    """Port on 127.0.0.1; 0 reuses that of the last daemon of the index, or lets the system choose. Clients
    read it from daemon.json."""
    allowed_origins: Annotated[tuple[Origin, ...], RESTART] = ("app://obsidian.md",)
    """Browser origins that may call the API."""
    max_concurrent: Tuned[int] = 32  # requests at the same time; further ones wait
    timeout_s: Tuned[float] = 30.0  # seconds
    token_env: Annotated[VariableName, RESTART] = ""
    """Environment variable with the token of the API, for clients that cannot read daemon.json, such as a
    gateway; empty reuses the last token or creates one."""


class PageSettings(Table):
    """The web page."""

    editor: Annotated[str, AfterValidator(_editor), Allowed(_EDITORS), Trust.USER] = ""
    """The program that opens a note from the page: obsidian, vscode, or an address such as
    "zed://file{path}:{line}"; empty means Obsidian in the folders that it has opened."""


class IndexSettings(Table):
    """Where the index is stored, and which resources indexing may use."""

    backend: Literal["embedded", "milvus"] = "embedded"
    """embedded searches the index here; milvus also publishes it to a server for gateways."""
    dir: Annotated[OptionalFolder, PUBLIC, RESTART] = None
    """Folder of the index; empty means one for this vault in your state folder, which sync tools do not
    copy."""
    workers: Annotated[int, Field(ge=0, le=256), Unit("processes")] = 0
    """Number of processes that read and embed notes; 0 means one per core."""
    nice: Annotated[int, Field(ge=0, le=19), Unit("niceness")] = 10
    """Priority of those processes below other programs; 19 is the lowest."""
    # of Linux; the schedulers bfq and mq-deadline heed it
    io_priority: Tuned[Literal["idle", "low", "normal"]] = "low"
    max_memory_mb: Memory = 0
    """Maximum memory of those processes together; with little memory, fewer run."""
    max_note_seconds: Tuned[float] = 30.0  # seconds of processor time for reading one note; 0 is no limit
    # MB for reading one note, beyond what its process had; 0 is no limit
    max_note_memory_mb: Tuned[int] = 600


EXTENSION_TABLES: Mapping[str, type[ExtensionTable]] = MappingProxyType(
    {name: load(table) for extension in extensions() for name, table in extension.tables.items()}
)
"""The tables of the optional packages that are present."""


class Settings(Table):
    """The whole configuration. Tables of optional packages are added below."""

    vault: OptionalFolder = None
    """The vault of commands that run outside any vault without --vault or INDEXER_VAULT."""
    vaults: Annotated[VaultEntries, PUBLIC] = Field(default_factory=dict)
    """The vaults of one daemon, by name: it precedes the paths of hits, and "vault:work" filters by it."""
    files: FilesSettings = FilesSettings.defaults()
    documents: DocumentsSettings = DocumentsSettings.defaults()
    links: LinksSettings = LinksSettings.defaults()
    chunking: ChunkingSettings = ChunkingSettings.defaults()
    embedding: EmbeddingSettings = EmbeddingSettings.defaults()
    llm: LlmSettings = LlmSettings.defaults()
    search: SearchSettings = SearchSettings.defaults()
    ask: AskSettings = AskSettings.defaults()
    watch: WatchSettings = WatchSettings.defaults()
    server: ServerSettings = ServerSettings.defaults()
    page: PageSettings = PageSettings.defaults()
    index: IndexSettings = IndexSettings.defaults()
    _replaced_strategy: str = PrivateAttr(default="")

    @property
    def replaced_strategy(self) -> str:
        """The configured strategy that the option `--strategy` replaces; "" without that option."""
        return self._replaced_strategy

    def with_replaced_strategy(self, configured: str) -> Self:
        settings = self.model_copy()
        settings._replaced_strategy = configured
        return settings

    def with_strategy(self, strategy: JsonValue) -> Self:
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
    def _joins_documents(self) -> Self:
        if self.files.documents != self.documents:
            files = self.files.model_copy()
            files._documents = self.documents
            object.__setattr__(self, "files", files)
        return self

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
        **{name: (table, table.defaults()) for name, table in EXTENSION_TABLES.items()},
    )
