import { ItemView, Notice, setIcon, type TFile, type WorkspaceLeaf } from "obsidian";
import { RefusedError } from "./client";
import type { Context, Mark } from "./context";
import { linkMention, mentionSpan, renderMention } from "./mentions";
import { fileAt, linkTo, openAt, openNote, targetEditor, whereOf } from "./opening";
import { folderOf, noteName, relatedFigures, relatedWords } from "./reasons";
import { HOVER_SOURCE } from "./search_panel";
import { Sequence } from "./sequence";
import type { Mention, MentionsAnswer, RelatedAnswer, RelatedNote } from "./answers";
import { StateBox } from "./state_box";

export const RELATED_VIEW = "vault-indexer-related";

/** Notes shown at most at first, and as many more each time. */
const NOTES = 10;
/** So many are asked for, so that enough are left where some are hidden. */
const CANDIDATES = 200;
const MENTIONS = 50;
const QUIET_MS = 400;
/** After an edit, the index is looked at so often until it has changed. */
const LOOK_MS = 700;
const LOOKS = 40;

/** Notes related to the active one and mentions of it, kept current while it is edited. */
export class RelatedView extends ItemView {
  private file: TFile | null = null;
  /** The note that the rows are about: that of the last answer, until the answer about `file` has come. */
  private shown: TFile | null = null;
  private readonly sequence = new Sequence();
  private state: StateBox | null = null;
  private headEl!: HTMLElement;
  private bodyEl!: HTMLElement;
  private related: RelatedAnswer | null = null;
  private mentions: MentionsAnswer | null = null;
  private seq = -1;
  private looks = 0;
  /** Notes that were asked for beyond those shown at first. */
  private extra = 0;
  private timer = 0;

  constructor(
    leaf: WorkspaceLeaf,
    private readonly context: Context,
  ) {
    super(leaf);
    this.icon = "waypoints";
    this.navigation = false;
  }

  override getViewType(): string {
    return RELATED_VIEW;
  }

  override getDisplayText(): string {
    return "Related notes";
  }

  override async onOpen(): Promise<void> {
    this.contentEl.addClass("vault-indexer-pane", "vault-indexer-related");
    this.headEl = this.contentEl.createDiv({ cls: "nav-header" });
    this.state = this.addChild(new StateBox(this.context, this.contentEl, ({ seq }) => this.onStatus(seq)));
    this.bodyEl = this.contentEl.createDiv({ cls: "vault-indexer-related-body" });
    this.renderHead();
    const { workspace, vault } = this.app;
    this.registerEvent(workspace.on("file-open", () => this.follow()));
    this.registerEvent(workspace.on("editor-change", () => this.watch()));
    this.registerEvent(
      vault.on("modify", (file) => {
        if (file.path === this.file?.path) this.watch();
      }),
    );
    this.registerEvent(vault.on("rename", () => this.watch()));
    this.register(() => {
      window.clearTimeout(this.timer);
      this.sequence.dropAll();
    });
    // A pane that is restored with the workspace asks once Obsidian has started, and only if it can be seen.
    workspace.onLayoutReady(() => this.follow());
    return Promise.resolve();
  }

  override async onClose(): Promise<void> {
    this.contentEl.empty();
    return Promise.resolve();
  }

  override onResize(): void {
    if (this.file === null || this.related === null) this.follow();
  }

  private follow(): void {
    const file = this.app.workspace.getActiveFile();
    if (!this.contentEl.isShown() || (file && file.path === this.file?.path && this.related)) return;
    this.file = file?.extension === "md" ? file : null;
    this.related = null;
    this.mentions = null;
    this.looks = 0;
    this.extra = 0;
    if (!this.file) return this.renderMessage("No note is active.");
    this.later(0, () => this.refresh());
  }

  /** The note is being edited: look when the index has taken the change in. */
  private watch(): void {
    if (!this.contentEl.isShown() || !this.file) return;
    this.looks = LOOKS;
    this.later(QUIET_MS, () => this.look());
  }

  private async look(): Promise<void> {
    this.looks -= 1;
    await this.state?.check();
    if (this.looks > 0 && !this.timer) this.later(LOOK_MS, () => this.look());
  }

  private onStatus(seq: number): void {
    const changed = this.seq >= 0 && this.seq !== seq;
    this.seq = seq;
    if (this.file && (changed || this.related === null)) this.later(0, () => this.refresh());
  }

  private later(milliseconds: number, action: () => Promise<void>): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      void action();
    }, milliseconds);
  }

  private async refresh(): Promise<void> {
    const file = this.file;
    if (!file) return;
    const number = this.sequence.next();
    try {
      const { client } = this.context;
      const asked = Promise.all([
        client.related(file.path, CANDIDATES),
        client.mentions(file.path, MENTIONS),
        client.status(),
      ]);
      const [related, mentions, status] = await (this.state?.waitFor(asked) ?? asked);
      if (file !== this.file || !this.sequence.accept(number)) return;
      this.shown = file;
      this.related = related;
      this.mentions = mentions;
      this.seq = status.seq;
      this.state?.show(null);
      this.render();
    } catch (error) {
      if (file !== this.file || !this.sequence.accept(number)) return;
      if (error instanceof RefusedError) this.renderMessage(error.message);
      else {
        if (file !== this.shown) this.renderMessage(""); // what is shown is of another note
        this.state?.showError(error);
      }
    }
    if (this.looks > 0 && !this.timer) this.later(LOOK_MS, () => this.look());
  }

  private renderHead(): void {
    this.headEl.empty();
    const buttons = this.headEl.createDiv({ cls: "nav-buttons-container" });
    this.addToggle(buttons, "link-2-off", "Hide notes that are already linked", "hideLinked");
    this.addToggle(buttons, "folder-minus", "Hide notes in the same folder", "hideSameFolder");
  }

  private addToggle(parent: HTMLElement, icon: string, text: string, key: "hideLinked" | "hideSameFolder"): void {
    const isOn = this.context.settings[key];
    const button = parent.createEl("button", {
      cls: "clickable-icon nav-action-button",
      attr: { "aria-label": text, "aria-pressed": String(isOn) },
    });
    button.toggleClass("is-active", isOn);
    setIcon(button, icon);
    button.addEventListener("click", () => {
      void this.context.change({ [key]: !isOn }).then(() => {
        this.renderHead();
        this.render();
        this.headEl.querySelector<HTMLElement>(`[aria-label="${text}"]`)?.focus();
      });
    });
  }

  private renderMessage(text: string): void {
    this.shown = null;
    this.bodyEl.empty();
    this.bodyEl.createDiv({ cls: "pane-empty", text });
  }

  private render(): void {
    if (!this.file || !this.related) return;
    this.bodyEl.empty();
    const own = this.file.path;
    const { hideLinked, hideSameFolder, pinned, hidden } = this.context.settings;
    const [pins, hides] = [pinned[own] ?? [], hidden[own] ?? []];
    const { results } = this.related;
    const folder = folderOf(own);
    const others = results
      .filter((note) => !(hideLinked && note.links.length > 0) && !(hideSameFolder && folderOf(note.path) === folder))
      .filter(({ path }) => !pins.includes(path) && !hides.includes(path));
    const first = others.filter(({ near }) => near ?? true).slice(0, NOTES);
    const rest = others.filter((note) => !first.includes(note));
    const notes = [...first, ...rest.slice(0, this.extra)];
    const near = this.addSection("Related", pins.length + notes.length, "None is close");
    for (const path of pins) {
      const note = results.find((one) => one.path === path);
      this.addNote(near, path, note?.title ?? noteName(path), note, true);
    }
    for (const note of notes) this.addNote(near, note.path, note.title, note, false);
    if (rest.length > this.extra) {
      this.addMore(near, `Show more (${rest.length - this.extra})`, () => {
        this.extra += NOTES;
        this.render();
      });
    }
    if (hides.length > 0) {
      this.addMore(near, `Show hidden notes again (${hides.length})`, () => {
        void Promise.all(hides.map((path) => this.context.mark("hidden", own, path, false))).then(() => this.render());
      });
    }
    const mentions = this.mentions?.mentions ?? [];
    const unlinked = this.addSection("Unlinked mentions", mentions.length);
    for (const mention of mentions) this.addMention(unlinked, mention);
  }

  private addSection(title: string, count: number, none = "None"): HTMLElement {
    const section = this.bodyEl.createDiv({ cls: "vault-indexer-section", attr: { role: "region", "aria-label": title } });
    const head = section.createDiv({ cls: "tree-item-self vault-indexer-section-title" });
    head.createDiv({ cls: "tree-item-inner", text: title });
    head.createDiv({ cls: "tree-item-flair-outer" }).createSpan({ cls: "tree-item-flair", text: String(count) });
    if (count === 0) section.createDiv({ cls: "pane-empty", text: none });
    return section;
  }

  private addItem(section: HTMLElement, open: (event: MouseEvent | KeyboardEvent) => void): HTMLElement {
    const el = section.createDiv({
      cls: "tree-item-self is-clickable vault-indexer-item",
      attr: { tabindex: "0", role: "link" },
    });
    el.addEventListener("click", open);
    el.addEventListener("auxclick", (event) => {
      if (event.button === 1) open(event);
    });
    el.addEventListener("keydown", (event) => {
      if (event.target === el && event.key === "Enter") open(event);
    });
    return el;
  }

  private addMore(section: HTMLElement, text: string, action: () => void): void {
    section.createEl("button", { cls: "vault-indexer-more", text }).addEventListener("click", action);
  }

  private addNote(
    section: HTMLElement,
    path: string,
    title: string,
    note: RelatedNote | undefined,
    isPinned: boolean,
  ): void {
    const el = this.addItem(section, (event) => void openNote(this.app, path, whereOf(event)));
    el.dataset["path"] = path;
    el.draggable = true;
    el.addEventListener("dragstart", (event) => {
      const source = targetEditor(this.app)?.path ?? "";
      event.dataTransfer?.setData("text/plain", linkTo(this.app, path, source));
    });
    const inner = el.createDiv({ cls: "tree-item-inner" });
    inner.createDiv({ cls: "vault-indexer-note-title", text: title, attr: { dir: "auto" } });
    const words = note ? relatedWords(note) : "";
    if (words) inner.createDiv({ cls: "vault-indexer-reason", text: words });
    const actions = el.createDiv({ cls: "vault-indexer-item-actions" });
    if (note) {
      const figures = inner.createEl("ul", { cls: "vault-indexer-why" });
      for (const text of relatedFigures(note)) figures.createEl("li", { text });
      figures.hide();
      this.addButton(actions, "info", `Why is ${title} here?`, () => figures.toggle(!figures.isShown()));
    }
    const pin = this.addButton(actions, "pin", `${isPinned ? "Unpin" : "Pin"} ${title}`, () => this.mark("pinned", path, !isPinned));
    pin.toggleClass("is-active", isPinned);
    if (!isPinned) this.addButton(actions, "x", `Hide ${title} for this note`, () => this.mark("hidden", path, true));
    this.addHover(el, path, null);
  }

  private addButton(parent: HTMLElement, icon: string, text: string, action: () => void): HTMLElement {
    const button = parent.createEl("button", { cls: "clickable-icon", attr: { "aria-label": text } });
    setIcon(button, icon);
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      action();
    });
    return button;
  }

  private mark(kind: Mark, path: string, isOn: boolean): void {
    if (this.shown) void this.context.mark(kind, this.shown.path, path, isOn).then(() => this.render());
  }

  private addMention(section: HTMLElement, mention: Mention): void {
    const el = this.addItem(section, (event) => void this.openMention(mention, event));
    el.dataset["path"] = mention.path;
    el.dataset["line"] = String(mention.line);
    const inner = el.createDiv({ cls: "tree-item-inner" });
    inner.createDiv({ cls: "vault-indexer-note-title", text: mention.title, attr: { dir: "auto" } });
    const snippet = inner.createDiv({ cls: "vault-indexer-snippet", attr: { dir: "auto" } });
    renderMention(snippet, mention);
    const button = el.createEl("button", { cls: "vault-indexer-link-button", text: "Link" });
    button.setAttr("aria-label", `Link this mention in ${mention.title}`);
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      void this.link(mention, el);
    });
    this.addHover(el, mention.path, mention.line);
  }

  private async openMention(mention: Mention, event: MouseEvent | KeyboardEvent): Promise<void> {
    const where = whereOf(event);
    const file = fileAt(this.app, mention.path);
    if (!file) return;
    const text = await this.app.vault.cachedRead(file);
    const span = mentionSpan(text, mention);
    await openAt(this.app, file, where, text, mention.line, span ? [span] : []);
  }

  private async link(mention: Mention, el: HTMLElement): Promise<void> {
    if (!this.shown) return;
    if (await linkMention(this.app, this.shown, mention)) {
      el.remove();
      this.watch();
    } else {
      new Notice("The note has changed since it was indexed. Try again in a moment.");
      this.watch();
    }
  }

  private addHover(el: HTMLElement, linktext: string, line: number | null): void {
    el.addEventListener("mouseover", (event) => {
      this.app.workspace.trigger("hover-link", {
        event,
        source: HOVER_SOURCE,
        hoverParent: this,
        targetEl: el,
        linktext,
        sourcePath: this.file?.path ?? "",
        ...(line !== null && { state: { scroll: line - 1 } }),
      });
    });
  }
}
