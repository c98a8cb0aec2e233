// An answer to a question in words, and as Markdown with links.

import type { AnswerSentence, AskAnswer, Citation, LanguageModel } from "./answers";
import { noteName } from "./reasons";

/** Where a link leads: a file, and in it a part, a block or a heading. */
export interface Place {
  path: string;
  title: string;
  header_path: string;
  block?: string;
  part?: string;
}

/** Writes a link to a place; `text` is what it shows. */
export type LinkWriter = (place: Place, subpath: string, text: string) => string;

/** What a question to the model sends, and where. */
export function sentTo({ name, host, is_local: isLocal }: LanguageModel): string {
  const where = isLocal ? "on this computer" : "another computer";
  return `${name} writes the answer. Your question and the passages of your notes that may answer it are sent to ${host}, ${where}.`;
}

/** What kind of answer it is, in words. */
export function kindOf({ kind, model, passages }: AskAnswer): string {
  const nearest = passages.length > 0 ? " These passages are the nearest:" : "";
  switch (kind) {
    case "quotes":
      return "Quoted from your notes";
    case "written":
      return `Written by ${model}, checked against your notes`;
    case "passages":
      return `No sentence answers this.${nearest}`;
    case "declined":
      return `No note answers this.${nearest}`;
  }
}

/** The citations of sentences, each once: the place in the list is the number. */
export function sourcesOf(sentences: readonly AnswerSentence[]): Citation[] {
  const found = new Map<string, Citation>();
  for (const one of sentences.flatMap(({ citations }) => citations)) if (!found.has(one.id)) found.set(one.id, one);
  return [...found.values()];
}

/** The passages of notes that no sentence cites. */
export function passagesBeside({ sentences, passages }: AskAnswer): AskAnswer["passages"] {
  const cited = new Set(sourcesOf(sentences).map(({ path }) => path));
  return passages.filter(({ path }) => !cited.has(path));
}

/** The title of a place with the headings above it. */
export function placeName({ path, title, header_path: headings, part }: Place): string {
  const above = headings.split(" > ").filter((name, at) => name && (at > 0 || name !== title));
  return [title || noteName(path), ...(part ? [part] : above)].join(" › ");
}

/** What leads to the place behind the name of its file. */
export function subpathTo({ header_path: headings, title, block, part }: Place): string {
  const page = /^page (\d+)$/.exec(part ?? "")?.[1];
  if (page) return `#page=${page}`;
  if (block) return `#^${block}`;
  const names = headings.split(" > ").filter((name, at) => name && (at > 0 || name !== title));
  const linkable = names.map((name) => name.replace(/[#|^:%[\]\\\s]+/g, " ").trim());
  return linkable.filter(Boolean).map((name) => `#${name}`).join("");
}

/** The answer as Markdown: each sentence with its numbers, then the sources. */
export function asMarkdown(question: string, answer: AskAnswer, link: LinkWriter): string {
  const sources = sourcesOf(answer.sentences);
  const linked = (place: Place, text: string) => link(place, subpathTo(place), text.replace(/[[\]|]/g, " ").trim());
  const numberOf = (cited: Citation) => sources.findIndex(({ id }) => id === cited.id) + 1;
  const texts = answer.sentences.map(({ text, citations }) =>
    [text, ...citations.map((cited) => linked(cited, String(numberOf(cited))))].join(" "),
  );
  const list =
    sources.length > 0
      ? sources.map((one, at) => `${at + 1}. ${linked(one, placeName(one))}`)
      : answer.passages.map((one) => `- ${linked(one, placeName(one))}`);
  return [`**${question}**`, ...(texts.length > 0 ? texts : [kindOf(answer)]), list.join("\n")].filter(Boolean).join("\n\n");
}
