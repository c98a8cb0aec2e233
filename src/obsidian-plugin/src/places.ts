// Places in a text. The daemon counts code points and lines from 1; Obsidian counts UTF-16 units and lines from 0.

import type { Hit } from "./shapes";

/** A half-open span of a string in UTF-16 units. */
export interface Span {
  from: number;
  to: number;
}

export interface Segment {
  text: string;
  marked: boolean;
}

/** The index in UTF-16 units of the code point `position` of a text; its length if the text is shorter. */
export function utf16Index(text: string, position: number): number {
  let index = 0;
  for (let seen = 0; seen < position && index < text.length; seen++) {
    index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
  }
  return index;
}

/** Where the 1-based line of a text begins; the end of the text if it has fewer lines. */
export function lineStart(text: string, line: number): number {
  let start = 0;
  for (let seen = 1; seen < line; seen++) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  return start;
}

/** The 0-based line and column of an index, as an editor counts them. */
export function editorPosition(text: string, index: number): { line: number; ch: number } {
  const before = text.slice(0, index);
  const start = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length - 1, ch: index - start };
}

/** A snippet cut at its marks, which are spans in code points, in order. */
export function segments(snippet: string, marks: number[][]): Segment[] {
  const found: Segment[] = [];
  let end = 0;
  for (const [first = 0, last = 0] of marks) {
    const from = Math.max(end, utf16Index(snippet, first));
    const to = utf16Index(snippet, last);
    if (to <= from) continue;
    if (from > end) found.push({ text: snippet.slice(end, from), marked: false });
    found.push({ text: snippet.slice(from, to), marked: true });
    end = to;
  }
  if (end < snippet.length) found.push({ text: snippet.slice(end), marked: false });
  return found;
}

/**
 * Where the marked words of a hit stand in the text of its note: each is looked for behind the one before it, from
 * the hit's line to the end of its chunk. A snippet shows a note as a reader sees it, so it is no part of the text.
 */
export function matches(text: string, hit: Pick<Hit, "snippet" | "marks" | "line" | "end_pos">): Span[] {
  const limit = Math.max(utf16Index(text, hit.end_pos), lineStart(text, hit.line + 1));
  const found: Span[] = [];
  let from = lineStart(text, hit.line);
  for (const segment of segments(hit.snippet, hit.marks)) {
    if (!segment.marked) continue;
    const at = text.indexOf(segment.text, from);
    if (at < 0 || at + segment.text.length > limit) continue;
    found.push({ from: at, to: at + segment.text.length });
    from = at + segment.text.length;
  }
  return found;
}
