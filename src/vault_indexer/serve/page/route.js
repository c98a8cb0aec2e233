/** The address of a view: `#/name?key=value`. A fragment is never sent to the server, nor to a log. */

/**
 * @typedef {object} Route
 * @property {string} view
 * @property {URLSearchParams} values
 */

/**
 * The view that the address names.
 * @returns {Route}
 */
export function currentRoute() {
  const found = /^#\/([a-z]+)(?:\?(.*))?$/.exec(location.hash);
  return { view: found?.[1] ?? "search", values: new URLSearchParams(found?.[2] ?? "") };
}

/**
 * The address of a view, for a link. Values that are empty are left out; a list gives its key several times.
 * @param {string} view
 * @param {Record<string, string | number | string[] | undefined>} [values]
 */
export function address(view, values = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== "") query.append(key, String(one));
    }
  }
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

/**
 * The file's name without `.md`.
 *
 * @param {string} path
 */
export function noteName(path) {
  return path.replace(/^.*\//, "").replace(/\.md$/, "");
}

/**
 * The part of a note that headings lead down to, as links name it: without what means something in a link.
 * @param {string[]} headings
 */
export function partBelow(headings) {
  return headings.map((one) => one.replace(/[#|^:%[\]\\\s]+/g, " ").trim()).filter(Boolean).join("#");
}

/**
 * A part of a document as links name it: `page=3` for "page 3".
 * @param {string} [part]
 */
export function placeOfPart(part = "") {
  return /^[a-z]+ \d+$/.test(part) ? part.replace(" ", "=") : undefined;
}

/**
 * The name of the program that opens a file. Null in a folder that is no vault of Obsidian's, without `page.editor`:
 * there the server names the file itself, and a browser opens no file from this page.
 * @param {string} uri of a note or a hit
 */
export function editorName(uri) {
  if (!uri || uri.startsWith("file:")) return null;
  return uri.startsWith("obsidian:") ? "Obsidian" : uri.startsWith("vscode:") ? "VS Code" : "the editor";
}

/**
 * Show another view.
 * @param {string} to an address
 */
export function go(to) {
  location.hash = to;
}

/**
 * Change the address of this view. `push`: the one before stays in the history.
 * @param {string} to
 * @param {boolean} push
 */
export function setAddress(to, push) {
  if (location.hash === to) return;
  if (push) history.pushState(null, "", to);
  else history.replaceState(null, "", to);
}

/** @typedef {{ q: string, f: string[], by: string, sort: string }} Search a query as its view shows it: text, filters, what a hit is, order */

const SEARCH = "search";

/** @param {Search} search what every view offers to search for, until another search; of this tab alone */
export function keepSearch(search) {
  if (search.q || search.f.length) sessionStorage.setItem(SEARCH, JSON.stringify(search));
  else sessionStorage.removeItem(SEARCH);
}

/** @returns {Search} */
export function lastSearch() {
  const none = { q: "", f: [], by: "", sort: "" };
  try {
    return { ...none, ...JSON.parse(sessionStorage.getItem(SEARCH) ?? "{}") };
  } catch {
    return none;
  }
}
