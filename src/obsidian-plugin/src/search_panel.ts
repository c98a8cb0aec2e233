import { Component, Notice, setIcon, type HoverPopover, type Scope as KeyScope } from "obsidian";
import { NoteModal, ScopeModal } from "./choosers";
import { RefusedError } from "./client";
import { CompletionList } from "./completions";
import type { Context } from "./context";
import { LiveQuery } from "./live_query";
import { createNote, insertLink, isName, linkTo, openHit, subpathOf, targetEditor, whereOf, type Where } from "./opening";
import { noteName, whyLines } from "./reasons";
import { ResultList, type Row } from "./result_list";
import { label, scopedQuery, type Scope } from "./scopes";
import type { Hit, SearchAnswer, Status } from "./answers";
import { StateBox } from "./state_box";

export const HOVER_SOURCE = "vault-indexer";

/** After so long without an answer the rows are shown as old; most answers come sooner. */
const OLD_MS = 200;

/** What holds a panel: the modal or the pane. */
export interface PanelOwner {
  /** A result was chosen; the modal closes. */
  done(): void;
}

/** An input, what limits the search, the daemon's state, and the results as they are typed for. */
export class SearchPanel extends Component {
  readonly inputEl: HTMLInputElement;
  /** The core plugin that previews pages keeps its popover here. */
  hoverPopover: HoverPopover | null = null;
  private readonly completions: CompletionList;
  private readonly chipsEl: HTMLElement;
  private readonly messagesEl: HTMLElement;
  private readonly explanationEl: HTMLElement;
  private readonly list: ResultList;
  private readonly state: StateBox;
  private readonly live: LiveQuery<SearchAnswer>;
  private scopes: Scope[] = [];
  /** The query that the rows answer; null while there is none. */
  private shownQuery: string | null = null;
  /** What a key does once what is typed is answered. */
  private whenAnswered: (() => void) | null = null;
  private hits: readonly Hit[] = [];
  private inserted = 0;
  private seenSeq: number | null = null;
  private isUnanswered = false;
  private wasBusy = false;
  private oldTimer = 0;

  constructor(
    private readonly context: Context,
    parent: HTMLElement,
    private readonly owner: PanelOwner,
  ) {
    super();
    this.live = new LiveQuery({
      ask: (query) => this.state.waitFor(context.client.search(query, context.settings.limit)),
      show: (answer, query) => this.show(answer, query),
      fail: (error) => this.showProblem(error),
    });
    const inputs = parent.createDiv({ cls: "prompt-input-container vault-indexer-input" });
    this.inputEl = inputs.createEl("input", {
      cls: "prompt-input",
      type: "text",
      placeholder: "Search by meaning, word and link",
      attr: { "aria-label": "Search", "aria-autocomplete": "list", dir: "auto", spellcheck: "false" },
    });
    this.completions = new CompletionList(parent, this.inputEl, context.client, () => this.changeQuery());
    this.chipsEl = parent.createDiv({ cls: "vault-indexer-chips" });
    this.state = this.addChild(new StateBox(context, parent, (status) => this.onStatus(status)));
    this.messagesEl = parent.createDiv({ cls: "vault-indexer-messages", attr: { role: "status" } });
    this.explanationEl = parent.createDiv({ cls: "vault-indexer-explanation", attr: { role: "status" } });
    this.list = new ResultList(
      parent,
      this.inputEl,
      {
        choose: (row, event) => void this.choose(row, whereOf(event)),
        hover: (hit, event, el) => this.hover(hit, event, el),
        dragText: (hit) => linkTo(context.app, hit.path, targetEditor(context.app)?.path ?? "", subpathOf(hit)),
        why: (hit) => this.why(hit),
      },
      this,
    );
    this.renderChips();
  }

  override onload(): void {
    this.registerDomEvent(this.inputEl, "input", () => this.changeQuery());
    this.registerDomEvent(this.inputEl, "keydown", (event) => {
      if (event.key === "Backspace" && this.inputEl.value === "" && this.scopes.length > 0) {
        this.setScopes(this.scopes.slice(0, -1));
      }
    });
    this.register(() => {
      window.clearTimeout(this.oldTimer);
      this.live.drop();
      this.whenAnswered = null;
    });
  }

  /** Search for a query, or for what is typed already; an empty one shows those used before. */
  start(query: string): void {
    if (query) this.inputEl.value = query;
    this.inputEl.focus();
    this.inputEl.select();
    void this.state.check();
    this.search();
  }

  /** The keys of the panel, as the quick switcher has them. */
  registerKeys(keys: KeyScope): void {
    const inInput = (action: (event: KeyboardEvent) => void) => (event: KeyboardEvent) => {
      if (event.isComposing || event.target !== this.inputEl) return;
      action(event);
      return false;
    };
    keys.register([], "Tab", (event) => (event.target === this.inputEl && this.completions.acceptFirst() ? false : undefined));
    keys.register([], "ArrowDown", inInput(() => this.list.move(1)));
    keys.register([], "ArrowUp", inInput(() => this.list.move(-1)));
    const open = inInput((event) => {
      const where = whereOf(event);
      this.afterAnswer(() => void this.choose(this.list.current, where));
    });
    keys.register([], "Enter", open);
    keys.register(["Mod"], "Enter", open);
    keys.register(["Mod", "Alt"], "Enter", open);
    keys.register(["Mod", "Alt", "Shift"], "Enter", open);
    keys.register(["Shift"], "Enter", inInput(() => void this.create(this.typed, false)));
    keys.register(["Alt"], "Enter", inInput(() => this.afterAnswer(() => this.insert(true))));
    keys.register(["Alt", "Shift"], "Enter", inInput(() => this.afterAnswer(() => this.insert(false))));
    keys.register(["Mod"], "i", inInput(() => void this.list.toggleWhy()));
    keys.register(["Mod"], "j", inInput(() => this.chooseMissing()));
    keys.register(["Mod"], "l", inInput(() => this.chooseScope()));
  }

  private get typed(): string {
    return this.inputEl.value.trim();
  }

  private get query(): string {
    return scopedQuery(this.scopes, this.typed);
  }

  private changeQuery(): void {
    this.whenAnswered = null;
    this.search();
    void this.completions.update();
  }

  private search(): void {
    this.explanationEl.empty();
    if (this.query) {
      this.live.ask(this.query);
      this.markOldLater();
      return;
    }
    this.live.drop();
    this.messagesEl.empty();
    this.list.showRecent(this.context.device.recent);
    this.arrive("");
  }

  /** The rows are those of a query; null where it has none. */
  private arrive(query: string | null): void {
    this.shownQuery = query;
    window.clearTimeout(this.oldTimer);
    this.oldTimer = 0;
    this.list.setOld(false);
    this.markOldLater();
  }

  /** Mark the rows as old, unless what is typed is answered soon. */
  private markOldLater(): void {
    if (this.oldTimer || !this.live.isBusy || this.query === this.shownQuery) return;
    this.oldTimer = window.setTimeout(() => this.list.setOld(true), OLD_MS);
  }

  /** Act on the rows once they answer what is typed; never on those of an earlier query. */
  private afterAnswer(action: () => void): void {
    if (this.shownQuery === this.query) action();
    else if (this.live.isBusy) this.whenAnswered = action;
  }

  private showProblem(error: unknown): void {
    this.arrive(null);
    if (!this.live.isBusy) this.whenAnswered = null;
    if (error instanceof RefusedError) {
      this.showMessages([error.message]);
      return;
    }
    this.isUnanswered = true;
    this.list.clear();
    this.state.showError(error);
  }

  private show(answer: SearchAnswer, query: string): void {
    this.isUnanswered = false;
    const messages = [...answer.notices];
    if (answer.corrections.length > 0) {
      messages.push(`Also searched: ${answer.corrections.map((one) => one.to).join(", ")}`);
    }
    if (answer.results.length === 0) messages.push("No results");
    else if (answer.likely === 0) messages.push("No likely match. The nearest:");
    this.showMessages(messages);
    this.hits = answer.results;
    const likely = answer.likely || answer.results.length;
    this.list.showHits(answer.results, likely, isName(this.typed) ? this.typed : "", query === this.shownQuery);
    this.arrive(query);
    if (answer.index.pending > 0) void this.state.check();
    if (query !== this.query) return;
    const action = this.whenAnswered;
    this.whenAnswered = null;
    action?.();
  }

  private showMessages(messages: readonly string[]): void {
    this.messagesEl.empty();
    for (const text of messages) this.messagesEl.createDiv({ text });
  }

  /** Search again when the index has changed, has caught up, or answers again. */
  private onStatus(status: Status): void {
    const isBusy = status.state !== "ready" || status.pending > 0;
    const changed = this.seenSeq !== null && (status.seq !== this.seenSeq || (this.wasBusy && !isBusy));
    this.seenSeq = status.seq;
    this.wasBusy = isBusy;
    if (this.query && (changed || this.isUnanswered)) this.search();
  }

  private async choose(row: Row | null, where: Where): Promise<void> {
    if (!row) return;
    if (row.kind === "recent") {
      this.inputEl.value = row.text;
      this.search();
    } else if (row.kind === "others") {
      row.unfold();
    } else if (row.kind === "create") {
      await this.create(row.text, where);
    } else {
      this.context.rememberQuery(this.typed);
      this.context.recordClick(this.shownQuery ?? "", row.hit.path, this.hits.indexOf(row.hit) + 1);
      this.context.lastQuery = this.shownQuery ?? "";
      this.owner.done();
      await openHit(this.context.app, row.hit, where);
    }
  }

  private async create(text: string, where: Where): Promise<void> {
    const folder = this.scopes.find((scope) => scope.kind === "folder")?.folder ?? null;
    if (!text) return;
    if (!isName(text)) {
      new Notice("A query with operators is no name of a note");
      return;
    }
    this.context.rememberQuery(text);
    this.owner.done();
    await createNote(this.context.app, text, folder, where);
  }

  /** Insert a link to the selected note; several are separated by blanks. */
  private insert(closes: boolean): void {
    const row = this.list.current;
    if (row?.kind !== "hit") return;
    if (insertLink(this.context.app, row.hit, this.inserted > 0 ? " " : "")) this.inserted += 1;
    this.context.rememberQuery(this.typed);
    if (closes) {
      this.inserted = 0;
      this.owner.done();
    }
  }

  private async why(hit: Hit): Promise<string[]> {
    const why = hit.why ?? (await this.context.client.explain(hit.path, this.query)).why;
    return why ? whyLines(why) : [];
  }

  private chooseMissing(): void {
    if (this.query) new NoteModal(this.context.app, (file) => void this.explainMissing(file.path)).open();
  }

  private async explainMissing(path: string): Promise<void> {
    this.explanationEl.empty();
    try {
      const answer = await this.context.client.explain(path, this.query);
      const title = answer.shown ? `${noteName(path)} is among the results` : `Why ${noteName(path)} is not here`;
      this.explanationEl.createDiv({ cls: "vault-indexer-explanation-title", text: title });
      const list = this.explanationEl.createEl("ul", { cls: "vault-indexer-why" });
      const lines = [...answer.reasons, ...(answer.why ? whyLines(answer.why) : [])];
      for (const text of lines) list.createEl("li", { text });
      this.inputEl.focus();
    } catch (error) {
      if (error instanceof RefusedError) this.explanationEl.createDiv({ text: error.message });
      else this.state.showError(error);
    }
  }

  private chooseScope(): void {
    new ScopeModal(this.context.app, (scope) => this.setScopes([...this.scopes, scope])).open();
  }

  private setScopes(scopes: Scope[]): void {
    this.scopes = scopes;
    this.renderChips();
    this.changeQuery();
    this.inputEl.focus();
  }

  private renderChips(): void {
    this.chipsEl.empty();
    for (const scope of this.scopes) {
      const chip = this.chipsEl.createDiv({ cls: "vault-indexer-chip", attr: { "data-kind": scope.kind } });
      chip.createSpan({ text: label(scope), attr: { dir: "auto" } });
      const attr = { "aria-label": `Remove ${label(scope)}` };
      const remove = chip.createEl("button", { cls: "clickable-icon", attr });
      setIcon(remove, "x");
      remove.addEventListener("click", () => this.setScopes(this.scopes.filter((one) => one !== scope)));
    }
    this.addChipButton("filter", "Limit search…", () => this.chooseScope());
    this.addChipButton("help-circle", "Why is a note not here?", () => this.chooseMissing());
  }

  private addChipButton(icon: string, text: string, action: () => void): void {
    const button = this.chipsEl.createEl("button", { cls: "clickable-icon vault-indexer-chip-button" });
    setIcon(button.createSpan(), icon);
    button.createSpan({ text });
    button.addEventListener("click", action);
  }

  private hover(hit: Hit, event: MouseEvent, targetEl: HTMLElement): void {
    this.context.app.workspace.trigger("hover-link", {
      event,
      source: HOVER_SOURCE,
      hoverParent: this,
      targetEl,
      linktext: hit.path + subpathOf(hit),
      sourcePath: "",
      state: { scroll: hit.line - 1 },
    });
  }
}
