"""For everybody: names, roles, contrast by axe-core in both themes; narrow windows; every control by
keyboard."""

from collections.abc import Mapping
from typing import NamedTuple

import pytest
from page_site import Site, Visit, axe_violations
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]


class View(NamedTuple):
    """How to get to a view (its name and the values of its address), what is typed and pressed there, and
    what is there when it is complete."""

    name: str
    ready: str
    values: Mapping[str, str] = {}
    typed: str = ""
    button: str = ""

    def open(self, visit: Visit) -> None:
        visit.show(self.name, **self.values)
        if self.typed:
            visit.page.wait_for_selector("#q")
            visit.type(self.typed)
        if self.button:
            visit.page.locator("button, summary", has_text=self.button).first.click()


SOURDOUGH = "Kitchen/Sourdough.md"
VIEWS: Mapping[str, View] = {
    "search": View("search", ".hit", typed="flour"),
    "reasons": View("search", ".why dl", typed="flour", button="Why"),
    "completion": View("search", ".completions li", typed="flour tag:"),
    "asking": View("ask", ".sources li", {"q": "What shows the rings of Saturn?"}),
    "operators": View("search", ".start details dd", button="All operators"),
    "note": View("note", ".rail .line", {"path": SOURDOUGH, "line": "13"}),
    "chunks": View("note", ".chunk", {"path": SOURDOUGH}, button="Show chunks"),
    "graph": View("graph", ".drawing[data-done]", {"path": SOURDOUGH}),
    "vault": View("graph", ".drawing[data-done]"),
    "health": View("health", ".histogram"),
    "judging": View("judge", ".judge article", {"q": "sourdough"}),
    "missing": View("note", ".message", {"path": "Missing.md"}),
}


@pytest.fixture(params=["light", "dark"])
def visit(request: pytest.FixtureRequest, site: Site) -> Visit:
    return site.visit(color_scheme=request.param, reduced_motion="reduce")


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing(visit: Visit, view: str) -> None:
    VIEWS[view].open(visit)
    visit.page.locator(VIEWS[view].ready).first.wait_for()
    assert axe_violations(visit.page) == []


@pytest.mark.parametrize(
    ("view", "width"),
    [(view, width) for view in VIEWS if view != "missing" for width in (320, 900)]
    + [(view, width) for view in ("note", "graph") for width in (600, 1900)],
)
def test_nothing_is_wider_than_the_window(site: Site, view: str, width: int) -> None:
    visit = site.visit(viewport={"width": width, "height": 640}, reduced_motion="reduce")
    VIEWS[view].open(visit)
    visit.page.locator(VIEWS[view].ready).first.wait_for(state="attached")
    assert (
        visit.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        == 0
    )


UNSEEN = """() => [...document.querySelectorAll('a[href], button, summary, select, input')]
  .filter(one => one.checkVisibility() && !one.matches('.skip, .switch input'))
  .filter(one => !one.checkVisibility({opacityProperty: true, visibilityProperty: true})
    || one.getBoundingClientRect().height < 12)
  .map(one => one.outerHTML.slice(0, 200))"""
"""The controls that a person would have to hover to see, or could not hit."""


def test_a_touch_screen_shows_every_action(site: Site) -> None:
    viewport = {"width": 400, "height": 800}
    unseen = {}
    for name, view in VIEWS.items():
        visit = site.visit(viewport=viewport, has_touch=True, is_mobile=True, reduced_motion="reduce")
        view.open(visit)
        visit.page.locator(view.ready).first.wait_for(state="attached")
        unseen[name] = visit.page.evaluate(UNSEEN)
    assert unseen == {key: [] for key in VIEWS}


def test_every_control_is_reached_by_tab(site: Site) -> None:
    visit = site.visit(reduced_motion="reduce")
    page = visit.page
    visit.show("graph", path="Kitchen/Sourdough.md")
    page.wait_for_selector(".drawing[data-done]")
    page.evaluate("document.body.focus()")
    wanted = page.evaluate(
        "() => [...document.querySelectorAll('a[href], button, input, select')]"
        ".filter(one => one.checkVisibility())"
        ".map((one, at) => { one.dataset.n = at; return String(at); })"
    )
    reached = set()
    for _ in range(len(wanted) + 4):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement?.dataset.n"))
    assert set(wanted) <= reached


def test_the_hits_are_said_to_screen_readers_and_the_focus_can_be_seen(site: Site) -> None:
    visit = site.visit()
    visit.type("flour")
    visit.page.locator(".hit").first.wait_for()
    expect(visit.page.get_by_role("status")).to_contain_text("hit")
    visit.page.keyboard.press("ArrowDown")
    expect(visit.page.locator(".hit-title").first).to_be_focused()
    assert visit.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_the_theme_is_chosen_and_kept(site: Site) -> None:
    visit = site.visit(color_scheme="light")
    page = visit.page
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_text("Settings").click()
    page.get_by_label("Theme").select_option("dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.keyboard.press("Escape")
    expect(page.get_by_label("Theme")).to_be_hidden()
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_shortcuts_can_be_turned_off(site: Site) -> None:
    visit = site.visit()
    page = visit.page
    page.get_by_text("Settings").click()
    page.get_by_label("Single keys are shortcuts").uncheck()
    page.keyboard.press("Escape")
    visit.show("note", path="Loose thought.md")
    expect(page.locator("h1.note-title")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("h")
    page.keyboard.press("/")
    assert "#/note" in page.url
    page.reload()
    expect(page.locator("h1.note-title")).to_be_visible()
    page.keyboard.press("h")
    assert "#/note" in page.url
    page.get_by_text("Settings").click()
    page.get_by_label("Single keys are shortcuts").check()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("h")
    expect(page.get_by_role("heading", name="Health of the vault")).to_be_visible()


@pytest.mark.parametrize("width", [400, 800, 1040, 1280])
def test_the_name_of_the_vault_is_readable_beside_the_search_field(site: Site, width: int) -> None:
    with site.checked_visit(viewport={"width": width, "height": 640}) as visit:
        page = visit.page
        expect(page.locator(".brand")).to_have_attribute("title", "vault")
        visit.show("health")
        expect(page.locator("#bar-q")).to_be_visible()
        name = page.locator("#vault")
        cut = name.evaluate(
            "one => { const text = document.createRange(); text.selectNodeContents(one);"
            " return text.getBoundingClientRect().width - one.getBoundingClientRect().width; }"
        )
        assert cut < 0.01, "a short name is whole"
        shown = name.evaluate(
            "one => { one.textContent = 'Notes of a long winter, and more';"
            " return one.clientWidth / one.scrollWidth * one.textContent.length; }"
        )
        assert shown > 9, "eight characters and the dots"
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [320, 400])
def test_tabs_and_hits_have_room_in_a_narrow_window(site: Site, width: int) -> None:
    visit = site.visit(viewport={"width": width, "height": 640})
    visit.type("flour")
    visit.page.locator(".hit").first.wait_for()
    lines = visit.page.evaluate(
        "() => [...document.querySelectorAll('nav a')].map(one => one.getClientRects().length"
        " && one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).fontSize))"
    )
    assert max(lines) < 3, "a name of a tab is broken"
    # In one step: the hits of the word's last letters may replace those of its first.
    snippet = visit.page.wait_for_function(
        "() => document.querySelector('.hit .snippet')?.getBoundingClientRect().width"
    )
    assert snippet.json_value() > 0.8 * width
