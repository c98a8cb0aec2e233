// Linking a mention: one edit, at the place that the index names, if the text there is still the same.

import { MarkdownView, Notice, type App, type Editor, type EditorPosition, type TFile } from "obsidian";
import { linkTo } from "./opening";
import { editorPosition, escapeInTable, renderSegments, segments, utf16Index, type Segment, type Span } from "./places";
import type { Mention } from "./answers";

const UNDO_MS = 10_000;

/** Where a mention is in the text of its note; null if the note has changed there. */
export function mentionSpan(text: string, mention: Mention): Span | null {
  // Positions do not count a byte order mark.
  const skipped = text.startsWith("\uFEFF") ? 1 : 0;
  for (const offset of new Set([skipped, 0])) {
    const from = utf16Index(text, mention.start_pos + offset);
    const to = utf16Index(text, mention.end_pos + offset);
    const wanted = segmentOf(mention);
    if (to > from && text.slice(from, to) === wanted) return { from, to };
  }
  return null;
}

/** The words of the mention as they stand in its note: what the snippet marks. */
function segmentOf(mention: Mention): string {
  const [first = 0, last = 0] = mention.marks[0] ?? [];
  return mention.snippet.slice(utf16Index(mention.snippet, first), utf16Index(mention.snippet, last));
}

interface TreeNode {
  t: string;
  c?: (TreeNode | string)[];
  text?: string;
}

/** The text of a tree, and what is marked in it. */
export function treeSegments(nodes: (TreeNode | string)[], marked = false): Segment[] {
  return nodes.flatMap((node) =>
    typeof node === "string" ? { text: node, marked }
      : node.c ? treeSegments(node.c, marked || node.t === "mark") : { text: node.text ?? " ", marked });
}

/** Show the line of a mention as a reader sees it; as it is written, where an older daemon gives no tree. */
export function renderMention(el: HTMLElement, { snippet, marks, tree }: Mention): void {
  renderSegments(el, tree?.length ? treeSegments(tree as unknown as TreeNode[]) : segments(snippet, marks));
}

/** The link that takes the place of the words; it still shows them. */
function linkText(app: App, target: TFile, mention: Mention): string {
  const words = segmentOf(mention);
  if (words === target.basename) return linkTo(app, target.path, mention.path);
  return app.fileManager.generateMarkdownLink(target, mention.path, undefined, words);
}

/** Make a mention of `target` a link. False if the note has changed since it was indexed. */
export async function linkMention(app: App, target: TFile, mention: Mention): Promise<boolean> {
  const file = app.vault.getFileByPath(mention.path);
  if (!file) return false;
  const saved = await app.vault.read(file);
  const found = mentionSpan(saved, mention);
  if (!found) return false;
  const link = escapeInTable(linkText(app, target, mention), saved, found.from);
  const editor = openEditor(app, file);
  if (editor) return linkInEditor(editor, saved, found, segmentOf(mention), link);
  return linkInFile(app, file, mention, link);
}

function openEditor(app: App, file: TFile): Editor | null {
  for (const leaf of app.workspace.getLeavesOfType("markdown")) {
    const view = leaf.view;
    if (view instanceof MarkdownView && view.file?.path === file.path && view.getMode() === "source") {
      return view.editor;
    }
  }
  return null;
}

/** In an editor, the edit is a step of its undo history. */
function linkInEditor(editor: Editor, saved: string, found: Span, words: string, link: string): boolean {
  const holds = (from: EditorPosition, to: EditorPosition) => editor.getRange(from, to) === words;
  const from = editorPosition(saved, found.from);
  const to = editorPosition(saved, found.to);
  if (!holds(from, to)) return false;
  editor.replaceRange(link, from, to);
  return true;
}

/** In a file that is not open, the notice offers to undo. */
async function linkInFile(app: App, file: TFile, mention: Mention, link: string): Promise<boolean> {
  let at: Span | null = null;
  await app.vault.process(file, (text) => {
    at = mentionSpan(text, mention);
    return at ? text.slice(0, at.from) + link + text.slice(at.to) : text;
  });
  const done = at as Span | null;
  if (!done) return false;
  const words = segmentOf(mention);
  const message = createFragment();
  message.appendText(`Linked in ${file.basename}. `);
  const notice = new Notice(message, UNDO_MS);
  const undo = notice.messageEl.createEl("a", { text: "Undo", href: "#", cls: "vault-indexer-undo" });
  undo.addEventListener("click", (event) => {
    event.preventDefault();
    notice.hide();
    void app.vault.process(file, (text) => {
      const end = done.from + link.length;
      return text.slice(done.from, end) === link ? text.slice(0, done.from) + words + text.slice(end) : text;
    });
  });
  return true;
}
