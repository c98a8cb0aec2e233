/** The layout of a graph, away from the thread that draws. */

import * as bundle from "./vendor/d3-force.js";

/** @type {any} the bundle has no types */
const { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } = bundle;

const STEPS = 220;
const SHOW_EVERY = 4;

/**
 * @typedef {object} Order
 * @property {{ r: number }[]} nodes
 * @property {{ source: number, target: number, weight: number }[]} links
 * @property {boolean} atOnce only the end is wanted
 * @property {number} distance wanted between two linked nodes
 */

addEventListener("message", (/** @type {MessageEvent<Order>} */ event) => {
  const { nodes, links, atOnce, distance } = event.data;
  const simulation = forceSimulation(nodes)
    .force("link", forceLink(links).distance(distance).strength((/** @type {any} */ link) => link.weight))
    .force("charge", forceManyBody().strength(-distance * 4).distanceMax(distance * 12))
    .force("collide", forceCollide((/** @type {any} */ node) => node.r + 6))
    .force("x", forceX(0).strength(0.06))
    .force("y", forceY(0).strength(0.08))
    .stop();
  for (let step = 1; step <= STEPS; step++) {
    simulation.alpha(1 - step / (STEPS + 1)).tick();
    if (step === STEPS || (!atOnce && step % SHOW_EVERY === 0)) {
      postMessage({ places: places(nodes), done: step === STEPS });
    }
  }
});

/** @param {any[]} nodes */
function places(nodes) {
  const flat = new Float32Array(nodes.length * 2);
  nodes.forEach((node, at) => flat.set([node.x, node.y], at * 2));
  return flat;
}
