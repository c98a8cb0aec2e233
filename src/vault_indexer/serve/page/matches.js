/** The words of a query in a note: marked, and gone through by keys and buttons. The text itself is not changed. */

import { announce, h } from "./dom.js";
import { hasShortcuts } from "./settings.js";

/** Places that are marked; a note of this many has them everywhere. */
const MOST = 2000;

/** Scripts that put spaces between words, so that a match is a whole word. */
const SPACED = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]/u;

export class Matches {
  /**
   * @param {HTMLElement} text
   * @param {string[]} words
   * @param {AbortSignal} signal
   * @param {() => void} marked is called after `ranges` have changed
   */
  constructor(text, words, signal, marked) {
    this.text = text;
    this.marked = marked;
    this.at = -1;
    /** @type {Range[]} */
    this.ranges = [];
    this.count = h("span", { role: "status" });
    const step = (/** @type {number} */ by, /** @type {string} */ name, /** @type {string} */ sign) =>
      h("button", { type: "button", "aria-label": name, title: name, onclick: () => this.step(by) }, sign);
    this.bar = h("span", { class: "matches", role: "group", "aria-label": "Matched words", hidden: true },
      step(-1, "Previous match (N)", "↑"), this.count, step(1, "Next match (n)", "↓"));
    this.pattern = words.length && "highlights" in CSS ? patternOf(words) : null;
    if (!this.pattern) return;
    // The text grows by what it embeds.
    const observer = new MutationObserver(() => this.mark());
    observer.observe(text, { childList: true, subtree: true });
    document.addEventListener("keydown", (event) => {
      const isField = event.target instanceof Element && event.target.matches("input, select, textarea");
      if (isField || event.ctrlKey || event.metaKey || event.altKey || !hasShortcuts()) return;
      if (event.key === "n") this.step(1);
      if (event.key === "N") this.step(-1);
    }, { signal });
    signal.addEventListener("abort", () => {
      observer.disconnect();
      CSS.highlights.clear();
    });
  }

  mark() {
    if (!this.pattern) return;
    // A heading that repeats the title is hidden.
    const walker = document.createTreeWalker(this.text, NodeFilter.SHOW_TEXT, (node) =>
      node.parentElement?.closest("[hidden]") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    const current = this.ranges[this.at];
    this.ranges = [];
    for (let node = walker.nextNode(); node && this.ranges.length < MOST; node = walker.nextNode()) {
      for (const found of (node.textContent ?? "").matchAll(this.pattern)) {
        const range = new Range();
        range.setStart(node, found.index);
        range.setEnd(node, found.index + found[0].length);
        this.ranges.push(range);
      }
    }
    CSS.highlights.set("match", new Highlight(...this.ranges));
    this.bar.hidden = !this.ranges.length;
    const again = this.ranges.findIndex((one) => current?.compareBoundaryPoints(Range.START_TO_START, one) === 0);
    this.at = again >= 0 ? again : Math.min(this.at, this.ranges.length - 1);
    this.say();
    this.marked();
  }

  say() {
    const number = this.ranges.length;
    this.count.textContent = this.at < 0 ? `${number}` : `${this.at + 1} of ${number}`;
  }

  /** @param {number} by */
  step(by) {
    const number = this.ranges.length;
    if (!number) return;
    // The first step leads to the first match from the top of the window on.
    const next = this.ranges.findIndex((one) => one.getBoundingClientRect().bottom > 0);
    this.at = this.at < 0 && by > 0 ? Math.max(0, next) : (Math.max(0, this.at) + by + number) % number;
    const range = this.ranges[this.at];
    const place = range.startContainer.parentElement;
    for (let fold = place?.closest("details:not([open])"); fold; fold = fold.closest("details:not([open])")) {
      /** @type {HTMLDetailsElement} */ (fold).open = true;
    }
    place?.scrollIntoView({ block: "center" });
    CSS.highlights.set("current-match", new Highlight(range));
    this.say();
    announce(`${this.count.textContent}: ${place?.textContent?.slice(0, 120) ?? ""}`);
  }
}

/** @param {string[]} words */
function patternOf(words) {
  const parts = [...words].sort((one, other) => other.length - one.length).map((word) => {
    const escaped = word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    const [before, behind] = SPACED.test(word) ? ["(?<![\\p{L}\\p{N}])", "(?![\\p{L}\\p{N}])"] : ["", ""];
    return `${before}${escaped}${behind}`;
  });
  return new RegExp(parts.join("|"), "giu");
}
