/** The daemon as all views see it: whether it answers, and its status, followed while the tab is seen. */

import { ApiError, get, isKnownDaemon, statusOf, watchStatus } from "./api.js";

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
 * @property {{ notes: number, total: number } | null} progress of a build
 */

const RETRY_MS = 1000;
const POLL_MS = 2000;

/** @type {DaemonState} */
let current = { contact: "asked", status: null, vaults: [] };

let isFollowed = false;

/** What is known now. The event `daemon` of the document tells of each change. */
export function daemonState() {
  return current;
}

/** @param {Partial<DaemonState>} change */
function tell(change) {
  current = { ...current, ...change };
  document.dispatchEvent(new CustomEvent("daemon", { detail: current }));
}

/**
 * The daemon does not answer, as a request has found.
 * @param {unknown} error
 */
export function noteLoss(error) {
  if (error instanceof ApiError && error.status === 0 && current.contact === "answering") tell({ contact: "lost" });
}

/**
 * Follow the daemon as long as the page is open. The token goes to no server that has not proved to be ours.
 * @param {boolean} hasVault whether there is one vault whose status can be asked for
 */
export async function followDaemon(hasVault) {
  if (isFollowed) return;
  isFollowed = true;
  for (;;) {
    await seen();
    const hidden = new AbortController();
    const stop = () => document.hidden && hidden.abort();
    document.addEventListener("visibilitychange", stop);
    try {
      if (!(await isKnownDaemon(hidden.signal))) {
        isFollowed = false;
        tell({ contact: "changed" });
        return;
      }
      if (hasVault) await followStatus(hidden.signal);
      else await poll(hidden.signal);
    } catch (error) {
      if (!hidden.signal.aborted) tell({ contact: "lost" });
    } finally {
      document.removeEventListener("visibilitychange", stop);
    }
    if (!hidden.signal.aborted) await pause(RETRY_MS);
  }
}

/** @param {AbortSignal} signal */
async function followStatus(signal) {
  try {
    await watchStatus((status) => tell({ contact: "answering", status }), signal);
  } catch (error) {
    // More tabs are open than the daemon has streams for.
    if (!(error instanceof ApiError && error.status === 503)) throw error;
    tell({ contact: "answering", status: await get("status", {}, signal) });
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
    if (isNews || current.contact !== "answering") tell({ contact: "answering", vaults });
    await pause(POLL_MS);
  }
}

/**
 * The list of vaults says that one is being indexed; how far a build is, its own status says.
 * @param {{ name: string, state: string }} listed
 * @param {AbortSignal} signal
 * @returns {Promise<VaultState>}
 */
async function vaultState({ name, state }, signal) {
  if (!["building", "rebuilding", "indexing"].includes(state)) return { name, state, progress: null };
  try {
    const status = await statusOf(name, signal);
    const { notes, total } = status.progress ?? {};
    return { name, state: status.state, progress: status.progress && { notes, total } };
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
