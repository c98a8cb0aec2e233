/**
 * A note's tree, as the server parsed it, as elements. Each kind of node has its row here; a kind that has none is
 * shown by its text. Nothing that a note says becomes the name of an element or of an attribute.
 */

import { h } from "./dom.js";
import { address } from "./route.js";

/**
 * @typedef {object} Node
 * @property {string} t
 * @property {number} [l]
 * @property {(Node | string)[]} [c]
 * @property {string} [text]
 * @property {string} [href]
 * @property {string | null} [path]
 * @property {string} [subpath]
 * @property {string} [lang]
 * @property {number} [level]
 * @property {number} [start]
 * @property {string} [task]
 * @property {string} [callout]
 * @property {(Node | string)[]} [title]
 * @property {string} [name]
 * @property {string} [alt]
 */

/** @type {Record<string, keyof HTMLElementTagNameMap>} */
const PLAIN = {
  p: "p", ul: "ul", em: "em", strong: "strong", del: "del", mark: "mark", thead: "thead", tbody: "tbody", tr: "tr",
  td: "td", span: "span",
};

/**
 * The body of a note.
 * @param {Node[]} blocks
 * @returns {DocumentFragment}
 */
export function renderBlocks(blocks) {
  const fragment = document.createDocumentFragment();
  fragment.append(...children(blocks));
  return fragment;
}

/**
 * The innermost block that holds a line of the file, or the last one before it.
 * @param {Element} root
 * @param {number} line
 * @returns {HTMLElement | null}
 */
export function blockAt(root, line) {
  /** @type {HTMLElement | null} */
  let found = null;
  let best = 0;
  for (const block of root.querySelectorAll("[data-line]")) {
    const at = block instanceof HTMLElement ? Number(block.dataset.line) : Infinity;
    if (at > line || at < best) continue;
    found = /** @type {HTMLElement} */ (block);
    best = at;
  }
  return found;
}

/**
 * @param {(Node | string)[] | undefined} nodes
 * @returns {(HTMLElement | string)[]}
 */
function children(nodes) {
  return (nodes ?? []).map((node) => (typeof node === "string" ? node : element(node)));
}

/**
 * @param {Node} node
 * @returns {HTMLElement}
 */
function element(node) {
  const line = node.l === undefined ? {} : { "data-line": node.l };
  switch (node.t) {
    case "h":
      return heading(node);
    case "pre":
      return h("pre", { ...line, tabindex: 0, "aria-label": `Code ${node.lang ?? ""}`.trim(), role: "region" },
        h("code", {}, node.text));
    case "ol":
      return h("ol", { ...line, start: node.start }, ...children(node.c));
    case "li":
      return item(node);
    case "quote":
      return quote(node);
    case "table":
      return h("div", { ...line, class: "scroll", role: "region", tabindex: 0, "aria-label": "Table" },
        h("table", {}, ...children(node.c)));
    case "th":
      return h("th", { scope: "col" }, ...children(node.c));
    case "hr":
      return h("hr", line);
    case "br":
      return h("br");
    case "code":
      return h("code", {}, node.text);
    case "math":
      return h("code", { class: "math", title: "math" }, node.text);
    case "html":
      return h("code", { class: "raw", title: "HTML is shown, not run" }, node.text);
    case "tag":
      return h("a", { class: "tag", href: address("search", { f: [`tag:#${node.text}`] }) }, `#${node.text}`);
    case "a":
      return h("a", { href: node.href, rel: "noreferrer noopener", target: "_blank", class: "external" },
        ...children(node.c));
    case "note":
      return noteLink(node);
    case "embed":
    case "img":
      return placeholder(node);
    default:
      return h(PLAIN[node.t] ?? "span", line, ...(node.c ? children(node.c) : [node.text]));
  }
}

/** @param {Node} node */
function heading(node) {
  // The title of the page is the only h1.
  const level = Math.min(6, Math.max(2, (node.level ?? 1) + 1));
  const name = /** @type {"h2" | "h3" | "h4" | "h5" | "h6"} */ (`h${level}`);
  return h(name, { "data-line": node.l, tabindex: -1 }, ...children(node.c));
}

/** @param {Node} node */
function item(node) {
  if (node.task === undefined) return h("li", { "data-line": node.l }, ...children(node.c));
  const done = node.task !== " ";
  const box = h("span", { class: done ? "box done" : "box", role: "img", "aria-label": done ? "done" : "to do" });
  return h("li", { "data-line": node.l, class: "task" }, box, h("div", {}, ...children(node.c)));
}

/** @param {Node} node */
function quote(node) {
  if (node.callout === undefined) return h("blockquote", { "data-line": node.l }, ...children(node.c));
  return h("blockquote", { "data-line": node.l, class: "callout" },
    h("p", { class: "callout-kind" }, ...(node.title?.length ? children(node.title) : [node.callout])),
    ...children(node.c));
}

/** @param {Node} node */
function noteLink(node) {
  const shown = children(node.c);
  if (node.path === null) return h("span", { class: "unresolved", title: "No file has this name yet" }, ...shown);
  if (!node.path) return h("span", { class: "within" }, ...shown);
  if (!/\.(?:md|canvas)$/i.test(node.path)) return h("span", { class: "file", title: node.path }, ...shown);
  return h("a", { class: "wikilink", href: address("note", { path: node.path, at: node.subpath }) }, ...shown);
}

/** Which files `fillEmbeds` shows as pictures; the daemon decides what a file is by its content. */
const PICTURE = /\.(?:png|jpe?g|gif|webp|avif|svg)$/i;

/** What `![[picture|300]]` or `![alt|300x200](picture)` says of the size, in CSS pixels. */
const SIZE = /^(?:.*\|)?(\d{1,4})(?:x(\d{1,4}))?$/;

/**
 * A picture or an embedded note, by name; `fillEmbeds` shows what is in the vault. The page loads nothing of
 * another host.
 * @param {Node} node
 */
function placeholder(node) {
  const name = node.alt || node.name || children(node.c).map((one) => (typeof one === "string" ? one : "")).join("");
  if (node.path && PICTURE.test(node.path)) {
    const size = SIZE.exec(name);
    const alt = size ? name.slice(0, Math.max(0, name.lastIndexOf("|"))) : name;
    return h("span", { class: "embed", "data-picture": node.path, "data-width": size?.[1], "data-height": size?.[2],
      title: node.path }, alt || node.path.split("/").pop());
  }
  if (node.href) {
    return h("a", { class: "embed", href: node.href, rel: "noreferrer noopener", target: "_blank" },
      `Picture elsewhere: ${name || node.href}`);
  }
  if (node.path && /\.(?:md|canvas)$/i.test(node.path)) {
    return h("a", { class: "embed", "data-note": node.path, "data-part": node.subpath ?? "",
      href: address("note", { path: node.path, at: node.subpath }) }, `Embedded: ${name}`);
  }
  return h("span", { class: node.path ? "embed" : "embed unresolved", title: node.path ?? "No file has this name" },
    `Attachment: ${name || node.path || ""}`);
}
