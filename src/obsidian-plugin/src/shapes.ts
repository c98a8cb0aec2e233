// The answers of the daemon that the plugin reads. docs/guide.md and /openapi.json describe them in full.

export interface VectorReason {
  rank: number;
  score: number;
}

export interface KeywordReason {
  rank: number;
  score: number;
  terms: Record<string, number>;
  fields: Record<string, number>;
}

export interface GraphReason {
  rank: number;
  score: number;
  via: string[];
}

export interface Why {
  vector: VectorReason | null;
  keyword: KeywordReason | null;
  graph: GraphReason | null;
  recency: number;
  title: number;
  filters: string[];
  note: { cosine: number | null; coverage: number } | null;
}

/** Positions count code points of the file, `end_pos` excluded; lines count from 1. */
export interface Hit {
  path: string;
  kind: string;
  title: string;
  header_path: string;
  chunk_id: string;
  start_pos: number;
  end_pos: number;
  end_line: number;
  line: number;
  relevance: number;
  snippet: string;
  marks: number[][];
  stale: boolean;
  why?: Why;
}

export interface SearchAnswer {
  query: string;
  took_ms: number;
  index: { generation: number; seq: number; pending: number };
  results: Hit[];
  notices: string[];
  corrections: { from: string; to: string }[];
  verdict: string;
}

export interface Explanation {
  query: string;
  path: string;
  rank: number | null;
  shown: boolean;
  why: Why | null;
  reasons: string[];
}

export interface RelatedNote {
  path: string;
  title: string;
  score: number;
  similarity: number | null;
  links: string[];
  header_path: string;
  shared: string[];
  shared_count: number;
}

export interface RelatedAnswer {
  note: string;
  results: RelatedNote[];
}

export interface Mention {
  path: string;
  title: string;
  line: number;
  start_pos: number;
  end_pos: number;
  name: string;
  snippet: string;
  marks: number[][];
}

export interface MentionsAnswer {
  path: string;
  names: string[];
  mentions: Mention[];
  more: boolean;
}

export interface Status {
  state: string;
  seq: number;
  pending: number;
  notes: number;
  detail: string;
  progress: { stage: string; notes: number; total: number } | null;
  paused: boolean;
  paused_until: string;
  vectors_owed: number;
  /** A daemon of an earlier version does not say. */
  records_clicks?: boolean;
}
