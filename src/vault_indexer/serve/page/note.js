/** The note view: text, outline, what is linked, near or named, and the chunks as the index sees them. */

import { get } from "./api.js";
import { h, marked, quantity } from "./dom.js";
import { Embeds } from "./embeds.js";
import { blockAt, renderBlocks } from "./markdown.js";
import { address } from "./route.js";

/**
 * Show the view. The signal ends its requests.
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 * @param {AbortSignal} signal
 */
export async function showNote(main, values, signal) {
  const path = values.get("path") ?? "";
  const note = await get("view", { path }, signal);
  document.title = `${note.title} · vault-indexer`;
  const text = h("article", { class: "note-text", "aria-label": "Text" }, renderBlocks(note.blocks));
  if (note.more) text.append(h("p", { class: "notices" }, "The note is longer than what is shown here."));
  const body = h("div", { class: "note-body" }, text);
  const chunks = h("button", { type: "button", "aria-pressed": "false",
    onclick: () => toggleChunks(note.path, body, text, chunks, signal) }, "Show chunks");
  const rail = h("aside", { class: "rail", "aria-label": "Around this note" });
  main.replaceChildren(
    h("div", { class: "note" },
      outline(note, text),
      h("section", { class: "note-main", "aria-label": "Note" },
        h("header", {},
          h("p", { class: "hit-path" }, note.path),
          h("h1", { class: "note-title" }, note.title),
          h("div", { class: "tools" },
            h("a", { class: "button", href: note.uri }, "Open in Obsidian"),
            h("a", { class: "button", href: address("graph", { path: note.path }) }, "Graph"), chunks),
          properties(note)),
        body),
      rail),
  );
  showPlace(text, values, note);
  new Embeds(signal).fill(text, [`${note.path}#`]);
  await fillRail(rail, note.path, signal);
}

/**
 * Show the line, or the heading, that the address names.
 * @param {HTMLElement} text
 * @param {URLSearchParams} values
 * @param {any} note
 */
function showPlace(text, values, note) {
  const at = (values.get("at") ?? "").split("#").pop();
  const named = at ? note.headings.find((/** @type {any} */ one) => one.text === at) : null;
  const line = Number(values.get("line")) || named?.line;
  const block = line ? blockAt(text, line) : null;
  if (block) {
    block.classList.add("found");
    block.scrollIntoView({ block: "center" });
  } else {
    scrollTo(0, 0);
  }
}

/**
 * @param {any} note
 * @param {HTMLElement} text
 */
function outline(note, text) {
  const items = note.headings.map((/** @type {any} */ one) => h("li", { class: `level-${one.level}` },
    h("button", { type: "button", class: "quiet", onclick: () => {
      const block = blockAt(text, one.line);
      block?.scrollIntoView({ block: "start" });
      block?.focus({ preventScroll: true });
    } }, one.text || "(no text)")));
  return h("nav", { class: "outline", "aria-label": "Outline" },
    items.length ? h("h2", {}, "Outline") : null, items.length ? h("ul", {}, ...items) : null);
}

/** @param {any} note */
function properties(note) {
  const rows = Object.entries(note.properties).map(([name, value]) => [
    h("dt", {}, name),
    h("dd", {}, typeof value === "string" ? value : JSON.stringify(value)),
  ]);
  const tags = note.tags.map((/** @type {string} */ tag) =>
    h("a", { class: "tag", href: address("search", { f: [`tag:#${tag}`] }) }, `#${tag}`));
  return h("div", { class: "properties" },
    tags.length ? h("p", { class: "tags" }, ...tags) : null,
    rows.length ? h("details", {}, h("summary", {}, quantity(rows.length, "propert").replace(/s$/, "ies")
      .replace(/^1 propert$/, "1 property")), h("dl", {}, ...rows.flat())) : null);
}

/**
 * @param {HTMLElement} rail
 * @param {string} path
 * @param {AbortSignal} signal
 */
async function fillRail(rail, path, signal) {
  const places = ["Links", "Backlinks", "Related", "Mentions"].map((name) => {
    const list = h("ul", {}, h("li", { class: "quiet-text" }, "…"));
    const part = h("details", { open: true }, h("summary", {}, h("h2", {}, name)), list);
    rail.append(part);
    return list;
  });
  const [links, backlinks, related, mentions] = places;
  await Promise.all([
    get("links", { path, limit: 100 }, signal).then((answer) => {
      fillList(links, answer.outgoing.map(outgoing));
      fillList(backlinks, answer.backlinks.map((/** @type {any} */ one) => place(one, [one.snippet])));
    }),
    get("related", { path, limit: 10 }, signal).then((answer) => fillList(related, answer.results.map(near))),
    get("links", { path, view: "mentions", limit: 20 }, signal).then((answer) => fillList(mentions,
      answer.mentions.map((/** @type {any} */ one) => place(one, marked(one.snippet, one.marks))))),
  ]);
}

/**
 * @param {HTMLElement} list
 * @param {HTMLElement[]} items
 */
function fillList(list, items) {
  list.replaceChildren(...(items.length ? items : [h("li", { class: "quiet-text" }, "none")]));
}

/** @param {any} link */
function outgoing(link) {
  const name = link.display || link.target + (link.subpath ? `#${link.subpath}` : "");
  if (!link.resolved) return h("li", { class: "unresolved" }, name, h("small", {}, " leads nowhere"));
  const readable = /\.(?:md|canvas)$/i.test(link.resolved);
  return h("li", {}, readable
    ? h("a", { href: address("note", { path: link.resolved, line: link.target_line ?? undefined }) }, name)
    : name, link.problem ? h("small", {}, ` ${link.problem}`) : null);
}

/**
 * @param {any} one a backlink or mention
 * @param {import("./dom.js").Child[]} snippet
 */
function place(one, snippet) {
  return h("li", {}, h("a", { href: address("note", { path: one.path, line: one.line }) }, one.title),
    h("p", { class: "line" }, ...snippet));
}

/** @param {any} near */
function near(near) {
  const reasons = [
    near.similarity === null ? "" : `meaning ${near.similarity.toFixed(2)}`,
    near.links.join(", "),
    near.shared_count ? `${quantity(near.shared_count, "link")} in common` : "",
  ].filter(Boolean).join(" · ");
  return h("li", {}, h("a", { href: address("note", { path: near.path }) }, near.title),
    h("p", { class: "line" }, reasons));
}

/**
 * @param {string} path
 * @param {HTMLElement} body
 * @param {HTMLElement} text
 * @param {HTMLElement} button
 * @param {AbortSignal} signal
 */
async function toggleChunks(path, body, text, button, signal) {
  const shown = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(shown));
  button.textContent = shown ? "Show the text" : "Show chunks";
  if (!shown) {
    body.replaceChildren(text);
    return;
  }
  const stored = await get("chunks", { path }, signal);
  const columns = h("div", { class: "chunk-columns" });
  const choose = h("select", { id: "compare", onchange: () => compare() },
    h("option", { value: "" }, "nothing"),
    ...stored.strategies.map((/** @type {string} */ name) => h("option", { value: name }, name)));
  const compare = async () => {
    const lists = [chunkList(`The index: ${stored.strategy}`, stored.chunks)];
    if (choose.value) {
      const other = await get("chunks", { path, strategy: choose.value }, signal);
      lists.push(chunkList(other.strategy, other.chunks));
    }
    columns.replaceChildren(...lists);
  };
  body.replaceChildren(h("p", { class: "tools" }, h("label", { for: "compare" }, "Compare with "), choose), columns);
  await compare();
}

/**
 * @param {string} name
 * @param {any[]} chunks
 */
function chunkList(name, chunks) {
  return h("section", { class: "chunk-list", "aria-label": name },
    h("h2", {}, name, h("small", {}, ` ${quantity(chunks.length, "chunk")}`)),
    h("ol", {}, ...chunks.map((chunk) => h("li", { class: "chunk" },
      h("p", { class: "chunk-head" },
        `lines ${chunk.start_line}–${chunk.end_line} · ${quantity(chunk.end_pos - chunk.start_pos, "character")}`,
        chunk.header_path ? ` · ${chunk.header_path}` : ""),
      h("pre", { tabindex: 0, role: "region", "aria-label": `Chunk ${chunk.chunk_index + 1}` }, chunk.content)))));
}
