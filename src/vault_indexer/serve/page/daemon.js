/**
 * The daemon as all views see it: whether it answers, its status, which notes changed. One tab of the browser asks it,
 * of those that are seen, and tells the others: a browser opens six connections to a server, and each tab needs some.
 */

import { ApiError, VAULT, get, isKnownDaemon, statusOf, watchEvents } from "./api.js";

/**
 * @typedef {object} DaemonState
 * @property {"asked" | "answering" | "lost" | "changed"} contact "changed": it does not know the token any more
 * @property {import("./shapes").StatusReport | null} status as `GET /v1/status` says it; null until it is known, and where no vault is chosen
 * @property {VaultState[]} vaults all vaults, where none is chosen
 */

/**
 * @typedef {object} VaultState
 * @property {string} name
 * @property {string} state
 * @property {number} [seq]
 * @property {{ notes: number, total: number } | null} progress of a build
 */

const RETRY_MS = 1000;
const POLL_MS = 2000;

/** @type {DaemonState} */
let current = { contact: "asked", status: null, vaults: [] };

let isFollowed = false;

/** Whether this tab asks the daemon for all. */
let leads = false;

const SHARED = `daemon:${VAULT}`;
const channel = new BroadcastChannel(SHARED);

/** What is known now. The event `daemon` of the document tells of each change. */
export function daemonState() {
  return current;
}

/** @param {Partial<DaemonState>} change */
function tell(change) {
  current = { ...current, ...change };
  if (leads && current.contact !== "changed") channel.postMessage({ state: current });
  document.dispatchEvent(new CustomEvent("daemon", { detail: current }));
}

/** Whether notes have changed that a hidden tab did not fetch. */
let isBehind = false;

/**
 * Notes have changed. The event `renewed` of the document has their paths, or null if any may have changed.
 * @param {string[] | null} paths
 */
function tellChanges(paths) {
  if (leads) channel.postMessage({ changes: paths });
  if (document.hidden) isBehind = true;
  else document.dispatchEvent(new CustomEvent("renewed", { detail: paths }));
}

/**
 * The daemon does not answer, as a request has found.
 * @param {unknown} error
 */
export function noteLoss(error) {
  if (!(error instanceof ApiError && error.status === 0 && current.contact === "answering")) return;
  tell({ contact: "lost" });
  if (!leads) setTimeout(() => channel.postMessage("ask"), RETRY_MS);
}

/** @param {MessageEvent} message of another tab */
function hear({ data }) {
  if (data === "ask" && leads) channel.postMessage({ state: current });
  if (leads || !isFollowed) return;
  if (data.state) tell(data.state);
  if (data.changes !== undefined) tellChanges(data.changes);
}

/**
 * Follow the daemon as long as the page is open. The token goes to no server that has not proved to be ours.
 * @param {boolean} hasVault whether there is one vault whose status can be asked for
 */
export async function followDaemon(hasVault) {
  if (isFollowed) return;
  isFollowed = true;
  channel.addEventListener("message", hear);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && isBehind) document.dispatchEvent(new CustomEvent("renewed", { detail: null }));
    if (!document.hidden) isBehind = false;
  });
  while (isFollowed) {
    await seen();
    const hidden = new AbortController();
    const stop = () => document.hidden && hidden.abort();
    document.addEventListener("visibilitychange", stop);
    channel.postMessage("ask");
    try {
      await navigator.locks.request(SHARED, { signal: hidden.signal }, () => lead(hidden.signal, hasVault));
    } catch (error) {
      if (!hidden.signal.aborted) throw error;
    } finally {
      document.removeEventListener("visibilitychange", stop);
    }
  }
}

/**
 * Ask the daemon, for this tab and the others, until this tab is hidden or the daemon is lost.
 * @param {AbortSignal} hidden
 * @param {boolean} hasVault
 */
async function lead(hidden, hasVault) {
  leads = true;
  try {
    if (!(await isKnownDaemon(hidden))) {
      isFollowed = false;
      channel.removeEventListener("message", hear);
      tell({ contact: "changed" });
      return;
    }
    if (hasVault) await followStatus(hidden);
    else await poll(hidden);
  } catch (error) {
    if (!hidden.aborted) tell({ contact: "lost" });
  } finally {
    if (!hidden.aborted && isFollowed) await pause(RETRY_MS);
    leads = false;
  }
}

/** @param {AbortSignal} signal */
async function followStatus(signal) {
  let isFirst = true;
  const show = (/** @type {import("./shapes").StatusReport} */ status) => {
    const before = current.contact === "answering" && isFirst ? current.status : null;
    isFirst = false;
    tell({ contact: "answering", status });
    if (before && (before.seq !== status.seq || before.generation !== status.generation)) tellChanges(null);
  };
  try {
    await watchEvents((name, data) => {
      if (name === "status") show(data);
      if (name === "notes") tellChanges(data.more ? null : [...data.changed, ...data.removed]);
    }, signal);
  } catch (error) {
    // More browsers are open than the daemon has streams for.
    if (!(error instanceof ApiError && error.status === 503)) throw error;
    show(await get("status", {}, signal));
    return;
  }
  throw new ApiError(0, "The stream has ended.");
}

/** @param {AbortSignal} signal */
async function poll(signal) {
  for (;;) {
    const { vaults: listed } = await get("vaults", {}, signal);
    const vaults = await Promise.all(listed.map((/** @type {VaultState} */ one) => vaultState(one, signal)));
    const isNews = JSON.stringify(vaults) !== JSON.stringify(current.vaults);
    const seqs = (/** @type {VaultState[]} */ all) => all.map(({ name, seq }) => `${name} ${seq}`).join();
    const isChanged = current.vaults.length > 0 && seqs(vaults) !== seqs(current.vaults);
    if (isNews || current.contact !== "answering") tell({ contact: "answering", vaults });
    if (isChanged) tellChanges(null);
    await pause(POLL_MS);
  }
}

/**
 * The status of a vault; what the list of vaults says where it has none.
 * @param {{ name: string, state: string }} listed
 * @param {AbortSignal} signal
 * @returns {Promise<VaultState>}
 */
async function vaultState({ name, state }, signal) {
  try {
    const status = await statusOf(name, signal);
    const { notes, total } = status.progress ?? {};
    return { name, state: status.state, seq: status.seq, progress: status.progress && { notes, total } };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 0 || error.status === 401) throw error;
    return { name, state, progress: null }; // it is being opened again
  }
}

/** @returns {Promise<void>} when the tab is seen */
function seen() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("visibilitychange", () => resolve(), { once: true }));
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
