import { PluginSettingTab, type Plugin, type SettingDefinitionItem } from "obsidian";
import { DEFAULTS, type Context, type DeviceSettings, type Settings } from "./context";

const DEVICE_KEYS: readonly string[] = ["mayStart", "indexFolder"] satisfies (keyof DeviceSettings)[];

export class VaultIndexerSettingTab extends PluginSettingTab {
  constructor(
    plugin: Plugin,
    private readonly context: Context,
  ) {
    super(context.app, plugin);
  }

  override getSettingDefinitions(): SettingDefinitionItem[] {
    return [
      {
        type: "group",
        heading: "Search",
        items: [
          {
            name: "Places at most",
            desc: "How many places a search lists.",
            control: { type: "number", key: "limit", defaultValue: DEFAULTS.limit, min: 1, max: 200, step: 1 },
          },
          {
            name: "Keep recent queries",
            desc: "Shown when the search is empty. Kept on this computer only.",
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
            desc: "Only if the daemon was started with an index folder of its own. Empty finds it by the vault.",
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
