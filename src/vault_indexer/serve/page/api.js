/** The daemon's API: every answer of this page comes from it, with the token in a header. */

const KEY = "vault-indexer-token";

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
 * @param {string} path
 * @param {RequestInit} init
 * @returns {Promise<Response>}
 */
async function request(path, init) {
  /** @type {Record<string, string>} */
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}` };
  if (init.body) headers["Content-Type"] = "application/json";
  /** @type {Response} */
  let response;
  try {
    response = await fetch(`${BASE}${path}`, { ...init, headers, cache: "no-store", credentials: "omit", redirect: "error" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "The daemon does not answer. Run indexer open to start it and to open this page again.");
  }
  if (!response.ok) {
    const said = await response.json().catch(() => null);
    throw new ApiError(response.status, said?.error?.message ?? `status ${response.status}`);
  }
  return response;
}

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
  const response = await request(`/v1/${route}${given.length ? `?${query}` : ""}`, { signal });
  return response.json();
}

/**
 * An order.
 * @param {string} route
 * @param {Record<string, unknown>} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function post(route, body = {}, signal) {
  return (await request(`/v1/${route}`, { method: "POST", body: JSON.stringify(body), signal })).json();
}

/**
 * The status of the daemon, each time it changes, until the signal ends it. An EventSource cannot send the
 * token, so the stream is read by `fetch`.
 * @param {(status: any) => void} show
 * @param {AbortSignal} signal
 */
export async function watchStatus(show, signal) {
  const response = await request("/v1/events", { signal });
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = event.split("\n").find((line) => line.startsWith("data: "));
      if (data) show(JSON.parse(data.slice("data: ".length)));
    }
  }
}
