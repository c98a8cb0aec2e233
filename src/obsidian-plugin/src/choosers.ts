// Lists to choose from: the scope of a search, and a note.

import { FuzzySuggestModal, getAllTags, type App, type TFile } from "obsidian";
import { label, type Scope } from "./scopes";

const MAX_VALUES = 2000;

export class ScopeModal extends FuzzySuggestModal<Scope> {
  constructor(
    app: App,
    private readonly chosen: (scope: Scope) => void,
  ) {
    super(app);
    this.setPlaceholder("Search only in a folder, tag or property");
  }

  getItems(): Scope[] {
    return allScopes(this.app);
  }

  getItemText(scope: Scope): string {
    return label(scope);
  }

  onChooseItem(scope: Scope): void {
    this.chosen(scope);
  }
}

export class NoteModal extends FuzzySuggestModal<TFile> {
  constructor(
    app: App,
    private readonly chosen: (file: TFile) => void,
  ) {
    super(app);
    this.setPlaceholder("Which note is missing?");
  }

  getItems(): TFile[] {
    return this.app.vault.getMarkdownFiles();
  }

  getItemText(file: TFile): string {
    return file.path;
  }

  onChooseItem(file: TFile): void {
    this.chosen(file);
  }
}

/** The folders, tags and properties of the vault, as Obsidian's own cache has them. */
export function allScopes(app: App): Scope[] {
  const folders = app.vault.getAllFolders(false).map((folder): Scope => ({ kind: "folder", folder: folder.path }));
  const tags = new Set<string>();
  const properties = new Map<string, Set<string>>();
  for (const file of app.vault.getMarkdownFiles()) {
    const cache = app.metadataCache.getFileCache(file);
    if (!cache) continue;
    for (const tag of getAllTags(cache) ?? []) tags.add(tag);
    for (const [name, value] of Object.entries(cache.frontmatter ?? {})) {
      if (name === "position") continue;
      const values = properties.get(name) ?? new Set();
      for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (typeof one === "string" && one && values.size < MAX_VALUES) values.add(one);
      }
      properties.set(name, values);
    }
  }
  return [
    ...folders,
    ...[...tags].sort().map((tag): Scope => ({ kind: "tag", tag })),
    ...[...properties].flatMap(([name, values]): Scope[] => [
      { kind: "property", name },
      ...[...values].map((value): Scope => ({ kind: "property", name, value })),
    ]),
  ];
}
