/** The keys of the page, for its dialog and for the table of docs/web-page.md, which a test compares. */

import { byId, h } from "./dom.js";

/** @type {[keys: string[], action: string][]} */
export const KEYS = [
  [["Ctrl K"], "open a note by its name, from anywhere (Cmd K on a Mac)"],
  [["/"], "go to the search field"],
  [["↓", "↑"], "move through hits or completions"],
  [["Tab"], "take the completion; an operator, once it is chosen with ↓"],
  [["Enter"], "read the hit; in the search field, the first hit; take the chosen completion"],
  [["Ctrl Space"], "show what can be typed here"],
  [["Esc"], "close completions or a dialog; in the hits, go to the search field"],
  [["o"], "open the hit in Obsidian or the editor of page.editor"],
  [["w"], "show why it is a hit"],
  [["Backspace"], "in an empty search field: remove the last filter"],
  [["g", "h"], "the graph, the health of the vault"],
  [["n", "N"], "in a note that was opened from a hit: the next or the previous matched word"],
  [["?"], "show these keys"],
];

/** Show all keys. Escape leads back. */
export function showKeys() {
  const dialog = h("dialog", { class: "keys", "aria-label": "Keys" }, h("h2", {}, "Keys"),
    h("dl", {}, ...KEYS.flatMap(([keys, action]) => [
      h("dt", {}, ...keys.flatMap((key, at) => [at ? ", " : null, h("kbd", {}, key)])), h("dd", {}, action)])),
    h("p", { class: "line" }, "Single letters and signs can be turned off in Settings."),
    h("button", { type: "button", onclick: () => dialog.close() }, "Close"));
  openDialog(dialog);
}

/**
 * Show a dialog until it is closed; a click next to it closes it.
 * @param {HTMLDialogElement} dialog
 */
export function openDialog(dialog) {
  const before = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    // The browser leads back to what had the focus, unless another answer has replaced it.
    if (!before?.isConnected) (document.getElementById("q") ?? byId("main")).focus();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
