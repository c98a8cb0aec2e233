/** A drawing of nodes and links: laid out in a worker, zoomed and moved by hand, with labels that do not overlap. */

import { svg } from "./dom.js";

/**
 * @typedef {object} DrawnNode
 * @property {string} id
 * @property {string} label
 * @property {number} r radius
 * @property {string} kind a name for the style
 */

/**
 * @typedef {object} DrawnLink
 * @property {number} source place of a node
 * @property {number} target
 * @property {number} weight strength in the layout, in (0, 1]
 * @property {number} width
 * @property {string} kind
 */

const MIN_ZOOM = 0.15;
const MAX_ZOOM = 6;
const LABEL_PX = 12;

export class Drawing {
  /**
   * @param {DrawnNode[]} nodes those that are named first when labels do not fit come first
   * @param {DrawnLink[]} links
   * @param {{ label: string, distance: number, choose: (id: string) => void }} options
   * @param {AbortSignal} signal
   */
  constructor(nodes, links, options, signal) {
    this.nodes = nodes;
    this.links = links;
    this.options = options;
    this.view = { x: 0, y: 0, k: 1 };
    this.places = new Float32Array(nodes.length * 2);
    this.lines = links.map((link) => svg("line", { class: `edge ${link.kind}` }));
    /** @type {Set<number>[]} the nodes beside each node */
    this.beside = nodes.map(() => new Set());
    for (const { source, target } of links) {
      this.beside[source].add(target);
      this.beside[target].add(source);
    }
    this.lines.forEach((line, at) => line.style.setProperty("stroke-width", String(links[at].width)));
    this.dots = nodes.map((node, at) => svg("circle", { class: `node ${node.kind}`, r: node.r, "data-at": at },
      svg("title", {}, node.label)));
    this.labels = nodes.map((node) => svg("text", { class: `label ${node.kind}`, "text-anchor": "middle" },
      node.label.length > 32 ? `${node.label.slice(0, 31)}…` : node.label));
    this.space = svg("g", {}, ...this.lines, ...this.dots);
    this.names = svg("g", {}, ...this.labels);
    // The list beside the drawing says the same to a keyboard and to a screen reader.
    this.element = svg("svg", { class: "drawing", role: "img", "aria-label": options.label }, this.space, this.names);
    this.listen(signal);
    const worker = new Worker("/page/graph-worker.js", { type: "module" });
    signal.addEventListener("abort", () => worker.terminate());
    this.moved = false;
    worker.addEventListener("message", (event) => {
      this.places = event.data.places;
      if (!this.moved) this.fit();
      this.draw();
      if (event.data.done) {
        worker.terminate();
        this.element.dataset.done = "true";
      }
    });
    const atOnce = matchMedia("(prefers-reduced-motion: reduce)").matches;
    worker.postMessage({ nodes: nodes.map(({ r }) => ({ r })),
      links: links.map(({ source, target, weight }) => ({ source, target, weight })),
      atOnce, distance: options.distance });
  }

  /** Show everything. */
  fit() {
    const { width, height } = this.element.getBoundingClientRect();
    if (!this.nodes.length || !width) return;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let at = 0; at < this.nodes.length; at++) {
      const { r } = this.nodes[at];
      left = Math.min(left, this.places[2 * at] - r);
      right = Math.max(right, this.places[2 * at] + r);
      top = Math.min(top, this.places[2 * at + 1] - r);
      bottom = Math.max(bottom, this.places[2 * at + 1] + r);
    }
    const k = Math.min(1.6, (width - Math.min(96, width / 6)) / (right - left), (height - 64) / (bottom - top));
    this.view = { k, x: width / 2 - (k * (left + right)) / 2, y: height / 2 - (k * (top + bottom)) / 2 };
  }

  draw() {
    this.links.forEach((link, at) => {
      const line = this.lines[at];
      line.setAttribute("x1", this.places[2 * link.source].toFixed(1));
      line.setAttribute("y1", this.places[2 * link.source + 1].toFixed(1));
      line.setAttribute("x2", this.places[2 * link.target].toFixed(1));
      line.setAttribute("y2", this.places[2 * link.target + 1].toFixed(1));
    });
    this.dots.forEach((dot, at) => {
      dot.setAttribute("cx", this.places[2 * at].toFixed(1));
      dot.setAttribute("cy", this.places[2 * at + 1].toFixed(1));
    });
    this.place();
  }

  /** Move the drawing to where it is looked at from, and choose the labels that fit. */
  place() {
    const { x, y, k } = this.view;
    this.space.setAttribute("transform", `translate(${x} ${y}) scale(${k})`);
    const { width, height } = this.element.getBoundingClientRect();
    /** @type {[number, number, number, number][]} */
    const taken = [];
    this.nodes.forEach((node, at) => {
      const label = this.labels[at];
      const half = ((label.textContent ?? "").length * LABEL_PX * 0.56) / 2 + 2;
      const left = this.places[2 * at] * k + x;
      const top = this.places[2 * at + 1] * k + y + node.r * k + LABEL_PX + 2;
      const box = /** @type {[number, number, number, number]} */ ([left - half, top - LABEL_PX, left + half, top + 3]);
      const isSeen = box[2] > 0 && box[0] < width && box[3] > 0 && box[1] < height;
      const fits = isSeen && taken.every((one) =>
        one[2] <= box[0] || one[0] >= box[2] || one[3] <= box[1] || one[1] >= box[3]);
      label.classList.toggle("off", !fits);
      if (!fits) return;
      taken.push(box);
      label.setAttribute("x", left.toFixed(1));
      label.setAttribute("y", top.toFixed(1));
    });
  }

  /**
   * @param {number} factor
   * @param {number} [px] the point that stays where it is, in the drawing
   * @param {number} [py]
   */
  zoom(factor, px, py) {
    const box = this.element.getBoundingClientRect();
    const [cx, cy] = [px ?? box.width / 2, py ?? box.height / 2];
    const k = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, this.view.k * factor));
    const by = k / this.view.k;
    this.view = { k, x: cx - (cx - this.view.x) * by, y: cy - (cy - this.view.y) * by };
    this.moved = true;
    this.place();
  }

  /** @param {string} id */
  select(id) {
    this.dots.forEach((dot, at) => dot.classList.toggle("chosen", this.nodes[at].id === id));
    this.nodes.forEach((node, at) => this.labels[at].classList.toggle("chosen", node.id === id));
  }

  /**
   * Bring out a node with those beside it, and name it whatever room there is; without one, none.
   * @param {number | null} at
   */
  hover(at) {
    this.element.classList.toggle("hovered", at !== null);
    const near = (/** @type {number} */ other) => at !== null && (other === at || this.beside[at].has(other));
    this.dots.forEach((dot, other) => dot.classList.toggle("near", near(other)));
    this.labels.forEach((label, other) => label.classList.toggle("near", near(other)));
    this.lines.forEach((line, number) => line.classList.toggle("near",
      at !== null && (this.links[number].source === at || this.links[number].target === at)));
    if (at === null) return;
    const { x, y, k } = this.view;
    this.labels[at].setAttribute("x", (this.places[2 * at] * k + x).toFixed(1));
    this.labels[at].setAttribute("y", (this.places[2 * at + 1] * k + y + this.nodes[at].r * k + LABEL_PX + 2).toFixed(1));
    this.labels[at].classList.remove("off");
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    /** @type {Map<number, { x: number, y: number }>} */
    const held = new Map();
    let travelled = 0;
    this.element.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = this.element.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false, signal });
    this.element.addEventListener("pointerdown", (event) => {
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
      travelled = 0;
    }, { signal });
    addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) return;
      const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
      const other = [...held.entries()].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const apart = Math.hypot(before.x - other.x, before.y - other.y);
        this.zoom(Math.hypot(event.clientX - other.x, event.clientY - other.y) / Math.max(1, apart));
      } else {
        this.view = { ...this.view, x: this.view.x + dx, y: this.view.y + dy };
        this.moved = true;
        this.place();
      }
      travelled += Math.abs(dx) + Math.abs(dy);
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    }, { signal });
    for (const name of ["pointerup", "pointercancel"]) {
      addEventListener(name, (event) => held.delete(/** @type {PointerEvent} */ (event).pointerId), { signal });
    }
    this.element.addEventListener("click", (event) => {
      const at = event.target instanceof SVGElement ? event.target.dataset.at : undefined;
      if (at !== undefined && travelled < 6) this.options.choose(this.nodes[Number(at)].id);
    }, { signal });
    this.element.addEventListener("pointerover", (event) => {
      const at = event.target instanceof SVGElement ? event.target.dataset.at : undefined;
      if (at !== undefined) this.hover(Number(at));
    }, { signal });
    this.element.addEventListener("pointerout", (event) => {
      if (!(event.target instanceof SVGElement) || event.target.dataset.at === undefined) return;
      this.hover(null);
      this.place();
    }, { signal });
    const room = new ResizeObserver(() => {
      if (!this.moved) this.fit();
      this.place();
    });
    room.observe(this.element);
    signal.addEventListener("abort", () => room.disconnect());
  }
}
