/** What the listed hits have in common: folders, tags, kinds and years with their counts, each a filter. */

import { count, h } from "./dom.js";

const LISTED = 6;

/** @typedef {import("./shapes").Hit} Hit */
/** @typedef {{ name: string, filter: string, hits: number }} Facet */

/**
 * The facets of hits. A value that all hits have is left out, because it would leave the same hits.
 * @param {Hit[]} hits
 * @returns {[string, Facet[]][]}
 */
export function facetsOf(hits) {
  const folders = folderBelow(hits.map(({ path }) => path));
  /** @type {[string, (hit: Hit) => [name: string, filter: string][]][]} */
  const kinds = [
    ["Folders", ({ path }) => folders(path)],
    ["Tags", ({ tags }) => tags.map((tag) => [`#${tag}`, `tag:#${tag}`])],
    ["Kinds", ({ kind }) => kind === "base" || kind === "attachment" ? [] : [[kind, `kind:${kind}`]]],
    ["Years", ({ modified_time: time }) => {
      const year = new Date(time).getFullYear(); // in the time zone of this computer, as the filter
      return year ? [[String(year), `after:${year} before:${year + 1}`]] : [];
    }],
  ];
  return kinds.map(([name, valuesOf]) => [name, counted(hits, valuesOf)]);
}

/**
 * @param {Hit[]} hits
 * @param {(hit: Hit) => [name: string, filter: string][]} valuesOf
 */
function counted(hits, valuesOf) {
  /** @type {Map<string, Facet>} */
  const found = new Map();
  for (const hit of hits) {
    for (const [name, filter] of valuesOf(hit)) {
      const facet = found.get(filter) ?? { name, filter, hits: 0 };
      facet.hits += 1;
      found.set(filter, facet);
    }
  }
  return [...found.values()].filter((one) => one.hits < hits.length)
    .sort((one, other) => other.hits - one.hits || one.name.localeCompare(other.name));
}

/**
 * The folder of a path below the folders that all paths have in common.
 * @param {string[]} paths
 * @returns {(path: string) => [name: string, filter: string][]}
 */
function folderBelow(paths) {
  const [first = [], ...others] = paths.map((path) => path.split("/").slice(0, -1));
  let depth = 0;
  while (depth < first.length && others.every((one) => one[depth] === first[depth])) depth += 1;
  return (path) => {
    const folders = path.split("/").slice(0, -1);
    const folder = folders.slice(0, depth + 1).join("/");
    return folders.length <= depth || folder.includes('"') ? [] : [[folders[depth], `path:"${folder}/"`]];
  };
}

/**
 * The facets next to the hits; null where none would narrow them.
 * @param {Hit[]} hits
 * @param {boolean} isOpen
 * @param {(filter: string) => void} choose
 */
export function facetList(hits, isOpen, choose) {
  const facets = facetsOf(hits).filter(([, all]) => all.length);
  if (hits.length < 2 || !facets.length) return null;
  return h("details", { open: isOpen },
    h("summary", {}, `In these ${count(hits.length)} hits`),
    ...facets.map(([name, all]) => {
      const rest = all.slice(LISTED).map(button);
      const more = h("button", { type: "button", class: "quiet", onclick: () => {
        more.parentElement?.replaceWith(...rest);
        rest[0].querySelector("button")?.focus();
      } }, `${rest.length} more`);
      return h("section", { "aria-label": name }, h("h2", {}, name),
        h("ul", { class: "plain" }, ...all.slice(0, LISTED).map(button), rest.length ? h("li", {}, more) : null));
    }));

  /** @param {Facet} facet */
  function button({ name, filter, hits: number }) {
    return h("li", {}, h("button", { type: "button", class: "quiet facet", dir: "auto",
      "aria-label": `${name}, ${number}: filter`, onclick: () => choose(filter) },
    h("span", {}, name), h("small", {}, count(number))));
  }
}
