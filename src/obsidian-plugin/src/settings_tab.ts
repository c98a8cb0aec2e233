import { PluginSettingTab, Setting, type Plugin, type SettingDefinitionControl, type SettingDefinitionGroup } from "obsidian";
import { DEFAULTS, type Context, type DeviceSettings, type Settings } from "./context";

const DEVICE_KEYS: readonly string[] = ["mayStart", "indexFolder"] satisfies (keyof DeviceSettings)[];

const MAX_LIMIT = 200;

type Item = SettingDefinitionControl;
type Group = SettingDefinitionGroup & { heading: string; items: Item[] };

export class VaultIndexerSettingTab extends PluginSettingTab {
  constructor(
    plugin: Plugin,
    private readonly context: Context,
  ) {
    super(context.app, plugin);
  }

  /** Obsidian before 1.13 does not draw definitions itself. */
  override display(): void {
    this.containerEl.empty();
    for (const { heading, items } of this.getSettingDefinitions()) {
      new Setting(this.containerEl).setName(heading).setHeading();
      for (const item of items) this.addControl(item);
    }
  }

  private addControl({ name, desc, control: { type, key } }: Item): void {
    const setting = new Setting(this.containerEl).setName(name).setDesc(desc ?? "");
    const value = this.getControlValue(key);
    const save = (changed: unknown) => void this.setControlValue(key, changed);
    if (type === "toggle") setting.addToggle((toggle) => toggle.setValue(value === true).onChange(save));
    else {
      setting.addText((text) => text.setValue(String(value)).onChange((typed) => {
        const limit = Math.floor(Number(typed));
        if (type !== "number") save(typed);
        else if (limit >= 1 && limit <= MAX_LIMIT) save(limit);
      }));
    }
  }

  override getSettingDefinitions(): Group[] {
    return [
      {
        type: "group",
        heading: "Search",
        items: [
          {
            name: "Maximum places",
            desc: "The number of places that a search lists.",
            control: { type: "number", key: "limit", defaultValue: DEFAULTS.limit, min: 1, max: MAX_LIMIT, step: 1 },
          },
          {
            name: "Keep recent queries",
            desc: "Shown when the search is empty. Stored only on this computer.",
            control: { type: "toggle", key: "keepRecent", defaultValue: DEFAULTS.keepRecent },
          },
        ],
      },
      {
        type: "group",
        heading: "Related notes",
        items: [
          {
            name: "Hide notes that are already linked",
            control: { type: "toggle", key: "hideLinked", defaultValue: DEFAULTS.hideLinked },
          },
          {
            name: "Hide notes in the same folder",
            control: { type: "toggle", key: "hideSameFolder", defaultValue: DEFAULTS.hideSameFolder },
          },
        ],
      },
      {
        type: "group",
        heading: "Daemon on this computer",
        items: [
          {
            name: "Let the plugin start the daemon",
            desc: "Only when you press the button. Runs the command that the daemon recorded when it last ran.",
            control: { type: "toggle", key: "mayStart", defaultValue: false },
          },
          {
            name: "Index folder",
            desc: "Only needed if the daemon was started with a separate index folder. If empty, it is found by the vault.",
            control: { type: "text", key: "indexFolder", defaultValue: "" },
          },
        ],
      },
    ];
  }

  override getControlValue(key: string): unknown {
    if (DEVICE_KEYS.includes(key)) return this.context.device[key as keyof DeviceSettings];
    return this.context.settings[key as keyof Settings];
  }

  override async setControlValue(key: string, value: unknown): Promise<void> {
    const changed = { [key]: value };
    if (DEVICE_KEYS.includes(key)) this.context.setDevice(changed);
    else await this.context.change(changed);
    if (key === "keepRecent" && value === false) this.context.setDevice({ recent: [] });
  }
}
