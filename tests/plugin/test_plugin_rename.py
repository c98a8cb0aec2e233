"""The pane of related notes while a note that mentions the active one is renamed."""

from playwright.sync_api import Locator, expect
from plugin_page import PluginPage
from waiting import wait_until

HARBOUR = "Places/Moonlit Harbour.md"
FORMER, RENAMED = "Kitchen/Ledger.md", "Kitchen/Register.md"


def mention_in(plugin: PluginPage, path: str) -> Locator:
    """The mention of the active note in the note at `path`."""
    section = plugin.page.get_by_role("region", name="Unlinked mentions")
    return section.locator(f'.vault-indexer-item[data-path="{path}"]')


def test_a_mention_whose_note_was_renamed_says_so_and_follows_the_name(plugin: PluginPage) -> None:
    plugin.open_note(HARBOUR)
    plugin.run("open-related-pane")
    stale = mention_in(plugin, FORMER).first
    expect(stale).to_be_visible()
    # In Obsidian the note has its new name; the index has not heard of it yet.
    plugin.evaluate(
        "([old, path]) => window.host.app.vault.rename(window.host.app.vault.getFileByPath(old), path)",
        [FORMER, RENAMED],
    )
    stale.locator(".vault-indexer-snippet").click(button="middle")
    expect(plugin.page.locator(".notice")).to_contain_text(f"{FORMER} is no longer in the vault")
    vault = plugin.sandbox.vault
    (vault / FORMER).rename(vault / RENAMED)
    follows = mention_in(plugin, RENAMED).first
    expect(follows).to_be_visible()
    expect(mention_in(plugin, FORMER)).to_have_count(0)
    follows.locator(".vault-indexer-snippet").click(button="middle")
    plugin.wait("path => window.host.tabs().some((tab) => tab.path === path && tab.marks.length)", RENAMED)
    (vault / RENAMED).rename(vault / FORMER)
    indexer = plugin.sandbox.indexer
    wait_until(lambda: FORMER in indexer("search", "a plain page", "-l").out, "the former name")
