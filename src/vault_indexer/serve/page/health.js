/** The health view: what the index holds and lacks, and the orders to it, with live progress. */

import { ApiError, get, post } from "./api.js";
import { daemonState } from "./daemon.js";
import { announce, count, h, quantity } from "./dom.js";
import { address, noteName } from "./route.js";

/**
 * Show the view. The signal ends its requests and listeners.
 * @param {HTMLElement} main
 * @param {URLSearchParams} _values
 * @param {AbortSignal} signal
 */
export async function showHealth(main, _values, signal) {
  await new HealthView(main, signal).figures();
}

class HealthView {
  /**
   * @param {HTMLElement} main
   * @param {AbortSignal} signal
   */
  constructor(main, signal) {
    this.signal = signal;
    this.state = h("div", { class: "card state", id: "state" });
    this.result = h("div", { class: "order-result", "aria-live": "polite", id: "order-result" });
    this.rebuild = h("button", { type: "button", onclick: () => this.order(() => this.startRebuild()) }, "Rebuild");
    this.verify = h("button", { type: "button", onclick: () => this.order(() => this.runVerify(false)) }, "Verify");
    this.repair = h("button", { type: "button", onclick: () => this.order(() => this.runVerify(true)) },
      "Verify and repair");
    this.pause = h("button", { type: "button", onclick: () => this.order(() => this.togglePause()) }, "Pause indexing");
    this.figuresPlace = h("div", { class: "cards" });
    this.folder = h("dd");
    this.buttons = [this.rebuild, this.verify, this.repair, this.pause];
    this.paused = false;
    this.isBusy = false;
    /** How often the figures were fetched: an answer that a later one overtook is not shown. */
    this.sequence = 0;
    main.replaceChildren(h("section", { class: "health", "aria-label": "Health" },
      h("h1", {}, "Health of the vault"), this.state,
      h("div", { class: "tools" }, this.rebuild, this.pause, this.verify, this.repair), this.result,
      this.figuresPlace));
    document.addEventListener("daemon", () => this.showState(), { signal });
    document.addEventListener("renewed", () => void this.figures(), { signal });
    this.showState();
  }

  showState() {
    const { contact, status } = daemonState();
    for (const button of this.buttons) button.disabled = contact !== "answering" || this.isBusy;
    if (contact === "lost") {
      this.state.replaceChildren(h("p", { class: "pill unusable" }, "not running"),
        h("p", { class: "line" }, "The daemon does not answer. The figures below are the last known ones."));
    } else if (status) {
      this.showStatus(status);
    }
  }

  /** @param {import("./shapes").StatusReport} status */
  showStatus(status) {
    this.paused = status.paused;
    this.folder.textContent = status.index_dir;
    this.pause.textContent = status.paused ? "Resume indexing" : "Pause indexing";
    const building = status.progress !== null;
    const { progress } = status;
    const rows = [
      ["Notes", count(status.notes)],
      ["Chunks", count(status.chunks)],
      ["Links", `${count(status.links)}, ${count(status.unresolved)} lead nowhere`],
      ["Pending", quantity(status.pending, "change")],
      status.vectors_owed ? ["Pending vectors", count(status.vectors_owed)] : null,
      status.upgrade ? ["Better vectors", better(status.upgrade)] : null,
      ["Watching", status.watching],
    ];
    this.state.replaceChildren(h("div", {},
      h("p", { class: `pill ${status.state}` }, status.state),
      status.detail ? h("p", { class: "detail" }, status.detail) : null,
      building && progress ? h("div", { class: "progress" },
        h("progress", { max: Math.max(1, progress.total), value: progress.notes, "aria-label": "Progress" }),
        h("span", {}, `${progress.stage}: ${count(progress.notes)} of ${quantity(progress.total,
          progress.stage === "verify vault" ? "file" : "note")}`)) : null,
      h("dl", { class: "figures" }, ...rows.flatMap((row) => row && row[1]
        ? [h("dt", {}, row[0]), h("dd", {}, row[1])] : [])),
      this.skipped(status.skipped)));
  }

  /** @param {import("./shapes").SkippedFile[]} skipped */
  skipped(skipped) {
    const left = skipped.filter((one) => !one.is_indexed);
    const warned = skipped.filter((one) => one.is_indexed);
    const named = (/** @type {string} */ title, /** @type {typeof skipped} */ files) => h("details", {}, h("summary", {}, title),
      h("ul", { class: "plain" }, ...files.map((one) => h("li", { dir: "auto" }, one.path, h("small", {}, ` ${one.reason}`)))));
    return h("div", {},
      left.length ? named(`${quantity(left.length, "file")} skipped`, left) : h("p", { class: "line" }, "No note is skipped."),
      warned.length ? named(`${quantity(warned.length, "note")} with a warning`, warned) : null);
  }

  /** @param {() => Promise<string>} run */
  async order(run) {
    this.isBusy = true;
    this.showState();
    this.result.textContent = "…";
    try {
      this.result.textContent = await run();
    } catch (error) {
      if (!(error instanceof ApiError)) return;
      this.result.textContent = error.message;
    } finally {
      this.isBusy = false;
      this.showState();
    }
  }

  async startRebuild() {
    const report = await post("rebuild", { wait: true }, this.signal);
    await this.figures();
    return `Rebuilt: ${quantity(report.notes, "note")}, ${quantity(report.chunks, "chunk")} in ${report.seconds} s.`;
  }

  /** @param {boolean} repair */
  async runVerify(repair) {
    this.result.textContent = "Comparing the vault with all parts of the index …";
    const found = await post("verify", { repair }, this.signal);
    if (found.ok) return "Vault and index agree.";
    const shown = found.problems.slice(0, 5).map((/** @type {import("./shapes").Problem} */ one) => `${one.store}: ${one.detail}`).join("; ");
    return `${quantity(found.problems.length, "difference")}${repair ? " repaired" : ""}: ${shown}`;
  }

  async togglePause() {
    const answer = await post(this.paused ? "resume" : "pause", {}, this.signal);
    return answer.paused ? "Indexing is paused." : "Indexing was resumed.";
  }

  /** Ask for the figures that change with the index. */
  async figures() {
    const sequence = ++this.sequence;
    const [health, orphans] = await Promise.all([
      get("health", {}, this.signal), get("links", { view: "orphans", limit: 50 }, this.signal)]);
    if (sequence !== this.sequence) return;
    this.figuresPlace.replaceChildren(
      card("Chunks", histogram(health)),
      card("Most frequent broken links", wanted(health)),
      card("Orphans", list(orphans.orphans, orphans.count)),
      card("Index", h("dl", { class: "figures" },
        h("dt", {}, "Folder"), this.folder, h("dt", {}, "Size"), h("dd", {}, `${(health.index_bytes / 1e6).toFixed(1)} MB`),
        ...pairs("Strategies", health.strategies), ...pairs("Languages", health.languages))));
    announce("The figures are shown.");
  }
}

/**
 * @param {string} name
 * @param {Node} content
 */
function card(name, content) {
  return h("section", { class: "card", "aria-label": name }, h("h2", {}, name), content);
}

/**
 * @param {string} name
 * @param {Record<string, number>} counts
 */
function pairs(name, counts) {
  const text = Object.entries(counts).map(([key, value]) => `${key || "unknown"} ${count(value)}`).join(", ");
  return [h("dt", {}, name), h("dd", {}, text)];
}

/** @param {import("./shapes").VaultHealth} health */
function histogram(health) {
  const most = Math.max(1, ...health.histogram.map((/** @type {import("./shapes").SizeBucket} */ one) => one.chunks));
  let from = 0;
  const rows = health.histogram.map((/** @type {import("./shapes").SizeBucket} */ one) => {
    const label = one.below === null ? `${count(from)} and more` : `${count(from)} to ${count(one.below - 1)}`;
    from = one.below ?? from;
    const bar = h("span", { class: "bar-fill", "aria-hidden": "true" });
    bar.style.setProperty("--share", String(one.chunks / most));
    return h("tr", {}, h("th", { scope: "row" }, label), h("td", {}, count(one.chunks)), h("td", { class: "bar-cell" }, bar));
  });
  return h("div", {},
    h("p", { class: "line" }, `Characters in a chunk: ${count(health.smallest)} at least, ${count(health.median)} in the ${
      ""}middle, ${count(health.largest)} at most.`),
    h("table", { class: "histogram" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Characters"), h("th", { scope: "col" }, "Chunks"),
        h("td", {}))),
      h("tbody", {}, ...rows)));
}

/** @param {import("./shapes").VaultHealth} health */
function wanted(health) {
  if (!health.wanted.length) return h("p", { class: "line" }, "Every link leads to a file.");
  return h("div", {},
    h("p", { class: "line" }, `${quantity(health.wanted_count, "name")} without a file. Those that most links name:`),
    h("ul", { class: "plain" }, ...health.wanted.map((/** @type {import("./shapes").UnresolvedTarget} */ one) => h("li", {},
      h("strong", { dir: "auto" }, one.target), h("small", {}, ` ${quantity(one.count, "link")}, from `),
      ...one.sources.slice(0, 3).flatMap((/** @type {import("./shapes").LinkPlace} */ source, /** @type {number} */ at) => [at ? ", " : "",
        h("a", { href: address("note", { path: source.path, line: source.line }), dir: "auto" },
          noteName(source.path))])))));
}

/**
 * @param {any[]} notes
 * @param {number} total
 */
function list(notes, total) {
  if (!total) return h("p", { class: "line" }, "Every note has a link.");
  return h("div", {}, h("p", { class: "line" }, `${quantity(total, "note")} without links${
    total > notes.length ? `; the first ${notes.length}` : ""}:`),
  h("ul", { class: "plain" }, ...notes.map((one) => h("li", {},
    h("a", { href: address("note", { path: one.path }), dir: "auto" }, one.title)))));
}

/** How far the vectors of the better model are. @param {import("./shapes").VectorUpgrade} upgrade */
function better(upgrade) {
  const share = `${Math.floor(100 * upgrade.done / Math.max(1, upgrade.total))}%`;
  if (upgrade.waits_for) return `${share}, ${upgrade.waits_for}`;
  const minutes = quantity(Math.ceil(upgrade.seconds_left / 60), "minute");
  return `${share}, about ${minutes} of idle time left; searches are answered meanwhile`;
}
