/** Finds what the words of a code are, away from the thread that shows the note. */

import * as bundle from "./vendor/highlight/highlight.js";

/** @type {any} the bundle has no types */
const highlight = bundle.default;

/** Collects the parts of a code as `[kind, text]`, in place of markup. */
class Parts {
  constructor() {
    /** @type {[string, string][]} */
    this.parts = [];
    /** @type {string[]} */
    this.kinds = [];
  }

  /** @param {string} text */
  addText(text) {
    if (text) this.parts.push([this.kinds.at(-1) ?? "", text]);
  }

  /** @param {string} kind */
  startScope(kind) {
    this.kinds.push(kind.split(".")[0]);
  }

  endScope() {
    this.kinds.pop();
  }

  /** @param {string} kind */
  openNode(kind) {
    this.startScope(kind);
  }

  closeNode() {
    this.endScope();
  }

  /** @param {Parts} other code of another language inside */
  __addSublanguage(other) {
    this.parts.push(...other.parts);
  }

  finalize() {}

  toHTML() {
    return "";
  }
}

highlight.configure({ __emitter: Parts });

addEventListener("message", (/** @type {MessageEvent<{ id: number, lang: string, code: string }>} */ event) => {
  const { id, lang, code } = event.data;
  const known = highlight.getLanguage(lang) !== undefined;
  const parts = known ? highlight.highlight(code, { language: lang, ignoreIllegals: true })._emitter.parts : null;
  postMessage({ id, parts });
});
