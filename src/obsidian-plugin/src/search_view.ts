import { ItemView, Scope, type WorkspaceLeaf } from "obsidian";
import type { Context } from "./context";
import { SearchPanel } from "./search_panel";

export const SEARCH_VIEW = "vault-indexer-search";

/** The search panel as a pane that stays open. */
export class SearchView extends ItemView {
  private panel: SearchPanel | null = null;

  constructor(
    leaf: WorkspaceLeaf,
    private readonly context: Context,
  ) {
    super(leaf);
    this.icon = "search-check";
    this.navigation = false;
    this.scope = new Scope(context.app.scope);
  }

  override getViewType(): string {
    return SEARCH_VIEW;
  }

  override getDisplayText(): string {
    return "Vault search";
  }

  override async onOpen(): Promise<void> {
    this.contentEl.addClass("vault-indexer-pane");
    this.panel = this.addChild(new SearchPanel(this.context, this.contentEl, { done: () => undefined }));
    if (this.scope) this.panel.registerKeys(this.scope);
    return Promise.resolve();
  }

  override async onClose(): Promise<void> {
    this.contentEl.empty();
    return Promise.resolve();
  }

  /** Put the focus into the pane and search. A pane that is restored at the start asks nothing until then. */
  focus(): void {
    this.panel?.start("");
  }
}
