"""What the use cases answer: the shapes of DESIGN's outside contract, before they become JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vault_indexer.model.note import JsonValue


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search. `limit` 0 means the configured number of hits."""

    query: str
    limit: int = 0
    by_note: bool = False
    as_you_type: bool = False
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class IndexState:
    """Which state of the vault an answer tells; `pending` changes are seen but not yet indexed."""

    generation: int
    seq: int
    pending: int


@dataclass(frozen=True, slots=True)
class VectorReason:
    """Rank (1-based) and cosine similarity among the chunks nearest in meaning."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class KeywordReason:
    """Rank and BM25F score; `terms` is each matched word's share of the score."""

    rank: int
    score: float
    terms: Mapping[str, float]
    fields: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GraphReason:
    """Rank and weight among the neighbours of the strongest hits; `via` are those hits' paths."""

    rank: int
    score: float
    via: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Why:
    """Why a hit is there: its place in each ranking (None: not in it), and the factors applied."""

    vector: VectorReason | None
    keyword: KeywordReason | None
    graph: GraphReason | None
    recency: float
    fused: float = 0.0
    title: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked chunk. Positions are characters of the file decoded as UTF-8; lines are 1-based."""

    path: str
    title: str
    header_path: str
    chunk_id: str
    chunk_index: int
    start_pos: int
    end_pos: int
    start_line: int
    end_line: int
    score: float
    snippet: str
    content: str
    modified_time: str
    tags: tuple[str, ...]
    stale: bool
    why: Why
    aliases: tuple[str, ...] = ()
    frontmatter: Mapping[str, JsonValue] = field(default_factory=dict)
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answer to one search; `notices` are short sentences a user should see."""

    query: str
    took_ms: float
    index: IndexState
    results: tuple[Hit, ...]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutgoingLink:
    """A link of a note as written, and where it leads (None: nowhere yet)."""

    kind: str
    target: str
    subpath: str
    display: str | None
    line: int
    resolved: str | None


@dataclass(frozen=True, slots=True)
class Backlink:
    """A link that points at the note asked for, from `path`."""

    path: str
    line: int
    kind: str
    subpath: str


@dataclass(frozen=True, slots=True)
class LinksAnswer:
    """All links of one note."""

    path: str
    outgoing: tuple[OutgoingLink, ...]
    backlinks: tuple[Backlink, ...]
    unresolved: tuple[OutgoingLink, ...]


@dataclass(frozen=True, slots=True)
class RelatedNote:
    """A note near another one. `similarity` is the cosine of their mean vectors (None: no vector)."""

    path: str
    title: str
    score: float
    similarity: float | None
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that is not in the index, and the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What a rebuild did; `embedded` and `reused` count texts."""

    generation: int
    notes: int
    chunks: int
    skipped: tuple[SkippedFile, ...]
    seconds: float
    embedded: int = 0
    reused: int = 0
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is; counts are notes and chunks done, of `total` notes."""

    stage: str
    notes: int
    total: int
    chunks: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Problem:
    """Something `verify` found: which store, what kind, the detail, and the file it concerns ("": none)."""

    store: str
    kind: str
    detail: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """How much an index holds."""

    notes: int
    chunks: int
    links: int
    unresolved: int


@dataclass(frozen=True, slots=True)
class StatusReport:
    """The state of an index and of the process that keeps it."""

    vault: str
    index_dir: str
    state: str
    generation: int
    seq: int
    pending: int
    counts: IndexCounts
    skipped: tuple[SkippedFile, ...] = ()
    manifest: Mapping[str, JsonValue] = field(default_factory=dict)
    detail: str = ""
    watching: str = ""
    progress: Progress | None = None
