"""Notes by name from anywhere, and the dialog of all keys."""

import re

import pytest
from page_site import Site, Visit, axe_violations, hold
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_a_note_is_opened_by_its_name_from_anywhere(visit: Visit) -> None:
    page = visit.page
    visit.show("note", path="Home.md")
    expect(page.locator("h1.note-title")).to_be_focused()
    page.keyboard.press("Control+k")
    options = page.get_by_role("dialog").get_by_role("option")
    expect(page.get_by_role("dialog")).to_contain_text("Changed last")
    expect(options).to_have_count(11)
    page.keyboard.type("kitchen")
    expect(options).to_have_count(4)
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("h1.note-title")).to_be_focused()
    page.keyboard.press("Meta+k")
    page.keyboard.type("levain")  # an alias
    page.keyboard.press("Enter")  # before the answer
    expect(page.locator("h1.note-title")).to_have_text("Sourdough")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator("#bar-q").focus()
    page.keyboard.press("Control+K")
    page.keyboard.type("no such note")
    expect(page.get_by_role("dialog")).to_contain_text("No note has “no such note” in its name.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()


def test_enter_before_the_answer_waits_for_that_of_the_whole_name(visit: Visit) -> None:
    page = visit.page
    visit.show("note", path="Home.md")
    held = hold(page, r"notes\?.*order=recent")
    with page.expect_request(re.compile("order=recent")):
        page.keyboard.press("Control+k")
    page.keyboard.type("levain")
    page.keyboard.press("Enter")
    with page.expect_response(re.compile("name=levain")):
        held[0].continue_()  # the notes changed last, none of which was asked for
    expect(page.locator("h1.note-title")).to_have_text("Sourdough")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dialogs_are_reached_by_touch(site: Site, scheme: str) -> None:
    options = {"viewport": {"width": 400, "height": 800}, "has_touch": True, "is_mobile": True}
    with site.checked_visit(color_scheme=scheme, **options) as visit:
        page = visit.page
        page.get_by_role("button", name="Open note").tap()
        expect(page.get_by_role("dialog").get_by_role("option").first).to_be_visible()
        assert axe_violations(page) == []
        page.get_by_role("button", name="All keys").tap()
        expect(page.get_by_role("dialog", name="Keys")).to_contain_text("open a note by its name")
        assert axe_violations(page) == []
        page.get_by_role("button", name="Close").tap()
        page.get_by_role("button", name="Open note").tap()
        page.get_by_role("dialog").get_by_role("option").filter(has_text="Telescope").tap()
        expect(page.locator("h1.note-title")).to_have_text("Telescope")


def test_the_question_mark_shows_the_keys_unless_it_is_typed(visit: Visit) -> None:
    page = visit.page
    page.keyboard.type("what is rye")
    with page.expect_response(lambda one: "q=what+is+rye%3F&" in one.url):
        page.keyboard.type("?")
    expect(page.locator("#q")).to_have_value("what is rye?")
    expect(page.locator(".hit").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Ctrl K")
    page.keyboard.press("g")
    assert "#/search" in page.url
    page.keyboard.press("Escape")
    expect(page.locator(".hit-title").first).to_be_focused()


def test_a_daemon_that_is_gone_is_said(site: Site) -> None:
    visit = site.visit()
    visit.page.route("**/v1/notes?*", lambda route: route.abort())
    visit.page.keyboard.press("Control+k")
    expect(visit.page.get_by_role("dialog")).to_contain_text("The daemon does not answer.")
