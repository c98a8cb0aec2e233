import { Modal, Platform } from "obsidian";
import type { Context } from "./context";
import { SearchPanel } from "./search_panel";

const MOD = Platform.isMacOS ? "⌘" : "ctrl";
const ALT = Platform.isMacOS ? "⌥" : "alt";

const INSTRUCTIONS = [
  ["↑↓", "to navigate"],
  ["tab", "to complete"],
  ["↵", "to open"],
  [`${MOD} ↵`, "to open in new tab"],
  ["shift ↵", "to create"],
  [`${ALT} ↵`, "to insert link"],
  [`${ALT} shift ↵`, "to insert and stay"],
  [`${MOD} i`, "to see why"],
  [`${MOD} j`, "to see why not"],
  [`${MOD} l`, "to limit"],
  ["esc", "to dismiss"],
] as const;

/** The search panel as a modal that looks like the quick switcher. */
export class SearchModal extends Modal {
  private readonly panel: SearchPanel;

  constructor(
    context: Context,
    private readonly query: string,
    private readonly closed: () => void = () => undefined,
  ) {
    super(context.app);
    this.modalEl.addClass("prompt", "vault-indexer-prompt");
    this.panel = new SearchPanel(context, this.contentEl, { done: () => this.close() });
    this.panel.registerKeys(this.scope);
    const bar = this.contentEl.createDiv({ cls: "prompt-instructions" });
    for (const [command, purpose] of INSTRUCTIONS) {
      const item = bar.createDiv({ cls: "prompt-instruction" });
      item.createSpan({ cls: "prompt-instruction-command", text: command });
      item.createSpan({ text: purpose });
    }
  }

  override onOpen(): void {
    this.panel.load();
    this.panel.start(this.query);
  }

  override onClose(): void {
    this.panel.unload();
    this.contentEl.empty();
    this.closed();
  }
}
