/** What a person chooses for this browser: the theme, and whether single keys are shortcuts. */

import { byId, h } from "./dom.js";

const THEMES = ["system", "light", "dark"];

/** Whether single keys are shortcuts. */
export function hasShortcuts() {
  return localStorage.getItem("shortcuts") !== "off";
}

/** Use what was chosen before, and offer the choice. */
export function showSettings() {
  const theme = h("select", { id: "theme", onchange: () => {
    localStorage.setItem("theme", theme.value);
    document.documentElement.dataset.theme = theme.value;
  } }, ...THEMES.map((name) => h("option", { value: name }, name)));
  theme.value = THEMES.find((name) => name === localStorage.getItem("theme")) ?? "system";
  document.documentElement.dataset.theme = theme.value;
  const shortcuts = h("input", { id: "shortcuts", type: "checkbox",
    onchange: () => localStorage.setItem("shortcuts", shortcuts.checked ? "on" : "off") });
  shortcuts.checked = hasShortcuts();
  const details = byId("settings");
  details.append(h("div", { class: "settings-panel" },
    h("p", {}, h("label", { for: "theme" }, "Theme"), theme),
    h("p", {}, shortcuts, h("label", { for: "shortcuts" }, "Single keys are shortcuts"))));
  addEventListener("click", (event) => {
    if (event.target instanceof Node && !details.contains(event.target)) details.removeAttribute("open");
  });
  details.addEventListener("keydown", (event) => {
    if (event.key === "Escape") details.removeAttribute("open");
  });
}
