/** Code in notes: its language, its colours, and a button that copies it. */

import { copy, h } from "./dom.js";

/** Characters of a code that is coloured, and blocks of one text. */
const MAX_CHARS = 50_000;
const MAX_BLOCKS = 200;

/** Milliseconds for one block. A code for which that is not enough stays plain, and so do those after it. */
const PATIENCE_MS = 3_000;

/** Kinds of words that have a colour of their own; others look like the rest. */
const KINDS = new Set(["addition", "attr", "attribute", "built_in", "bullet", "comment", "deletion", "keyword", "link",
  "literal", "meta", "name", "number", "operator", "property", "quote", "regexp", "section", "selector-class",
  "selector-id", "selector-tag", "string", "subst", "symbol", "tag", "template-variable", "title", "type", "variable"]);

/**
 * A block of code with its language and the button.
 * @param {string} code
 * @param {string} lang
 * @param {Record<string, unknown>} attributes
 */
export function codeBlock(code, lang, attributes) {
  const button = h("button", { type: "button", class: "quiet copy", onclick: () => copy(code) }, "Copy");
  return h("div", { ...attributes, class: "code" },
    h("div", { class: "code-head" }, h("span", { class: "code-language" }, lang), button),
    h("pre", { tabindex: 0, role: "group", dir: "ltr", "aria-label": `Code ${lang}`.trim() },
      h("code", { "data-language": lang }, code)));
}

/**
 * Colour the code in a text. The signal ends it.
 * @param {ParentNode} text
 * @param {AbortSignal} signal
 */
export async function colourCode(text, signal) {
  const blocks = [...text.querySelectorAll("code[data-language]")].filter((one) => one instanceof HTMLElement
    && one.dataset.language && (one.textContent ?? "").length <= MAX_CHARS).slice(0, MAX_BLOCKS);
  if (!blocks.length) return;
  const worker = new Worker("/page/code-worker.js", { type: "module" });
  signal.addEventListener("abort", () => worker.terminate());
  try {
    for (const [id, block] of blocks.entries()) {
      const parts = await ask(worker, id, /** @type {HTMLElement} */ (block), signal);
      if (signal.aborted || parts === undefined) return;
      if (parts) {
        block.replaceChildren(...parts.map(([kind, part]) => KINDS.has(kind) ? h("span", { class: `hl-${kind}` }, part)
          : part));
      }
    }
  } finally {
    worker.terminate();
  }
}

/**
 * The parts of a code; null if the language is not known, undefined if there is no answer in time.
 * @param {Worker} worker
 * @param {number} id
 * @param {HTMLElement} block
 * @param {AbortSignal} signal
 * @returns {Promise<[string, string][] | null | undefined>}
 */
function ask(worker, id, block, signal) {
  return new Promise((resolve) => {
    const done = new AbortController();
    const end = (/** @type {[string, string][] | null | undefined} */ parts) => {
      done.abort();
      resolve(parts);
    };
    const timer = setTimeout(() => end(undefined), PATIENCE_MS);
    done.signal.addEventListener("abort", () => clearTimeout(timer));
    signal.addEventListener("abort", () => end(undefined), { signal: done.signal });
    worker.addEventListener("error", () => end(undefined), { signal: done.signal });
    worker.addEventListener("message", (event) => {
      if (event.data.id === id) end(event.data.parts);
    }, { signal: done.signal });
    worker.postMessage({ id, lang: block.dataset.language, code: block.textContent });
  });
}
