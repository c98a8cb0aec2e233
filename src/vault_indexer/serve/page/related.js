/** Notes near a note, with the reasons in words. A person pins or hides them, for this note and in this browser. */

import { VAULT } from "./api.js";
import { announce, h, quantity } from "./dom.js";
import { address, noteName } from "./route.js";

const STORED = `related:${VAULT}`;

/** @typedef {import("./shapes").RelatedNote} RelatedNote */
/** @typedef {{ pinned: string[], hidden: string[] }} Choice paths of notes */

/**
 * The rows of the notes related to the one at `path`: those that are pinned or near; on demand, the others.
 * @param {string} path
 * @param {RelatedNote[]} notes
 */
export function relatedRows(path, notes) {
  const { pinned, hidden } = choiceOf(path);
  const row = (/** @type {RelatedNote} */ one) => noteRow(one, reasons(one), figures(one),
    pinned.includes(one.path) ? "pinned" : hidden.includes(one.path) ? "hidden" : "", (kind, list) => choose(kind, one.path, list));
  const choose = (/** @type {keyof Choice} */ kind, /** @type {string} */ other, /** @type {Element} */ list) => {
    announce(toggle(path, kind, other));
    list.replaceChildren(...relatedRows(path, notes));
    const again = [...list.children].find((one) => one instanceof HTMLElement && one.dataset.path === other);
    /** @type {HTMLElement | null} */ ((again ?? list).querySelector("button"))?.focus();
  };
  const kept = pinned.map((other) => notes.find((one) => one.path === other) ?? other);
  const rest = notes.filter((one) => !pinned.includes(one.path) && !hidden.includes(one.path));
  const first = [...kept.map((one) => typeof one !== "string" ? row(one)
    : noteRow({ path: one, title: noteName(one) }, "pinned", "", "pinned", (kind, list) => choose(kind, one, list))),
  ...rest.filter(({ near }) => near).map(row)];
  const others = rest.filter(({ near }) => !near);
  const out = notes.filter((one) => hidden.includes(one.path) && !pinned.includes(one.path));
  return [...(first.length ? first : [h("li", { class: "quiet-text" }, "none is close")]),
    ...folded(others.map(row), "less close"), ...folded(out.map(row), "hidden")];
}

/** Why a note is related, in one line. The plugin's `relatedWords` says the same. @param {RelatedNote} note */
function reasons(note) {
  const [from, to] = ["linked from", "links to"].map((one) => note.links.includes(one));
  const shared = note.shared_tags ?? [];
  const tags = shared.filter((tag) => !shared.some((one) => one.startsWith(`${tag}/`)));
  return [
    from && to ? "linked both ways" : from ? "links here" : to ? "linked from here" : "",
    tags.length ? `same tag #${tags[0]}${tags.length > 1 ? ` and ${tags.length - 1} more` : ""}` : "",
    note.closeness && `${note.closeness} in meaning`,
    note.shared_count ? `${quantity(note.shared_count, "link")} in common` : "",
  ].filter(Boolean).join(" · ");
}

/** @param {RelatedNote} note */
function figures({ similarity, score }) {
  return `${similarity === null ? "no similarity is known" : `similarity ${similarity.toFixed(2)}`}, score ${score.toFixed(2)}`;
}

/**
 * Rows that are shown on demand.
 * @param {HTMLElement[]} rows
 * @param {string} name
 */
function folded(rows, name) {
  if (!rows.length) return [];
  const item = h("li", {}, h("button", { type: "button", class: "quiet", onclick: () => {
    item.replaceWith(...rows);
    rows[0].querySelector("a")?.focus();
  } }, `${rows.length} ${name}`));
  return [item];
}

/**
 * @param {{ path: string, title: string }} note
 * @param {string} words
 * @param {string} numbers
 * @param {keyof Choice | ""} state
 * @param {(kind: keyof Choice, list: Element) => void} choose
 */
function noteRow({ path, title }, words, numbers, state, choose) {
  const why = h("p", { class: "line", hidden: true }, numbers);
  const reason = h("button", { type: "button", class: "quiet line", "aria-expanded": "false", title: `${words}: why`, onclick: () => {
    why.hidden = !why.hidden;
    reason.setAttribute("aria-expanded", String(!why.hidden));
  } }, words);
  const button = (/** @type {keyof Choice} */ kind, /** @type {string} */ name) => h("button",
    { type: "button", class: "quiet", "aria-label": `${name} ${title}`, onclick: () => {
      const list = item.closest("ul");
      if (list) choose(kind, list);
    } }, name);
  const item = h("li", { class: "related-note", dir: "auto", "data-path": path },
    h("a", { href: address("note", { path }) }, title), numbers ? reason : h("p", { class: "line" }, words), why,
    h("span", { class: "related-tools" }, button("pinned", state === "pinned" ? "Unpin" : "Pin"),
      button("hidden", state === "hidden" ? "Show" : "Hide")));
  return item;
}

/** @returns {Record<string, Choice>} by the path of the note */
function choices() {
  try {
    const found = JSON.parse(localStorage.getItem(STORED) ?? "{}");
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

/**
 * @param {string} path
 * @returns {Choice}
 */
function choiceOf(path) {
  return choices()[path] ?? { pinned: [], hidden: [] };
}

/**
 * Pin or hide a note, or undo that. Returns what was done.
 * @param {string} path
 * @param {keyof Choice} kind
 * @param {string} other
 */
function toggle(path, kind, other) {
  const { [path]: before, ...rest } = choices();
  const was = before?.[kind]?.includes(other) ?? false;
  const without = (/** @type {keyof Choice} */ name) => (before?.[name] ?? []).filter((one) => one !== other);
  const now = { pinned: without("pinned"), hidden: without("hidden") };
  if (!was) now[kind].push(other);
  const isEmpty = !now.pinned.length && !now.hidden.length;
  localStorage.setItem(STORED, JSON.stringify(isEmpty ? rest : { ...rest, [path]: now }));
  const said = { pinned: ["Pinned.", "No longer pinned."], hidden: ["Hidden.", "Shown again."] };
  return said[kind][Number(was)];
}
