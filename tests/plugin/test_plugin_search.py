"""Search in the Obsidian plugin: the modal, the pane, and what is done with a result."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from plugin_page import PluginPage, write_and_index

WORD = "zymurgist"
SOURDOUGH = "Kitchen/Sourdough 🍞.md"


def test_hits_are_grouped_by_note_with_marks_and_header_path(plugin: PluginPage) -> None:
    plugin.search("sync vault between devices")
    prompt = plugin.page.locator(".vault-indexer-prompt")
    groups, rows = prompt.locator(".vault-indexer-group"), prompt.locator(".vault-indexer-row.mod-complex")
    paths = [group.get_attribute("data-path") for group in groups.all()]
    assert len(paths) == len(set(paths))
    assert rows.count() > groups.count() > 1
    assert any(group.locator(".vault-indexer-row").count() > 1 for group in groups.all())
    expect(groups.first.locator(".vault-indexer-note-title")).not_to_be_empty()
    marks = {text.lower() for text in prompt.locator("mark").all_inner_texts()}
    assert {"sync", "devices"} <= marks
    assert all(text.strip() for text in prompt.locator(".vault-indexer-header-path").all_inner_texts())


def test_notes_that_are_not_likely_are_folded_into_a_row(plugin: PluginPage) -> None:
    plugin.search(WORD)
    prompt = plugin.page.locator(".vault-indexer-prompt")
    # Its title is not its file name.
    expect(prompt.locator(".vault-indexer-note-folder").first).to_have_text(SOURDOUGH)
    groups, row = prompt.locator(".vault-indexer-group"), prompt.locator(".vault-indexer-others")
    likely = groups.count()
    assert likely > 0
    others = int(re.sub(r"\D", "", row.inner_text()))
    row.click()
    expect(groups).to_have_count(likely + others)
    expect(row).to_have_count(0)


def test_an_answer_that_a_later_one_overtook_is_dropped(plugin: PluginPage) -> None:
    plugin.evaluate(
        """() => {
            const ask = window.hostRequest;
            window.asked = [];
            window.hostRequest = async (url, ...rest) => {
                const query = new URL(url).searchParams.get("q");
                if (!url.includes("/v1/search?")) return ask(url, ...rest);
                if (query !== null) window.asked.push(query);
                if (query === "publis") await new Promise((resolve) => (window.release = resolve));
                return ask(url, ...rest);
            };
        }"""
    )
    field = plugin.open_search()
    field.press_sequentially("publis")
    plugin.wait("() => window.release")
    field.press_sequentially("h")
    plugin.answered("publish")
    shown = plugin.page.locator(".vault-indexer-results").inner_html()
    plugin.evaluate("() => { window.before = window.host.requests.length; window.release(); }")
    # The late answer has arrived when a request made after it is answered.
    plugin.evaluate("() => window.hostRequest('http://127.0.0.1:9/x?q=', 'GET', {}, null)")
    assert "publis" in plugin.evaluate("() => window.asked")
    assert plugin.page.locator(".vault-indexer-results").inner_html() == shown
    plugin.answered("publish")


def hold_requests(plugin: PluginPage) -> None:
    """Keep back all requests from now on; `window.release()` lets them go."""
    plugin.evaluate(
        """() => {
            const ask = window.hostRequest;
            const released = new Promise((resolve) => (window.release = resolve));
            window.hostRequest = (...request) => released.then(() => ask(...request));
        }"""
    )


def test_enter_waits_for_the_answer_to_what_is_typed(plugin: PluginPage) -> None:
    field = plugin.open_search()
    field.fill("Qqvxzz")
    plugin.answered("Qqvxzz")
    hold_requests(plugin)
    field.fill(WORD)
    plugin.page.keyboard.press("Enter")
    expect(field).to_be_visible()
    plugin.evaluate("() => window.release()")
    plugin.wait("() => window.host.tabs().length === 1 && window.host.tabs()[0].path")
    assert plugin.tabs()[0]["path"] == SOURDOUGH
    assert not list(plugin.sandbox.vault.rglob(f"{WORD}.md"))


def publish_then_hold(plugin: PluginPage) -> Locator:
    """The field of the modal with the hits of a query; later requests are held back."""
    field = plugin.open_search()
    field.fill("publish")
    plugin.answered("publish")
    hold_requests(plugin)
    return field


def test_a_long_query_has_two_requests_under_way_at_most(plugin: PluginPage) -> None:
    field = publish_then_hold(plugin)
    field.fill("")
    before = len(plugin.requests)
    query = "how to sync a vault between two devices"
    field.press_sequentially(query)
    asked = [request["url"] for request in plugin.requests[before:]]
    assert len([url for url in asked if "/v1/search?" in url]) == 2
    plugin.evaluate("() => window.release()")
    plugin.answered(query)


def test_earlier_hits_are_marked_as_old_and_then_a_daemon_that_does_not_answer_is_said(
    plugin: PluginPage,
) -> None:
    field = publish_then_hold(plugin)
    results = plugin.page.locator(".vault-indexer-prompt .vault-indexer-results")
    state = plugin.page.locator(".vault-indexer-prompt .vault-indexer-state")
    expect(results).to_have_attribute("aria-busy", "false")
    expect(state).to_be_hidden()
    plugin.evaluate(
        """() => {
            const [list, state] = ["results", "state"].map((one) =>
                document.querySelector(`.vault-indexer-prompt .vault-indexer-${one}`));
            const note = () => (window.saidSilent ??= state.isShown());
            new MutationObserver(note).observe(list, { attributeFilter: ["aria-busy"] });
        }"""
    )
    field.fill(WORD)
    expect(results).to_have_attribute("aria-busy", "true")
    expect(results).to_have_css("opacity", "0.5")
    assert plugin.evaluate("() => window.saidSilent") is False  # long before the daemon is said to be silent
    expect(state).to_contain_text("The daemon does not answer")
    plugin.evaluate("() => window.release()")
    plugin.answered(WORD)
    expect(state).to_be_hidden()
    expect(results).to_have_attribute("aria-busy", "false")
    expect(results).to_have_css("opacity", "1")


def test_why_a_hit_is_here_and_why_a_note_is_not(plugin: PluginPage) -> None:
    rows = plugin.search("keyboard shortcuts")
    plugin.page.keyboard.press("Control+i")
    why = rows.first.locator(".vault-indexer-why")
    expect(why).to_contain_text("Words: rank")
    expect(why).to_contain_text("keyboard")
    plugin.page.keyboard.press("Control+i")
    expect(why).to_have_count(0)
    rows.nth(1).hover()
    rows.nth(1).get_by_label("Why is this here?").click()
    expect(rows.nth(1).locator(".vault-indexer-why li").first).to_be_visible()
    plugin.page.keyboard.press("Escape")

    plugin.search("path:Kitchen zymurgist")
    plugin.page.keyboard.press("Control+j")
    plugin.page.keyboard.type("Places/Ferry")
    plugin.page.keyboard.press("Enter")
    explanation = plugin.page.locator(".vault-indexer-explanation")
    expect(explanation).to_contain_text("Why Ferry is not here")
    expect(explanation.locator("li").first).to_contain_text("path:Kitchen")


def test_a_hit_opens_at_its_place_with_the_match_highlighted(plugin: PluginPage) -> None:
    """Emoji before the match: the daemon counts code points, the editor UTF-16 units."""
    rows = plugin.search(WORD)
    lines = [int(row.get_attribute("data-line") or 0) for row in rows.all()]
    plugin.page.keyboard.press("Enter")
    expect(plugin.page.locator(".vault-indexer-prompt")).to_have_count(0)
    plugin.wait("() => window.host.tabs().some((tab) => tab.marks.length > 0)")
    (tab,) = plugin.tabs()
    assert tab["path"] == SOURDOUGH
    assert set(tab["marks"]) == {WORD}
    line = tab["text"].split("\n")[tab["cursor"]["line"]]
    assert tab["cursor"]["line"] + 1 == lines[0]
    assert tab["eState"]["line"] + 1 == lines[0]
    assert [tab["text"][start:end] for start, end in _spans_in_code_points(tab)] == tab["marks"]
    before = line.encode("utf-16-le")[: tab["cursor"]["ch"] * 2].decode("utf-16-le")
    assert line.removeprefix(before).startswith(WORD)


def _spans_in_code_points(tab: dict[str, Any]) -> list[tuple[int, int]]:
    """The highlighted spans, which are in UTF-16 units, as Python counts."""
    text = tab["text"].encode("utf-16-le")

    def points(units: int) -> int:
        return len(text[: units * 2].decode("utf-16-le"))

    return [(points(start), points(end)) for start, end in tab["eState"]["match"]["matches"]]


def test_enter_opens_here_mod_enter_in_a_tab_and_shift_enter_creates(plugin: PluginPage) -> None:
    plugin.open_note("Places/Ferry.md")
    plugin.search(WORD)
    plugin.page.keyboard.press("Control+Enter")
    plugin.wait("() => window.host.tabs().length === 2 && window.host.tabs()[1].path")
    assert [tab["path"] for tab in plugin.tabs()] == ["Places/Ferry.md", SOURDOUGH]
    plugin.search(WORD)
    plugin.page.keyboard.press("Control+Alt+Enter")
    plugin.wait("() => window.host.tabs().length === 3 && window.host.tabs()[2].path")
    assert plugin.tabs()[2]["kind"] == "split"
    plugin.search("Moonlit Harbour")
    plugin.page.keyboard.press("ArrowDown")
    plugin.page.keyboard.press("ArrowUp")
    plugin.page.keyboard.press("Enter")
    plugin.wait("() => window.host.tabs()[2].path === 'Places/Moonlit Harbour.md'")
    assert len(plugin.tabs()) == 3
    plugin.search("A note: of today?")
    plugin.page.keyboard.press("Shift+Enter")
    plugin.wait("() => window.host.tabs()[2].path.endsWith('A note of today.md')")
    created = plugin.sandbox.vault / plugin.tabs()[2]["path"]
    assert created.read_text() == ""
    created.unlink()


def test_arrows_move_the_selection_and_escape_closes(plugin: PluginPage) -> None:
    rows = plugin.search("publish")
    field = plugin.page.locator(".vault-indexer-prompt input.prompt-input")
    expect(rows.nth(0)).to_have_class(re.compile("is-selected"))
    plugin.page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_have_class(re.compile("is-selected"))
    expect(rows.nth(1)).to_have_attribute("aria-selected", "true")
    assert field.get_attribute("aria-activedescendant") == rows.nth(1).get_attribute("id")
    plugin.page.keyboard.press("ArrowUp")
    plugin.page.keyboard.press("ArrowUp")
    expect(plugin.page.locator(".vault-indexer-create")).to_have_class(re.compile("is-selected"))
    plugin.page.keyboard.press("Escape")
    expect(plugin.page.locator(".vault-indexer-prompt")).to_have_count(0)


def test_links_are_inserted_several_without_closing(plugin: PluginPage) -> None:
    path = "Places/Ferry.md"
    plugin.open_note(path)
    plugin.evaluate("() => window.host.editor.setCursor({ line: 2, ch: 0 })")
    plugin.search(WORD)
    plugin.page.keyboard.press("Alt+Shift+Enter")
    plugin.page.keyboard.press("Alt+Shift+Enter")
    expect(plugin.page.locator(".vault-indexer-prompt")).to_be_visible()
    plugin.page.keyboard.press("Alt+Enter")
    expect(plugin.page.locator(".vault-indexer-prompt")).to_have_count(0)
    line = plugin.tabs()[0]["text"].split("\n")[2]
    link = "[[Sourdough 🍞]]"
    assert line.startswith(f"{link} {link} {link}")
    for _ in range(3):
        plugin.evaluate("() => window.host.editor.undo()")
    assert link not in plugin.tabs()[0]["text"]


def test_a_result_is_dragged_into_the_editor(plugin: PluginPage) -> None:
    plugin.open_note("Places/Ferry.md")
    plugin.run("open-search-pane")
    plugin.page.keyboard.type(WORD)
    row = plugin.page.locator(".mod-left-split .vault-indexer-row.mod-complex").first
    expect(row).to_be_visible()
    row.drag_to(plugin.page.locator(".cm-line").nth(2))
    plugin.wait("() => window.host.tabs()[0].text.includes('[[Sourdough 🍞]]')")


@pytest.mark.parametrize("query", ["tag:#no-such-tag", "[no:such]", '"zzgk qqvx"', "-(a.md"])
def test_a_query_that_is_no_name_creates_no_note(plugin: PluginPage, query: str) -> None:
    plugin.open_search().press_sequentially(query)
    expect(plugin.page.locator(".vault-indexer-messages")).to_have_text(re.compile("No results|column"))
    expect(plugin.page.locator(".vault-indexer-create")).to_have_count(0)
    plugin.page.keyboard.press("Enter")
    plugin.page.keyboard.press("Shift+Enter")
    expect(plugin.page.locator(".notice")).to_have_text("A query with operators is no name of a note")
    assert plugin.tabs() == []


def test_a_note_is_created_only_from_its_row(plugin: PluginPage) -> None:
    plugin.open_search().press_sequentially("Zzgk (qqvx)")
    row = plugin.page.locator(".vault-indexer-create")
    expect(row).to_have_text("Create note “Zzgk (qqvx)”")
    expect(row).not_to_have_class(re.compile("is-selected"))
    plugin.page.keyboard.press("ArrowUp")
    expect(row).to_have_class(re.compile("is-selected"))
    plugin.page.keyboard.press("Enter")
    plugin.wait("() => window.host.tabs().length === 1 && window.host.tabs()[0].path === 'Zzgk (qqvx).md'")
    (plugin.sandbox.vault / "Zzgk (qqvx).md").unlink()


def test_a_note_that_cannot_be_created_is_said(plugin: PluginPage) -> None:
    plugin.open_search().press_sequentially("Zzgk qqvx")
    expect(plugin.page.locator(".vault-indexer-create")).to_be_visible()
    plugin.evaluate(
        "reason => { window.host.app.vault.create = () => Promise.reject(new Error(reason)); }",
        "EACCES: permission denied",
    )
    plugin.page.keyboard.press("Shift+Enter")
    expect(plugin.page.locator(".notice")).to_have_text(
        "Zzgk qqvx.md was not created: EACCES: permission denied"
    )
    assert plugin.tabs() == []


def test_the_selection_is_the_query(plugin: PluginPage) -> None:
    plugin.open_note(SOURDOUGH)
    at = plugin.tabs()[0]["text"].split("\n")
    line = next(number for number, text in enumerate(at) if text.startswith("A zymurgist"))
    plugin.evaluate("line => window.host.editor.setSelection({ line, ch: 2 }, { line, ch: 11 })", line)
    plugin.run("search-selection")
    plugin.answered(WORD)
    field = plugin.page.locator(".vault-indexer-prompt input.prompt-input")
    expect(field).to_have_value(WORD)


def test_a_search_is_limited_to_a_folder_a_tag_or_a_property(plugin: PluginPage) -> None:
    plugin.search("boat bread harbour")
    groups = plugin.page.locator(".vault-indexer-group")
    chips = plugin.page.locator(".vault-indexer-chip")

    def paths() -> set[str]:
        return {group.get_attribute("data-path") or "" for group in groups.all()}

    for scope, expected in (
        ("Kitchen/", "Kitchen/"),
        ("#kitchen/bread", "Kitchen/Sourdough"),
        ("status: draft", "Kitchen/Sourdough"),
        ("Editing and formatting/", "Editing and formatting/"),
    ):
        asked = len(plugin.requests)
        plugin.page.keyboard.press("Control+l")
        plugin.page.keyboard.type(scope)
        plugin.page.keyboard.press("Enter")
        expect(chips).to_have_text([scope])
        plugin.wait("asked => window.host.requests.length > asked", asked)
        plugin.wait(
            """start => {
                const groups = [...document.querySelectorAll('.vault-indexer-group')];
                return groups.length > 0 && groups.every((one) => one.dataset.path.startsWith(start));
            }""",
            expected,
        )
        assert all(path.startswith(expected) for path in paths())
        chips.get_by_label(f"Remove {scope}").click()
        expect(chips).to_have_count(0)
    plugin.page.get_by_text("Limit search…").click()
    plugin.page.keyboard.type("Places/")
    plugin.page.keyboard.press("Enter")
    expect(chips).to_have_text(["Places/"])
    plugin.page.locator(".vault-indexer-prompt input.prompt-input").fill("")
    plugin.page.keyboard.press("Backspace")
    expect(chips).to_have_count(0)


def test_recent_queries_are_offered(plugin: PluginPage) -> None:
    for query in (WORD, "publish"):
        plugin.search(query)
        plugin.page.keyboard.press("Enter")
        expect(plugin.page.locator(".vault-indexer-prompt")).to_have_count(0)
    plugin.open_search()
    recent = plugin.page.locator(".vault-indexer-recent")
    expect(recent).to_have_text(["publish", WORD])
    plugin.page.keyboard.press("ArrowDown")
    plugin.page.keyboard.press("Enter")
    plugin.answered(WORD)


def test_the_pane_stays_and_shows_what_the_modal_shows(plugin: PluginPage) -> None:
    query = "sync vault between devices"
    rows = plugin.search(query)
    modal = rows.all_inner_texts()
    plugin.page.keyboard.press("Escape")
    plugin.run("open-search-pane")
    plugin.page.keyboard.type(query)
    plugin.answered(query)
    pane = plugin.page.locator(".mod-left-split .vault-indexer-row.mod-complex")
    assert pane.all_inner_texts() == modal
    plugin.page.keyboard.press("ArrowDown")
    plugin.page.keyboard.press("Enter")
    plugin.wait("() => window.host.tabs().length === 1 && window.host.tabs()[0].path")
    pane.first.click()
    pane.nth(1).click(modifiers=["Control"])
    plugin.wait("() => window.host.tabs().length === 2")
    assert pane.all_inner_texts() == modal
    plugin.run("open-search-pane")
    assert plugin.page.locator(".mod-left-split .workspace-leaf").count() == 1
    expect(plugin.page.locator(".mod-left-split input.prompt-input")).to_have_value(query)


def test_hover_previews_and_the_middle_button_opens_a_tab(plugin: PluginPage) -> None:
    plugin.open_note("Places/Ferry.md")
    rows = plugin.search(WORD)
    rows.first.hover()
    plugin.wait("() => window.host.app.workspace.hovers.length > 0")
    hover = plugin.evaluate(
        """() => {
            const { source, linktext, state, targetEl } = window.host.app.workspace.hovers.at(-1);
            const known = window.host.app.hoverSources.has(source);
            return { known, linktext, scroll: state.scroll, line: Number(targetEl.dataset.line) };
        }"""
    )
    assert hover["known"]
    assert hover["linktext"] == SOURDOUGH
    assert hover["scroll"] == hover["line"] - 1
    rows.first.click(button="middle")
    plugin.wait("() => window.host.tabs().length === 2 && window.host.tabs()[1].path")
    assert plugin.tabs()[1]["path"] == SOURDOUGH


def test_hits_run_in_the_direction_of_their_script_and_are_in_their_language(plugin: PluginPage) -> None:
    note = write_and_index(
        plugin, "Drafts/القطط.md", "# القطط\n\n## في البيت\n\nهذه فقرة باللغة العربية عن القطط.\n"
    )
    plugin.search("القطط في البيت")
    group = plugin.page.locator(f'.vault-indexer-group[data-path="{note}"]')
    for part in ("note-title", "header-path", "snippet"):
        shown = group.locator(f".vault-indexer-{part}").last
        expect(shown).to_have_css("direction", "rtl")
        expect(shown).to_have_attribute("lang", "ar")
    (plugin.sandbox.vault / note).unlink()


@pytest.mark.parametrize(
    ("path", "page"),
    [("Papers/Gulls.pdf", "#page=3"), ("Papers/Gulls #2.pdf", "")],
    ids=["page", "sign in name"],
)
def test_a_document_opens_and_is_embedded_at_its_page(plugin: PluginPage, path: str, page: str) -> None:
    plugin.open_note("Places/Ferry.md")
    plugin.open_search().fill("vexillum")
    plugin.answered("vexillum")
    group = plugin.page.locator(f'.vault-indexer-group[data-path="{path}"]')
    expect(group).to_contain_text("page 3")
    group.locator(".vault-indexer-row").hover()
    plugin.wait("() => window.host.app.workspace.hovers.at(-1)?.linktext.endsWith('#page=3')")
    plugin.page.keyboard.press("Alt+Shift+Enter")
    plugin.wait("() => /!\\[\\[Gulls.*.pdf#page=3\\]\\]/.test(window.host.tabs()[0].text)")
    plugin.evaluate("() => window.host.editor.undo()")
    group.locator(".vault-indexer-row").click(modifiers=["Control"])
    plugin.wait("() => window.host.tabs().length === 2 && window.host.tabs()[1].path")
    opened = plugin.tabs()[1]
    assert opened["path"] == path
    assert (opened["eState"] or {}).get("subpath", "") == page


def test_operators_are_completed_with_a_line_of_help(plugin: PluginPage) -> None:
    field = plugin.open_search()
    field.press_sequentially("bread ta")
    rows = plugin.page.locator(".vault-indexer-completion")
    expect(rows.first).to_contain_text("tag:")
    expect(rows.first.locator(".vault-indexer-reason")).not_to_be_empty()
    plugin.page.keyboard.press("Tab")
    expect(field).to_have_value("bread tag:")
    plugin.page.keyboard.type("kitchen/b")
    expect(rows.first).to_contain_text("1 note")
    rows.first.click()
    expect(field).to_have_value(re.compile("^bread tag:#?kitchen/bread$"))
    expect(rows).to_have_count(0)
    expect(field).to_be_focused()
    field.press_sequentially(" zzqq")
    expect(rows).to_have_count(0)


def test_the_places_of_a_query_are_walked_in_the_open_note(plugin: PluginPage) -> None:
    path = write_and_index(
        plugin,
        "Drafts/Otters.md",
        "# Otters 🦦\n\nA quagga here.\n\n## Second\n\nNothing.\n\n## Third\n\nOne quagga, then a quagga.\n",
    )
    plugin.open_note(path)
    plugin.run("next-match")
    expect(plugin.page.locator(".status-bar-item")).to_be_empty()
    plugin.search("quagga")
    plugin.page.keyboard.press("Enter")
    plugin.wait("() => window.host.tabs()[0].marks.length > 0")
    status = plugin.page.locator(".status-bar-item")
    text = plugin.tabs()[0]["text"].split("\n")
    seen = []
    for command in ["next-match"] * 3 + ["previous-match"]:
        before = status.inner_text()
        plugin.run(command)
        expect(status).not_to_have_text(before)
        (tab,) = plugin.tabs()
        line = text[tab["cursor"]["line"]].encode("utf-16-le")[tab["cursor"]["ch"] * 2 :].decode("utf-16-le")
        assert line.startswith("quagga")
        seen.append(status.inner_text().split(" ·")[0])
    assert seen == ["2 of 3", "3 of 3", "1 of 3", "3 of 3"]
    (plugin.sandbox.vault / path).unlink()
