// What obsidian-test-mocks leaves empty of Obsidian's windows: keys, modals, notices, icons, settings.

import * as mocks from "obsidian-test-mocks/obsidian";
import { ICONS } from "./icons.mjs";

const SVG = "http://www.w3.org/2000/svg";

/** `setIcon` with the icons that the plugin names; an unknown name is an error here. */
export function setIcon(parent, name) {
  const icon = ICONS[name];
  if (!icon) throw new Error(`no icon ${name}`);
  parent.empty();
  const text = `<svg xmlns="${SVG}" class="svg-icon lucide-${name}" width="24" height="24" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${icon}</svg>`;
  parent.append(document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true));
}

/** Keys of a modal or a view. A handler that returns false has dealt with the event. */
export class Scope {
  constructor(parent) {
    this.parent = parent;
    this.keys = [];
  }
  register(modifiers, key, func) {
    const handler = { modifiers: modifiers && [...modifiers].sort().join(","), key, func, scope: this };
    this.keys.push(handler);
    return handler;
  }
  unregister(handler) {
    this.keys = this.keys.filter((one) => one !== handler);
  }
  handle(event, modifiers) {
    for (const one of this.keys) {
      const isKey = one.key === null || one.key.toLowerCase() === event.key.toLowerCase();
      if (isKey && (one.modifiers === null || one.modifiers === modifiers)) {
        return one.func(event, { modifiers, key: event.key });
      }
    }
    return this.parent?.handle(event, modifiers);
  }
}

/** The stack of scopes: the topmost gets the key. */
export class Keymap {
  static isModEvent = (event) => mocks.Keymap.isModEvent(event);
  static isModifier = (event, modifier) => mocks.Keymap.isModifier(event, modifier);
  constructor(root) {
    this.stack = [root];
    window.addEventListener("keydown", (event) => {
      const pressed = [
        event.altKey && "Alt",
        event.ctrlKey && "Mod",
        event.metaKey && "Meta",
        event.shiftKey && "Shift",
      ];
      const modifiers = pressed.filter(Boolean).sort().join(",");
      if (this.stack.at(-1).handle(event, modifiers) === false) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
  }
  pushScope(scope) {
    this.stack.push(scope);
  }
  popScope(scope) {
    const at = this.stack.lastIndexOf(scope);
    if (at > 0) this.stack.splice(at, 1);
  }
}

export class Modal {
  constructor(app) {
    this.app = app;
    this.scope = new Scope();
    this.scope.register([], "Escape", () => (this.close(), false));
    this.containerEl = createDiv({ cls: "modal-container mod-dim" });
    const background = this.containerEl.createDiv({ cls: "modal-bg" });
    background.addEventListener("click", () => this.close());
    this.modalEl = this.containerEl.createDiv({ cls: "modal" });
    this.closeEl = this.modalEl.createDiv({ cls: "modal-close-button", attr: { "aria-label": "Close" } });
    this.closeEl.addEventListener("click", () => this.close());
    const header = this.modalEl.createDiv({ cls: "modal-header" });
    this.titleEl = header.createDiv({ cls: "modal-title" });
    this.contentEl = this.modalEl.createDiv({ cls: "modal-content" });
    this.isOpen = false;
  }
  open() {
    if (this.isOpen) return;
    this.isOpen = true;
    this.focusedBefore = document.activeElement;
    document.body.append(this.containerEl);
    this.app.keymap.pushScope(this.scope);
    this.onOpen();
  }
  close() {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.app.keymap.popScope(this.scope);
    this.containerEl.remove();
    this.focusedBefore?.focus?.();
    this.onClose();
  }
  onOpen() {}
  onClose() {}
  setTitle(text) {
    this.titleEl.setText(text);
    return this;
  }
}

/** A list that is filtered by what is typed: every word must be part of an item. */
export class FuzzySuggestModal extends Modal {
  constructor(app) {
    super(app);
    this.modalEl.removeClass("modal");
    this.modalEl.addClass("prompt");
    this.contentEl.remove();
    const inputs = this.modalEl.createDiv({ cls: "prompt-input-container" });
    this.inputEl = inputs.createEl("input", { cls: "prompt-input", type: "text" });
    this.resultContainerEl = this.modalEl.createDiv({ cls: "prompt-results" });
    this.inputEl.addEventListener("input", () => this.list());
    this.scope.register([], "Enter", () => (this.found?.length && this.choose(this.found[0]), false));
  }
  setPlaceholder(text) {
    this.inputEl.placeholder = text;
  }
  onOpen() {
    this.inputEl.focus();
    this.list();
  }
  list() {
    const words = this.inputEl.value.toLowerCase().split(/\s+/);
    const holds = (item) => words.every((word) => this.getItemText(item).toLowerCase().includes(word));
    this.found = this.getItems().filter(holds).slice(0, 100);
    this.resultContainerEl.empty();
    for (const item of this.found) {
      const el = this.resultContainerEl.createDiv({ cls: "suggestion-item", text: this.getItemText(item) });
      el.addEventListener("click", () => this.choose(item));
    }
  }
  choose(item) {
    this.close();
    this.onChooseItem(item);
  }
}

export class Notice {
  constructor(message, duration = 5000) {
    this.duration = duration;
    this.containerEl = document.body.querySelector(".notice-container") ?? document.body.createDiv("notice-container");
    this.noticeEl = this.containerEl.createDiv({ cls: "notice" });
    this.messageEl = this.noticeEl.createDiv({ cls: "notice-message" });
    this.messageEl.append(message);
  }
  hide() {
    this.noticeEl.remove();
  }
}

export class ProgressBarComponent {
  constructor(parent) {
    const bar = parent.createDiv({ cls: "setting-progress-bar", attr: { role: "progressbar" } });
    this.inner = bar.createDiv({ cls: "setting-progress-bar-inner" });
    this.bar = bar;
  }
  setValue(value) {
    this.inner.style.width = `${value}%`;
    this.bar.setAttribute("aria-valuenow", String(value));
    return this;
  }
}

/** Settings as Obsidian 1.13 draws them from `getSettingDefinitions()`. */
export class PluginSettingTab {
  constructor(app, plugin) {
    this.app = app;
    this.plugin = plugin;
    this.containerEl = createDiv({ cls: "vertical-tab-content" });
    this.settingItems = [];
  }
  update() {
    this.settingItems = this.getSettingDefinitions();
    this.containerEl.empty();
    for (const group of this.settingItems) {
      const items = this.containerEl.createDiv({ cls: "setting-group" });
      items.createDiv({ cls: "setting-item setting-item-heading", text: group.heading });
      for (const item of group.items) this.draw(items, item);
    }
  }
  draw(parent, { name, desc, control }) {
    const row = parent.createDiv({ cls: "setting-item" });
    const info = row.createDiv({ cls: "setting-item-info" });
    info.createDiv({ cls: "setting-item-name", text: name });
    if (desc) info.createDiv({ cls: "setting-item-description", text: desc });
    const type = { toggle: "checkbox", number: "number", text: "text" }[control.type];
    const input = row.createDiv({ cls: "setting-item-control" }).createEl("input", { type });
    input.setAttribute("aria-label", name);
    const value = this.getControlValue(control.key) ?? control.defaultValue;
    if (type === "checkbox") input.checked = value;
    else input.value = value;
    input.addEventListener("change", () => {
      const changed = { checkbox: input.checked, number: Number(input.value), text: input.value }[type];
      void this.setControlValue(control.key, changed);
    });
  }
}
