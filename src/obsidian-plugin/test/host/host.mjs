// A small host for the built plugin: the API that obsidian-test-mocks has, and above it what that leaves empty. Files,
// HTTP and processes are those of the machine, through functions that the test exposes to the page: as in Electron,
// requests carry no Origin and are not bound by what a page may do.

import * as mocks from "obsidian-test-mocks/obsidian";
import { setup } from "obsidian-test-mocks/setup";
import * as dom from "./dom.mjs";
import { ItemView, MarkdownView, View, Workspace } from "./workspace.mjs";

setup();
window.activeWindow = window;
window.activeDocument = document;

class Plugin extends mocks.Plugin {
  registerView(type, create) {
    this.app.viewCreators.set(type, create);
    this.register(() => {
      this.app.viewCreators.delete(type);
      for (const leaf of this.app.workspace.getLeavesOfType(type)) leaf.detach();
    });
  }
  addRibbonIcon(icon, title, callback) {
    const attr = { "aria-label": title };
    const el = document.body.querySelector(".workspace-ribbon").createDiv({ cls: "clickable-icon", attr });
    dom.setIcon(el, icon);
    el.addEventListener("click", callback);
    this.register(() => el.remove());
    return el;
  }
  addStatusBarItem() {
    const el = document.body.createDiv({ cls: "status-bar-item" });
    this.register(() => el.remove());
    return el;
  }
  addCommand(command) {
    this.app.commands.set(command.id, command);
    this.register(() => this.app.commands.delete(command.id));
    return command;
  }
  addSettingTab(tab) {
    this.app.settingTabs.push(tab);
    this.register(() => (this.app.settingTabs = this.app.settingTabs.filter((one) => one !== tab)));
  }
  registerHoverLinkSource(id, info) {
    this.app.hoverSources.set(id, info);
    this.register(() => this.app.hoverSources.delete(id));
  }
  async loadData() {
    return JSON.parse(localStorage.getItem("data.json") ?? "null");
  }
  async saveData(data) {
    localStorage.setItem("data.json", JSON.stringify(data));
  }
}

/** The vault's files are read at the start and written to the machine. */
class Adapter extends mocks.FileSystemAdapter {
  async write(path, data, options) {
    await super.write(path, data, options);
    await window.hostWrite(path, data);
  }
}

class App {
  constructor({ vaultFolder, files }) {
    const inner = mocks.App.createConfigured__({ adapter: new Adapter(vaultFolder), files });
    this.vault = inner.vault;
    this.fileManager = inner.fileManager;
    this.scope = new dom.Scope();
    this.keymap = new dom.Keymap(this.scope);
    this.viewCreators = new Map();
    this.commands = new Map();
    this.hoverSources = new Map();
    this.settingTabs = [];
    this.workspace = new Workspace(this, document.body);
    document.body.createDiv({ cls: "workspace-ribbon" });
    this.metadataCache = { getFileCache: (file) => this.cache(files[file.path] ?? "") };
    this.fileManager.app = this;
    // A file that is no note is embedded; a subpath begins with "#".
    this.fileManager.generateMarkdownLink = (file, _source, subpath = "", alias = "") => {
      const name = file.extension === "md" ? file.basename : file.name;
      return `${file.extension === "md" ? "" : "!"}[[${name}${subpath}${alias && `|${alias}`}]]`;
    };
    // A note that is open shows what is written to it.
    this.vault.on("modify", (file) => {
      for (const { view } of this.workspace.getLeavesOfType("markdown")) {
        if (view.file?.path === file.path && !view.saving) void view.reload();
      }
    });
  }
  cache(text) {
    const found = /^---\n([\s\S]*?)\n---/.exec(text);
    const tags = [...text.matchAll(/(?<=^|\s)#[\p{L}\d_/-]*\p{L}[\p{L}\d_/-]*/gmu)].map(([tag]) => ({ tag }));
    return { frontmatter: found ? mocks.parseYaml(found[1]) : undefined, tags };
  }
  loadLocalStorage(key) {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  }
  saveLocalStorage(key, data) {
    localStorage.setItem(key, JSON.stringify(data));
  }
}

const requests = [];

async function requestUrl({ url, method = "GET", headers = {}, body = null, contentType = null }) {
  requests.push({ url, method });
  const sent = contentType ? { ...headers, "Content-Type": contentType } : headers;
  const { status, text, error } = await window.hostRequest(url, method, sent, body);
  if (error) throw new Error(error);
  return { status, text, headers: {}, get json() { return JSON.parse(text); } };
}

/** Node's `http.request`, as far as the plugin uses it: parts of the answer are read one after the other. */
function streamedRequest(url, { method, headers }, respond) {
  const calls = { error: () => undefined };
  let isDestroyed = false;
  let opened = null;
  const sent = {
    on: (name, call) => (calls[name] = call),
    destroy(error) {
      isDestroyed = true;
      if (opened) void window.hostClose(opened.id);
      calls.error(error);
    },
    async end(body) {
      requests.push({ url, method, body });
      opened = await window.hostOpen(url, method, headers, body);
      if (opened.error) return calls.error(new Error(opened.error));
      const on = {};
      respond({ statusCode: opened.status, setEncoding: () => undefined, on: (name, call) => (on[name] = call) });
      for (let part; !isDestroyed && (part = await window.hostNext(opened.id)); ) on.data(part);
      if (!isDestroyed) on.end();
    },
  };
  return sent;
}

const obsidian = { ...mocks, ...dom, Plugin, View, ItemView, MarkdownView, requestUrl };

const node = {
  obsidian,
  os: { platform: () => window.hostMachine.platform, homedir: () => window.hostMachine.home },
  "fs/promises": {
    constants: { O_RDONLY: 0, O_NOFOLLOW: 0, O_NONBLOCK: 0 },
    // Owners and modes are compared with Node in discovery.test.ts: a page has no user.
    async stat(path) {
      const kind = await window.hostKind(path);
      if (!kind) throw new Error(`ENOENT: ${path}`);
      return { uid: 0, mode: 0o700, isFile: () => kind === "file" };
    },
    async lstat(path) {
      return { ...(await this.stat(path)), isSymbolicLink: () => false };
    },
    async open(path) {
      reads.push(path);
      const text = await window.hostRead(path);
      if (text === null) throw new Error(`ENOENT: ${path}`);
      const stat = async () => ({ uid: 0, mode: 0o600, isFile: () => true });
      return { stat, readFile: async () => text, close: async () => undefined };
    },
    realpath: (path) => window.hostRealpath(path),
  },
  http: { request: streamedRequest },
  child_process: {
    execFile(program, parameters, _options, done) {
      void window.hostExec(program, parameters).then(({ code, error }) => {
        done(code ? Object.assign(new Error(`exit status ${code}`), { code }) : null, "", error);
      });
    },
  },
};
const reads = [];

window.host = {
  requests,
  reads,
  app: null,
  plugin: null,
  start(vault) {
    // Signal 0 cannot be sent from a page: every process counts as alive here, and discovery.test.ts asks Node.
    window.process = { env: window.hostMachine.env, kill: () => true };
    this.app = new App(vault);
  },
  /** Evaluate main.js as Obsidian does, and enable the plugin. Returns the milliseconds both took. */
  async load(source, manifest) {
    const begun = performance.now();
    const module = { exports: {} };
    const require = (name) => {
      if (!(name in node)) throw new Error(`Cannot find module ${name}`);
      return node[name];
    };
    new Function("module", "exports", "require", `${source}\n//# sourceURL=plugin-main.js`)(module, module.exports, require);
    this.plugin = new module.exports.default(this.app, manifest);
    this.plugin.loaded__ = true;
    await this.plugin.onload();
    return performance.now() - begun;
  },
  async open(path) {
    const leaf = this.app.workspace.getLeaf(false);
    await leaf.openFile(this.app.vault.getFileByPath(path), { active: true });
  },
  run(id) {
    const command = this.app.commands.get(id);
    if (command.callback) return void command.callback();
    if (command.checkCallback) return command.checkCallback(true) && command.checkCallback(false);
    const view = this.app.workspace.activeEditor;
    if (!view || !command.editorCheckCallback(true, view.editor, view)) return false;
    command.editorCheckCallback(false, view.editor, view);
    return true;
  },
  /** The tabs of the middle: what each shows, where its cursor is, and what is highlighted. */
  tabs() {
    return this.app.workspace.leaves
      .filter((leaf) => leaf.kind !== "side")
      .map((leaf) => ({
        kind: leaf.kind,
        path: leaf.view.file?.path ?? "",
        eState: leaf.opened?.eState ?? null,
        text: leaf.view.editor?.getValue() ?? "",
        cursor: leaf.view.editor?.getCursor() ?? null,
        marks: [...leaf.containerEl.querySelectorAll(".is-flashing")].map((el) => el.textContent),
      }));
  },
  get editor() {
    return this.app.workspace.recentLeaf.view.editor;
  },
};
