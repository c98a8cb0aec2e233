import { MarkdownView, Notice } from "obsidian";
import type { Hit } from "./answers";
import type { Context } from "./context";
import { openAt } from "./opening";
import { editorPosition, lineStart, occurrences, segments, type Span } from "./places";
import { operator } from "./scopes";

const MAX_PLACES = 200;

/** The places of the last query in the note that is open, one after the other. */
export class NoteMatches {
  private asked = "";
  private spans: Span[] = [];

  constructor(
    private readonly context: Context,
    private readonly show: (text: string) => void,
  ) {}

  /** Whether there is a query, and a note to look in. */
  get isPossible(): boolean {
    return this.context.lastQuery !== "" && this.view !== null;
  }

  private get view(): MarkdownView | null {
    const view = this.context.app.workspace.getMostRecentLeaf()?.view;
    return view instanceof MarkdownView && view.file ? view : null;
  }

  /** Go to the place behind the cursor, or the one before it; behind the last comes the first. */
  async step(by: 1 | -1): Promise<void> {
    const { view } = this;
    const file = view?.file;
    if (!view || !file) return;
    const { app, lastQuery: query, client } = this.context;
    const text = await app.vault.cachedRead(file);
    const asked = JSON.stringify([query, file.path, text]);
    if (asked !== this.asked) {
      const only = operator({ kind: "file", path: file.path });
      const answer = await client.search(`${only} (${query})`, MAX_PLACES, "chunk").catch((error: unknown) => error);
      if (!isAnswer(answer)) {
        new Notice(answer instanceof Error ? answer.message : String(answer));
        return;
      }
      this.spans = placesOf(text, answer.results);
      this.asked = asked;
    }
    const { spans } = this;
    if (spans.length === 0) {
      this.show("");
      new Notice(`No place in ${file.basename} matches “${query}”`);
      return;
    }
    const cursor = view.editor.getCursor();
    const here = lineStart(text, cursor.line + 1) + cursor.ch;
    const next = by > 0 ? spans.findIndex(({ from }) => from > here) : spans.findLastIndex(({ from }) => from < here);
    const at = next >= 0 ? next : by > 0 ? 0 : spans.length - 1;
    const span = spans[at];
    if (!span) return;
    await openAt(app, file, false, text, editorPosition(text, span.from).line + 1, [span]);
    this.show(`${at + 1} of ${spans.length} · ${query}`);
  }
}

type Results = Awaited<ReturnType<Context["client"]["search"]>>;

function isAnswer(answer: unknown): answer is Results {
  return typeof answer === "object" && answer !== null && "results" in answer;
}

/** The places of all words that hits mark, in order; where none is marked, the lines that were found. */
export function placesOf(text: string, hits: Pick<Hit, "snippet" | "marks" | "line">[]): Span[] {
  const marked = hits.flatMap((hit) => segments(hit.snippet, hit.marks)).filter((one) => one.marked);
  const found = occurrences(text, marked.map((one) => one.text));
  if (found.length > 0) return found;
  const starts = new Set(hits.map(({ line }) => lineStart(text, line)));
  return [...starts].sort((one, other) => one - other).map((from) => ({ from, to: from }));
}
