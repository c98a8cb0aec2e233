"""The pictures of docs/obsidian-plugin.md, taken where PLUGIN_PICTURES names a folder."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect
from plugin_page import PluginPage

FOLDER = os.environ.get("PLUGIN_PICTURES", "")
MAX_BYTES = 150_000

pytestmark = pytest.mark.skipif(not FOLDER, reason="PLUGIN_PICTURES names no folder")


def take(plugin: PluginPage, name: str) -> None:
    file = Path(FOLDER) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    plugin.page.screenshot(path=file, animations="disabled")
    assert file.stat().st_size < MAX_BYTES


def test_picture_of_the_search(plugin: PluginPage) -> None:
    plugin.page.set_viewport_size({"width": 1000, "height": 640})
    plugin.open_note("Home.md")
    plugin.search("sync notes between devices")
    plugin.page.keyboard.press("ArrowDown")
    plugin.page.keyboard.press("Control+i")
    expect(plugin.page.locator(".vault-indexer-why")).to_be_visible()
    take(plugin, "obsidian-search.png")


def test_picture_of_the_panes(plugin: PluginPage) -> None:
    plugin.page.set_viewport_size({"width": 1080, "height": 520})
    plugin.open_note("Obsidian Sync/Version history.md")
    plugin.run("open-related-pane")
    expect(plugin.page.locator(".vault-indexer-related .vault-indexer-item").first).to_be_visible()
    plugin.run("open-search-pane")
    plugin.page.keyboard.type("restore a deleted note")
    plugin.answered("restore a deleted note")
    plugin.page.keyboard.press("Enter")
    plugin.wait("() => window.host.tabs()[0].marks.length > 0")
    take(plugin, "obsidian-panes.png")
