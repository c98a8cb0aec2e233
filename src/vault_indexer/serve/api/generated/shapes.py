"""The JSON answers as types. Written by `make api-types` from the dataclasses of `model`: change those.

The keys are a contract with other programs: one is added, never renamed. This module imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from vault_indexer.model import JsonValue


class IndexStateJson(TypedDict):
    """The state of the index that an answer comes from; `pending` changes are seen but not yet
    indexed."""

    generation: int
    seq: int
    pending: int


class PassageJson(TypedDict):
    """A span of the note; lines are 1-based, both inclusive. `kind` is "section", "window", "parent", or
    "chunk" where nothing fits around the hit; "sentence" for one that is asked for by its id. `id` is
    that of the parent or sentence, else "". Of several hits with one parent the first has its text, the
    others ""."""

    kind: str
    start_pos: int
    end_pos: int
    start_line: int
    end_line: int
    text: str
    id: str


class VectorReasonJson(TypedDict):
    """Rank (1-based) and cosine similarity among the chunks nearest in meaning. All chunks that only
    another ranking gave have one rank, behind the last."""

    rank: int
    score: float


class KeywordReasonJson(TypedDict):
    """Rank and BM25F score; `terms` and `fields` are the shares of it that each matched word and each
    field gave (no field unless the request asked for them). `coverage`, in [0, 1], is the part of the
    query's words that the chunk holds, each word at its weight (null: it does not count). `synonyms` are
    the synonyms and irregular forms that the chunk holds, each with the words of the query that it
    stands for."""

    rank: int
    score: float
    terms: dict[str, float]
    fields: dict[str, float]
    coverage: float | None
    synonyms: NotRequired[dict[str, str]]


class GraphReasonJson(TypedDict):
    """Rank, and how far links to the note say what the query says, in (0, 1]; `via` are notes with such
    links."""

    rank: int
    score: float
    via: list[str]


class NoteReasonJson(TypedDict):
    """What the whole note says. `cosine` is that of its mean vector (null: it has none); `coverage`, in
    [0, 1], is the part of the query's words that it holds anywhere, each word at its weight."""

    cosine: float | None
    coverage: float


class WhyJson(TypedDict):
    """Why a hit is there: its place in each ranking (null: not in it), and what was made of it."""

    vector: VectorReasonJson | None
    keyword: KeywordReasonJson | None
    graph: GraphReasonJson | None
    recency: float
    fused: float
    fused_rank: int
    evidence: float | None
    title: float
    filters: list[str]
    note: NoteReasonJson | None
    document_weight: float


class SharesJson(TypedDict):
    """What words, meaning and links gave to a hit, each in [0, 1]: the score by word as a part of the
    highest one of the answer, the cosine, and the weight by link."""

    words: float
    meaning: float
    links: float


class HitJson(TypedDict):
    """One ranked chunk. Positions are characters of the file decoded as UTF-8; lines are 1-based."""

    path: str
    kind: Literal[
        "note",
        "canvas",
        "base",
        "attachment",
        "pdf",
        "docx",
        "pptx",
        "xlsx",
        "odt",
        "ods",
        "odp",
        "rtf",
        "epub",
        "html",
        "ipynb",
        "csv",
        "subtitles",
        "text",
        "json",
        "image",
    ]
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
    part: NotRequired[str]
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
    strategy: str
    level: int | None
    parent_id: str
    sentence_ids: list[str]
    doc_id: str
    wikilinks: list[str]
    markdown_links: list[str]
    passage: PassageJson | None
    why: WhyJson
    vault: NotRequired[str]
    copies: NotRequired[list[str]]
    fields: NotRequired[dict[str, JsonValue]]
    shares: NotRequired[SharesJson | None]
    chunk: NotRequired[dict[str, JsonValue] | None]


CorrectionJson = TypedDict("CorrectionJson", {"from": str, "to": str})
"""A word of the query that no note holds, and the likely spelling that was searched as well."""


class SearchAnswerJson(TypedDict):
    """The answer to one search; `notices` are short sentences a user should see. `verdict` is that of
    the best of the first five hits, before `min_relevance` leaves any out. `missing_words` are words of
    the query that no note has. The first `likely` hits are likely: 0 with the verdict "weak" or "none";
    those behind them are only the nearest."""

    query: str
    took_ms: float
    index: IndexStateJson
    results: list[HitJson]
    notices: list[str]
    corrections: list[CorrectionJson]
    verdict: Literal["strong", "likely", "weak", "none"]
    missing_words: list[str]
    likely: int


class CitationJson(TypedDict):
    """A span of a note that a sentence rests on."""

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
    sentence_ids: list[str]
    property: NotRequired[str]
    part: NotRequired[str]
    vault: NotRequired[str]


class AnswerSentenceJson(TypedDict):
    """A sentence of an answer and what it rests on. `reason` says why it was dropped, else it is "".
    `unchecked` are the words of a sentence of that verdict which what it cites does not hold."""

    text: str
    citations: list[CitationJson]
    verdict: Literal["quoted", "supported", "unchecked", "dropped"]
    reason: str
    unchecked: list[str]


class AskAnswerJson(TypedDict):
    """The answer to a question."""

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


class ErrorReportJson(TypedDict):
    """An error: its class, and one line that explains it."""

    kind: str
    message: str


class ExplanationJson(TypedDict):
    """Where a note is in the answer to a query, and why, or why not."""

    query: str
    path: str
    rank: int | None
    candidates: int
    shown: bool
    why: WhyJson | None
    relevance: float | None
    reasons: list[str]


class SkippedFileJson(TypedDict):
    """A file that is not in the index, and the reason. A note with `is_indexed` is there, and the reason
    says what could not be read as it was meant: its properties, some of its bytes."""

    path: str
    reason: str
    is_indexed: bool


class ProgressJson(TypedDict):
    """How far a build is; counts are notes and chunks done, of `total` notes."""

    stage: str
    notes: int
    total: int
    chunks: int
    seconds: float


class VectorUpgradeJson(TypedDict):
    """How far the vectors of a better model are, by which the index will be searched when all are there:
    `done` of `total` chunks, and about how many seconds of idle time the rest takes. `waits_for` says
    why none are made at the moment; empty where they are."""

    model: str
    done: int
    total: int
    seconds_left: int
    waits_for: str


class DaemonStateJson(TypedDict):
    """Whether a daemon is running, and where."""

    running: bool
    pid: int | None
    url: str | None


class LanguageModelJson(TypedDict):
    """The language model that writes answers. `name` is provider and model; questions and passages of
    notes are sent to `host`, with its port if the address has one. `is_local`: it is this computer."""

    name: str
    host: str
    is_local: bool


class StatusReportJson(TypedDict):
    """The state of an index and of the process that keeps it."""

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
    skipped: list[SkippedFileJson]
    detail: str
    watching: str
    progress: ProgressJson | None
    paused: bool
    paused_until: str
    vectors_owed: int
    upgrade: VectorUpgradeJson | None
    records_clicks: bool
    daemon: DaemonStateJson
    manifest: dict[str, JsonValue]
    unread_documents: dict[str, int]
    documents: dict[str, int]
    unrecognised_documents: int
    recognises_text: bool
    language_model: LanguageModelJson | None


class NearnessJson(TypedDict):
    """The shares of a related note's score, before they are scaled: by cosine, by a link between the
    two, by what both are linked with."""

    meaning: float
    link: float
    shared: float


class RelatedNoteJson(TypedDict):
    """A note near another one, and why."""

    path: str
    title: str
    score: float
    similarity: float | None
    links: list[str]
    chunk_id: str | None
    header_path: str
    shared: list[str]
    shared_count: int
    shared_tags: NotRequired[list[str]]
    why: NearnessJson
    closeness: str
    near: bool


class RelatedAnswerJson(TypedDict):
    """The notes near the one at the vault path `note`."""

    note: str
    results: list[RelatedNoteJson]


class OutgoingLinkJson(TypedDict):
    """A link of a note as written, and where it leads (null: nowhere yet)."""

    kind: str
    target: str
    subpath: str
    display: str | None
    line: int
    resolved: str | None
    ambiguous: bool
    candidates: list[str]
    candidate_count: int
    chunk_id: str | None
    target_line: int | None
    problem: str | None


class BacklinkJson(TypedDict):
    """A link that points at the wanted note, from `path`, with the text around it on one line."""

    path: str
    line: int
    kind: str
    subpath: str
    title: str
    snippet: str
    chunk_id: str | None
    target_chunk_id: str | None
    problem: str | None
    tree: NotRequired[list[dict[str, JsonValue]]]


class DiagnosticJson(TypedDict):
    """Something about a note that its author may want to know; the note is indexed all the same."""

    kind: str
    detail: str
    line: int


class LinksAnswerJson(TypedDict):
    """The links of one note. `diagnostics` are of kind "unresolved", "ambiguous" or "subpath". The
    counts are of all; `more`: a list was cut short."""

    path: str
    outgoing: list[OutgoingLinkJson]
    backlinks: list[BacklinkJson]
    unresolved: list[OutgoingLinkJson]
    diagnostics: list[DiagnosticJson]
    outgoing_count: int
    backlink_count: int
    unresolved_count: int
    more: bool


class MentionJson(TypedDict):
    """A place in `path` that names a note without linking it; `marks` is the name's span in the snippet.
    `tree` is the snippet as a tree of `parse.reading_view` with the name marked, if it was asked for."""

    path: str
    title: str
    line: int
    start_pos: int
    end_pos: int
    name: str
    snippet: str
    marks: list[list[int]]
    tree: NotRequired[list[dict[str, JsonValue]]]


class MentionsAnswerJson(TypedDict):
    """The places that name a note, of which `names` were looked for; `more`: there are others."""

    path: str
    names: list[str]
    mentions: list[MentionJson]
    more: bool


class LinkPlaceJson(TypedDict):
    """Where a link stands."""

    path: str
    line: int
    kind: str


class UnresolvedTargetJson(TypedDict):
    """What links of the vault name and no file is: as it is most often written, and who links there."""

    target: str
    count: int
    sources: list[LinkPlaceJson]


class UnresolvedLinksJson(TypedDict):
    """The targets of links that no file has. `links` and `targets` count all that the vault has; `more`:
    the list was cut short."""

    links: int
    targets: int
    more: bool
    unresolved: list[UnresolvedTargetJson]


class OrphanJson(TypedDict):
    """A note that no link leaves for another file, and none arrives at."""

    path: str
    title: str


class OrphansJson(TypedDict):
    """The notes without links. `count` is of all; `more`: the list was cut short."""

    orphans: list[OrphanJson]
    count: int
    more: bool


class NoteTextJson(TypedDict):
    """A file of the vault as it is now, if it is a note of the index."""

    path: str
    text: str
    modified_time: str


class ListedNoteJson(TypedDict):
    """A note in a list of notes. `alias` is the alias by which a name that was asked for matches, "" if
    the title or the path matches as well."""

    path: str
    title: str
    modified_time: str
    tags: list[str]
    alias: NotRequired[str]


class NoteListJson(TypedDict):
    """Notes of the index, as many as were asked for. `count` is that of all that were meant."""

    notes: list[ListedNoteJson]
    count: int


class BaseColumnJson(TypedDict):
    """A property that a view of a base shows, as the base writes it, and its name for people. `summary`
    is the name of what is calculated from all rows, "" for nothing, and `summary_value` the result."""

    property: str
    name: str
    summary: str
    summary_value: JsonValue


class BaseRowJson(TypedDict):
    """A file in a view of a base, with a value for each column."""

    path: str
    cells: list[JsonValue]
    group: JsonValue


class BaseViewJson(TypedDict):
    """A view of the base at `path`. `type` is how Obsidian draws it, `views` are the names of all views.
    `count` is the number of files that pass the filters; there can be fewer `rows`. `group_by` is the
    name of the property that groups the rows, "" for none."""

    path: str
    view: str
    type: str
    views: list[str]
    columns: list[BaseColumnJson]
    rows: list[BaseRowJson]
    count: int
    group_by: str


class GraphNodeJson(TypedDict):
    """A file of a graph. `distance` is the number of links to the nearest note that was asked for,
    `degree` the number of files that this one is linked with. `kind` is "note" or "attachment"."""

    path: str
    title: str
    kind: str
    distance: int
    degree: int


class GraphEdgeJson(TypedDict):
    """`weight` links between two files, either way, or ("related") the score, in (0, 1], of a note near
    the other."""

    source: str
    target: str
    kind: Literal["link", "related"]
    weight: float


class NoteGraphJson(TypedDict):
    """The files around the notes `centres`, nearest first; `more`: files were left out."""

    centres: list[str]
    nodes: list[GraphNodeJson]
    edges: list[GraphEdgeJson]
    more: bool


class ClusterJson(TypedDict):
    """Notes that belong together. `links` counts the links among them; `members` are the most linked
    ones."""

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


class ClusterMapJson(TypedDict):
    """A vault, or one of its folders, as clusters, the largest first. `notes` counts all notes."""

    by: Literal["folder", "community"]
    folder: str
    notes: int
    clusters: list[ClusterJson]
    edges: list[ClusterEdgeJson]


class HeadingJson(TypedDict):
    """A heading as CommonMark sees it. `text` is its inline content with markup removed."""

    level: int
    text: str
    line: int


class NoteViewJson(TypedDict):
    """A note, or a part of it, to be read as it was indexed."""

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
    canvas: NotRequired[dict[str, JsonValue]]
    boxes: NotRequired[list[list[int]]]


class PictureJson(TypedDict):
    """A picture of the vault as it is now. `media_type` is what its content is."""

    path: str
    media_type: str
    bytes: int
    data: str


class NoteChunksJson(TypedDict):
    """The chunks of a note, by the strategy that the index used or by another one; `strategies` can be
    compared without a language model."""

    path: str
    strategy: str
    strategies: list[str]
    chunks: list[dict[str, JsonValue]]


class CompletionJson(TypedDict):
    """What the end of a query may become. `count` notes have it (0: an operator)."""

    text: str
    kind: Literal["tag", "property", "value", "folder", "operator"]
    count: int
    help: str


class CompletionsJson(TypedDict):
    """Ways to complete a query whose last part is `replaces`."""

    replaces: str
    items: list[CompletionJson]


class SizeBucketJson(TypedDict):
    """Chunks with fewer characters than `below` (null: any), and not in a bucket before."""

    below: int | None
    chunks: int


class VaultHealthJson(TypedDict):
    """What chunking does to a vault, and what its notes lack."""

    notes: int
    chunks: int
    smallest: int
    median: int
    largest: int
    histogram: list[SizeBucketJson]
    strategies: dict[str, int]
    languages: dict[str, int]
    index_bytes: int
    orphans: int
    wanted_count: int
    wanted: list[UnresolvedTargetJson]


class RebuildReportJson(TypedDict):
    """What a rebuild did; `embedded` and `reused` count texts."""

    generation: int
    notes: int
    chunks: int
    skipped: list[SkippedFileJson]
    seconds: float
    embedded: int
    reused: int
    reasons: list[str]


class RebuildRunJson(TypedDict):
    """The rebuild that is running, or the last one."""

    running: bool
    progress: ProgressJson | None
    report: RebuildReportJson | None
    error: ErrorReportJson | None


class ProblemJson(TypedDict):
    """A difference that `verify` found: which store, what kind, and the detail."""

    store: str
    kind: str
    detail: str


class VerificationJson(TypedDict):
    """The differences between the vault and its index."""

    ok: bool
    problems: list[ProblemJson]


class UpgradeStateJson(TypedDict):
    """How far the vectors of a better model are; null where there is none to change to."""

    upgrade: VectorUpgradeJson | None


class PauseStateJson(TypedDict):
    """Whether indexing is paused, and how many changes wait for its end; `paused_until` may be empty."""

    paused: bool
    paused_until: str
    pending: int


class VaultSummaryJson(TypedDict):
    """A vault of a server in the list of all. `state` is that of a `StatusReport`, or `opening`,
    `unavailable` (its folder is missing), `locked` (another process holds its index), `unusable`;
    `problem` says why."""

    name: str
    path: str
    state: str
    notes: int
    pending: int
    problem: str


class VaultListJson(TypedDict):
    """The vaults of a server. `problem` says why a changed configuration is not used, "" if nothing is
    wrong with it."""

    vaults: list[VaultSummaryJson]
    problem: str


class ProofJson(TypedDict):
    """That the server knows the token. `pid` is its process id."""

    proof: str
    pid: int
