"""Requests and answers of the use cases. Their fields are the keys of the JSON, in its order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from vault_indexer.contract import JsonValue
from vault_indexer.contract.marks import FLAT, HIDDEN, OMIT_EMPTY, ON_REQUEST, ChosenKeys, Digits, Key
from vault_indexer.model.chunk import Chunk
from vault_indexer.model.note import Diagnostic, Heading
from vault_indexer.system import record

HitKind = Literal[
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
"""What a hit is: a note, a canvas, a kind of `DOCUMENT_KINDS`, or a file that is found by its name."""

Verdict = Literal["strong", "likely", "weak", "none"]
"""Whether the vault is about what the query asks. "none": probably no note is."""


@record
class IndexState:
    """The state of the index that an answer comes from; `pending` changes are seen but not yet indexed.

    At least `missing` notes of the vault have never been indexed.
    """

    generation: int
    seq: int
    pending: int
    missing: Annotated[int, HIDDEN] = 0

    def restrict(self, verdict: Verdict) -> Verdict:
        """The verdict as far as this index can give it: while notes are missing, "none" becomes "weak"."""
        return "weak" if self.missing and verdict == "none" else verdict


@record
class VectorReason:
    """Rank (1-based) and cosine similarity among the chunks nearest in meaning. All chunks that only another
    ranking gave have one rank, behind the last."""

    rank: int
    score: Annotated[float, Digits(4)]


@record
class KeywordReason:
    """Rank and BM25F score; `terms` and `fields` are the shares of it that each matched word and each field
    gave (no field unless the request asked for them). `coverage`, in [0, 1], is the part of the query's words
    that the chunk holds, each word at its weight (None: it does not count). `synonyms` are the
    synonyms and irregular forms that the chunk holds, each with the words of the query that it stands for."""

    rank: int
    score: Annotated[float, Digits(3)]
    terms: Annotated[Mapping[str, float], Digits(3)]
    fields: Annotated[Mapping[str, float], Digits(3)] = field(default_factory=dict)
    coverage: Annotated[float | None, Digits(4)] = None
    synonyms: Annotated[Mapping[str, str], OMIT_EMPTY] = field(default_factory=dict)


@record
class GraphReason:
    """Rank, and how far links to the note say what the query says, in (0, 1]; `via` are notes with such
    links."""

    rank: int
    score: Annotated[float, Digits(4)]
    via: tuple[str, ...]


@record
class NoteReason:
    """What the whole note says. `cosine` is that of its mean vector (None: it has none); `coverage`, in
    [0, 1], is the part of the query's words that it holds anywhere, each word at its weight."""

    cosine: Annotated[float | None, Digits(4)]
    coverage: Annotated[float, Digits(4)]


@record
class Why:
    """Why a hit is there: its place in each ranking (None: not in it), and what was made of it.

    `fused` and `fused_rank` are its score and rank (1-based; 0: it was not ranked) in the fusion of the three
    rankings, `evidence` is what reranking made of all that is known of it, in [0, 1] (None: it was not
    reranked). Its score, before all are divided by the best, is `evidence` times `recency` times
    `document_weight` (below 1 for a document), plus `title`; without reranking `fused` stands for `evidence`.
    `filters` are the conditions of the query, as written: every hit meets them. `note` is what its whole note
    says.
    """

    vector: VectorReason | None
    keyword: KeywordReason | None
    graph: GraphReason | None
    recency: Annotated[float, Digits(3)]
    fused: Annotated[float, Digits(6)] = 0.0
    fused_rank: int = 0
    evidence: Annotated[float | None, Digits(6)] = None
    title: Annotated[float, Digits(6)] = 0.0
    filters: tuple[str, ...] = ()
    note: NoteReason | None = None
    document_weight: Annotated[float, Digits(3)] = 1.0


@record
class Passage:
    """A span of the note; lines are 1-based, both inclusive. `kind` is "section", "window", "parent", or
    "chunk" where nothing fits around the hit; "sentence" for one that is asked for by its id. `id` is that of
    the parent or sentence, else "". Of several hits with one parent the first has its text, the others ""."""

    kind: str
    start_pos: int
    end_pos: int
    start_line: int
    end_line: int
    text: str
    id: str = ""


@record
class Shares:
    """What words, meaning and links gave to a hit, each in [0, 1]: the score by word as a part of the highest
    one of the answer, the cosine, and the weight by link."""

    words: Annotated[float, Digits(2, (0.0, 1.0))]
    meaning: Annotated[float, Digits(2, (0.0, 1.0))]
    links: Annotated[float, Digits(2, (0.0, 1.0))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One ranked chunk. Positions are characters of the file decoded as UTF-8; lines are 1-based.

    `snippet` has no markup, and `marks` are spans of it. `line` is that of the first match in the snippet,
    or where it begins; `header_path` is the headings that hold there. Of a document, such as a PDF,
    positions and lines are those of the extracted text, and `part` is the page, slide or sheet ("page 3").
    The chunk's fields are those of the whole chunk. `uri` opens the note in the editor of `page.editor` or in
    Obsidian, or its file where the vault is none of Obsidian's. `score` orders the hits of one answer;
    `relevance`, in [0, 1], says how likely the hit is about what the query asks, and can be compared between
    queries.

    `language` is that of the note (ISO 639-1, "" where it is not known), `vault` the name of the vault where
    several were searched, else "". `copies` are the paths of notes with the same text, which have
    no hit of their own. `fields` are the properties in the text of the note. `strategy`, `level`,
    `parent_id`, `sentence_ids`, `doc_id` and the links are those of the chunk: its level is 0 for a parent
    and 1 for a child, None where the strategy makes none. `chunk` is the whole chunk of the index, with all
    that its strategy says of it; only a request that names `shares` or `chunk` gets them.

    A hit of kind "attachment" has no chunk: its texts are empty, its positions 0 and its lines 1.
    So has a note that could not be read; its snippet says why.
    """

    path: str
    kind: HitKind = "note"
    title: str
    language: str = ""
    header_path: str
    chunk_id: str
    chunk_index: int
    start_pos: int
    end_pos: int
    start_line: int
    end_line: int
    line: int = 0
    part: Annotated[str, OMIT_EMPTY] = ""
    uri: str = ""
    score: Annotated[float, Digits(4, (0.0, 1.0))]
    relevance: Annotated[float, Digits(4)] = 0.0
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()
    content: str
    modified_time: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    frontmatter: Mapping[str, JsonValue] = field(default_factory=dict)
    stale: bool
    strategy: str = ""
    level: int | None = None
    parent_id: str = ""
    sentence_ids: tuple[str, ...] = ()
    doc_id: str = ""
    wikilinks: tuple[str, ...] = ()
    markdown_links: tuple[str, ...] = ()
    passage: Passage | None = None
    why: Why
    vault: Annotated[str, OMIT_EMPTY] = ""
    copies: Annotated[tuple[str, ...], OMIT_EMPTY] = ()
    fields: Annotated[Mapping[str, JsonValue], OMIT_EMPTY] = field(default_factory=dict)
    shares: Annotated[Shares | None, ON_REQUEST] = None
    chunk: Annotated[Chunk | None, ON_REQUEST] = None


@record
class Correction:
    """A word of the query that no note holds, and the likely spelling that was searched as well."""

    written: Annotated[str, Key("from")]
    searched: Annotated[str, Key("to")]


@record
class SearchAnswer:
    """The answer to one search; `notices` are short sentences a user should see. `verdict` is that of the
    best of the first five hits, before `min_relevance` leaves any out. `missing_words` are words of the query
    that no note has. The first `likely` hits are likely: 0 with the verdict "weak" or "none"; those behind
    them are only the nearest.

    `keys` are those of each hit that the JSON has (None: all).
    """

    query: str
    took_ms: Annotated[float, Digits(2)]
    index: IndexState
    results: Annotated[tuple[Hit, ...], ChosenKeys("keys")]
    notices: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()
    verdict: Verdict = "none"
    missing_words: tuple[str, ...] = ()
    likely: int = 0
    keys: Annotated[frozenset[str] | None, HIDDEN] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Where a note is in the answer to a query, and why, or why not.

    `rank` is its best chunk's place among the `candidates` that were ranked (None: not ranked), `shown`
    whether the answer holds it. `why` and `relevance` are of that chunk. `reasons` are sentences for a person
    that say what these do not.
    """

    query: str
    path: str
    rank: int | None
    candidates: int = 0
    shown: bool
    why: Why | None
    relevance: Annotated[float | None, Digits(4)] = None
    reasons: tuple[str, ...]


@record
class OutgoingLink:
    """A link of a note as written, and where it leads (None: nowhere yet).

    `chunk_id` and `target_line` are the chunk and line that a subpath points at, `problem` says why it points
    at none. Where several files could be meant, `candidates` are the shortest of the paths, the chosen one
    first, and `candidate_count` is how many there are.
    """

    kind: str
    target: str
    subpath: str
    display: str | None
    line: int
    resolved: str | None
    ambiguous: bool = False
    candidates: tuple[str, ...] = ()
    candidate_count: int = 0
    chunk_id: str | None = None
    target_line: int | None = None
    problem: str | None = None


@record
class Backlink:
    """A link that points at the wanted note, from `path`, with the text around it on one line.

    `chunk_id` is the chunk that holds the link, `target_chunk_id` the one its subpath points at, `problem`
    why it points at none. `tree` is the snippet as a tree of `parse.reading_view`, if it was asked for.
    """

    path: str
    line: int
    kind: str
    subpath: str
    title: str = ""
    snippet: str = ""
    chunk_id: str | None = None
    target_chunk_id: str | None = None
    problem: str | None = None
    tree: Annotated[tuple[dict[str, JsonValue], ...], OMIT_EMPTY] = ()


@record
class LinksAnswer:
    """The links of one note. `diagnostics` are of kind "unresolved", "ambiguous" or "subpath". The counts are
    of all; `more`: a list was cut short."""

    path: str
    outgoing: tuple[OutgoingLink, ...]
    backlinks: tuple[Backlink, ...]
    unresolved: tuple[OutgoingLink, ...]
    diagnostics: tuple[Diagnostic, ...]
    outgoing_count: int
    backlink_count: int
    unresolved_count: int
    more: bool = False

    def first(self, limit: int | None) -> LinksAnswer:
        """The same with at most `limit` entries in each list; None means all."""
        lists = {name: getattr(self, name) for name in ("outgoing", "backlinks", "unresolved", "diagnostics")}
        more = limit is not None and any(len(one) > limit for one in lists.values())
        return replace(self, more=more, **{name: one[:limit] for name, one in lists.items()})


@record
class LinkPlace:
    """Where a link stands."""

    path: str
    line: int
    kind: str


@record
class UnresolvedTarget:
    """What links of the vault name and no file is: as it is most often written, and who links there."""

    target: str
    count: int
    places: Annotated[tuple[LinkPlace, ...], Key("sources")]


@record
class UnresolvedLinks:
    """The targets of links that no file has. `links` and `targets` count all that the vault has; `more`: the
    list was cut short."""

    links: int
    targets: int
    more: bool
    unresolved: tuple[UnresolvedTarget, ...]

    @classmethod
    def of(cls, found: Sequence[UnresolvedTarget], limit: int | None) -> UnresolvedLinks:
        """At most this number of the targets that were found."""
        more = limit is not None and len(found) > limit
        return cls(sum(one.count for one in found), len(found), more, tuple(found[:limit]))


@record
class Orphan:
    """A note that no link leaves for another file, and none arrives at."""

    path: str
    title: str


@record
class Orphans:
    """The notes without links. `count` is of all; `more`: the list was cut short."""

    orphans: tuple[Orphan, ...]
    count: int
    more: bool

    @classmethod
    def of(cls, found: Sequence[Orphan], limit: int | None) -> Orphans:
        """At most this number of the notes that were found."""
        return cls(tuple(found[:limit]), len(found), limit is not None and len(found) > limit)


@record
class Mention:
    """A place in `path` that names a note without linking it; `marks` is the name's span in the snippet.
    `tree` is the snippet as a tree of `parse.reading_view` with the name marked, if it was asked for."""

    path: str
    title: str
    line: int
    start_pos: int
    end_pos: int
    name: str
    snippet: str
    marks: tuple[tuple[int, int], ...]
    tree: Annotated[tuple[dict[str, JsonValue], ...], OMIT_EMPTY] = ()


@record
class MentionsAnswer:
    """The places that name a note, of which `names` were looked for; `more`: there are others."""

    path: str
    names: tuple[str, ...]
    mentions: tuple[Mention, ...]
    more: bool


@record
class Nearness:
    """The shares of a related note's score, before they are scaled: by cosine, by a link between the two,
    by what both are linked with."""

    meaning: Annotated[float, Digits(4)]
    link: Annotated[float, Digits(4)]
    shared: Annotated[float, Digits(4)]


@record
class RelatedNote:
    """A note near another one, and why.

    `similarity` is the cosine of the other's mean vector with the nearest chunk of this note (None: no
    vector), `header_path` and `chunk_id` name that chunk. `links` says which way links go between the two.
    `shared` are files that both are linked with, those that tell most first, of `shared_count`.
    `shared_tags` are the tags that both have. `closeness` is "close", "somewhat close", "less close" or ""
    (no vector), compared with the nearest note; `is_near`: it is worth showing before anybody asks for more.
    """

    path: str
    title: str
    score: Annotated[float, Digits(4)]
    similarity: Annotated[float | None, Digits(4)]
    links: tuple[str, ...]
    chunk_id: str | None = None
    header_path: str = ""
    shared: tuple[str, ...] = ()
    shared_count: int = 0
    shared_tags: Annotated[tuple[str, ...], OMIT_EMPTY] = ()
    why: Nearness = Nearness(0.0, 0.0, 0.0)
    closeness: str = ""
    is_near: Annotated[bool, Key("near")] = False


@record
class RelatedAnswer:
    """The notes near the one at the vault path `note`."""

    note: str
    results: tuple[RelatedNote, ...]


@record
class BaseColumn:
    """A property that a view of a base shows, as the base writes it, and its name for people. `summary` is
    the name of what is calculated from all rows, "" for nothing, and `summary_value` the result."""

    property: str
    name: str
    summary: str = ""
    summary_value: JsonValue = None


@record
class BaseRow:
    """A file in a view of a base, with a value for each column.

    A date is ISO 8601, a link is an object with `text` and `path` or `href`, and a value that cannot be
    calculated is an object with `error`. `group` is the value by which the view groups its rows.
    """

    path: str
    cells: tuple[JsonValue, ...]
    group: JsonValue = None


@record
class BaseView:
    """A view of the base at `path`. `type` is how Obsidian draws it, `views` are the names of all views.
    `count` is the number of files that pass the filters; there can be fewer `rows`. `group_by` is the name of
    the property that groups the rows, "" for none."""

    path: str
    view: str
    type: str
    views: tuple[str, ...]
    columns: tuple[BaseColumn, ...]
    rows: tuple[BaseRow, ...]
    count: int
    group_by: str = ""


@record
class ListedNote:
    """A note in a list of notes. `alias` is the alias by which a name that was asked for matches, "" if the
    title or the path matches as well."""

    path: str
    title: str
    modified_time: str
    tags: tuple[str, ...]
    alias: Annotated[str, OMIT_EMPTY] = ""


@record
class NoteList:
    """Notes of the index, as many as were asked for. `count` is that of all that were meant."""

    notes: tuple[ListedNote, ...]
    count: int


@record
class NoteText:
    """A file of the vault as it is now, if it is a note of the index."""

    path: str
    text: str
    modified_time: str


@record
class NoteChanges:
    """The files that changed up to `seq`, in the order of their first change. With `more`, other files
    changed too."""

    seq: int
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    more: bool = False


@record
class SkippedFile:
    """A file that is not in the index, and the reason. A note with `is_indexed` is there, and the reason says
    what could not be read as it was meant: its properties, some of its bytes."""

    path: str
    reason: str
    is_indexed: bool = False


@record
class RebuildReport:
    """What a rebuild did; `embedded` and `reused` count texts.

    `left_out` notes of the vault were left for later: a first build begins with a part.
    """

    generation: int
    notes: int
    chunks: int
    skipped: tuple[SkippedFile, ...]
    seconds: Annotated[float, Digits(2)]
    embedded: int = 0
    reused: int = 0
    reasons: tuple[str, ...] = ()
    left_out: Annotated[int, HIDDEN] = 0


@record
class Progress:
    """How far a build is; counts are notes and chunks done, of `total` notes."""

    stage: str
    notes: int
    total: int
    chunks: int
    seconds: Annotated[float, Digits(2)]


@record
class ErrorReport:
    """An error: its class, and one line that explains it."""

    kind: str
    message: str


@record
class Failure:
    """The answer of a route that failed: problem details (RFC 9457) with the error. `title` names the status
    in words, and `detail` is the error's message."""

    type: str
    title: str
    status: int
    detail: str
    error: ErrorReport


@record
class RebuildRun:
    """The rebuild that is running, or the last one."""

    running: bool
    progress: Progress | None
    report: RebuildReport | None
    error: ErrorReport | None


@record
class Problem:
    """A difference that `verify` found: which store, what kind, and the detail.

    `path` is the file that it concerns ("": none).
    """

    store: str
    kind: str
    detail: str
    path: Annotated[str, HIDDEN] = ""


@record
class Verification:
    """The differences between the vault and its index."""

    ok: bool
    problems: tuple[Problem, ...]


@record
class IndexCounts:
    """How much an index holds."""

    notes: int
    chunks: int
    links: int
    unresolved: int


@record
class NoteOutline:
    """A note as it was indexed. The places of the headings are characters of `text`; `uri` opens the note."""

    path: str
    title: str
    uri: str
    text: str
    headings: tuple[Heading, ...]


@record
class DaemonState:
    """Whether a daemon is running, and where."""

    running: bool = False
    pid: int | None = None
    url: str | None = None


@record
class VectorUpgrade:
    """How far the vectors of a better model are, by which the index will be searched when all are there:
    `done` of `total` chunks, and about how many seconds of idle time the rest takes. `waits_for` says why
    none are made at the moment; empty where they are."""

    model: str
    done: int
    total: int
    seconds_left: int
    waits_for: str = ""


@record
class UpgradeState:
    """How far the vectors of a better model are; null where there is none to change to."""

    upgrade: VectorUpgrade | None


@record
class LanguageModel:
    """The language model that writes answers. `name` is provider and model; questions and passages of notes
    are sent to `host`, with its port if the address has one. `is_local`: it is this computer."""

    name: str
    host: str
    is_local: bool


@record
class StatusReport:
    """The state of an index and of the process that keeps it.

    `paused_until` is UTC, ISO 8601; empty where nothing is paused, or until somebody says so.
    `vectors_owed` chunks are found by word and link, and by meaning once they have their vectors.
    `records_clicks`: the user wants it to be kept which notes are opened from hits. `unread_documents`
    counts, by kind, the documents that are not read because their extra is not installed; `documents` those
    that are read, of which `unrecognised_documents` are images, or have pages without text.
    `language_model` is None if answers are quotes.
    `unpublished` counts the commits with which the server that the index is published to does not answer
    yet.
    """

    vault: str
    index_dir: str
    state: str
    generation: int
    seq: int
    pending: int
    counts: Annotated[IndexCounts, FLAT]
    skipped: tuple[SkippedFile, ...] = ()
    detail: str = ""
    watching: str = ""
    progress: Progress | None = None
    paused: bool = False
    paused_until: str = ""
    vectors_owed: int = 0
    upgrade: VectorUpgrade | None = None
    records_clicks: bool = False
    daemon: DaemonState = DaemonState()
    manifest: Mapping[str, JsonValue] = field(default_factory=dict)
    unread_documents: Mapping[str, int] = field(default_factory=dict)
    documents: Mapping[str, int] = field(default_factory=dict)
    unrecognised_documents: int = 0
    recognises_text: bool = False
    language_model: LanguageModel | None = None
    unpublished: Annotated[int, HIDDEN] = 0


@record
class PauseState:
    """Whether indexing is paused, and how many changes wait for its end; `paused_until` may be empty."""

    paused: bool
    paused_until: str
    pending: int


@record
class VaultSummary:
    """A vault of a server in the list of all. `state` is that of a `StatusReport`, or `opening`,
    `unavailable` (its folder is missing), `locked` (another process holds its index), `unusable`; `problem`
    says why."""

    name: str
    path: str
    state: str
    notes: int
    pending: int
    problem: str


@record
class VaultList:
    """The vaults of a server. `problem` says why a changed configuration is not used, "" if nothing is wrong
    with it."""

    vaults: tuple[VaultSummary, ...]
    problem: str


@record
class Proof:
    """That the server knows the token. `pid` is its process id."""

    proof: str
    pid: int
