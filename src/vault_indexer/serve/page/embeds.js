/** What a note embeds: pictures of the vault, and the text of other notes or of parts of them. */

import { ApiError, get } from "./api.js";
import { h } from "./dom.js";
import { renderBlocks } from "./markdown.js";

/** Notes inside of each other that are shown; a deeper one is a link. */
const MAX_DEPTH = 3;

/** Embedded notes and pictures of one view; the rest stay links and names. */
const MAX_NOTES = 50;
const MAX_PICTURES = 100;

/** Pixels below the window from which on a picture is fetched. */
const AHEAD = "400px";

/** Fetches what a note embeds when it comes into sight. One for each view. */
export class Embeds {
  /** @param {AbortSignal} signal ends all requests of the view */
  constructor(signal) {
    this.signal = signal;
    this.notes = 0;
    this.pictures = 0;
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
   * Watch the embeds in a text.
   * @param {ParentNode} text
   * @param {string[]} above the notes and parts that the text stands in, outermost first
   */
  fill(text, above) {
    for (const place of text.querySelectorAll("[data-picture], [data-note]")) {
      this.above.set(place, above);
      this.seen.observe(place);
    }
  }

  /** @param {HTMLElement} place */
  async show(place) {
    try {
      if (place.dataset.picture !== undefined) await this.showPicture(place, place.dataset.picture);
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
    const text = h("div", { class: "embedded", role: "group", "aria-label": place.textContent ?? note.title });
    const link = /** @type {HTMLElement} */ (place.cloneNode(true));
    link.className = "embedded-name";
    link.textContent = part ? `${note.title} › ${part.split("#").pop()}` : note.title;
    delete link.dataset.note;
    text.append(link, renderBlocks(note.blocks));
    // The lines are those of the other note.
    for (const block of text.querySelectorAll("[data-line]")) block.removeAttribute("data-line");
    place.replaceWith(text);
    this.fill(text, [...above, own]);
  }
}
