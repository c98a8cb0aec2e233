import type { Completion } from "./answers";
import type { DaemonClient } from "./client";

/** A part of a query that may become an operator, or a value of one, a tag or a property. */
const COMPLETABLE = /(?:^|[\s(])-?(?:[a-z][a-z-]+|[a-z][a-z-]*:(?:"[^"]*|\S*)|\[[^\]]*|#\S*)$/i;
const LIMIT = 8;

/** Ways to complete the query, below its input, each with a line of help. Tab accepts the first, a click any. */
export class CompletionList {
  private readonly el: HTMLElement;
  private items: readonly Completion[] = [];
  private replaces = "";

  constructor(
    parent: HTMLElement,
    private readonly inputEl: HTMLInputElement,
    private readonly client: DaemonClient,
    private readonly accepted: () => void,
  ) {
    this.el = parent.createDiv({ cls: "vault-indexer-completions", attr: { role: "listbox", "aria-label": "Completions" } });
    this.show([]);
  }

  /** Ask how what stands before the cursor goes on. */
  async update(): Promise<void> {
    const before = this.before;
    // What cannot be completed is no problem for the search itself, which says what is wrong.
    const asked = COMPLETABLE.test(before) ? this.client.complete(before, LIMIT).catch(() => null) : null;
    const found = await asked;
    if (before !== this.before) return;
    this.replaces = found?.replaces ?? "";
    this.show((found?.items ?? []).filter(({ text }) => text !== this.replaces));
  }

  /** Whether there was a completion to accept. */
  acceptFirst(): boolean {
    const first = this.items[0];
    if (first) this.accept(first);
    return first !== undefined;
  }

  private get before(): string {
    return this.inputEl.value.slice(0, this.inputEl.selectionStart ?? undefined);
  }

  private show(items: readonly Completion[]): void {
    this.items = items;
    this.el.empty();
    this.el.toggle(items.length > 0);
    for (const item of items) {
      const row = this.el.createDiv({ cls: "vault-indexer-completion", attr: { role: "option" } });
      row.createSpan({ text: item.text, attr: { dir: "auto" } });
      const count = `${item.count} ${item.count === 1 ? "note" : "notes"}`;
      row.createSpan({ cls: "vault-indexer-reason", text: item.help || (item.count > 0 ? count : "") });
      row.addEventListener("mousedown", (event) => {
        event.preventDefault();
        this.accept(item);
      });
    }
  }

  private accept({ text }: Completion): void {
    const cursor = this.before.length;
    const end = cursor + restOfTerm(this.replaces, this.inputEl.value.slice(cursor)).length;
    this.inputEl.setRangeText(text, cursor - this.replaces.length, end, "end");
    this.show([]);
    this.accepted();
  }
}

/** What belongs to a term behind the cursor; `start` is the term up to there. */
export function restOfTerm(start: string, after: string): string {
  const isQuoted = start.split('"').length % 2 === 0 && after.split('"').length % 2 === 0;
  const end = start.startsWith("[") ? /^[^[\]]*\]/ : isQuoted ? /^[^"]*"/ : /^[^\s()"]*/;
  return end.exec(after)?.[0] ?? "";
}
