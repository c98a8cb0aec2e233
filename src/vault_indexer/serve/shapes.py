"""The JSON answers as types, the same for HTTP and for `--json`. This module imports nothing heavy.

These names are a contract with other programs: a key is added, never renamed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

if TYPE_CHECKING:
    from vault_indexer.model import JsonValue


SOME_KEYS = "some keys"
"""Marks a list whose entries have only the keys that a request names, where it names some."""


class VectorJson(TypedDict):
    """Rank and cosine among the chunks nearest in meaning."""

    rank: int
    score: float


class KeywordJson(TypedDict):
    """Rank and BM25F score, by word and by field."""

    rank: int
    score: float
    terms: dict[str, float]
    fields: dict[str, float]
    coverage: float | None


class GraphJson(TypedDict):
    """Rank and weight among the neighbours of strong hits."""

    rank: int
    score: float
    via: list[str]


class NoteReasonJson(TypedDict):
    """What the whole note says: the cosine of its mean vector, and the part of the query that it holds."""

    cosine: float | None
    coverage: float


class WhyJson(TypedDict):
    """Why a hit is in the answer."""

    vector: VectorJson | None
    keyword: KeywordJson | None
    graph: GraphJson | None
    recency: float
    fused: float
    fused_rank: int
    evidence: float | None
    title: float
    filters: list[str]
    note: NoteReasonJson | None


class PassageJson(TypedDict):
    """The text around a hit."""

    kind: str
    start_pos: int
    end_pos: int
    start_line: int
    end_line: int
    text: str


class InVaultJson(TypedDict, total=False):
    """The name of the vault of a hit or citation. It is there only where several vaults were searched."""

    vault: str


class HitJson(InVaultJson):
    """One ranked chunk, or a file found by its name."""

    path: str
    kind: str
    title: str
    language: str
    header_path: str
    chunk_id: str
    chunk_index: int
    start_pos: int
    end_pos: int
    start_line: int
    end_line: int
    line: int
    uri: str
    score: float
    relevance: float
    snippet: str
    marks: list[list[int]]
    content: str
    modified_time: str
    tags: list[str]
    aliases: list[str]
    frontmatter: dict[str, JsonValue]
    stale: bool
    passage: PassageJson | None
    why: WhyJson


class SharesJson(TypedDict):
    """What words, meaning and links gave to a hit, each in [0, 1]: the score by word as a part of the highest
    one of the answer, the cosine, and the weight by link. Only with `shares` among `fields`."""

    words: float
    meaning: float
    links: float


class IndexStateJson(TypedDict):
    """The state of the index that gave an answer."""

    generation: int
    seq: int
    pending: int


CorrectionJson = TypedDict("CorrectionJson", {"from": str, "to": str})
"""A word of the query that no note holds, and the likely spelling that was searched as well."""


class SearchJson(TypedDict):
    """`search --json` and `GET /v1/search`."""

    query: str
    took_ms: float
    index: IndexStateJson
    results: Annotated[list[HitJson], SOME_KEYS]
    notices: list[str]
    corrections: list[CorrectionJson]
    verdict: Literal["strong", "likely", "weak", "none"]
    missing_words: list[str]


class CitationJson(InVaultJson):
    """A span of a note that a sentence of an answer rests on."""

    id: str
    path: str
    title: str
    header_path: str
    block: str
    start_pos: int
    end_pos: int
    start_line: int
    end_line: int
    quote: str
    sha256: str
    uri: str


class AnswerSentenceJson(TypedDict):
    """A sentence of an answer, with its citations, why it was dropped, if it was, and its words that no
    citation holds."""

    text: str
    citations: list[CitationJson]
    verdict: Literal["quoted", "supported", "unchecked", "dropped"]
    reason: str
    unchecked: list[str]


class AskJson(TypedDict):
    """`ask --json` and `POST /v1/ask`."""

    question: str
    kind: Literal["quotes", "written", "passages", "declined"]
    verdict: Literal["strong", "likely", "weak", "none"]
    sentences: list[AnswerSentenceJson]
    dropped: list[AnswerSentenceJson]
    passages: list[HitJson]
    missing_words: list[str]
    model: str
    took_ms: float
    index: IndexStateJson
    notices: list[str]
    prompt: str


class AskEventJson(TypedDict):
    """A line of the stream of `POST /v1/ask`: `data` is an `AskJson` of a `passages` or `answer`, an
    `AnswerSentenceJson` of a `sentence`, an `ErrorJson` of an `error`."""

    event: Literal["passages", "sentence", "answer", "error"]
    data: AskJson | AnswerSentenceJson | ErrorJson


class ExplainJson(TypedDict):
    """`explain --json` and `GET /v1/explain`: where a note is in an answer, and why or why not."""

    query: str
    path: str
    rank: int | None
    candidates: int
    shown: bool
    why: WhyJson | None
    relevance: float | None
    reasons: list[str]


class OutgoingJson(TypedDict):
    """A link as written and where it leads."""

    kind: str
    target: str
    subpath: str
    display: str | None
    line: int
    resolved: str | None


class OutgoingLinkJson(OutgoingJson):
    """A link with what the index knows of it: other candidates, the chunk and line its subpath points at."""

    ambiguous: bool
    candidates: list[str]
    candidate_count: int
    chunk_id: str | None
    target_line: int | None
    problem: str | None


class BacklinkJson(TypedDict):
    """A link from another note, with the text around it."""

    path: str
    line: int
    kind: str
    subpath: str
    title: str
    snippet: str
    chunk_id: str | None
    target_chunk_id: str | None
    problem: str | None


class LinksJson(TypedDict):
    """`links NOTE --json` and `GET /v1/links?path=`. The counts are of all; `more`: a list was cut short."""

    path: str
    outgoing: list[OutgoingLinkJson]
    backlinks: list[BacklinkJson]
    unresolved: list[OutgoingLinkJson]
    diagnostics: list[DiagnosticJson]
    outgoing_count: int
    backlink_count: int
    unresolved_count: int
    more: bool


class LinkPlaceJson(TypedDict):
    """The position of a link."""

    path: str
    line: int
    kind: str


class UnresolvedTargetJson(TypedDict):
    """A link target that no file has, and the links to it."""

    target: str
    count: int
    sources: list[LinkPlaceJson]


class UnresolvedJson(TypedDict):
    """`links --unresolved --json` and `GET /v1/links?view=unresolved`. `links` and `targets` count all that
    the vault has; `more`: the list was cut short."""

    links: int
    targets: int
    more: bool
    unresolved: list[UnresolvedTargetJson]


class OrphanJson(TypedDict):
    """A note without links."""

    path: str
    title: str


class OrphansJson(TypedDict):
    """`links --orphans --json` and `GET /v1/links?view=orphans`. `count` is of all; `more`: the list was cut
    short."""

    orphans: list[OrphanJson]
    count: int
    more: bool


class MentionJson(TypedDict):
    """A place that names a note; `marks` is where in the snippet."""

    path: str
    title: str
    line: int
    start_pos: int
    end_pos: int
    name: str
    snippet: str
    marks: list[list[int]]


class MentionsJson(TypedDict):
    """`links --mentions NOTE --json` and `GET /v1/links?view=mentions&path=`."""

    path: str
    names: list[str]
    mentions: list[MentionJson]
    more: bool


class NearnessJson(TypedDict):
    """The shares of a related note's score, before they are scaled."""

    meaning: float
    link: float
    shared: float


class RelatedNoteJson(TypedDict):
    """A note near another one: its nearest chunk, the links between the two, what both are linked with."""

    path: str
    title: str
    score: float
    similarity: float | None
    links: list[str]
    chunk_id: str | None
    header_path: str
    shared: list[str]
    shared_count: int
    why: NearnessJson


class RelatedJson(TypedDict):
    """`related --json` and `GET /v1/related`; `note` is a vault path."""

    note: str
    results: list[RelatedNoteJson]


class NoteJson(TypedDict):
    """`GET /v1/note`: the file as it is now, if it is a note of the index."""

    path: str
    text: str
    modified_time: str


class GraphNodeJson(TypedDict):
    """A file of a graph; `distance` counts links to the nearest centre, `degree` the files linked with it."""

    path: str
    title: str
    kind: str
    distance: int
    degree: int


class GraphEdgeJson(TypedDict):
    """Links between two files ("link": `weight` directions), or a note near another ("related": its
    score)."""

    source: str
    target: str
    kind: str
    weight: float


class NoteGraphJson(TypedDict):
    """`graph NOTE --json` and `GET /v1/graph`: the files around the notes `centres`; `more`: some were left
    out."""

    centres: list[str]
    nodes: list[GraphNodeJson]
    edges: list[GraphEdgeJson]
    more: bool


class ClusterJson(TypedDict):
    """Notes that belong together; `members` are the most linked ones, `links` counts those among all of
    them."""

    name: str
    folder: str
    notes: int
    links: int
    members: list[GraphNodeJson]


class ClusterEdgeJson(TypedDict):
    """The links between two clusters, by their places in the list."""

    source: int
    target: int
    links: int


class ClustersJson(TypedDict):
    """`clusters --json` and `GET /v1/clusters`."""

    by: str
    folder: str
    notes: int
    clusters: list[ClusterJson]
    edges: list[ClusterEdgeJson]


class SkippedJson(TypedDict):
    """A file that is not in the index, and why."""

    path: str
    reason: str


class RebuildJson(TypedDict):
    """`rebuild --json` and `POST /v1/rebuild`."""

    generation: int
    notes: int
    chunks: int
    skipped: list[SkippedJson]
    seconds: float
    embedded: int
    reused: int
    reasons: list[str]


class ProgressJson(TypedDict):
    """The progress of a build."""

    stage: str
    notes: int
    total: int
    chunks: int
    seconds: float


class ErrorJson(TypedDict):
    """An error: its class, and one line that explains it."""

    kind: str
    message: str


class FailureJson(TypedDict):
    """The answer of a route that failed."""

    error: ErrorJson


class RebuildRunJson(TypedDict):
    """`GET /v1/rebuild`: the rebuild that is running, or the last one."""

    running: bool
    progress: ProgressJson | None
    report: RebuildJson | None
    error: ErrorJson | None


class DaemonJson(TypedDict):
    """Whether a daemon is running, and where."""

    running: bool
    pid: int | None
    url: str | None


class ProofJson(TypedDict):
    """That the server knows the token."""

    proof: str


class StatusJson(TypedDict):
    """`status --json` and `GET /v1/status`."""

    vault: str
    index_dir: str
    state: str
    generation: int
    seq: int
    pending: int
    notes: int
    chunks: int
    links: int
    unresolved: int
    skipped: list[SkippedJson]
    detail: str
    watching: str
    progress: ProgressJson | None
    paused: bool
    paused_until: str
    vectors_owed: int
    records_clicks: bool
    daemon: DaemonJson
    manifest: dict[str, JsonValue]


class ClickJson(TypedDict):
    """`POST /v1/click`: the click is in the file."""

    file: str


class PooledNoteJson(TypedDict):
    """A note to be graded, with what the search shows of it."""

    path: str
    title: str
    excerpt: str


class JudgeJson(TypedDict):
    """`GET /v1/judge?q=`: the notes of a question that have no grade yet, in an order that tells no ranks.

    `grades` are the meanings of the grades, `questions` those that are known, `judged` how many notes of this
    one have a grade, `folder` is where all is kept."""

    question: str
    notes: list[PooledNoteJson]
    judged: int
    grades: list[str]
    questions: list[str]
    folder: str


class GradeJson(TypedDict):
    """`POST /v1/judge`: the grade is on disk."""

    question: str
    path: str
    grade: int
    judged: int


class PauseJson(TypedDict):
    """`pause --json`, `resume --json`, and what their routes answer; `paused_until` may be empty."""

    paused: bool
    paused_until: str
    pending: int


class ProblemJson(TypedDict):
    """A difference that `verify` found."""

    store: str
    kind: str
    detail: str


class VerifyJson(TypedDict):
    """`verify --json`."""

    ok: bool
    problems: list[ProblemJson]


class HeadingJson(TypedDict):
    """A heading of a note."""

    level: int
    text: str
    line: int


class BlockJson(TypedDict):
    """A `^id`."""

    id: str
    line: int


class DiagnosticJson(TypedDict):
    """A warning about a note."""

    kind: str
    detail: str
    line: int


class InspectionJson(TypedDict):
    """A line of `inspect --json`. A chunk has the keys of all chunks and those that its strategy adds."""

    path: str
    title: str
    language: str
    frontmatter: dict[str, JsonValue]
    aliases: list[str]
    tags: list[str]
    headings: list[HeadingJson]
    links: list[OutgoingJson]
    blocks: list[BlockJson]
    chunks: list[dict[str, JsonValue]]
    diagnostics: list[DiagnosticJson]


class PictureJson(TypedDict):
    """`GET /v1/picture`: a picture of the vault. `data` is base64; it travels in JSON, so that no address of
    the daemon ever answers with a file of the vault, which a browser could open as a page."""

    path: str
    media_type: str
    bytes: int
    data: str


class NoteViewJson(TypedDict):
    """`GET /v1/view`: a note to be read, as it was indexed. `blocks` and `property_tree` are trees of texts
    and known kinds of nodes, without markup. `more`: the note is longer than the lines that are shown,
    `first_line` to `last_line`: there is more before (`more_before`) or after (`more_after`) them."""

    path: str
    title: str
    uri: str
    language: str
    tags: list[str]
    aliases: list[str]
    properties: dict[str, JsonValue]
    property_tree: dict[str, JsonValue]
    headings: list[HeadingJson]
    blocks: list[dict[str, JsonValue]]
    first_line: int
    last_line: int
    more: bool
    more_before: bool
    more_after: bool
    modified_time: str


class NoteChunksJson(TypedDict):
    """`chunks --json` and `GET /v1/chunks`: chunks have the keys that `inspect` shows."""

    path: str
    strategy: str
    strategies: list[str]
    chunks: list[dict[str, JsonValue]]


class BodyJson(TypedDict):
    """The body of a chunk, and where it stands in its note."""

    key: int
    path: str
    start_pos: int
    end_pos: int
    body: str


class BodiesJson(TypedDict):
    """`GET /v1/bodies`: those of the keys that the index has."""

    bodies: list[BodyJson]


class CompletionJson(TypedDict):
    """One way to go on; `count` notes have it."""

    text: str
    kind: str
    count: int
    help: str


class CompletionsJson(TypedDict):
    """`GET /v1/complete`: each `text` may stand in the place of `replaces`, the end of the query."""

    replaces: str
    items: list[CompletionJson]


class BucketJson(TypedDict):
    """Chunks with fewer characters than `below` (None: any), and not in a bucket before."""

    below: int | None
    chunks: int


class HealthJson(TypedDict):
    """`health --json` and `GET /v1/health`; `wanted` are the targets without a file that most links name, of
    `wanted_count`."""

    notes: int
    chunks: int
    smallest: int
    median: int
    largest: int
    histogram: list[BucketJson]
    strategies: dict[str, int]
    languages: dict[str, int]
    index_bytes: int
    orphans: int
    wanted_count: int
    wanted: list[UnresolvedTargetJson]


class VaultJson(TypedDict):
    """A vault that the daemon keeps: its state, and what is wrong with it ("" for nothing)."""

    name: str
    path: str
    state: str
    notes: int
    pending: int
    problem: str


class VaultsJson(TypedDict):
    """`vault list --json` and `GET /v1/vaults`. `problem` says why a changed configuration is not used, ""
    if nothing is wrong with it."""

    vaults: list[VaultJson]
    problem: str
