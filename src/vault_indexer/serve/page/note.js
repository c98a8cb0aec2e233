/** The note view: text, outline, what is linked, near or named, and the chunks as the index sees them. */

import { ApiError, fileText, get } from "./api.js";
import { BaseTable, isBase } from "./base.js";
import { drawCanvas } from "./canvas.js";
import { daemonState, noteLoss } from "./daemon.js";
import { announce, copy, count, h, quantity, setTitle, tell } from "./dom.js";
import { Embeds } from "./embeds.js";
import { fileLink, fileViewer, isPdf, isViewable } from "./files.js";
import { blockAt, isPicture, languageOf, picturePlace, renderBlocks, updateBlocks, withInlineFootnotes } from "./markdown.js";
import { Matches } from "./matches.js";
import { followPlace, outline } from "./outline.js";
import { markPicture } from "./picture-marks.js";
import { previewLinks } from "./preview.js";
import { relatedRows } from "./related.js";
import { address, editorName, go, noteName, partBelow, setAddress } from "./route.js";

const TAGS = 12;

/** Headings up to which the outline of a note that is shown in parts has all. */
const HEADINGS = 500;

/** Links and mentions that are listed first, and how many more each time. */
const LISTED = 30;

/** Places of one note that are listed first. */
const PLACES = 3;

/** Links that are fetched first; all, once more are wanted. Of mentions, the daemon gives no more than the second. */
const FETCHED = 100;
const MOST_MENTIONS = 200;

/**
 * Show the view. The signal ends its requests.
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 * @param {AbortSignal} signal
 */
export async function showNote(main, values, signal) {
  const view = new NoteView(main, values, signal);
  try {
    await view.open();
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    const gone = goneNotice(view.path, error.message);
    gone.setAttribute("role", "alert");
    main.replaceChildren(h("section", { class: "message" }, h("h1", { tabindex: -1 }, noteName(view.path)), gone));
    main.querySelector("h1")?.focus();
    const found = new AbortController();
    document.addEventListener("renewed", (event) => {
      const paths = /** @type {CustomEvent} */ (event).detail;
      if (paths && !paths.includes(view.path)) return;
      found.abort();
      void showNote(main, values, signal);
    }, { signal: AbortSignal.any([signal, found.signal]) });
  }
}

/** A note that is shown, and follows its file. */
class NoteView {
  /**
   * @param {HTMLElement} main
   * @param {URLSearchParams} values
   * @param {AbortSignal} signal
   */
  constructor(main, values, signal) {
    this.main = main;
    this.values = values;
    this.signal = signal;
    this.path = values.get("path") ?? "";
    /** @type {any} */
    this.note = null;
    this.text = h("article", { class: "note-text", "aria-label": "Text" });
    this.viewer = h("div", { class: "viewer", hidden: true });
    this.body = h("div", { class: "note-body" });
    this.base = isBase(this.path) ? new BaseTable(this.path, "", "", signal) : null;
    this.header = h("header");
    /** @type {HTMLElement} */
    this.contents = h("div");
    this.headings = "";
    this.head = "";
    this.embeds = new Embeds(signal);
    this.chunksButton = h("button", { type: "button", "aria-pressed": "false", onclick: () => this.toggleChunks() },
      "Show chunks");
    this.drawingButton = h("button", { type: "button", onclick: () => this.toggleDrawing() }, "Show the canvas");
    this.matches = new Matches(this.text, values.getAll("m"), signal, () => this.markPicture());
    /** How often the note was fetched: an answer that a later one overtook is not shown. */
    this.sequence = 0;
    /** The notes that have changed since the answer that is shown; null: any may have. @type {string[] | null} */
    this.changed = [];
    /** How often the chunks were fetched or left: the same. */
    this.chunksSequence = 0;
  }

  async open() {
    document.addEventListener("renewed", (event) => void this.renew(/** @type {CustomEvent} */ (event).detail),
      { signal: this.signal });
    this.note = await get("view", { path: this.path, line: Number(this.values.get("line")) || undefined }, this.signal);
    this.line = await lineOf(this.values, this.note, this.signal);
    if (this.line && !isShown(this.note, this.line)) {
      this.note = await get("view", { path: this.path, line: this.line }, this.signal);
    }
    const { note, text, main } = this;
    this.path = note.path;
    this.isOpen = true;
    setTitle(note.title);
    const rail = h("aside", { class: "rail", "aria-label": "Around this note" });
    const view = h("div", { class: "note" }, this.contents,
      h("section", { class: "note-main", "aria-label": "Note" }, this.header, this.body), rail);
    main.replaceChildren(view);
    view.classList.toggle("document", isPdf(note.path) && isViewable(note.path));
    this.show(note, []);
    await this.showFile(this.values);
    if (!this.values.has("line") && !this.values.has("at")) this.showDrawing();
    text.addEventListener("click", (event) => void this.followWithin(event));
    text.addEventListener("copy", copyAsWritten);
    this.values.has("line") || this.values.has("at") ? this.focusPlace() : this.focusTitle();
    previewLinks(view, this.signal);
    if (isText(note)) this.rail = new Rail(rail, this.note, this.signal);
    void this.base?.fill();
    if (!this.changed) void this.renew(null);
    await this.rail?.fill();
  }

  /**
   * Show the note as it is now. What has not changed stays as it is: scroll, selection, open folds, pictures.
   * @param {any} note
   * @param {string[] | null} paths the notes that have changed; null: any may have
   */
  show(note, paths) {
    const { text } = this;
    this.note = note;
    const { lang, dir } = languageOf(note.language);
    for (const [name, value] of Object.entries({ lang, dir })) {
      if (value) text.setAttribute(name, value);
      else text.removeAttribute(name);
    }
    this.drawing = note.canvas ? drawCanvas(note.canvas) : null;
    if (this.drawing) this.embeds.fill(this.drawing.place, [`${note.path}#`]);
    const isStale = (/** @type {Element} */ block) => [block, ...block.querySelectorAll("[data-shows]")].some((one) =>
      one instanceof HTMLElement && one.dataset.shows && (!paths || paths.includes(one.dataset.shows)));
    updateBlocks(text, note.blocks, note.title, isStale, (added) => {
      this.addAnchors(added);
      this.embeds.fill(added, [`${note.path}#`]);
    });
    this.nameParts();
    text.prepend(...partLinks(note));
    text.append(...partLinks(note));
    if (this.body.firstElementChild?.className === "canvas") this.showDrawing();
    else if (this.body.firstElementChild?.className !== "chunks") this.showText();
    const headings = JSON.stringify(note.headings);
    if (headings !== this.headings) this.showContents();
    this.headings = headings;
    const head = JSON.stringify([note.title, note.tags, note.property_tree, note.uri]);
    if (head !== this.head) this.showHeader();
    this.head = head;
  }

  showText() {
    if (!this.text.isConnected) this.body.replaceChildren(...(this.base ? [this.base.place] : []), this.viewer, this.text);
  }

  showDrawing() {
    if (!this.drawing) return;
    this.body.replaceChildren(this.drawing.place);
    this.drawing.fit();
    this.drawingButton.textContent = "Show the text";
  }

  toggleDrawing() {
    if (this.body.firstElementChild?.className !== "canvas") return this.showDrawing();
    this.showText();
    this.drawingButton.textContent = "Show the canvas";
  }

  /**
   * Show a file that is no note, at the place that an address names.
   * @param {URLSearchParams} values
   */
  async showFile(values) {
    const { path } = this.note;
    const part = this.text.querySelector(".found")?.closest("[data-line]") ?? blockAt(this.text, Number(values.get("line")));
    const place = values.get("at")?.replace(/^#/, "") || (part ? `page=${partOf(this.text, part)}` : "");
    if (isPicture(path)) {
      this.viewer.replaceChildren(h("div", { class: "boxed" }, picturePlace(path, "")));
      this.markPicture();
      this.embeds.fill(this.viewer, []);
    } else if (isViewable(path)) this.viewer.replaceChildren(await fileViewer(path, place));
    this.viewer.hidden = !this.viewer.hasChildNodes();
  }

  /** Mark in the picture what is marked in its text. */
  markPicture() {
    const place = /** @type {HTMLElement | null} */ (this.viewer.querySelector(".boxed"));
    if (place && this.note.boxes) markPicture(place, this.text, this.note.boxes, this.matches.ranges);
  }

  /** Name the parts of a document that begin within a paragraph, and make the names of pages buttons that show them. */
  nameParts() {
    const labels = /** @type {NodeListOf<HTMLElement>} */ (this.text.querySelectorAll("p[data-part], span[data-part]"));
    const name = labels[0]?.textContent?.split(" ")[0];
    if (!name) return; // no document
    let number = 0;
    for (const label of labels) {
      number = label.localName === "p" ? Number(label.dataset.part) : number + 1;
      label.dataset.part = String(number);
      label.replaceChildren(!isPdf(this.note.path) || !isViewable(this.note.path) ? `${name} ${number}`
        : h("button", { type: "button", class: "quiet", title: "Show this page", onclick: () =>
          void this.showFile(new URLSearchParams({ at: `page=${label.dataset.part}` })) }, `${name} ${number}`));
    }
  }

  showContents() {
    const { note, text } = this;
    const contents = outline(listedHeadings(note), (line) => {
      if (isShown(this.note, line)) this.showLine(line);
      else go(address("note", { path: note.path, line }));
    });
    if (isPdf(note.path)) contents.querySelector("details")?.removeAttribute("open");
    this.contents.replaceWith(contents);
    this.contents = contents;
    followPlace(contents, text, this.signal);
  }

  /** @param {number} line of a heading */
  showLine(line) {
    const block = blockAt(this.text, line);
    if (block?.hidden) this.focusTitle();
    else showBlock(block, "start");
  }

  showHeader() {
    const { note } = this;
    const editor = editorName(note.uri);
    this.header.replaceChildren(
      h("p", { class: "hit-path", dir: "auto" }, note.path),
      h("h1", { class: "note-title", dir: "auto", tabindex: -1 }, note.title),
      h("div", { class: "tools" },
        editor && h("a", { class: "button", editor: note.uri }, `Open in ${editor}`),
        isFile(note.path) && fileLink(note.path),
        isText(note) && h("a", { class: "button", href: address("graph", { path: note.path }) }, "Graph"),
        note.canvas && this.drawingButton, isText(note) && this.chunksButton,
        copyButton("Copy link", () => linkTo(note)),
        !isFile(note.path) && !note.canvas && copyButton("Copy as Markdown", () => fileText(note.path, this.signal)), this.matches.bar),
      readingWarning(note.path), properties(note));
    this.embeds.fill(this.header, [`${note.path}#`]);
  }

  focusTitle() {
    scrollTo(0, 0);
    /** @type {HTMLElement | null} */ (this.main.querySelector(".note-title"))?.focus({ preventScroll: true });
    announce(this.note.title);
  }

  focusPlace() {
    const block = showPlace(this.text, this.values, this.line);
    if (block && !block.hidden) announce(`${this.note.title}: ${headingAbove(this.text, block) || "the place that was found"}`);
    else this.focusTitle();
    const part = (this.values.get("at") ?? "").replace(/^#/, "");
    const isPart = part && !this.values.has("line") && !/^[a-z]+=/.test(part) && !isFile(this.path);
    if (!block && isPart) tell(`${this.note.title} has no ${part.includes("^") ? "block" : "heading"} “${part}”.`);
  }

  /**
   * Follow a link to a place in what is shown of this note without fetching the note again.
   * @param {MouseEvent} event
   */
  async followWithin(event) {
    const link = event.target instanceof Element ? event.target.closest("a.wikilink") : null;
    if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const values = new URLSearchParams(link.hash.split("?")[1]);
    if (values.get("path") !== this.path) return;
    event.preventDefault();
    try {
      const at = (values.get("at") ?? "").replace(/^#/, "");
      const isHere = at.startsWith("^") && blockWithId(this.text, at.slice(1));
      const line = isHere ? undefined : await lineOf(values, this.note, this.signal);
      const block = isHere || (line && isShown(this.note, line)) ? showPlace(this.text, values, line) : null;
      if (!block || block.hidden) go(link.hash);
      else setAddress(link.hash, true);
    } catch (error) {
      if (error instanceof ApiError) noteLoss(error);
      else if (!this.signal.aborted) throw error;
    }
  }

  /**
   * Give the headings of new blocks a button that copies a link to them.
   * @param {ParentNode} added
   */
  addAnchors(added) {
    for (const heading of /** @type {NodeListOf<HTMLElement>} */ (added.querySelectorAll(".heading[data-line]"))) {
      const path = () => partBelow(headingPath(this.note, Number(heading.dataset.line)));
      heading.append(copyButton("", () => linkTo(this.note, `#${path()}`), { class: "quiet anchor",
        "aria-label": `Link to ${heading.textContent?.trim() ?? ""}`, title: "Copy a link to this heading" }));
    }
  }

  /**
   * The index has changed.
   * @param {string[] | null} paths
   */
  async renew(paths) {
    this.changed = this.isOpen && paths && this.changed ? [...this.changed, ...paths] : null;
    if (!this.isOpen) return; // the note is being fetched
    const { changed } = this;
    void this.base?.fill();
    const shown = [this.path, ...Array.from(this.main.querySelectorAll("[data-shows]"),
      (one) => /** @type {HTMLElement} */ (one).dataset.shows ?? "")];
    const isShown = !changed || shown.some((path) => changed.includes(path));
    if (!isShown) this.changed = [];
    const sequence = isShown ? ++this.sequence : this.sequence;
    try {
      if (isShown) {
        const line = this.note.more ? this.note.first_line : undefined;
        const note = await get("view", { path: this.path, line }, this.signal);
        if (sequence !== this.sequence) return;
        const before = this.text.textContent;
        this.changed = [];
        this.show(note, changed);
        this.gone?.remove();
        if (this.viewer.hasChildNodes() && (!changed || changed.includes(this.path))) await this.showFile(this.values);
        if (before !== this.text.textContent) announce("The note has changed.");
        setTitle(note.title);
        if (this.chunksButton.getAttribute("aria-pressed") === "true") await this.showChunks();
      }
      await this.rail?.fill();
    } catch (error) {
      if (!(error instanceof ApiError)) {
        if (!this.signal.aborted) throw error;
      } else if (error.status !== 404) noteLoss(error);
      else if (sequence === this.sequence) this.showGone();
    }
  }

  showGone() {
    if (this.gone?.isConnected) return;
    this.gone = goneNotice(this.path, `${this.path} is no longer in the vault`);
    this.gone.setAttribute("role", "status");
    this.header.before(this.gone);
  }

  async toggleChunks() {
    const button = this.chunksButton;
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(shown));
    button.textContent = shown ? "Show the text" : "Show chunks";
    if (shown) return void await this.showChunks();
    this.chunksSequence++;
    this.showText();
  }

  async showChunks() {
    const { path, signal } = this;
    const sequence = ++this.chunksSequence;
    const stored = await get("chunks", { path }, signal);
    if (sequence !== this.chunksSequence) return;
    const chosen = /** @type {HTMLSelectElement | null} */ (this.body.querySelector("#compare"))?.value ?? "";
    const columns = h("div", { class: "chunk-columns" });
    const choose = h("select", { id: "compare", onchange: () => compare() },
      h("option", { value: "" }, "nothing"),
      ...stored.strategies.map((/** @type {string} */ name) => h("option", { value: name }, name)));
    choose.value = chosen;
    const compare = async () => {
      const lists = [chunkList(`The index: ${stored.strategy}`, stored.chunks)];
      const strategy = choose.value;
      if (strategy) {
        const other = await get("chunks", { path, strategy }, signal);
        if (strategy !== choose.value) return;
        lists.push(chunkList(other.strategy, other.chunks));
      }
      columns.replaceChildren(...lists);
    };
    this.body.replaceChildren(h("div", { class: "chunks" },
      h("p", { class: "tools" }, h("label", { for: "compare" }, "Compare with "), choose), columns));
    await compare();
  }
}

/**
 * @param {string} path of a note that is not in the index
 * @param {string} text
 */
function goneNotice(path, text) {
  return h("p", { class: "gone" }, `${text}. `,
    h("a", { href: address("search", { q: noteName(path) }) }, `Search for “${noteName(path)}”`));
}

/**
 * The address of a note in this page, for other programs.
 * @param {any} note
 * @param {string} [at] a heading
 */
function linkTo(note, at) {
  return location.href.replace(/#.*$/, "") + address("note", { path: note.path, at });
}

/**
 * @param {string} name
 * @param {() => string | Promise<string>} text
 * @param {Record<string, string>} [attributes]
 */
function copyButton(name, text, attributes = {}) {
  return h("button", { type: "button", ...attributes, onclick: async () => {
    try {
      await copy(await text());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      tell(`Not copied: ${error.message}`);
    }
  } }, name);
}

/**
 * The text of the heading that a block stands under, or is.
 * @param {HTMLElement} text
 * @param {HTMLElement} block
 */
function headingAbove(text, block) {
  let found = "";
  for (const one of text.querySelectorAll(".heading")) {
    if (one !== block && !(one.compareDocumentPosition(block) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
    found = one.textContent ?? "";
  }
  return found;
}

/**
 * The line of a note that the address names: by its number, by a heading whose name no other has, or by what the daemon
 * finds as in any link. Undefined if it names none that is there.
 * @param {URLSearchParams} values
 * @param {any} note
 * @param {AbortSignal} signal
 * @returns {Promise<number | undefined>}
 */
async function lineOf(values, note, signal) {
  const path = values.get("path") ?? "";
  const part = (values.get("at") ?? "").replace(/^#/, "");
  const line = Number(values.get("line")) || undefined;
  if (line || !part || (isViewable(path) && !isPdf(path))) return line;
  const named = note.headings.filter((/** @type {any} */ one) => one.text === part);
  if (named.length === 1) return named[0].line;
  const found = await get("view", { path, part }, signal).catch((error) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  });
  return found?.first_line;
}

/**
 * The headings from the top down to one of a note, without a first one that repeats the title.
 * @param {any} note
 * @param {number} line of the heading
 * @returns {string[]}
 */
function headingPath(note, line) {
  const path = [];
  let level = 7;
  for (const one of note.headings.filter((/** @type {any} */ other) => other.line <= line).reverse()) {
    if (one.level >= level) continue;
    path.unshift(one.text);
    level = one.level;
  }
  return path.filter((text, at) => at > 0 || path.length === 1 || text !== note.title);
}

/**
 * The headings for the outline: of a note with very many, those of the part that is shown and the highest of the others.
 * @param {any} note
 * @returns {{ level: number, text: string, line: number }[]}
 */
function listedHeadings(note) {
  const { headings } = note;
  if (!note.more || headings.length <= HEADINGS) return headings;
  const top = Math.min(...headings.map((/** @type {any} */ one) => one.level));
  return headings.filter((/** @type {any} */ one) => one.level === top || isShown(note, one.line));
}

/**
 * Whether a line is in the part of the note that is shown.
 * @param {any} note
 * @param {number} line
 */
function isShown(note, line) {
  return !note.more || (note.first_line <= line && line <= note.last_line);
}

/**
 * Show the line, the heading or the block that the address names. Returns it, or null if it is not there.
 * @param {HTMLElement} text
 * @param {URLSearchParams} values
 * @param {number | undefined} line of it
 */
function showPlace(text, values, line) {
  const at = values.get("at") ?? "";
  const id = /\^([A-Za-z0-9-]+)$/.exec(at)?.[1];
  const page = /^#?page=(\d+)/.exec(at)?.[1];
  const named = values.has("line") ? null : id ? blockWithId(text, id)
    : page ? /** @type {HTMLElement | null} */ (text.querySelector(`[data-part="${page}"]`)) : null;
  const block = named ?? (line ? blockAt(text, line) : null);
  for (const one of text.querySelectorAll(".found")) one.classList.remove("found");
  block?.classList.add("found");
  showBlock(block, "center");
  return block;
}

/**
 * The block with an id. An id on a line of its own is that of the block before it.
 * @param {HTMLElement} text
 * @param {string} id
 */
function blockWithId(text, id) {
  const block = text.querySelector(`[data-block="${id}"]`);
  const named = block && !block.textContent ? block.previousElementSibling : block;
  return named instanceof HTMLElement ? named : null;
}

/**
 * @param {HTMLElement | null} block
 * @param {"start" | "center"} place in the window
 */
function showBlock(block, place) {
  if (!block) return;
  for (let fold = block.closest("details:not([open])"); fold; fold = fold.closest("details:not([open])")) {
    /** @type {HTMLDetailsElement} */ (fold).open = true;
  }
  block.scrollIntoView({ block: block.closest(".document") ? "nearest" : place });
  if (!block.hasAttribute("tabindex")) block.tabIndex = -1;
  block.focus({ preventScroll: true });
}

/**
 * Which part of a long note is shown, and links to the other parts.
 * @param {any} note
 */
function partLinks(note) {
  if (!note.more) return [];
  const part = (/** @type {number} */ line, /** @type {string} */ name) =>
    h("a", { class: "button", href: address("note", { path: note.path, line }) }, name);
  return [h("div", { class: "long-note tools" },
    h("span", {}, `Lines ${count(note.first_line)} to ${count(note.last_line)} of a long note`),
    note.more_before ? part(note.first_line - 1, "Before") : null,
    note.more_after ? part(note.last_line + 1, "After") : null)];
}

/** @param {string} path */
function isFile(path) {
  return !/\.(?:md|markdown|canvas)$/i.test(path);
}

/**
 * Whether the text of a file is in the index.
 * @param {any} note
 */
function isText(note) {
  return note.blocks.length > 0 || !isFile(note.path);
}

/**
 * The number of the part of a document that a block is in.
 * @param {HTMLElement} text
 * @param {Element} block
 */
function partOf(text, block) {
  const parts = /** @type {HTMLElement[]} */ ([...text.querySelectorAll("[data-part]")]);
  const before = parts.filter((one) => one === block || one.compareDocumentPosition(block) & Node.DOCUMENT_POSITION_FOLLOWING);
  return before.at(-1)?.dataset.part ?? "1";
}

/**
 * What of a file is not read as its author meant it, as soon as the state of the index is known.
 * @param {string} path
 */
function readingWarning(path) {
  const warning = h("p", { class: "misread", role: "note", hidden: true });
  const show = () => {
    const { status } = daemonState();
    if (!status) return;
    document.removeEventListener("daemon", show);
    const found = status.skipped.find((one) => one.path === path && one.is_indexed);
    warning.textContent = found ? `Not everything is read as written: ${found.reason}` : "";
    warning.hidden = !found;
  };
  document.addEventListener("daemon", show);
  show();
  return warning;
}

/**
 * Copy a part of a note as its text says it: formulas in TeX, tasks with their boxes.
 * @param {ClipboardEvent} event
 */
function copyAsWritten(event) {
  const selection = getSelection();
  if (!selection?.rangeCount || !event.clipboardData) return;
  const part = h("div", { class: "copied" }, selection.getRangeAt(0).cloneContents());
  for (const one of part.querySelectorAll(".code-head, .anchor")) one.remove();
  for (const one of part.querySelectorAll(".formula-set")) {
    const sign = one.closest(".formula") ? "$$" : "$";
    one.replaceWith(`${sign}${one.getAttribute("aria-label")}${sign}`);
  }
  for (const one of part.querySelectorAll(".task > .box")) {
    const text = one.parentElement?.querySelector("p") ?? one.nextElementSibling;
    text?.prepend(`- [${one.classList.contains("done") ? "x" : one.textContent || " "}] `);
    one.remove();
  }
  document.body.append(part); // the text of what is not laid out has no lines
  event.clipboardData.setData("text/plain", part.innerText);
  event.clipboardData.setData("text/html", new XMLSerializer().serializeToString(part));
  part.remove();
  event.preventDefault();
}

/** @param {any} note */
function properties(note) {
  const tags = note.tags.map((/** @type {string} */ tag) =>
    h("a", { class: "tag", href: address("search", { f: [`tag:#${tag}`] }) }, `#${tag}`));
  const rest = tags.splice(TAGS);
  const others = h("button", { type: "button", class: "quiet", onclick: () => {
    others.replaceWith(...rest);
    rest[0].focus();
  } }, `${rest.length} more`);
  const number = Object.keys(note.properties).length;
  return h("div", { class: "properties" },
    tags.length ? h("p", { class: "tags" }, ...tags, rest.length ? others : null) : null,
    number ? h("details", {}, h("summary", {}, number === 1 ? "1 property" : `${count(number)} properties`),
      h("div", { class: "scroll" }, renderBlocks([note.property_tree]))) : null);
}

/**
 * @typedef {object} Listed
 * @property {any[]} items
 * @property {number | null} total of all items, if that is known
 * @property {boolean} more whether there are others
 */

/** What is around a note: each list has its count, and shows more of it on demand. */
class Rail {
  /**
   * @param {HTMLElement} place
   * @param {any} note
   * @param {AbortSignal} signal
   */
  constructor(place, { path, language }, signal) {
    this.path = path;
    this.signal = signal;
    /** @type {Record<string, { list: HTMLElement, total: HTMLElement, shown: number, seen: string }>} */
    this.parts = {};
    /** How often the lists were fetched: an answer that a later one overtook is not shown. */
    this.sequence = 0;
    for (const name of ["Links", "Backlinks", "Related", "Mentions"]) {
      const list = h("ul", {}, h("li", { class: "quiet-text" }, "…"));
      const total = h("small");
      place.append(h("details", { open: true }, h("summary", {}, h("h2", {}, name), " ", total), list));
      this.parts[name] = { list, total, shown: LISTED, seen: "" };
    }
    if (language) this.parts.Links.list.lang = language; // the names are those of this note's text
  }

  /** Fetch and show all lists. */
  async fill() {
    const { path, signal } = this;
    const { Links, Backlinks, Mentions } = this.parts;
    const sequence = ++this.sequence;
    const show = (/** @type {string} */ name, /** @type {Listed} */ listed, /** @type {(items: any[]) => HTMLElement[]} */ rows) => {
      if (sequence === this.sequence) this.show(name, listed, rows);
    };
    const isLong = Math.max(Links.shown, Backlinks.shown) > FETCHED;
    const mentions = Math.min(Mentions.shown + 1, MOST_MENTIONS);
    await Promise.all([
      get("links", { path, limit: isLong ? undefined : FETCHED, rendered: true }, signal).then((answer) => {
        show("Links", { items: answer.outgoing, total: answer.outgoing_count, more: true }, (items) =>
          grouped(items, (one) => `${one.resolved ?? one.target}#${one.subpath}`).map(outgoing));
        show("Backlinks", { items: answer.backlinks, total: answer.backlink_count, more: true }, (items) =>
          grouped(items, (one) => one.path).map(place));
      }),
      get("related", { path, limit: 10 }, signal).then((answer) =>
        show("Related", { items: answer.results, total: null, more: false }, (notes) => relatedRows(path, notes))),
      get("links", { path, view: "mentions", limit: mentions, rendered: true }, signal).then(({ mentions: items, more }) =>
        show("Mentions", { items, total: more ? null : items.length, more }, (shown) =>
          grouped(shown, (one) => one.path).map(place))),
    ]);
  }

  /**
   * @param {string} name
   * @param {Listed} listed
   * @param {(items: any[]) => HTMLElement[]} rows
   */
  show(name, { items, total, more }, rows) {
    const part = this.parts[name];
    const seen = JSON.stringify([items, total, part.shown]);
    if (seen === part.seen) return; // what has the focus keeps it
    part.seen = seen;
    const known = total ?? (more ? items.length : 0);
    const first = items.slice(0, part.shown);
    part.total.textContent = known ? `${count(known)}${more && total === null ? "+" : ""}` : "";
    part.list.replaceChildren(...(first.length ? rows(first) : [h("li", { class: "quiet-text" }, "none")]));
    const rest = total === null ? (more ? LISTED : 0) : total - first.length;
    if (rest <= 0) return;
    const isCut = total === null && part.shown >= MOST_MENTIONS;
    part.list.append(h("li", {}, isCut ? `The first ${MOST_MENTIONS} are listed.`
      : h("button", { type: "button", class: "quiet", onclick: async () => {
        const before = part.list.children.length - 1;
        part.shown += LISTED;
        await this.fill();
        /** @type {HTMLElement | null | undefined} */ (part.list.children[before]?.querySelector("a, button"))?.focus();
      } }, total === null ? "More" : `${Math.min(LISTED, rest)} more`)));
  }
}

/**
 * The items by what they lead to, in the order of the first of each.
 * @param {any[]} items
 * @param {(item: any) => string} key
 * @returns {any[][]}
 */
function grouped(items, key) {
  /** @type {Map<string, any[]>} */
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    groups.set(name, [...(groups.get(name) ?? []), item]);
  }
  return [...groups.values()];
}

/** @param {any[]} links links to one target */
function outgoing(links) {
  const [link] = links;
  const shown = (link.display ?? "").replace(/(?:^|\|)\d+(?:x\d+)?$/, ""); // without the size of a picture
  const name = shown || link.target + (link.subpath ? `#${link.subpath}` : "");
  const times = links.length > 1 ? h("small", {}, ` ${links.length} times`) : null;
  if (!link.resolved) return h("li", { class: "unresolved", dir: "auto" }, name, h("small", {}, " leads nowhere"), times);
  const at = isFile(link.resolved) ? link.subpath : undefined;
  return h("li", { dir: "auto" },
    h("a", { href: address("note", { path: link.resolved, line: link.target_line ?? undefined, at }) }, name),
    link.problem ? h("small", {}, ` ${link.problem}`) : null, times);
}

/** @param {any[]} all backlinks or mentions in one note */
function place(all) {
  const [first] = all;
  const lines = all.map((one, at) => h("div", { class: "line", dir: "auto" },
    one.tree?.length ? renderBlocks(withInlineFootnotes(one.tree), 2) : one.snippet,
    at ? h("a", { class: "line-link", href: address("note", { path: one.path, line: one.line }) }, ` line ${one.line}`)
      : null));
  const rest = lines.splice(PLACES);
  const others = h("button", { type: "button", class: "quiet line", onclick: () => {
    others.replaceWith(...rest);
    rest[0].querySelector("a")?.focus();
  } }, `${rest.length} more`);
  return h("li", { dir: "auto" }, h("a", { href: address("note", { path: first.path, line: first.line }) }, first.title),
    ...lines, rest.length ? others : null);
}

/**
 * @param {string} name
 * @param {any[]} chunks
 */
function chunkList(name, chunks) {
  return h("section", { class: "chunk-list", "aria-label": name },
    h("h2", {}, name, h("small", {}, ` ${quantity(chunks.length, "chunk")}`)),
    h("ol", {}, ...chunks.map((chunk) => h("li", { class: "chunk" },
      h("p", { class: "chunk-head" },
        `lines ${chunk.start_line}–${chunk.end_line} · ${quantity(chunk.end_pos - chunk.start_pos, "character")}`,
        chunk.header_path ? ` · ${chunk.header_path}` : ""),
      h("pre", { tabindex: 0, role: "region", "aria-label": `Chunk ${chunk.chunk_index + 1}` }, chunk.content)))));
}
