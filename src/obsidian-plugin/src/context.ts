// What every part of the plugin needs: the app, the daemon, the settings.

import { FileSystemAdapter, type App } from "obsidian";
import { DaemonClient } from "./client";
import { discover } from "./discovery";
import { startDaemon } from "./launcher";
import { remember } from "./recent";

/** Settings of the vault, in data.json, which may be synced. */
export interface Settings {
  limit: number;
  keepRecent: boolean;
  hideLinked: boolean;
  hideSameFolder: boolean;
}

export const DEFAULTS: Settings = { limit: 30, keepRecent: true, hideLinked: false, hideSameFolder: false };

/** Settings of this computer, in its local storage. A synced vault must not decide which program runs here. */
export interface DeviceSettings {
  mayStart: boolean;
  indexFolder: string;
  recent: string[];
}

const DEVICE_DEFAULTS: DeviceSettings = { mayStart: false, indexFolder: "", recent: [] };
const DEVICE_KEY = "vault-indexer";

export class Context {
  readonly client: DaemonClient;
  settings: Settings = { ...DEFAULTS };

  constructor(
    readonly app: App,
    private readonly save: (settings: Settings) => Promise<void>,
  ) {
    this.client = new DaemonClient(() => discover(this.vaultFolder, this.device.indexFolder));
  }

  get vaultFolder(): string {
    const adapter = this.app.vault.adapter;
    return adapter instanceof FileSystemAdapter ? adapter.getBasePath() : "";
  }

  get device(): DeviceSettings {
    const stored = this.app.loadLocalStorage(DEVICE_KEY) as Partial<DeviceSettings> | null;
    return { ...DEVICE_DEFAULTS, ...stored };
  }

  setDevice(changed: Partial<DeviceSettings>): void {
    this.app.saveLocalStorage(DEVICE_KEY, { ...this.device, ...changed });
    if (changed.indexFolder !== undefined) this.client.forget();
  }

  async change(changed: Partial<Settings>): Promise<void> {
    this.settings = { ...this.settings, ...changed };
    await this.save(this.settings);
  }

  rememberQuery(query: string): void {
    if (this.settings.keepRecent) this.setDevice({ recent: remember(this.device.recent, query) });
  }

  /** Keep that a hit was opened. What goes wrong with that is no matter for who wants to read. */
  recordClick(query: string, path: string, rank: number): void {
    if (query && rank > 0) this.client.recordClick(query, path, rank).catch(() => undefined);
  }

  /** Start the daemon. Rejects without the user's permission, and with what the command says if it fails. */
  async start(command: readonly string[]): Promise<void> {
    if (!this.device.mayStart) throw new Error("Starting the daemon is not allowed");
    await startDaemon(command);
    this.client.forget();
  }
}
