/** Notes by name, from anywhere: a dialog that lists them as one types. */

import { ApiError, VAULT, get, inVault } from "./api.js";
import { daemonState, noteLoss } from "./daemon.js";
import { announce, h, quantity } from "./dom.js";
import { openDialog, showKeys } from "./keys.js";
import { address } from "./route.js";

const LIMIT = 20;

/** @typedef {import("./shapes").ListedNote & { vault?: string }} Named */

/** Open the dialog, unless one is open. */
export function showQuickOpen() {
  if (!document.querySelector("dialog[open]")) new QuickOpen();
}

class QuickOpen {
  constructor() {
    this.active = 0;
    /** @type {Named[]} */
    this.notes = [];
    this.isRunning = false;
    this.opensChosen = false;
    /** The text of the notes that are listed. @type {string | null} */
    this.shown = null;
    this.input = h("input", { type: "search", class: "query", autocomplete: "off", spellcheck: "false", dir: "auto",
      placeholder: "Name of a note", role: "combobox", "aria-label": "Name of a note", "aria-autocomplete": "list",
      "aria-expanded": "true", "aria-controls": "named", enterkeyhint: "go", oninput: () => this.ask(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event) });
    this.list = h("ul", { id: "named", class: "named", role: "listbox", "aria-label": "Notes" });
    this.state = h("p", { class: "line" });
    this.dialog = h("dialog", { class: "quick-open", "aria-label": "Open a note by name" }, this.input, this.list, this.state,
      h("button", { type: "button", class: "quiet", onclick: () => {
        this.dialog.close();
        showKeys();
      } }, "All keys"));
    openDialog(this.dialog);
    void this.ask();
  }

  /** One request runs at a time; after it, the newest text counts. */
  async ask() {
    this.opensChosen = false;
    if (this.isRunning) return;
    this.isRunning = true;
    try {
      while (this.dialog.open && this.shown !== this.input.value) {
        const text = this.input.value;
        const notes = await named(text);
        if (!this.dialog.open) return;
        this.shown = text;
        this.show(notes);
      }
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error;
      noteLoss(error);
      this.shown = null;
      this.notes = [];
      this.list.replaceChildren();
      this.state.textContent = error.message;
      announce(error.message);
    } finally {
      this.isRunning = false;
    }
  }

  /** @param {Named[]} notes */
  show(notes) {
    const chosen = this.active > 0 ? this.notes[this.active] : null; // by the arrows: it stays while it is listed
    this.notes = notes;
    this.list.replaceChildren(...notes.map((note, at) => h("li", { role: "option", id: `named-${at}`,
      "aria-selected": "false", onclick: () => this.open(at) },
      h("span", { class: "named-title", dir: "auto" }, note.title, note.alias ? h("small", {}, ` (${note.alias})`) : null),
      h("small", { class: "named-path", dir: "auto" }, note.vault ? `${note.vault}: ` : null, note.path))));
    const text = !notes.length ? `No note has “${this.shown}” in its name.`
      : this.shown ? quantity(notes.length, "note") : "Changed last";
    this.state.textContent = notes.length === LIMIT && this.shown ? `The first ${LIMIT} notes` : text;
    announce(this.state.textContent);
    this.choose(Math.max(0, notes.findIndex((one) => one.path === chosen?.path && one.vault === chosen.vault)));
    if (this.opensChosen && this.shown === this.input.value) this.open(this.active); // else it is the answer to an older text
  }

  /** @param {number} at */
  choose(at) {
    this.list.children[this.active]?.setAttribute("aria-selected", "false");
    this.active = at;
    const item = this.list.children[at];
    item?.setAttribute("aria-selected", "true");
    item?.scrollIntoView({ block: "nearest" });
    if (item) this.input.setAttribute("aria-activedescendant", item.id);
    else this.input.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.isComposing) return;
    const last = this.notes.length - 1;
    if (event.key === "ArrowDown" && last >= 0) this.choose(this.active < last ? this.active + 1 : 0);
    else if (event.key === "ArrowUp" && last >= 0) this.choose(this.active > 0 ? this.active - 1 : last);
    else if (event.key === "Enter" && this.shown === this.input.value) this.open(this.active);
    else if (event.key === "Enter") this.opensChosen = true;
    else if (event.key === "Escape") this.dialog.close(); // Chromium would empty the field first
    else return;
    event.preventDefault();
  }

  /** @param {number} at */
  open(at) {
    const note = this.notes[at];
    if (!note) return;
    this.dialog.close();
    location.assign(inVault(note.vault, address("note", { path: note.path })));
  }
}

/**
 * The notes with a name, or those changed last; on the page of all vaults, those of each.
 * @param {string} text
 * @returns {Promise<Named[]>}
 */
async function named(text) {
  const asked = { name: text.trim(), limit: LIMIT, order: text.trim() ? undefined : "recent" };
  const { vaults } = daemonState();
  if (VAULT || !vaults.length) return (await get("notes", asked)).notes;
  const lists = await Promise.all(vaults.map(async ({ name }) => {
    const answer = await get("notes", { ...asked, vault: name }).catch((error) => {
      if (error.status === 503) return { notes: [] }; // this vault is not ready
      throw error;
    });
    return answer.notes.map((/** @type {Named} */ note) => ({ ...note, vault: name }));
  }));
  return Array.from({ length: LIMIT }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat().slice(0, LIMIT);
}
