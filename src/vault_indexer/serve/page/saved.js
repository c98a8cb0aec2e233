/** Searches that a person keeps, as addresses of their view, in this browser alone. */

import { VAULT } from "./api.js";
import { address } from "./route.js";

const STORED = `saved-searches:${VAULT}`;

/** @typedef {import("./route.js").Search} Search */

/**
 * The newest first.
 * @returns {string[]}
 */
function addresses() {
  try {
    const found = JSON.parse(localStorage.getItem(STORED) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string" && one.startsWith("#/search?")) : [];
  } catch {
    return [];
  }
}

/** @returns {{ to: string, name: string }[]} */
export function savedSearches() {
  return addresses().map((to) => {
    const values = new URLSearchParams(to.split("?")[1]);
    return { to, name: [...values.getAll("f"), values.get("q") ?? ""].filter(Boolean).join(" ") };
  });
}

/** @param {Search} search */
export function isSaved(search) {
  return addresses().includes(address("search", { ...search }));
}

/**
 * Keep a search, or remove it.
 * @param {string} to its address
 */
export function toggleSaved(to) {
  const all = addresses();
  const rest = all.filter((one) => one !== to);
  localStorage.setItem(STORED, JSON.stringify(rest.length < all.length ? rest : [to, ...all]));
}
