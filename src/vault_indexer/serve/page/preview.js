/** A preview of the note that a link leads to, while a mouse or the focus rests on the link. */

import { ApiError, get } from "./api.js";
import { announce, h } from "./dom.js";
import { languageOf, renderBlocks } from "./markdown.js";

const REST_MS = 400;

/** Blocks of a note that are shown. */
const BLOCKS = 6;

/**
 * Preview the links of a view until the signal. None is shown for touch, for links within the note and for files.
 * @param {HTMLElement} view
 * @param {AbortSignal} signal
 */
export function previewLinks(view, signal) {
  /** @type {number | undefined} */
  let timer;
  const card = h("div", { class: "preview", id: "preview", role: "tooltip", hidden: true });
  /** @type {Element | null} */
  let shown = null;
  const hide = () => {
    clearTimeout(timer);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    card.hidden = true;
  };
  const rest = (/** @type {Event} */ event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || link === shown || !view.contains(link) || card.contains(link)) return;
    const values = new URLSearchParams(link.hash.split("?")[1]);
    const path = values.get("path") ?? "";
    hide();
    if (!link.hash.startsWith("#/note?") || !/\.(?:md|canvas)$/i.test(path)) return;
    shown = link;
    timer = setTimeout(() => void show(link, path, values), REST_MS);
  };
  /**
   * @param {HTMLAnchorElement} link
   * @param {string} path
   * @param {URLSearchParams} values
   */
  const show = async (link, path, values) => {
    try {
      const part = (values.get("at") ?? "").replace(/^#/, "");
      const note = await get("view", { path, part }, signal).catch((error) => {
        if (!part || !(error instanceof ApiError)) throw error;
        return get("view", { path }, signal); // no such part
      });
      if (link !== shown || !link.isConnected) return;
      const { lang, dir } = languageOf(note.language);
      card.lang = lang ?? "";
      card.dir = dir ?? "";
      card.replaceChildren(h("p", { class: "preview-title", dir: "auto" }, note.title),
        renderBlocks(note.blocks.slice(0, BLOCKS), 2));
      for (const one of card.querySelectorAll("a, button, [tabindex]")) one.setAttribute("tabindex", "-1");
      link.setAttribute("aria-describedby", "preview");
      card.hidden = false;
      placeBeside(card, link.getBoundingClientRect());
    } catch (error) {
      if (!(error instanceof ApiError) && !signal.aborted) throw error;
    }
  };
  view.append(card);
  view.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse") rest(event);
  }, { signal });
  view.addEventListener("pointerout", (event) => {
    const to = event.relatedTarget instanceof Element ? event.relatedTarget : null;
    if (shown && !to?.closest(".preview") && to?.closest("a") !== shown && document.activeElement !== shown) hide();
  }, { signal });
  view.addEventListener("focusin", (event) => {
    if (event.target instanceof Element && event.target.matches(":focus-visible")) rest(event);
  }, { signal });
  view.addEventListener("focusout", hide, { signal });
  view.addEventListener("click", hide, { signal });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || card.hidden) return;
    hide();
    announce("The preview is closed.");
  }, { signal });
}

/**
 * @param {HTMLElement} card
 * @param {DOMRect} link
 */
function placeBeside(card, link) {
  const { width, height } = card.getBoundingClientRect();
  const below = link.bottom + height + 8 < innerHeight || link.top < height + 8;
  card.style.left = `${Math.max(8, Math.min(link.left, innerWidth - width - 8))}px`;
  card.style.top = `${below ? link.bottom + 4 : link.top - height - 4}px`;
}
