/** The graph view: around a note, around the hits of a query, or the whole vault as clusters. */

import { get } from "./api.js";
import { announce, count, h, quantity, setTitle } from "./dom.js";
import { Drawing } from "./drawing.js";
import { address, go } from "./route.js";

/**
 * Show the view. The signal ends its requests and its worker.
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 * @param {AbortSignal} signal
 */
export async function showGraph(main, values, signal) {
  const path = values.get("path") ?? "";
  const query = values.get("q") ?? "";
  const place = h("div", { class: "graph-place" }, h("p", { class: "quiet-text" }, "…"));
  main.replaceChildren(h("section", { class: "graph", "aria-label": "Graph" },
    h("h1", { class: "hidden" }, "Graph"), tools(values), place));
  if (path || query) await showNeighbourhood(place, values, signal);
  else await showClusters(place, values, signal);
}

/** @param {URLSearchParams} values */
function tools(values) {
  const path = values.get("path") ?? "";
  const query = values.get("q") ?? "";
  const by = values.get("by") || "folder";
  const input = h("input", { type: "search", id: "graph-q", placeholder: "Draw the hits of a query",
    "aria-label": "Draw the hits of a query", dir: "auto", onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && input.value.trim()) go(address("graph", { q: input.value }));
    } });
  input.value = query;
  const whole = !path && !query;
  const vault = (/** @type {string} */ kind, /** @type {string} */ label) => h("a", {
    class: whole && by === kind ? "button on" : "button", "aria-current": whole && by === kind ? "true" : null,
    href: address("graph", { by: kind }) }, label);
  const depth = h("select", { id: "depth", onchange: () => go(address("graph",
    { path, q: query, depth: depth.value, related: values.get("related") ?? "" })) },
    ...["1", "2", "3"].map((one) => h("option", { value: one, selected: one === (values.get("depth") ?? "1") }, one)));
  const related = h("input", { type: "checkbox", id: "related", onchange: () => go(address("graph",
    { path, q: query, depth: depth.value, related: related.checked ? "" : "no" })) });
  related.checked = values.get("related") !== "no";
  return h("div", { class: "graph-tools" }, input, vault("folder", "Vault by folder"),
    vault("community", "Vault by links"),
    whole ? null : h("span", { class: "field" }, h("label", { for: "depth" }, "Steps "), depth),
    whole ? null : h("span", { class: "field" }, related, h("label", { for: "related" }, " Related notes")));
}

/**
 * @param {HTMLElement} place
 * @param {URLSearchParams} values
 * @param {AbortSignal} signal
 */
async function showNeighbourhood(place, values, signal) {
  const path = values.get("path") ?? "";
  const query = values.get("q") ?? "";
  const found = await get("graph", { path, q: query, depth: values.get("depth") ?? 1, limit: 300,
    related: values.get("related") !== "no" }, signal);
  const centres = new Set(found.centres);
  const order = [...found.nodes].sort((one, other) => one.distance - other.distance || other.degree - one.degree);
  /** @type {Map<string, number>} */
  const at = new Map(order.map((/** @type {import("./shapes").GraphNode} */ node, /** @type {number} */ number) => [node.path, number]));
  const nodes = order.map((/** @type {import("./shapes").GraphNode} */ node) => ({ id: node.path, label: node.title,
    r: Math.min(18, 4 + Math.sqrt(node.degree) * 1.4),
    kind: centres.has(node.path) ? "centre" : node.kind }));
  const links = found.edges.map((/** @type {import("./shapes").GraphEdge} */ edge) => ({ source: at.get(edge.source), target: at.get(edge.target),
    weight: edge.kind === "related" ? 0.15 : 0.5, width: 1.2, kind: edge.kind }));
  const title = path ? `Around ${order[0]?.title ?? path}` : `Around the hits of “${query}”`;
  const reasons = new Map(found.edges.filter((/** @type {import("./shapes").GraphEdge} */ edge) => edge.kind === "related")
    .map((/** @type {import("./shapes").GraphEdge} */ edge) => [edge.target, "near in meaning"]));
  const items = order.map((/** @type {import("./shapes").GraphNode} */ node) => ({
    id: node.path,
    label: node.title,
    note: [node.kind === "note" ? "" : node.kind, distance(node.distance), quantity(node.degree, "link"),
      reasons.get(node.path) ?? ""].filter(Boolean).join(" · "),
    actions: node.kind === "note" ? [
      h("a", { class: "button", href: address("note", { path: node.path }) }, "Read"),
      h("a", { class: "button", href: address("graph", { path: node.path }) }, "Draw around it")] : [],
  }));
  show(place, { title, summary: `${quantity(nodes.length, "file")}, ${quantity(links.length, "edge")}${
    found.more ? "; more were left out" : ""}`, nodes, links, items, distance: 60,
  legend: [["centre", path ? "the note" : "a hit"], ["note", "a note"], ["attachment", "a file"], ["link", "a link"],
    ["related", "near in meaning"]] }, signal);
}

/** @param {number} steps */
function distance(steps) {
  return steps === 0 ? "" : quantity(steps, "step");
}

/**
 * @param {HTMLElement} place
 * @param {URLSearchParams} values
 * @param {AbortSignal} signal
 */
async function showClusters(place, values, signal) {
  const by = values.get("by") || "folder";
  const folder = values.get("folder") ?? "";
  const found = await get("clusters", { by, folder }, signal);
  const total = Math.max(1, ...found.clusters.map((/** @type {import("./shapes").Cluster} */ one) => one.notes));
  const strongest = Math.max(1, ...found.edges.map((/** @type {import("./shapes").ClusterEdge} */ one) => one.links));
  const nodes = found.clusters.map((/** @type {import("./shapes").Cluster} */ one, /** @type {number} */ at) => ({ id: String(at),
    label: one.name, r: 8 + 42 * Math.sqrt(one.notes / total), kind: "cluster" }));
  const links = found.edges.map((/** @type {import("./shapes").ClusterEdge} */ one) => ({ source: one.source, target: one.target,
    weight: 0.02 + 0.3 * (one.links / strongest), width: 0.8 + 5 * Math.sqrt(one.links / strongest), kind: "link" }));
  const items = found.clusters.map((/** @type {import("./shapes").Cluster} */ one, /** @type {number} */ at) => ({
    id: String(at), label: one.name, note: `${quantity(one.notes, "note")} · ${quantity(one.links, "link")} inside`,
    actions: [
      one.folder ? h("a", { class: "button", href: address("graph", { by, folder: one.folder }) }, "Its folders") : null,
      one.folder ? h("a", { class: "button", href: address("search", { f: [`path:"${one.folder}/"`] }) }, "Search in it")
        : null,
      h("ul", { class: "members" }, ...one.members.map((/** @type {import("./shapes").GraphNode} */ node) => h("li", {},
        h("a", { href: address("graph", { path: node.path }), dir: "auto" }, node.title), h("small", {}, ` ${count(node.degree)}`)))),
    ],
  }));
  const title = folder ? `The folder ${folder}` : by === "folder" ? "The vault by folder" : "The vault by links";
  show(place, { title, summary: `${quantity(found.notes, "note")} in the vault, ${
    quantity(nodes.length, "cluster")}`, nodes, links, items, distance: 150,
  legend: [["cluster", "larger: more notes"], ["link", "wider: more links"]] }, signal);
}

/**
 * What the kinds of nodes and lines mean, of those that are drawn.
 * @param {{ nodes: any[], links: any[], legend: string[][] }} graph
 */
function legend(graph) {
  const drawn = new Set([...graph.nodes, ...graph.links].map(({ kind }) => kind));
  return h("ul", { class: "graph-legend", "aria-label": "Legend" }, ...graph.legend
    .filter(([kind]) => drawn.has(kind))
    .map(([kind, meaning]) => h("li", { class: `kind-${kind}` }, meaning)));
}

/**
 * @param {HTMLElement} place
 * @param {{ title: string, summary: string, nodes: any[], links: any[], distance: number, legend: string[][],
 *   items: { id: string, label: string, note: string, actions: (Node | null)[] }[] }} graph
 * @param {AbortSignal} signal
 */
function show(place, graph, signal) {
  const details = h("div", { class: "chosen-node", "aria-live": "polite" });
  /** @param {string} id */
  const choose = (id) => {
    const item = graph.items.find((one) => one.id === id);
    if (!item) return;
    drawing.select(id);
    for (const one of list.children) one.classList.toggle("on", one instanceof HTMLElement && one.dataset.id === id);
    details.replaceChildren(h("h2", { dir: "auto" }, item.label), h("p", { class: "line" }, item.note),
      h("div", { class: "tools" }, ...item.actions));
  };
  const list = h("ol", { class: "graph-list" }, ...graph.items.map((item) => h("li", { "data-id": item.id },
    h("button", { type: "button", class: "quiet", dir: "auto", onclick: () => choose(item.id) }, item.label),
    h("small", {}, ` ${item.note}`))));
  const drawing = new Drawing(graph.nodes, graph.links,
    { label: `${graph.title}: ${graph.summary}. The list contains the same nodes.`, distance: graph.distance, choose }, signal);
  const zoom = (/** @type {string} */ name, /** @type {number} */ factor, /** @type {string} */ label) =>
    h("button", { type: "button", "aria-label": label, onclick: () => drawing.zoom(factor) }, name);
  place.replaceChildren(
    h("div", { class: "graph-canvas" }, drawing.element, legend(graph),
      h("div", { class: "zoom", role: "group", "aria-label": "Zoom" }, zoom("+", 1.4, "Zoom in"),
        zoom("−", 1 / 1.4, "Zoom out"),
        h("button", { type: "button", onclick: () => {
          drawing.fit();
          drawing.place();
        } }, "Fit"))),
    h("aside", { class: "rail", "aria-label": "Nodes" },
      h("h2", {}, graph.title), h("p", { class: "line" }, graph.summary), details, list));
  setTitle(graph.title);
  announce(`${graph.title}: ${graph.summary}`);
}
