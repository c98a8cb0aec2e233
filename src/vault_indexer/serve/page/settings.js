/** What a person chooses for this browser: the theme, how texts are set, and whether single keys are shortcuts. */

import { byId, h } from "./dom.js";

/** Choices that the styles follow, by the name of the attribute of the page; the first one is the default. */
const CHOICES = {
  theme: { label: "Theme", values: ["system", "light", "dark"] },
  size: { label: "Text size", values: ["medium", "small", "large", "larger"] },
  width: { label: "Text width", values: ["medium", "narrow", "wide", "full"] },
};

/** Whether single keys are shortcuts. */
export function hasShortcuts() {
  return localStorage.getItem("shortcuts") !== "off";
}

/** Use what was chosen before, and offer the choice. */
export function showSettings() {
  const choices = Object.entries(CHOICES).map(([key, { label, values }]) => {
    const choice = h("select", { id: key, onchange: () => {
      localStorage.setItem(key, choice.value);
      document.documentElement.dataset[key] = choice.value;
    } }, ...values.map((name) => h("option", { value: name }, name)));
    choice.value = values.find((name) => name === localStorage.getItem(key)) ?? values[0];
    document.documentElement.dataset[key] = choice.value;
    return h("p", {}, h("label", { for: key }, label), choice);
  });
  const shortcuts = h("input", { id: "shortcuts", type: "checkbox",
    onchange: () => localStorage.setItem("shortcuts", shortcuts.checked ? "on" : "off") });
  shortcuts.checked = hasShortcuts();
  const details = byId("settings");
  details.append(h("div", { class: "settings-panel" },
    ...choices,
    h("p", {}, shortcuts, h("label", { for: "shortcuts" }, "Single keys are shortcuts"))));
  addEventListener("click", (event) => {
    if (event.target instanceof Node && !details.contains(event.target)) details.removeAttribute("open");
  });
  details.addEventListener("keydown", (event) => {
    if (event.key === "Escape") details.removeAttribute("open");
  });
}
