/** The note view: text, outline, what is linked, near or named, and the chunks as the index sees them. */

import { get } from "./api.js";
import { count, h, marked, quantity } from "./dom.js";
import { Embeds } from "./embeds.js";
import { blockAt, languageOf, renderBlocks } from "./markdown.js";
import { followPlace, outline } from "./outline.js";
import { address, go, obsidianAddress, setAddress } from "./route.js";

/**
 * Show the view. The signal ends its requests.
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 * @param {AbortSignal} signal
 */
export async function showNote(main, values, signal) {
  const note = await fetchNote(values, signal);
  document.title = `${note.title} · vault-indexer`;
  const text = h("article", { class: "note-text", "aria-label": "Text", ...languageOf(note.language) },
    partLinks(note), renderBlocks(note.blocks), partLinks(note));
  const body = h("div", { class: "note-body" }, text);
  const inObsidian = obsidianAddress(note.uri);
  const chunks = h("button", { type: "button", "aria-pressed": "false",
    onclick: () => toggleChunks(note.path, body, text, chunks, signal) }, "Show chunks");
  const rail = h("aside", { class: "rail", "aria-label": "Around this note" });
  const contents = outline(note.headings, (line) => {
    if (isShown(note, line)) showBlock(blockAt(text, line), "start");
    else go(address("note", { path: note.path, line }));
  });
  main.replaceChildren(
    h("div", { class: "note" },
      contents,
      h("section", { class: "note-main", "aria-label": "Note" },
        h("header", {},
          h("p", { class: "hit-path", dir: "auto" }, note.path),
          h("h1", { class: "note-title", dir: "auto" }, note.title),
          h("div", { class: "tools" },
            inObsidian && h("a", { class: "button", href: inObsidian }, "Open in Obsidian"),
            h("a", { class: "button", href: address("graph", { path: note.path }) }, "Graph"), chunks),
          properties(note)),
        body),
      rail),
  );
  text.addEventListener("click", (event) => followWithin(event, text, note));
  if (!showPlace(text, values, note)) scrollTo(0, 0);
  followPlace(contents, text, signal);
  new Embeds(signal).fill(/** @type {HTMLElement} */ (main.querySelector(".note-main")), note, [`${note.path}#`]);
  await fillRail(rail, note, signal);
}

/**
 * The note that the address names; of a long one, the part with the line or the heading that it names.
 * @param {URLSearchParams} values
 * @param {AbortSignal} signal
 */
async function fetchNote(values, signal) {
  const path = values.get("path") ?? "";
  const wanted = Number(values.get("line")) || undefined;
  const note = await get("view", { path, line: wanted }, signal);
  const line = wanted ?? headingOf(values, note)?.line;
  return !line || isShown(note, line) ? note : get("view", { path, line }, signal);
}

/**
 * Whether a line is in the part of the note that is shown.
 * @param {any} note
 * @param {number} line
 */
function isShown(note, line) {
  return !note.more || (note.first_line <= line && line <= note.last_line);
}

/**
 * The heading that the address names.
 * @param {URLSearchParams} values
 * @param {any} note
 */
function headingOf(values, note) {
  const at = nameOf((values.get("at") ?? "").split("#").pop() ?? "");
  return at ? note.headings.find((/** @type {any} */ one) => nameOf(one.text) === at) : undefined;
}

/**
 * A heading as links name it: Obsidian leaves out what means something in a link.
 * @param {string} text
 */
function nameOf(text) {
  return text.replace(/[#|^:%[\]\\\s]+/g, " ").trim().toLowerCase();
}

/**
 * Show the line, the heading or the block that the address names. Returns whether it is there.
 * @param {HTMLElement} text
 * @param {URLSearchParams} values
 * @param {any} note
 */
function showPlace(text, values, note) {
  const id = /\^([A-Za-z0-9-]+)$/.exec(values.get("at") ?? "")?.[1];
  const line = Number(values.get("line")) || headingOf(values, note)?.line;
  const block = line ? blockAt(text, line) : id ? blockWithId(text, id) : null;
  for (const one of text.querySelectorAll(".found")) one.classList.remove("found");
  block?.classList.add("found");
  showBlock(block, "center");
  return block !== null;
}

/**
 * The block with an id. An id on a line of its own is that of the block before it.
 * @param {HTMLElement} text
 * @param {string} id
 */
function blockWithId(text, id) {
  const block = text.querySelector(`[data-block="${id}"]`);
  const named = block && !block.textContent ? block.previousElementSibling : block;
  return named instanceof HTMLElement ? named : null;
}

/**
 * @param {HTMLElement | null} block
 * @param {"start" | "center"} place in the window
 */
function showBlock(block, place) {
  if (!block) return;
  for (let fold = block.closest("details:not([open])"); fold; fold = fold.closest("details:not([open])")) {
    /** @type {HTMLDetailsElement} */ (fold).open = true;
  }
  block.scrollIntoView({ block: place });
  block.focus({ preventScroll: true });
}

/**
 * Follow a link to a place in this note without fetching the note again.
 * @param {MouseEvent} event
 * @param {HTMLElement} text
 * @param {any} note
 */
function followWithin(event, text, note) {
  const link = event.target instanceof Element ? event.target.closest("a.wikilink") : null;
  if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const values = new URLSearchParams(link.hash.split("?")[1]);
  if (values.get("path") !== note.path || !showPlace(text, values, note)) return;
  event.preventDefault();
  setAddress(link.hash, true);
}

/**
 * Which part of a long note is shown, and links to the other parts.
 * @param {any} note
 */
function partLinks(note) {
  if (!note.more) return null;
  const part = (/** @type {number} */ line, /** @type {string} */ name) =>
    h("a", { class: "button", href: address("note", { path: note.path, line }) }, name);
  return h("div", { class: "long-note tools" },
    h("span", {}, `Lines ${count(note.first_line)} to ${count(note.last_line)} of a long note`),
    note.more_before ? part(note.first_line - 1, "Before") : null,
    note.more_after ? part(note.last_line + 1, "After") : null);
}

/** @param {any} note */
function properties(note) {
  const tags = note.tags.map((/** @type {string} */ tag) =>
    h("a", { class: "tag", href: address("search", { f: [`tag:#${tag}`] }) }, `#${tag}`));
  const number = Object.keys(note.properties).length;
  return h("div", { class: "properties" },
    tags.length ? h("p", { class: "tags" }, ...tags) : null,
    number ? h("details", {}, h("summary", {}, number === 1 ? "1 property" : `${count(number)} properties`),
      h("div", { class: "scroll" }, renderBlocks([note.property_tree]))) : null);
}

/**
 * @param {HTMLElement} rail
 * @param {any} note
 * @param {AbortSignal} signal
 */
async function fillRail(rail, { path, language }, signal) {
  const places = ["Links", "Backlinks", "Related", "Mentions"].map((name) => {
    const list = h("ul", {}, h("li", { class: "quiet-text" }, "…"));
    const part = h("details", { open: true }, h("summary", {}, h("h2", {}, name)), list);
    rail.append(part);
    return list;
  });
  const [links, backlinks, related, mentions] = places;
  if (language) links.lang = language; // the names are those of this note's text
  await Promise.all([
    get("links", { path, limit: 100 }, signal).then((answer) => {
      fillList(links, grouped(answer.outgoing, (one) => `${one.resolved ?? one.target}#${one.subpath}`).map(outgoing));
      fillList(backlinks, grouped(answer.backlinks, (one) => one.path).map((all) => place(all, (one) => [one.snippet])));
    }),
    get("related", { path, limit: 10 }, signal).then((answer) => fillList(related, answer.results.map(near))),
    get("links", { path, view: "mentions", limit: 20 }, signal).then((answer) => fillList(mentions,
      grouped(answer.mentions, (one) => one.path).map((all) => place(all, (one) => marked(one.snippet, one.marks))))),
  ]);
}

/**
 * @param {HTMLElement} list
 * @param {HTMLElement[]} items
 */
function fillList(list, items) {
  list.replaceChildren(...(items.length ? items : [h("li", { class: "quiet-text" }, "none")]));
}

/**
 * The items by what they lead to, in the order of the first of each.
 * @param {any[]} items
 * @param {(item: any) => string} key
 * @returns {any[][]}
 */
function grouped(items, key) {
  /** @type {Map<string, any[]>} */
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    groups.set(name, [...(groups.get(name) ?? []), item]);
  }
  return [...groups.values()];
}

/** @param {any[]} links links to one target */
function outgoing(links) {
  const [link] = links;
  const isSize = /^\d+(?:x\d+)?$/.test(link.display ?? "");
  const name = (!isSize && link.display) || link.target + (link.subpath ? `#${link.subpath}` : "");
  const times = links.length > 1 ? h("small", {}, ` ${links.length} times`) : null;
  if (!link.resolved) return h("li", { class: "unresolved", dir: "auto" }, name, h("small", {}, " leads nowhere"), times);
  const readable = /\.(?:md|canvas)$/i.test(link.resolved);
  return h("li", { dir: "auto" }, readable
    ? h("a", { href: address("note", { path: link.resolved, line: link.target_line ?? undefined }) }, name)
    : name, link.problem ? h("small", {}, ` ${link.problem}`) : null, times);
}

/**
 * @param {any[]} all backlinks or mentions in one note
 * @param {(one: any) => import("./dom.js").Child[]} snippet
 */
function place(all, snippet) {
  const [first] = all;
  return h("li", { dir: "auto" }, h("a", { href: address("note", { path: first.path, line: first.line }) }, first.title),
    ...all.map((one, at) => h("p", { class: "line", dir: "auto" }, ...snippet(one),
      at ? h("a", { class: "line-link", href: address("note", { path: one.path, line: one.line }) }, ` line ${one.line}`)
        : null)));
}

/** @param {import("./shapes").RelatedNote} near */
function near(near) {
  const reasons = [
    near.similarity === null ? "" : `meaning ${near.similarity.toFixed(2)}`,
    near.links.join(", "),
    near.shared_count ? `${quantity(near.shared_count, "link")} in common` : "",
  ].filter(Boolean).join(" · ");
  return h("li", { dir: "auto" }, h("a", { href: address("note", { path: near.path }) }, near.title),
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
