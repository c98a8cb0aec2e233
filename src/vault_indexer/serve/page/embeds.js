/**
 * What is shown in a text after it: pictures of the vault, the text of other notes or of parts of them, formulas,
 * the colours of code, diagrams.
 */

import { ApiError, get } from "./api.js";
import { colourCode } from "./code.js";
import { Diagrams } from "./diagrams.js";
import { h } from "./dom.js";
import { languageOf, picturePlace, renderBlocks } from "./markdown.js";
import { setFormulas } from "./math.js";
import { obsidianAddress } from "./route.js";

/** Notes inside of each other that are shown; a deeper one is a link. */
const MAX_DEPTH = 3;

/** Embedded notes and pictures of one view; the rest stay links and names. */
const MAX_NOTES = 50;
const MAX_PICTURES = 100;

/** Pixels below the window from which on a picture is fetched. */
const AHEAD = "400px";

/**
 * @typedef {object} Note
 * @property {string} path
 * @property {string} uri opens the note: in Obsidian, or as the system opens files
 */

/** Completes texts: fetches what a note embeds when it comes into sight. One for each view. */
export class Embeds {
  /** @param {AbortSignal} signal ends all requests of the view */
  constructor(signal) {
    this.signal = signal;
    this.notes = 0;
    this.pictures = 0;
    this.diagrams = new Diagrams(signal);
    /** @type {WeakMap<Element, string[]>} */
    this.above = new WeakMap();
    this.seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting || !(target instanceof HTMLElement)) continue;
        this.seen.unobserve(target);
        void this.show(target);
      }
    }, { rootMargin: AHEAD });
    signal.addEventListener("abort", () => this.seen.disconnect());
  }

  /**
   * Complete a text, and watch the embeds in it.
   * @param {ParentNode} text
   * @param {Note} note the note of the text
   * @param {string[]} above the notes and parts that the text stands in, outermost first
   */
  fill(text, note, above) {
    if (obsidianAddress(note.uri)) {
      for (const name of text.querySelectorAll("[data-file]")) linkFile(/** @type {HTMLElement} */ (name), note);
    }
    for (const link of text.querySelectorAll("button[data-picture-of]")) {
      link.addEventListener("click", () => this.togglePicture(/** @type {HTMLElement} */ (link)));
    }
    for (const place of text.querySelectorAll("[data-picture], [data-note], [data-diagram]")) {
      this.above.set(place, above);
      this.seen.observe(place);
    }
    void setFormulas(text);
    void colourCode(text, this.signal);
  }

  /** @param {HTMLElement} place */
  async show(place) {
    try {
      if (place.dataset.picture !== undefined) await this.showPicture(place, place.dataset.picture);
      else if (place.dataset.diagram !== undefined) await this.diagrams.show(place, sourceOf(place));
      else await this.showNote(place, place.dataset.note ?? "", place.dataset.part ?? "");
    } catch (error) {
      if (!(error instanceof ApiError)) {
        if (this.signal.aborted) return;
        throw error;
      }
      place.title = error.message;
      place.classList.add("unresolved");
    }
  }

  /**
   * Show the picture that a link leads to, or no longer.
   * @param {HTMLElement} link
   */
  togglePicture(link) {
    const shown = link.getAttribute("aria-expanded") === "true";
    link.setAttribute("aria-expanded", String(!shown));
    if (shown) link.nextElementSibling?.remove();
    else {
      const place = picturePlace(link.dataset.pictureOf ?? "", "");
      link.after(h("span", { class: "linked-picture" }, place));
      void this.show(place);
    }
  }

  /**
   * @param {HTMLElement} place
   * @param {string} path
   */
  async showPicture(place, path) {
    this.pictures += 1;
    if (this.pictures > MAX_PICTURES) return;
    const found = await get("picture", { path }, this.signal);
    const alt = place.textContent ?? "";
    const picture = h("img", { alt, title: path, src: `data:${found.media_type};base64,${found.data}`,
      width: place.dataset.width, height: place.dataset.height });
    picture.addEventListener("error", () => picture.replaceWith(place));
    place.replaceWith(picture);
  }

  /**
   * @param {HTMLElement} place
   * @param {string} path
   * @param {string} part
   */
  async showNote(place, path, part) {
    const above = this.above.get(place) ?? [];
    const own = `${path}#${part}`;
    // A part of a note that stands above would bring the same embed again, so the note counts whatever the part.
    if (above.length > MAX_DEPTH || above.some((one) => one === own || one === `${path}#`)) return;
    this.notes += 1;
    if (this.notes > MAX_NOTES) return;
    const note = await get("view", { path, part }, this.signal);
    const text = h("div", { class: "embedded", role: "group", "aria-label": place.textContent ?? note.title,
      ...languageOf(note.language) });
    const link = /** @type {HTMLElement} */ (place.cloneNode(true));
    link.className = "embedded-name";
    link.textContent = part ? `${note.title} › ${part.split("#").pop()}` : note.title;
    delete link.dataset.note;
    text.append(link, renderBlocks(note.blocks, levelAbove(place)));
    // The lines are those of the other note.
    for (const block of text.querySelectorAll("[data-line]")) block.removeAttribute("data-line");
    place.replaceWith(text);
    this.fill(text, note, [...above, own]);
  }
}

/**
 * Make the name of a file a link that opens it in Obsidian.
 * @param {HTMLElement} name
 * @param {Note} note a note of the vault
 */
function linkFile(name, note) {
  const path = name.dataset.file ?? "";
  name.replaceWith(h("a", { class: name.className, title: path, href: fileAddress(note, path) }, ...name.childNodes));
}

/**
 * Opens a file of the vault in Obsidian.
 * @param {Note} note a note of the vault, whose address ends in its encoded path
 * @param {string} path
 */
function fileAddress({ uri, path: own }, path) {
  return uri.slice(0, -encode(own).length) + encode(path);
}

/**
 * Percent-encoded, as the server does.
 * @param {string} text
 */
function encode(text) {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** @param {HTMLElement} place */
function sourceOf(place) {
  return place.querySelector("code")?.textContent ?? "";
}

/**
 * The level of the last heading before a place of the page.
 * @param {HTMLElement} place
 */
function levelAbove(place) {
  let level = 1;
  for (const heading of place.closest(".note-main")?.querySelectorAll("h1, h2, h3, h4, h5, h6") ?? []) {
    if (!(heading.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
    level = Number(heading.localName[1]);
  }
  return Math.min(level, 5);
}
