/** The daemon's API: every answer of this page comes from it, with the token in a header. */

const KEY = "vault-indexer-token";

/** The daemon sends a sign of life every 5 seconds, and answers a search within that time. */
const SILENCE_MS = 12_000;

/** Where the routes begin: `/vault/NAME` if this is the page of one of several vaults. */
const BASE = /^\/vault\/[a-z0-9-]+(?=\/)/.exec(location.pathname)?.[0] ?? "";

/** The name of the vault that the address names; empty if it names none. */
export const VAULT = BASE.slice("/vault/".length);

/**
 * The address of a view of a vault; of this page's own if there is no name.
 * @param {string | undefined} name
 * @param {string} view as `address` gives it
 */
export function inVault(name, view) {
  return name ? `/vault/${name}/${view}` : view;
}

/** A refusal of the daemon, or no answer at all (status 0). */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * Take the token from the address, if it is there, and remove it from the address and the history.
 * @returns {boolean} whether the page has a token
 */
export function takeToken() {
  const found = /^#token=([\w-]+)(.*)$/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(KEY, found[1]);
    const channel = new BroadcastChannel(KEY);
    channel.postMessage({ token: found[1] });
    channel.close();
    history.replaceState(null, "", `${location.pathname}${found[2].startsWith("#/") ? found[2] : "#/search"}`);
  }
  return sessionStorage.getItem(KEY) !== null;
}

/**
 * Use a token that a person pasted, alone or within an address.
 * @param {string} text
 * @returns {boolean} whether there was one
 */
export function useToken(text) {
  const found = /(?:#token=|^)([\w-]{20,})$/.exec(text.trim());
  if (found) sessionStorage.setItem(KEY, found[1]);
  return found !== null;
}

/** Forget a token that the daemon no longer takes. */
export function forgetToken() {
  sessionStorage.removeItem(KEY);
}

/**
 * Tabs of this page share the token: one that was opened from a bookmark asks the others for it.
 * @param {() => void} received called when another tab has sent the token
 */
export function shareToken(received) {
  const channel = new BroadcastChannel(KEY);
  channel.addEventListener("message", (event) => {
    const own = sessionStorage.getItem(KEY);
    if (event.data === "ask" && own) channel.postMessage({ token: own });
    if (!own && typeof event.data?.token === "string" && useToken(event.data.token)) received();
  });
  if (!sessionStorage.getItem(KEY)) channel.postMessage("ask");
}

/**
 * Whether the server at this address knows the token of this tab. It is asked for a proof, and is not sent the
 * token: after a restart another program may listen here.
 * @param {AbortSignal} [signal]
 * @returns {Promise<boolean>}
 */
export async function isKnownDaemon(signal) {
  const challenge = crypto.randomUUID();
  const response = await send(`/v1/proof?challenge=${challenge}`, { signal });
  const proof = response.ok ? (await response.json()).proof : "";
  return proof === await signed(`${location.port || "80"}:${challenge}`);
}

/**
 * The HMAC of a text with the token as key, in hexadecimal.
 * @param {string} text
 */
async function signed(text) {
  const encoder = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", encoder.encode(sessionStorage.getItem(KEY) ?? ""),
    { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const made = await crypto.subtle.sign("HMAC", key, encoder.encode(text));
  return Array.from(new Uint8Array(made), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Seconds for which the address of a file works. */
const PASS_S = 12 * 3600;

/**
 * The address of a file of the vault, for elements that cannot send the token: it has a pass for this file.
 * @param {string} path
 */
export async function fileAddress(path) {
  const until = String(Math.floor(Date.now() / 1000) + PASS_S);
  const query = new URLSearchParams({ path, until, pass: await signed(`${VAULT}\n${until}\n${path}`) });
  return `${BASE}/v1/file?${query}`;
}

/**
 * The text of a file of the vault as it is now. Raises ApiError.
 * @param {string} path
 * @param {AbortSignal} signal
 */
export async function fileText(path, signal) {
  return (await request(await fileAddress(path), { signal }, "")).text();
}

/**
 * @param {string} path
 * @param {RequestInit} init
 * @param {string} [base] where the routes begin
 * @returns {Promise<Response>}
 */
async function send(path, init, base = BASE) {
  try {
    return await fetch(`${base}${path}`, { ...init, cache: "no-store", credentials: "omit", redirect: "error" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "The daemon does not answer.");
  }
}

/**
 * @param {string} path
 * @param {RequestInit} init
 * @param {string} [base] where the routes begin
 * @returns {Promise<Response>}
 */
async function request(path, init, base) {
  /** @type {Record<string, string>} */
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}` };
  if (init.body) headers["Content-Type"] = "application/json";
  const response = await send(path, { ...init, headers }, base);
  if (!response.ok) {
    const said = await response.json().catch(() => null);
    throw new ApiError(response.status, said?.error?.message ?? `status ${response.status}`);
  }
  return response;
}

/**
 * The path of a route; one outside `/v1` is named by its whole path.
 * @param {string} route
 */
const pathOf = (route) => route.startsWith("/") ? route : `/v1/${route}`;

/**
 * An answer of the API; parameters that are undefined or empty are not sent.
 * @param {string} route
 * @param {Record<string, string | number | boolean | undefined>} [parameters]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function get(route, parameters = {}, signal) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  const response = await request(`${pathOf(route)}${given.length ? `?${query}` : ""}`, { signal });
  return response.json();
}

/**
 * The status of a vault, on the page of all.
 * @param {string} vault its name
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
export async function statusOf(vault, signal) {
  return (await request("/v1/status", { signal }, `/vault/${vault}`)).json();
}

/**
 * An order.
 * @param {string} route
 * @param {Record<string, unknown>} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function post(route, body = {}, signal) {
  return (await request(pathOf(route), { method: "POST", body: JSON.stringify(body), signal })).json();
}

/**
 * An order whose answer arrives as lines of JSON. Leaving the loop closes the connection.
 * @param {string} route
 * @param {Record<string, unknown>} body
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<any>}
 */
export async function* postLines(route, body, signal) {
  const response = await request(pathOf(route), { method: "POST", body: JSON.stringify(body), signal });
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (text + value).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) yield JSON.parse(line);
    }
  } catch (error) {
    if (error instanceof TypeError && !signal.aborted) throw new ApiError(0, "The daemon does not answer.");
    throw error;
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * What the daemon tells until it or the signal ends the stream: `status` each time it changes, `notes` with those that
 * changed. An EventSource cannot send the token, so the stream is read by `fetch`. Raises ApiError if nothing comes
 * for `SILENCE_MS`.
 * @param {(name: string, data: any) => void} show
 * @param {AbortSignal} signal
 */
export async function watchEvents(show, signal) {
  const response = await request("/v1/events", { signal });
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await inTime(reader.read());
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      if (data) show(name, JSON.parse(data));
    }
  }
}

/**
 * @template T
 * @param {Promise<T>} answer
 * @returns {Promise<T>}
 */
function inTime(answer) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new ApiError(0, "The daemon does not answer.")), SILENCE_MS);
    answer.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
