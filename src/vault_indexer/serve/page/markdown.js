/**
 * A note's tree, as the server parsed it, as elements. Each kind of node has its row here; a kind that has none is
 * shown by its text. Nothing that a note says becomes the name of an element or of an attribute.
 */

import { calloutIcon, calloutKind } from "./callouts.js";
import { codeBlock } from "./code.js";
import { copy, h } from "./dom.js";
import { isViewable } from "./files.js";
import { address } from "./route.js";

/**
 * @typedef {object} Node
 * @property {string} t
 * @property {number} [l]
 * @property {string} [id]
 * @property {(Node | string)[]} [c]
 * @property {string} [text]
 * @property {string} [href]
 * @property {string} [address]
 * @property {string | null} [path]
 * @property {string} [subpath]
 * @property {string | null} [problem] why the subpath leads nowhere
 * @property {string} [lang]
 * @property {number} [level]
 * @property {number} [start]
 * @property {number} [number]
 * @property {number} [part] of a document, that begins here
 * @property {string} [align]
 * @property {string} [task]
 * @property {boolean} [done]
 * @property {string} [callout]
 * @property {string} [fold]
 * @property {(Node | string)[]} [title]
 * @property {string} [name]
 * @property {string} [alt]
 */

/** @type {Record<string, keyof HTMLElementTagNameMap>} */
const PLAIN = {
  ul: "ul", em: "em", strong: "strong", del: "del", mark: "mark", u: "u", kbd: "kbd", sub: "sub", sup: "sup", small: "small",
  q: "q", ruby: "ruby", rt: "rt", rp: "rp",
  thead: "thead", tbody: "tbody", tr: "tr", span: "span", div: "div", details: "details", summary: "summary",
};

/** Kinds whose text has one direction, that of its first letter with one. */
const OWN_DIRECTION = new Set(["ul", "summary", "div"]);

/** Languages that are written from right to left. */
const RIGHT_TO_LEFT = new Set(["ar", "arc", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"]);

/**
 * The body of a note.
 * @param {Node[]} blocks
 * @param {number} above the level of the heading above the text: those of the text are below it, without a gap
 * @returns {DocumentFragment}
 */
export function renderBlocks(blocks, above = 1) {
  const fragment = document.createDocumentFragment();
  orderHeadings(blocks, above, []);
  fragment.append(...children(blocks));
  return fragment;
}

/**
 * The tree of a snippet, with its footnotes where they are referred to: below it is no place for them.
 * @param {Node[]} blocks
 * @returns {Node[]}
 */
export function withInlineFootnotes(blocks) {
  const footnotes = new Map(blocks.filter(({ t }) => t === "footnotes").flatMap(({ c }) => /** @type {Node[]} */ (c ?? []))
    .map((one) => [one.number, one.c ?? []]));
  /** @type {(nodes: (Node | string)[]) => (Node | string)[]} */
  const inline = (nodes) => nodes.flatMap((node) => {
    if (typeof node === "string") return [node];
    const footnote = node.t === "footnote_ref" ? footnotes.get(node.number) : undefined;
    if (!footnote) return [node.c ? { ...node, c: inline(node.c) } : node];
    footnotes.delete(node.number); // it may refer to itself
    return [" (", ...inline(footnote).flatMap((one) => (typeof one === "string" ? [one] : one.c ?? [one])), ")"];
  });
  return /** @type {Node[]} */ (inline(blocks.filter(({ t }) => t !== "footnotes")));
}

/** @type {WeakMap<Element, { key: string, line: number }>} what the blocks of a text show, apart from their lines */
const SHOWN = new WeakMap();

/**
 * Show blocks in a text. Elements of those that have not changed stay where they are. The first heading is hidden if it
 * repeats the title, which stands above the text.
 * @param {HTMLElement} text
 * @param {Node[]} blocks
 * @param {string} title
 * @param {(block: Element) => boolean} isStale whether an element has to be made again
 * @param {(added: DocumentFragment) => void} complete called with the new elements
 */
export function updateBlocks(text, blocks, title, isStale, complete) {
  const first = blocks.find(({ t }) => t === "h");
  const repeated = first && element(first);
  const isTitle = repeated?.textContent?.trim() === title.trim() && !repeated.querySelector("a, button, [data-block], .embed");
  orderHeadings(isTitle ? blocks.filter((one) => one !== first) : blocks, 1, []);
  /** @type {Map<string, Element[]>} */
  const before = new Map();
  for (const one of text.children) {
    const key = SHOWN.get(one)?.key;
    if (key && !isStale(one)) before.set(key, [...(before.get(key) ?? []), one]);
  }
  const added = document.createDocumentFragment();
  const shown = blocks.map((block) => {
    const key = JSON.stringify(block, (name, value) => (name === "l" ? undefined : value));
    const kept = before.get(key)?.shift();
    const made = kept ?? element(block);
    if (kept) moveLines(kept, (block.l ?? 0) - (SHOWN.get(kept)?.line ?? 0));
    else added.append(made);
    SHOWN.set(made, { key, line: block.l ?? 0 });
    if (made instanceof HTMLElement) made.hidden = isTitle && block === first;
    return made;
  });
  complete(added);
  const wanted = new Set(shown);
  for (const one of [...text.children]) if (!wanted.has(one)) one.remove();
  let at = text.firstChild;
  for (const one of shown) {
    if (one === at) at = at.nextSibling;
    else text.insertBefore(one, at);
  }
}

/**
 * @param {Element} block
 * @param {number} by
 */
function moveLines(block, by) {
  if (!by) return;
  for (const one of [block, ...block.querySelectorAll("[data-line]")]) {
    if (!(one instanceof HTMLElement)) continue;
    if (one.dataset.line) one.dataset.line = String(Number(one.dataset.line) + by);
    if (one.dataset.base) one.dataset.base = String(Number(one.dataset.base) + by);
  }
}

/**
 * What a text in a language says to a browser.
 * @param {string} language a code, or nothing
 */
export function languageOf(language) {
  return { lang: language || null, dir: RIGHT_TO_LEFT.has(language) ? "rtl" : null };
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
 * Give each heading, as its `start`, the level of its element: one more than that of the heading it stands below.
 * @param {(Node | string)[]} nodes
 * @param {number} above
 * @param {number[]} open the levels, as written, of the headings above
 */
function orderHeadings(nodes, above, open) {
  for (const node of nodes) {
    if (typeof node === "string") continue;
    if (node.t === "h") {
      const level = node.level ?? 1;
      while (open.length && (open.at(-1) ?? 0) >= level) open.pop();
      open.push(level);
      node.start = Math.min(6, above + open.length);
    }
    orderHeadings(node.c ?? [], above, open);
  }
}

/**
 * @param {(Node | string)[] | undefined} nodes
 * @returns {(Element | string)[]}
 */
function children(nodes) {
  return (nodes ?? []).flatMap((node) => (typeof node === "string" ? inParts(node) : [element(node)]));
}

/**
 * A text, with a place for the name of each part of the document that begins in it.
 * @param {string} text
 * @returns {(Element | string)[]}
 */
function inParts(text) {
  return text.split("\f").flatMap((part, at) => (at ? [h("span", { "data-part": "" }), part] : [part]));
}

/**
 * A block of code; what is drawn of it comes later.
 * @param {Node} node
 * @param {Record<string, unknown>} line
 */
function codeOf(node, line) {
  const code = (/** @type {Record<string, unknown>} */ own) => codeBlock(node.text ?? "", node.lang ?? "", own);
  if (node.lang === "mermaid") return h("div", { ...line, class: "diagram", "data-diagram": "" }, code({}));
  if (node.lang === "base" && node.l) return h("div", { ...line, "data-base": node.l }, code({}));
  return code(line);
}

/** @type {Record<string, (node: Node, line: Record<string, unknown>) => Element>} */
const KINDS = {
  h: heading,
  p: (node, line) => h("p", { ...line, "data-part": node.part, dir: "auto" }, ...children(node.c)),
  pre: codeOf,
  formula: (node, line) => h("div", { ...line, class: "formula", dir: "ltr", "data-formula": "block" }, node.text),
  math: (node) => h("code", { class: "math", dir: "ltr", "data-formula": "line" }, node.text),
  ol: (node, line) => h("ol", { ...line, start: node.start, dir: "auto" }, ...children(node.c)),
  li: item,
  quote,
  table: (node, line) => h("div", { ...line, class: "scroll", role: "group", tabindex: 0, "aria-label": "Table" },
    h("table", { dir: "auto" }, ...children(node.c))),
  th: (node) => (node.c?.length ? h("th", { scope: "col", class: node.align ?? null }, ...children(node.c)) : h("td")),
  td: (node) => h("td", { class: node.align ?? null }, ...children(node.c)),
  hr: (_, line) => h("hr", line),
  br: () => h("br"),
  code: (node) => h("code", {}, ...(node.c ? children(node.c) : [node.text])),
  html: (node) => h("code", { class: "raw", title: "HTML that is shown, not run" }, node.text),
  tag: (node) => h("a", { class: "tag", href: address("search", { f: [`tag:#${node.text}`] }) }, `#${node.text}`),
  a: (node) => h("a", { href: node.href, rel: "noreferrer noopener", class: "external",
    target: /^https?:/i.test(node.href ?? "") ? "_blank" : null }, ...children(node.c)),
  address: closedAddress,
  note: noteLink,
  embed: placeholder,
  img: placeholder,
  footnote_ref: footnoteReference,
  footnotes: (node) => h("section", { class: "footnotes", role: "group", "aria-label": "Footnotes" },
    h("ol", {}, ...children(node.c))),
  footnote,
  properties: (node) => h("table", { class: "property-table" }, h("tbody", {}, ...children(node.c))),
  property: (node) => h("tr", {}, h("th", { scope: "row", dir: "auto" }, node.name), h("td", { dir: "auto" },
    ...children(node.c))),
  check: (node) => h("span", { class: node.done ? "box done" : "box", role: "img", "aria-label": node.done ? "yes" : "no" }),
};

/**
 * @param {Node} node
 * @returns {Element}
 */
function element(node) {
  const line = { "data-line": node.l, "data-block": node.id };
  if (Object.hasOwn(KINDS, node.t)) return KINDS[node.t](node, line);
  const name = Object.hasOwn(PLAIN, node.t) ? PLAIN[node.t] : "span";
  const dir = OWN_DIRECTION.has(node.t) ? "auto" : null;
  return h(name, { ...line, dir }, ...(node.c ? children(node.c) : [node.text]));
}

/**
 * @param {Node} node
 * @param {Record<string, unknown>} line
 */
function heading(node, line) {
  const name = /** @type {"h2" | "h3" | "h4" | "h5" | "h6"} */ (`h${node.start ?? 2}`);
  return h(name, { ...line, class: `heading written-${node.level}`, tabindex: -1, dir: "auto" }, ...children(node.c));
}

/**
 * @param {Node} node
 * @param {Record<string, unknown>} line
 */
function item(node, line) {
  // The list decides on the direction: a paragraph with one of its own would hide its letters from the list.
  const inside = children(node.c);
  for (const one of inside) if (one instanceof HTMLElement && one.localName === "p") one.removeAttribute("dir");
  if (node.task === undefined) return h("li", line, ...inside);
  const done = node.task === "x" || node.task === "X";
  const other = !done && node.task !== " ";
  const box = h("span", { class: done ? "box done" : "box", role: "img",
    "aria-label": done ? "done" : other ? `marked ${node.task}` : "to do" }, other ? node.task : null);
  return h("li", { ...line, class: node.task === "-" ? "task off" : "task" }, box, h("div", {}, ...inside));
}

/**
 * @param {Node} node
 * @param {Record<string, unknown>} line
 */
function quote(node, line) {
  if (node.callout === undefined) return h("blockquote", line, ...children(node.c));
  const kind = calloutKind(node.callout);
  const name = node.callout.split("|")[0].trim();
  const title = node.title?.length ? children(node.title) : [name.charAt(0).toUpperCase() + name.slice(1)];
  const attributes = { ...line, class: `callout is-${kind}` };
  const body = node.c?.length ? h("div", { class: "callout-body" }, ...children(node.c)) : null;
  const heading = [calloutIcon(kind), h("span", {}, ...title)];
  const whole = h("div", { class: "callout-kind", dir: "auto" }, ...heading);
  if (!node.fold || !body) return h("div", attributes, whole, body);
  const open = node.fold === "+";
  if (!whole.querySelector("a, button")) {
    return h("details", { ...attributes, open }, h("summary", { class: "callout-kind", dir: "auto" }, ...heading), body);
  }
  // A link inside a summary could not be reached by a screen reader.
  return h("div", attributes, whole, h("details", { open }, h("summary", { class: "callout-kind" }, "Contents"), body));
}

/** @param {Node} node */
function footnoteReference(node) {
  const number = String(node.number);
  const button = h("button", { type: "button", class: "footnote-mark", "data-footnote-ref": number,
    "aria-label": `Footnote ${number}`, onclick: () => leadTo(button, `[data-footnote="${number}"]`) }, number);
  button.addEventListener("pointerenter", () => {
    button.title = around(button)?.querySelector(`[data-footnote="${number}"] > div`)?.textContent?.trim() ?? "";
  });
  return h("sup", {}, button);
}

/** @param {Node} node */
function footnote(node) {
  const number = String(node.number);
  const back = h("button", { type: "button", class: "quiet", "aria-label": `Back to the reference of footnote ${number}`,
    onclick: () => leadTo(back, `[data-footnote-ref="${number}"]`) }, "↩");
  return h("li", { "data-footnote": number, tabindex: -1 }, h("div", {}, ...children(node.c)), back);
}

/** @param {HTMLElement} place */
function around(place) {
  return place.closest(".embedded, .note-text");
}

/**
 * @param {HTMLElement} from
 * @param {string} selector
 */
function leadTo(from, selector) {
  const to = around(from)?.querySelector(selector);
  if (!(to instanceof HTMLElement)) return;
  to.scrollIntoView({ block: "center" });
  to.focus({ preventScroll: true });
}

/** @param {Node} node */
function noteLink(node) {
  const shown = children(node.c);
  if (!node.path) return h("span", { class: "unresolved", title: "No file has this name yet" }, ...shown);
  if (PICTURE.test(node.path)) {
    return h("button", { type: "button", class: "file", "data-picture-of": node.path, "aria-expanded": "false",
      title: node.path }, ...shown);
  }
  return h("a", { class: node.problem ? "wikilink unresolved" : "wikilink", title: node.problem,
    href: address("note", { path: node.path, at: node.subpath }) }, ...shown);
}

/**
 * A link that a browser does not open from a page, with its address to copy.
 * @param {Node} node
 */
function closedAddress(node) {
  const address = node.address ?? "";
  const shown = children(node.c);
  const isNamed = shown.length !== 1 || shown[0] !== address;
  return h("span", { class: "closed-address" }, ...(isNamed ? [...shown, " "] : []),
    h("button", { type: "button", class: "quiet", dir: "ltr", title: "Copy this address", onclick: () => copy(address) },
      address));
}

/** @param {string} path */
function isNote(path) {
  return /\.(?:md|canvas|base)$/i.test(path);
}

/** Which files `Embeds` shows as pictures; the daemon decides what a file is by its content. */
const PICTURE = /\.(?:png|jpe?g|gif|webp|avif|svg)$/i;

/** @param {string} path */
export function isPicture(path) {
  return PICTURE.test(path);
}

/** What `![[picture|300]]` or `![alt|300x200](picture)` says of the size, in CSS pixels. */
const SIZE = /^(?:.*\|)?(\d{1,4})(?:x(\d{1,4}))?$/;

/**
 * A picture or an embedded note, by name; `Embeds` shows what is in the vault. The page loads nothing of another
 * host.
 * @param {Node} node
 */
function placeholder(node) {
  const name = node.alt || node.name || children(node.c).map((one) => (typeof one === "string" ? one : "")).join("");
  if (node.path && PICTURE.test(node.path)) return picturePlace(node.path, name);
  if (node.href) {
    return h("a", { class: "embed", href: node.href, rel: "noreferrer noopener", target: "_blank" },
      `Picture elsewhere: ${name || node.href}`);
  }
  if (!node.path) return h("span", { class: "embed unresolved", title: "No file has this name" }, `Attachment: ${name}`);
  const kind = isNote(node.path) ? "data-note" : isViewable(node.path) ? "data-file" : "data-name";
  return h("a", { class: "embed", [kind]: node.path, "data-of": node.subpath ?? "", title: node.path,
    href: address("note", { path: node.path, at: node.subpath }) },
    `${isNote(node.path) ? "Embedded" : "Attachment"}: ${name || node.path}`);
}

/**
 * A place that `Embeds` fills with a picture.
 * @param {string} path
 * @param {string} name what is said of it: a text, a size, or both
 */
export function picturePlace(path, name) {
  const size = SIZE.exec(name);
  const alt = size ? name.slice(0, Math.max(0, name.lastIndexOf("|"))) : name;
  return h("span", { class: "embed", "data-picture": path, "data-width": size?.[1], "data-height": size?.[2], title: path },
    alt || path.split("/").pop());
}
