/** The page: takes the token, shows the view that the address names, and what has gone wrong. */

import { ApiError, VAULT, forgetToken, get, inVault, shareToken, takeToken, useToken } from "./api.js";
import { recordClicks } from "./clicks.js";
import { byId, h } from "./dom.js";
import { showGraph } from "./graph.js";
import { showHealth } from "./health.js";
import { showJudge } from "./judge.js";
import { showNote } from "./note.js";
import { currentRoute, setAddress } from "./route.js";
import { focusSearch, showSearch } from "./search.js";

/** @type {Record<string, (main: HTMLElement, values: URLSearchParams, signal: AbortSignal) => void | Promise<void>>} */
const VIEWS = { search: showSearch, note: showNote, graph: showGraph, health: showHealth, judge: showJudge };
const TITLES = { search: "Search", note: "Note", graph: "Graph", health: "Health", judge: "Judge" };
const THEMES = ["system", "light", "dark"];

let running = new AbortController();

/** Show the view that the address names, instead of the one before. */
async function show() {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const main = byId("main");
  if (!takeToken()) {
    askForToken(main, "");
    return;
  }
  const { view, values } = currentRoute();
  const name = /** @type {keyof typeof TITLES} */ (view in VIEWS ? view : "search");
  document.title = `${TITLES[name]} · vault-indexer`;
  for (const link of document.querySelectorAll("nav a[data-view]")) {
    if (link instanceof HTMLElement && link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.dataset.view = name;
  if (name !== "search") main.replaceChildren(h("p", { class: "quiet-text", role: "status" }, "…"));
  try {
    await VIEWS[name](main, values, signal);
  } catch (error) {
    if (!signal.aborted) showError(error);
  }
}

/** @param {unknown} error */
function showError(error) {
  const main = byId("main");
  if (error instanceof ApiError && error.status === 401) {
    forgetToken();
    askForToken(main, "The daemon has started again, and its token is another one now.");
  } else {
    const text = error instanceof Error ? error.message : String(error);
    main.replaceChildren(h("section", { class: "message", role: "alert" }, h("h1", {}, "This did not work"),
      h("p", {}, text), h("button", { type: "button", onclick: () => show() }, "Try again")));
  }
}

/**
 * @param {HTMLElement} main
 * @param {string} reason
 */
function askForToken(main, reason) {
  const input = h("input", { id: "token", type: "text", autocomplete: "off", spellcheck: "false",
    placeholder: "http://127.0.0.1:…/#token=…" });
  const use = () => {
    if (useToken(input.value)) void start();
    else byId("token-help").textContent = "That holds no token.";
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

async function start() {
  await show();
  if (!takeToken()) return;
  try {
    const { vaults } = await get("vaults");
    const shown = vaults.length === 1 ? vaults[0] : null;
    if (!shown) showChoice(vaults);
    byId("vault").textContent = shown ? shown.path.split(/[/\\]/).pop() || "Vault" : VAULT || "All vaults";
    if (shown || VAULT) recordClicks((await get("status")).records_clicks === true);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401 && takeToken()) showError(error);
  }
}

/**
 * The choice among several vaults, in place of the views that need one where none is chosen.
 * @param {{ name: string, state: string }[]} vaults
 */
function showChoice(vaults) {
  document.getElementById("vault-choice")?.remove();
  const option = (/** @type {string} */ name, /** @type {string} */ label) => {
    const made = h("option", { value: name }, label);
    made.selected = name === VAULT;
    return made;
  };
  const choice = h("select", { id: "vault-choice", "aria-label": "Vault",
    onchange: () => location.assign(choice.value ? inVault(choice.value, "#/search") : "/#/search") },
  option("", "All vaults"),
  ...vaults.map(({ name, state }) => option(name, ["ready", "indexing"].includes(state) ? name : `${name} (${state})`)));
  document.querySelector(".brand")?.after(choice);
  for (const link of document.querySelectorAll("nav a[data-view]")) {
    if (link instanceof HTMLElement) link.hidden = !VAULT && link.dataset.view !== "search";
  }
  document.body.dataset.vaults = VAULT ? "one" : "all";
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const inField = event.target instanceof HTMLElement && /^(?:INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (inField || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = /** @type {Record<string, () => void>} */ ({
    "/": focusSearch,
    g: () => location.assign("#/graph"),
    h: () => location.assign("#/health"),
  });
  const action = keys[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
}

/** @param {string} theme */
function useTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = `Theme: ${theme}`;
}

function nextTheme() {
  const now = document.documentElement.dataset.theme ?? "system";
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  localStorage.setItem("theme", next);
  useTheme(next);
}

useTheme(THEMES.find((one) => one === localStorage.getItem("theme")) ?? "system");
byId("theme").addEventListener("click", nextTheme);
byId("skip").addEventListener("click", () => byId("main").focus());
addEventListener("keydown", onKey);
addEventListener("hashchange", () => void show());
addEventListener("unhandledrejection", (event) => {
  if (event.reason instanceof ApiError) showError(event.reason);
});
takeToken();
if (!location.hash) setAddress("#/search", false);
shareToken(() => void start());
void start();
