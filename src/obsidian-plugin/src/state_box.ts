import { Component, Notice, ProgressBarComponent, setIcon } from "obsidian";
import { NoDaemonError } from "./client";
import type { Context } from "./context";
import type { Status } from "./answers";
import { SILENT, indexLine, shown, stateOf, stateOfError, type ShownState, type StateAction } from "./states";

const POLL_MS = 1000;
/** A request without an answer for so long is said to the user. */
const SILENT_MS = 3000;

const ICONS: Record<ShownState["kind"], string> = {
  ready: "info",
  missing: "download",
  stopped: "power-off",
  starting: "loader",
  building: "loader",
  paused: "pause",
  degraded: "alert-triangle",
  pending: "clock",
  failed: "alert-circle",
  silent: "alert-circle",
};

const LABELS: Record<StateAction, string> = {
  copy: "Copy command",
  start: "Start the daemon",
  allow: "Allow and start",
  resume: "Resume indexing",
  retry: "Try again",
};

/**
 * Shows the daemon's state. While there is something to show and the box can be seen, it asks again each second;
 * `changed` is called with each status.
 */
export class StateBox extends Component {
  private readonly el: HTMLElement;
  private readonly lineEl: HTMLElement;
  private timer = 0;
  private command: string[] = [];
  private current: ShownState | null = null;
  /** Counts starts of the daemon: what was asked before one began or ended tells nothing. */
  private starts = 0;
  /** The one request for the state that is under way. */
  private checking: Promise<void> | null = null;

  constructor(
    private readonly context: Context,
    parent: HTMLElement,
    private readonly changed: (status: Status) => void,
  ) {
    super();
    this.el = parent.createDiv({ cls: "vault-indexer-state", attr: { role: "status", "aria-live": "polite" } });
    this.el.hide();
    this.lineEl = parent.createDiv({ cls: "vault-indexer-reason vault-indexer-index-line" });
  }

  override onunload(): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.el.remove();
    this.lineEl.remove();
  }

  /** Ask for the state now, and show it. */
  check(): Promise<void> {
    this.checking ??= this.askState().finally(() => (this.checking = null));
    return this.checking;
  }

  /** Wait for a request, and say so if the daemon leaves it without an answer. */
  async waitFor<Answer>(request: Promise<Answer>): Promise<Answer> {
    const timer = window.setTimeout(() => {
      if (this.isLoaded) this.show(SILENT);
    }, SILENT_MS);
    try {
      return await request;
    } finally {
      window.clearTimeout(timer);
      if (this.current?.kind === "silent") void this.check();
    }
  }

  private async askState(): Promise<void> {
    const { starts } = this;
    try {
      const status = await this.waitFor(this.context.client.status());
      if (!this.isLoaded || starts !== this.starts) return;
      const state = stateOf(status);
      this.show(state);
      if (!state) this.lineEl.setText(indexLine(status));
      this.changed(status);
    } catch (error) {
      if (starts === this.starts) this.showError(error);
    }
  }

  showError(error: unknown): void {
    if (!this.isLoaded || this.current?.kind === "starting") return;
    // Why the daemon did not start says more than that it does not run.
    const isExplained = this.current?.kind === "failed" && this.current.actions.includes("start");
    if (isExplained && error instanceof NoDaemonError) return;
    if (error instanceof NoDaemonError) this.command = error.command;
    this.show(stateOfError(error, this.context.vaultFolder, this.context.device.mayStart));
  }

  /** Show a state; null hides the box. */
  show(state: ShownState | null): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
    if (state) this.lineEl.empty();
    if (JSON.stringify(state) !== JSON.stringify(this.current)) this.render(state);
    this.current = state;
    if (state && state.kind !== "ready" && state.kind !== "failed" && state.kind !== "starting") {
      this.timer = window.setTimeout(() => void this.poll(), POLL_MS);
    }
  }

  private isLoaded = false;

  override onload(): void {
    this.isLoaded = true;
    this.register(() => (this.isLoaded = false));
  }

  private async poll(): Promise<void> {
    if (this.el.isShown()) await this.check();
    else if (this.isLoaded) this.timer = window.setTimeout(() => void this.poll(), POLL_MS);
  }

  private render(state: ShownState | null): void {
    this.el.empty();
    this.el.toggle(state !== null);
    if (!state) return;
    this.el.dataset["state"] = state.kind;
    const head = this.el.createDiv({ cls: "vault-indexer-state-title" });
    setIcon(head.createSpan({ cls: "vault-indexer-state-icon" }), ICONS[state.kind]);
    head.createSpan({ text: state.title });
    if (state.detail) this.el.createDiv({ cls: "vault-indexer-state-detail", text: state.detail });
    for (const { name, isDone } of state.steps) {
      const step = this.el.createDiv({ cls: "vault-indexer-state-detail vault-indexer-step" });
      setIcon(step.createSpan({ cls: "vault-indexer-state-icon" }), isDone ? "check" : "x");
      step.createSpan({ text: `${name}: ${isDone ? "there" : "missing"}` });
    }
    if (state.progress !== null) new ProgressBarComponent(this.el).setValue(state.progress * 100);
    for (const command of state.commands) {
      this.el.createDiv({ cls: "vault-indexer-state-detail", text: `${command.purpose}:` });
      this.el.createEl("code", { cls: "vault-indexer-command", text: command.text });
    }
    const buttons = this.el.createDiv({ cls: "vault-indexer-state-actions" });
    for (const action of state.actions) {
      const cls = action === "copy" || action === "retry" ? "" : "mod-cta";
      const button = buttons.createEl("button", { cls, text: LABELS[action] });
      button.addEventListener("click", () => void this.act(action, state));
    }
  }

  private async act(action: StateAction, state: ShownState): Promise<void> {
    switch (action) {
      case "copy":
        await navigator.clipboard.writeText(state.commands.map((one) => one.text).join("\n"));
        new Notice("Copied");
        return;
      case "allow":
        this.context.setDevice({ mayStart: true });
        await this.start();
        return;
      case "start":
        await this.start();
        return;
      case "resume":
        await this.context.client.resume().catch((error: unknown) => this.showError(error));
        await this.check();
        return;
      case "retry":
        this.context.client.forget();
        this.show(null);
        await this.check();
    }
  }

  private async start(): Promise<void> {
    this.starts += 1;
    this.show(shown("starting", "The daemon is starting", ""));
    const told = (error: unknown) => (error instanceof Error ? error.message : String(error));
    const problem = await this.context.start(this.command).then(() => null, told);
    this.starts += 1;
    this.checking = null;
    this.show(null);
    if (problem === null) return this.check();
    this.show({ ...shown("failed", "The daemon did not start", problem), actions: ["start", "retry"] });
  }
}
