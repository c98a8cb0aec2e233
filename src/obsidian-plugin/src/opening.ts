// Opening notes, and links to them.

import { Keymap, MarkdownView, Notice, normalizePath, TFile, type App, type Editor, type PaneType } from "obsidian";
import { editorPosition, lineStart, matches, type Span } from "./places";
import { noteName } from "./reasons";
import type { Citation, Hit } from "./answers";

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
    await openPart(app, file, subpathOf(hit), where);
    return;
  }
  const text = await app.vault.cachedRead(file);
  await openAt(app, file, where, text, hit.line, matches(text, hit));
}

/** Open the note of a citation with the quoted text highlighted, as long as it is there. */
export async function openCitation(app: App, cited: Citation, where: Where): Promise<void> {
  const file = fileAt(app, cited.path);
  if (!file) return;
  if (file.extension !== "md") return openPart(app, file, subpathOf(cited), where);
  const text = await app.vault.cachedRead(file);
  // The quote is looked for from its line on: the note may have changed since.
  const from = text.indexOf(cited.quote, lineStart(text, cited.start_line));
  await openAt(app, file, where, text, cited.start_line, from < 0 ? [] : [{ from, to: from + cited.quote.length }]);
}

/** Open a file that is no note at the place that a link names, such as a page of a PDF. */
export async function openPart(app: App, file: TFile, subpath: string, where: Where): Promise<void> {
  // In a link, the name of a file ends at the first "#", and a link to a name that is not there makes a note.
  if (subpath && !file.path.includes("#")) await app.workspace.openLinkText(file.path + subpath, "", where);
  else await app.workspace.getLeaf(where).openFile(file, { active: true });
}

/** What a link adds to the path of a document to lead to a part of it; "" for what has no pages. */
export function subpathOf({ part }: { part?: string | undefined }): string {
  const page = /^page (\d+)$/.exec(part ?? "")?.[1];
  return page ? `#page=${page}` : "";
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

/** A link to a file as the user's settings want it written; `subpath` leads to a part of it. */
export function linkTo(app: App, path: string, sourcePath: string, subpath = "", alias?: string): string {
  const file = app.vault.getAbstractFileByPath(path);
  if (!(file instanceof TFile)) return `[[${noteName(path)}]]`;
  return app.fileManager.generateMarkdownLink(file, sourcePath, subpath, alias);
}

/** Insert a link at the cursor. `separator` stands before it. False if no note is open for editing. */
export function insertLink(app: App, hit: Hit, separator: string): boolean {
  const target = targetEditor(app);
  if (!target) {
    new Notice("Open a note to insert a link");
    return false;
  }
  target.editor.replaceSelection(separator + linkTo(app, hit.path, target.path, subpathOf(hit)));
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

/** What has a meaning in a query: a sign before a word, an operator with its value, quotes, brackets, expressions. */
const OPERATOR = /(?:^|[\s(])(?:-\S|OR(?:\s|$)|[a-z]+(?:-[a-z]+)*:(?!\/\/)(?:\S|$)|\/.*\/)|["[\]]/;

/** Whether a query is only words, so that it may be the name of a note. */
export function isName(query: string): boolean {
  const open = query.split("(").length - query.split(")").length;
  return fileName(query) !== "" && open === 0 && !OPERATOR.test(query);
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
