/** The search view: hits as you type, completion, filters as chips, reasons as a picture. */

import { ApiError, get, inVault } from "./api.js";
import { recordClick } from "./clicks.js";
import { announce, byId, h, marked, quantity } from "./dom.js";
import { address, go, setAddress } from "./route.js";

const FIELDS = "path,kind,title,header_path,line,uri,relevance,snippet,marks,tags,shares";
const LIMIT = 20;
const MOST_REQUESTS = 2;
const RETRY_MS = 1000;
const EXAMPLES = ["notes about a topic", "\"an exact phrase\"", "tag:#garden", "path:Projects", "after:7d", "-word"];

/**
 * Show the view. The signal ends its requests and listeners.
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 * @param {AbortSignal} signal
 */
export function showSearch(main, values, signal) {
  new SearchView(main, values, signal);
}

/** @typedef {{ q: string, by: string }} Asked the query of an answer, and what a hit is: a note or a place */

class SearchView {
  /**
   * @param {HTMLElement} main
   * @param {URLSearchParams} values
   * @param {AbortSignal} signal
   */
  constructor(main, values, signal) {
    this.signal = signal;
    this.filters = values.getAll("f");
    this.by = values.get("by") === "chunk" ? "chunk" : "note";
    this.sequence = 0;
    this.shown = 0;
    this.running = 0;
    this.waits = false;
    /** @type {Set<string>} the places whose reasons are open, for they stay so when a new answer holds them */
    this.explained = new Set();
    this.completions = new Completions(this);
    this.input = h("input", {
      id: "q", type: "search", class: "query", autocomplete: "off", spellcheck: "false", enterkeyhint: "search",
      placeholder: "Search by meaning, word and link", role: "combobox", "aria-label": "Search the vault",
      "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "completions",
      oninput: () => this.typed(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      onblur: () => this.completions.close(),
    });
    this.input.value = values.get("q") ?? "";
    this.chips = h("div", { class: "chips", role: "group", "aria-label": "Filters" });
    this.summary = h("p", { class: "summary" });
    this.notices = h("div", { class: "notices" });
    this.list = h("ol", { class: "hits", id: "hits", "aria-label": "Hits" });
    this.list.addEventListener("keydown", (event) => this.keyInList(event));
    main.replaceChildren(
      h("section", { class: "search", "aria-label": "Search" },
        h("h1", { class: "hidden" }, "Search"),
        h("div", { class: "query-box" }, this.input, this.completions.list),
        h("div", { class: "search-tools" }, this.chips, this.switch()),
        this.summary, this.notices, this.list),
    );
    this.showChips();
    this.input.focus({ preventScroll: true });
    this.search();
  }

  /** The choice between notes and places. */
  switch() {
    const option = (/** @type {string} */ value, /** @type {string} */ label) => {
      const radio = h("input", { type: "radio", name: "by", value, id: `by-${value}`, onchange: () => {
        this.by = value;
        this.remember(true);
        this.search();
      } });
      radio.checked = this.by === value;
      return [radio, h("label", { for: `by-${value}` }, label)];
    };
    return h("fieldset", { class: "switch" }, h("legend", { class: "hidden" }, "Show hits by"),
      ...option("note", "Notes"), ...option("chunk", "Places"));
  }

  get query() {
    return [...this.filters, this.input.value].join(" ").trim();
  }

  /**
   * Keep query and filters in the address.
   * @param {boolean} push
   */
  remember(push) {
    setAddress(address("search", { q: this.input.value, f: this.filters, by: this.by === "chunk" ? "chunk" : "" }), push);
  }

  typed() {
    this.remember(false);
    this.search();
    void this.completions.ask();
  }

  /**
   * Ask for the query as it is now. Two requests run at most: while they do, only the newest query waits. An
   * answer is shown unless that of a later request is shown already.
   */
  async search() {
    this.waits = this.running >= MOST_REQUESTS;
    if (this.waits) return;
    const sequence = ++this.sequence;
    if (!this.query) {
      this.shown = sequence;
      this.showExamples();
      return;
    }
    this.running += 1;
    try {
      const asked = { q: this.query, by: this.by };
      const answer = await get("search", { ...asked, limit: LIMIT, as_you_type: true, fields: FIELDS }, this.signal);
      this.showUnlessStale(sequence, () => this.show(answer, asked));
    } catch (error) {
      if (!(error instanceof ApiError)) return;
      if (error.status === 401) throw error;
      this.showUnlessStale(sequence, () => this.showProblem(error.message));
      if (error.status === 503) this.retryLater();
    } finally {
      this.running -= 1;
    }
    if (this.waits) await this.search();
  }

  /**
   * @param {number} sequence
   * @param {() => void} show
   */
  showUnlessStale(sequence, show) {
    if (sequence < this.shown) return;
    this.shown = sequence;
    show();
  }

  /** The daemon is building its first index, or is busy: ask again until it answers. */
  retryLater() {
    const timer = setTimeout(() => void this.search(), RETRY_MS);
    this.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  }

  /** @param {string} text */
  showProblem(text) {
    this.list.replaceChildren();
    this.notices.replaceChildren();
    this.summary.textContent = text;
    announce(text);
  }

  showExamples() {
    this.list.replaceChildren();
    this.notices.replaceChildren();
    this.summary.replaceChildren(h("span", {}, "Write what you look for as you would say it. Or try "),
      ...EXAMPLES.flatMap((example, at) => [at ? ", " : "", h("code", {}, example)]), ".");
  }

  /**
   * @param {any} answer
   * @param {Asked} asked
   */
  show(answer, asked) {
    const hits = answer.results;
    // Who is among the hits already stays there when the last answer arrives.
    const focused = Array.from(this.list.children).findIndex((one) => one.contains(document.activeElement));
    this.list.replaceChildren(...hits.map((/** @type {any} */ hit, /** @type {number} */ at) => this.hit(hit, at, asked)));
    if (focused >= 0) this.focusHit(Math.min(focused, hits.length - 1));
    const found = hits.length === LIMIT ? `The best ${LIMIT} hits` : quantity(hits.length, "hit");
    const doubt = hits.length && answer.verdict === "none" ? ", probably not about this" : "";
    const text = hits.length ? `${found}${doubt}` : "Nothing is found";
    this.summary.replaceChildren(`${text} · ${Math.round(answer.took_ms)} ms`, hits.length ? legend() : "");
    announce(text);
    this.notices.replaceChildren(
      ...answer.corrections.map((/** @type {any} */ one) =>
        h("p", {}, "Also searched: ", h("strong", {}, one.to), ` for “${one.from}”`)),
      ...answer.notices.map((/** @type {string} */ one) => h("p", {}, one)));
    document.dispatchEvent(new CustomEvent("hits", { detail: { query: answer.query, tookMs: answer.took_ms } }));
  }

  /**
   * @param {any} hit
   * @param {number} at
   * @param {Asked} asked
   */
  hit(hit, at, asked) {
    const readable = hit.kind === "note" || hit.kind === "canvas";
    const here = inVault(hit.vault, address("note", { path: hit.path, line: hit.line }));
    const details = h("div", { class: "why", id: `why-${at}`, hidden: true });
    const toggle = h("button", { type: "button", class: "quiet", "aria-expanded": "false",
      "aria-controls": `why-${at}`, onclick: () => this.toggleWhy(hit, asked, details, toggle) }, "Why");
    const folder = hit.path.slice(0, hit.path.length - hit.path.split("/").pop().length - 1);
    if (this.explained.has(place(hit))) void this.toggleWhy(hit, asked, details, toggle);
    const opened = () => void (readable && recordClick(asked.q, hit.path, at + 1));
    return h("li", { class: "hit", "data-read": readable ? here : null, onread: opened },
      h("div", { class: "hit-head" },
        h("a", { class: "hit-title", href: hit.uri, onclick: opened }, hit.title),
        h("span", { class: "hit-path" }, hit.vault ? `${hit.vault}: ` : null, folder, readable ? null : ` ${hit.kind}`)),
      hit.header_path && h("p", { class: "hit-headings" }, hit.header_path),
      hit.snippet && h("p", { class: "snippet" }, ...marked(hit.snippet, hit.marks)),
      h("div", { class: "hit-foot" }, picture(hit.shares),
        readable && h("a", { href: here, class: "action", onclick: opened }, "Read here"),
        readable && h("a", { href: inVault(hit.vault, address("graph", { path: hit.path })), class: "action" }, "Graph"),
        toggle,
        ...hit.tags.slice(0, 4).map((/** @type {string} */ tag) => h("button", { type: "button", class: "tag",
          "aria-label": `Filter by tag ${tag}`, onclick: () => this.addFilter(`tag:#${tag}`) }, `#${tag}`))),
      details);
  }

  /**
   * @param {any} hit
   * @param {Asked} asked
   * @param {HTMLElement} details
   * @param {HTMLElement} toggle
   */
  async toggleWhy(hit, asked, details, toggle) {
    details.hidden = !details.hidden;
    toggle.setAttribute("aria-expanded", String(!details.hidden));
    if (details.hidden) this.explained.delete(place(hit));
    else this.explained.add(place(hit));
    if (details.childElementCount || details.hidden) return;
    // The same search again, so that the reasons are those of this very hit, whatever is typed meanwhile.
    const answer = await get("search",
      { ...asked, limit: LIMIT, as_you_type: true, fields: "path,line,why" }, this.signal);
    const found = answer.results.find((/** @type {any} */ one) => one.path === hit.path && one.line === hit.line && one.vault === hit.vault);
    if (!found || details.childElementCount) return;
    const { vector, keyword, graph, note, filters } = found.why;
    const rows = [
      ["Words", keyword && `rank ${keyword.rank}: ${Object.entries(keyword.terms)
        .map(([term, share]) => `${term} ${Number(share).toFixed(1)}`).join(", ")}`],
      ["Meaning", vector && `rank ${vector.rank}, cosine ${vector.score.toFixed(2)}`],
      ["Links", graph && `rank ${graph.rank}, by ${graph.via.slice(0, 3).join(", ")}`],
      ["Whole note", note && `holds ${Math.round(note.coverage * 100)} % of the words by weight`],
      ["Filters", filters.length ? filters.join(" ") : null],
      ["Relevance", hit.relevance.toFixed(2)],
    ];
    details.append(h("dl", {}, ...rows.flatMap(([name, text]) => text
      ? [h("dt", {}, name), h("dd", {}, text)] : [])));
  }

  /** @param {string} filter */
  addFilter(filter) {
    if (!this.filters.includes(filter)) this.filters.push(filter);
    this.showChips();
    this.remember(true);
    this.search();
    this.input.focus();
  }

  showChips() {
    this.chips.replaceChildren(...this.filters.map((filter) => h("button", { type: "button", class: "chip",
      "aria-label": `Remove the filter ${filter}`, onclick: () => {
        this.filters = this.filters.filter((one) => one !== filter);
        this.showChips();
        this.remember(true);
        this.search();
        this.input.focus();
      } }, filter, h("span", { "aria-hidden": "true" }, " ×"))));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (this.completions.key(event)) {
      event.preventDefault();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      this.focusHit(0);
    } else if (event.key === "Enter") {
      const first = this.list.querySelector("a.hit-title");
      if (first instanceof HTMLElement) first.click();
    } else if (event.key === "Backspace" && !this.input.value && this.filters.length) {
      this.filters.pop();
      this.showChips();
      this.remember(true);
      this.search();
    }
  }

  /** @param {KeyboardEvent} event */
  keyInList(event) {
    const item = event.target instanceof Element ? event.target.closest("li.hit") : null;
    if (!(item instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = Array.from(this.list.children).indexOf(item);
    if (event.key === "ArrowDown") this.focusHit(at + 1);
    else if (event.key === "ArrowUp" && at === 0) this.input.focus();
    else if (event.key === "ArrowUp") this.focusHit(at - 1);
    else if (event.key === "o" && item.dataset.read) this.read(item, item.dataset.read);
    else if (event.key === "w") item.querySelector("button")?.click();
    else if (event.key === "Escape") this.input.focus();
    else return;
    event.preventDefault();
  }

  /**
   * @param {HTMLElement} item
   * @param {string} to
   */
  read(item, to) {
    item.dispatchEvent(new Event("read"));
    if (to.startsWith("/")) location.assign(to);
    else go(to);
  }

  /** @param {number} at */
  focusHit(at) {
    const link = this.list.children[at]?.querySelector("a.hit-title");
    if (link instanceof HTMLElement) link.focus();
  }
}

/**
 * What tells a hit's note from others.
 * @param {{ vault?: string, path: string }} hit
 */
function place(hit) {
  return `${hit.vault ?? ""}:${hit.path}`;
}

/**
 * What words, meaning and links gave, as three bars.
 * @param {{ words: number, meaning: number, links: number }} shares
 */
function picture(shares) {
  const parts = /** @type {[string, number][]} */ ([
    ["words", shares.words], ["meaning", shares.meaning], ["links", shares.links],
  ]);
  const label = parts.map(([name, share]) => `${name} ${Math.round(share * 100)} %`).join(", ");
  return h("span", { class: "picture", role: "img", "aria-label": `Reasons: ${label}`, title: label },
    ...parts.map(([name, share]) => {
      const bar = h("span", { class: `part ${name}` });
      bar.style.setProperty("--share", String(share));
      return bar;
    }));
}

/** What the colours of the bars mean. */
function legend() {
  return h("span", { class: "legend", "aria-hidden": "true" },
    ...["words", "meaning", "links"].map((name) => h("span", { class: name }, name)));
}

/** The ways to go on with the query, under the input. */
class Completions {
  /** @param {SearchView} view */
  constructor(view) {
    this.view = view;
    this.active = -1;
    this.replaces = "";
    /** @type {any[]} */
    this.items = [];
    this.sequence = 0;
    this.list = h("ul", { class: "completions", id: "completions", role: "listbox", hidden: true,
      "aria-label": "Completions" });
  }

  async ask() {
    const sequence = ++this.sequence;
    const input = this.view.input;
    const before = input.value.slice(0, input.selectionStart ?? undefined);
    if (!before.trim() || document.body.dataset.vaults === "all") return this.close();
    const found = await get("complete", { q: before }, this.view.signal).catch(() => null);
    if (sequence !== this.sequence) return;
    this.items = found?.items ?? [];
    this.replaces = found?.replaces ?? "";
    this.active = -1;
    this.show();
  }

  show() {
    this.list.replaceChildren(...this.items.map((item, at) => h("li", { role: "option", id: `completion-${at}`,
      "aria-selected": String(at === this.active), class: at === this.active ? "active" : null,
      onmousedown: (/** @type {Event} */ event) => {
        event.preventDefault();
        this.accept(at);
      } }, h("span", {}, item.text), h("span", { class: "help" }, item.help || quantity(item.count, "note")))));
    this.list.hidden = this.items.length === 0;
    const input = this.view.input;
    input.setAttribute("aria-expanded", String(!this.list.hidden));
    if (this.active >= 0) input.setAttribute("aria-activedescendant", `completion-${this.active}`);
    else input.removeAttribute("aria-activedescendant");
    this.list.children[this.active]?.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.sequence++;
    if (!this.items.length) return;
    this.items = [];
    this.show();
  }

  /**
   * @param {KeyboardEvent} event
   * @returns {boolean} whether the key was for the completions
   */
  key(event) {
    const last = this.items.length - 1;
    if (last < 0) return false;
    const isOperator = this.items[0].kind === "operator";
    if (event.key === "Escape") this.close();
    else if (event.key === "Tab" && !event.shiftKey) this.accept(Math.max(0, this.active));
    else if (event.key === "Enter" && this.active >= 0) this.accept(this.active);
    else if (event.key === "ArrowDown" && !isOperator) this.move(this.active < last ? this.active + 1 : 0);
    else if (event.key === "ArrowUp" && !isOperator) this.move(this.active > 0 ? this.active - 1 : last);
    else return false;
    return true;
  }

  /** @param {number} at */
  move(at) {
    this.active = at;
    this.show();
  }

  /** @param {number} at */
  accept(at) {
    const { text, kind } = this.items[at];
    const input = this.view.input;
    const end = input.selectionStart ?? input.value.length;
    const start = end - this.replaces.length;
    const isFilter = kind !== "operator";
    input.setRangeText(isFilter ? "" : text, start, end, "end");
    input.value = isFilter ? input.value.trim() : input.value;
    this.close();
    if (isFilter) this.view.addFilter(text);
    else this.view.typed();
  }
}

/** Go to the input from anywhere. */
export function focusSearch() {
  if (document.getElementById("q")) byId("q").focus();
  else go(address("search"));
}
