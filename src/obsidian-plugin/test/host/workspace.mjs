// Obsidian's workspace: two sidebars and a middle with tabs, notes in editors, and who is told of what.

import * as mocks from "obsidian-test-mocks/obsidian";
import { Editor } from "./editor.mjs";

const SAVE_MS = 100;

export class View extends mocks.Component {
  constructor(leaf) {
    super();
    this.leaf = leaf;
    this.app = leaf.app;
    this.scope = null;
    this.icon = "";
    this.navigation = true;
    this.containerEl = createDiv({ cls: "workspace-leaf-content" });
    this.contentEl = this.containerEl.createDiv({ cls: "view-content" });
  }
  getViewType() {
    return "empty";
  }
  getDisplayText() {
    return "New tab";
  }
  async onOpen() {}
  async onClose() {}
  onResize() {}
}

export class ItemView extends View {}

export class MarkdownView extends View {
  constructor(leaf) {
    super(leaf);
    this.file = null;
    this.mode = "source";
    this.loading = false;
    this.saving = 0;
    this.editor = new Editor(this.contentEl, () => this.edited());
    this.containerEl.dataset.type = "markdown";
  }
  getViewType() {
    return "markdown";
  }
  getDisplayText() {
    return this.file?.basename ?? "";
  }
  getMode() {
    return this.mode;
  }
  /** A note that is typed into is saved a moment later. */
  edited() {
    if (this.loading) return;
    this.app.workspace.trigger("editor-change", this.editor, this);
    clearTimeout(this.saving);
    this.saving = setTimeout(() => void this.save(), SAVE_MS);
  }
  async save() {
    const saving = this.saving;
    await this.app.vault.modify(this.file, this.editor.getValue());
    if (this.saving === saving) this.saving = 0;
  }
  async load_(file) {
    this.file = file;
    await this.reload();
  }
  async reload() {
    this.loading = true;
    this.editor.load((await this.app.vault.read(this.file)).replace(/\r\n/g, "\n"));
    this.loading = false;
  }
}

class Leaf {
  constructor(app, parent, kind) {
    this.app = app;
    this.kind = kind;
    this.containerEl = parent.createDiv({ cls: `workspace-leaf mod-${kind}` });
    this.containerEl.addEventListener("mousedown", () => app.workspace.activate(this));
    this.containerEl.addEventListener("focusin", () => app.workspace.activate(this));
    this.view = new View(this);
    this.opened = null;
  }
  getViewState() {
    return { type: this.view.getViewType() };
  }
  async show(view) {
    if (this.view) {
      this.view.unload();
      await this.view.onClose();
    }
    this.view = view;
    this.containerEl.empty();
    this.containerEl.append(view.containerEl);
    view.load();
    await view.onOpen();
  }
  async setViewState({ type, active }) {
    const create = this.app.viewCreators.get(type);
    await this.show(create ? create(this) : new View(this));
    if (active) this.app.workspace.activate(this);
  }
  /** `eState` is where a link or a search leads: its line, or the matches, are scrolled to and highlighted. */
  async openFile(file, { active, eState } = {}) {
    this.opened = { path: file.path, eState };
    if (file.extension !== "md") {
      await this.show(Object.assign(new View(this), { file, editor: null }));
      if (active) this.app.workspace.activate(this);
      return this.app.workspace.trigger("file-open", file);
    }
    if (!(this.view instanceof MarkdownView)) await this.show(new MarkdownView(this));
    await this.view.load_(file);
    if (active) this.app.workspace.activate(this);
    const { editor } = this.view;
    if (eState?.line !== undefined) {
      editor.setCursor({ line: eState.line, ch: 0 });
      editor.scrollIntoView({ from: { line: eState.line, ch: 0 } }, true);
    }
    if (eState?.match) editor.showMatches(eState.match.matches);
    if (active) editor.focus();
    this.app.workspace.trigger("file-open", file);
  }
  detach() {
    this.view.unload();
    void this.view.onClose();
    this.containerEl.remove();
    this.app.workspace.leaves = this.app.workspace.leaves.filter((leaf) => leaf !== this);
  }
}

export class Workspace extends mocks.Events {
  constructor(app, parent) {
    super();
    this.app = app;
    this.containerEl = parent.createDiv({ cls: "workspace" });
    this.sides = {
      left: this.containerEl.createDiv({ cls: "workspace-split mod-left-split" }),
      root: this.containerEl.createDiv({ cls: "workspace-split mod-root" }),
      right: this.containerEl.createDiv({ cls: "workspace-split mod-right-split" }),
    };
    this.leaves = [];
    this.activeLeaf = null;
    this.recentLeaf = null;
    this.hovers = [];
    this.on("hover-link", (event) => this.hovers.push(event));
  }
  add(side, kind) {
    const leaf = new Leaf(this.app, this.sides[side], kind);
    this.leaves.push(leaf);
    return leaf;
  }
  activate(leaf) {
    if (this.activeLeaf === leaf) return;
    const { keymap } = this.app;
    if (this.activeLeaf?.view.scope) keymap.popScope(this.activeLeaf.view.scope);
    this.activeLeaf = leaf;
    if (leaf.view.scope) keymap.pushScope(leaf.view.scope);
    if (leaf.kind !== "side") this.recentLeaf = leaf;
    this.trigger("active-leaf-change", leaf);
  }
  get activeEditor() {
    return this.activeLeaf?.view instanceof MarkdownView ? this.activeLeaf.view : null;
  }
  getActiveFile() {
    return this.recentLeaf?.view.file ?? null;
  }
  getMostRecentLeaf() {
    return this.recentLeaf;
  }
  getLeavesOfType(type) {
    return this.leaves.filter((leaf) => leaf.view.getViewType() === type);
  }
  getLeftLeaf() {
    return this.add("left", "side");
  }
  getRightLeaf() {
    return this.add("right", "side");
  }
  getLeaf(where) {
    if (where) return this.add("root", where === true ? "tab" : where);
    return this.recentLeaf ?? this.add("root", "tab");
  }
  /** A link to a file of the vault: its name ends at the first "#". */
  async openLinkText(linktext, _source, where) {
    const [, path, subpath] = /^([^#]*)(#.*)?$/.exec(linktext);
    await this.getLeaf(where).openFile(this.app.vault.getFileByPath(path), { active: true, eState: { subpath } });
  }
  async revealLeaf(leaf) {
    this.activate(leaf);
  }
  onLayoutReady(callback) {
    callback();
  }
}
