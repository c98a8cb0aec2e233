/** The rows of an Obsidian base as a table, with its views as buttons. */

import { ApiError, get } from "./api.js";
import { announce, h, quantity } from "./dom.js";
import { address } from "./route.js";

/**
 * Whether a file is a base.
 * @param {string} path
 */
export function isBase(path) {
  return path.toLowerCase().endsWith(".base");
}

/** A base in a place of the page. */
export class BaseTable {
  /**
   * @param {string} path of the base, or of the note with the base in a block of code
   * @param {string} within the note that embeds it; "" if it is shown alone
   * @param {string} view
   * @param {AbortSignal} signal
   */
  constructor(path, within, view, signal) {
    this.path = path;
    this.within = within;
    this.view = view;
    this.signal = signal;
    this.place = h("div", { class: "base", "data-shows": path });
    /** How often the rows were fetched: an answer that a later one overtook is not shown. */
    this.sequence = 0;
  }

  /** Fetch the rows and show them, or say why there are none. */
  async fill() {
    const sequence = ++this.sequence;
    try {
      const { path, view, within } = this;
      const block = /** @type {HTMLElement | null} */ (this.place.closest("[data-base]"));
      const found = await get("base", { path, view, shown_in: within, line: block?.dataset.base }, this.signal);
      if (sequence === this.sequence) this.show(found);
    } catch (error) {
      if (this.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      if (sequence === this.sequence) this.place.replaceChildren(h("p", { class: "gone", role: "note" }, error.message));
    }
  }

  /** @param {import("./shapes").BaseView} found */
  show(found) {
    const focused = this.place.contains(document.activeElement);
    const views = found.views.map((name) => h("button", { type: "button", "aria-pressed": String(name === found.view),
      onclick: () => void this.choose(name) }, name));
    const shown = found.rows.length < found.count ? `${found.rows.length} of ` : "";
    this.place.replaceChildren(
      h("div", { class: "tools", role: "group", "aria-label": "Views" }, ...views,
        h("span", { class: "quiet-text" }, `${shown}${quantity(found.count, "file")}`)),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": found.view }, rowsTable(found)));
    if (focused) /** @type {HTMLElement | null} */ (this.place.querySelector("[aria-pressed=true]"))?.focus();
  }

  /** @param {string} name of a view */
  async choose(name) {
    this.view = name;
    await this.fill();
    announce(name);
  }
}

/** @param {import("./shapes").BaseView} found */
function rowsTable(found) {
  const { columns, rows } = found;
  const body = h("tbody");
  let group = "";
  for (const row of rows) {
    const key = JSON.stringify(row.group);
    if (found.group_by && key !== group) {
      group = key;
      body.append(h("tr", {}, h("th", { colspan: columns.length, scope: "rowgroup" }, `${found.group_by}: `, shownCell(row.group))));
    }
    body.append(h("tr", {}, ...row.cells.map((cell) => h("td", { dir: "auto" }, shownCell(cell)))));
  }
  return h("table", { class: "property-table" },
    h("thead", {}, h("tr", {}, ...columns.map((column) => h("th", { scope: "col" }, column.name)))), body,
    columns.some((column) => column.summary) && h("tfoot", {}, h("tr", {}, ...columns.map((column) =>
      h("td", {}, column.summary && `${column.summary}: `, column.summary && shownCell(column.summary_value))))));
}

/**
 * @param {any} cell a JSON value, a link or an error
 * @returns {Node | string}
 */
function shownCell(cell) {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  if (Array.isArray(cell)) return h("ul", {}, ...cell.map((one) => h("li", {}, shownCell(one))));
  if (typeof cell !== "object") return String(cell);
  if (typeof cell.error === "string") return h("span", { class: "unresolved", title: cell.error }, "error");
  if (typeof cell.path === "string" && typeof cell.text === "string") {
    return h("a", { class: "wikilink", href: address("note", { path: cell.path }) }, cell.text);
  }
  if (typeof cell.href === "string") return h("a", { href: cell.href, rel: "noreferrer noopener", target: "_blank" }, cell.text);
  return h("ul", {}, ...Object.entries(cell).map(([key, value]) => h("li", {}, `${key}: `, shownCell(value))));
}
