// Why a hit is there, in words. The figures are the daemon's; nothing is computed from them.

import type { RelatedNote, Why } from "./answers";

export function whyLines(why: Why): string[] {
  const lines: string[] = [];
  if (why.vector) lines.push(`Meaning: rank ${why.vector.rank}, similarity ${percent(why.vector.score)}`);
  if (why.keyword) {
    const words = Object.keys(why.keyword.terms).join(", ");
    const fields = Object.keys(why.keyword.fields).join(", ");
    lines.push(`Words: rank ${why.keyword.rank}${words && `, ${words}`}${fields && ` (in ${fields})`}`);
    const synonyms = Object.entries(why.keyword.synonyms ?? {}).map(([found, written]) => `${found} for ${written}`);
    if (synonyms.length > 0) lines.push(`Synonyms: ${synonyms.join(", ")}`);
  }
  if (why.graph) lines.push(`Links: rank ${why.graph.rank}, from ${why.graph.via.map(noteName).join(", ")}`);
  if (why.title > 0) lines.push("The title matches the query");
  if (why.note && why.note.coverage > 0) {
    lines.push(`The whole note holds ${percent(why.note.coverage)} of the query's words, by weight`);
  }
  if (why.filters.length > 0) lines.push(`Meets: ${why.filters.join(", ")}`);
  return lines.length > 0 ? lines : ["Meets the query's filters"];
}

const LINKS: Record<string, string> = {
  "links to": "This note links to it",
  "linked from": "It links to this note",
};

export function relatedLines(note: RelatedNote): string[] {
  const lines: string[] = [];
  if (note.similarity !== null) {
    lines.push(`Meaning ${percent(note.similarity)}${note.header_path && `, at ${note.header_path}`}`);
  }
  for (const link of note.links) lines.push(LINKS[link] ?? link);
  if (note.shared_count > 0) {
    const named = note.shared.slice(0, 3);
    const others = note.shared_count - named.length;
    const more = others > 0 ? ` and ${others} more` : "";
    lines.push(`Both linked with ${named.map(noteName).join(", ")}${more}`);
  }
  return lines;
}

export function noteName(path: string): string {
  return path.replace(/^.*\//, "").replace(/\.md$/, "");
}

export function folderOf(path: string): string {
  return path.includes("/") ? path.replace(/\/[^/]*$/, "") : "";
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}
