"""Searching in the page: as you type, by keyboard, with filters that the address holds."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from page_site import ServeVault, Site, Visit, hold, tell_changes
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_the_token_leaves_the_address_and_is_kept_for_the_tab_alone(site: Site, visit: Visit) -> None:
    page = visit.page
    assert site.token not in page.url
    assert page.evaluate("history.length") <= 2
    kept = page.evaluate("[{...sessionStorage}, {...localStorage}, document.cookie]")
    assert list(kept[0].values()) == [site.token]
    assert kept[1:] == [{}, ""]
    asked = [one for one in visit.requests if "/v1/" in one.url and "/v1/proof" not in one.url]
    assert asked
    assert all(site.token not in one.url for one in visit.requests)
    assert all(one.all_headers()["authorization"] == f"Bearer {site.token}" for one in asked)


def test_hits_come_as_you_type_with_marks(visit: Visit) -> None:
    visit.page.keyboard.type("telesc")
    expect(visit.page.locator(".hit-title").first).to_have_text("Telescope")
    visit.type("rings of saturn")
    expect(visit.page.locator(".hit-title").first).to_have_text("Night sky")
    marks = visit.page.locator(".hit").first.locator("mark")
    expect(marks.filter(has_text="rings")).to_have_count(1)
    expect(marks.filter(has_text="Saturn")).to_have_count(1)
    visit.type("moons jupiter")  # behind a character beyond the basic plane
    for word in ("moons", "Jupiter"):
        expect(marks.filter(has_text=re.compile(f"^{word}$"))).to_have_count(1)


def test_hits_that_are_not_likely_are_folded(visit: Visit) -> None:
    page = visit.page
    with page.expect_response(lambda one: "/v1/search" in one.url and "q=telescope&" in one.url) as told:
        visit.type("telescope")
    answer = told.value.json()
    likely, others = answer["likely"], len(answer["results"]) - answer["likely"]
    assert likely > 0
    assert others > 0
    expect(page.locator(".hits > .hit")).to_have_count(likely)
    fold = page.locator("details.less-likely")
    expect(fold.locator("summary")).to_have_text(f"Less likely ({others})")
    expect(fold.locator(".hit-title").first).to_be_hidden()
    for _ in range(likely + 1):
        page.keyboard.press("ArrowDown")
    expect(fold.locator(".hit-title").first).to_be_focused()
    visit.type("zzgk qqvx")
    expect(page.locator(".summary")).to_contain_text("No likely match")
    expect(fold).to_be_hidden()
    expect(page.locator(".hits > .hit").first).to_be_visible()


def test_reasons_are_those_of_the_hits_that_are_shown(visit: Visit) -> None:
    page = visit.page
    page.fill("#q", "telescope")  # one request, so that no other follows the emptied field
    expect(page.locator(".hit-title").first).to_have_text("Telescope")
    page.evaluate("document.querySelector('#q').value = ''")  # emptied, and not yet answered
    page.get_by_role("button", name="Why").first.click()
    expect(page.locator(".why").first).to_contain_text("rank 1")


def test_an_answer_of_an_earlier_query_never_replaces_a_later_one(visit: Visit) -> None:
    """The first request is held back until the second has been answered."""
    page = visit.page
    held = hold(page, r"search\?q=kale&")
    with page.expect_request(re.compile(r"/v1/search\?q=kale&")):
        page.fill("#q", "kale")
    page.fill("#q", "telescope")
    expect(page.locator(".hit-title").first).to_have_text("Telescope")
    with page.expect_response(re.compile(r"/v1/search\?q=kale")):
        held[0].continue_()
    assert page.locator(".hit-title").first.text_content() == "Telescope"


def test_a_hit_costs_less_than_a_kilobyte(visit: Visit) -> None:
    with visit.page.expect_response(
        lambda one: "/v1/search" in one.url and "q=flour+water&" in one.url
    ) as told:
        visit.type("flour water")
    answer = told.value.json()
    assert len(answer["results"]) >= 3
    assert len(told.value.body()) < 1024 * (len(answer["results"]) + 1)
    assert not {"content", "frontmatter"} & set(answer["results"][0])


def test_the_keyboard_is_enough(visit: Visit) -> None:
    page = visit.page
    page.keyboard.type("sourdough")
    first = page.locator(".hit-title").first
    expect(first).to_have_attribute("href", re.compile(r"q=sourdough\b"))  # not one of "sourd"
    page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    assert (first.get_attribute("href") or "").startswith("#/note?path=Kitchen%2FSourdough.md")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".hit-title").nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("w")
    expect(page.locator(".why").first).to_contain_text("cosine")
    expect(page.locator(".why").first).to_contain_text("rank 1")
    page.evaluate(
        "() => document.addEventListener('click', event => { window.opened = event.target.href;"
        " event.preventDefault(); }, {capture: true, once: true})"
    )
    page.keyboard.press("o")
    assert re.fullmatch(r"obsidian://open\?path=%2F.*Sourdough.md", page.evaluate("window.opened"))
    first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1.note-title")).to_have_text("Sourdough")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.go_back()
    expect(page.locator("h1.note-title")).to_have_text("Sourdough")


@pytest.mark.parametrize(
    ("typed", "completed", "hits"),
    [
        ("bread tag:kit", "tag:#kitchen/bread", {"Sourdough", "Rye bread"}),
        ("flour path:Ki", 'path:"Kitchen/"', {"Sourdough", "Rye bread", "Starter", "Pancakes"}),
        ("[rat", "[rating]", {"Sourdough"}),
        ("[status:dr", '[status:"draft"]', {"Rye bread"}),
    ],
)
def test_completion_becomes_a_filter(visit: Visit, typed: str, completed: str, hits: set[str]) -> None:
    page = visit.page
    page.keyboard.type(typed[:-1])
    with page.expect_response(lambda one: one.url.endswith(f"complete?{urlencode({'q': typed})}")) as told:
        page.keyboard.type(typed[-1])
    expect(page.locator("#completions").get_by_role("option")).to_have_count(len(told.value.json()["items"]))
    at = page.locator("#completions").get_by_role("option").all_inner_texts()
    row = next(number for number, text in enumerate(at) if text.startswith(completed))
    for _ in range(row + 1):
        page.keyboard.press("ArrowDown")
    expect(page.locator("#q")).to_have_attribute("aria-activedescendant", f"completion-{row}")
    page.keyboard.press("Enter")
    expect(page.locator("#q[aria-activedescendant]")).to_have_count(0)
    expect(page.locator(".chip")).to_contain_text(completed)
    expect(page.locator(".hit").first).to_be_visible()
    page.wait_for_function(
        "wanted => [...document.querySelectorAll('.hit-title')]"
        ".every(one => wanted.includes(one.textContent))",
        arg=sorted(hits),
    )


@pytest.mark.parametrize(
    ("before", "after", "query", "chips"),
    [
        ("-tag:#kit", "", "", ["-tag:#kitchen/bread"]),
        ("bread OR tag:#sk", "", "bread OR tag:#sky", []),
        ("(tag:#sk", "", "(tag:#sky", []),
        ("rest -(flour path:Sk", ")", 'rest -(flour path:"Sky/")', []),
        ('"night sky" -[rat', "", '"night sky" -[rating]', []),
        ("tag:(#kitchen OR #sk", "", "tag:(#kitchen OR #sky", []),
        ("tag:#sk", "n night", "night", ["tag:#sky"]),
        ('flour OR path:"Ki', 'tch/" rye', 'flour OR path:"Kitchen/" rye', []),
        ("-[rat", "e] bread", "bread", ["-[rating]"]),
    ],
)
def test_a_completion_means_what_is_typed(
    visit: Visit, before: str, after: str, query: str, chips: list[str]
) -> None:
    page = visit.page
    page.fill("#q", after)
    page.locator("#q").press("Home")
    page.keyboard.type(before[:-1])
    with page.expect_response(lambda one: one.url.endswith(f"complete?{urlencode({'q': before})}")):
        page.keyboard.type(before[-1])
    expect(page.locator("#completions").get_by_role("option").first).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator("#q")).to_have_value(query)
    expect(page.locator(".chip")).to_have_text([f"{chip} ×" for chip in chips])


def test_a_completion_is_one_of_what_is_typed_by_now(visit: Visit) -> None:
    page = visit.page
    page.keyboard.type("(tag:#")
    expect(page.locator("#completions")).to_contain_text("tag:#kitchen/bread")
    held = hold(page, r"complete\?q=[^&]*$")  # not the list that Tab asks for, which has a limit
    page.keyboard.insert_text("sk")
    page.keyboard.press("Tab")
    expect(page.locator("#q")).to_have_value("(tag:#sky")
    for route in held:
        route.continue_()


def test_the_address_holds_query_and_filters(site: Site, visit: Visit) -> None:
    page = visit.page
    page.keyboard.type("flour")
    expect(page.locator(".hit").first).to_be_visible()
    page.get_by_role("button", name="Filter by tag kitchen/bread").first.click()
    expect(page.locator(".chip")).to_have_text("tag:#kitchen/bread ×")
    page.get_by_text("Places", exact=True).click()
    assert page.url.endswith("#/search?q=flour&f=tag%3A%23kitchen%2Fbread&by=chunk")
    bookmark = page.url
    page.go_back()
    expect(page.get_by_label("Notes")).to_be_checked()
    expect(page.locator(".chip")).to_have_count(1)
    page.go_back()
    expect(page.locator(".chip")).to_have_count(0)
    expect(page.locator("#q")).to_have_value("flour")
    # A bookmark in a new tab gets the token from the tab that has it.
    other = site.visit_in(page.context, bookmark)
    expect(other.page.locator(".chip")).to_have_count(1)
    expect(other.page.locator(".hit").first).to_be_visible()
    expect(other.page.locator("#q")).to_have_value("flour")
    other.page.locator(".chip").click()
    expect(other.page.locator(".chip")).to_have_count(0)


def test_places_are_more_than_notes(visit: Visit) -> None:
    page = visit.page
    page.keyboard.type("turn the compost heap")
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.locator(".hit-title", has_text="Compost")).to_have_count(1)
    page.get_by_text("Places", exact=True).click()
    expect(page.locator(".hit-title", has_text="Compost")).not_to_have_count(1)
    assert visit.titles().count("Compost") > 1


def test_enter_waits_for_the_answer_to_what_is_typed(visit: Visit) -> None:
    page = visit.page
    page.fill("#q", "kale")
    expect(page.locator(".hit-title").first).to_have_text("Kale")
    held = hold(page, r"search\?q=telescope&")
    with page.expect_request(re.compile(r"/v1/search\?q=telescope&")):
        page.fill("#q", "telescope")
    page.keyboard.press("Enter")
    expect(page.locator(".summary")).to_contain_text("Searching")
    assert "#/search" in page.url
    held[0].continue_()
    expect(page.locator("h1.note-title")).to_have_text("Telescope")
    page.go_back()
    page.fill("#q", "")
    with page.expect_request(re.compile(r"/v1/search\?q=telescope&")):
        page.fill("#q", "telescope")
    page.keyboard.press("Enter")
    page.fill("#q", "rye bread")  # typed on: that Enter was not for this query
    held[-1].continue_()
    expect(page.locator(".hit-title").first).to_have_text("Rye bread")
    assert "#/search" in page.url


def test_enter_that_ends_a_composition_opens_nothing(visit: Visit) -> None:
    page = visit.page
    page.keyboard.type("telescope")
    expect(page.locator(".hit-title").first).to_have_text("Telescope")
    press = (
        "isComposing => document.querySelector('#q').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'Enter', isComposing}))"
    )
    page.evaluate(press, True)
    assert "#/search" in page.url
    page.evaluate(press, False)
    expect(page.locator("h1.note-title")).to_have_text("Telescope")


@pytest.mark.parametrize(
    ("typed", "act"),
    [
        ("tag:#s", lambda page: page.keyboard.press("Enter")),
        ("tag:#s", lambda page: page.keyboard.press("Escape")),
        ("tag:#s", lambda page: page.keyboard.press("ArrowLeft")),
        ("tag:#s", lambda page: page.get_by_role("link", name="Ask").focus()),
        ("tag:#s", lambda page: page.evaluate("document.querySelector('#q').value = 'moon'")),
        ("t", lambda page: page.evaluate("document.querySelector('#q').value = ''")),
    ],
    ids=["enter", "escape", "caret", "focus", "text", "emptied"],
)
def test_completions_that_come_late_are_dropped(
    visit: Visit, typed: str, act: Callable[[Page], object]
) -> None:
    """Hits are held back, too: Enter opens the first at once where they are there."""
    page = visit.page
    held, searches = hold(page, "complete"), hold(page, "search")
    with page.expect_request("**/v1/complete?*") as asked:
        page.keyboard.insert_text(typed)  # one event, one request
    act(page)
    with page.expect_event("requestfinished", lambda one: one == asked.value):
        held[0].continue_()
    page.evaluate("fetch('/page/icon.svg').then(one => one.text())")  # what waits for the answer has run
    assert page.locator("#completions").is_hidden()
    for search in searches:
        search.continue_()


def test_tab_leaves_words_as_they_are(visit: Visit) -> None:
    page = visit.page
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(minutes=1))  # no key is late
    page.keyboard.type("link to a heading")
    page.clock.resume()
    expect(page.get_by_role("option", name="heading:")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator("#completions")).to_be_hidden()
    expect(page.locator("#q")).to_have_value("link to a heading")
    expect(page.locator("#q")).not_to_be_focused()
    asked = [one.url.split("?")[1] for one in visit.requests if "/v1/complete" in one.url]
    assert asked == ["q=link+to+a+heading&limit=50"], "no operator is offered while a word is typed on"


@pytest.mark.parametrize(
    ("typed", "key", "query"),
    [
        ("flour t", "", "flour tag:"),
        ("flour -", "Control+Space", "flour -tag:"),
        ("", "Control+Space", "tag:"),
    ],
)
def test_operators_are_offered_with_what_they_find(visit: Visit, typed: str, key: str, query: str) -> None:
    page = visit.page
    page.keyboard.type(typed)
    if key:
        page.keyboard.press(key)
    option = page.locator("#completions").get_by_role("option", name="tag:")
    expect(option).to_have_text("tag:notes with a tag or one below it")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(page.locator("#q")).to_have_value(query)
    expect(page.get_by_role("option", name="tag:#sky")).to_be_visible()


def test_hits_are_named_by_folder_language_and_title_of_the_tab(visit: Visit) -> None:
    page = visit.page
    page.keyboard.type("loose thought nobody")
    hit = page.locator(".hit", has_text="Loose thought").first
    expect(hit.locator(".hit-path")).to_have_text("")  # it lies in no folder, and its file has its title
    expect(page).to_have_title("loose thought nobody · vault")
    expect(hit.locator(".hit-title")).to_have_attribute("dir", "auto")
    expect(hit.locator(".snippet")).to_have_attribute("dir", "auto")
    expect(hit.locator(".snippet")).to_have_attribute("lang", "en")
    hit.locator(".hit-title").click()
    expect(page).to_have_title("Loose thought · vault")


def test_a_hit_of_one_line_is_low_and_says_its_place_once(visit: Visit) -> None:
    page = visit.page
    visit.type("knead the dough until smooth")
    hit = page.locator(".hit").first
    expect(hit.locator(".hit-head")).to_have_text(re.compile("^Sourdough *Kitchen *Kneading$"))
    heights = page.locator(".hits > .hit").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert min(heights) <= 72
    actions = hit.locator(".hit-foot")
    expect(actions).to_have_css("opacity", "0")
    hit.hover()
    expect(actions).to_have_css("opacity", "1")
    page.mouse.move(0, 0)
    actions.get_by_role("button", name="Why").focus()
    expect(actions).to_have_css("opacity", "1")


def test_actions_need_no_mouse_on_a_touch_screen(site: Site) -> None:
    viewport = {"width": 400, "height": 800}
    with site.checked_visit(viewport=viewport, has_touch=True, is_mobile=True) as visit:
        visit.page.fill("#q", "knead the dough")  # one query: no later hits take the place of those tapped
        expect(visit.page.locator(".hit-foot").first).to_have_css("opacity", "1")
        visit.page.get_by_role("button", name="Why").first.tap()
        expect(visit.page.locator(".why").first).to_contain_text("rank 1")


def test_every_view_has_the_field_with_the_query(site: Site) -> None:
    with site.checked_visit() as visit:
        page, field = visit.page, visit.page.locator("#bar-q")
        visit.show("search", q="flour", f="tag:#kitchen/bread")
        expect(field).to_be_hidden()
        page.locator(".hit-title").first.click()
        expect(field).to_have_value("flour")
        for view in ("Judge", "Graph", "Health"):
            page.get_by_role("navigation", name="Views").get_by_role("link", name=view).click()
            expect(field).to_have_value("flour")
        page.keyboard.press("/")
        expect(page.locator("#q")).to_be_focused()
        expect(page.locator("#q")).to_have_value("flour")
        expect(page.locator(".chip")).to_contain_text("tag:#kitchen/bread")
        page.go_back()
        field.press("Home")
        page.keyboard.type("rye ")
        expect(page.locator("#q")).to_have_value("rye flour")
        expect(page.locator("#q")).to_be_focused()
        expect(page.locator(".hit-title").first).to_have_text("Rye bread")


def test_escape_loses_nothing(visit: Visit) -> None:
    page = visit.page
    page.keyboard.type("bread tag:")
    expect(page.locator("#completions")).to_be_visible()
    for _ in range(3):
        page.keyboard.press("Escape")
    expect(page.locator("#completions")).to_be_hidden()
    expect(page.locator("#q")).to_have_value("bread tag:")
    expect(page.locator(".hit-title").first).to_have_text("Rye bread")
    expect(page.locator(".notices")).to_contain_text("tag: needs a value")
    visit.show("search", q="telescope OR pancakes", f="tag:#sky")  # the filter is for both alternatives
    expect(page.locator(".hit-title")).to_have_text(["Night sky"])


def test_an_empty_search_offers_queries_notes_and_examples(visit: Visit) -> None:
    page = visit.page
    expect(page.get_by_role("heading", name="Changed last")).to_be_visible()
    expect(page.get_by_role("heading", name="Recent queries")).to_have_count(0)
    page.get_by_text("All operators").click()
    expect(page.locator(".start")).to_contain_text("notes that a note links to")
    page.get_by_role("button", name="linked-from:").click()
    expect(page.locator("#q")).to_have_value("linked-from:")
    page.fill("#q", "")
    page.keyboard.type("telescope")
    expect(page.locator(".hit-title").first).to_have_text("Telescope")
    page.keyboard.press("Enter")
    expect(page.locator("h1.note-title")).to_have_text("Telescope")
    visit.show("search")
    page.get_by_role("button", name="telescope").click()
    expect(page.locator(".hit-title").first).to_have_text("Telescope")
    page.fill("#q", "")
    page.get_by_role("button", name="tag:#").click()
    expect(page.get_by_role("option", name="tag:#sky")).to_be_visible()
    page.fill("#q", "")
    page.locator(".start a").first.click()
    expect(page.locator("h1.note-title")).to_be_visible()


def test_back_leads_to_where_the_list_was_left(site: Site) -> None:
    visit = site.visit(viewport={"width": 900, "height": 300})
    page = visit.page
    visit.show("search", q="flour and water")
    last = page.locator(".hit-title:visible").last
    expect(last).to_be_visible()
    last.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    assert before > 100
    last.click()
    expect(page.locator("h1.note-title")).to_be_visible()
    page.go_back()
    expect(page.locator(".hit-title:visible").last).to_be_in_viewport()


def test_a_page_without_the_right_token_asks_for_it(site: Site) -> None:
    visit = site.visit(f"{site.url}/")
    expect(visit.page.locator(".message")).to_contain_text("indexer open")
    visit.page.fill("#token", site.address)
    visit.page.get_by_role("button", name="Open").click()
    expect(visit.page.locator("#q")).to_be_visible()
    visit = site.visit(f"{site.url}/#token=an-old-token-of-another-daemon")
    expect(visit.page.locator(".message")).to_contain_text("has a new token")


def test_a_hit_says_how_many_copies_its_note_has(serve_vault: ServeVault) -> None:
    text = "# Kestrel\n\nA kestrel hovers over the verge of the motorway and looks for voles.\n"
    notes = dict.fromkeys(("Bird.md", "Bird 2.md", "Archive/Bird.md"), text)
    with serve_vault("copies", notes) as site, site.checked_visit() as visit:
        visit.type("kestrel over the motorway")
        expect(visit.page.locator(".hit")).to_have_count(1)
        expect(visit.page.locator(".hit-head")).to_contain_text("and 2 copies")


def test_what_the_window_shows_is_drawn_first_unless_the_user_is_further_down(site: Site) -> None:
    with site.checked_visit(viewport={"width": 900, "height": 240}) as visit:
        page = visit.page
        page.evaluate(
            "window.counts = [];"
            "addEventListener('hits', () => counts.push(document.querySelectorAll('.hit').length), true)"
        )
        page.fill("#q", "after:1970-01-02")
        expect(page.locator(".hits .hit").nth(5)).to_be_attached()
        assert page.evaluate("counts[0]") == 1
        page.evaluate("scrollTo(0, 300)")
        with page.expect_response(re.compile("/v1/search")):
            tell_changes(page, "Home.md")
        page.wait_for_function("counts.length > 1")
        assert page.evaluate("[counts.at(-1) > 5, scrollY]") == [True, 300]
