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

const LINKS: Record<string, string> = {
  "links to": "this note links to it",
  "linked from": "it links to this note",
};

/** A similarity below which no note is called close. The page has the same. */
const LEAST_NEAR = 0.3;
const CLOSE = 0.8;

/** The similarity that the others are compared with. */
export function highestSimilarity(notes: readonly RelatedNote[]): number {
  return Math.max(LEAST_NEAR, ...notes.map((note) => note.similarity ?? 0));
}

/** In the page's words, how near a note is; `share` of the highest similarity. */
export function nearness(share: number): string {
  return share >= CLOSE ? "close in meaning" : share >= 0.5 ? "somewhat close in meaning" : "less close in meaning";
}

/** Whether a note is shown at first: it is close in meaning or linked. */
export function isNear(note: RelatedNote, highest: number): boolean {
  return note.links.length > 0 || (note.similarity ?? 0) >= CLOSE * highest;
}

/** Why a note is related, in one line. */
export function relatedWords(note: RelatedNote & { shared_tags?: string[] }, highest: number): string {
  const links = note.links.length > 1 ? ["linked both ways"] : note.links.map((link) => LINKS[link] ?? link);
  const tags = (note.shared_tags ?? []).map((tag) => `#${tag}`);
  return [
    note.similarity === null ? "" : nearness(note.similarity / highest),
    ...links,
    note.shared_count > 0 ? `${note.shared_count} ${note.shared_count === 1 ? "link" : "links"} in common` : "",
    tags.length > 0 ? `both have ${tags.join(", ")}` : "",
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
