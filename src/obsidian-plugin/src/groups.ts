import type { Hit } from "./answers";

/** The hits of one note, best first. */
export interface NoteGroup {
  path: string;
  title: string;
  /** The code of its language; "" if that is not known. */
  language: string;
  copies: string[];
  hits: Hit[];
}

/** How many other notes have the same text. */
export function copyCount(copies: readonly string[]): string {
  return `and ${copies.length} ${copies.length === 1 ? "copy" : "copies"}`;
}

/** Hits by note. A note stands where its best hit does; the order within a note is the daemon's. */
export function groupByNote(hits: readonly Hit[]): NoteGroup[] {
  const groups = new Map<string, NoteGroup>();
  for (const hit of hits) {
    const { path, title, language, copies } = hit;
    const group = groups.get(path);
    if (group) group.hits.push(hit);
    else groups.set(path, { path, title, language, copies: copies ?? [], hits: [hit] });
  }
  return [...groups.values()];
}
