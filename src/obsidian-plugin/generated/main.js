// Built from sources with the digest 9b2c2c5d04a1cb226be5322a14af80b2c74f49029b2f05ea0411aa1692426d3c
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
var import_obsidian16 = require("obsidian");

// src/context.ts
var import_obsidian4 = require("obsidian");

// src/client.ts
var import_obsidian = require("obsidian");

// src/answers.ts
var FIELDS = "path,kind,title,language,header_path,chunk_id,start_pos,end_pos,end_line,line,relevance,snippet,marks,stale,copies,why";

// src/client.ts
var NoDaemonError = class extends Error {
  constructor(command, isKnown) {
    super("The daemon of this vault is not running");
    this.command = command;
    this.isKnown = isKnown;
  }
  command;
  isKnown;
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
  /** A daemon of an earlier version refuses the parameter `fields`: until then it is asked without. */
  olderUntil = 0;
  async search(query, limit) {
    const parameters = { q: query, limit, as_you_type: true };
    if (Date.now() < this.olderUntil) return this.get("/v1/search", parameters);
    try {
      return await this.get("/v1/search", { ...parameters, fields: FIELDS });
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== UNKNOWN_PARAMETER) throw error;
    }
    const answer = await this.get("/v1/search", parameters);
    this.olderUntil = Date.now() + OLDER_MS;
    return answer;
  }
  explain(path, query) {
    return this.get("/v1/explain", { path, q: query });
  }
  related(path, limit) {
    return this.get("/v1/related", { path, limit });
  }
  mentions(path, limit) {
    return this.get("/v1/links", { view: "mentions", path, limit });
  }
  status() {
    return this.get("/v1/status", {});
  }
  /** Keep that a hit was opened, where the daemon says that the user wants it. */
  async recordClick(query, path, rank) {
    if ((await this.status()).records_clicks) await this.request("POST", "/evals/click", { q: query, path, rank });
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
  /** Asks twice at most: a daemon that was started again has another port and another token. */
  async request(method, target, body) {
    const known = this.found?.info;
    const first = known && await this.send(known, method, target, body);
    if (first && first.status !== 401) return read(first);
    this.found = await withinTime(this.discover());
    this.olderUntil = 0;
    const { info, command } = this.found;
    const second = info && await this.send(info, method, target, body);
    if (!second || second.status === 401) {
      this.found = null;
      throw new NoDaemonError(command, info !== null || command.length > 0);
    }
    return read(second);
  }
  /** The response, or null if nothing listens there. */
  async send(info, method, target, body) {
    const response = (0, import_obsidian.requestUrl)({
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
  const answer = response.json;
  if (response.status < 400) return answer;
  throw new RefusedError(answer.error?.message ?? `Status ${response.status}`, response.status);
}

// src/discovery.ts
var import_obsidian2 = require("obsidian");
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
  if (!import_obsidian2.Platform.isDesktop) return { info: null, command: [] };
  const separator = vaultFolder.includes("\\") ? "\\" : "/";
  const folder = indexFolder || await readSignpost(vaultFolder, separator);
  if (!folder || !await isOwnFolder(folder)) return { info: null, command: [] };
  const daemon = await readText(`${folder}${separator}daemon.json`);
  const start = await readText(`${folder}${separator}start.json`);
  const command = parseCommand(daemon);
  const info = parseDaemon(daemon);
  const runs = info !== null && await provesToken(info);
  return { info: runs ? info : null, command: command.length > 0 ? command : parseCommand(start) };
}
async function provesToken({ pid, url, token }) {
  const { origin, port } = new URL(url);
  const { subtle } = window.crypto;
  const challenge = hexadecimal(window.crypto.getRandomValues(new Uint8Array(16)));
  try {
    const answer = await (0, import_obsidian2.requestUrl)({ url: `${origin}/v1/proof?challenge=${challenge}`, throw: false });
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
  if (!import_obsidian2.Platform.isDesktop) return "";
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
  if (!import_obsidian2.Platform.isDesktop) return "";
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
async function isOwnFolder(path) {
  if (!import_obsidian2.Platform.isDesktop) return false;
  const files = await Promise.resolve().then(() => __toESM(require("fs/promises"), 1));
  const status = await files.stat(path).catch(() => null);
  return status !== null && isOwn(status);
}
function isOwn({ uid, mode }) {
  const user = process.geteuid?.();
  return user === void 0 || (uid === user || uid === 0) && (mode & 18) === 0;
}

// src/launcher.ts
var import_obsidian3 = require("obsidian");
var START_MS = 12e4;
async function startDaemon(command) {
  const [program, ...parameters] = command;
  if (!import_obsidian3.Platform.isDesktop || program === void 0) throw new Error("The start command is not known");
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
var DEFAULTS = { limit: 30, keepRecent: true, hideLinked: false, hideSameFolder: false };
var DEVICE_DEFAULTS = { mayStart: false, indexFolder: "", recent: [] };
var DEVICE_KEY = "vault-indexer";
var Context = class {
  constructor(app, save) {
    this.app = app;
    this.save = save;
    this.client = new DaemonClient(() => discover(this.vaultFolder, this.device.indexFolder));
  }
  app;
  save;
  client;
  settings = { ...DEFAULTS };
  get vaultFolder() {
    const adapter = this.app.vault.adapter;
    return adapter instanceof import_obsidian4.FileSystemAdapter ? adapter.getBasePath() : "";
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

// src/related_view.ts
var import_obsidian12 = require("obsidian");

// src/mentions.ts
var import_obsidian6 = require("obsidian");

// src/opening.ts
var import_obsidian5 = require("obsidian");

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
    lines.push(`The whole note holds ${percent(why.note.coverage)} of the query's words, by weight`);
  }
  if (why.filters.length > 0) lines.push(`Meets: ${why.filters.join(", ")}`);
  return lines.length > 0 ? lines : ["Meets the query's filters"];
}
var LINKS = {
  "links to": "This note links to it",
  "linked from": "It links to this note"
};
function relatedLines(note) {
  const lines = [];
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
function noteName(path) {
  return path.replace(/^.*\//, "").replace(/\.md$/, "");
}
function folderOf(path) {
  return path.includes("/") ? path.replace(/\/[^/]*$/, "") : "";
}
function percent(share) {
  return `${Math.round(share * 100)}%`;
}

// src/opening.ts
function whereOf(event) {
  return import_obsidian5.Keymap.isModEvent(event);
}
async function openHit(app, hit, where) {
  const file = fileAt(app, hit.path);
  if (!file) return;
  if (hit.kind !== "note") {
    await app.workspace.getLeaf(where).openFile(file, { active: true });
    return;
  }
  const text = await app.vault.cachedRead(file);
  await openAt(app, file, where, text, hit.line, matches(text, hit));
}
async function openAt(app, file, where, text, line, spans) {
  const leaf = app.workspace.getLeaf(where);
  const match = { content: text, matches: spans.map((span) => [span.from, span.to]) };
  const eState = { line: line - 1, ...spans.length > 0 && { match } };
  await leaf.openFile(file, { active: true, eState });
  const view = leaf.view;
  if (!(view instanceof import_obsidian5.MarkdownView) || view.getMode() !== "source") return;
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
  return view instanceof import_obsidian5.MarkdownView ? { editor: view.editor, path: view.file?.path ?? "" } : null;
}
function linkTo(app, path, sourcePath) {
  const file = app.vault.getAbstractFileByPath(path);
  return file instanceof import_obsidian5.TFile ? app.fileManager.generateMarkdownLink(file, sourcePath) : `[[${noteName(path)}]]`;
}
function insertLink(app, path, separator) {
  const target = targetEditor(app);
  if (!target) {
    new import_obsidian5.Notice("Open a note to insert a link");
    return false;
  }
  target.editor.replaceSelection(separator + linkTo(app, path, target.path));
  return true;
}
async function createNote(app, text, folder, where) {
  const name = fileName(text);
  const problem = nameProblem(name);
  if (problem) {
    new import_obsidian5.Notice(problem);
    return;
  }
  const active = app.workspace.getActiveFile()?.path ?? "";
  const parent = folder ?? app.fileManager.getNewFileParent(active, `${name}.md`).path;
  const path = (0, import_obsidian5.normalizePath)(`${parent}/${name}.md`);
  let file = app.vault.getFileByPath(path);
  try {
    file ??= await app.vault.create(path, "");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    new import_obsidian5.Notice(`${path} was not created: ${reason}`);
    return;
  }
  await app.workspace.getLeaf(where).openFile(file, { active: true });
}
function fileName(text) {
  return text.replace(/[\\/:*?"<>|#^[\]]/g, " ").replace(/\s+/g, " ").replace(/^[.\s]+|[.\s]+$/g, "");
}
var MAX_NAME_BYTES = 252;
function nameProblem(name) {
  if (!name) return "A note needs a name";
  const bytes = new TextEncoder().encode(name).length;
  return bytes > MAX_NAME_BYTES ? `The name of a note has at most ${MAX_NAME_BYTES} bytes; this one has ${bytes}` : "";
}
function fileAt(app, path) {
  const file = app.vault.getFileByPath(path);
  if (!file) new import_obsidian5.Notice(`${path} is no longer in the vault`);
  return file;
}

// src/mentions.ts
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
    if (view instanceof import_obsidian6.MarkdownView && view.file?.path === file.path && view.getMode() === "source") {
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
  const notice = new import_obsidian6.Notice(message, UNDO_MS);
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
var import_obsidian11 = require("obsidian");

// src/choosers.ts
var import_obsidian7 = require("obsidian");

// src/scopes.ts
function operator(scope) {
  switch (scope.kind) {
    case "folder":
      return `path:/^${escapeExpression(scope.folder)}\\//`;
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

// src/choosers.ts
var MAX_VALUES = 2e3;
var ScopeModal = class extends import_obsidian7.FuzzySuggestModal {
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
var NoteModal = class extends import_obsidian7.FuzzySuggestModal {
  constructor(app, chosen) {
    super(app);
    this.chosen = chosen;
    this.setPlaceholder("Which note do you miss?");
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
    for (const tag of (0, import_obsidian7.getAllTags)(cache) ?? []) tags.add(tag);
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
var import_obsidian8 = require("obsidian");

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
   * Show hits by note, and an offer to create a note of that name. The notes without one of the first `likely` hits
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
    this.select(Math.max(again, 0));
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
    (0, import_obsidian8.setIcon)(el.createSpan({ cls: "vault-indexer-row-icon" }), icon);
    el.createSpan({ text, attr: textAttr("") });
  }
  addHit(parent, hit) {
    const el = this.add(parent, { kind: "hit", hit }, "mod-complex");
    el.draggable = true;
    el.dataset["line"] = String(hit.line);
    const content = el.createDiv({ cls: "suggestion-content" });
    const attr = textAttr(hit.language);
    if (hit.header_path) content.createDiv({ cls: "vault-indexer-header-path", text: hit.header_path, attr });
    const snippet = content.createDiv({ cls: "vault-indexer-snippet", attr });
    for (const { text, marked } of segments(hit.snippet, hit.marks)) {
      if (marked) snippet.createEl("mark", { cls: "vault-indexer-mark", text });
      else snippet.appendText(text);
    }
    if (!hit.snippet) snippet.setText(hit.path);
    const button = el.createEl("button", {
      cls: "clickable-icon vault-indexer-why-button",
      attr: { "aria-label": "Why is this here?", tabindex: "-1" }
    });
    (0, import_obsidian8.setIcon)(button, "info");
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

// src/state_box.ts
var import_obsidian10 = require("obsidian");

// src/states.ts
var import_obsidian9 = require("obsidian");
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
      return shown("degraded", "There is no index", status.detail);
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
  const start = commandLine(["indexer", "start", "--vault", vault], import_obsidian9.Platform.isWin);
  if (!error.isKnown) {
    return {
      ...shown("missing", "Vault Indexer is not set up for this vault", "Install the program, then start its daemon."),
      commands: [
        { text: "pipx install .", purpose: "In a clone of the vault-indexer repository" },
        { text: start, purpose: "Once for this vault" }
      ],
      actions: ["copy", "retry"]
    };
  }
  const canStart = error.command.length > 0;
  const detail = canStart && !mayStart ? "The plugin may start it, if you allow it." : "";
  return {
    ...shown("stopped", "The daemon is not running", detail),
    commands: [{ text: canStart ? commandLine(error.command, import_obsidian9.Platform.isWin) : start, purpose: "Starts the daemon" }],
    actions: canStart ? [mayStart ? "start" : "allow", "copy", "retry"] : ["copy", "retry"]
  };
}
function shown(kind, title, detail) {
  return { kind, title, detail, commands: [], actions: [], progress: null };
}
var SILENT = shown("silent", "The daemon does not answer", "What is shown may be old. It is asked again.");
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
var StateBox = class extends import_obsidian10.Component {
  constructor(context, parent, changed) {
    super();
    this.context = context;
    this.changed = changed;
    this.el = parent.createDiv({ cls: "vault-indexer-state", attr: { role: "status", "aria-live": "polite" } });
    this.el.hide();
  }
  context;
  changed;
  el;
  timer = 0;
  command = [];
  current = null;
  /** The one request for the state that is under way. */
  checking = null;
  onunload() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.el.remove();
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
    try {
      const status = await this.waitFor(this.context.client.status());
      if (!this.isLoaded) return;
      this.show(stateOf(status));
      this.changed(status);
    } catch (error) {
      this.showError(error);
    }
  }
  showError(error) {
    if (!this.isLoaded) return;
    if (error instanceof NoDaemonError) this.command = error.command;
    this.show(stateOfError(error, this.context.vaultFolder, this.context.device.mayStart));
  }
  /** Show a state; null hides the box. */
  show(state) {
    window.clearTimeout(this.timer);
    this.timer = 0;
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
    (0, import_obsidian10.setIcon)(head.createSpan({ cls: "vault-indexer-state-icon" }), ICONS[state.kind]);
    head.createSpan({ text: state.title });
    if (state.detail) this.el.createDiv({ cls: "vault-indexer-state-detail", text: state.detail });
    if (state.progress !== null) new import_obsidian10.ProgressBarComponent(this.el).setValue(state.progress * 100);
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
        new import_obsidian10.Notice("Copied");
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
        await this.check();
    }
  }
  async start() {
    this.show(shown("starting", "The daemon is starting", ""));
    try {
      await this.context.start(this.command);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.show({ ...shown("failed", "The daemon did not start", reason), actions: ["start", "retry"] });
      return;
    }
    await this.check();
  }
};

// src/search_panel.ts
var HOVER_SOURCE = "vault-indexer";
var OLD_MS = 200;
var SearchPanel = class extends import_obsidian11.Component {
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
        dragText: (hit) => linkTo(this.context.app, hit.path, targetEditor(this.context.app)?.path ?? ""),
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
    this.list.showHits(answer.results, likely, this.typed, query === this.shownQuery);
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
      this.owner.done();
      await openHit(this.context.app, row.hit, where);
    }
  }
  async create(text, where) {
    const folder = this.scopes.find((scope) => scope.kind === "folder")?.folder ?? null;
    if (!text) return;
    this.context.rememberQuery(text);
    this.owner.done();
    await createNote(this.context.app, text, folder, where);
  }
  /** Insert a link to the selected note; several are separated by blanks. */
  insert(closes) {
    const row = this.list.current;
    if (row?.kind !== "hit") return;
    if (insertLink(this.context.app, row.hit.path, this.inserted > 0 ? " " : "")) this.inserted += 1;
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
      (0, import_obsidian11.setIcon)(remove, "x");
      remove.addEventListener("click", () => this.setScopes(this.scopes.filter((one) => one !== scope)));
    }
    this.addChipButton("filter", "Limit search\u2026", () => this.chooseScope());
    this.addChipButton("help-circle", "Why is a note not here?", () => this.chooseMissing());
  }
  addChipButton(icon, text, action) {
    const button = this.chipsEl.createEl("button", { cls: "clickable-icon vault-indexer-chip-button" });
    (0, import_obsidian11.setIcon)(button.createSpan(), icon);
    button.createSpan({ text });
    button.addEventListener("click", action);
  }
  hover(hit, event, targetEl) {
    this.context.app.workspace.trigger("hover-link", {
      event,
      source: HOVER_SOURCE,
      hoverParent: this,
      targetEl,
      linktext: hit.path,
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
var RelatedView = class extends import_obsidian12.ItemView {
  constructor(leaf, context) {
    super(leaf);
    this.context = context;
    this.icon = "waypoints";
    this.navigation = false;
  }
  context;
  file = null;
  sequence = new Sequence();
  state = null;
  headEl;
  bodyEl;
  related = null;
  mentions = null;
  seq = -1;
  looks = 0;
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
    if (file?.extension !== "md") return;
    this.file = file;
    this.related = null;
    this.mentions = null;
    this.looks = 0;
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
      if (!this.sequence.accept(number)) return;
      this.related = related;
      this.mentions = mentions;
      this.seq = status.seq;
      this.state?.show(null);
      this.render();
    } catch (error) {
      if (!this.sequence.accept(number)) return;
      if (error instanceof RefusedError) this.renderMessage(error.message);
      else this.state?.showError(error);
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
    (0, import_obsidian12.setIcon)(button, icon);
    button.addEventListener("click", () => {
      void this.context.change({ [key]: !isOn }).then(() => {
        this.renderHead();
        this.render();
        this.headEl.querySelector(`[aria-label="${text}"]`)?.focus();
      });
    });
  }
  renderMessage(text) {
    this.bodyEl.empty();
    this.bodyEl.createDiv({ cls: "pane-empty", text });
  }
  render() {
    if (!this.file || !this.related) return;
    this.bodyEl.empty();
    const { hideLinked, hideSameFolder } = this.context.settings;
    const folder = folderOf(this.file.path);
    const notes = this.related.results.filter((note) => !(hideLinked && note.links.length > 0) && !(hideSameFolder && folderOf(note.path) === folder)).slice(0, NOTES);
    const near = this.addSection("Related", notes.length);
    for (const note of notes) this.addNote(near, note);
    const mentions = this.mentions?.mentions ?? [];
    const unlinked = this.addSection("Unlinked mentions", mentions.length);
    for (const mention of mentions) this.addMention(unlinked, mention);
  }
  addSection(title, count) {
    const section = this.bodyEl.createDiv({ cls: "vault-indexer-section", attr: { role: "region", "aria-label": title } });
    const head = section.createDiv({ cls: "tree-item-self vault-indexer-section-title" });
    head.createDiv({ cls: "tree-item-inner", text: title });
    head.createDiv({ cls: "tree-item-flair-outer" }).createSpan({ cls: "tree-item-flair", text: String(count) });
    if (count === 0) section.createDiv({ cls: "pane-empty", text: "None" });
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
  addNote(section, note) {
    const el = this.addItem(section, (event) => void openNote(this.app, note.path, whereOf(event)));
    el.dataset["path"] = note.path;
    el.draggable = true;
    el.addEventListener("dragstart", (event) => {
      const source = targetEditor(this.app)?.path ?? "";
      event.dataTransfer?.setData("text/plain", linkTo(this.app, note.path, source));
    });
    const inner = el.createDiv({ cls: "tree-item-inner" });
    inner.createDiv({ cls: "vault-indexer-note-title", text: note.title, attr: { dir: "auto" } });
    for (const text of relatedLines(note)) inner.createDiv({ cls: "vault-indexer-reason", text });
    this.addHover(el, note.path, null);
  }
  addMention(section, mention) {
    const el = this.addItem(section, (event) => void this.openMention(mention, event));
    el.dataset["path"] = mention.path;
    el.dataset["line"] = String(mention.line);
    const inner = el.createDiv({ cls: "tree-item-inner" });
    inner.createDiv({ cls: "vault-indexer-note-title", text: mention.title, attr: { dir: "auto" } });
    const snippet = inner.createDiv({ cls: "vault-indexer-snippet", attr: { dir: "auto" } });
    for (const { text, marked } of segments(mention.snippet, mention.marks)) {
      if (marked) snippet.createEl("mark", { cls: "vault-indexer-mark", text });
      else snippet.appendText(text);
    }
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
    if (!this.file) return;
    if (await linkMention(this.app, this.file, mention)) {
      el.remove();
      this.watch();
    } else {
      new import_obsidian12.Notice("The note has changed since it was indexed. Try again in a moment.");
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
var import_obsidian13 = require("obsidian");
var MOD = import_obsidian13.Platform.isMacOS ? "\u2318" : "ctrl";
var ALT = import_obsidian13.Platform.isMacOS ? "\u2325" : "alt";
var INSTRUCTIONS = [
  ["\u2191\u2193", "to navigate"],
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
var SearchModal = class extends import_obsidian13.Modal {
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
var import_obsidian14 = require("obsidian");
var SEARCH_VIEW = "vault-indexer-search";
var SearchView = class extends import_obsidian14.ItemView {
  constructor(leaf, context) {
    super(leaf);
    this.context = context;
    this.icon = "search-check";
    this.navigation = false;
    this.scope = new import_obsidian14.Scope(context.app.scope);
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
var import_obsidian15 = require("obsidian");
var DEVICE_KEYS = ["mayStart", "indexFolder"];
var VaultIndexerSettingTab = class extends import_obsidian15.PluginSettingTab {
  constructor(plugin, context) {
    super(context.app, plugin);
    this.context = context;
  }
  context;
  getSettingDefinitions() {
    return [
      {
        type: "group",
        heading: "Search",
        items: [
          {
            name: "Places at most",
            desc: "How many places a search lists.",
            control: { type: "number", key: "limit", defaultValue: DEFAULTS.limit, min: 1, max: 200, step: 1 }
          },
          {
            name: "Keep recent queries",
            desc: "Shown when the search is empty. Kept on this computer only.",
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
            desc: "Only if the daemon was started with an index folder of its own. Empty finds it by the vault.",
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
var VaultIndexerPlugin = class extends import_obsidian16.Plugin {
  modal = null;
  async onload() {
    const context = new Context(this.app, (settings) => this.saveData(settings));
    const stored = await this.loadData();
    context.settings = { ...DEFAULTS, ...stored };
    this.registerView(SEARCH_VIEW, (leaf) => new SearchView(leaf, context));
    this.registerView(RELATED_VIEW, (leaf) => new RelatedView(leaf, context));
    this.registerHoverLinkSource(HOVER_SOURCE, { display: "Vault Indexer", defaultMod: true });
    this.addRibbonIcon("search-check", "Search by meaning, word and link", () => this.openSearch(context, ""));
    this.addSettingTab(new VaultIndexerSettingTab(this, context));
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
    if (leaf.view instanceof SearchView) leaf.view.focus();
  }
};
function selectionOf(editor) {
  return editor.getSelection().replace(/\s+/g, " ").trim().slice(0, 1e3);
}
