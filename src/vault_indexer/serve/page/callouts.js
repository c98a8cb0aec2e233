/** The kinds of callouts, each with its icon; `note.css` has their colours. */

import { svg } from "./dom.js";

const CIRCLE = "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18";

/** @type {Map<string, string>} lines of a picture of 24 by 24 units */
const ICONS = new Map(Object.entries({
  note: "M4 20l1-4L16 5l3 3L8 19z",
  abstract: "M6 4h12v16H6zM9 9h6M9 13h6",
  info: `${CIRCLE}M12 11v6M12 7.5v.1`,
  todo: `${CIRCLE}M8 12l3 3l5-6`,
  tip: "M9 18h6M10 21h4M9 15a6.5 6.5 0 1 1 6 0v1H9z",
  success: "M4 13l5 5L20 6",
  question: `${CIRCLE}M9.5 9.8a2.5 2.5 0 1 1 3.6 2.2q-1.1.6-1.1 1.8M12 17v.1`,
  warning: "M12 4L2.5 20h19zM12 10v5M12 17.4v.1",
  failure: "M6 6l12 12M18 6L6 18",
  danger: "M13 3L5 14h6l-1 7l8-11h-6z",
  bug: "M8 9a4 4 0 0 1 8 0v6a4 4 0 0 1-8 0zM3 12h5M16 12h5M4 6l4 3M20 6l-4 3M4 19l4-3M20 19l-4-3",
  example: "M4 6h1M9 6h11M4 12h1M9 12h11M4 18h1M9 18h11",
  quote: "M4 6h6v6q0 5-5 6q2-2 2-6H4zM14 6h6v6q0 5-5 6q2-2 2-6h-3z",
}));

/** @type {Map<string, string>} other names of the kinds */
const ALIASES = new Map(Object.entries({
  summary: "abstract", tldr: "abstract", hint: "tip", important: "tip", check: "success", done: "success", help: "question",
  faq: "question", caution: "warning", attention: "warning", fail: "failure", missing: "failure", error: "danger",
  cite: "quote",
}));

/**
 * The kind that a note means; one that is not known is a note.
 * @param {string} written
 */
export function calloutKind(written) {
  const name = written.split("|")[0].trim().toLowerCase();
  return ICONS.has(name) ? name : ALIASES.get(name) ?? "note";
}

/**
 * The icon of a kind.
 * @param {string} kind
 */
export function calloutIcon(kind) {
  return svg("svg", { viewBox: "0 0 24 24", class: "callout-icon", role: "img", "aria-label": kind },
    svg("path", { d: ICONS.get(kind) }));
}
