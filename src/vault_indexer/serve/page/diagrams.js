/**
 * Pictures of diagrams. Mermaid draws them in a frame that has another origin, no network and no part in this page;
 * from there comes the text of an SVG, which is shown as the source of an `img`: a picture that runs no script.
 */

import { h } from "./dom.js";

/** Milliseconds within which a diagram is drawn. Then the frame is removed, and the source stays. */
const PATIENCE_MS = 20_000;

/** Characters of a picture. */
const MAX_PICTURE = 4_000_000;

/**
 * @typedef {object} Drawn
 * @property {number} id
 * @property {string} svg
 * @property {number} width
 * @property {number} height
 * @property {string} problem why there is no picture; "missing": Mermaid is not installed
 */

/** Draws the diagrams of one view, one after the other. */
export class Diagrams {
  /** @param {AbortSignal} signal ends the view, and removes the frame */
  constructor(signal) {
    this.signal = signal;
    this.count = 0;
    this.saysMissing = false;
    /** @type {Promise<unknown>} */
    this.before = Promise.resolve();
    /** @type {Promise<HTMLIFrameElement> | null} */
    this.frame = null;
  }

  /**
   * Put a picture in the place of the source, as soon as there is one.
   * @param {HTMLElement} place an element that shows the source
   * @param {string} source
   */
  show(place, source) {
    const drawn = this.before.then(() => this.draw(source));
    this.before = drawn.catch(() => {});
    return drawn.then((found) => {
      if (found.problem || typeof found.svg !== "string" || found.svg.length > MAX_PICTURE) {
        place.dataset.problem = found.problem;
        if (found.problem !== "missing") {
          place.append(h("p", { class: "line" }, `This diagram cannot be drawn: ${found.problem}`));
        } else if (!this.saysMissing) {
          this.saysMissing = true;
          place.append(h("p", { class: "line" }, "The extra “diagrams” draws this: ",
            h("code", {}, "pip install 'vault-indexer[diagrams]'")));
        }
        return;
      }
      const code = place.querySelector("pre");
      const picture = h("img", { alt: `Diagram. ${source.trim().slice(0, 300)}`, width: found.width || null,
        height: found.height || null, src: `data:image/svg+xml;base64,${encode(found.svg)}` });
      place.replaceChildren(picture, h("details", {}, h("summary", {}, "Source"), code));
    });
  }

  /**
   * @param {string} source
   * @returns {Promise<Drawn>}
   */
  async draw(source) {
    const id = ++this.count;
    const theme = getComputedStyle(document.documentElement).colorScheme === "dark" ? "dark" : "default";
    this.frame ??= this.open();
    const frame = await this.frame;
    const answer = this.answer(frame, id);
    frame.contentWindow?.postMessage({ id, source, theme }, "*");
    const found = await answer;
    if (found.problem === "timeout") {
      frame.remove();
      this.frame = null;
    }
    return found;
  }

  /** @returns {Promise<HTMLIFrameElement>} */
  async open() {
    const frame = h("iframe", { class: "diagrams-frame", tabindex: -1, title: "Diagrams", "aria-hidden": "true" });
    frame.sandbox.add("allow-scripts");
    const ready = this.answer(frame, 0);
    frame.src = "/page/diagrams.html";
    document.body.append(frame);
    this.signal.addEventListener("abort", () => frame.remove());
    await ready;
    return frame;
  }

  /**
   * The frame's answer. Any other window may say what it likes.
   * @param {HTMLIFrameElement} frame
   * @param {number} id
   * @returns {Promise<Drawn>}
   */
  answer(frame, id) {
    return new Promise((resolve) => {
      const done = new AbortController();
      const end = (/** @type {Drawn} */ found) => {
        done.abort();
        resolve(found);
      };
      const failed = (/** @type {string} */ problem) => () => end({ id, svg: "", width: 0, height: 0, problem });
      addEventListener("message", (event) => {
        if (event.source === frame.contentWindow && event.data?.id === id) end(event.data);
      }, { signal: done.signal });
      const timer = setTimeout(failed("timeout"), PATIENCE_MS);
      done.signal.addEventListener("abort", () => clearTimeout(timer));
      this.signal.addEventListener("abort", failed("closed"), { signal: done.signal });
    });
  }
}

/**
 * The base64 of a text in UTF-8.
 * @param {string} text
 */
function encode(text) {
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}
