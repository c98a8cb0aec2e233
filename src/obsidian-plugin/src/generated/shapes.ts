// The JSON answers as types, written by `make api-types` from the dataclasses of `model`.

/** The state of the index that an answer comes from; `pending` changes are seen but not yet indexed. */
export interface IndexState {
  generation: number;
  seq: number;
  pending: number;
}

/** A span of the note; lines are 1-based, both inclusive. `kind` is "section", "window", "parent", or "chunk" where nothing fits around the hit; "sentence" for one that is asked for by its id. `id` is that of the parent or sentence, else "". Of several hits with one parent the first has its text, the others "". */
export interface Passage {
  kind: string;
  start_pos: number;
  end_pos: number;
  start_line: number;
  end_line: number;
  text: string;
  id: string;
}

/** Rank (1-based) and cosine similarity among the chunks nearest in meaning. All chunks that only another ranking gave have one rank, behind the last. */
export interface VectorReason {
  rank: number;
  score: number;
}

/** Rank and BM25F score; `terms` and `fields` are the shares of it that each matched word and each field gave (no field unless the request asked for them). `coverage`, in [0, 1], is the part of the query's words that the chunk holds, each word at its weight (null: it does not count). `synonyms` are the synonyms and irregular forms that the chunk holds, each with the words of the query that it stands for. */
export interface KeywordReason {
  rank: number;
  score: number;
  terms: Record<string, number>;
  fields: Record<string, number>;
  coverage: number | null;
  synonyms?: Record<string, string>;
}

/** Rank, and how far links to the note say what the query says, in (0, 1]; `via` are notes with such links. */
export interface GraphReason {
  rank: number;
  score: number;
  via: string[];
}

/** What the whole note says. `cosine` is that of its mean vector (null: it has none); `coverage`, in [0, 1], is the part of the query's words that it holds anywhere, each word at its weight. */
export interface NoteReason {
  cosine: number | null;
  coverage: number;
}

/** Why a hit is there: its place in each ranking (null: not in it), and what was made of it. */
export interface Why {
  vector: VectorReason | null;
  keyword: KeywordReason | null;
  graph: GraphReason | null;
  recency: number;
  fused: number;
  fused_rank: number;
  evidence: number | null;
  title: number;
  filters: string[];
  note: NoteReason | null;
  document_weight: number;
}

/** What words, meaning and links gave to a hit, each in [0, 1]: the score by word as a part of the highest one of the answer, the cosine, and the weight by link. */
export interface Shares {
  words: number;
  meaning: number;
  links: number;
}

/** One ranked chunk. Positions are characters of the file decoded as UTF-8; lines are 1-based. */
export interface Hit {
  path: string;
  kind: "note" | "canvas" | "base" | "attachment" | "pdf" | "docx" | "pptx" | "xlsx" | "odt" | "ods" | "odp" | "rtf" | "epub" | "html" | "ipynb" | "csv" | "subtitles" | "text" | "json" | "image";
  title: string;
  language: string;
  header_path: string;
  chunk_id: string;
  chunk_index: number;
  start_pos: number;
  end_pos: number;
  start_line: number;
  end_line: number;
  line: number;
  part?: string;
  uri: string;
  score: number;
  relevance: number;
  snippet: string;
  marks: number[][];
  content: string;
  modified_time: string;
  tags: string[];
  aliases: string[];
  frontmatter: Record<string, unknown>;
  stale: boolean;
  strategy: string;
  level: number | null;
  parent_id: string;
  sentence_ids: string[];
  doc_id: string;
  wikilinks: string[];
  markdown_links: string[];
  passage: Passage | null;
  why: Why;
  vault?: string;
  copies?: string[];
  fields?: Record<string, unknown>;
  shares?: Shares | null;
  chunk?: Record<string, unknown> | null;
}

/** A word of the query that no note holds, and the likely spelling that was searched as well. */
export interface Correction {
  from: string;
  to: string;
}

/** The answer to one search; `notices` are short sentences a user should see. `verdict` is that of the best of the first five hits, before `min_relevance` leaves any out. `missing_words` are words of the query that no note has. The first `likely` hits are likely: 0 with the verdict "weak" or "none"; those behind them are only the nearest. */
export interface SearchAnswer {
  query: string;
  took_ms: number;
  index: IndexState;
  results: Hit[];
  notices: string[];
  corrections: Correction[];
  verdict: "strong" | "likely" | "weak" | "none";
  missing_words: string[];
  likely: number;
}

/** A span of a note that a sentence rests on. */
export interface Citation {
  id: string;
  path: string;
  title: string;
  header_path: string;
  block: string;
  start_pos: number;
  end_pos: number;
  start_line: number;
  end_line: number;
  quote: string;
  sha256: string;
  uri: string;
  sentence_ids: string[];
  property?: string;
  part?: string;
  vault?: string;
}

/** A sentence of an answer and what it rests on. `reason` says why it was dropped, else it is "". `unchecked` are the words of a sentence of that verdict which what it cites does not hold. */
export interface AnswerSentence {
  text: string;
  citations: Citation[];
  verdict: "quoted" | "supported" | "unchecked" | "dropped";
  reason: string;
  unchecked: string[];
}

/** The answer to a question. */
export interface AskAnswer {
  question: string;
  kind: "quotes" | "written" | "passages" | "declined";
  verdict: "strong" | "likely" | "weak" | "none";
  sentences: AnswerSentence[];
  dropped: AnswerSentence[];
  passages: Hit[];
  missing_words: string[];
  model: string;
  took_ms: number;
  index: IndexState;
  notices: string[];
  prompt: string;
}

/** An error: its class, and one line that explains it. */
export interface ErrorReport {
  kind: string;
  message: string;
}

/** A line of the stream of `POST /v1/ask`: `data` is an `AskAnswer` of a `passages` or `answer`, an `AnswerSentence` of a `sentence`, an `ErrorReport` of an `error`. */
export interface AskLine {
  event: "passages" | "sentence" | "answer" | "error";
  data: AskAnswer | AnswerSentence | ErrorReport;
}

/** Where a note is in the answer to a query, and why, or why not. */
export interface Explanation {
  query: string;
  path: string;
  rank: number | null;
  candidates: number;
  shown: boolean;
  why: Why | null;
  relevance: number | null;
  reasons: string[];
}

/** A file that is not in the index, and the reason. A note with `is_indexed` is there, and the reason says what could not be read as it was meant: its properties, some of its bytes. */
export interface SkippedFile {
  path: string;
  reason: string;
  is_indexed: boolean;
}

/** How far a build is; counts are notes and chunks done, of `total` notes. */
export interface Progress {
  stage: string;
  notes: number;
  total: number;
  chunks: number;
  seconds: number;
}

/** How far the vectors of a better model are, by which the index will be searched when all are there: `done` of `total` chunks, and about how many seconds of idle time the rest takes. `waits_for` says why none are made at the moment; empty where they are. */
export interface VectorUpgrade {
  model: string;
  done: number;
  total: number;
  seconds_left: number;
  waits_for: string;
}

/** Whether a daemon is running, and where. */
export interface DaemonState {
  running: boolean;
  pid: number | null;
  url: string | null;
}

/** The language model that writes answers. `name` is provider and model; questions and passages of notes are sent to `host`, with its port if the address has one. `is_local`: it is this computer. */
export interface LanguageModel {
  name: string;
  host: string;
  is_local: boolean;
}

/** The state of an index and of the process that keeps it. */
export interface StatusReport {
  vault: string;
  index_dir: string;
  state: string;
  generation: number;
  seq: number;
  pending: number;
  notes: number;
  chunks: number;
  links: number;
  unresolved: number;
  skipped: SkippedFile[];
  detail: string;
  watching: string;
  progress: Progress | null;
  paused: boolean;
  paused_until: string;
  vectors_owed: number;
  upgrade: VectorUpgrade | null;
  records_clicks: boolean;
  daemon: DaemonState;
  manifest: Record<string, unknown>;
  unread_documents: Record<string, number>;
  documents: Record<string, number>;
  unrecognised_documents: number;
  recognises_text: boolean;
  language_model: LanguageModel | null;
}

/** The shares of a related note's score, before they are scaled: by cosine, by a link between the two, by what both are linked with. */
export interface Nearness {
  meaning: number;
  link: number;
  shared: number;
}

/** A note near another one, and why. */
export interface RelatedNote {
  path: string;
  title: string;
  score: number;
  similarity: number | null;
  links: string[];
  chunk_id: string | null;
  header_path: string;
  shared: string[];
  shared_count: number;
  shared_tags?: string[];
  why: Nearness;
  closeness: string;
  near: boolean;
}

/** The notes near the one at the vault path `note`. */
export interface RelatedAnswer {
  note: string;
  results: RelatedNote[];
}

/** A link of a note as written, and where it leads (null: nowhere yet). */
export interface OutgoingLink {
  kind: string;
  target: string;
  subpath: string;
  display: string | null;
  line: number;
  resolved: string | null;
  ambiguous: boolean;
  candidates: string[];
  candidate_count: number;
  chunk_id: string | null;
  target_line: number | null;
  problem: string | null;
}

/** A link that points at the wanted note, from `path`, with the text around it on one line. */
export interface Backlink {
  path: string;
  line: number;
  kind: string;
  subpath: string;
  title: string;
  snippet: string;
  chunk_id: string | null;
  target_chunk_id: string | null;
  problem: string | null;
  tree?: Record<string, unknown>[];
}

/** Something about a note that its author may want to know; the note is indexed all the same. */
export interface Diagnostic {
  kind: string;
  detail: string;
  line: number;
}

/** The links of one note. `diagnostics` are of kind "unresolved", "ambiguous" or "subpath". The counts are of all; `more`: a list was cut short. */
export interface LinksAnswer {
  path: string;
  outgoing: OutgoingLink[];
  backlinks: Backlink[];
  unresolved: OutgoingLink[];
  diagnostics: Diagnostic[];
  outgoing_count: number;
  backlink_count: number;
  unresolved_count: number;
  more: boolean;
}

/** A place in `path` that names a note without linking it; `marks` is the name's span in the snippet. `tree` is the snippet as a tree of `parse.reading_view` with the name marked, if it was asked for. */
export interface Mention {
  path: string;
  title: string;
  line: number;
  start_pos: number;
  end_pos: number;
  name: string;
  snippet: string;
  marks: number[][];
  tree?: Record<string, unknown>[];
}

/** The places that name a note, of which `names` were looked for; `more`: there are others. */
export interface MentionsAnswer {
  path: string;
  names: string[];
  mentions: Mention[];
  more: boolean;
}

/** Where a link stands. */
export interface LinkPlace {
  path: string;
  line: number;
  kind: string;
}

/** What links of the vault name and no file is: as it is most often written, and who links there. */
export interface UnresolvedTarget {
  target: string;
  count: number;
  sources: LinkPlace[];
}

/** The targets of links that no file has. `links` and `targets` count all that the vault has; `more`: the list was cut short. */
export interface UnresolvedLinks {
  links: number;
  targets: number;
  more: boolean;
  unresolved: UnresolvedTarget[];
}

/** A note that no link leaves for another file, and none arrives at. */
export interface Orphan {
  path: string;
  title: string;
}

/** The notes without links. `count` is of all; `more`: the list was cut short. */
export interface Orphans {
  orphans: Orphan[];
  count: number;
  more: boolean;
}

/** A file of the vault as it is now, if it is a note of the index. */
export interface NoteText {
  path: string;
  text: string;
  modified_time: string;
}

/** A note in a list of notes. `alias` is the alias by which a name that was asked for matches, "" if the title or the path matches as well. */
export interface ListedNote {
  path: string;
  title: string;
  modified_time: string;
  tags: string[];
  alias?: string;
}

/** Notes of the index, as many as were asked for. `count` is that of all that were meant. */
export interface NoteList {
  notes: ListedNote[];
  count: number;
}

/** A property that a view of a base shows, as the base writes it, and its name for people. `summary` is the name of what is calculated from all rows, "" for nothing, and `summary_value` the result. */
export interface BaseColumn {
  property: string;
  name: string;
  summary: string;
  summary_value: unknown;
}

/** A file in a view of a base, with a value for each column. */
export interface BaseRow {
  path: string;
  cells: unknown[];
  group: unknown;
}

/** A view of the base at `path`. `type` is how Obsidian draws it, `views` are the names of all views. `count` is the number of files that pass the filters; there can be fewer `rows`. `group_by` is the name of the property that groups the rows, "" for none. */
export interface BaseView {
  path: string;
  view: string;
  type: string;
  views: string[];
  columns: BaseColumn[];
  rows: BaseRow[];
  count: number;
  group_by: string;
}

/** A file of a graph. `distance` is the number of links to the nearest note that was asked for, `degree` the number of files that this one is linked with. `kind` is "note" or "attachment". */
export interface GraphNode {
  path: string;
  title: string;
  kind: string;
  distance: number;
  degree: number;
}

/** `weight` links between two files, either way, or ("related") the score, in (0, 1], of a note near the other. */
export interface GraphEdge {
  source: string;
  target: string;
  kind: "link" | "related";
  weight: number;
}

/** The files around the notes `centres`, nearest first; `more`: files were left out. */
export interface NoteGraph {
  centres: string[];
  nodes: GraphNode[];
  edges: GraphEdge[];
  more: boolean;
}

/** Notes that belong together. `links` counts the links among them; `members` are the most linked ones. */
export interface Cluster {
  name: string;
  folder: string;
  notes: number;
  links: number;
  members: GraphNode[];
}

/** The links between two clusters, by their places in the list. */
export interface ClusterEdge {
  source: number;
  target: number;
  links: number;
}

/** A vault, or one of its folders, as clusters, the largest first. `notes` counts all notes. */
export interface ClusterMap {
  by: "folder" | "community";
  folder: string;
  notes: number;
  clusters: Cluster[];
  edges: ClusterEdge[];
}

/** A heading as CommonMark sees it. `text` is its inline content with markup removed. */
export interface Heading {
  level: number;
  text: string;
  line: number;
}

/** A note, or a part of it, to be read as it was indexed. */
export interface NoteView {
  path: string;
  title: string;
  uri: string;
  language: string;
  tags: string[];
  aliases: string[];
  properties: Record<string, unknown>;
  property_tree: Record<string, unknown>;
  headings: Heading[];
  blocks: Record<string, unknown>[];
  first_line: number;
  last_line: number;
  more: boolean;
  more_before: boolean;
  more_after: boolean;
  modified_time: string;
  canvas?: Record<string, unknown>;
  boxes?: number[][];
}

/** A picture of the vault as it is now. `media_type` is what its content is. */
export interface Picture {
  path: string;
  media_type: string;
  bytes: number;
  data: string;
}

/** The chunks of a note, by the strategy that the index used or by another one; `strategies` can be compared without a language model. */
export interface NoteChunks {
  path: string;
  strategy: string;
  strategies: string[];
  chunks: Record<string, unknown>[];
}

/** What the end of a query may become. `count` notes have it (0: an operator). */
export interface Completion {
  text: string;
  kind: "tag" | "property" | "value" | "folder" | "operator";
  count: number;
  help: string;
}

/** Ways to complete a query whose last part is `replaces`. */
export interface Completions {
  replaces: string;
  items: Completion[];
}

/** Chunks with fewer characters than `below` (null: any), and not in a bucket before. */
export interface SizeBucket {
  below: number | null;
  chunks: number;
}

/** What chunking does to a vault, and what its notes lack. */
export interface VaultHealth {
  notes: number;
  chunks: number;
  smallest: number;
  median: number;
  largest: number;
  histogram: SizeBucket[];
  strategies: Record<string, number>;
  languages: Record<string, number>;
  index_bytes: number;
  orphans: number;
  wanted_count: number;
  wanted: UnresolvedTarget[];
}

/** What a rebuild did; `embedded` and `reused` count texts. */
export interface RebuildReport {
  generation: number;
  notes: number;
  chunks: number;
  skipped: SkippedFile[];
  seconds: number;
  embedded: number;
  reused: number;
  reasons: string[];
}

/** The rebuild that is running, or the last one. */
export interface RebuildRun {
  running: boolean;
  progress: Progress | null;
  report: RebuildReport | null;
  error: ErrorReport | null;
}

/** A difference that `verify` found: which store, what kind, and the detail. */
export interface Problem {
  store: string;
  kind: string;
  detail: string;
}

/** The differences between the vault and its index. */
export interface Verification {
  ok: boolean;
  problems: Problem[];
}

/** How far the vectors of a better model are; null where there is none to change to. */
export interface UpgradeState {
  upgrade: VectorUpgrade | null;
}

/** Whether indexing is paused, and how many changes wait for its end; `paused_until` may be empty. */
export interface PauseState {
  paused: boolean;
  paused_until: string;
  pending: number;
}

/** A vault of a server in the list of all. `state` is that of a `StatusReport`, or `opening`, `unavailable` (its folder is missing), `locked` (another process holds its index), `unusable`; `problem` says why. */
export interface VaultSummary {
  name: string;
  path: string;
  state: string;
  notes: number;
  pending: number;
  problem: string;
}

/** The vaults of a server. `problem` says why a changed configuration is not used, "" if nothing is wrong with it. */
export interface VaultList {
  vaults: VaultSummary[];
  problem: string;
}

/** That the server knows the token. `pid` is its process id. */
export interface Proof {
  proof: string;
  pid: number;
}

/** The click is in the file. */
export interface KeptClick {
  file: string;
}

/** A note to be graded: its path, its title, and its snippet from the search, or its beginning. */
export interface PooledNote {
  path: string;
  title: string;
  excerpt: string;
}

/** The notes of a question without a grade, in an order that tells no ranks. */
export interface JudgingPool {
  question: string;
  notes: PooledNote[];
  judged: number;
  grades: string[];
  questions: string[];
  folder: string;
}

/** The grade of a note for a question is on disk; `judged` notes of the question have one. */
export interface KeptGrade {
  question: string;
  path: string;
  grade: number;
  judged: number;
}

/** The body of a chunk, and its position in the note. */
export interface ChunkBody {
  key: number;
  path: string;
  start_pos: number;
  end_pos: number;
  body: string;
}

/** The bodies of the requested chunks that are in the index. */
export interface Bodies {
  bodies: ChunkBody[];
}

/** The answer of a route that failed: problem details (RFC 9457) with the error. `title` names the status in words, and `detail` is the error's message. */
export interface Failure {
  type: string;
  title: string;
  status: number;
  detail: string;
  error: ErrorReport;
}

/** A link as written, and the file where it leads (null: nowhere). */
export interface InspectedLink {
  kind: string;
  target: string;
  subpath: string;
  display: string | null;
  line: number;
  resolved: string | null;
}

/** A `^id` and the span of the block that it names. */
export interface BlockId {
  id: string;
  line: number;
}

/** What the indexer makes of one note. A chunk has the keys of all chunks and those that its strategy adds. */
export interface InspectedNote {
  path: string;
  title: string;
  language: string;
  frontmatter: Record<string, unknown>;
  aliases: string[];
  tags: string[];
  headings: Heading[];
  links: InspectedLink[];
  blocks: BlockId[];
  chunks: Record<string, unknown>[];
  diagnostics: Diagnostic[];
  fields?: Record<string, unknown>;
}
