import { setIcon, type Component } from "obsidian";
import { copyCount, groupByNote, type NoteGroup } from "./groups";
import { renderSnippet } from "./places";
import { folderOf, noteName } from "./reasons";
import type { Hit } from "./answers";

/** What a row of the list stands for. */
export type Row =
  | { kind: "hit"; hit: Hit }
  | { kind: "others"; unfold: () => void }
  | { kind: "create"; text: string }
  | { kind: "recent"; text: string };

export interface RowEvents {
  /** A click, or a click with the middle button. */
  choose(row: Row, event: MouseEvent): void;
  hover(hit: Hit, event: MouseEvent, el: HTMLElement): void;
  /** The text that is dragged. */
  dragText(hit: Hit): string;
  why(hit: Hit): Promise<string[]>;
}

interface Shown {
  row: Row;
  el: HTMLElement;
}

/** Rows of which one is selected. The input keeps the focus and names the row by `aria-activedescendant`. */
export class ResultList {
  readonly el: HTMLElement;
  private rows: Shown[] = [];
  private selected = -1;
  private isUnfolded = false;
  private static made = 0;

  constructor(
    parent: HTMLElement,
    private readonly inputEl: HTMLInputElement,
    private readonly events: RowEvents,
    owner: Component,
  ) {
    const id = `vault-indexer-results-${++ResultList.made}`;
    const attr = { id, role: "listbox", "aria-label": "Results" };
    this.el = parent.createDiv({ cls: "vault-indexer-results prompt-results", attr });
    this.inputEl.setAttrs({ role: "combobox", "aria-expanded": "true", "aria-controls": id });
    owner.registerDomEvent(this.el, "mousedown", (event) => {
      // The focus stays in the input, and the middle button does not scroll.
      if (event.button === 1) event.preventDefault();
    });
  }

  get current(): Row | null {
    return this.rows[this.selected]?.row ?? null;
  }

  /**
   * Show hits by note, and an offer to create a note of that name, which is never selected at first. The notes without one of the first `likely` hits
   * are folded into a row. `keeps`: the selected hit stays selected, and the row stays unfolded.
   */
  showHits(hits: readonly Hit[], likely: number, creates: string, keeps: boolean): void {
    const before = keeps && this.current?.kind === "hit" ? placeOf(this.current.hit) : "";
    this.isUnfolded &&= keeps;
    this.clear();
    const groups = groupByNote(hits);
    const first = groupByNote(hits.slice(0, likely)).length;
    this.addGroups(groups.slice(0, first));
    const others = groups.slice(first);
    const at = this.rows.length;
    const unfold = () => {
      this.isUnfolded = true;
      this.showHits(hits, likely, creates, true);
      this.select(at);
    };
    if (this.isUnfolded) this.addGroups(others);
    else if (others.length > 0) this.addAction({ kind: "others", unfold }, "chevron-down", `Less likely (${others.length})`);
    if (creates) this.addAction({ kind: "create", text: creates }, "file-plus", `Create note “${creates}”`);
    const again = this.rows.findIndex(({ row }) => row.kind === "hit" && placeOf(row.hit) === before);
    this.select(this.rows[0]?.row.kind === "create" ? -1 : Math.max(again, 0));
  }

  private addGroups(groups: readonly NoteGroup[]): void {
    for (const group of groups) {
      const attr = { role: "group", "aria-label": group.title, "data-path": group.path };
      const groupEl = this.el.createDiv({ cls: "vault-indexer-group", attr });
      const head = groupEl.createDiv({ cls: "vault-indexer-note" });
      const ofNote = textAttr(group.language);
      head.createSpan({ cls: "vault-indexer-note-title", text: group.title, attr: ofNote });
      const place = noteName(group.path) === group.title ? folderOf(group.path) : group.path;
      head.createSpan({ cls: "vault-indexer-note-folder", text: place, attr: textAttr("") });
      if (group.copies.length > 0) {
        const attr = { title: group.copies.join("\n") };
        head.createSpan({ cls: "vault-indexer-note-folder", text: copyCount(group.copies), attr });
      }
      for (const hit of group.hits) this.addHit(groupEl, hit);
    }
  }

  showRecent(queries: readonly string[]): void {
    this.clear();
    for (const text of queries) this.addAction({ kind: "recent", text }, "history", text);
    this.select(queries.length > 0 ? 0 : -1);
  }

  /** Whether the rows are those of an earlier query, and the answer to the newest is under way. */
  setOld(isOld: boolean): void {
    this.el.toggleClass("vault-indexer-old", isOld);
    this.el.setAttr("aria-busy", String(isOld));
  }

  clear(): void {
    this.el.empty();
    this.rows = [];
    this.select(-1);
  }

  /** Select the next row, or the one before; behind the last comes the first. */
  move(step: 1 | -1): void {
    const count = this.rows.length;
    if (count > 0) this.select((this.selected + step + count) % count);
  }

  /** Show or hide why the selected hit is there. */
  async toggleWhy(): Promise<void> {
    const shown = this.rows[this.selected];
    if (shown?.row.kind === "hit") await this.why(shown.el, shown.row.hit);
  }

  private select(index: number): void {
    this.rows[this.selected]?.el.removeClass("is-selected");
    this.rows[this.selected]?.el.setAttr("aria-selected", "false");
    this.selected = index;
    const el = this.rows[index]?.el;
    if (!el) {
      this.inputEl.removeAttribute("aria-activedescendant");
      return;
    }
    el.addClass("is-selected");
    el.setAttr("aria-selected", "true");
    this.inputEl.setAttr("aria-activedescendant", el.id);
    el.scrollIntoView({ block: "nearest" });
  }

  private add(parent: HTMLElement, row: Row, cls: string): HTMLElement {
    const index = this.rows.length;
    const attr = { id: `${this.el.id}-${index}`, role: "option", "aria-selected": "false" };
    const el = parent.createDiv({ cls: `suggestion-item vault-indexer-row ${cls}`, attr });
    this.rows.push({ row, el });
    const choose = (event: MouseEvent) => {
      if (event.button > 1) return;
      event.preventDefault();
      this.events.choose(row, event);
    };
    el.addEventListener("click", choose);
    el.addEventListener("auxclick", choose);
    el.addEventListener("mousemove", (event) => {
      // Rows that appear under a mouse at rest get the event as well.
      const moved = event.movementX !== 0 || event.movementY !== 0;
      if (moved && this.selected !== index && this.rows[index]?.el === el) this.select(index);
    });
    return el;
  }

  private addAction(row: Row, icon: string, text: string): void {
    const el = this.add(this.el, row, `vault-indexer-${row.kind}`);
    setIcon(el.createSpan({ cls: "vault-indexer-row-icon" }), icon);
    el.createSpan({ text, attr: textAttr("") });
  }

  private addHit(parent: HTMLElement, hit: Hit): void {
    const el = this.add(parent, { kind: "hit", hit }, "mod-complex");
    el.draggable = true;
    el.dataset["line"] = String(hit.line);
    const content = el.createDiv({ cls: "suggestion-content" });
    const attr = textAttr(hit.language);
    const place = [hit.part, hit.header_path].filter(Boolean).join(" > ");
    if (place) content.createDiv({ cls: "vault-indexer-header-path", text: place, attr });
    const snippet = content.createDiv({ cls: "vault-indexer-snippet", attr });
    renderSnippet(snippet, hit.snippet, hit.marks);
    if (!hit.snippet) snippet.setText(hit.path);
    const button = el.createEl("button", {
      cls: "clickable-icon vault-indexer-why-button",
      attr: { "aria-label": "Why is this here?", tabindex: "-1" },
    });
    setIcon(button, "info");
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      void this.why(el, hit);
    });
    el.addEventListener("mouseover", (event) => this.events.hover(hit, event, el));
    el.addEventListener("dragstart", (event) => event.dataTransfer?.setData("text/plain", this.events.dragText(hit)));
  }

  private async why(el: HTMLElement, hit: Hit): Promise<void> {
    const old = el.querySelector(".vault-indexer-why");
    if (old) {
      old.remove();
      return;
    }
    const lines = await this.events.why(hit);
    if (!el.isConnected || el.querySelector(".vault-indexer-why")) return;
    const list = el.createEl("ul", { cls: "vault-indexer-why" });
    for (const text of lines) list.createEl("li", { text });
  }
}

/** A text runs in the direction of its script, and is read aloud in its language, if that is known. */
function textAttr(language: string): Record<string, string> {
  return { dir: "auto", ...(language && { lang: language }) };
}

function placeOf(hit: Hit): string {
  return hit.chunk_id || hit.path;
}
