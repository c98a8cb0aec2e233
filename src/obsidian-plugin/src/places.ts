// Places in a text. The daemon counts code points and lines from 1; Obsidian counts UTF-16 units and lines from 0.

import type { Hit } from "./answers";

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

/** Show a snippet with its marked words. */
export function renderSnippet(el: HTMLElement, snippet: string, marks: number[][]): void {
  renderSegments(el, segments(snippet, marks));
}

export function renderSegments(el: HTMLElement, parts: Segment[]): void {
  for (const { text, marked } of parts) {
    if (marked) el.createEl("mark", { cls: "vault-indexer-mark", text });
    else el.appendText(text);
  }
}

/**
 * Where the marked words of a hit stand in the text of its note, from the hit's line to the end of its chunk. A snippet
 * shows a note as a reader sees it, so it is no part of the text: its words are aligned with those of the text.
 */
export function matches(text: string, hit: Pick<Hit, "snippet" | "marks" | "line" | "end_pos">): Span[] {
  const start = lineStart(text, hit.line);
  const limit = Math.max(utf16Index(text, hit.end_pos), lineStart(text, hit.line + 1));
  const words = wordsOf(hit.snippet, 0);
  const places = alignWords(words, wordsOf(text.slice(start, limit), start));
  const found: Span[] = [];
  let at = 0;
  for (const segment of segments(hit.snippet, hit.marks)) {
    const end = at + segment.text.length;
    words.forEach((word, index) => {
      const place = places[index];
      if (!segment.marked || !place || word.to <= at || word.from >= end) return;
      const from = place.from + Math.max(at - word.from, 0);
      const to = place.to - Math.max(word.to - end, 0);
      const last = found.at(-1);
      if (last?.to === from && at < word.from) last.to = to;
      else found.push({ from, to });
    });
    at = end;
  }
  return found;
}

/** Where a text has the words of one of the phrases, in any case, in order. */
export function occurrences(text: string, phrases: Iterable<string>): Span[] {
  const lowerWords = (part: string) => wordsOf(part, 0).map((word) => ({ ...word, text: word.text.toLowerCase() }));
  const words = lowerWords(text);
  const found = new Map<number, Span>();
  for (const phrase of new Set(phrases)) {
    const wanted = lowerWords(phrase).map((word) => word.text);
    words.forEach(({ from }, at) => {
      const last = words[at + wanted.length - 1];
      const isHere = last && wanted.length > 0 && wanted.every((word, next) => words[at + next]?.text === word);
      if (isHere && (found.get(from)?.to ?? 0) < last.to) found.set(from, { from, to: last.to });
    });
  }
  return [...found.values()].sort((one, other) => one.from - other.from);
}

interface Word extends Span {
  text: string;
}

/** Words, and the single characters of scripts that put no blanks between words. */
const WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[\p{L}\p{M}\p{N}_]+/gu;

function wordsOf(text: string, offset: number): Word[] {
  return [...text.matchAll(WORDS)].map((word) => {
    const from = offset + word.index;
    return { text: word[0], from, to: from + word[0].length };
  });
}

/**
 * For each word of a snippet the same word of the text, in the same order, or null. As many as possible are found,
 * and of the ways to do so the one with most words beside each other: what Markdown hides stands between them.
 */
function alignWords(snippet: Word[], text: Word[]): (Span | null)[] {
  const width = text.length + 1;
  // The best score from a pair of words on, and that of pairing exactly these two.
  const best = new Int32Array((snippet.length + 1) * width);
  const paired = new Int32Array((snippet.length + 1) * width);
  for (let row = snippet.length - 1; row >= 0; row--) {
    for (let column = text.length - 1; column >= 0; column--) {
      const here = row * width + column;
      const next = here + width + 1;
      if (snippet[row]?.text === text[column]?.text) {
        paired[here] = 2 + Math.max(best[next] ?? 0, (paired[next] ?? 0) + (paired[next] ? 1 : 0));
      }
      best[here] = Math.max(paired[here] ?? 0, best[here + 1] ?? 0, best[here + width] ?? 0);
    }
  }
  const found = snippet.map((): Span | null => null);
  let [row, column] = [0, 0];
  let isBound = false;
  while (row < snippet.length && column < text.length) {
    const here = row * width + column;
    if (paired[here] && (isBound || paired[here] === best[here])) {
      found[row++] = text[column++] ?? null;
      // The score of this pair counts the pair beside it.
      const next = here + width + 1;
      isBound = (paired[next] ?? 0) > 0 && (paired[next] ?? 0) + 1 >= (best[next] ?? 0);
    } else if (best[here] === best[here + 1]) column += 1;
    else row += 1;
  }
  return found;
}

const DELIMITER_ROW = /^[\s>]*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const BLANK = /^[\s>]*$/;

/** A link for a position of a text: in a table its bar is escaped, or it would end the cell. */
export function escapeInTable(link: string, text: string, position: number): string {
  const lines = text.split("\n");
  const { line } = editorPosition(text, position);
  const isDelimiter = (index: number) => (lines[index] ?? "").includes("|") && DELIMITER_ROW.test(lines[index] ?? "");
  let isInTable = isDelimiter(line + 1);
  for (let index = line; index > 0 && !BLANK.test(lines[index] ?? ""); index--) isInTable ||= isDelimiter(index);
  return isInTable ? link.replace(/(?<!\\)\|/g, "\\|") : link;
}
