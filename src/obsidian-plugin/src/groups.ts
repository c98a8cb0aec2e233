import type { Hit } from "./answers";

/** The hits of one note, best first. */
export interface NoteGroup {
  path: string;
  title: string;
  hits: Hit[];
}

/** Hits by note. A note stands where its best hit does; the order within a note is the daemon's. */
export function groupByNote(hits: readonly Hit[]): NoteGroup[] {
  const groups = new Map<string, NoteGroup>();
  for (const hit of hits) {
    const group = groups.get(hit.path);
    if (group) group.hits.push(hit);
    else groups.set(hit.path, { path: hit.path, title: hit.title, hits: [hit] });
  }
  return [...groups.values()];
}
