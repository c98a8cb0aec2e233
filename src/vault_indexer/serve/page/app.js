/** The page: takes the token, shows the view that the address names, what the daemon does, what has gone wrong. */

import { ApiError, VAULT, forgetToken, get, inVault, isKnownDaemon, shareToken, takeToken, useToken } from "./api.js";
import { showAsk } from "./ask.js";
import { recordClicks } from "./clicks.js";
import { daemonState, followDaemon, noteLoss } from "./daemon.js";
import { announce, byId, count, h, quantity, setTitle } from "./dom.js";
import { showGraph } from "./graph.js";
import { showHealth } from "./health.js";
import { showJudge } from "./judge.js";
import { showKeys } from "./keys.js";
import { showNote } from "./note.js";
import { showQuickOpen } from "./quick-open.js";
import { address, currentRoute, go, keepSearch, lastSearch, setAddress } from "./route.js";
import { keepScroll, restoreScroll } from "./scroll.js";
import { focusSearch, showSearch } from "./search.js";
import { hasShortcuts, showSettings } from "./settings.js";

/** @type {Record<string, (main: HTMLElement, values: URLSearchParams, signal: AbortSignal) => void | Promise<void>>} */
const VIEWS = { search: showSearch, ask: showAsk, note: showNote, graph: showGraph, health: showHealth, judge: showJudge };
const TITLES = { search: "Search", ask: "Ask", note: "Note", graph: "Graph", health: "Health", judge: "Judge" };

const RETRY_MS = 1000;

let running = new AbortController();

/** Whether the view waits for the daemon: for an answer at all, or for its first index. */
let isWaiting = false;

/** Show the view that the address names, instead of the one before. */
async function show() {
  running.abort();
  running = new AbortController();
  isWaiting = false;
  const { signal } = running;
  const main = byId("main");
  if (!takeToken()) {
    askForToken(main, "");
    return;
  }
  const { view, values } = currentRoute();
  const name = /** @type {keyof typeof TITLES} */ (view in VIEWS ? view : "search");
  showField(name, values);
  for (const link of document.querySelectorAll("nav a[data-view]")) {
    if (link instanceof HTMLElement && link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.dataset.view = name;
  if (name !== "search") {
    setTitle(TITLES[name]);
    main.replaceChildren(h("p", { class: "quiet-text", role: "status" }, "…"));
  }
  restoreScroll(main, signal);
  try {
    await VIEWS[name](main, values, signal);
    // A note, the one view that names itself by a heading, is known when it is shown.
    if (name === "note" && !signal.aborted) setTitle(main.querySelector("h1")?.textContent || TITLES.note);
  } catch (error) {
    if (!signal.aborted) showError(error);
  }
}

/**
 * The field of the bar, in every view but that of the search, which has its own: it has the query of the last search,
 * or of the one that led to a note.
 * @param {string} view
 * @param {URLSearchParams} values
 */
function showField(view, values) {
  const field = /** @type {HTMLInputElement} */ (byId("bar-q"));
  if (view === "note" && values.has("q")) {
    keepSearch({ q: values.get("q") ?? "", f: values.getAll("f"), by: values.get("by") ?? "", sort: values.get("sort") ?? "" });
  }
  field.hidden = view === "search";
  byId("open-note").hidden = false;
  if (view !== "search") field.value = lastSearch().q;
}

/** Search what is typed into the field of the bar, at once: the next key goes into the search's own field. */
function searchFromBar() {
  const field = /** @type {HTMLInputElement} */ (byId("bar-q"));
  setAddress(address("search", { ...lastSearch(), q: field.value }), true);
  void show();
}

/** @param {unknown} error */
function showError(error) {
  const main = byId("main");
  const status = error instanceof ApiError ? error.status : -1;
  noteLoss(error);
  if (status === 401) {
    forgetToken();
    askForToken(main, "The daemon was restarted and has a new token.");
  } else if (status === 0 || status === 503) {
    isWaiting = true;
    main.replaceChildren(h("section", { class: "message", role: "status" }, h("h1", {}, "Waiting for the index"),
      h("p", {}, error instanceof Error ? error.message : ""), h("p", {}, "This view will open automatically.")));
  } else {
    const text = error instanceof Error ? error.message : String(error);
    main.replaceChildren(h("section", { class: "message", role: "alert" }, h("h1", {}, "Something went wrong"),
      h("p", {}, text), h("button", { type: "button", onclick: () => show() }, "Try again")));
  }
}

/**
 * @param {HTMLElement} main
 * @param {string} reason
 */
function askForToken(main, reason) {
  running.abort(); // what is refused from now on is no matter
  byId("daemon").hidden = true;
  byId("bar-q").hidden = byId("open-note").hidden = true;
  const input = h("input", { id: "token", type: "text", autocomplete: "off", spellcheck: "false",
    placeholder: "http://127.0.0.1:…/#token=…" });
  const use = () => {
    if (useToken(input.value)) void start();
    else byId("token-help").textContent = "That contains no token.";
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") use();
  });
  main.replaceChildren(h("section", { class: "message" }, h("h1", {}, "Open this page from a terminal"),
    reason ? h("p", {}, reason) : null,
    h("p", {}, "Only a browser that you opened with ", h("code", {}, "indexer open"), " may read your notes. Or run ",
      h("code", {}, "indexer open --print"), " and paste the address here:"),
    h("p", { class: "tools" }, h("label", { for: "token", class: "hidden" }, "Address with the token"), input,
      h("button", { type: "button", onclick: use }, "Open")),
    h("p", { id: "token-help", role: "status" })));
}

/** Show the page with the token that it has. The daemon proves that it knows the token before it is sent. */
async function start() {
  if (!takeToken()) {
    await show();
    return;
  }
  try {
    if (!(await isKnownDaemon())) {
      showError(new ApiError(401, ""));
      return;
    }
    const { vaults } = await get("vaults");
    const shown = vaults.length === 1 ? vaults[0] : null;
    if (!shown) showChoice(vaults);
    const name = shown ? shown.path.split(/[/\\]/).pop() || "Vault" : VAULT || "All vaults";
    byId("vault").textContent = name;
    document.querySelector(".brand")?.setAttribute("title", name); // its name also where the text is hidden
    void followDaemon(Boolean(shown || VAULT));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    showError(error);
    if (error.status !== 401) setTimeout(() => void start(), RETRY_MS);
    return;
  }
  await show();
}

/**
 * The choice among several vaults, in place of the views that need one where none is chosen.
 * @param {{ name: string, state: string }[]} vaults
 */
function showChoice(vaults) {
  document.getElementById("vault-choice")?.remove();
  const choice = h("select", { id: "vault-choice", "aria-label": "Vault",
    onchange: () => {
      const to = address("search", { ...lastSearch() });
      location.assign(choice.value ? inVault(choice.value, to) : `/${to}`);
    } });
  fillChoice(choice, vaults);
  document.querySelector(".brand")?.after(choice);
  for (const link of document.querySelectorAll("nav a[data-view]")) {
    if (link instanceof HTMLElement) link.hidden = !VAULT && !["search", "ask"].includes(link.dataset.view ?? "");
  }
  document.body.dataset.vaults = VAULT ? "one" : "all";
}

/**
 * @param {Element} choice
 * @param {{ name: string, state: string, progress?: object | null }[]} vaults
 */
function fillChoice(choice, vaults) {
  const names = [["", "All vaults"], ...vaults.map((one) => [one.name, nameWithState(one)])];
  // Options that stay the same are left alone: the list may be open.
  if (names.map(([, label]) => label).join("\n") === Array.from(choice.children, (one) => one.textContent).join("\n")) return;
  choice.replaceChildren(...names.map(([name, label]) => {
    const made = h("option", { value: name }, label);
    made.selected = name === VAULT;
    return made;
  }));
}

/** @param {{ name: string, state: string, progress?: object | null }} vault */
function nameWithState(vault) {
  const { name, state } = vault;
  const isIndexing = state === "indexing";
  if (state === "ready" || (isIndexing && !isBuilding(vault))) return name;
  return `${name} (${isIndexing ? "building" : state})`;
}

/** @param {{ state: string, progress?: object | null }} vault */
function isBuilding({ state, progress = null }) {
  return state === "building" || (progress !== null && ["rebuilding", "indexing"].includes(state));
}

let before = daemonState();

/** The daemon has told something: say what it does, and show what had to wait for it. */
function followState() {
  const now = daemonState();
  const { contact, status, vaults } = now;
  if (contact === "changed") {
    forgetToken();
    askForToken(byId("main"), "The daemon was restarted and has a new token.");
    return;
  }
  if (status) recordClicks(status.records_clicks === true);
  const choice = document.getElementById("vault-choice");
  if (choice && vaults.length) fillChoice(choice, vaults);
  showDaemon(now);
  const isBack = contact === "answering" && before.contact === "lost";
  const left = new Set(builds(now).map(({ name }) => name));
  const isBuilt = builds(before).some(({ name }) => !left.has(name));
  before = now;
  if (isWaiting && contact === "answering" && (!status || status.generation > 0)) void show();
  else if (isBuilt && byId("main").dataset.view === "graph") void show();
  else if (isBack || isBuilt) document.dispatchEvent(new CustomEvent("renewed", { detail: null }));
}

/**
 * The builds that run: that of the vault that is shown, which needs no name, or those of all vaults.
 * @param {import("./daemon.js").DaemonState} daemon
 */
function builds({ status, vaults }) {
  /** @type {import("./daemon.js").VaultState[]} */
  const all = status ? [{ name: "", state: status.state, progress: status.progress }] : vaults;
  return all.filter(isBuilding);
}

/**
 * The line under the bar: what the daemon does that every view has to know of.
 * @param {import("./daemon.js").DaemonState} daemon
 */
function showDaemon(daemon) {
  const running = builds(daemon);
  const { contact } = daemon;
  const place = byId("daemon");
  const said = place.dataset.state;
  if (contact === "lost") {
    place.dataset.state = "lost";
    place.replaceChildren(h("span", {}, "The daemon does not answer. This page reconnects when it runs again: ",
      h("code", {}, "indexer start")));
    if (said !== "lost") announce("The daemon does not answer.");
  } else if (running.length) {
    place.dataset.state = "building";
    place.replaceChildren(...running.flatMap(buildLine));
    if (said !== "building") announce(running.map(buildName).join(", "));
  } else {
    if (said === "building") announce("The index is complete.");
    if (said === "lost") announce("The daemon answers again.");
    delete place.dataset.state;
  }
  place.hidden = !place.dataset.state;
}

/** @param {import("./daemon.js").VaultState} build */
function buildName({ name, state }) {
  const what = state === "rebuilding" ? "index is built again" : "index is being built";
  return name ? `${name}: the ${what}` : `The ${what}`;
}

/**
 * How far a build is.
 * @param {import("./daemon.js").VaultState} build
 */
function buildLine(build) {
  const { notes, total } = build.progress ?? { notes: 0, total: 0 };
  const what = buildName(build);
  return [h("span", {}, total ? `${build.name || what}: ${count(notes)} of ${quantity(total, "note")}` : what),
    h("progress", { max: Math.max(1, total), value: notes, "aria-label": what })];
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const inField = event.target instanceof HTMLElement && /^(?:INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
    event.preventDefault();
    if (takeToken()) showQuickOpen();
    return;
  }
  if (inField || event.ctrlKey || event.metaKey || event.altKey || !hasShortcuts()) return;
  if (document.querySelector("dialog[open]")) return;
  const views = document.body.dataset.vaults === "all" ? {} : { g: "#/graph", h: "#/health" };
  const view = /** @type {Record<string, string>} */ (views)[event.key];
  if (event.key === "/") focusSearch();
  else if (event.key === "?") showKeys();
  else if (view) location.assign(view);
  else return;
  event.preventDefault();
}

showSettings();
keepScroll();
byId("skip").addEventListener("click", () => byId("main").focus());
addEventListener("keydown", onKey);
byId("open-note").addEventListener("click", showQuickOpen);
byId("bar-q").addEventListener("input", searchFromBar);
byId("bar-q").addEventListener("keydown", (event) => {
  if (event.key === "Enter") searchFromBar();
  if (event.key === "Escape") event.preventDefault(); // Chromium empties a search field
});
document.querySelector('nav a[data-view="search"]')?.addEventListener("click", (event) => {
  event.preventDefault();
  go(address("search", { ...lastSearch() }));
});
addEventListener("hashchange", () => void show());
document.addEventListener("daemon", followState);
addEventListener("unhandledrejection", (event) => {
  if (event.reason instanceof ApiError) showError(event.reason);
});
takeToken();
if (!location.hash) setAddress("#/search", false);
shareToken(() => void start());
void start();
