"""What the Obsidian plugin registers, what it costs to load, and what it leaves behind."""

import json
import re
from pathlib import Path

from cli_sandbox import Sandbox
from playwright.sync_api import BrowserContext, expect
from plugin_page import PLUGIN, ROOT, Bundle, PluginPage, load, open_page

LOAD_MS = 20.0

COUNTING = """() => {
    const count = { timers: new Set(), listeners: 0 };
    for (const [set, clear] of [["setTimeout", "clearTimeout"], ["setInterval", "clearInterval"]]) {
        const [start, stop] = [window[set].bind(window), window[clear].bind(window)];
        window[set] = (action, ...rest) => {
            const id = start(() => { if (set === "setTimeout") count.timers.delete(id); action(); }, ...rest);
            count.timers.add(id);
            return id;
        };
        window[clear] = (id) => { count.timers.delete(id); stop(id); };
    }
    for (const target of [window, document, document.body]) {
        const [add, remove] = [target.addEventListener.bind(target), target.removeEventListener.bind(target)];
        const own = () => new Error().stack.includes("plugin-main.js") ? 1 : 0;
        target.addEventListener = (...rest) => { count.listeners += own(); add(...rest); };
        target.removeEventListener = (...rest) => { count.listeners -= own(); remove(...rest); };
    }
    window.count = count;
}"""

LEFT = """() => {
    const { app } = window.host;
    const subscribed = (events) => Object.values(events._).flat().length;
    return {
        body: document.body.outerHTML,
        timers: window.count.timers.size,
        listeners: window.count.listeners,
        workspace: subscribed(app.workspace),
        vault: subscribed(app.vault),
        commands: [...app.commands.keys()],
        views: [...app.viewCreators.keys()],
        hover: [...app.hoverSources.keys()],
        tabs: app.settingTabs.length,
        keys: app.keymap.stack.length,
    };
}"""


def test_loading_is_quick_and_asks_nothing(context: BrowserContext, bundle: Bundle, small: Sandbox) -> None:
    """The best of ten, as the machine may be busy."""
    plugin = open_page(context, bundle, small, enable=False)
    took = []
    for _ in range(10):
        took.append(load(plugin, bundle))
        plugin.evaluate("() => window.host.plugin.unload()")
    assert min(took) < LOAD_MS
    assert plugin.requests == []
    assert plugin.evaluate("() => window.host.reads") == []
    assert plugin.started == []
    assert plugin.strays == []


def test_unloading_leaves_nothing_behind(context: BrowserContext, bundle: Bundle, helped: Sandbox) -> None:
    plugin = open_page(context, bundle, helped, enable=False)
    plugin.evaluate(COUNTING)
    before = plugin.evaluate(LEFT)
    load(plugin, bundle)
    plugin.run("open-search-pane")
    plugin.run("open-related-pane")
    plugin.run("ask")
    plugin.search("publish")
    plugin.page.keyboard.type("ing")
    plugin.evaluate("() => window.host.plugin.unload()")
    plugin.wait("() => window.count.timers.size === 0")
    assert plugin.evaluate(LEFT) == before


def test_commands_have_no_default_hotkeys_and_texts_are_in_sentence_case(plugin: PluginPage) -> None:
    commands = plugin.evaluate(
        "() => [...window.host.app.commands.values()].map(({ id, name, hotkeys }) => ({ id, name, hotkeys }))"
    )
    assert {command["id"] for command in commands} == {
        *("search", "search-selection", "open-search-pane", "open-related-pane", "ask"),
        *("next-match", "previous-match"),
    }
    assert all(command.get("hotkeys") is None for command in commands)
    for command in commands:
        assert re.fullmatch(r"[A-Z][a-z ]+", command["name"]), command


def test_settings_are_kept_those_of_this_computer_outside_the_vault(plugin: PluginPage) -> None:
    plugin.evaluate(
        """() => {
            const [tab] = window.host.app.settingTabs;
            tab.update();
            document.body.append(tab.containerEl);
        }"""
    )
    page = plugin.page
    expect(page.get_by_label("Maximum places")).to_have_value("30")
    page.get_by_label("Maximum places").fill("5")
    page.get_by_label("Hide notes in the same folder").check()
    page.get_by_label("Let the plugin start the daemon").check()
    page.get_by_label("Index folder").fill("/somewhere")
    page.get_by_label("Index folder").blur()
    plugin.wait("() => JSON.parse(localStorage.getItem('vault-indexer'))?.indexFolder === '/somewhere'")
    synced = json.loads(plugin.evaluate("() => localStorage.getItem('data.json')"))
    kept = {"limit": 5, "keepRecent": True, "hideLinked": False, "hideSameFolder": True}
    assert synced == {**kept, "pinned": {}, "hidden": {}}
    own = json.loads(plugin.evaluate("() => localStorage.getItem('vault-indexer')"))
    assert own["mayStart"] is True

    page.get_by_label("Index folder").fill("")
    page.get_by_label("Index folder").blur()
    plugin.evaluate("() => window.host.app.settingTabs[0].display()")
    expect(page.locator(".vertical-tab-content")).to_contain_text("Let the plugin start the daemon")
    values = plugin.evaluate(
        "() => [...document.querySelectorAll('.vertical-tab-content input')].map((one) => one.value)"
    )
    assert values == ["5", ""]
    page.evaluate("() => document.querySelector('.vertical-tab-content').remove()")
    assert plugin.search("obsidian").count() == 5


def test_no_text_of_a_note_becomes_markup(plugin: PluginPage) -> None:
    note = "Drafts/Hostile.md"
    text = "# <img src=x onerror=window.broken=1>\n\nA narwhal <script>window.broken=1</script><b>x</b>\n"
    plugin.evaluate("([path, text]) => window.host.app.vault.create(path, text)", [note, text])
    plugin.sandbox.run("search", "--fresh", "--vault", str(plugin.sandbox.vault), "narwhal")
    plugin.search("narwhal")
    results = plugin.page.locator(".vault-indexer-results")
    expect(results).to_contain_text("narwhal")
    assert results.locator("img, script, b").count() == 0
    assert plugin.evaluate("() => window.broken") is None
    (plugin.sandbox.vault / note).unlink()


def test_the_manifest_is_what_the_community_directory_wants() -> None:
    manifest = json.loads((ROOT / "manifest.json").read_text("utf-8"))
    versions = json.loads((ROOT / "versions.json").read_text("utf-8"))
    package = json.loads((PLUGIN / "package.json").read_text("utf-8"))
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", manifest["id"])
    assert "obsidian" not in manifest["id"]
    assert not manifest["id"].endswith("plugin")
    assert manifest["isDesktopOnly"] is True
    assert len(manifest["description"]) <= 250
    assert manifest["description"].endswith(".")
    assert versions[manifest["version"]] == manifest["minAppVersion"]
    assert package["version"] == manifest["version"]
    assert '"resolved"' not in (PLUGIN / "package-lock.json").read_text("utf-8")


def test_the_bundle_in_the_repository_is_built_from_its_sources(bundle: Bundle) -> None:
    """`npm run build` in the plugin's folder writes it."""
    assert (PLUGIN / "generated" / "main.js").read_text("utf-8") == bundle.plugin


def test_the_sources_write_no_markup_and_know_no_other_address() -> None:
    for source in sorted(Path(PLUGIN / "src").glob("*.ts")):
        text = source.read_text("utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|eval\(|fetch\(|XMLHttpRequest|WebSocket", text
        ), source
        assert not [url for url in re.findall(r"https?:[^\s\"'`$]*", text) if "127" not in url], source
