"""Every key of the configuration with its type, default and bounds. `config.example.toml` explains them.

Sections mirror the TOML tables. A field's description is the line of why shown by `config show`. Whoever
adds a key gives it a unit if it is a number, a row in `trust.TRUST`, and a line in the example and the docs;
tests ask for each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from vault_indexer.config.chunking import ChunkingSettings
from vault_indexer.config.fields import Allowed, Unit, Url, VariableName
from vault_indexer.config.llm import LlmSettings


class Section(BaseModel):
    """A table of the configuration: unknown keys are mistakes, values never change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _folder(value: object) -> object:
    """A text as a path; TOML has no null, so an empty one stands for "not set"."""
    return (Path(value) if value else None) if isinstance(value, str) else value


def _memory(value: int) -> int:
    if 0 < value < _LEAST_MEMORY_MB:
        raise ValueError(_MEMORY)
    return value


_LEAST_MEMORY_MB = 512
"""A process for edits, one for a build, and the builder's own, with the model that is always there."""

_MEMORY = f"0 for no limit, or {_LEAST_MEMORY_MB} to {1 << 20}"

Memory = Annotated[int, Field(ge=0, le=1 << 20), AfterValidator(_memory), Allowed(_MEMORY), Unit("MB")]
Glob = Annotated[str, Field(min_length=1), Allowed("a glob pattern, as in .gitignore")]
Origin = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z0-9+.-]*://[^\s/*]+$"),
    Allowed("an origin such as app://obsidian.md or http://localhost:3000, without path or *"),
]
OptionalFolder = Annotated[Path | None, BeforeValidator(_folder), Allowed("a path to a folder, or nothing")]


class FilesSettings(Section):
    """Which files of the vault are notes to index."""

    include: tuple[Glob, ...] = Field(
        default=(), description="index only what matches; empty means every note"
    )
    exclude: tuple[Glob, ...] = Field(default=(), description="never index what matches; wins over include")
    max_file_bytes: Annotated[int, Field(ge=1024, le=1 << 30), Unit("bytes")] = Field(
        default=5 * 1024 * 1024, description="larger notes are skipped and named: they are exports, not notes"
    )
    use_obsidian_filters: bool = Field(
        default=True, description="honour the exclusions that Obsidian keeps in .obsidian/app.json"
    )


class EmbeddingSettings(Section):
    """Which model turns text into vectors."""

    provider: Literal["wordllama", "huggingface", "minilm", "ollama", "openai"] = Field(
        default="wordllama",
        description="who runs the model; wordllama and minilm work offline, openai is any compatible URL",
    )
    model: str = Field(default="", description="model name or local path; empty means the provider's own")
    url: Url = Field(default="", description="base URL of ollama or openai; empty means the provider's own")
    api_key_env: VariableName = Field(
        default="", description="variable that holds the API key, which never stands in a file"
    )
    batch_size: Annotated[int, Field(ge=1, le=4096), Unit("texts")] = Field(
        default=64, description="texts sent to the model in one call; more is faster and takes more memory"
    )
    token_weights: Literal["idf", "none"] = Field(
        default="idf",
        description="tokens of static embeddings count by smooth inverse frequency (SIF) in this vault, "
        "less what all its texts share; none is the plain mean",
    )


class RecencyTier(Section):
    """Notes modified within `days` have their score multiplied by `boost`."""

    days: Annotated[float, Field(gt=0, le=36_500), Unit("days")]
    boost: Annotated[float, Field(ge=1.0, le=10.0), Unit("factor")]


class RecencySettings(Section):
    """Recently modified notes may rank a little higher."""

    enabled: bool = Field(default=True, description="let recent changes lift a note; false: age never counts")
    tiers: tuple[RecencyTier, ...] = Field(
        default=(RecencyTier(days=7, boost=1.2), RecencyTier(days=30, boost=1.1)),
        description="days since the last change, and the factor; the best that applies counts",
    )


class WeightSettings(Section):
    """How much each ranking counts in the fusion."""

    vector: Annotated[float, Field(ge=0, le=100), Unit("factor")] = Field(
        default=1.0, description="how much the ranking by meaning counts; 0 leaves it out"
    )
    keyword: Annotated[float, Field(ge=0, le=100), Unit("factor")] = Field(
        default=1.0, description="how much the ranking by word counts; 0 leaves it out"
    )
    graph: Annotated[float, Field(ge=0, le=100), Unit("factor")] = Field(
        default=0.5, description="how much the ranking by link counts; 0 leaves it out"
    )


class SearchSettings(Section):
    """How a query becomes a ranking."""

    limit: Annotated[int, Field(ge=1, le=200), Unit("hits")] = Field(
        default=10, description="hits returned where a search does not ask for another number"
    )
    candidates: Annotated[int, Field(ge=0, le=10_000), Unit("chunks")] = Field(
        default=0, description="chunks each ranking contributes; 0 means max(60, 2 x limit)"
    )
    fusion: Literal["convex", "rrf"] = Field(
        default="convex",
        description="convex weighs the rankings' scores, rrf only their ranks (and knows no languages)",
    )
    rrf_k: Annotated[int, Field(ge=1, le=1000), Unit("ranks")] = Field(
        default=60, description="constant of reciprocal rank fusion; larger flattens the top ranks"
    )
    max_chunks_per_note: Annotated[int, Field(ge=1, le=200), Unit("hits")] = Field(
        default=3, description="hits of one note at most, so that a long note does not fill the page"
    )
    snippet_chars: Annotated[int, Field(ge=40, le=4000), Unit("characters")] = Field(
        default=240, description="length of the text shown around the match"
    )
    max_parent_tokens: Annotated[int, Field(ge=50, le=100_000), Unit("tokens")] = Field(
        default=2000, description="the most text that `--expand` shows around a hit"
    )
    window_paragraphs: Annotated[int, Field(ge=0, le=100), Unit("paragraphs")] = Field(
        default=3, description="on each side of a hit that `--expand window` shows"
    )
    weights: WeightSettings = WeightSettings()
    recency: RecencySettings = RecencySettings()


class WatchSettings(Section):
    """How changes of the vault are noticed."""

    mode: Literal["auto", "native", "poll"] = Field(
        default="auto", description="auto polls only where the system cannot watch, as on network drives"
    )
    debounce_s: Annotated[float, Field(ge=0.05, le=60), Unit("seconds")] = Field(
        default=0.5, description="quiet before a change is indexed: editors save in several steps"
    )
    max_wait_s: Annotated[float, Field(ge=0.1, le=600), Unit("seconds")] = Field(
        default=5.0, description="a change is indexed after this time even without quiet"
    )
    delete_hold_s: Annotated[float, Field(ge=0, le=60), Unit("seconds")] = Field(
        default=2.0, description="a vanished note is kept this long: a save by rename is no deletion"
    )
    rescan_s: Annotated[float, Field(ge=10, le=86_400), Unit("seconds")] = Field(
        default=3600.0, description="time between full scans, which find what the watcher missed"
    )
    poll_s: Annotated[float, Field(ge=1, le=3600), Unit("seconds")] = Field(
        default=30.0,
        description="time between scans when polling, or 10 x the scan's own time if that is longer",
    )
    folder_scan_threshold: Annotated[int, Field(ge=1, le=1_000_000), Unit("paths")] = Field(
        default=128,
        description="with more changed paths than this in one folder, the whole folder is scanned",
    )
    full_scan_threshold: Annotated[int, Field(ge=1, le=1_000_000), Unit("paths")] = Field(
        default=512, description="with more changed paths than this, the whole vault is scanned"
    )


class ServerSettings(Section):
    """The HTTP API of the daemon, on loopback."""

    port: Annotated[int, Field(ge=0, le=65_535), Unit("TCP port")] = Field(
        default=0, description="port on 127.0.0.1; 0 lets the system choose, clients read it from daemon.json"
    )
    allowed_origins: tuple[Origin, ...] = Field(
        default=("app://obsidian.md",),
        description="browser origins that may call the API; all others get 403",
    )
    max_concurrent: Annotated[int, Field(ge=1, le=1024), Unit("requests")] = Field(
        default=32, description="requests worked on at once; more get 503"
    )
    timeout_s: Annotated[float, Field(gt=0, le=600), Unit("seconds")] = Field(
        default=30.0, description="a request is given up after this time"
    )


class IndexSettings(Section):
    """Where the index lives and what building it may cost."""

    dir: OptionalFolder = Field(
        default=None, description="folder of the index; empty means one of its own in the user's state folder"
    )
    workers: Annotated[int, Field(ge=0, le=256), Unit("processes")] = Field(
        default=0, description="processes that parse and embed; 0 means one per core"
    )
    nice: Annotated[int, Field(ge=0, le=19), Unit("niceness")] = Field(
        default=10, description="priority of those processes: indexing gives way to whatever else runs"
    )
    io_priority: Literal["idle", "low", "normal"] = Field(
        default="low",
        description="their place in the queue of the disk (Linux); idle waits until nobody else wants it",
    )
    max_memory_mb: Memory = Field(
        default=0, description="what those processes may take together, and fewer run for it; 0 is no limit"
    )
    max_note_seconds: Annotated[float, Field(ge=0, le=86_400), Unit("seconds")] = Field(
        default=30.0,
        description="processor time for reading one note; one that takes more is set aside; 0 is no limit",
    )
    max_note_memory_mb: Annotated[int, Field(ge=0, le=1 << 20), Unit("MB")] = Field(
        default=600,
        description="memory for reading one note, beyond what its process had before; 0 is no limit",
    )


class Settings(Section):
    """The whole configuration."""

    files: FilesSettings = FilesSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    llm: LlmSettings = LlmSettings()
    search: SearchSettings = SearchSettings()
    watch: WatchSettings = WatchSettings()
    server: ServerSettings = ServerSettings()
    index: IndexSettings = IndexSettings()
