/** Formulas, set by KaTeX, which is loaded when a note has the first one. It makes elements, and trusts no formula. */

import { h } from "./dom.js";

/** Characters of a formula that is set; a longer one stays as it is written. */
const MAX_CHARS = 10_000;

/** The room for a formula on the narrowest usual sheet of paper, in pixels. */
const PAPER_WIDTH = 620;

/** @type {Promise<any> | null} */
let loading = null;

// A part that cannot be broken, such as a fraction or a matrix, is made smaller on paper, where nothing scrolls.
addEventListener("beforeprint", () => {
  for (const formula of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".formula.set"))) {
    const widest = Math.max(0, ...Array.from(formula.querySelectorAll(".katex-html > *"), (one) => one.getBoundingClientRect().width));
    formula.style.setProperty("--print-zoom", String(Math.min(1, PAPER_WIDTH / (widest || 1))));
  }
});

/**
 * Set the formulas in a text. One that KaTeX does not understand stays as it is written.
 * @param {ParentNode} text
 */
export async function setFormulas(text) {
  const places = [...text.querySelectorAll("[data-formula]")];
  if (!places.length) return;
  const katex = await (loading ??= load());
  for (const place of places) {
    const source = place.textContent ?? "";
    if (source.length > MAX_CHARS || !(place instanceof HTMLElement)) continue;
    const made = h("span", { class: "formula-set", role: "math", "aria-label": source });
    try {
      // `html`: only elements whose styles are set one by one, which the policy of the page allows.
      katex.render(source, made, { displayMode: place.dataset.formula === "block", output: "html", trust: false,
        strict: false, maxExpand: 500, maxSize: 20, throwOnError: true });
      place.replaceChildren(made);
      place.classList.add("set");
      if (place.dataset.formula !== "block") continue;
      place.tabIndex = 0; // it may be wider than the window, and is scrolled by keys
      place.setAttribute("role", "group");
      place.setAttribute("aria-label", "Formula");
    } catch (error) {
      place.title = error instanceof Error ? error.message.slice(0, 300) : "";
    }
  }
}

async function load() {
  const style = h("link", { rel: "stylesheet" });
  style.href = "/page/vendor/katex/katex.css";
  const styled = new Promise((resolve) => {
    style.addEventListener("load", resolve);
    style.addEventListener("error", resolve);
  });
  document.head.append(style);
  const [bundle] = await Promise.all([import("./vendor/katex/katex.js"), styled]);
  return bundle.default;
}
