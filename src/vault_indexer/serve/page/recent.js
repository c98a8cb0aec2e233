/** The queries that led to a note, of this tab alone: they end with it, and are told to nobody. */

const KEY = "recent-queries";
const MOST = 6;

/**
 * The newest first.
 * @returns {string[]}
 */
export function recentQueries() {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** @param {string} query a hit of it is opened */
export function rememberQuery(query) {
  const all = [query, ...recentQueries().filter((one) => one !== query)];
  sessionStorage.setItem(KEY, JSON.stringify(all.slice(0, MOST)));
}
