/** Which hits are opened, where the user wants that to be kept: `evals.record_clicks`, off by default. */

import { ApiError, post } from "./api.js";

let records = false;

/**
 * The daemon says whether it keeps clicks. Until it does, none is sent.
 * @param {boolean} wanted
 */
export function recordClicks(wanted) {
  records = wanted;
}

/**
 * A hit is opened. What goes wrong with keeping that is no matter for who wants to read.
 * @param {string} query
 * @param {string} path
 * @param {number} rank from 1 on
 */
export async function recordClick(query, path, rank) {
  if (!records) return;
  try {
    await post("/evals/click", { q: query, path, rank });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 422) records = false;
  }
}
