/** A canvas: its cards at their places, and the arrows between them. It is panned by scrolling. */

import { count, h, svg } from "./dom.js";
import { isPicture, picturePlace, renderBlocks } from "./markdown.js";
import { address } from "./route.js";

/**
 * @typedef {object} Card
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {string} type
 * @property {string} color
 * @property {string} label
 * @property {string} url
 * @property {string} subpath
 * @property {string} file
 * @property {string | null} path
 * @property {any[]} blocks
 *
 * @typedef {{ ends: [number, number], sides: [string, string], label: string }} Edge
 */

const MARGIN = 40;
const STEP = 1.25;
const LEAST_ZOOM = 0.02;

/**
 * @param {{ cards: Card[], edges: Edge[], more: boolean }} canvas
 * @returns {{ place: HTMLElement, fit: () => void }} what shows it, and what makes it fit once it is shown
 */
export function drawCanvas({ cards, edges, more }) {
  const left = Math.min(...cards.map((card) => card.x)) - MARGIN;
  const top = Math.min(...cards.map((card) => card.y)) - MARGIN;
  const width = Math.max(...cards.map((card) => card.x + card.width)) - left + MARGIN;
  const height = Math.max(...cards.map((card) => card.y + card.height)) - top + MARGIN;
  const moved = cards.map((card) => ({ ...card, x: card.x - left, y: card.y - top }));
  const groups = moved.filter(({ type }) => type === "group");
  const arrows = svg("svg", { width, height, "aria-hidden": "true" }, ...edges.flatMap((edge) => arrow(edge, moved)));
  const sheet = h("div", { class: "canvas-sheet" }, ...groups.map(element), arrows,
    ...moved.filter(({ type }) => type !== "group").map(element));
  const size = h("div", { class: "canvas-size" }, sheet);
  const view = h("div", { class: "canvas-view", tabindex: 0, role: "region", "aria-label": "Canvas" }, size);
  sheet.style.width = `${width}px`;
  sheet.style.height = `${height}px`;
  let zoom = 1;
  const zoomTo = (/** @type {number} */ wanted) => {
    const next = Math.max(LEAST_ZOOM, Math.min(3, wanted));
    const middle = [view.scrollLeft + view.clientWidth / 2, view.scrollTop + view.clientHeight / 2].map((one) => one / zoom);
    zoom = next;
    sheet.style.transform = `scale(${zoom})`;
    size.style.width = `${width * zoom}px`;
    size.style.height = `${height * zoom}px`;
    view.scrollTo(middle[0] * zoom - view.clientWidth / 2, middle[1] * zoom - view.clientHeight / 2);
  };
  const fit = () => zoomTo(Math.min(1, view.clientWidth / width, view.clientHeight / height));
  view.addEventListener("keydown", (event) => {
    if (event.target !== view || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+") zoomTo(zoom * STEP);
    else if (event.key === "-") zoomTo(zoom / STEP);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
  const button = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {() => void} */ act) =>
    h("button", { type: "button", "aria-label": name, title: name, onclick: act }, sign);
  return { fit, place: h("div", { class: "canvas" }, h("p", { class: "tools" }, button("−", "Zoom out (-)", () => zoomTo(zoom / STEP)),
    button("+", "Zoom in (+)", () => zoomTo(zoom * STEP)), button("Fit", "Fit into the window (0)", fit),
    more ? h("small", {}, `The first ${count(cards.length)} cards are drawn.`) : null), view) };
}

/** @param {Card} card */
function element(card) {
  const colour = /^[1-6]$/.test(card.color) ? card.color : null;
  const made = h("div", { class: `canvas-card${card.type === "group" ? " group" : ""}`, dir: "auto", "data-colour": colour,
    ...(card.blocks.length ? { tabindex: 0, role: "group", "aria-label": "Card" } : {}) }, ...inside(card));
  made.style.left = `${card.x}px`;
  made.style.top = `${card.y}px`;
  made.style.width = `${card.width}px`;
  made.style.height = `${card.height}px`;
  if (/^#[0-9a-f]{6}$/i.test(card.color)) made.style.borderColor = card.color;
  return made;
}

/** @param {Card} card */
function inside({ type, label, url, file, path, subpath, blocks }) {
  if (type === "group") return [h("span", { class: "card-label" }, label)];
  const name = file.split("/").pop()?.replace(/\.md$/i, "") ?? "";
  if (file && !path) return [h("span", { class: "unresolved", title: "No file has this name" }, file)];
  if (path && isPicture(path)) return [picturePlace(path, name)];
  if (path) return [h("a", { class: "wikilink", href: address("note", { path, at: subpath }) }, `${name}${subpath}`)];
  if (url) return [h("a", { class: "external", href: url, rel: "noreferrer noopener", target: "_blank" }, label || url)];
  return [renderBlocks(blocks)];
}

/**
 * @param {Edge} edge
 * @param {Card[]} cards
 */
function arrow({ ends, sides, label }, cards) {
  const [from, to] = ends.map((number) => cards[number]);
  const [x1, y1] = anchor(from, sides[0] || sideTowards(from, to));
  const [x2, y2] = anchor(to, sides[1] || sideTowards(to, from));
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const barb = (/** @type {number} */ turn) => `${x2 - 14 * Math.cos(angle + turn)} ${y2 - 14 * Math.sin(angle + turn)}`;
  return [svg("path", { class: "canvas-edge", d: `M${x1} ${y1}L${x2} ${y2}M${barb(0.4)}L${x2} ${y2}L${barb(-0.4)}` }),
    label ? svg("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 6, "text-anchor": "middle", class: "canvas-label" }, label) : null]
    .filter((one) => one !== null);
}

/**
 * @param {Card} card
 * @param {Card} other
 */
function sideTowards(card, other) {
  const across = other.x + other.width / 2 - card.x - card.width / 2;
  const down = other.y + other.height / 2 - card.y - card.height / 2;
  if (Math.abs(across) > Math.abs(down)) return across > 0 ? "right" : "left";
  return down > 0 ? "bottom" : "top";
}

/**
 * @param {Card} card
 * @param {string} side
 */
function anchor({ x, y, width, height }, side) {
  if (side === "left") return [x, y + height / 2];
  if (side === "right") return [x + width, y + height / 2];
  return [x + width / 2, side === "bottom" ? y + height : y];
}
