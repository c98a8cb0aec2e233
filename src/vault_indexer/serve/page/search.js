/** The search view: hits as you type, completion, filters as chips, reasons as a picture. */

import { ApiError, get, inVault } from "./api.js";
import { recordClick } from "./clicks.js";
import { noteLoss } from "./daemon.js";
import { announce, byId, h, marked, quantity, setTitle } from "./dom.js";
import { recentQueries, rememberQuery } from "./recent.js";
import { address, go, noteName, obsidianAddress, setAddress } from "./route.js";
import { hasShortcuts } from "./settings.js";

const FIELDS = "path,kind,title,language,header_path,line,uri,relevance,snippet,marks,tags,copies,shares";
/** @param {string[]} copies */
const copyCount = (copies) => `and ${copies.length} ${copies.length === 1 ? "copy" : "copies"}`;
const LIMIT = 20;
const MOST_REQUESTS = 2;
const RETRY_MS = 1000;

/** After so long without an answer the page says that it searches, and that the daemon is slow. */
const SAY_SEARCHING_MS = 200;
const SAY_SLOW_MS = 3000;

const RECENT_NOTES = 6;

/** A query that all notes meet: without words, those changed last come first. */
const ALL_NOTES = "after:1970-01-02";

/** @type {[string, string][]} */
const EXAMPLES = [
  ["notes about a topic", "by meaning, in your own words"],
  ["\"an exact phrase\"", "these words, in this order"],
  ["tag:#", "with a tag"],
  ["path:", "in a folder"],
  ["after:7d", "changed in the last week"],
  ["-word", "without a word"],
];

/** Where a value of an operator, a tag or a property ends: there, the vault knows how to go on. */
const COMPLETABLE = /(?:^|[\s(])-?(?:[a-z][a-z-]*:(?:"[^"]*|\S*)|\[[^\]]*|#\S*)$/i;

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
    /** The query of the hits that are shown; null while none are. @type {string | null} */
    this.shownQuery = null;
    this.opensFirst = false;
    /** @type {ReturnType<typeof setTimeout>[]} */
    this.timers = [];
    /** @type {Set<string>} the places whose reasons are open, for they stay so when a new answer holds them */
    this.explained = new Set();
    this.completions = new Completions(this);
    this.input = h("input", {
      id: "q", type: "search", class: "query", autocomplete: "off", spellcheck: "false", enterkeyhint: "search",
      dir: "auto", placeholder: "Search by meaning, word and link", role: "combobox", "aria-label": "Search the vault",
      "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "completions",
      oninput: () => this.typed(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      onblur: () => this.completions.close(),
    });
    this.input.value = values.get("q") ?? "";
    this.chips = h("div", { class: "chips", role: "group", "aria-label": "Filters" });
    this.summary = h("div", { class: "summary" });
    this.notices = h("div", { class: "notices" });
    this.list = h("ol", { class: "hits", id: "hits", "aria-label": "Hits" });
    this.others = h("ol", { class: "other-hits", "aria-label": "Less likely hits" });
    this.othersCount = h("summary");
    this.fold = h("details", { class: "less-likely", hidden: true }, this.othersCount, this.others);
    for (const list of [this.list, this.others]) list.addEventListener("keydown", (event) => this.keyInList(event));
    main.replaceChildren(
      h("section", { class: "search", "aria-label": "Search" },
        h("h1", { class: "hidden" }, "Search"),
        h("div", { class: "query-box" }, this.input, this.completions.list),
        h("div", { class: "search-tools" }, this.chips, this.switch()),
        this.summary, this.notices, this.list, this.fold),
    );
    this.showChips();
    this.input.focus({ preventScroll: true });
    document.addEventListener("renewed", () => void this.search(), { signal });
    signal.addEventListener("abort", () => this.timers.forEach(clearTimeout));
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
    this.opensFirst = false;
    this.remember(false);
    this.search();
    void this.completions.ask();
  }

  /**
   * Ask for the query as it is now. Two requests run at most: while they do, only the newest query waits. An
   * answer is shown unless that of a later request is shown already.
   */
  async search() {
    setTitle(this.query || "Search");
    this.waits = this.running >= MOST_REQUESTS;
    if (this.query && this.query !== this.shownQuery) this.sayLater();
    if (this.waits) return;
    const sequence = ++this.sequence;
    if (!this.query) {
      this.shown = sequence;
      await this.showStart();
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
      noteLoss(error);
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

  /** Say that an answer is under way, unless it comes soon; the hits until then are those of another query. */
  sayLater() {
    if (this.timers.length) return;
    const say = (/** @type {string} */ text) => {
      this.list.classList.add("old");
      this.summary.textContent = text;
      announce(text);
    };
    this.timers = [setTimeout(() => say("Searching …"), SAY_SEARCHING_MS),
      setTimeout(() => say("Searching … The daemon has not answered yet."), SAY_SLOW_MS)];
  }

  /**
   * The list is that of a query; "" where there is no answer.
   * @param {string | null} query
   */
  arrive(query) {
    this.shownQuery = query;
    this.timers.forEach(clearTimeout);
    this.timers = [];
    this.list.classList.remove("old");
    if (query !== null && query !== this.query) this.sayLater(); // another answer is under way
  }

  /** The daemon is building its first index, or is busy: ask again until it answers. */
  retryLater() {
    const timer = setTimeout(() => void this.search(), RETRY_MS);
    this.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  }

  /** @param {string} text */
  showProblem(text) {
    this.arrive(null);
    this.opensFirst = false;
    this.showHits([], []);
    this.notices.replaceChildren();
    this.summary.textContent = text;
    announce(text);
  }

  /** Nothing is typed: what was looked for in this tab, what changed last, what can be typed. */
  async showStart() {
    this.arrive(null);
    this.showHits([], []);
    this.notices.replaceChildren();
    const queries = recentQueries();
    const notes = h("ul", { class: "plain" });
    const part = (/** @type {string} */ name, /** @type {Node} */ content) =>
      h("section", { class: "start-part" }, h("h2", {}, name), content);
    const recent = part("Changed last", notes);
    recent.hidden = true;
    this.summary.replaceChildren(h("div", { class: "start" },
      queries.length ? part("Recent queries", h("ul", { class: "plain" }, ...queries.map((query) => h("li", {},
        h("button", { type: "button", class: "quiet", dir: "auto", onclick: () => this.write(query) }, query))))) : null,
      recent,
      part("What you can type", h("dl", { class: "examples" }, ...EXAMPLES.flatMap(([example, help]) => [
        h("dt", {}, h("button", { type: "button", class: "quiet", onclick: () => this.write(example) },
          h("code", {}, example))),
        h("dd", {}, help)])))));
    const asked = { q: ALL_NOTES, by: "note", limit: RECENT_NOTES, fields: "path,kind,title,language,line,uri" };
    const answer = await get("search", asked, this.signal).catch(() => null);
    if (!answer?.results.length) return;
    notes.append(...answer.results.filter(isReadable).map((/** @type {import("./shapes").Hit} */ hit) => h("li", {},
      h("a", { href: readAddress(hit), dir: "auto", lang: hit.language }, hit.title))));
    recent.hidden = false;
  }

  /** @param {string} text the query from now on */
  write(text) {
    this.input.value = text;
    this.input.focus();
    this.typed();
  }

  /**
   * @param {import("./shapes").SearchAnswer} answer
   * @param {Asked} asked
   */
  show(answer, asked) {
    const hits = answer.results;
    this.arrive(asked.q);
    // Who is among the hits already stays there when the last answer arrives.
    const focused = this.items().findIndex((one) => one.contains(document.activeElement));
    const items = hits.map((/** @type {import("./shapes").Hit} */ hit, /** @type {number} */ at) => this.hit(hit, at, asked));
    const likely = answer.likely || items.length;
    this.showHits(items.slice(0, likely), items.slice(likely));
    if (focused >= 0) this.focusHit(Math.min(focused, hits.length - 1));
    const found = likely === LIMIT ? `The best ${LIMIT} hits` : quantity(likely, "hit");
    const none = answer.verdict === "none" ? "Nothing is found" : "Nothing is found yet";
    const nearest = answer.likely ? found : `No likely match. The nearest ${quantity(items.length, "hit")}`;
    const text = hits.length ? nearest : none;
    this.summary.textContent = `${text} · ${Math.round(answer.took_ms)} ms`;
    if (asked.q === this.query) announce(text);
    this.notices.replaceChildren(
      ...answer.corrections.map((/** @type {import("./shapes").Correction} */ one) =>
        h("p", {}, "Also searched: ", h("strong", {}, one.to), ` for “${one.from}”`)),
      ...answer.notices.map((/** @type {string} */ one) => h("p", {}, one)));
    document.dispatchEvent(new CustomEvent("hits", { detail: { query: answer.query, tookMs: answer.took_ms } }));
    if (this.opensFirst && asked.q === this.query) this.openFirst();
  }

  /**
   * @param {HTMLElement[]} likely
   * @param {HTMLElement[]} others folded away, unless the user has opened the fold
   */
  showHits(likely, others) {
    this.list.replaceChildren(...likely);
    this.others.replaceChildren(...others);
    this.othersCount.textContent = `Less likely (${others.length})`;
    this.fold.hidden = !others.length;
  }

  /** All hits that are listed. */
  items() {
    return [...this.list.children, ...this.others.children];
  }

  /**
   * @param {import("./shapes").Hit} hit
   * @param {number} at
   * @param {Asked} asked
   */
  hit(hit, at, asked) {
    const here = isReadable(hit) ? readAddress(hit) : null;
    const inObsidian = obsidianAddress(hit.uri);
    const details = h("div", { class: "why", id: `why-${at}`, hidden: true });
    const toggle = h("button", { type: "button", class: "quiet", "aria-expanded": "false",
      "aria-controls": `why-${at}`, onclick: () => this.toggleWhy(hit, asked, details, toggle) }, "Why");
    const folder = hit.path.split("/").slice(0, -1).join("/");
    if (this.explained.has(place(hit))) void this.toggleWhy(hit, asked, details, toggle);
    const opened = () => {
      rememberQuery(asked.q);
      if (here) void recordClick(asked.q, hit.path, at + 1);
    };
    const to = here ?? inObsidian;
    const text = { dir: "auto", lang: hit.language || null };
    return h("li", { class: "hit" },
      h("div", { class: "hit-head" },
        to ? h("a", { class: "hit-title", ...text, href: to, onclick: opened }, hit.title)
          : h("span", { class: "hit-title", tabindex: -1, ...text }, hit.title),
        h("span", { class: "hit-path", dir: "auto" }, hit.vault ? `${hit.vault}: ` : null,
          noteName(hit.path) === hit.title ? folder : hit.path,
          here ? null : ` ${hit.kind}`),
        hit.copies && h("span", { class: "hit-path", title: hit.copies.join("\n") }, copyCount(hit.copies))),
      hit.header_path && h("p", { class: "hit-headings", ...text }, hit.header_path),
      hit.snippet && h("p", { class: "snippet", ...text }, ...marked(hit.snippet, hit.marks)),
      h("div", { class: "hit-foot" }, hit.shares && picture(hit.shares), toggle,
        inObsidian && h("a", { href: inObsidian, class: "action obsidian", onclick: opened }, "Obsidian"),
        here && h("a", { href: inVault(hit.vault, address("graph", { path: hit.path })), class: "action" }, "Graph"),
        ...hit.tags.slice(0, 4).map((/** @type {string} */ tag) => h("button", { type: "button", class: "tag",
          "aria-label": `Filter by tag ${tag}`, onclick: () => this.addFilter(`tag:#${tag}`) }, `#${tag}`))),
      details);
  }

  /**
   * @param {import("./shapes").Hit} hit
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
    const found = answer.results.find((/** @type {import("./shapes").Hit} */ one) => one.path === hit.path && one.line === hit.line && one.vault === hit.vault);
    if (!found || details.childElementCount) return;
    const { vector, keyword, graph, note, filters } = found.why;
    const rows = [
      [hue("words", "Words"), keyword && `rank ${keyword.rank}: ${Object.entries(keyword.terms)
        .map(([term, share]) => `${term} ${Number(share).toFixed(1)}`).join(", ")}`],
      ["Synonyms", keyword && Object.entries(keyword.synonyms ?? {})
        .map(([found, written]) => `${found} for ${written}`).join(", ")],
      [hue("meaning", "Meaning"), vector && `rank ${vector.rank}, cosine ${vector.score.toFixed(2)}`],
      [hue("links", "Links"), graph && `rank ${graph.rank}, by ${graph.via.slice(0, 3).join(", ")}`],
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
    if (event.isComposing) return; // Enter and the arrows belong to the input method
    if (this.completions.key(event)) {
      event.preventDefault();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      this.focusHit(0);
    } else if (event.key === "Enter") {
      this.opensFirst = this.query !== "";
      if (this.opensFirst && this.shownQuery === this.query) this.openFirst();
    } else if (event.key === "Backspace" && !this.input.value && this.filters.length) {
      this.filters.pop();
      this.showChips();
      this.remember(true);
      this.search();
    }
  }

  /** Open the first hit, and no other where it cannot be opened. The hits are those of what is typed. */
  openFirst() {
    this.opensFirst = false;
    const first = this.list.firstElementChild?.querySelector("a.hit-title");
    if (first instanceof HTMLElement) first.click();
  }

  /** @param {KeyboardEvent} event */
  keyInList(event) {
    const item = event.target instanceof Element ? event.target.closest("li.hit") : null;
    if (!(item instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.items().indexOf(item);
    if (event.key === "ArrowDown") this.focusHit(at + 1);
    else if (event.key === "ArrowUp" && at === 0) this.input.focus();
    else if (event.key === "ArrowUp") this.focusHit(at - 1);
    else if (event.key === "o" && hasShortcuts()) click(item, "a.obsidian");
    else if (event.key === "w" && hasShortcuts()) click(item, "button");
    else if (event.key === "Escape") this.input.focus();
    else return;
    event.preventDefault();
  }

  /** @param {number} at */
  focusHit(at) {
    const item = this.items()[at];
    if (item?.parentElement === this.others) this.fold.setAttribute("open", "");
    const link = item?.querySelector(".hit-title");
    if (link instanceof HTMLElement) link.focus();
  }
}

/** @param {import("./shapes").Hit} hit */
function isReadable(hit) {
  return hit.kind === "note" || hit.kind === "canvas";
}

/**
 * Where the page shows the note of a hit, at the hit's line.
 * @param {import("./shapes").Hit} hit
 */
function readAddress(hit) {
  return inVault(hit.vault, address("note", { path: hit.path, line: hit.line }));
}

/**
 * @param {HTMLElement} item
 * @param {string} selector
 */
function click(item, selector) {
  const found = item.querySelector(selector);
  if (found instanceof HTMLElement) found.click();
}

/**
 * What tells a hit's note from others.
 * @param {{ vault?: string, path: string }} hit
 */
function place(hit) {
  return `${hit.vault ?? ""}:${hit.path}`;
}

/**
 * What words, meaning and links gave, as one bar of three parts.
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

/**
 * A name in the colour of its part of the bar.
 * @param {string} kind
 * @param {string} name
 */
function hue(kind, name) {
  return h("span", { class: `hue ${kind}` }, name);
}

/** The ways to go on with the query, under the input. */
class Completions {
  /** @param {SearchView} view */
  constructor(view) {
    this.view = view;
    this.active = -1;
    this.replaces = "";
    /** @type {import("./shapes").Completion[]} */
    this.items = [];
    this.sequence = 0;
    this.list = h("ul", { class: "completions", id: "completions", role: "listbox", hidden: true,
      "aria-label": "Completions" });
  }

  async ask() {
    const sequence = ++this.sequence;
    const input = this.view.input;
    const before = input.value.slice(0, input.selectionStart ?? undefined);
    if (!COMPLETABLE.test(before) || document.body.dataset.vaults === "all") return this.close();
    const found = await get("complete", { q: before }, this.view.signal).catch(() => null);
    if (sequence !== this.sequence) return;
    this.items = (found?.items ?? []).filter((/** @type {import("./shapes").Completion} */ item) => item.kind !== "operator");
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
    if (event.key === "Escape") this.close();
    else if (event.key === "Tab" && !event.shiftKey) this.accept(Math.max(0, this.active));
    else if (event.key === "Enter" && this.active >= 0) this.accept(this.active);
    else if (event.key === "ArrowDown") this.move(this.active < last ? this.active + 1 : 0);
    else if (event.key === "ArrowUp") this.move(this.active > 0 ? this.active - 1 : last);
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
    const { text } = this.items[at];
    const input = this.view.input;
    const end = input.selectionStart ?? input.value.length;
    input.setRangeText("", end - this.replaces.length, end, "end");
    input.value = input.value.trim();
    this.close();
    this.view.addFilter(text);
  }
}

/** Go to the input from anywhere. */
export function focusSearch() {
  if (document.getElementById("q")) byId("q").focus();
  else go(address("search"));
}
