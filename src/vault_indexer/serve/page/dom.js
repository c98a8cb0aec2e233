/**
 * Building the page without markup: elements are made one by one, and texts are always text nodes.
 * No file of this page assigns `innerHTML` or anything like it; a test checks that.
 */

/** @typedef {Node | string | number | null | undefined | false} Child */

/** Attributes that `h` may set. Anything else is a mistake in this page, and is refused. */
const ATTRIBUTES = new Set([
  "alt", "class", "colspan", "datetime", "dir", "disabled", "for", "height", "hidden", "href", "id", "lang", "max", "min",
  "name", "open", "placeholder", "rel", "role", "scope", "spellcheck", "start", "tabindex", "target", "title", "type",
  "value", "viewBox", "width", "autocomplete", "checked", "selected", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy",
  "r", "d", "transform", "text-anchor", "enterkeyhint", "draggable", "controls", "preload", "download",
]);

/** Addresses that a link may have: those of `SCHEMES` on the server, and this page's own. */
const ADDRESSES = new RegExp("^(?:(?:https?|mailto|anki|bear|callto|cursor|devonthink|discord|drafts|drafts5|evernote|"
  + "facetime|figma|geo|hook|idea|irc|ircs|jetbrains|kindle|linear|logseq|magnet|marginnote3app|matrix|message|"
  + "messages|mid|msteams|notion|obsidian|omnifocus|raycast|readwise|reminders|sgnl|sip|skype|slack|sms|spotify|tel|"
  + "tg|things|ticktick|todoist|ulysses|vscode|vscode-insiders|vscodium|webcal|whatsapp|wiki|x-devonthink-item|xmpp|"
  + "zed|zoommtg|zotero):|(?:/vault/[a-z0-9-]+/)?#/)", "i");

/** Addresses that a browser would run or read itself: none is that of an editor, which the server says. */
const RUN_HERE = /^\s*(?:about|blob|data|file|filesystem|javascript|vbscript|view-source):/i;

/** What the source of a picture may be: bytes that this page has fetched itself. */
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml);base64,/;

/** The address of a file of the vault; see `fileAddress`. */
const FILE = /^(?:\/vault\/[a-z0-9-]+)?\/v1\/file\?/;

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {Element} T
 * @param {T} element
 * @param {Record<string, unknown>} attributes
 * @param {Child[]} children
 * @returns {T}
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "editor") {
      if (!RUN_HERE.test(String(value))) element.setAttribute("href", String(value));
    } else if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (name === "href" && !ADDRESSES.test(String(value)) && !FILE.test(String(value))) {
      continue;
    } else if (name === "src") {
      const allowed = element.localName === "img" ? PICTURE : FILE;
      if (allowed.test(String(value))) element.setAttribute(name, String(value));
    } else if (ATTRIBUTES.has(name) || /^(?:aria|data)-[a-z-]+$/.test(name)) {
      element.setAttribute(name, value === true ? "" : String(value));
    } else {
      throw new TypeError(`attribute ${name}`);
    }
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(child instanceof Node ? child : String(child).replaceAll("\f", " ")); // a box in most fonts
    }
  }
  return element;
}

/**
 * An HTML element. Attributes `on…` are listeners, `editor` is the address of a file in the user's editor; null and
 * false leave an attribute or child out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, unknown>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/**
 * An SVG element.
 * @param {string} name
 * @param {Record<string, unknown>} [attributes]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function svg(name, attributes = {}, ...children) {
  return fill(/** @type {SVGElement} */ (document.createElementNS(SVG, name)), attributes, children);
}

/**
 * The text with its marks. Marks count code points, as the server does; JavaScript counts UTF-16 units.
 * @param {string} text
 * @param {number[][]} marks
 * @returns {Child[]}
 */
export function marked(text, marks) {
  if (!marks.length) return [text];
  const points = Array.from(text);
  /** @type {Child[]} */
  const parts = [];
  let at = 0;
  for (const [start, end] of marks) {
    if (start < at) continue;
    parts.push(points.slice(at, start).join(""), h("mark", {}, points.slice(start, end).join("")));
    at = end;
  }
  parts.push(points.slice(at).join(""));
  return parts;
}

/**
 * The marked parts of a text.
 * @param {string} text
 * @param {number[][]} marks
 */
export function marksOf(text, marks) {
  const points = Array.from(text);
  return marks.map(([start, end]) => points.slice(start, end).join(""));
}

/**
 * Say something to screen readers.
 * @param {string} text
 */
export function announce(text) {
  const place = document.getElementById("announce");
  if (place && place.textContent !== text) place.textContent = text;
}

/** @param {() => void} act once the page is drawn as it is now */
export function afterPaint(act) {
  requestAnimationFrame(() => setTimeout(act));
}

let hiding = 0;

/**
 * Copy a text, and tell whether the browser allows it: not over HTTP from another machine.
 * @param {string} text
 */
export async function copy(text) {
  const isCopied = await navigator.clipboard?.writeText(text).then(() => true, () => false) ?? false;
  tell(isCopied ? "Copied." : "Not copied: the browser does not allow it on this page.");
}

/** @param {string} text what is shown and said for some seconds */
export function tell(text) {
  announce(text);
  const shown = byId("announce").classList;
  shown.replace("hidden", "shown");
  clearTimeout(hiding);
  hiding = setTimeout(() => shown.replace("shown", "hidden"), 3000);
}

/** @type {string} what the tab shows */
let titled = "";

/**
 * Name the tab: what it shows, and the vault.
 * @param {string} [shown] the one before, if it is left out: the name of the vault is known now
 */
export function setTitle(shown = titled) {
  titled = shown;
  document.title = [shown, byId("vault").textContent].filter(Boolean).join(" · ");
}

/**
 * The element with an id, which the page has.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}

/**
 * A number for a person.
 * @param {number} value
 */
export function count(value) {
  return value.toLocaleString("en");
}

/**
 * A count with its noun.
 * @param {number} value
 * @param {string} noun
 */
export function quantity(value, noun) {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}
