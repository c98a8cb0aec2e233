// The part of the daemon's answers that the plugin reads. `shapes` has the whole of them.

import type * as shapes from "./generated/shapes";

export type { AnswerSentence, AskAnswer, AskLine, Citation, Completion, Completions, Explanation, Mention, MentionsAnswer, RelatedAnswer, RelatedNote, Why } from "./generated/shapes";

/** The keys of a hit that are read; the rest of it (its whole text, its properties) is not sent while typing. */
export const FIELDS =
  "path,kind,title,language,header_path,chunk_id,start_pos,end_pos,end_line,line,part,relevance,snippet,marks,stale,copies,why";

type Names<List extends string> = List extends `${infer First},${infer Rest}` ? First | Names<Rest> : List;

/** The keys of a hit that a search asks for. Positions count code points, `end_pos` excluded; lines count from 1. */
export type Hit = Omit<Pick<shapes.Hit, Names<typeof FIELDS> & keyof shapes.Hit>, "why"> & { why?: shapes.Why };

export type SearchAnswer = Omit<shapes.SearchAnswer, "results"> & { results: Hit[] };

type StatusKeys = "state" | "seq" | "pending" | "notes" | "detail" | "paused" | "paused_until" | "vectors_owed";

/** The language model that writes answers; questions and passages are sent to `host`. */
export interface LanguageModel {
  name: string;
  host: string;
  is_local: boolean;
}

/** A daemon of an earlier version does not say whether it keeps which hits were opened, nor name its model. */
export type Status = Pick<shapes.StatusReport, StatusKeys> &
  Partial<Pick<shapes.StatusReport, "records_clicks" | "upgrade">> & {
    progress: Pick<shapes.Progress, "stage" | "notes" | "total"> | null;
    language_model?: LanguageModel | null;
  };
