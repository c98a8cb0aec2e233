// What every part of the plugin needs: the app, the daemon, the settings.

import { FileSystemAdapter, type App } from "obsidian";
import { DaemonClient } from "./client";
import { discover, findProgram, type Discovery } from "./discovery";
import { startDaemon } from "./launcher";
import { remember } from "./recent";

/** Settings of the vault, in data.json, which may be synced. */
export interface Settings {
  limit: number;
  keepRecent: boolean;
  hideLinked: boolean;
  hideSameFolder: boolean;
  /** By the path of a note: the notes that always come first beside it, and those that are not shown. */
  pinned: Record<string, string[]>;
  hidden: Record<string, string[]>;
}

export const DEFAULTS: Settings = {
  limit: 30,
  keepRecent: true,
  hideLinked: false,
  hideSameFolder: false,
  pinned: {},
  hidden: {},
};

export type Mark = "pinned" | "hidden";

/** Settings of this computer, in its local storage. A synced vault must not decide which program runs here. */
export interface DeviceSettings {
  mayStart: boolean;
  indexFolder: string;
  recent: string[];
  /** Whether a language model may write answers: "yes" or "no", and the model and its host; "" before that is chosen. */
  askModel: string;
}

const DEVICE_DEFAULTS: DeviceSettings = { mayStart: false, indexFolder: "", recent: [], askModel: "" };
const DEVICE_KEY = "vault-indexer";

export class Context {
  readonly client: DaemonClient;
  settings: Settings = { ...DEFAULTS };
  /** The query of the hit that was opened last. */
  lastQuery = "";

  constructor(
    readonly app: App,
    private readonly save: (settings: Settings) => Promise<void>,
  ) {
    this.client = new DaemonClient(() => this.discover());
  }

  get vaultFolder(): string {
    const adapter = this.app.vault.adapter;
    return adapter instanceof FileSystemAdapter ? adapter.getBasePath() : "";
  }

  /** The daemon of the vault. Where it never had one, the command is that of the installed program, if there is one. */
  private async discover(): Promise<Discovery> {
    const found = await discover(this.vaultFolder, this.device.indexFolder);
    if (found.info || found.command.length > 0 || found.problem || this.device.indexFolder) return found;
    const { program, problem } = await findProgram();
    if (!program) return { ...found, problem };
    return { ...found, command: [program, "start", "--vault", this.vaultFolder], isNew: true };
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

  /** Pin or hide a note beside another one, or take that back. */
  async mark(kind: Mark, note: string, path: string, isOn: boolean): Promise<void> {
    const { [note]: old = [], ...others } = this.settings[kind];
    const paths = [...old.filter((one) => one !== path), ...(isOn ? [path] : [])];
    await this.change({ [kind]: paths.length > 0 ? { ...others, [note]: paths } : others });
  }

  /** A file has another path: what is pinned and hidden follows it. */
  async renamePath(from: string, to: string): Promise<void> {
    const renamed = (path: string) => (path === from ? to : path);
    const moved = (marks: Settings[Mark]) =>
      Object.fromEntries(Object.entries(marks).map(([note, paths]) => [renamed(note), paths.map(renamed)]));
    const [pinned, hidden] = [moved(this.settings.pinned), moved(this.settings.hidden)];
    const isSame = JSON.stringify([pinned, hidden]) === JSON.stringify([this.settings.pinned, this.settings.hidden]);
    if (!isSame) await this.change({ pinned, hidden });
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
