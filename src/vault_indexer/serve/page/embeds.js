/**
 * What is shown in a text after it: pictures of the vault, the text of other notes or of parts of them, formulas,
 * the colours of code, diagrams.
 */

import { ApiError, get } from "./api.js";
import { BaseTable, isBase } from "./base.js";
import { colourCode } from "./code.js";
import { Diagrams } from "./diagrams.js";
import { h } from "./dom.js";
import { fileViewer } from "./files.js";
import { languageOf, picturePlace, renderBlocks } from "./markdown.js";
import { setFormulas } from "./math.js";

/** Notes inside of each other that are shown; a deeper one is a link. */
const MAX_DEPTH = 3;

/** Embedded notes, pictures and files of one view; the rest stay links and names. */
const MAX_NOTES = 50;
const MAX_PICTURES = 100;
const MAX_FILES = 20;

/** Pixels below the window from which on a picture is fetched. */
const AHEAD = "400px";

/** Completes texts: fetches what a note embeds when it comes into sight. One for each view. */
export class Embeds {
  /** @param {AbortSignal} signal ends all requests of the view */
  constructor(signal) {
    this.signal = signal;
    this.notes = 0;
    this.pictures = 0;
    this.files = 0;
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
   * @param {string[]} above the notes and parts that the text stands in, outermost first
   */
  fill(text, above) {
    for (const link of text.querySelectorAll("button[data-picture-of]")) {
      link.addEventListener("click", () => this.togglePicture(/** @type {HTMLElement} */ (link)));
    }
    for (const place of text.querySelectorAll("[data-picture], [data-note], [data-file], [data-diagram], [data-base]")) {
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
      else if (place.dataset.base !== undefined) this.showBase(place);
      else if (place.dataset.file !== undefined) await this.showFile(place, place.dataset.file);
      else await this.showNote(place, place.dataset.note ?? "", place.dataset.of ?? "");
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
    place.dataset.shows = path; // also while it is fetched: the file may change meanwhile
    const found = await get("picture", { path }, this.signal);
    const alt = place.textContent ?? "";
    const picture = h("img", { alt, title: path, "data-shows": path, src: `data:${found.media_type};base64,${found.data}`,
      width: place.dataset.width, height: place.dataset.height });
    picture.addEventListener("error", () => shown.replaceWith(place));
    // Within a link, a click follows the link.
    const shown = place.closest("a, button, summary") ? picture
      : h("button", { type: "button", class: "enlarge", "aria-label": `Enlarge ${alt || path}`, onclick: () => enlarge(picture) },
        picture);
    place.replaceWith(shown);
  }

  /**
   * @param {HTMLElement} place
   * @param {string} path
   */
  async showFile(place, path) {
    this.files += 1;
    if (this.files > MAX_FILES) return;
    const link = /** @type {HTMLElement} */ (place.cloneNode(true));
    link.className = "embedded-name";
    link.textContent = path.split("/").pop() ?? path;
    delete link.dataset.file;
    place.replaceWith(h("span", { class: "embedded-file", "data-shows": path }, link, await fileViewer(path, place.dataset.of ?? "")));
  }

  /**
   * Show the rows of a base in the place of its source.
   * @param {HTMLElement} place an element that shows the source
   */
  showBase(place) {
    const path = this.above.get(place)?.at(-1)?.replace(/#.*$/, "") ?? "";
    const base = new BaseTable(path, "", "", this.signal);
    place.replaceChildren(base.place, h("details", {}, h("summary", {}, "Source"), ...place.childNodes));
    void base.fill();
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
    place.dataset.shows = path;
    const note = await get("view", { path, part: isBase(path) ? "" : part }, this.signal);
    const text = h("div", { class: "embedded", "data-shows": path, role: "group", "aria-label": place.textContent ?? note.title,
      ...languageOf(note.language) });
    const link = /** @type {HTMLElement} */ (place.cloneNode(true));
    link.className = "embedded-name";
    link.textContent = part ? `${note.title} › ${part.split("#").pop()}` : note.title;
    delete link.dataset.note;
    delete link.dataset.shows;
    if (isBase(path)) {
      const base = new BaseTable(path, above[0]?.replace(/#.*$/, "") ?? "", part, this.signal);
      text.append(link, base.place);
      void base.fill();
    } else text.append(link, renderBlocks(note.blocks, levelAbove(place)));
    // The lines are those of the other note.
    for (const block of text.querySelectorAll("[data-line]")) block.removeAttribute("data-line");
    place.replaceWith(text);
    this.fill(text, [...above, own]);
  }
}

/**
 * Show a picture as large as the window allows, until Escape or a click.
 * @param {HTMLImageElement} picture
 */
function enlarge(picture) {
  const close = () => dialog.close();
  const large = h("img", { alt: picture.alt, src: picture.src });
  const dialog = h("dialog", { class: "enlarged", "aria-label": picture.alt || picture.title, onclick: close,
    onclose: () => dialog.remove() }, large, h("button", { type: "button", onclick: close }, "Close"));
  document.body.append(dialog);
  dialog.showModal(); // closed, it gives the focus back
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
