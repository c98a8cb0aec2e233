/** The search view: hits as you type, completion, filters as chips, reasons as a picture. */

import { ApiError, get, inVault } from "./api.js";
import { recordClick } from "./clicks.js";
import { noteLoss } from "./daemon.js";
import { afterPaint, announce, byId, h, marked, marksOf, quantity, setTitle } from "./dom.js";
import { facetList } from "./facets.js";
import { recentQueries, rememberQuery } from "./recent.js";
import { address, editorName, go, keepSearch, lastSearch, noteName, placeOfPart, setAddress } from "./route.js";
import { isSaved, savedSearches, toggleSaved } from "./saved.js";
import { hasShortcuts } from "./settings.js";

const FIELDS = "path,kind,title,language,header_path,line,part,uri,relevance,snippet,marks,tags,copies,shares,modified_time";
/** @param {string[]} copies */
const copyCount = (copies) => `and ${copies.length} ${copies.length === 1 ? "copy" : "copies"}`;
const LIMIT = 20;
const MOST_REQUESTS = 2;

/** The height of a hit without text, in pixels: of an answer, what fills the window is drawn first. */
const LEAST_HEIGHT = 72;

const RETRY_MS = 1000;

/** After so long without an answer the page says that it searches, and that the daemon is slow. */
const SAY_SEARCHING_MS = 200;
const SAY_SLOW_MS = 3000;

/** After this pause in a word that may become an operator, operators are offered. */
const OFFER_MS = 350;

/** Width from which on the facets are next to the hits, and open. */
const BESIDE = "(min-width: 64rem)";

const RECENT_NOTES = 6;

/** Matched words of a hit that are marked in its note. */
const MARKED = 8;

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

/** Where an operator may begin; it is offered, and not taken by a key that is for something else. */
const BEGINNING = /(?:^|[\s(])-?[a-z][a-z-]*$/i;

/**
 * Show the view. The signal ends its requests and listeners.
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 * @param {AbortSignal} signal
 */
export function showSearch(main, values, signal) {
  new SearchView(main, values, signal);
}

/**
 * The query of an answer, what a hit is (a note or a place), and how the field shows the query.
 * @typedef {{ q: string, by: string, search: import("./route.js").Search }} Asked
 */

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
    this.sort = values.get("sort") === "date" ? "date" : "";
    this.areFacetsOpen = matchMedia(BESIDE).matches;
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
      onblur: () => this.completions.close(), onfocus: () => { this.opened = ""; },
    });
    this.input.value = values.get("q") ?? "";
    keepSearch(this.shownSearch);
    this.chips = h("div", { class: "chips", role: "group", "aria-label": "Filters" });
    this.star = h("button", { type: "button", class: "quiet star", "aria-label": "Save this search", hidden: true,
      onclick: () => {
        toggleSaved(address("search", { ...this.shownSearch }));
        this.showStar();
        announce(isSaved(this.shownSearch) ? "Saved. Saved searches are listed below an empty field." : "Removed.");
      } });
    this.order = h("select", { "aria-label": "Order of the hits", class: "order", hidden: true, onchange: () => {
      this.sort = this.order.value;
      this.remember(true);
      void this.search();
    } }, h("option", { value: "" }, "best first"), h("option", { value: "date" }, "newest first"));
    this.order.value = this.sort;
    this.facets = h("aside", { class: "facets", "aria-label": "Narrow the hits" });
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
        h("div", { class: "search-tools" }, this.chips, this.star, this.order, this.switch()),
        this.summary, this.notices,
        h("div", { class: "found-place" }, h("div", { class: "found-hits" }, this.list, this.fold), this.facets)),
    );
    this.showChips();
    /** The hit that was opened from this entry of the history. @type {string} */
    this.opened = history.state?.opened ?? "";
    if (!this.opened) this.input.focus({ preventScroll: true });
    // Typing goes on at the place where it began in the field of the bar.
    const bar = /** @type {HTMLInputElement} */ (byId("bar-q"));
    if (bar.value === this.input.value) this.input.setSelectionRange(bar.selectionStart, bar.selectionEnd);
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
    const typed = this.input.value.trim();
    // A filter is for all alternatives, not for the first alone.
    const all = this.filters.length && hasAlternatives(typed) ? `(${typed})` : typed;
    return [...this.filters, all].join(" ").trim();
  }

  /**
   * Keep query and filters in the address.
   * @param {boolean} push
   */
  remember(push) {
    this.opensFirst = false; // Enter was for what was shown before
    setAddress(address("search", { ...this.shownSearch }), push);
    keepSearch(this.shownSearch);
  }

  /** What the field, the filters and the switch show. */
  get shownSearch() {
    return { q: this.input.value, f: [...this.filters], by: this.by === "chunk" ? "chunk" : "", sort: this.sort };
  }

  /** Whether the search that is shown is kept. */
  showStar() {
    const saved = isSaved(this.shownSearch);
    this.star.hidden = !this.query;
    this.star.setAttribute("aria-pressed", String(saved));
    this.star.replaceChildren(h("span", { "aria-hidden": "true" }, saved ? "★" : "☆"), saved ? "Saved" : "Save");
  }

  typed() {
    void this.search(); // first: the browser takes some milliseconds to change an address
    this.remember(false);
    void this.completions.ask();
  }

  /** Ask for the query as it is now, and show its name while the answer is under way. */
  search() {
    const answered = this.ask();
    setTitle(this.query || "Search");
    this.showStar();
    if (this.query && this.query !== this.shownQuery) this.sayLater();
    return answered;
  }

  /**
   * Two requests run at most: while they do, only the newest query waits. An answer is shown unless that of a later
   * request is shown already.
   */
  async ask() {
    this.waits = this.running >= MOST_REQUESTS;
    if (this.waits) return;
    const sequence = ++this.sequence;
    if (!this.query) {
      this.shown = sequence;
      await this.showStart();
      return;
    }
    this.running += 1;
    try {
      const asked = { q: this.query, by: this.by, search: this.shownSearch };
      const answer = await get("search", { q: asked.q, by: asked.by, limit: LIMIT, as_you_type: true, fields: FIELDS }, this.signal);
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
    this.showHits([], 0);
    this.notices.replaceChildren();
    this.summary.textContent = text;
    announce(text);
  }

  /** Nothing is typed: what was looked for in this tab, what changed last, what can be typed. */
  async showStart() {
    if (this.summary.querySelector(".start")?.contains(document.activeElement)) return;
    this.arrive(null);
    this.showHits([], 0);
    this.notices.replaceChildren();
    const queries = recentQueries();
    const notes = h("ul", { class: "plain" });
    const part = (/** @type {string} */ name, /** @type {Node} */ content) =>
      h("section", { class: "start-part" }, h("h2", {}, name), content);
    const recent = part("Changed last", notes);
    recent.hidden = true;
    this.summary.replaceChildren(h("div", { class: "start" },
      ...this.savedParts(),
      queries.length ? part("Recent queries", h("ul", { class: "plain" }, ...queries.map((query) => h("li", {},
        h("button", { type: "button", class: "quiet", dir: "auto", onclick: () => this.write(query) }, query))))) : null,
      recent,
      part("What you can type", h("div", {}, h("dl", { class: "examples" }, ...EXAMPLES.flatMap(([example, help]) => [
        h("dt", {}, h("button", { type: "button", class: "quiet", onclick: () => this.write(example) },
          h("code", {}, example))),
        h("dd", {}, help)])), this.operators()))));
    const asked = { q: ALL_NOTES, by: "note", limit: RECENT_NOTES, fields: "path,kind,title,language,line,uri" };
    const answer = await get("search", asked, this.signal).catch(() => null);
    if (!answer?.results.length) return;
    const found = /** @type {import("./shapes").Hit[]} */ (answer.results).filter(({ kind }) => kind !== "attachment");
    notes.append(...found.map((hit) => h("li", {}, h("a", { href: readAddress(hit), dir: "auto", lang: hit.language }, hit.title))));
    recent.hidden = false;
  }

  /** All operators, each with one line of help, once they are wanted. */
  operators() {
    const list = h("dl", { class: "examples" });
    const show = async () => {
      if (list.childElementCount || document.body.dataset.vaults === "all") return;
      const found = await get("complete", { q: " ", limit: 50 }, this.signal).catch(() => null);
      list.replaceChildren(...(found?.items ?? []).flatMap((/** @type {import("./shapes").Completion} */ item) => [
        h("dt", {}, h("button", { type: "button", class: "quiet", onclick: () => this.write(item.text) },
          h("code", {}, item.text))),
        h("dd", {}, item.help)]));
    };
    return h("details", { ontoggle: show }, h("summary", {}, "All operators"), list);
  }

  /** The searches that are kept, each with a button that removes it. */
  savedParts() {
    const saved = savedSearches();
    if (!saved.length) return [];
    const section = h("section", { class: "start-part" }, h("h2", {}, "Saved searches"),
      h("ul", { class: "plain" }, ...saved.map(({ to, name }) => {
        const item = h("li", {}, h("a", { href: to, dir: "auto" }, name),
          h("button", { type: "button", class: "quiet", "aria-label": `Remove ${name}`, onclick: () => {
            toggleSaved(to);
            item.remove();
            if (!section.querySelector("li")) section.remove();
            this.input.focus();
          } }, "×"));
        return item;
      })));
    return [section];
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
    // The focus stays with its hit when another answer arrives; Back leads to the hit that was opened.
    const focused = this.items().findIndex((one) => one.contains(document.activeElement));
    const focusedPlace = focused >= 0 ? placeOf(this.items()[focused]) : this.opened;
    const isBelow = focusedPlace !== "" || scrollY > 0; // the user is somewhere in the list
    const likely = answer.likely || hits.length;
    const order = this.sort ? byDate(hits, likely) : [...hits.keys()];
    const items = (/** @type {number} */ from, /** @type {number} */ to) =>
      order.slice(from, to).map((at) => this.hit(hits[at], at, asked));
    const room = innerHeight - this.summary.getBoundingClientRect().top;
    const first = Math.min(likely, Math.max(1, Math.ceil(room / LEAST_HEIGHT)));
    const addRest = () => {
      this.showFacets(hits);
      this.list.append(...items(first, likely));
      this.others.append(...items(likely, hits.length));
    };
    this.showHits(items(0, first), hits.length - likely);
    const { shown } = this;
    if (isBelow) addRest();
    else afterPaint(() => {
      if (shown === this.shown) addRest();
    });
    const again = focusedPlace ? this.items().findIndex((one) => placeOf(one) === focusedPlace) : -1;
    if (again >= 0) this.focusHit(again);
    else if (focused >= 0) this.focusHit(Math.min(focused, hits.length - 1));
    else if (this.opened) this.input.focus({ preventScroll: true });
    this.opened = "";
    const found = likely === LIMIT ? `The best ${LIMIT} hits` : quantity(likely, "hit");
    const none = answer.verdict === "none" ? "Nothing is found" : "Nothing is found yet";
    const nearest = answer.likely ? found : `No likely match. The nearest ${quantity(hits.length, "hit")}`;
    const text = hits.length ? nearest : none;
    this.summary.textContent = `${text}${this.sort && hits.length ? ", by date" : ""} · ${Math.round(answer.took_ms)} ms`;
    if (asked.q === this.query) announce(text);
    this.notices.replaceChildren(
      ...answer.corrections.map((/** @type {import("./shapes").Correction} */ one) =>
        h("p", {}, "Also searched: ", h("strong", {}, one.to), ` for “${one.from}”`)),
      ...answer.notices.map((/** @type {string} */ one) => h("p", {}, one)));
    document.dispatchEvent(new CustomEvent("hits", { detail: { query: answer.query, tookMs: answer.took_ms } }));
    if (this.opensFirst && asked.q === this.query) this.openFirst();
  }

  /**
   * @param {HTMLElement[]} items
   * @param {number} others how many are less likely: folded away, unless the user has opened the fold
   */
  showHits(items, others) {
    this.list.replaceChildren(...items);
    this.others.replaceChildren();
    this.othersCount.textContent = `Less likely (${others})`;
    this.fold.hidden = !others;
    if (!items.length) this.showFacets([]);
  }

  /** @param {import("./shapes").Hit[]} hits */
  showFacets(hits) {
    this.order.hidden = hits.length < 2;
    const before = this.facets.querySelector("details");
    if (before) this.areFacetsOpen = before.open;
    const list = facetList(hits, this.areFacetsOpen, (filter) => this.addFilter(filter));
    this.facets.replaceChildren(...(list ? [list] : []));
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
    const editor = editorName(hit.uri);
    const isUnread = hit.kind === "attachment"; // found by its name alone
    const details = h("div", { class: "why", id: `why-${at}`, hidden: true });
    const toggle = h("button", { type: "button", class: "quiet", "aria-expanded": "false",
      "aria-controls": `why-${at}`, onclick: () => this.toggleWhy(hit, asked, details, toggle) }, "Why");
    const folder = hit.path.split("/").slice(0, -1).join("/");
    const file = noteName(hit.path) === hit.title ? folder : hit.path;
    const above = hit.header_path.split(" > ").filter((name, at) => name && (at > 0 || name !== hit.title));
    const headings = [...(hit.part ? [hit.part] : []), ...above].join(" › ");
    if (this.explained.has(place(hit))) void this.toggleWhy(hit, asked, details, toggle);
    const opened = () => {
      history.replaceState({ ...history.state, opened: place(hit) }, "");
      rememberQuery(asked.q);
      if (!isUnread) void recordClick(asked.q, hit.path, at + 1);
    };
    const text = { dir: "auto", lang: hit.language || null };
    return h("li", { class: "hit", "data-place": place(hit) },
      h("div", { class: "hit-head" },
        h("a", { class: "hit-title", ...text, href: readAddress(hit, asked.search), onclick: opened }, hit.title),
        h("span", { class: "hit-path", dir: "auto", title: hit.path }, hit.vault ? `${hit.vault}: ` : null, file,
          isUnread ? ` ${hit.kind}` : null),
        headings && h("span", { class: "hit-headings", ...text, title: headings }, headings),
        hit.copies && h("span", { class: "hit-path", title: hit.copies.join("\n") }, copyCount(hit.copies))),
      hit.snippet && h("p", { class: "snippet", ...text }, ...marked(hit.snippet, hit.marks)),
      h("div", { class: "hit-foot" }, hit.shares && picture(hit.shares), toggle,
        editor && h("a", { editor: hit.uri, class: "action editor", onclick: opened }, editor.replace("the e", "E")),
        !isUnread && h("a", { href: inVault(hit.vault, address("graph", { path: hit.path })), class: "action" }, "Graph"),
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
      { q: asked.q, by: asked.by, limit: LIMIT, as_you_type: true, fields: "path,line,why" }, this.signal);
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
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      void this.completions.ask(true);
    } else if (this.completions.key(event)) {
      event.preventDefault();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      this.focusHit(0);
    } else if (event.key === "Escape") {
      event.preventDefault(); // Chromium empties a search field
      this.completions.close();
    } else if (event.key === "Enter") {
      this.completions.close();
      this.opensFirst = this.query !== "";
      if (this.opensFirst && this.shownQuery === this.query) this.openFirst();
    } else if (event.key === "Backspace" && !this.input.value && this.filters.length) {
      this.filters.pop();
      this.showChips();
      this.remember(true);
      this.search();
    }
  }

  /** Open the first hit. The hits are those of what is typed. */
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
    else if (event.key === "o" && hasShortcuts()) click(item, "a.editor");
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
    if (link instanceof HTMLElement) link.focus({ preventScroll: true });
    item?.scrollIntoView({ block: "nearest" });
  }
}

/**
 * The places of hits in the order of their last change; those that are not likely stay behind the others.
 * @param {import("./shapes").Hit[]} hits
 * @param {number} likely
 */
function byDate(hits, likely) {
  const rank = (/** @type {number} */ at) => Number(at >= likely);
  return [...hits.keys()].sort((one, other) => rank(one) - rank(other)
    || hits[other].modified_time.localeCompare(hits[one].modified_time) || one - other);
}

/**
 * Where the page shows the note of a hit, at the hit's line, with the matched words.
 * @param {import("./shapes").Hit} hit
 * @param {import("./route.js").Search} [search]
 */
function readAddress(hit, search) {
  const words = marksOf(hit.snippet ?? "", hit.marks ?? []).map((one) => one.toLowerCase());
  return inVault(hit.vault, address("note", { path: hit.path, line: hit.line, at: placeOfPart(hit.part), ...search,
    m: [...new Set(words)].slice(0, MARKED) }));
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
 * What tells a hit from others.
 * @param {{ vault?: string, path: string, line: number }} hit
 */
function place(hit) {
  return `${hit.vault ?? ""}:${hit.path}:${hit.line}`;
}

/** @param {Element} item */
function placeOf(item) {
  return item instanceof HTMLElement ? item.dataset.place ?? "" : "";
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
    this.before = "";
    /** @type {import("./shapes").Completion[]} */
    this.items = [];
    this.sequence = 0;
    this.list = h("ul", { class: "completions", id: "completions", role: "listbox", hidden: true,
      "aria-label": "Completions" });
  }

  /**
   * Ask for them. An answer that comes after the text, the caret or the focus has changed is dropped.
   * @param {boolean} [isWanted] whether they are asked for, and not only the text typed
   * @returns {Promise<void>}
   */
  async ask(isWanted = false) {
    const input = this.view.input;
    const { value, selectionStart } = input;
    const before = value.slice(0, selectionStart ?? undefined);
    const isValue = COMPLETABLE.test(before);
    if (document.body.dataset.vaults === "all" || !(isValue || isWanted || BEGINNING.test(before))) return this.close();
    const isOffer = !isValue && !isWanted;
    if (isOffer) this.close(); // a word that is typed on is no operator
    const sequence = ++this.sequence;
    const isLate = () => sequence !== this.sequence || document.activeElement !== input
      || input.value !== value || input.selectionStart !== selectionStart;
    if (isOffer) {
      await new Promise((resolve) => setTimeout(resolve, OFFER_MS));
      return isLate() ? undefined : this.ask(true);
    }
    const found = await get("complete", { q: before || " ", limit: isWanted ? 50 : undefined }, this.view.signal).catch(() => null);
    if (isLate()) return;
    this.items = found?.items ?? [];
    this.replaces = found?.replaces ?? "";
    this.before = before;
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
    this.active = -1;
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
    else if (event.key === "Tab" && !event.shiftKey && this.items[0].kind === "operator" && this.active < 0) {
      this.close(); // a word stays as it is
      return false;
    } else if (event.key === "Tab" && !event.shiftKey) this.accept(Math.max(0, this.active), this.active >= 0);
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

  /**
   * Accept an item of the list for the text that has been typed on meanwhile.
   * @param {string} text the item, or "" for the first
   */
  async acceptAgain(text) {
    await this.ask(true);
    const { value, selectionStart } = this.view.input;
    const at = text ? this.items.findIndex((item) => item.text === text) : 0;
    if (this.items[at] && value.slice(0, selectionStart ?? undefined) === this.before) this.accept(at);
  }

  /**
   * @param {number} at
   * @param {boolean} [isChosen] whether it is this one, and not just the first
   */
  accept(at, isChosen = true) {
    const { text, kind } = this.items[at];
    const input = this.view.input;
    const cursor = input.selectionStart ?? input.value.length;
    if (input.value.slice(0, cursor) !== this.before) return void this.acceptAgain(isChosen ? text : "");
    const start = cursor - this.replaces.length;
    const end = cursor + restOfTerm(this.replaces, input.value.slice(cursor)).length;
    const before = input.value.slice(0, start);
    const after = input.value.slice(end);
    this.close();
    const sign = /(?:^|\s)-?$/.exec(before);
    if (sign && kind !== "operator" && !hasAlternatives(before + after) && !/[()"[\]]/.test(before + after)) {
      input.value = `${before.slice(0, sign.index)} ${after.trimStart()}`.trim();
      this.view.addFilter(`${sign[0].trim()}${text}`);
    } else {
      input.setRangeText(text, start, end, "end");
      this.view.typed();
    }
  }
}

/**
 * Whether a part of the query is one of several alternatives. A filter next to it means something else there.
 * @param {string} query
 */
function hasAlternatives(query) {
  return /(?:^|\s)OR(?:\s|$)/.test(query);
}

/**
 * What is behind the cursor of the term that is completed.
 * @param {string} start the term up to the cursor
 * @param {string} after the query from the cursor on
 */
function restOfTerm(start, after) {
  const isQuoted = start.split('"').length % 2 === 0 && after.split('"').length % 2 === 0;
  const end = start.startsWith("[") ? /^[^[\]]*\]/ : isQuoted ? /^[^"]*"/ : /^[^\s()"]*/;
  return end.exec(after)?.[0] ?? "";
}

/** Go to the input from anywhere. */
export function focusSearch() {
  if (document.getElementById("q")) byId("q").focus();
  else go(address("search", { ...lastSearch() }));
}
