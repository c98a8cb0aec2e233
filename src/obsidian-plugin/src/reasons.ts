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
    lines.push(`The whole note contains ${percent(why.note.coverage)} of the query's words, by weight`);
  }
  if (why.filters.length > 0) lines.push(`Meets: ${why.filters.join(", ")}`);
  return lines.length > 0 ? lines : ["Meets the query's filters"];
}

const LINKS: Record<string, string> = { "links to": "linked from here", "linked from": "links here" };

/** Why a note is related, in one line. The page's `reasons` says the same. */
export function relatedWords(note: RelatedNote): string {
  const links = note.links.length > 1 ? ["linked both ways"] : note.links.map((link) => LINKS[link] ?? link);
  const shared = note.shared_tags ?? [];
  const [tag, ...others] = shared.filter((one) => !shared.some((other) => other.startsWith(`${one}/`)));
  return [
    ...links,
    tag ? `same tag #${tag}${others.length > 0 ? ` and ${others.length} more` : ""}` : "",
    note.closeness && `${note.closeness} in meaning`,
    note.shared_count > 0 ? `${note.shared_count} ${note.shared_count === 1 ? "link" : "links"} in common` : "",
  ].filter(Boolean).join(" · ");
}

/** The figures and names behind the words. */
export function relatedFigures(note: RelatedNote): string[] {
  const lines = note.similarity === null ? [] : [`Meaning: similarity ${percent(note.similarity)}`];
  if (note.header_path) lines.push(`Nearest passage: ${note.header_path}`);
  const named = note.shared.slice(0, 3);
  const others = note.shared_count - named.length;
  const more = others > 0 ? ` and ${others} more` : "";
  if (note.shared_count > 0) lines.push(`Both linked with ${named.map(noteName).join(", ")}${more}`);
  return [...lines, `Score: ${percent(note.score)}`];
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
