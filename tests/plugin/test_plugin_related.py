"""The pane of related notes in the Obsidian plugin, and linking what only names a note."""

import json
import re

from playwright.sync_api import Locator, expect
from plugin_page import PluginPage, write_and_index
from waiting import wait_until

HARBOUR = "Places/Moonlit Harbour.md"
LEDGER = "Kitchen/Ledger.md"
FERRY = "Places/Ferry.md"
LINKED = re.compile("linked from here|linked both ways|links here")
SYNC = "Obsidian Sync/Introduction to Obsidian Sync.md"


def related(plugin: PluginPage) -> Locator:
    return plugin.page.get_by_role("region", name="Related").locator(".vault-indexer-item")


def mentions(plugin: PluginPage, path: str) -> Locator:
    """The mentions of the active note in the note at `path`."""
    section = plugin.page.get_by_role("region", name="Unlinked mentions")
    return section.locator(f'.vault-indexer-item[data-path="{path}"]')


def link_mention(mention: Locator) -> None:
    mention.get_by_role("button", name=re.compile("Link this mention")).click()


def create(plugin: PluginPage, path: str, text: str) -> None:
    plugin.evaluate("([path, text]) => window.host.app.vault.create(path, text)", [path, text])


def modify(plugin: PluginPage, path: str, text: str) -> None:
    plugin.evaluate(
        "([path, text]) => window.host.app.vault.modify(window.host.app.vault.getFileByPath(path), text)",
        [path, text],
    )


def paths(items: Locator) -> list[str]:
    return [item.get_attribute("data-path") or "" for item in items.all()]


def show(plugin: PluginPage, note: str) -> None:
    plugin.open_note(note)
    plugin.run("open-related-pane")
    expect(related(plugin).first).to_be_visible()


def test_related_notes_say_why_and_follow_the_active_note(plugin: PluginPage) -> None:
    show(plugin, SYNC)
    texts = " ".join(related(plugin).all_inner_texts())
    assert "close in meaning" in texts
    assert not re.search(r"\d%", texts)
    assert "linked both ways" in texts
    assert "links in common" in texts
    near = related(plugin).first
    near.hover()
    near.get_by_label(re.compile("^Why is")).click()
    expect(near.locator(".vault-indexer-why")).to_contain_text(re.compile(r"similarity \d+%"))
    first = paths(related(plugin))
    plugin.open_note("Places/Ferry.md")
    expect(plugin.page.locator(f'.vault-indexer-item[data-path="{HARBOUR}"]').first).to_contain_text(
        "links here"
    )
    assert paths(related(plugin)) != first
    item = plugin.page.locator(f'.vault-indexer-item[data-path="{HARBOUR}"]').first
    item.hover()
    plugin.wait("path => window.host.app.workspace.hovers.at(-1)?.linktext === path", HARBOUR)
    item.focus()
    plugin.page.keyboard.press("Control+Enter")
    plugin.wait("() => window.host.tabs().length === 2")


def test_the_pane_shows_nothing_of_another_note(plugin: PluginPage) -> None:
    """Neither beside a file that is no note, nor when the answer for the next note does not come."""
    show(plugin, SYNC)
    plugin.evaluate("() => window.host.app.vault.create('Board.canvas', '{}')")
    plugin.open_note("Board.canvas")
    pane = plugin.page.locator(".vault-indexer-related-body")
    expect(pane).to_have_text("No note is active.")
    plugin.open_note(SYNC)
    expect(related(plugin).first).to_be_visible()
    plugin.evaluate("() => { window.hostRequest = () => Promise.reject(new Error('down')); }")
    plugin.open_note(FERRY)
    expect(plugin.page.locator(".vault-indexer-state")).to_be_visible()
    expect(pane).to_have_text("")


def test_linked_notes_and_the_same_folder_can_be_hidden(plugin: PluginPage) -> None:
    show(plugin, SYNC)
    plugin.page.get_by_role("button", name=re.compile("^Show more")).click()
    linked = related(plugin).filter(has_text=LINKED).count()
    same = [path for path in paths(related(plugin)) if path.startswith("Obsidian Sync/")]
    assert linked
    assert same
    button = plugin.page.get_by_label("Hide notes that are already linked")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(related(plugin).filter(has_text=LINKED)).to_have_count(0)
    plugin.page.get_by_label("Hide notes in the same folder").press("Enter")
    expect(plugin.page.get_by_label("Hide notes in the same folder")).to_have_attribute(
        "aria-pressed", "true"
    )
    shown = paths(related(plugin))
    assert shown
    assert not set(shown) & set(same)
    button.click()
    plugin.page.get_by_label("Hide notes in the same folder").click()
    expect(related(plugin).filter(has_text=LINKED)).to_have_count(linked)


def test_related_notes_are_pinned_hidden_and_expanded(plugin: PluginPage) -> None:
    show(plugin, SYNC)
    first, second = paths(related(plugin))[:2]
    count = related(plugin).count()
    more = plugin.page.get_by_role("button", name=re.compile("^Show more"))
    more.click()
    expect(related(plugin)).to_have_count(count + 10)
    related(plugin).nth(1).get_by_label(re.compile("^Pin")).click()
    expect(related(plugin).first).to_have_attribute("data-path", second)
    related(plugin).nth(1).get_by_label(re.compile("^Hide")).click()
    expect(related(plugin).and_(plugin.page.locator(f'[data-path="{first}"]'))).to_have_count(0)
    stored = json.loads(plugin.evaluate("() => localStorage.getItem('data.json')"))
    assert (stored["pinned"], stored["hidden"]) == ({SYNC: [second]}, {SYNC: [first]})

    rename = "([from, to]) => window.host.app.vault.trigger('rename', { path: to }, from)"
    plugin.evaluate(rename, [second, "New.md"])
    plugin.wait("path => JSON.parse(localStorage.getItem('data.json')).pinned[path][0] === 'New.md'", SYNC)
    plugin.page.get_by_role("button", name="Show hidden notes again (1)").click()
    expect(related(plugin).nth(1)).to_have_attribute("data-path", first)
    related(plugin).first.get_by_label(re.compile("^Unpin")).click()
    expect(related(plugin).first).to_have_attribute("data-path", first)


def test_related_notes_are_live_while_a_note_is_edited(plugin: PluginPage) -> None:
    note = "Drafts/Live.md"
    create(plugin, note, "# Live\n\nNothing yet.\n")
    show(plugin, "Places/Ferry.md")
    plugin.open_note(note)
    harbour = related(plugin).and_(plugin.page.locator(f'[data-path="{HARBOUR}"]'))
    expect(plugin.page.locator(".vault-indexer-related")).to_be_visible()
    plugin.page.locator(".cm-content").click()
    plugin.page.keyboard.press("Control+End")
    plugin.page.keyboard.type("It belongs to [[Moonlit Harbour]].")
    expect(harbour).to_contain_text("linked from here")
    (plugin.sandbox.vault / note).unlink()


def test_a_mention_in_a_closed_note_is_linked_and_the_link_undone(plugin: PluginPage) -> None:
    file = plugin.sandbox.vault / LEDGER
    before = file.read_text("utf-8")
    show(plugin, HARBOUR)
    in_ledger = mentions(plugin, LEDGER)
    expect(in_ledger).to_have_count(2)
    expect(in_ledger.first.locator("mark")).to_have_text("Moonlit Harbour")
    link_mention(in_ledger.nth(1))
    expect(plugin.page.locator(".notice")).to_contain_text("Linked in Ledger")
    linked = before.replace("and Moonlit Harbour", "and [[Moonlit Harbour]]")
    assert linked != before
    assert file.read_text("utf-8") == linked
    expect(in_ledger).to_have_count(1)
    plugin.page.locator(".notice").get_by_text("Undo").click()
    expect(plugin.page.locator(".notice")).to_have_count(0)
    expect(in_ledger).to_have_count(2)
    assert file.read_text("utf-8") == before


def test_a_mention_in_an_open_note_is_one_step_of_its_undo(plugin: PluginPage) -> None:
    """Emoji stand before the mention; the edit leaves every other character as it was."""
    path = "Kitchen/Sourdough 🍞.md"
    plugin.open_note(path)
    before = plugin.tabs()[0]["text"]
    plugin.evaluate(
        "path => window.host.app.workspace.getLeaf('tab').openFile("
        "window.host.app.vault.getFileByPath(path), { active: true })",
        HARBOUR,
    )
    plugin.run("open-related-pane")
    mention = mentions(plugin, path)
    link_mention(mention)
    linked = before.replace("And Moonlit Harbour is", "And [[Moonlit Harbour]] is")
    plugin.wait("text => window.host.tabs()[0].text === text", linked)
    plugin.evaluate("() => window.host.app.workspace.leaves[0].view.editor.undo()")
    assert plugin.tabs()[0]["text"] == before


def test_a_note_that_changed_meanwhile_is_left_alone(plugin: PluginPage) -> None:
    file = plugin.sandbox.vault / LEDGER
    before = file.read_text("utf-8")
    show(plugin, HARBOUR)
    in_ledger = mentions(plugin, LEDGER)
    expect(in_ledger).to_have_count(2)
    changed = before.replace("A plain page", "One quite plain page")
    modify(plugin, LEDGER, changed)
    # The index may have taken the change in: then the place is right again.
    in_ledger.first.get_by_role("button").click()
    expect(plugin.page.locator(".notice").first).to_be_visible()
    after = file.read_text("utf-8")
    assert after in (changed, changed.replace("Moonlit Harbour", "[[Moonlit Harbour]]", 1))
    modify(plugin, LEDGER, before)
    assert file.read_text("utf-8") == before


def test_a_mention_opens_at_its_place(plugin: PluginPage) -> None:
    show(plugin, HARBOUR)
    in_ledger = mentions(plugin, LEDGER)
    in_ledger.nth(1).locator(".vault-indexer-snippet").click(button="middle")
    plugin.wait("() => window.host.tabs().length === 2 && window.host.tabs()[1].marks.length > 0")
    opened = plugin.tabs()[1]
    assert opened["path"] == LEDGER
    assert opened["marks"] == ["Moonlit Harbour"]
    line = opened["text"].split("\n")[opened["cursor"]["line"]]
    assert line[: opened["cursor"]["ch"]].endswith("and ")


def test_titles_and_mentions_run_in_the_direction_of_their_script(plugin: PluginPage) -> None:
    note = write_and_index(plugin, "Drafts/الميناء.md", "# الميناء\n\nهذا هو Moonlit Harbour في الليل.\n")
    show(plugin, HARBOUR)
    mention = mentions(plugin, note)
    expect(mention.locator(".vault-indexer-note-title")).to_have_css("direction", "rtl")
    expect(mention.locator(".vault-indexer-snippet")).to_have_css("direction", "rtl")
    plugin.open_note(note)
    plugin.run("open-related-pane")
    expect(related(plugin).locator(".vault-indexer-note-title").first).to_have_attribute("dir", "auto")
    (plugin.sandbox.vault / note).unlink()


def test_a_mention_in_a_table_is_linked_without_ending_its_cell(plugin: PluginPage) -> None:
    table = "# Trips\n\n| where | when |\n| --- | --- |\n| the moonlit harbour | by night |\n"
    note = write_and_index(plugin, "Drafts/Trips.md", table)
    show(plugin, HARBOUR)
    mention = mentions(plugin, note)
    expect(mention.locator(".vault-indexer-snippet")).to_have_text("the moonlit harbour · by night")
    expect(mention.locator("mark")).to_have_text("moonlit harbour")
    link_mention(mention)
    expect(plugin.page.locator(".notice")).to_contain_text("Linked in Trips")
    file = plugin.sandbox.vault / note
    linked = table.replace("moonlit harbour", r"[[Moonlit Harbour\|moonlit harbour]]")
    assert file.read_text("utf-8") == linked
    file.unlink()


def test_rows_belong_to_the_note_of_their_answer(plugin: PluginPage) -> None:
    """The daemon's answers about the notes that are opened next are held back."""
    plugin.evaluate(
        """() => {
            const ask = window.hostRequest;
            [window.held, window.isHolding, window.answered] = [{}, false, []];
            window.hostRequest = async (url, ...rest) => {
                const path = url.includes("/v1/related?") && new URL(url).searchParams.get("path");
                if (path && window.isHolding) await new Promise(resolve => { window.held[path] = resolve; });
                const answer = await ask(url, ...rest);
                window.answered.push(path);
                return answer;
            };
        }"""
    )
    show(plugin, HARBOUR)
    plugin.evaluate("() => { window.isHolding = true; }")
    plugin.open_note(FERRY)
    plugin.wait("path => path in window.held", FERRY)
    first = paths(related(plugin))[0]
    related(plugin).first.get_by_label(re.compile("^Pin")).click()
    plugin.wait("() => Object.keys(JSON.parse(localStorage.getItem('data.json')).pinned).length")
    stored = json.loads(plugin.evaluate("() => localStorage.getItem('data.json')"))
    assert stored["pinned"] == {HARBOUR: [first]}

    shown = paths(related(plugin))
    plugin.open_note(SYNC)
    plugin.wait("path => path in window.held", SYNC)
    plugin.evaluate("path => window.held[path]()", FERRY)
    plugin.wait("path => window.answered.includes(path)", FERRY)
    plugin.evaluate("() => new Promise(resolve => setTimeout(resolve))")
    assert paths(related(plugin)) == shown, "an answer about the note before is not shown"
    plugin.evaluate("path => { window.isHolding = false; window.held[path](); }", SYNC)
    expect(plugin.page.locator('.vault-indexer-item[data-path^="Obsidian Sync/"]').first).to_be_visible()


def test_an_older_daemon_says_neither_what_is_close_nor_how_a_mention_reads(plugin: PluginPage) -> None:
    plugin.evaluate(
        """() => {
            const ask = window.hostRequest;
            window.hostRequest = async (url, ...rest) => {
                if (url.includes("rendered=")) return { status: 422, text: "{}", headers: {} };
                const answer = await ask(url, ...rest);
                if (!url.includes("/v1/related?")) return answer;
                return { ...answer, text: answer.text.replace(/"(near|closeness)": ?/g, '"$1_of_later": ') };
            };
        }"""
    )
    show(plugin, HARBOUR)
    expect(plugin.page.get_by_role("region", name="Related")).not_to_contain_text("None is close")
    expect(mentions(plugin, LEDGER).first.locator("mark")).to_have_text("Moonlit Harbour")


RENAMED = "Kitchen/Register.md"


def test_a_mention_whose_note_was_renamed_says_so_and_follows_the_name(plugin: PluginPage) -> None:
    show(plugin, HARBOUR)
    stale = mentions(plugin, LEDGER).first
    expect(stale).to_be_visible()
    # In Obsidian the note has its new name; the index has not heard of it yet.
    plugin.evaluate(
        "([old, path]) => window.host.app.vault.rename(window.host.app.vault.getFileByPath(old), path)",
        [LEDGER, RENAMED],
    )
    stale.locator(".vault-indexer-snippet").click(button="middle")
    expect(plugin.page.locator(".notice")).to_contain_text(f"{LEDGER} is no longer in the vault")
    vault = plugin.sandbox.vault
    (vault / LEDGER).rename(vault / RENAMED)
    follows = mentions(plugin, RENAMED).first
    expect(follows).to_be_visible()
    expect(mentions(plugin, LEDGER)).to_have_count(0)
    follows.locator(".vault-indexer-snippet").click(button="middle")
    plugin.wait("path => window.host.tabs().some((tab) => tab.path === path && tab.marks.length)", RENAMED)
    (vault / RENAMED).rename(vault / LEDGER)
    indexer = plugin.sandbox.indexer
    wait_until(lambda: LEDGER in indexer("search", "a plain page", "-l").out, "the former name")
