// Built from sources with the digest 1d8895c09f39ce8c32203426c100350defe581e8fb6a16f218cd43418fa99608
"use strict";
var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toESM = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
  // If the importer is in node compatibility mode or this is not an ESM
  // file that has been converted to a CommonJS file using a Babel-
  // compatible transform (i.e. "__esModule" has not been set), then set
  // "default" to the CommonJS "module.exports" for node compatibility.
  isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
  mod
));
var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

// src/main.ts
var main_exports = {};
__export(main_exports, {
  default: () => VaultIndexerPlugin
});
module.exports = __toCommonJS(main_exports);
var import_obsidian19 = require("obsidian");

// src/ask_view.ts
var import_obsidian6 = require("obsidian");

// src/reasons.ts
function whyLines(why) {
  const lines = [];
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
var LINKS = { "links to": "linked from here", "linked from": "links here" };
function relatedWords(note) {
  const links = note.links.length > 1 ? ["linked both ways"] : note.links.map((link) => LINKS[link] ?? link);
  const shared = note.shared_tags ?? [];
  const [tag, ...others] = shared.filter((one) => !shared.some((other) => other.startsWith(`${one}/`)));
  return [
    ...links,
    tag ? `same tag #${tag}${others.length > 0 ? ` and ${others.length} more` : ""}` : "",
    note.closeness && `${note.closeness} in meaning`,
    note.shared_count > 0 ? `${note.shared_count} ${note.shared_count === 1 ? "link" : "links"} in common` : ""
  ].filter(Boolean).join(" \xB7 ");
}
function relatedFigures(note) {
  const lines = note.similarity === null ? [] : [`Meaning: similarity ${percent(note.similarity)}`];
  if (note.header_path) lines.push(`Nearest passage: ${note.header_path}`);
  const named = note.shared.slice(0, 3);
  const others = note.shared_count - named.length;
  const more = others > 0 ? ` and ${others} more` : "";
  if (note.shared_count > 0) lines.push(`Both linked with ${named.map(noteName).join(", ")}${more}`);
  return [...lines, `Score: ${percent(note.score)}`];
}
function noteName(path) {
  return path.replace(/^.*\//, "").replace(/\.md$/, "");
}
function folderOf(path) {
  return path.includes("/") ? path.replace(/\/[^/]*$/, "") : "";
}
function percent(share) {
  return `${Math.round(share * 100)}%`;
}

// src/ask_answer.ts
function sentTo({ name, host, is_local: isLocal }) {
  const where = isLocal ? "on this computer" : "another computer";
  return `${name} writes the answer. Your question and the passages of your notes that may answer it are sent to ${host}, ${where}.`;
}
function kindOf({ kind, model, passages }) {
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
function sourcesOf(sentences) {
  const found = /* @__PURE__ */ new Map();
  for (const one of sentences.flatMap(({ citations }) => citations)) if (!found.has(one.id)) found.set(one.id, one);
  return [...found.values()];
}
function passagesBeside({ sentences, passages }) {
  const cited = new Set(sourcesOf(sentences).map(({ path }) => path));
  return passages.filter(({ path }) => !cited.has(path));
}
function placeName({ path, title, header_path: headings, part }) {
  const above = headings.split(" > ").filter((name, at) => name && (at > 0 || name !== title));
  return [title || noteName(path), ...part ? [part] : above].join(" \u203A ");
}
function subpathTo({ header_path: headings, title, block, part }) {
  const page = /^page (\d+)$/.exec(part ?? "")?.[1];
  if (page) return `#page=${page}`;
  if (block) return `#^${block}`;
  const names = headings.split(" > ").filter((name, at) => name && (at > 0 || name !== title));
  const linkable = names.map((name) => name.replace(/[#|^:%[\]\\\s]+/g, " ").trim());
  return linkable.filter(Boolean).map((name) => `#${name}`).join("");
}
function asMarkdown(question, answer, link) {
  const sources = sourcesOf(answer.sentences);
  const linked = (place, text) => link(place, subpathTo(place), text.replace(/[[\]|]/g, " ").trim());
  const numberOf = (cited) => sources.findIndex(({ id }) => id === cited.id) + 1;
  const texts = answer.sentences.map(
    ({ text, citations }) => [text, ...citations.map((cited) => linked(cited, String(numberOf(cited))))].join(" ")
  );
  const list = sources.length > 0 ? sources.map((one, at) => `${at + 1}. ${linked(one, placeName(one))}`) : answer.passages.map((one) => `- ${linked(one, placeName(one))}`);
  return [`**${question}**`, ...texts.length > 0 ? texts : [kindOf(answer)], list.join("\n")].filter(Boolean).join("\n\n");
}

// src/client.ts
var import_obsidian2 = require("obsidian");

// src/stream.ts
var import_obsidian = require("obsidian");
async function postLines({ url, token }, path, body, onLine, signal) {
  if (!import_obsidian.Platform.isDesktop) return null;
  const { request } = await Promise.resolve().then(() => __toESM(require("http"), 1));
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method: "POST", headers, agent: false }, (response) => {
      const status = response.statusCode ?? 0;
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part) => {
        const lines = (text + part).split("\n");
        text = status === 200 ? lines.pop() ?? "" : text + part;
        if (status === 200 && !signal.aborted) for (const line of lines) onLine(JSON.parse(line));
      });
      response.on("end", () => resolve(status === 200 ? null : { status, text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    signal.addEventListener("abort", () => sent.destroy(new Error("Stopped")));
    sent.end(JSON.stringify(body));
  });
}

// src/answers.ts
var FIELDS = "path,kind,title,language,header_path,chunk_id,start_pos,end_pos,end_line,line,part,relevance,snippet,marks,stale,copies,why";

// src/client.ts
var NoDaemonError = class extends Error {
  constructor(command, isKnown, isNew = false, problem = "") {
    super("The daemon of this vault is not running");
    this.command = command;
    this.isKnown = isKnown;
    this.isNew = isNew;
    this.problem = problem;
  }
  command;
  isKnown;
  isNew;
  problem;
};
var RefusedError = class extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
  status;
};
var SilentError = class extends Error {
  constructor() {
    super("The daemon does not answer");
  }
};
var UNKNOWN_PARAMETER = 422;
var OLDER_MS = 6e4;
var ANSWER_MS = 3e4;
var DaemonClient = class {
  /** `discover` reads the files that announce the daemon. Nothing is read before the first request. */
  constructor(discover2) {
    this.discover = discover2;
  }
  discover;
  found = null;
  /** A daemon of an earlier version refuses newer parameters: until then it is asked without. */
  olderUntil = 0;
  /** `by`: one hit for each note or chunk; "" means what the daemon's configuration says. */
  search(query, limit, by = "") {
    const parameters = { q: query, limit, as_you_type: true, ...by && { by } };
    return this.getNewer("/v1/search", parameters, { fields: FIELDS });
  }
  explain(path, query) {
    return this.get("/v1/explain", { path, q: query });
  }
  related(path, limit) {
    return this.get("/v1/related", { path, limit });
  }
  mentions(path, limit) {
    return this.getNewer("/v1/links", { view: "mentions", path, limit }, { rendered: true });
  }
  /** How the end of a query can go on. */
  complete(query, limit) {
    return this.get("/v1/complete", { q: query, limit });
  }
  status() {
    return this.get("/v1/status", {});
  }
  /** Keep that a hit was opened, where the daemon says that the user wants it. */
  async recordClick(query, path, rank) {
    if ((await this.status()).records_clicks) await this.request("POST", "/evals/click", { q: query, path, rank });
  }
  /** Ask a question; each line of the answer is passed on as it comes. Without `usesModel`, notes are only quoted. */
  async ask(question, usesModel, signal, onLine) {
    await this.status();
    const info = this.found?.info;
    if (!info || signal.aborted) return;
    const body = { q: question, stream: true, model: usesModel };
    const refusal = await postLines(info, "/v1/ask", body, (line) => onLine(line), signal);
    if (refusal) throw refused(refusal.status, JSON.parse(refusal.text));
  }
  /** What a question would send to the model; "" if nothing. The model is not asked. */
  async promptOf(question) {
    return (await this.request("POST", "/v1/ask", { q: question, show_prompt: true })).prompt;
  }
  resume() {
    return this.request("POST", "/v1/resume", {});
  }
  /** Read the files again at the next request. */
  forget() {
    this.found = null;
  }
  get(path, parameters) {
    const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    return this.request("GET", query.length > 0 ? `${path}?${query.join("&")}` : path);
  }
  /** Asks without `newer`, the parameters that an older daemon refuses, where they are refused. */
  async getNewer(path, parameters, newer) {
    if (Date.now() < this.olderUntil) return this.get(path, parameters);
    try {
      return await this.get(path, { ...parameters, ...newer });
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== UNKNOWN_PARAMETER) throw error;
    }
    const answer = await this.get(path, parameters);
    this.olderUntil = Date.now() + OLDER_MS;
    return answer;
  }
  /** Asks twice at most: a daemon that was started again has another port and another token. */
  async request(method, target, body) {
    const known = this.found?.info;
    const first = known && await this.send(known, method, target, body);
    if (first && first.status !== 401) return read(first);
    this.found = await withinTime(this.discover());
    this.olderUntil = 0;
    const { info, command, isNew, problem } = this.found;
    const second = info && await this.send(info, method, target, body);
    if (!second || second.status === 401) {
      this.found = null;
      throw new NoDaemonError(command, info !== null || command.length > 0, isNew, problem);
    }
    return read(second);
  }
  /** The response, or null if nothing listens there. */
  async send(info, method, target, body) {
    const response = (0, import_obsidian2.requestUrl)({
      url: info.url + target,
      method,
      headers: { Authorization: `Bearer ${info.token}` },
      ...body && { body: JSON.stringify(body), contentType: "application/json" },
      throw: false
    });
    return withinTime(response.catch(() => null));
  }
};
async function withinTime(answer) {
  let timer = 0;
  const limit = new Promise((_, reject) => {
    timer = window.setTimeout(() => reject(new SilentError()), ANSWER_MS);
  });
  return Promise.race([answer, limit]).finally(() => window.clearTimeout(timer));
}
function read(response) {
  if (response.status < 400) return response.json;
  throw refused(response.status, response.json);
}
function refused(status, answer) {
  const { error } = answer;
  return new RefusedError(error?.message ?? `Status ${status}`, status);
}

// src/opening.ts
var import_obsidian3 = require("obsidian");

// src/places.ts
function utf16Index(text, position) {
  let index = 0;
  for (let seen = 0; seen < position && index < text.length; seen++) {
    index += (text.codePointAt(index) ?? 0) > 65535 ? 2 : 1;
  }
  return index;
}
function lineStart(text, line) {
  let start = 0;
  for (let seen = 1; seen < line; seen++) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  return start;
}
function editorPosition(text, index) {
  const before = text.slice(0, index);
  const start = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length - 1, ch: index - start };
}
function segments(snippet, marks) {
  const found = [];
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
function renderSnippet(el, snippet, marks) {
  renderSegments(el, segments(snippet, marks));
}
function renderSegments(el, parts) {
  for (const { text, marked } of parts) {
    if (marked) el.createEl("mark", { cls: "vault-indexer-mark", text });
    else el.appendText(text);
  }
}
function matches(text, hit) {
  const start = lineStart(text, hit.line);
  const limit = Math.max(utf16Index(text, hit.end_pos), lineStart(text, hit.line + 1));
  const words = wordsOf(hit.snippet, 0);
  const places = alignWords(words, wordsOf(text.slice(start, limit), start));
  const found = [];
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
function occurrences(text, phrases) {
  const lowerWords = (part) => wordsOf(part, 0).map((word) => ({ ...word, text: word.text.toLowerCase() }));
  const words = lowerWords(text);
  const found = /* @__PURE__ */ new Map();
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
var WORDS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[\p{L}\p{M}\p{N}_]+/gu;
function wordsOf(text, offset) {
  return [...text.matchAll(WORDS)].map((word) => {
    const from = offset + word.index;
    return { text: word[0], from, to: from + word[0].length };
  });
}
function alignWords(snippet, text) {
  const width = text.length + 1;
  const best = new Int32Array((snippet.length + 1) * width);
  const paired = new Int32Array((snippet.length + 1) * width);
  for (let row2 = snippet.length - 1; row2 >= 0; row2--) {
    for (let column2 = text.length - 1; column2 >= 0; column2--) {
      const here = row2 * width + column2;
      const next = here + width + 1;
      if (snippet[row2]?.text === text[column2]?.text) {
        paired[here] = 2 + Math.max(best[next] ?? 0, (paired[next] ?? 0) + (paired[next] ? 1 : 0));
      }
      best[here] = Math.max(paired[here] ?? 0, best[here + 1] ?? 0, best[here + width] ?? 0);
    }
  }
  const found = snippet.map(() => null);
  let [row, column] = [0, 0];
  let isBound = false;
  while (row < snippet.length && column < text.length) {
    const here = row * width + column;
    if (paired[here] && (isBound || paired[here] === best[here])) {
      found[row++] = text[column++] ?? null;
      const next = here + width + 1;
      isBound = (paired[next] ?? 0) > 0 && (paired[next] ?? 0) + 1 >= (best[next] ?? 0);
    } else if (best[here] === best[here + 1]) column += 1;
    else row += 1;
  }
  return found;
}
var DELIMITER_ROW = /^[\s>]*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
var BLANK = /^[\s>]*$/;
function escapeInTable(link, text, position) {
  const lines = text.split("\n");
  const { line } = editorPosition(text, position);
  const isDelimiter = (index) => (lines[index] ?? "").includes("|") && DELIMITER_ROW.test(lines[index] ?? "");
  let isInTable = isDelimiter(line + 1);
  for (let index = line; index > 0 && !BLANK.test(lines[index] ?? ""); index--) isInTable ||= isDelimiter(index);
  return isInTable ? link.replace(/(?<!\\)\|/g, "\\|") : link;
}

// src/opening.ts
function whereOf(event) {
  return import_obsidian3.Keymap.isModEvent(event);
}
async function openHit(app, hit, where) {
  const file = fileAt(app, hit.path);
  if (!file) return;
  if (hit.kind !== "note") {
    await openPart(app, file, subpathOf(hit), where);
    return;
  }
  const text = await app.vault.cachedRead(file);
  await openAt(app, file, where, text, hit.line, matches(text, hit));
}
async function openCitation(app, cited, where) {
  const file = fileAt(app, cited.path);
  if (!file) return;
  if (file.extension !== "md") return openPart(app, file, subpathOf(cited), where);
  const text = await app.vault.cachedRead(file);
  const from = text.indexOf(cited.quote, lineStart(text, cited.start_line));
  await openAt(app, file, where, text, cited.start_line, from < 0 ? [] : [{ from, to: from + cited.quote.length }]);
}
async function openPart(app, file, subpath, where) {
  if (subpath && !file.path.includes("#")) await app.workspace.openLinkText(file.path + subpath, "", where);
  else await app.workspace.getLeaf(where).openFile(file, { active: true });
}
function subpathOf({ part }) {
  const page = /^page (\d+)$/.exec(part ?? "")?.[1];
  return page ? `#page=${page}` : "";
}
async function openAt(app, file, where, text, line, spans) {
  const leaf = app.workspace.getLeaf(where);
  const match = { content: text, matches: spans.map((span) => [span.from, span.to]) };
  const eState = { line: line - 1, ...spans.length > 0 && { match } };
  await leaf.openFile(file, { active: true, eState });
  const view = leaf.view;
  if (!(view instanceof import_obsidian3.MarkdownView) || view.getMode() !== "source") return;
  const first = spans[0] ?? { from: lineStart(text, line), to: lineStart(text, line) };
  const from = editorPosition(text, first.from);
  view.editor.setCursor(from);
  view.editor.scrollIntoView({ from, to: editorPosition(text, first.to) }, true);
}
async function openNote(app, path, where) {
  const file = fileAt(app, path);
  if (file) await app.workspace.getLeaf(where).openFile(file, { active: true });
}
function targetEditor(app) {
  const active = app.workspace.activeEditor;
  if (active?.editor) return { editor: active.editor, path: active.file?.path ?? "" };
  const view = app.workspace.getMostRecentLeaf()?.view;
  return view instanceof import_obsidian3.MarkdownView ? { editor: view.editor, path: view.file?.path ?? "" } : null;
}
function linkTo(app, path, sourcePath, subpath = "", alias) {
  const file = app.vault.getAbstractFileByPath(path);
  if (!(file instanceof import_obsidian3.TFile)) return `[[${noteName(path)}]]`;
  return app.fileManager.generateMarkdownLink(file, sourcePath, subpath, alias);
}
function insertLink(app, hit, separator) {
  const target = targetEditor(app);
  if (!target) {
    new import_obsidian3.Notice("Open a note to insert a link");
    return false;
  }
  target.editor.replaceSelection(separator + linkTo(app, hit.path, target.path, subpathOf(hit)));
  return true;
}
async function createNote(app, text, folder, where) {
  const name = fileName(text);
  const problem = nameProblem(name);
  if (problem) {
    new import_obsidian3.Notice(problem);
    return;
  }
  const active = app.workspace.getActiveFile()?.path ?? "";
  const parent = folder ?? app.fileManager.getNewFileParent(active, `${name}.md`).path;
  const path = (0, import_obsidian3.normalizePath)(`${parent}/${name}.md`);
  let file = app.vault.getFileByPath(path);
  try {
    file ??= await app.vault.create(path, "");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    new import_obsidian3.Notice(`${path} was not created: ${reason}`);
    return;
  }
  await app.workspace.getLeaf(where).openFile(file, { active: true });
}
function fileName(text) {
  return text.replace(/[\\/:*?"<>|#^[\]]/g, " ").replace(/\s+/g, " ").replace(/^[.\s]+|[.\s]+$/g, "");
}
var OPERATOR = /(?:^|[\s(])(?:-\S|OR(?:\s|$)|[a-z]+(?:-[a-z]+)*:(?!\/\/)(?:\S|$)|\/.*\/)|["[\]]/;
function isName(query) {
  const open = query.split("(").length - query.split(")").length;
  return fileName(query) !== "" && open === 0 && !OPERATOR.test(query);
}
var MAX_NAME_BYTES = 252;
function nameProblem(name) {
  if (!name) return "A note needs a name";
  const bytes = new TextEncoder().encode(name).length;
  return bytes > MAX_NAME_BYTES ? `The name of a note has at most ${MAX_NAME_BYTES} bytes; this one has ${bytes}` : "";
}
function fileAt(app, path) {
  const file = app.vault.getFileByPath(path);
  if (!file) new import_obsidian3.Notice(`${path} is no longer in the vault`);
  return file;
}

// src/state_box.ts
var import_obsidian5 = require("obsidian");

// src/states.ts
var import_obsidian4 = require("obsidian");
function stateOf(status) {
  switch (status.state) {
    case "degraded":
      return shown("degraded", "The index is not kept up to date", status.detail);
    case "paused": {
      const until = status.paused_until ? ` until ${localTime(status.paused_until)}` : "";
      return {
        ...shown("paused", `Indexing is paused${until}`, `${changes(status.pending)} pending`),
        actions: ["resume"]
      };
    }
    case "building":
      return build("The first index is being built", status);
    case "rebuilding":
      return build("The index is being rebuilt", status);
    case "unusable":
      return shown("degraded", "The index cannot be used", status.detail);
    case "indexing":
      if (status.progress?.stage === "notes") return build("The index is being built", status);
      return shown("pending", `${changes(status.pending)} being indexed`, status.detail);
    default:
      if (status.pending > 0) return shown("pending", `${changes(status.pending)} being indexed`, status.detail);
      if (status.vectors_owed > 0) {
        return shown("pending", "Search by meaning is not complete yet", `${status.vectors_owed} passages to go`);
      }
      if (status.upgrade && !status.detail) return betterVectors(status.upgrade);
      return status.detail ? shown("ready", status.detail, "") : null;
  }
}
function build(title, { progress }) {
  const { notes, total } = progress ?? { notes: 0, total: 0 };
  const detail = total > 0 ? `${grouped(notes)} of ${grouped(total)} notes` : "Reading the vault";
  return { ...shown("building", title, detail), progress: total > 0 ? notes / total : 0 };
}
function betterVectors({ done, total, seconds_left, waits_for }) {
  const share = `Better vectors: ${Math.floor(100 * done / Math.max(1, total))}%`;
  const minutes = Math.ceil(seconds_left / 60);
  const left = `about ${minutes} ${minutes === 1 ? "minute" : "minutes"} of idle time left`;
  return shown("ready", share, waits_for || `${left}; searches are answered meanwhile`);
}
function stateOfError(error, vault, mayStart) {
  if (error instanceof NoDaemonError) return withoutDaemon(error, vault, mayStart);
  if (error instanceof SilentError) return SILENT;
  if (error instanceof RefusedError) return shown("failed", error.message, "");
  return { ...shown("failed", "The daemon does not answer", String(error)), actions: ["retry"] };
}
function withoutDaemon(error, vault, mayStart) {
  const start = commandLine(["indexer", "start", "--vault", vault], import_obsidian4.Platform.isWin);
  if (error.problem) return { ...shown("missing", "Vault Indexer cannot be used as it is", error.problem), actions: ["retry"] };
  if (!error.isKnown) {
    return {
      ...shown("missing", "Vault Indexer is not set up for this vault", "Install the program, then try again."),
      steps: stepsUntil(0),
      commands: [
        { text: "pipx install .", purpose: "In a clone of the vault-indexer repository" },
        { text: start, purpose: "Once for this vault" }
      ],
      actions: ["copy", "retry"]
    };
  }
  const canStart = error.command.length > 0;
  const allow = canStart && !mayStart ? "The plugin may start it, if you allow it." : "";
  const state = error.isNew ? shown("missing", "This vault has no index yet", `The daemon builds one, outside the vault. ${allow}`.trim()) : shown("stopped", "The daemon is not running", allow);
  return {
    ...state,
    steps: stepsUntil(error.isNew ? 1 : 2),
    commands: [{ text: canStart ? commandLine(error.command, import_obsidian4.Platform.isWin) : start, purpose: "Starts the daemon" }],
    actions: canStart ? [mayStart ? "start" : "allow", "copy", "retry"] : ["copy", "retry"]
  };
}
var STEPS = ["Program", "Index of this vault", "Daemon"];
function stepsUntil(done) {
  return STEPS.map((name, at) => ({ name, isDone: at < done }));
}
function indexLine({ notes }) {
  return `${grouped(notes)} ${notes === 1 ? "note" : "notes"}, up to date`;
}
function shown(kind, title, detail) {
  return { kind, title, detail, steps: [], commands: [], actions: [], progress: null };
}
var SILENT = shown("silent", "The daemon does not answer", "The results may be out of date. Trying again.");
function commandLine(words, isWindows) {
  const plain = isWindows ? /^[\w./:=+\\-]+$/ : /^[\w./:=@%+-]+$/;
  const quote2 = isWindows ? "''" : "'\\''";
  const line = words.map((word) => plain.test(word) ? word : `'${word.replace(/'/g, quote2)}'`).join(" ");
  return isWindows && line.startsWith("'") ? `& ${line}` : line;
}
function changes(count) {
  return count === 1 ? "1 change" : `${grouped(count)} changes`;
}
function grouped(count) {
  return count.toLocaleString("en");
}
function localTime(utc) {
  const time = new Date(utc);
  return Number.isNaN(time.getTime()) ? utc : time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

// src/state_box.ts
var POLL_MS = 1e3;
var SILENT_MS = 3e3;
var ICONS = {
  ready: "info",
  missing: "download",
  stopped: "power-off",
  starting: "loader",
  building: "loader",
  paused: "pause",
  degraded: "alert-triangle",
  pending: "clock",
  failed: "alert-circle",
  silent: "alert-circle"
};
var LABELS = {
  copy: "Copy command",
  start: "Start the daemon",
  allow: "Allow and start",
  resume: "Resume indexing",
  retry: "Try again"
};
var StateBox = class extends import_obsidian5.Component {
  constructor(context, parent, changed) {
    super();
    this.context = context;
    this.changed = changed;
    this.el = parent.createDiv({ cls: "vault-indexer-state", attr: { role: "status", "aria-live": "polite" } });
    this.el.hide();
    this.lineEl = parent.createDiv({ cls: "vault-indexer-reason vault-indexer-index-line" });
  }
  context;
  changed;
  el;
  lineEl;
  timer = 0;
  command = [];
  current = null;
  /** Counts starts of the daemon: what was asked before one began or ended tells nothing. */
  starts = 0;
  /** The one request for the state that is under way. */
  checking = null;
  onunload() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.el.remove();
    this.lineEl.remove();
  }
  /** Ask for the state now, and show it. */
  check() {
    this.checking ??= this.askState().finally(() => this.checking = null);
    return this.checking;
  }
  /** Wait for a request, and say so if the daemon leaves it without an answer. */
  async waitFor(request) {
    const timer = window.setTimeout(() => {
      if (this.isLoaded) this.show(SILENT);
    }, SILENT_MS);
    try {
      return await request;
    } finally {
      window.clearTimeout(timer);
      if (this.current?.kind === "silent") void this.check();
    }
  }
  async askState() {
    const { starts } = this;
    try {
      const status = await this.waitFor(this.context.client.status());
      if (!this.isLoaded || starts !== this.starts) return;
      const state = stateOf(status);
      this.show(state);
      if (!state) this.lineEl.setText(indexLine(status));
      this.changed(status);
    } catch (error) {
      if (starts === this.starts) this.showError(error);
    }
  }
  showError(error) {
    if (!this.isLoaded || this.current?.kind === "starting") return;
    const isExplained = this.current?.kind === "failed" && this.current.actions.includes("start");
    if (isExplained && error instanceof NoDaemonError) return;
    if (error instanceof NoDaemonError) this.command = error.command;
    this.show(stateOfError(error, this.context.vaultFolder, this.context.device.mayStart));
  }
  /** Show a state; null hides the box. */
  show(state) {
    window.clearTimeout(this.timer);
    this.timer = 0;
    if (state) this.lineEl.empty();
    if (JSON.stringify(state) !== JSON.stringify(this.current)) this.render(state);
    this.current = state;
    if (state && state.kind !== "ready" && state.kind !== "failed" && state.kind !== "starting") {
      this.timer = window.setTimeout(() => void this.poll(), POLL_MS);
    }
  }
  isLoaded = false;
  onload() {
    this.isLoaded = true;
    this.register(() => this.isLoaded = false);
  }
  async poll() {
    if (this.el.isShown()) await this.check();
    else if (this.isLoaded) this.timer = window.setTimeout(() => void this.poll(), POLL_MS);
  }
  render(state) {
    this.el.empty();
    this.el.toggle(state !== null);
    if (!state) return;
    this.el.dataset["state"] = state.kind;
    const head = this.el.createDiv({ cls: "vault-indexer-state-title" });
    (0, import_obsidian5.setIcon)(head.createSpan({ cls: "vault-indexer-state-icon" }), ICONS[state.kind]);
    head.createSpan({ text: state.title });
    if (state.detail) this.el.createDiv({ cls: "vault-indexer-state-detail", text: state.detail });
    for (const { name, isDone } of state.steps) {
      const step = this.el.createDiv({ cls: "vault-indexer-state-detail vault-indexer-step" });
      (0, import_obsidian5.setIcon)(step.createSpan({ cls: "vault-indexer-state-icon" }), isDone ? "check" : "x");
      step.createSpan({ text: `${name}: ${isDone ? "there" : "missing"}` });
    }
    if (state.progress !== null) new import_obsidian5.ProgressBarComponent(this.el).setValue(state.progress * 100);
    for (const command of state.commands) {
      this.el.createDiv({ cls: "vault-indexer-state-detail", text: `${command.purpose}:` });
      this.el.createEl("code", { cls: "vault-indexer-command", text: command.text });
    }
    const buttons = this.el.createDiv({ cls: "vault-indexer-state-actions" });
    for (const action of state.actions) {
      const cls = action === "copy" || action === "retry" ? "" : "mod-cta";
      const button = buttons.createEl("button", { cls, text: LABELS[action] });
      button.addEventListener("click", () => void this.act(action, state));
    }
  }
  async act(action, state) {
    switch (action) {
      case "copy":
        await navigator.clipboard.writeText(state.commands.map((one) => one.text).join("\n"));
        new import_obsidian5.Notice("Copied");
        return;
      case "allow":
        this.context.setDevice({ mayStart: true });
        await this.start();
        return;
      case "start":
        await this.start();
        return;
      case "resume":
        await this.context.client.resume().catch((error) => this.showError(error));
        await this.check();
        return;
      case "retry":
        this.context.client.forget();
        this.show(null);
        await this.check();
    }
  }
  async start() {
    this.starts += 1;
    this.show(shown("starting", "The daemon is starting", ""));
    const told = (error) => error instanceof Error ? error.message : String(error);
    const problem = await this.context.start(this.command).then(() => null, told);
    this.starts += 1;
    this.checking = null;
    this.show(null);
    if (problem === null) return this.check();
    this.show({ ...shown("failed", "The daemon did not start", problem), actions: ["start", "retry"] });
  }
};

// src/ask_view.ts
var ASK_VIEW = "vault-indexer-ask";
var AskView = class extends import_obsidian6.ItemView {
  constructor(leaf, context) {
    super(leaf);
    this.context = context;
    this.icon = "help-circle";
    this.navigation = false;
  }
  context;
  inputEl;
  askEl;
  stopEl;
  sendingEl;
  answerEl;
  state;
  model = null;
  running = null;
  getViewType() {
    return ASK_VIEW;
  }
  getDisplayText() {
    return "Ask the vault";
  }
  async onOpen() {
    this.contentEl.addClass("vault-indexer-pane", "vault-indexer-ask");
    const field = this.contentEl.createDiv({ cls: "vault-indexer-ask-field vault-indexer-input" });
    this.inputEl = field.createEl("input", {
      cls: "prompt-input",
      type: "text",
      placeholder: "Ask your notes a question",
      attr: { "aria-label": "Question", dir: "auto" }
    });
    this.askEl = field.createEl("button", { text: "Ask" });
    this.stopEl = field.createEl("button", { text: "Stop" });
    this.stopEl.hide();
    this.state = this.addChild(new StateBox(this.context, this.contentEl, () => void 0));
    this.sendingEl = this.contentEl.createDiv({ cls: "vault-indexer-reason" });
    this.answerEl = this.contentEl.createDiv({ cls: "vault-indexer-answer", attr: { "aria-live": "polite" } });
    this.registerDomEvent(this.inputEl, "keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) void this.ask();
    });
    this.registerDomEvent(this.askEl, "click", () => void this.ask());
    this.registerDomEvent(this.stopEl, "click", () => this.stop());
    this.register(() => this.running?.abort());
    return Promise.resolve();
  }
  async onClose() {
    this.contentEl.empty();
    return Promise.resolve();
  }
  focus() {
    this.inputEl.focus();
    this.inputEl.select();
    void this.learnModel();
  }
  /** The model that would write; a daemon that does not name its model is asked for quotes only. */
  async learnModel() {
    try {
      const status = await this.state.waitFor(this.context.client.status());
      this.model = status.language_model ?? null;
    } catch (error) {
      this.state.showError(error);
      return false;
    }
    void this.state.check();
    this.renderSending();
    return true;
  }
  get choice() {
    const [choice, ...key] = this.context.device.askModel.split(" ");
    return this.model && key.join(" ") === keyOf(this.model) ? choice : null;
  }
  choose(model, choice) {
    this.context.setDevice({ askModel: `${choice} ${keyOf(model)}` });
    this.renderSending();
  }
  /** Say what is sent where. */
  renderSending() {
    const { model, choice } = this;
    this.sendingEl.empty();
    if (!model) {
      this.sendingEl.setText("Answers are sentences of your notes. Nothing is sent to a language model.");
      return;
    }
    this.sendingEl.setText(choice === "yes" ? sentTo(model) : "Answers are sentences of your notes. Nothing is sent.");
    const other = choice === "yes" ? "no" : "yes";
    if (!choice) return;
    const text = other === "no" ? "Only quote my notes" : `Let ${model.name} write them`;
    this.sendingEl.createEl("button", { text }).addEventListener("click", () => this.choose(model, other));
  }
  async ask() {
    const question = this.inputEl.value.trim();
    if (!question) return;
    this.stop();
    if (!await this.learnModel()) return;
    if (this.model && !this.choice) this.renderChoice(question, this.model);
    else await this.follow(question, this.choice === "yes");
  }
  async follow(question, usesModel) {
    const running = new AbortController();
    this.running = running;
    this.showBusy(true);
    this.answerEl.empty();
    const sentencesEl = this.answerEl.createDiv();
    const noteEl = this.answerEl.createDiv({ cls: "vault-indexer-reason", text: "Searching\u2026" });
    const arrived = [];
    let answer = null;
    try {
      await this.context.client.ask(question, usesModel, running.signal, ({ event, data }) => {
        if (event === "error") throw new RefusedError(data.message, 500);
        if (event === "answer") answer = data;
        else if (event === "sentence") {
          arrived.push(data);
          sentencesEl.empty();
          this.renderSentences(sentencesEl, arrived);
        } else noteEl.setText(usesModel ? `${this.model?.name ?? ""} reads ${data.passages.length} passages\u2026` : "\u2026");
      });
      if (!answer) throw new RefusedError("The daemon ended before the answer was complete", 0);
      this.renderAnswer(question, answer);
    } catch (error) {
      if (running.signal.aborted) noteEl.setText("Stopped. The answer is not complete.");
      else if (error instanceof RefusedError) noteEl.setText(error.message);
      else {
        noteEl.empty();
        this.state.showError(error);
      }
    } finally {
      if (this.running === running) this.showBusy(false);
    }
  }
  stop() {
    this.running?.abort();
    this.showBusy(false);
  }
  showBusy(isBusy) {
    this.stopEl.toggle(isBusy);
    this.askEl.toggle(!isBusy);
    this.answerEl.setAttr("aria-busy", String(isBusy));
  }
  /** Before the first question to a model: what would be sent where. Nothing is, until that is chosen. */
  renderChoice(question, model) {
    this.answerEl.empty();
    const box = this.answerEl.createDiv({ cls: "vault-indexer-state", attr: { role: "region", "aria-label": "Before the first question" } });
    box.createDiv({ text: sentTo(model) });
    const detail = "Notes that ask.never_send names are not sent. Each sentence of the answer is checked against your notes.";
    box.createDiv({ cls: "vault-indexer-state-detail", text: detail });
    const buttons = box.createDiv({ cls: "vault-indexer-state-actions" });
    const prompt = box.createEl("pre", { cls: "vault-indexer-command" });
    const add = (text, action) => buttons.createEl("button", { text }).addEventListener("click", () => void action());
    const go = (choice) => {
      this.choose(model, choice);
      return this.follow(question, choice === "yes");
    };
    add(`Send and let ${model.name} write`, () => go("yes"));
    add("Only quote my notes, send nothing", () => go("no"));
    add("Show what would be sent", async () => {
      const shown2 = await this.context.client.promptOf(question).catch((error) => String(error));
      prompt.setText(shown2 || "Nothing: no passage is near enough to this question.");
    });
  }
  renderAnswer(question, answer) {
    const el = this.answerEl;
    el.empty();
    el.createDiv({ cls: "vault-indexer-reason", text: kindOf(answer) });
    this.renderSentences(el, answer.sentences);
    const { missing_words: missing, notices, dropped } = answer;
    for (const text of [...missing.length > 0 ? [`No note contains: ${missing.join(", ")}`] : [], ...notices]) {
      el.createDiv({ cls: "vault-indexer-reason", text });
    }
    const sources = sourcesOf(answer.sentences);
    if (sources.length > 0) {
      const list = el.createEl("ol", { cls: "vault-indexer-sources", attr: { "aria-label": "Sources" } });
      for (const cited of sources) this.renderSource(list, cited);
    }
    const others = passagesBeside(answer);
    if (others.length > 0) {
      const parent = sources.length > 0 ? fold(el, `Also read (${others.length})`) : el;
      for (const hit of others) this.renderPassage(parent, hit);
    }
    if (dropped.length > 0) {
      const list = fold(el, `Left out (${dropped.length})`).createEl("ul");
      for (const { text, reason } of dropped) list.createEl("li", { text: `${text} (${reason})`, attr: { dir: "auto" } });
    }
    const buttons = el.createDiv({ cls: "vault-indexer-state-actions" });
    buttons.createEl("button", { text: "Copy with links" }).addEventListener("click", () => {
      void navigator.clipboard.writeText(this.markdown(question, answer, "")).then(() => new import_obsidian6.Notice("Copied"));
    });
    buttons.createEl("button", { text: "Insert into the note" }).addEventListener("click", () => this.insert(question, answer));
  }
  renderSentences(parent, sentences) {
    const numbers = sourcesOf(sentences).map(({ id }) => id);
    for (const { text, citations, unchecked } of sentences) {
      const el = parent.createEl("p", { cls: "vault-indexer-sentence", text: `${text} `, attr: { dir: "auto" } });
      for (const cited of citations) {
        const number = numbers.indexOf(cited.id) + 1;
        const attr = { "aria-label": `Source ${number}: ${placeName(cited)}`, href: "#" };
        const link = el.createEl("a", { cls: "vault-indexer-cite", text: String(number), attr });
        this.onOpenClick(link, (event) => void openCitation(this.app, cited, whereOf(event)));
      }
      if (unchecked.length > 0) el.createSpan({ cls: "vault-indexer-reason", text: ` Not in the notes: ${unchecked.join(", ")}` });
    }
  }
  renderSource(list, cited) {
    const item = list.createEl("li", { attr: { dir: "auto" } });
    const link = item.createEl("a", { text: placeName(cited), attr: { href: "#" } });
    this.onOpenClick(link, (event) => void openCitation(this.app, cited, whereOf(event)));
    item.createEl("blockquote", { cls: "vault-indexer-snippet", text: cited.quote });
  }
  renderPassage(parent, hit) {
    const el = parent.createDiv({ cls: "vault-indexer-passage", attr: { dir: "auto" } });
    const link = el.createEl("a", { text: placeName(hit), attr: { href: "#" } });
    this.onOpenClick(link, (event) => void openHit(this.app, hit, whereOf(event)));
    const snippet = el.createDiv({ cls: "vault-indexer-snippet" });
    renderSnippet(snippet, hit.snippet, hit.marks);
  }
  onOpenClick(link, open) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      open(event);
    });
  }
  markdown(question, answer, sourcePath) {
    return asMarkdown(
      question,
      answer,
      ({ path }, subpath, text) => linkTo(this.app, path, sourcePath, subpath, text).replace(/^!/, "")
    );
  }
  /** One transaction of the editor, so that one undo takes it back. */
  insert(question, answer) {
    const target = targetEditor(this.app);
    if (target) target.editor.replaceSelection(`${this.markdown(question, answer, target.path)}
`);
    else new import_obsidian6.Notice("Open a note to insert the answer");
  }
};
function keyOf({ name, host }) {
  return `${name} ${host}`;
}
function fold(parent, title) {
  const details = parent.createEl("details");
  details.createEl("summary", { text: title });
  return details;
}

// src/context.ts
var import_obsidian9 = require("obsidian");

// src/discovery.ts
var import_obsidian7 = require("obsidian");
var LOOPBACK = /^http:\/\/127\.0\.0\.1:\d{1,5}(\/vault\/[a-z0-9-]{1,40})?$/;
function stateFolder({ platform, home, env }) {
  if (platform === "win32") {
    return `${env["LOCALAPPDATA"] ?? `${home}\\AppData\\Local`}\\vault-indexer\\vault-indexer`;
  }
  const named = env["XDG_STATE_HOME"]?.trim() ?? "";
  if (named.startsWith("/")) return `${named}/vault-indexer`;
  return platform === "darwin" ? `${home}/Library/Application Support/vault-indexer` : `${home}/.local/state/vault-indexer`;
}
function parseDaemon(text) {
  const found = parseObject(text);
  const { pid, url, token } = found;
  if (typeof pid !== "number" || typeof url !== "string" || typeof token !== "string") return null;
  return LOOPBACK.test(url) ? { pid, url, token } : null;
}
function parseCommand(text) {
  const { command } = parseObject(text);
  if (!Array.isArray(command) || !command.every((part) => typeof part === "string")) return [];
  return /^([/\\]|[A-Za-z]:[/\\])/.test(command[0] ?? "") ? command : [];
}
function parseObject(text) {
  try {
    const found = JSON.parse(text);
    return typeof found === "object" && found !== null ? found : {};
  } catch {
    return {};
  }
}
async function discover(vaultFolder, indexFolder) {
  if (!import_obsidian7.Platform.isDesktop) return { info: null, command: [] };
  const separator = vaultFolder.includes("\\") ? "\\" : "/";
  const folder = indexFolder || await readSignpost(vaultFolder, separator);
  if (!folder) return { info: null, command: [] };
  const [daemonFile, startFile] = [`${folder}${separator}daemon.json`, `${folder}${separator}start.json`];
  if (!await isOwnFolder(folder)) {
    const problem2 = await distrust(folder) || indexFolder && noIndexIn(folder);
    return { info: null, command: [], ...problem2 && { problem: problem2 } };
  }
  const daemon = await readText(daemonFile);
  const start = await readText(startFile);
  const command = parseCommand(daemon);
  const info = parseDaemon(daemon);
  const runs = info !== null && await provesToken(info);
  const known = command.length > 0 ? command : parseCommand(start);
  const nothing = !daemon && !start && indexFolder ? noIndexIn(folder) : "";
  const problem = runs ? "" : await distrust(daemonFile) || await distrust(startFile) || nothing;
  return { info: runs ? info : null, command: known, ...problem && { problem } };
}
function noIndexIn(folder) {
  return `The setting \u201CIndex folder\u201D names a folder without an index: ${folder}`;
}
async function distrust(path) {
  if (!import_obsidian7.Platform.isDesktop) return "";
  const files = await Promise.resolve().then(() => __toESM(require("fs/promises"), 1));
  const status = await files.lstat(path).catch(() => null);
  if (!status || !status.isSymbolicLink() && isOwn(status)) return "";
  const reason = status.isSymbolicLink() ? "it is a link" : "another user owns it or may write to it";
  return `Not used, because ${reason}: ${path}`;
}
async function provesToken({ pid, url, token }) {
  const { origin, port } = new URL(url);
  const { subtle } = window.crypto;
  const challenge = hexadecimal(window.crypto.getRandomValues(new Uint8Array(16)));
  try {
    const answer = await (0, import_obsidian7.requestUrl)({ url: `${origin}/v1/proof?challenge=${challenge}`, throw: false });
    const text = new TextEncoder();
    const hash = { name: "HMAC", hash: "SHA-256" };
    const key = await subtle.importKey("raw", text.encode(token), hash, false, ["sign"]);
    const proof = hexadecimal(new Uint8Array(await subtle.sign("HMAC", key, text.encode(`${port}:${challenge}`))));
    const found = answer.json;
    return answer.status === 200 && found.proof === proof && (found.pid ?? pid) === pid;
  } catch {
    return false;
  }
}
function hexadecimal(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
async function readSignpost(vaultFolder, separator) {
  if (!import_obsidian7.Platform.isDesktop) return "";
  const files = await Promise.resolve().then(() => __toESM(require("fs/promises"), 1));
  const os = await Promise.resolve().then(() => __toESM(require("os"), 1));
  const real = await files.realpath(vaultFolder).catch(() => vaultFolder);
  const state = stateFolder({ platform: os.platform(), home: os.homedir(), env: process.env });
  const named = await readText([state, "daemons", await digest(real)].join(separator));
  return /^([/\\]|[A-Za-z]:[/\\])/.test(named) ? named : "";
}
async function digest(path) {
  const hash = await window.crypto.subtle.digest("SHA-256", new TextEncoder().encode(path));
  return hexadecimal(new Uint8Array(hash)).slice(0, 16);
}
async function readText(path) {
  if (!import_obsidian7.Platform.isDesktop) return "";
  const files = await Promise.resolve().then(() => __toESM(require("fs/promises"), 1));
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = files.constants;
  const file = await files.open(path, O_RDONLY | (O_NOFOLLOW || 0) | (O_NONBLOCK || 0)).catch(() => null);
  if (!file) return "";
  try {
    const status = await file.stat();
    return status.isFile() && isOwn(status) ? await file.readFile("utf8") : "";
  } catch {
    return "";
  } finally {
    await file.close();
  }
}
var SYSTEM_FOLDERS = ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"];
async function findProgram() {
  let problem = "";
  if (!import_obsidian7.Platform.isDesktop) return { program: "", problem };
  const files = await Promise.resolve().then(() => __toESM(require("fs/promises"), 1));
  const os = await Promise.resolve().then(() => __toESM(require("os"), 1));
  const isWindows = os.platform() === "win32";
  const listed = (process.env["PATH"] ?? "").split(isWindows ? ";" : ":").map((folder) => folder.replace(/[/\\]$/, ""));
  const others = isWindows ? [] : [`${os.homedir()}/.local/bin`, ...SYSTEM_FOLDERS];
  for (const folder of /* @__PURE__ */ new Set([...listed, ...others])) {
    const path = isWindows ? `${folder}\\indexer.exe` : `${folder}/indexer`;
    if (!/^([/\\]|[A-Za-z]:[/\\])/.test(folder)) continue;
    const real = await files.realpath(path).catch(() => "");
    const status = real ? await files.stat(real).catch(() => null) : null;
    if (!status?.isFile()) continue;
    const place = real.replace(/[/\\][^/\\]*$/, "");
    if (isOwn(status) && await isOwnFolder(place)) return { program: path, problem: "" };
    problem ||= await distrust(isOwn(status) ? place : real);
  }
  return { program: "", problem };
}
async function isOwnFolder(path) {
  if (!import_obsidian7.Platform.isDesktop) return false;
  const files = await Promise.resolve().then(() => __toESM(require("fs/promises"), 1));
  const status = await files.stat(path).catch(() => null);
  return status !== null && isOwn(status);
}
function isOwn({ uid, mode }) {
  const user = process.geteuid?.();
  return user === void 0 || (uid === user || uid === 0) && (mode & 18) === 0;
}

// src/launcher.ts
var import_obsidian8 = require("obsidian");
var START_MS = 12e4;
async function startDaemon(command) {
  const [program, ...parameters] = command;
  if (!import_obsidian8.Platform.isDesktop || program === void 0) throw new Error("The start command is not known");
  const { execFile } = await Promise.resolve().then(() => __toESM(require("child_process"), 1));
  const cwd = program.replace(/[/\\][^/\\]*$/, "/");
  await new Promise((resolve, reject) => {
    execFile(program, parameters, { cwd, timeout: START_MS, windowsHide: true }, (error, _output, complaint) => {
      if (error) reject(new Error(complaint.trim() || error.message));
      else resolve();
    });
  });
}

// src/recent.ts
var MAX_RECENT = 20;
function remember(recent, query) {
  const text = query.trim();
  if (!text) return [...recent];
  return [text, ...recent.filter((one) => one !== text)].slice(0, MAX_RECENT);
}

// src/context.ts
var DEFAULTS = {
  limit: 30,
  keepRecent: true,
  hideLinked: false,
  hideSameFolder: false,
  pinned: {},
  hidden: {}
};
var DEVICE_DEFAULTS = { mayStart: false, indexFolder: "", recent: [], askModel: "" };
var DEVICE_KEY = "vault-indexer";
var Context = class {
  constructor(app, save) {
    this.app = app;
    this.save = save;
    this.client = new DaemonClient(() => this.discover());
  }
  app;
  save;
  client;
  settings = { ...DEFAULTS };
  /** The query of the hit that was opened last. */
  lastQuery = "";
  get vaultFolder() {
    const adapter = this.app.vault.adapter;
    return adapter instanceof import_obsidian9.FileSystemAdapter ? adapter.getBasePath() : "";
  }
  /** The daemon of the vault. Where it never had one, the command is that of the installed program, if there is one. */
  async discover() {
    const found = await discover(this.vaultFolder, this.device.indexFolder);
    if (found.info || found.command.length > 0 || found.problem || this.device.indexFolder) return found;
    const { program, problem } = await findProgram();
    if (!program) return { ...found, problem };
    return { ...found, command: [program, "start", "--vault", this.vaultFolder], isNew: true };
  }
  get device() {
    const stored = this.app.loadLocalStorage(DEVICE_KEY);
    return { ...DEVICE_DEFAULTS, ...stored };
  }
  setDevice(changed) {
    this.app.saveLocalStorage(DEVICE_KEY, { ...this.device, ...changed });
    if (changed.indexFolder !== void 0) this.client.forget();
  }
  async change(changed) {
    this.settings = { ...this.settings, ...changed };
    await this.save(this.settings);
  }
  /** Pin or hide a note beside another one, or take that back. */
  async mark(kind, note, path, isOn) {
    const { [note]: old = [], ...others } = this.settings[kind];
    const paths = [...old.filter((one) => one !== path), ...isOn ? [path] : []];
    await this.change({ [kind]: paths.length > 0 ? { ...others, [note]: paths } : others });
  }
  /** A file has another path: what is pinned and hidden follows it. */
  async renamePath(from, to) {
    const renamed = (path) => path === from ? to : path;
    const moved = (marks) => Object.fromEntries(Object.entries(marks).map(([note, paths]) => [renamed(note), paths.map(renamed)]));
    const [pinned, hidden] = [moved(this.settings.pinned), moved(this.settings.hidden)];
    const isSame = JSON.stringify([pinned, hidden]) === JSON.stringify([this.settings.pinned, this.settings.hidden]);
    if (!isSame) await this.change({ pinned, hidden });
  }
  rememberQuery(query) {
    if (this.settings.keepRecent) this.setDevice({ recent: remember(this.device.recent, query) });
  }
  /** Keep that a hit was opened. What goes wrong with that is no matter for who wants to read. */
  recordClick(query, path, rank) {
    if (query && rank > 0) this.client.recordClick(query, path, rank).catch(() => void 0);
  }
  /** Start the daemon. Rejects without the user's permission, and with what the command says if it fails. */
  async start(command) {
    if (!this.device.mayStart) throw new Error("Starting the daemon is not allowed");
    await startDaemon(command);
    this.client.forget();
  }
};

// src/note_matches.ts
var import_obsidian10 = require("obsidian");

// src/scopes.ts
function operator(scope) {
  switch (scope.kind) {
    case "folder":
      return `path:/^${escapeExpression(scope.folder)}\\//`;
    case "file":
      return `path:/^${escapeExpression(scope.path)}$/`;
    case "tag":
      return `tag:#${scope.tag.replace(/^#/, "")}`;
    case "property":
      return scope.value === void 0 ? `[${scope.name}]` : `[${scope.name}:${quote(scope.value)}]`;
  }
}
function label(scope) {
  switch (scope.kind) {
    case "folder":
      return `${scope.folder}/`;
    case "file":
      return scope.path;
    case "tag":
      return `#${scope.tag.replace(/^#/, "")}`;
    case "property":
      return scope.value === void 0 ? scope.name : `${scope.name}: ${scope.value}`;
  }
}
function scopedQuery(scopes, typed) {
  return [...scopes.map(operator), typed.trim()].filter(Boolean).join(" ");
}
function quote(text) {
  return `"${text.replace(/\\/g, "\\\\").replace(/"/g, '\\"')}"`;
}
function escapeExpression(text) {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s/g, "\\s");
}

// src/note_matches.ts
var MAX_PLACES = 200;
var NoteMatches = class {
  constructor(context, show) {
    this.context = context;
    this.show = show;
  }
  context;
  show;
  asked = "";
  spans = [];
  /** Whether there is a query, and a note to look in. */
  get isPossible() {
    return this.context.lastQuery !== "" && this.view !== null;
  }
  get view() {
    const view = this.context.app.workspace.getMostRecentLeaf()?.view;
    return view instanceof import_obsidian10.MarkdownView && view.file ? view : null;
  }
  /** Go to the place behind the cursor, or the one before it; behind the last comes the first. */
  async step(by) {
    const { view } = this;
    const file = view?.file;
    if (!view || !file) return;
    const { app, lastQuery: query, client } = this.context;
    const text = await app.vault.cachedRead(file);
    const asked = JSON.stringify([query, file.path, text]);
    if (asked !== this.asked) {
      const only = operator({ kind: "file", path: file.path });
      const answer = await client.search(`${only} (${query})`, MAX_PLACES, "chunk").catch((error) => error);
      if (!isAnswer(answer)) {
        new import_obsidian10.Notice(answer instanceof Error ? answer.message : String(answer));
        return;
      }
      this.spans = placesOf(text, answer.results);
      this.asked = asked;
    }
    const { spans } = this;
    if (spans.length === 0) {
      this.show("");
      new import_obsidian10.Notice(`No place in ${file.basename} matches \u201C${query}\u201D`);
      return;
    }
    const cursor = view.editor.getCursor();
    const here = lineStart(text, cursor.line + 1) + cursor.ch;
    const next = by > 0 ? spans.findIndex(({ from }) => from > here) : spans.findLastIndex(({ from }) => from < here);
    const at = next >= 0 ? next : by > 0 ? 0 : spans.length - 1;
    const span = spans[at];
    if (!span) return;
    await openAt(app, file, false, text, editorPosition(text, span.from).line + 1, [span]);
    this.show(`${at + 1} of ${spans.length} \xB7 ${query}`);
  }
};
function isAnswer(answer) {
  return typeof answer === "object" && answer !== null && "results" in answer;
}
function placesOf(text, hits) {
  const marked = hits.flatMap((hit) => segments(hit.snippet, hit.marks)).filter((one) => one.marked);
  const found = occurrences(text, marked.map((one) => one.text));
  if (found.length > 0) return found;
  const starts = new Set(hits.map(({ line }) => lineStart(text, line)));
  return [...starts].sort((one, other) => one - other).map((from) => ({ from, to: from }));
}

// src/related_view.ts
var import_obsidian15 = require("obsidian");

// src/mentions.ts
var import_obsidian11 = require("obsidian");
var UNDO_MS = 1e4;
function mentionSpan(text, mention) {
  const skipped = text.startsWith("\uFEFF") ? 1 : 0;
  for (const offset of /* @__PURE__ */ new Set([skipped, 0])) {
    const from = utf16Index(text, mention.start_pos + offset);
    const to = utf16Index(text, mention.end_pos + offset);
    const wanted = segmentOf(mention);
    if (to > from && text.slice(from, to) === wanted) return { from, to };
  }
  return null;
}
function segmentOf(mention) {
  const [first = 0, last = 0] = mention.marks[0] ?? [];
  return mention.snippet.slice(utf16Index(mention.snippet, first), utf16Index(mention.snippet, last));
}
function treeSegments(nodes, marked = false) {
  return nodes.flatMap((node) => typeof node === "string" ? { text: node, marked } : node.c ? treeSegments(node.c, marked || node.t === "mark") : { text: node.text ?? " ", marked });
}
function renderMention(el, { snippet, marks, tree }) {
  renderSegments(el, tree?.length ? treeSegments(tree) : segments(snippet, marks));
}
function linkText(app, target, mention) {
  const words = segmentOf(mention);
  if (words === target.basename) return linkTo(app, target.path, mention.path);
  return app.fileManager.generateMarkdownLink(target, mention.path, void 0, words);
}
async function linkMention(app, target, mention) {
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
function openEditor(app, file) {
  for (const leaf of app.workspace.getLeavesOfType("markdown")) {
    const view = leaf.view;
    if (view instanceof import_obsidian11.MarkdownView && view.file?.path === file.path && view.getMode() === "source") {
      return view.editor;
    }
  }
  return null;
}
function linkInEditor(editor, saved, found, words, link) {
  const holds = (from2, to2) => editor.getRange(from2, to2) === words;
  const from = editorPosition(saved, found.from);
  const to = editorPosition(saved, found.to);
  if (!holds(from, to)) return false;
  editor.replaceRange(link, from, to);
  return true;
}
async function linkInFile(app, file, mention, link) {
  let at = null;
  await app.vault.process(file, (text) => {
    at = mentionSpan(text, mention);
    return at ? text.slice(0, at.from) + link + text.slice(at.to) : text;
  });
  const done = at;
  if (!done) return false;
  const words = segmentOf(mention);
  const message = createFragment();
  message.appendText(`Linked in ${file.basename}. `);
  const notice = new import_obsidian11.Notice(message, UNDO_MS);
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

// src/search_panel.ts
var import_obsidian14 = require("obsidian");

// src/choosers.ts
var import_obsidian12 = require("obsidian");
var MAX_VALUES = 2e3;
var ScopeModal = class extends import_obsidian12.FuzzySuggestModal {
  constructor(app, chosen) {
    super(app);
    this.chosen = chosen;
    this.setPlaceholder("Search only in a folder, tag or property");
  }
  chosen;
  getItems() {
    return allScopes(this.app);
  }
  getItemText(scope) {
    return label(scope);
  }
  onChooseItem(scope) {
    this.chosen(scope);
  }
};
var NoteModal = class extends import_obsidian12.FuzzySuggestModal {
  constructor(app, chosen) {
    super(app);
    this.chosen = chosen;
    this.setPlaceholder("Which note is missing?");
  }
  chosen;
  getItems() {
    return this.app.vault.getMarkdownFiles();
  }
  getItemText(file) {
    return file.path;
  }
  onChooseItem(file) {
    this.chosen(file);
  }
};
function allScopes(app) {
  const folders = app.vault.getAllFolders(false).map((folder) => ({ kind: "folder", folder: folder.path }));
  const tags = /* @__PURE__ */ new Set();
  const properties = /* @__PURE__ */ new Map();
  for (const file of app.vault.getMarkdownFiles()) {
    const cache = app.metadataCache.getFileCache(file);
    if (!cache) continue;
    for (const tag of (0, import_obsidian12.getAllTags)(cache) ?? []) tags.add(tag);
    for (const [name, value] of Object.entries(cache.frontmatter ?? {})) {
      if (name === "position") continue;
      const values = properties.get(name) ?? /* @__PURE__ */ new Set();
      for (const one of Array.isArray(value) ? value : [value]) {
        if (typeof one === "string" && one && values.size < MAX_VALUES) values.add(one);
      }
      properties.set(name, values);
    }
  }
  return [
    ...folders,
    ...[...tags].sort().map((tag) => ({ kind: "tag", tag })),
    ...[...properties].flatMap(([name, values]) => [
      { kind: "property", name },
      ...[...values].map((value) => ({ kind: "property", name, value }))
    ])
  ];
}

// src/completions.ts
var COMPLETABLE = /(?:^|[\s(])-?(?:[a-z][a-z-]+|[a-z][a-z-]*:(?:"[^"]*|\S*)|\[[^\]]*|#\S*)$/i;
var LIMIT = 8;
var CompletionList = class {
  constructor(parent, inputEl, client, accepted) {
    this.inputEl = inputEl;
    this.client = client;
    this.accepted = accepted;
    this.el = parent.createDiv({ cls: "vault-indexer-completions", attr: { role: "listbox", "aria-label": "Completions" } });
    this.show([]);
  }
  inputEl;
  client;
  accepted;
  el;
  items = [];
  replaces = "";
  /** Ask how what stands before the cursor goes on. */
  async update() {
    const before = this.before;
    const asked = COMPLETABLE.test(before) ? this.client.complete(before, LIMIT).catch(() => null) : null;
    const found = await asked;
    if (before !== this.before) return;
    this.replaces = found?.replaces ?? "";
    this.show((found?.items ?? []).filter(({ text }) => text !== this.replaces));
  }
  /** Whether there was a completion to accept. */
  acceptFirst() {
    const first = this.items[0];
    if (first) this.accept(first);
    return first !== void 0;
  }
  get before() {
    return this.inputEl.value.slice(0, this.inputEl.selectionStart ?? void 0);
  }
  show(items) {
    this.items = items;
    this.el.empty();
    this.el.toggle(items.length > 0);
    for (const item of items) {
      const row = this.el.createDiv({ cls: "vault-indexer-completion", attr: { role: "option" } });
      row.createSpan({ text: item.text, attr: { dir: "auto" } });
      const count = `${item.count} ${item.count === 1 ? "note" : "notes"}`;
      row.createSpan({ cls: "vault-indexer-reason", text: item.help || (item.count > 0 ? count : "") });
      row.addEventListener("mousedown", (event) => {
        event.preventDefault();
        this.accept(item);
      });
    }
  }
  accept({ text }) {
    const cursor = this.before.length;
    const end = cursor + restOfTerm(this.replaces, this.inputEl.value.slice(cursor)).length;
    this.inputEl.setRangeText(text, cursor - this.replaces.length, end, "end");
    this.show([]);
    this.accepted();
  }
};
function restOfTerm(start, after) {
  const isQuoted = start.split('"').length % 2 === 0 && after.split('"').length % 2 === 0;
  const end = start.startsWith("[") ? /^[^[\]]*\]/ : isQuoted ? /^[^"]*"/ : /^[^\s()"]*/;
  return end.exec(after)?.[0] ?? "";
}

// src/sequence.ts
var Sequence = class {
  asked = 0;
  shown = 0;
  /** The number of a new request. */
  next() {
    return ++this.asked;
  }
  /** Whether the answer to this request is newer than all that were accepted; it counts as accepted then. */
  accept(number) {
    if (number <= this.shown) return false;
    this.shown = number;
    return true;
  }
  /** Whether a request is the last one made. */
  isLatest(number) {
    return number === this.asked;
  }
  /** Drop all answers still to come. */
  dropAll() {
    this.shown = this.asked;
  }
};

// src/live_query.ts
var MAX_REQUESTS = 2;
var LiveQuery = class {
  constructor(exchange) {
    this.exchange = exchange;
  }
  exchange;
  sequence = new Sequence();
  running = 0;
  waiting = null;
  isAnswered = true;
  /** Whether the answer to the newest query is still to come. */
  get isBusy() {
    return !this.isAnswered;
  }
  ask(query) {
    this.isAnswered = false;
    if (this.running < MAX_REQUESTS) void this.run(query);
    else this.waiting = query;
  }
  /** Forget the query and all answers still to come. */
  drop() {
    this.sequence.dropAll();
    this.waiting = null;
    this.isAnswered = true;
  }
  async run(query) {
    const number = this.sequence.next();
    this.running += 1;
    try {
      const answer = await this.exchange.ask(query);
      if (this.accept(number)) this.exchange.show(answer, query);
    } catch (error) {
      if (this.accept(number)) this.exchange.fail(error);
    } finally {
      this.running -= 1;
    }
    const next = this.waiting;
    this.waiting = null;
    if (next !== null) void this.run(next);
  }
  accept(number) {
    if (!this.sequence.accept(number)) return false;
    if (this.sequence.isLatest(number) && this.waiting === null) this.isAnswered = true;
    return true;
  }
};

// src/result_list.ts
var import_obsidian13 = require("obsidian");

// src/groups.ts
function copyCount(copies) {
  return `and ${copies.length} ${copies.length === 1 ? "copy" : "copies"}`;
}
function groupByNote(hits) {
  const groups = /* @__PURE__ */ new Map();
  for (const hit of hits) {
    const { path, title, language, copies } = hit;
    const group = groups.get(path);
    if (group) group.hits.push(hit);
    else groups.set(path, { path, title, language, copies: copies ?? [], hits: [hit] });
  }
  return [...groups.values()];
}

// src/result_list.ts
var ResultList = class _ResultList {
  constructor(parent, inputEl, events, owner) {
    this.inputEl = inputEl;
    this.events = events;
    const id = `vault-indexer-results-${++_ResultList.made}`;
    const attr = { id, role: "listbox", "aria-label": "Results" };
    this.el = parent.createDiv({ cls: "vault-indexer-results prompt-results", attr });
    this.inputEl.setAttrs({ role: "combobox", "aria-expanded": "true", "aria-controls": id });
    owner.registerDomEvent(this.el, "mousedown", (event) => {
      if (event.button === 1) event.preventDefault();
    });
  }
  inputEl;
  events;
  el;
  rows = [];
  selected = -1;
  isUnfolded = false;
  static made = 0;
  get current() {
    return this.rows[this.selected]?.row ?? null;
  }
  /**
   * Show hits by note, and an offer to create a note of that name, which is never selected at first. The notes without one of the first `likely` hits
   * are folded into a row. `keeps`: the selected hit stays selected, and the row stays unfolded.
   */
  showHits(hits, likely, creates, keeps) {
    const before = keeps && this.current?.kind === "hit" ? placeOf(this.current.hit) : "";
    this.isUnfolded &&= keeps;
    this.clear();
    const groups = groupByNote(hits);
    const first = groupByNote(hits.slice(0, likely)).length;
    this.addGroups(groups.slice(0, first));
    const others = groups.slice(first);
    const at = this.rows.length;
    const unfold = () => {
      this.isUnfolded = true;
      this.showHits(hits, likely, creates, true);
      this.select(at);
    };
    if (this.isUnfolded) this.addGroups(others);
    else if (others.length > 0) this.addAction({ kind: "others", unfold }, "chevron-down", `Less likely (${others.length})`);
    if (creates) this.addAction({ kind: "create", text: creates }, "file-plus", `Create note \u201C${creates}\u201D`);
    const again = this.rows.findIndex(({ row }) => row.kind === "hit" && placeOf(row.hit) === before);
    this.select(this.rows[0]?.row.kind === "create" ? -1 : Math.max(again, 0));
  }
  addGroups(groups) {
    for (const group of groups) {
      const attr = { role: "group", "aria-label": group.title, "data-path": group.path };
      const groupEl = this.el.createDiv({ cls: "vault-indexer-group", attr });
      const head = groupEl.createDiv({ cls: "vault-indexer-note" });
      const ofNote = textAttr(group.language);
      head.createSpan({ cls: "vault-indexer-note-title", text: group.title, attr: ofNote });
      const place = noteName(group.path) === group.title ? folderOf(group.path) : group.path;
      head.createSpan({ cls: "vault-indexer-note-folder", text: place, attr: textAttr("") });
      if (group.copies.length > 0) {
        const attr2 = { title: group.copies.join("\n") };
        head.createSpan({ cls: "vault-indexer-note-folder", text: copyCount(group.copies), attr: attr2 });
      }
      for (const hit of group.hits) this.addHit(groupEl, hit);
    }
  }
  showRecent(queries) {
    this.clear();
    for (const text of queries) this.addAction({ kind: "recent", text }, "history", text);
    this.select(queries.length > 0 ? 0 : -1);
  }
  /** Whether the rows are those of an earlier query, and the answer to the newest is under way. */
  setOld(isOld) {
    this.el.toggleClass("vault-indexer-old", isOld);
    this.el.setAttr("aria-busy", String(isOld));
  }
  clear() {
    this.el.empty();
    this.rows = [];
    this.select(-1);
  }
  /** Select the next row, or the one before; behind the last comes the first. */
  move(step) {
    const count = this.rows.length;
    if (count > 0) this.select((this.selected + step + count) % count);
  }
  /** Show or hide why the selected hit is there. */
  async toggleWhy() {
    const shown2 = this.rows[this.selected];
    if (shown2?.row.kind === "hit") await this.why(shown2.el, shown2.row.hit);
  }
  select(index) {
    this.rows[this.selected]?.el.removeClass("is-selected");
    this.rows[this.selected]?.el.setAttr("aria-selected", "false");
    this.selected = index;
    const el = this.rows[index]?.el;
    if (!el) {
      this.inputEl.removeAttribute("aria-activedescendant");
      return;
    }
    el.addClass("is-selected");
    el.setAttr("aria-selected", "true");
    this.inputEl.setAttr("aria-activedescendant", el.id);
    el.scrollIntoView({ block: "nearest" });
  }
  add(parent, row, cls) {
    const index = this.rows.length;
    const attr = { id: `${this.el.id}-${index}`, role: "option", "aria-selected": "false" };
    const el = parent.createDiv({ cls: `suggestion-item vault-indexer-row ${cls}`, attr });
    this.rows.push({ row, el });
    const choose = (event) => {
      if (event.button > 1) return;
      event.preventDefault();
      this.events.choose(row, event);
    };
    el.addEventListener("click", choose);
    el.addEventListener("auxclick", choose);
    el.addEventListener("mousemove", (event) => {
      const moved = event.movementX !== 0 || event.movementY !== 0;
      if (moved && this.selected !== index && this.rows[index]?.el === el) this.select(index);
    });
    return el;
  }
  addAction(row, icon, text) {
    const el = this.add(this.el, row, `vault-indexer-${row.kind}`);
    (0, import_obsidian13.setIcon)(el.createSpan({ cls: "vault-indexer-row-icon" }), icon);
    el.createSpan({ text, attr: textAttr("") });
  }
  addHit(parent, hit) {
    const el = this.add(parent, { kind: "hit", hit }, "mod-complex");
    el.draggable = true;
    el.dataset["line"] = String(hit.line);
    const content = el.createDiv({ cls: "suggestion-content" });
    const attr = textAttr(hit.language);
    const place = [hit.part, hit.header_path].filter(Boolean).join(" > ");
    if (place) content.createDiv({ cls: "vault-indexer-header-path", text: place, attr });
    const snippet = content.createDiv({ cls: "vault-indexer-snippet", attr });
    renderSnippet(snippet, hit.snippet, hit.marks);
    if (!hit.snippet) snippet.setText(hit.path);
    const button = el.createEl("button", {
      cls: "clickable-icon vault-indexer-why-button",
      attr: { "aria-label": "Why is this here?", tabindex: "-1" }
    });
    (0, import_obsidian13.setIcon)(button, "info");
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      void this.why(el, hit);
    });
    el.addEventListener("mouseover", (event) => this.events.hover(hit, event, el));
    el.addEventListener("dragstart", (event) => event.dataTransfer?.setData("text/plain", this.events.dragText(hit)));
  }
  async why(el, hit) {
    const old = el.querySelector(".vault-indexer-why");
    if (old) {
      old.remove();
      return;
    }
    const lines = await this.events.why(hit);
    if (!el.isConnected || el.querySelector(".vault-indexer-why")) return;
    const list = el.createEl("ul", { cls: "vault-indexer-why" });
    for (const text of lines) list.createEl("li", { text });
  }
};
function textAttr(language) {
  return { dir: "auto", ...language && { lang: language } };
}
function placeOf(hit) {
  return hit.chunk_id || hit.path;
}

// src/search_panel.ts
var HOVER_SOURCE = "vault-indexer";
var OLD_MS = 200;
var SearchPanel = class extends import_obsidian14.Component {
  constructor(context, parent, owner) {
    super();
    this.context = context;
    this.owner = owner;
    this.live = new LiveQuery({
      ask: (query) => this.state.waitFor(context.client.search(query, context.settings.limit)),
      show: (answer, query) => this.show(answer, query),
      fail: (error) => this.showProblem(error)
    });
    const inputs = parent.createDiv({ cls: "prompt-input-container vault-indexer-input" });
    this.inputEl = inputs.createEl("input", {
      cls: "prompt-input",
      type: "text",
      placeholder: "Search by meaning, word and link",
      attr: { "aria-label": "Search", "aria-autocomplete": "list", dir: "auto", spellcheck: "false" }
    });
    this.completions = new CompletionList(parent, this.inputEl, context.client, () => this.changeQuery());
    this.chipsEl = parent.createDiv({ cls: "vault-indexer-chips" });
    this.state = this.addChild(new StateBox(context, parent, (status) => this.onStatus(status)));
    this.messagesEl = parent.createDiv({ cls: "vault-indexer-messages", attr: { role: "status" } });
    this.explanationEl = parent.createDiv({ cls: "vault-indexer-explanation", attr: { role: "status" } });
    this.list = new ResultList(
      parent,
      this.inputEl,
      {
        choose: (row, event) => void this.choose(row, whereOf(event)),
        hover: (hit, event, el) => this.hover(hit, event, el),
        dragText: (hit) => linkTo(context.app, hit.path, targetEditor(context.app)?.path ?? "", subpathOf(hit)),
        why: (hit) => this.why(hit)
      },
      this
    );
    this.renderChips();
  }
  context;
  owner;
  inputEl;
  /** The core plugin that previews pages keeps its popover here. */
  hoverPopover = null;
  completions;
  chipsEl;
  messagesEl;
  explanationEl;
  list;
  state;
  live;
  scopes = [];
  /** The query that the rows answer; null while there is none. */
  shownQuery = null;
  /** What a key does once what is typed is answered. */
  whenAnswered = null;
  hits = [];
  inserted = 0;
  seenSeq = null;
  isUnanswered = false;
  wasBusy = false;
  oldTimer = 0;
  onload() {
    this.registerDomEvent(this.inputEl, "input", () => this.changeQuery());
    this.registerDomEvent(this.inputEl, "keydown", (event) => {
      if (event.key === "Backspace" && this.inputEl.value === "" && this.scopes.length > 0) {
        this.setScopes(this.scopes.slice(0, -1));
      }
    });
    this.register(() => {
      window.clearTimeout(this.oldTimer);
      this.live.drop();
      this.whenAnswered = null;
    });
  }
  /** Search for a query, or for what is typed already; an empty one shows those used before. */
  start(query) {
    if (query) this.inputEl.value = query;
    this.inputEl.focus();
    this.inputEl.select();
    void this.state.check();
    this.search();
  }
  /** The keys of the panel, as the quick switcher has them. */
  registerKeys(keys) {
    const inInput = (action) => (event) => {
      if (event.isComposing || event.target !== this.inputEl) return;
      action(event);
      return false;
    };
    keys.register([], "Tab", (event) => event.target === this.inputEl && this.completions.acceptFirst() ? false : void 0);
    keys.register([], "ArrowDown", inInput(() => this.list.move(1)));
    keys.register([], "ArrowUp", inInput(() => this.list.move(-1)));
    const open = inInput((event) => {
      const where = whereOf(event);
      this.afterAnswer(() => void this.choose(this.list.current, where));
    });
    keys.register([], "Enter", open);
    keys.register(["Mod"], "Enter", open);
    keys.register(["Mod", "Alt"], "Enter", open);
    keys.register(["Mod", "Alt", "Shift"], "Enter", open);
    keys.register(["Shift"], "Enter", inInput(() => void this.create(this.typed, false)));
    keys.register(["Alt"], "Enter", inInput(() => this.afterAnswer(() => this.insert(true))));
    keys.register(["Alt", "Shift"], "Enter", inInput(() => this.afterAnswer(() => this.insert(false))));
    keys.register(["Mod"], "i", inInput(() => void this.list.toggleWhy()));
    keys.register(["Mod"], "j", inInput(() => this.chooseMissing()));
    keys.register(["Mod"], "l", inInput(() => this.chooseScope()));
  }
  get typed() {
    return this.inputEl.value.trim();
  }
  get query() {
    return scopedQuery(this.scopes, this.typed);
  }
  changeQuery() {
    this.whenAnswered = null;
    this.search();
    void this.completions.update();
  }
  search() {
    this.explanationEl.empty();
    if (this.query) {
      this.live.ask(this.query);
      this.markOldLater();
      return;
    }
    this.live.drop();
    this.messagesEl.empty();
    this.list.showRecent(this.context.device.recent);
    this.arrive("");
  }
  /** The rows are those of a query; null where it has none. */
  arrive(query) {
    this.shownQuery = query;
    window.clearTimeout(this.oldTimer);
    this.oldTimer = 0;
    this.list.setOld(false);
    this.markOldLater();
  }
  /** Mark the rows as old, unless what is typed is answered soon. */
  markOldLater() {
    if (this.oldTimer || !this.live.isBusy || this.query === this.shownQuery) return;
    this.oldTimer = window.setTimeout(() => this.list.setOld(true), OLD_MS);
  }
  /** Act on the rows once they answer what is typed; never on those of an earlier query. */
  afterAnswer(action) {
    if (this.shownQuery === this.query) action();
    else if (this.live.isBusy) this.whenAnswered = action;
  }
  showProblem(error) {
    this.arrive(null);
    if (!this.live.isBusy) this.whenAnswered = null;
    if (error instanceof RefusedError) {
      this.showMessages([error.message]);
      return;
    }
    this.isUnanswered = true;
    this.list.clear();
    this.state.showError(error);
  }
  show(answer, query) {
    this.isUnanswered = false;
    const messages = [...answer.notices];
    if (answer.corrections.length > 0) {
      messages.push(`Also searched: ${answer.corrections.map((one) => one.to).join(", ")}`);
    }
    if (answer.results.length === 0) messages.push("No results");
    else if (answer.likely === 0) messages.push("No likely match. The nearest:");
    this.showMessages(messages);
    this.hits = answer.results;
    const likely = answer.likely || answer.results.length;
    this.list.showHits(answer.results, likely, isName(this.typed) ? this.typed : "", query === this.shownQuery);
    this.arrive(query);
    if (answer.index.pending > 0) void this.state.check();
    if (query !== this.query) return;
    const action = this.whenAnswered;
    this.whenAnswered = null;
    action?.();
  }
  showMessages(messages) {
    this.messagesEl.empty();
    for (const text of messages) this.messagesEl.createDiv({ text });
  }
  /** Search again when the index has changed, has caught up, or answers again. */
  onStatus(status) {
    const isBusy = status.state !== "ready" || status.pending > 0;
    const changed = this.seenSeq !== null && (status.seq !== this.seenSeq || this.wasBusy && !isBusy);
    this.seenSeq = status.seq;
    this.wasBusy = isBusy;
    if (this.query && (changed || this.isUnanswered)) this.search();
  }
  async choose(row, where) {
    if (!row) return;
    if (row.kind === "recent") {
      this.inputEl.value = row.text;
      this.search();
    } else if (row.kind === "others") {
      row.unfold();
    } else if (row.kind === "create") {
      await this.create(row.text, where);
    } else {
      this.context.rememberQuery(this.typed);
      this.context.recordClick(this.shownQuery ?? "", row.hit.path, this.hits.indexOf(row.hit) + 1);
      this.context.lastQuery = this.shownQuery ?? "";
      this.owner.done();
      await openHit(this.context.app, row.hit, where);
    }
  }
  async create(text, where) {
    const folder = this.scopes.find((scope) => scope.kind === "folder")?.folder ?? null;
    if (!text) return;
    if (!isName(text)) {
      new import_obsidian14.Notice("A query with operators is no name of a note");
      return;
    }
    this.context.rememberQuery(text);
    this.owner.done();
    await createNote(this.context.app, text, folder, where);
  }
  /** Insert a link to the selected note; several are separated by blanks. */
  insert(closes) {
    const row = this.list.current;
    if (row?.kind !== "hit") return;
    if (insertLink(this.context.app, row.hit, this.inserted > 0 ? " " : "")) this.inserted += 1;
    this.context.rememberQuery(this.typed);
    if (closes) {
      this.inserted = 0;
      this.owner.done();
    }
  }
  async why(hit) {
    const why = hit.why ?? (await this.context.client.explain(hit.path, this.query)).why;
    return why ? whyLines(why) : [];
  }
  chooseMissing() {
    if (this.query) new NoteModal(this.context.app, (file) => void this.explainMissing(file.path)).open();
  }
  async explainMissing(path) {
    this.explanationEl.empty();
    try {
      const answer = await this.context.client.explain(path, this.query);
      const title = answer.shown ? `${noteName(path)} is among the results` : `Why ${noteName(path)} is not here`;
      this.explanationEl.createDiv({ cls: "vault-indexer-explanation-title", text: title });
      const list = this.explanationEl.createEl("ul", { cls: "vault-indexer-why" });
      const lines = [...answer.reasons, ...answer.why ? whyLines(answer.why) : []];
      for (const text of lines) list.createEl("li", { text });
      this.inputEl.focus();
    } catch (error) {
      if (error instanceof RefusedError) this.explanationEl.createDiv({ text: error.message });
      else this.state.showError(error);
    }
  }
  chooseScope() {
    new ScopeModal(this.context.app, (scope) => this.setScopes([...this.scopes, scope])).open();
  }
  setScopes(scopes) {
    this.scopes = scopes;
    this.renderChips();
    this.changeQuery();
    this.inputEl.focus();
  }
  renderChips() {
    this.chipsEl.empty();
    for (const scope of this.scopes) {
      const chip = this.chipsEl.createDiv({ cls: "vault-indexer-chip", attr: { "data-kind": scope.kind } });
      chip.createSpan({ text: label(scope), attr: { dir: "auto" } });
      const attr = { "aria-label": `Remove ${label(scope)}` };
      const remove = chip.createEl("button", { cls: "clickable-icon", attr });
      (0, import_obsidian14.setIcon)(remove, "x");
      remove.addEventListener("click", () => this.setScopes(this.scopes.filter((one) => one !== scope)));
    }
    this.addChipButton("filter", "Limit search\u2026", () => this.chooseScope());
    this.addChipButton("help-circle", "Why is a note not here?", () => this.chooseMissing());
  }
  addChipButton(icon, text, action) {
    const button = this.chipsEl.createEl("button", { cls: "clickable-icon vault-indexer-chip-button" });
    (0, import_obsidian14.setIcon)(button.createSpan(), icon);
    button.createSpan({ text });
    button.addEventListener("click", action);
  }
  hover(hit, event, targetEl) {
    this.context.app.workspace.trigger("hover-link", {
      event,
      source: HOVER_SOURCE,
      hoverParent: this,
      targetEl,
      linktext: hit.path + subpathOf(hit),
      sourcePath: "",
      state: { scroll: hit.line - 1 }
    });
  }
};

// src/related_view.ts
var RELATED_VIEW = "vault-indexer-related";
var NOTES = 10;
var CANDIDATES = 200;
var MENTIONS = 50;
var QUIET_MS = 400;
var LOOK_MS = 700;
var LOOKS = 40;
var RelatedView = class extends import_obsidian15.ItemView {
  constructor(leaf, context) {
    super(leaf);
    this.context = context;
    this.icon = "waypoints";
    this.navigation = false;
  }
  context;
  file = null;
  /** The note that the rows are about: that of the last answer, until the answer about `file` has come. */
  shown = null;
  sequence = new Sequence();
  state = null;
  headEl;
  bodyEl;
  related = null;
  mentions = null;
  seq = -1;
  looks = 0;
  /** Notes that were asked for beyond those shown at first. */
  extra = 0;
  timer = 0;
  getViewType() {
    return RELATED_VIEW;
  }
  getDisplayText() {
    return "Related notes";
  }
  async onOpen() {
    this.contentEl.addClass("vault-indexer-pane", "vault-indexer-related");
    this.headEl = this.contentEl.createDiv({ cls: "nav-header" });
    this.state = this.addChild(new StateBox(this.context, this.contentEl, ({ seq }) => this.onStatus(seq)));
    this.bodyEl = this.contentEl.createDiv({ cls: "vault-indexer-related-body" });
    this.renderHead();
    const { workspace, vault } = this.app;
    this.registerEvent(workspace.on("file-open", () => this.follow()));
    this.registerEvent(workspace.on("editor-change", () => this.watch()));
    this.registerEvent(
      vault.on("modify", (file) => {
        if (file.path === this.file?.path) this.watch();
      })
    );
    this.registerEvent(vault.on("rename", () => this.watch()));
    this.register(() => {
      window.clearTimeout(this.timer);
      this.sequence.dropAll();
    });
    workspace.onLayoutReady(() => this.follow());
    return Promise.resolve();
  }
  async onClose() {
    this.contentEl.empty();
    return Promise.resolve();
  }
  onResize() {
    if (this.file === null || this.related === null) this.follow();
  }
  follow() {
    const file = this.app.workspace.getActiveFile();
    if (!this.contentEl.isShown() || file && file.path === this.file?.path && this.related) return;
    this.file = file?.extension === "md" ? file : null;
    this.related = null;
    this.mentions = null;
    this.looks = 0;
    this.extra = 0;
    if (!this.file) return this.renderMessage("No note is active.");
    this.later(0, () => this.refresh());
  }
  /** The note is being edited: look when the index has taken the change in. */
  watch() {
    if (!this.contentEl.isShown() || !this.file) return;
    this.looks = LOOKS;
    this.later(QUIET_MS, () => this.look());
  }
  async look() {
    this.looks -= 1;
    await this.state?.check();
    if (this.looks > 0 && !this.timer) this.later(LOOK_MS, () => this.look());
  }
  onStatus(seq) {
    const changed = this.seq >= 0 && this.seq !== seq;
    this.seq = seq;
    if (this.file && (changed || this.related === null)) this.later(0, () => this.refresh());
  }
  later(milliseconds, action) {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      void action();
    }, milliseconds);
  }
  async refresh() {
    const file = this.file;
    if (!file) return;
    const number = this.sequence.next();
    try {
      const { client } = this.context;
      const asked = Promise.all([
        client.related(file.path, CANDIDATES),
        client.mentions(file.path, MENTIONS),
        client.status()
      ]);
      const [related, mentions, status] = await (this.state?.waitFor(asked) ?? asked);
      if (file !== this.file || !this.sequence.accept(number)) return;
      this.shown = file;
      this.related = related;
      this.mentions = mentions;
      this.seq = status.seq;
      this.state?.show(null);
      this.render();
    } catch (error) {
      if (file !== this.file || !this.sequence.accept(number)) return;
      if (error instanceof RefusedError) this.renderMessage(error.message);
      else {
        if (file !== this.shown) this.renderMessage("");
        this.state?.showError(error);
      }
    }
    if (this.looks > 0 && !this.timer) this.later(LOOK_MS, () => this.look());
  }
  renderHead() {
    this.headEl.empty();
    const buttons = this.headEl.createDiv({ cls: "nav-buttons-container" });
    this.addToggle(buttons, "link-2-off", "Hide notes that are already linked", "hideLinked");
    this.addToggle(buttons, "folder-minus", "Hide notes in the same folder", "hideSameFolder");
  }
  addToggle(parent, icon, text, key) {
    const isOn = this.context.settings[key];
    const button = parent.createEl("button", {
      cls: "clickable-icon nav-action-button",
      attr: { "aria-label": text, "aria-pressed": String(isOn) }
    });
    button.toggleClass("is-active", isOn);
    (0, import_obsidian15.setIcon)(button, icon);
    button.addEventListener("click", () => {
      void this.context.change({ [key]: !isOn }).then(() => {
        this.renderHead();
        this.render();
        this.headEl.querySelector(`[aria-label="${text}"]`)?.focus();
      });
    });
  }
  renderMessage(text) {
    this.shown = null;
    this.bodyEl.empty();
    this.bodyEl.createDiv({ cls: "pane-empty", text });
  }
  render() {
    if (!this.file || !this.related) return;
    this.bodyEl.empty();
    const own = this.file.path;
    const { hideLinked, hideSameFolder, pinned, hidden } = this.context.settings;
    const [pins, hides] = [pinned[own] ?? [], hidden[own] ?? []];
    const { results } = this.related;
    const folder = folderOf(own);
    const others = results.filter((note) => !(hideLinked && note.links.length > 0) && !(hideSameFolder && folderOf(note.path) === folder)).filter(({ path }) => !pins.includes(path) && !hides.includes(path));
    const first = others.filter(({ near: near2 }) => near2 ?? true).slice(0, NOTES);
    const rest = others.filter((note) => !first.includes(note));
    const notes = [...first, ...rest.slice(0, this.extra)];
    const near = this.addSection("Related", pins.length + notes.length, "None is close");
    for (const path of pins) {
      const note = results.find((one) => one.path === path);
      this.addNote(near, path, note?.title ?? noteName(path), note, true);
    }
    for (const note of notes) this.addNote(near, note.path, note.title, note, false);
    if (rest.length > this.extra) {
      this.addMore(near, `Show more (${rest.length - this.extra})`, () => {
        this.extra += NOTES;
        this.render();
      });
    }
    if (hides.length > 0) {
      this.addMore(near, `Show hidden notes again (${hides.length})`, () => {
        void Promise.all(hides.map((path) => this.context.mark("hidden", own, path, false))).then(() => this.render());
      });
    }
    const mentions = this.mentions?.mentions ?? [];
    const unlinked = this.addSection("Unlinked mentions", mentions.length);
    for (const mention of mentions) this.addMention(unlinked, mention);
  }
  addSection(title, count, none = "None") {
    const section = this.bodyEl.createDiv({ cls: "vault-indexer-section", attr: { role: "region", "aria-label": title } });
    const head = section.createDiv({ cls: "tree-item-self vault-indexer-section-title" });
    head.createDiv({ cls: "tree-item-inner", text: title });
    head.createDiv({ cls: "tree-item-flair-outer" }).createSpan({ cls: "tree-item-flair", text: String(count) });
    if (count === 0) section.createDiv({ cls: "pane-empty", text: none });
    return section;
  }
  addItem(section, open) {
    const el = section.createDiv({
      cls: "tree-item-self is-clickable vault-indexer-item",
      attr: { tabindex: "0", role: "link" }
    });
    el.addEventListener("click", open);
    el.addEventListener("auxclick", (event) => {
      if (event.button === 1) open(event);
    });
    el.addEventListener("keydown", (event) => {
      if (event.target === el && event.key === "Enter") open(event);
    });
    return el;
  }
  addMore(section, text, action) {
    section.createEl("button", { cls: "vault-indexer-more", text }).addEventListener("click", action);
  }
  addNote(section, path, title, note, isPinned) {
    const el = this.addItem(section, (event) => void openNote(this.app, path, whereOf(event)));
    el.dataset["path"] = path;
    el.draggable = true;
    el.addEventListener("dragstart", (event) => {
      const source = targetEditor(this.app)?.path ?? "";
      event.dataTransfer?.setData("text/plain", linkTo(this.app, path, source));
    });
    const inner = el.createDiv({ cls: "tree-item-inner" });
    inner.createDiv({ cls: "vault-indexer-note-title", text: title, attr: { dir: "auto" } });
    const words = note ? relatedWords(note) : "";
    if (words) inner.createDiv({ cls: "vault-indexer-reason", text: words });
    const actions = el.createDiv({ cls: "vault-indexer-item-actions" });
    if (note) {
      const figures = inner.createEl("ul", { cls: "vault-indexer-why" });
      for (const text of relatedFigures(note)) figures.createEl("li", { text });
      figures.hide();
      this.addButton(actions, "info", `Why is ${title} here?`, () => figures.toggle(!figures.isShown()));
    }
    const pin = this.addButton(actions, "pin", `${isPinned ? "Unpin" : "Pin"} ${title}`, () => this.mark("pinned", path, !isPinned));
    pin.toggleClass("is-active", isPinned);
    if (!isPinned) this.addButton(actions, "x", `Hide ${title} for this note`, () => this.mark("hidden", path, true));
    this.addHover(el, path, null);
  }
  addButton(parent, icon, text, action) {
    const button = parent.createEl("button", { cls: "clickable-icon", attr: { "aria-label": text } });
    (0, import_obsidian15.setIcon)(button, icon);
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      action();
    });
    return button;
  }
  mark(kind, path, isOn) {
    if (this.shown) void this.context.mark(kind, this.shown.path, path, isOn).then(() => this.render());
  }
  addMention(section, mention) {
    const el = this.addItem(section, (event) => void this.openMention(mention, event));
    el.dataset["path"] = mention.path;
    el.dataset["line"] = String(mention.line);
    const inner = el.createDiv({ cls: "tree-item-inner" });
    inner.createDiv({ cls: "vault-indexer-note-title", text: mention.title, attr: { dir: "auto" } });
    const snippet = inner.createDiv({ cls: "vault-indexer-snippet", attr: { dir: "auto" } });
    renderMention(snippet, mention);
    const button = el.createEl("button", { cls: "vault-indexer-link-button", text: "Link" });
    button.setAttr("aria-label", `Link this mention in ${mention.title}`);
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      void this.link(mention, el);
    });
    this.addHover(el, mention.path, mention.line);
  }
  async openMention(mention, event) {
    const where = whereOf(event);
    const file = fileAt(this.app, mention.path);
    if (!file) return;
    const text = await this.app.vault.cachedRead(file);
    const span = mentionSpan(text, mention);
    await openAt(this.app, file, where, text, mention.line, span ? [span] : []);
  }
  async link(mention, el) {
    if (!this.shown) return;
    if (await linkMention(this.app, this.shown, mention)) {
      el.remove();
      this.watch();
    } else {
      new import_obsidian15.Notice("The note has changed since it was indexed. Try again in a moment.");
      this.watch();
    }
  }
  addHover(el, linktext, line) {
    el.addEventListener("mouseover", (event) => {
      this.app.workspace.trigger("hover-link", {
        event,
        source: HOVER_SOURCE,
        hoverParent: this,
        targetEl: el,
        linktext,
        sourcePath: this.file?.path ?? "",
        ...line !== null && { state: { scroll: line - 1 } }
      });
    });
  }
};

// src/search_modal.ts
var import_obsidian16 = require("obsidian");
var MOD = import_obsidian16.Platform.isMacOS ? "\u2318" : "ctrl";
var ALT = import_obsidian16.Platform.isMacOS ? "\u2325" : "alt";
var INSTRUCTIONS = [
  ["\u2191\u2193", "to navigate"],
  ["tab", "to complete"],
  ["\u21B5", "to open"],
  [`${MOD} \u21B5`, "to open in new tab"],
  ["shift \u21B5", "to create"],
  [`${ALT} \u21B5`, "to insert link"],
  [`${ALT} shift \u21B5`, "to insert and stay"],
  [`${MOD} i`, "to see why"],
  [`${MOD} j`, "to see why not"],
  [`${MOD} l`, "to limit"],
  ["esc", "to dismiss"]
];
var SearchModal = class extends import_obsidian16.Modal {
  constructor(context, query, closed = () => void 0) {
    super(context.app);
    this.query = query;
    this.closed = closed;
    this.modalEl.addClass("prompt", "vault-indexer-prompt");
    this.panel = new SearchPanel(context, this.contentEl, { done: () => this.close() });
    this.panel.registerKeys(this.scope);
    const bar = this.contentEl.createDiv({ cls: "prompt-instructions" });
    for (const [command, purpose] of INSTRUCTIONS) {
      const item = bar.createDiv({ cls: "prompt-instruction" });
      item.createSpan({ cls: "prompt-instruction-command", text: command });
      item.createSpan({ text: purpose });
    }
  }
  query;
  closed;
  panel;
  onOpen() {
    this.panel.load();
    this.panel.start(this.query);
  }
  onClose() {
    this.panel.unload();
    this.contentEl.empty();
    this.closed();
  }
};

// src/search_view.ts
var import_obsidian17 = require("obsidian");
var SEARCH_VIEW = "vault-indexer-search";
var SearchView = class extends import_obsidian17.ItemView {
  constructor(leaf, context) {
    super(leaf);
    this.context = context;
    this.icon = "search-check";
    this.navigation = false;
    this.scope = new import_obsidian17.Scope(context.app.scope);
  }
  context;
  panel = null;
  getViewType() {
    return SEARCH_VIEW;
  }
  getDisplayText() {
    return "Vault search";
  }
  async onOpen() {
    this.contentEl.addClass("vault-indexer-pane");
    this.panel = this.addChild(new SearchPanel(this.context, this.contentEl, { done: () => void 0 }));
    if (this.scope) this.panel.registerKeys(this.scope);
    return Promise.resolve();
  }
  async onClose() {
    this.contentEl.empty();
    return Promise.resolve();
  }
  /** Put the focus into the pane and search. A pane that is restored at the start asks nothing until then. */
  focus() {
    this.panel?.start("");
  }
};

// src/settings_tab.ts
var import_obsidian18 = require("obsidian");
var DEVICE_KEYS = ["mayStart", "indexFolder"];
var MAX_LIMIT = 200;
var VaultIndexerSettingTab = class extends import_obsidian18.PluginSettingTab {
  constructor(plugin, context) {
    super(context.app, plugin);
    this.context = context;
  }
  context;
  /** Obsidian before 1.13 does not draw definitions itself. */
  display() {
    this.containerEl.empty();
    for (const { heading, items } of this.getSettingDefinitions()) {
      new import_obsidian18.Setting(this.containerEl).setName(heading).setHeading();
      for (const item of items) this.addControl(item);
    }
  }
  addControl({ name, desc, control: { type, key } }) {
    const setting = new import_obsidian18.Setting(this.containerEl).setName(name).setDesc(desc ?? "");
    const value = this.getControlValue(key);
    const save = (changed) => void this.setControlValue(key, changed);
    if (type === "toggle") setting.addToggle((toggle) => toggle.setValue(value === true).onChange(save));
    else {
      setting.addText((text) => text.setValue(String(value)).onChange((typed) => {
        const limit = Math.floor(Number(typed));
        if (type !== "number") save(typed);
        else if (limit >= 1 && limit <= MAX_LIMIT) save(limit);
      }));
    }
  }
  getSettingDefinitions() {
    return [
      {
        type: "group",
        heading: "Search",
        items: [
          {
            name: "Maximum places",
            desc: "The number of places that a search lists.",
            control: { type: "number", key: "limit", defaultValue: DEFAULTS.limit, min: 1, max: MAX_LIMIT, step: 1 }
          },
          {
            name: "Keep recent queries",
            desc: "Shown when the search is empty. Stored only on this computer.",
            control: { type: "toggle", key: "keepRecent", defaultValue: DEFAULTS.keepRecent }
          }
        ]
      },
      {
        type: "group",
        heading: "Related notes",
        items: [
          {
            name: "Hide notes that are already linked",
            control: { type: "toggle", key: "hideLinked", defaultValue: DEFAULTS.hideLinked }
          },
          {
            name: "Hide notes in the same folder",
            control: { type: "toggle", key: "hideSameFolder", defaultValue: DEFAULTS.hideSameFolder }
          }
        ]
      },
      {
        type: "group",
        heading: "Daemon on this computer",
        items: [
          {
            name: "Let the plugin start the daemon",
            desc: "Only when you press the button. Runs the command that the daemon recorded when it last ran.",
            control: { type: "toggle", key: "mayStart", defaultValue: false }
          },
          {
            name: "Index folder",
            desc: "Only needed if the daemon was started with a separate index folder. If empty, it is found by the vault.",
            control: { type: "text", key: "indexFolder", defaultValue: "" }
          }
        ]
      }
    ];
  }
  getControlValue(key) {
    if (DEVICE_KEYS.includes(key)) return this.context.device[key];
    return this.context.settings[key];
  }
  async setControlValue(key, value) {
    const changed = { [key]: value };
    if (DEVICE_KEYS.includes(key)) this.context.setDevice(changed);
    else await this.context.change(changed);
    if (key === "keepRecent" && value === false) this.context.setDevice({ recent: [] });
  }
};

// src/main.ts
var VaultIndexerPlugin = class extends import_obsidian19.Plugin {
  modal = null;
  async onload() {
    const context = new Context(this.app, (settings) => this.saveData(settings));
    const stored = await this.loadData();
    context.settings = { ...DEFAULTS, ...stored };
    this.registerView(SEARCH_VIEW, (leaf) => new SearchView(leaf, context));
    this.registerView(RELATED_VIEW, (leaf) => new RelatedView(leaf, context));
    this.registerView(ASK_VIEW, (leaf) => new AskView(leaf, context));
    this.registerHoverLinkSource(HOVER_SOURCE, { display: "Vault Indexer", defaultMod: true });
    this.addRibbonIcon("search-check", "Search by meaning, word and link", () => this.openSearch(context, ""));
    this.addSettingTab(new VaultIndexerSettingTab(this, context));
    this.registerEvent(this.app.vault.on("rename", (file, from) => void context.renamePath(from, file.path)));
    this.addCommand({ id: "search", name: "Search", callback: () => this.openSearch(context, "") });
    this.addCommand({
      id: "search-selection",
      name: "Search for the selection",
      editorCheckCallback: (checking, editor) => {
        const query = selectionOf(editor);
        if (query && !checking) this.openSearch(context, query);
        return query !== "";
      }
    });
    this.addCommand({
      id: "open-search-pane",
      name: "Open the search pane",
      callback: () => void this.openPane(SEARCH_VIEW)
    });
    this.addCommand({
      id: "open-related-pane",
      name: "Open related notes",
      callback: () => void this.openPane(RELATED_VIEW)
    });
    const status = this.addStatusBarItem();
    const matches2 = new NoteMatches(context, (text) => status.setText(text));
    this.registerEvent(this.app.workspace.on("file-open", () => status.setText("")));
    for (const [id, name, step] of [["next-match", "Go to the next match", 1], ["previous-match", "Go to the previous match", -1]]) {
      this.addCommand({
        id,
        name,
        checkCallback: (checking) => {
          if (matches2.isPossible && !checking) void matches2.step(step);
          return matches2.isPossible;
        }
      });
    }
    this.addCommand({ id: "ask", name: "Ask the vault", callback: () => void this.openPane(ASK_VIEW) });
  }
  onunload() {
    this.modal?.close();
  }
  openSearch(context, query) {
    this.modal?.close();
    this.modal = new SearchModal(context, query, () => this.modal = null);
    this.modal.open();
  }
  async openPane(type) {
    const { workspace } = this.app;
    const side = () => type === SEARCH_VIEW ? workspace.getLeftLeaf(false) : workspace.getRightLeaf(false);
    const leaf = workspace.getLeavesOfType(type)[0] ?? side();
    if (!leaf) return;
    if (leaf.view?.getViewType() !== type) await leaf.setViewState({ type, active: true });
    await workspace.revealLeaf(leaf);
    if (leaf.view instanceof SearchView || leaf.view instanceof AskView) leaf.view.focus();
  }
};
function selectionOf(editor) {
  return editor.getSelection().replace(/\s+/g, " ").trim().slice(0, 1e3);
}
