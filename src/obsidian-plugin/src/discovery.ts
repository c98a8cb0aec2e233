// How the daemon of a vault is found: the vault's signpost in the state folder names the index folder, and
// `daemon.json` in it the address and the token. `src/vault_indexer/daemon/discovery.py` writes these files.

import { Platform, requestUrl } from "obsidian";

/** A running daemon as `daemon.json` describes it. */
export interface DaemonInfo {
  pid: number;
  url: string;
  token: string;
}

/** What the files say: the daemon, if one is announced, and the command that starts one, if it is known. */
export interface Discovery {
  info: DaemonInfo | null;
  command: string[];
  /** Whether the command is for a vault that has had no daemon yet. */
  isNew?: boolean;
  /** Why what was found is not used, for the user; nothing if that is not the reason. */
  problem?: string;
}

export interface Surroundings {
  platform: string;
  home: string;
  env: Record<string, string | undefined>;
}

const LOOPBACK = /^http:\/\/127\.0\.0\.1:\d{1,5}(\/vault\/[a-z0-9-]{1,40})?$/;

/** The folder where daemons leave their signposts: `platformdirs.user_state_path("vault-indexer")`. */
export function stateFolder({ platform, home, env }: Surroundings): string {
  if (platform === "win32") {
    return `${env["LOCALAPPDATA"] ?? `${home}\\AppData\\Local`}\\vault-indexer\\vault-indexer`;
  }
  const named = env["XDG_STATE_HOME"]?.trim() ?? "";
  if (named.startsWith("/")) return `${named}/vault-indexer`;
  return platform === "darwin"
    ? `${home}/Library/Application Support/vault-indexer`
    : `${home}/.local/state/vault-indexer`;
}

/** The daemon of a `daemon.json`; null for a file that is damaged or names another machine. */
export function parseDaemon(text: string): DaemonInfo | null {
  const found = parseObject(text);
  const { pid, url, token } = found;
  if (typeof pid !== "number" || typeof url !== "string" || typeof token !== "string") return null;
  // The token is sent to nobody but this machine, whatever the file says.
  return LOOPBACK.test(url) ? { pid, url, token } : null;
}

/** The command of a `daemon.json` or `start.json`; empty if there is none that is absolute. */
export function parseCommand(text: string): string[] {
  const { command } = parseObject(text);
  if (!Array.isArray(command) || !command.every((part): part is string => typeof part === "string")) return [];
  return /^([/\\]|[A-Za-z]:[/\\])/.test(command[0] ?? "") ? command : [];
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * Reads the files. A folder or file that another user owns or may write is not believed: queries would go to that
 * user, and the command would be theirs. `indexFolder` is where the user's settings say the index is, or empty.
 */
export async function discover(vaultFolder: string, indexFolder: string): Promise<Discovery> {
  if (!Platform.isDesktop) return { info: null, command: [] };
  const separator = vaultFolder.includes("\\") ? "\\" : "/";
  const folder = indexFolder || (await readSignpost(vaultFolder, separator));
  if (!folder) return { info: null, command: [] };
  const [daemonFile, startFile] = [`${folder}${separator}daemon.json`, `${folder}${separator}start.json`];
  if (!(await isOwnFolder(folder))) {
    const problem = (await distrust(folder)) || (indexFolder && noIndexIn(folder));
    return { info: null, command: [], ...(problem && { problem }) };
  }
  const daemon = await readText(daemonFile);
  const start = await readText(startFile);
  const command = parseCommand(daemon);
  const info = parseDaemon(daemon);
  const runs = info !== null && (await provesToken(info));
  const known = command.length > 0 ? command : parseCommand(start);
  const nothing = !daemon && !start && indexFolder ? noIndexIn(folder) : "";
  const problem = runs ? "" : (await distrust(daemonFile)) || (await distrust(startFile)) || nothing;
  return { info: runs ? info : null, command: known, ...(problem && { problem }) };
}

function noIndexIn(folder: string): string {
  return `The setting “Index folder” names a folder without an index: ${folder}`;
}

/** Says why a file or folder is not believed; "" if it is, or is not there. */
async function distrust(path: string): Promise<string> {
  if (!Platform.isDesktop) return "";
  const files = await import("fs/promises");
  const status = await files.lstat(path).catch(() => null);
  if (!status || (!status.isSymbolicLink() && isOwn(status))) return "";
  const reason = status.isSymbolicLink() ? "it is a link" : "another user owns it or may write to it";
  return `Not used, because ${reason}: ${path}`;
}

/**
 * Whether the address answers as this daemon, with a proof that it knows the token, which is not sent: something else
 * may listen where a daemon that was killed did. `GET /v1/proof` gives the HMAC-SHA256 of `PORT:CHALLENGE` by the token,
 * and the process id: the next daemon has the same token.
 */
async function provesToken({ pid, url, token }: DaemonInfo): Promise<boolean> {
  const { origin, port } = new URL(url);
  const { subtle } = window.crypto;
  const challenge = hexadecimal(window.crypto.getRandomValues(new Uint8Array(16)));
  try {
    const answer = await requestUrl({ url: `${origin}/v1/proof?challenge=${challenge}`, throw: false });
    const text = new TextEncoder();
    const hash = { name: "HMAC", hash: "SHA-256" };
    const key = await subtle.importKey("raw", text.encode(token), hash, false, ["sign"]);
    const proof = hexadecimal(new Uint8Array(await subtle.sign("HMAC", key, text.encode(`${port}:${challenge}`))));
    const found = answer.json as { proof?: unknown; pid?: unknown };
    return answer.status === 200 && found.proof === proof && (found.pid ?? pid) === pid;
  } catch {
    return false;
  }
}

function hexadecimal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function readSignpost(vaultFolder: string, separator: string): Promise<string> {
  if (!Platform.isDesktop) return "";
  const files = await import("fs/promises");
  const os = await import("os");
  const real = await files.realpath(vaultFolder).catch(() => vaultFolder);
  const state = stateFolder({ platform: os.platform(), home: os.homedir(), env: process.env });
  const named = await readText([state, "daemons", await digest(real)].join(separator));
  return /^([/\\]|[A-Za-z]:[/\\])/.test(named) ? named : "";
}

/** The name of a vault's signpost: the first 16 hexadecimal digits of the SHA-256 of its real path. */
async function digest(path: string): Promise<string> {
  const hash = await window.crypto.subtle.digest("SHA-256", new TextEncoder().encode(path));
  return hexadecimal(new Uint8Array(hash)).slice(0, 16);
}

/** The text of a regular file of the user's own, read through no link; empty if there is none. */
async function readText(path: string): Promise<string> {
  if (!Platform.isDesktop) return "";
  const files = await import("fs/promises");
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = files.constants;
  // Windows has neither flag, and no owner by a number.
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

const SYSTEM_FOLDERS = ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"];

/**
 * The path of the program `indexer`, where the search path and the installers have it; "" if there is none. What
 * another user may write is not believed: `problem` says so if there is no other.
 */
export async function findProgram(): Promise<{ program: string; problem: string }> {
  let problem = "";
  if (!Platform.isDesktop) return { program: "", problem };
  const files = await import("fs/promises");
  const os = await import("os");
  const isWindows = os.platform() === "win32";
  const listed = (process.env["PATH"] ?? "").split(isWindows ? ";" : ":").map((folder) => folder.replace(/[/\\]$/, ""));
  const others = isWindows ? [] : [`${os.homedir()}/.local/bin`, ...SYSTEM_FOLDERS];
  for (const folder of new Set([...listed, ...others])) {
    const path = isWindows ? `${folder}\\indexer.exe` : `${folder}/indexer`;
    if (!/^([/\\]|[A-Za-z]:[/\\])/.test(folder)) continue;
    const real = await files.realpath(path).catch(() => "");
    const status = real ? await files.stat(real).catch(() => null) : null;
    if (!status?.isFile()) continue;
    const place = real.replace(/[/\\][^/\\]*$/, "");
    if (isOwn(status) && (await isOwnFolder(place))) return { program: path, problem: "" };
    problem ||= await distrust(isOwn(status) ? place : real);
  }
  return { program: "", problem };
}

async function isOwnFolder(path: string): Promise<boolean> {
  if (!Platform.isDesktop) return false;
  const files = await import("fs/promises");
  const status = await files.stat(path).catch(() => null);
  return status !== null && isOwn(status);
}

/** Whether the owner is this user or root, and nobody else may write. */
function isOwn({ uid, mode }: { uid: number; mode: number }): boolean {
  const user = process.geteuid?.();
  return user === undefined || ((uid === user || uid === 0) && (mode & 0o022) === 0);
}
