/** The judging view: a question, and one note after the other that a person grades, without ranks. */

import { get, post } from "./api.js";
import { announce, h, quantity, setTitle } from "./dom.js";
import { address, go } from "./route.js";
import { hasShortcuts } from "./settings.js";

/** @typedef {import("./shapes").PooledNote} PooledNote */

/**
 * Show the view. The signal ends its requests and listeners.
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 * @param {AbortSignal} signal
 */
export async function showJudge(main, values, signal) {
  const pool = await get("/evals/judge", { q: values.get("q") ?? "" }, signal);
  if (pool.question) new Judging(main, pool, signal).show();
  else showQuestions(main, pool);
}

/**
 * @param {HTMLElement} main
 * @param {import("./shapes").JudgingPool} pool
 */
function showQuestions(main, pool) {
  const input = h("input", { id: "question", type: "text", class: "query", autocomplete: "off", dir: "auto",
    placeholder: "A question that you would ask this vault", "aria-label": "Question",
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const question = input.value.trim();
      if (event.key === "Enter" && question) go(address("judge", { q: question }));
    } });
  main.replaceChildren(h("section", { class: "judge", "aria-label": "Questions" },
    h("h1", {}, "Judge"),
    h("p", {}, "Grade the notes that words, meaning and both find for a question. The command line then tells how ",
      "well a configuration ranks them."),
    h("div", { class: "query-box" }, input),
    h("ul", { class: "questions" }, ...pool.questions.map((/** @type {string} */ one) =>
      h("li", {}, h("a", { href: address("judge", { q: one }), dir: "auto" }, one)))),
    h("p", { class: "quiet-text" }, `Stored in ${pool.folder}`)));
  input.focus({ preventScroll: true });
}

class Judging {
  /**
   * @param {HTMLElement} main
   * @param {import("./shapes").JudgingPool} pool
   * @param {AbortSignal} signal
   */
  constructor(main, pool, signal) {
    this.main = main;
    this.pool = pool;
    this.signal = signal;
    this.judged = pool.judged;
    /** @type {PooledNote[]} */
    this.left = pool.notes;
    this.at = 0;
    this.isBusy = false;
    addEventListener("keydown", (event) => this.key(event), { signal });
  }

  show() {
    const note = this.left[this.at];
    const { question, grades, folder } = this.pool;
    setTitle(`Judge: ${question}`);
    const place = note ? `${this.at + 1} of ${this.left.length}` : "No note is left";
    this.main.replaceChildren(h("section", { class: "judge", "aria-label": "Judging" },
      h("p", {}, h("a", { href: address("judge") }, "All questions")),
      h("h1", { id: "judged-question", dir: "auto" }, question),
      h("p", { class: "quiet-text", id: "judge-place" }, `${place} · ${quantity(this.judged, "note")} graded`),
      note && h("article", { class: "hit", "aria-label": "Note" },
        h("div", { class: "hit-head" },
          h("a", { class: "hit-title", href: address("note", { path: note.path }), dir: "auto" }, note.title),
          h("span", { class: "hit-path", dir: "auto" }, note.path)),
        h("p", { class: "snippet", dir: "auto" }, note.excerpt)),
      note && h("div", { class: "tools", role: "group", "aria-label": "Grade" },
        ...grades.map((/** @type {string} */ meaning, /** @type {number} */ grade) =>
          h("button", { type: "button", onclick: () => void this.grade(grade) }, `${grade} ${meaning}`)),
        h("button", { type: "button", onclick: () => this.skip() }, "s skip")),
      h("p", { class: "quiet-text" }, `Stored in ${folder}`)));
    announce(note ? `${note.title}, ${place}` : place);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.left[this.at] || !hasShortcuts()) return;
    if (event.key === "s") this.skip();
    else if (/^\d$/.test(event.key) && Number(event.key) < this.pool.grades.length) void this.grade(Number(event.key));
    else return;
    event.preventDefault();
  }

  /** @param {number} grade */
  async grade(grade) {
    if (this.isBusy) return; // until this one is on disk
    this.isBusy = true;
    try {
      const kept = await post("/evals/judge", { q: this.pool.question, path: this.left[this.at].path, grade });
      this.judged = kept.judged;
    } finally {
      this.isBusy = false;
    }
    if (!this.signal.aborted) this.skip(); // else another view is shown
  }

  skip() {
    if (this.isBusy) return;
    if (this.at < this.left.length) this.at += 1;
    this.show();
  }
}
