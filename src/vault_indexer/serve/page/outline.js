/** The outline of a note, and the mark of the heading that one reads below. */

import { h } from "./dom.js";

/** Width from which on the outline stands beside the note, and is open. */
const BESIDE = "(min-width: 72rem)";

/** Pixels below the top of the window from which on a heading is being read. */
const READ_FROM = 140;

/**
 * The outline; empty for a note without headings.
 * @param {{ level: number, text: string, line: number }[]} headings
 * @param {(line: number) => void} show
 */
export function outline(headings, show) {
  const top = Math.min(...headings.map(({ level }) => level));
  const items = headings.map(({ level, text, line }) => h("li", { class: `level-${Math.min(4, level - top + 1)}` },
    h("button", { type: "button", class: "quiet", dir: "auto", "data-of": line, onclick: () => show(line) },
      text || "(no text)")));
  return h("nav", { class: "outline", "aria-label": "Outline" }, items.length
    ? h("details", { open: matchMedia(BESIDE).matches }, h("summary", {}, h("h2", {}, "Outline")), h("ul", {}, ...items))
    : null);
}

/**
 * Mark in the outline the last heading that has been scrolled to, until the signal.
 * @param {HTMLElement} contents the outline
 * @param {HTMLElement} text
 * @param {AbortSignal} signal
 */
export function followPlace(contents, text, signal) {
  /** @type {Map<string | undefined, HTMLElement>} */
  const buttons = new Map([...contents.querySelectorAll("button")].map((one) => [one.dataset.of, one]));
  const headings = /** @type {HTMLElement[]} */ ([...text.querySelectorAll(".heading[data-line]")])
    .filter((one) => buttons.has(one.dataset.line));
  if (!headings.length) return;
  let isWaiting = false;
  const mark = () => {
    isWaiting = false;
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2 && scrollY > 0;
    const above = headings.filter((one) => one.getBoundingClientRect().top < (atEnd ? innerHeight : READ_FROM));
    const now = buttons.get((above.at(-1) ?? headings[0]).dataset.line);
    for (const one of buttons.values()) {
      if (one !== now) one.removeAttribute("aria-current");
    }
    if (!now || now.hasAttribute("aria-current")) return;
    now.setAttribute("aria-current", "location");
    if (now.offsetTop < contents.scrollTop || now.offsetTop + now.offsetHeight > contents.scrollTop + contents.clientHeight) {
      contents.scrollTop = now.offsetTop - contents.clientHeight / 2;
    }
  };
  const markSoon = () => {
    if (!isWaiting) requestAnimationFrame(mark);
    isWaiting = true;
  };
  addEventListener("scroll", markSoon, { signal, passive: true });
  markSoon(); // with the layout of the frame, not with one more
}
