import { Plugin, type Editor } from "obsidian";
import { ASK_VIEW, AskView } from "./ask_view";
import { Context, DEFAULTS, type Settings } from "./context";
import { NoteMatches } from "./note_matches";
import { RELATED_VIEW, RelatedView } from "./related_view";
import { SearchModal } from "./search_modal";
import { HOVER_SOURCE } from "./search_panel";
import { SEARCH_VIEW, SearchView } from "./search_view";
import { VaultIndexerSettingTab } from "./settings_tab";

/** Registers what the plugin offers. It reads no file outside the vault and asks nothing until one is used. */
export default class VaultIndexerPlugin extends Plugin {
  private modal: SearchModal | null = null;

  override async onload(): Promise<void> {
    const context = new Context(this.app, (settings) => this.saveData(settings));
    const stored = (await this.loadData()) as Partial<Settings> | null;
    context.settings = { ...DEFAULTS, ...stored };

    this.registerView(SEARCH_VIEW, (leaf) => new SearchView(leaf, context));
    this.registerView(RELATED_VIEW, (leaf) => new RelatedView(leaf, context));
    this.registerView(ASK_VIEW, (leaf) => new AskView(leaf, context));
    this.registerHoverLinkSource(HOVER_SOURCE, { display: "Vault Indexer", defaultMod: true });
    this.addRibbonIcon("search-check", "Search by meaning, word and link", () => this.openSearch(context, ""));
    this.addSettingTab(new VaultIndexerSettingTab(this, context));

    this.registerEvent(this.app.vault.on("rename", (file, from) => void context.renamePath(from, file.path)));

    this.addCommand({ id: "search", name: "Search", callback: () => this.openSearch(context, "") });
    this.addCommand({
      id: "search-selection",
      name: "Search for the selection",
      editorCheckCallback: (checking, editor) => {
        const query = selectionOf(editor);
        if (query && !checking) this.openSearch(context, query);
        return query !== "";
      },
    });
    this.addCommand({
      id: "open-search-pane",
      name: "Open the search pane",
      callback: () => void this.openPane(SEARCH_VIEW),
    });
    this.addCommand({
      id: "open-related-pane",
      name: "Open related notes",
      callback: () => void this.openPane(RELATED_VIEW),
    });
    const status = this.addStatusBarItem();
    const matches = new NoteMatches(context, (text) => status.setText(text));
    this.registerEvent(this.app.workspace.on("file-open", () => status.setText("")));
    for (const [id, name, step] of [["next-match", "Go to the next match", 1], ["previous-match", "Go to the previous match", -1]] as const) {
      this.addCommand({
        id,
        name,
        checkCallback: (checking) => {
          if (matches.isPossible && !checking) void matches.step(step);
          return matches.isPossible;
        },
      });
    }
    this.addCommand({ id: "ask", name: "Ask the vault", callback: () => void this.openPane(ASK_VIEW) });
  }

  override onunload(): void {
    this.modal?.close();
  }

  private openSearch(context: Context, query: string): void {
    this.modal?.close();
    this.modal = new SearchModal(context, query, () => (this.modal = null));
    this.modal.open();
  }

  private async openPane(type: string): Promise<void> {
    const { workspace } = this.app;
    const side = () => (type === SEARCH_VIEW ? workspace.getLeftLeaf(false) : workspace.getRightLeaf(false));
    const leaf = workspace.getLeavesOfType(type)[0] ?? side();
    if (!leaf) return;
    if (leaf.view?.getViewType() !== type) await leaf.setViewState({ type, active: true });
    await workspace.revealLeaf(leaf);
    if (leaf.view instanceof SearchView || leaf.view instanceof AskView) leaf.view.focus();
  }
}

/** The selection as a query: one line, and not more than the daemon takes. */
function selectionOf(editor: Editor): string {
  return editor.getSelection().replace(/\s+/g, " ").trim().slice(0, 1000);
}
