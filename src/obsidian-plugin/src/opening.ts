// Opening notes, and links to them.

import { Keymap, MarkdownView, Notice, normalizePath, TFile, type App, type Editor, type PaneType } from "obsidian";
import { editorPosition, lineStart, matches, type Span } from "./places";
import { noteName } from "./reasons";
import type { Hit } from "./answers";

export type Where = PaneType | boolean;

/** Where an event of mouse or keyboard opens a note: as everywhere in Obsidian. */
export function whereOf(event: MouseEvent | KeyboardEvent): Where {
  return Keymap.isModEvent(event);
}

/** Open a hit's note at its place, with the matched words highlighted. */
export async function openHit(app: App, hit: Hit, where: Where): Promise<void> {
  const file = fileAt(app, hit.path);
  if (!file) return;
  if (hit.kind !== "note") {
    await app.workspace.getLeaf(where).openFile(file, { active: true });
    return;
  }
  const text = await app.vault.cachedRead(file);
  await openAt(app, file, where, text, hit.line, matches(text, hit));
}

/** Open a note at a 1-based line, with spans of its text highlighted. */
export async function openAt(
  app: App,
  file: TFile,
  where: Where,
  text: string,
  line: number,
  spans: Span[],
): Promise<void> {
  const leaf = app.workspace.getLeaf(where);
  const match = { content: text, matches: spans.map((span) => [span.from, span.to]) };
  const eState = { line: line - 1, ...(spans.length > 0 && { match }) };
  await leaf.openFile(file, { active: true, eState });
  const view = leaf.view;
  if (!(view instanceof MarkdownView) || view.getMode() !== "source") return;
  const first = spans[0] ?? { from: lineStart(text, line), to: lineStart(text, line) };
  const from = editorPosition(text, first.from);
  view.editor.setCursor(from);
  view.editor.scrollIntoView({ from, to: editorPosition(text, first.to) }, true);
}

/** Open a note as a whole. */
export async function openNote(app: App, path: string, where: Where): Promise<void> {
  const file = fileAt(app, path);
  if (file) await app.workspace.getLeaf(where).openFile(file, { active: true });
}

/** The editor that a link goes into: the active one, else that of the note used last. */
export function targetEditor(app: App): { editor: Editor; path: string } | null {
  const active = app.workspace.activeEditor;
  if (active?.editor) return { editor: active.editor, path: active.file?.path ?? "" };
  const view = app.workspace.getMostRecentLeaf()?.view;
  return view instanceof MarkdownView ? { editor: view.editor, path: view.file?.path ?? "" } : null;
}

/** A link to a note as the user's settings want it written. */
export function linkTo(app: App, path: string, sourcePath: string): string {
  const file = app.vault.getAbstractFileByPath(path);
  return file instanceof TFile ? app.fileManager.generateMarkdownLink(file, sourcePath) : `[[${noteName(path)}]]`;
}

/** Insert a link at the cursor. `separator` stands before it. False if no note is open for editing. */
export function insertLink(app: App, path: string, separator: string): boolean {
  const target = targetEditor(app);
  if (!target) {
    new Notice("Open a note to insert a link");
    return false;
  }
  target.editor.replaceSelection(separator + linkTo(app, path, target.path));
  return true;
}

/** Create a note named by a text, or open the one there is. */
export async function createNote(app: App, text: string, folder: string | null, where: Where): Promise<void> {
  const name = fileName(text);
  const problem = nameProblem(name);
  if (problem) {
    new Notice(problem);
    return;
  }
  const active = app.workspace.getActiveFile()?.path ?? "";
  const parent = folder ?? app.fileManager.getNewFileParent(active, `${name}.md`).path;
  const path = normalizePath(`${parent}/${name}.md`);
  let file = app.vault.getFileByPath(path);
  try {
    file ??= await app.vault.create(path, "");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    new Notice(`${path} was not created: ${reason}`);
    return;
  }
  await app.workspace.getLeaf(where).openFile(file, { active: true });
}

/** A text as the name of a note: without what file systems or links do not take. */
export function fileName(text: string): string {
  return text
    .replace(/[\\/:*?"<>|#^[\]]/g, " ")
    .replace(/\s+/g, " ")
    .replace(/^[.\s]+|[.\s]+$/g, "");
}

/** File systems take 255 bytes, three of which are `.md`. */
const MAX_NAME_BYTES = 252;

/** What is wrong with the name of a new note; empty if nothing is. */
export function nameProblem(name: string): string {
  if (!name) return "A note needs a name";
  const bytes = new TextEncoder().encode(name).length;
  return bytes > MAX_NAME_BYTES ? `The name of a note has at most ${MAX_NAME_BYTES} bytes; this one has ${bytes}` : "";
}

/** The file at a path of the vault; says so if it has gone. */
export function fileAt(app: App, path: string): TFile | null {
  const file = app.vault.getFileByPath(path);
  if (!file) new Notice(`${path} is no longer in the vault`);
  return file;
}
