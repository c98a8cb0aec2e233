"""Answers that come late, in another order than they were asked for, or to a view that was left."""

import re

import pytest
from page_site import Site, Visit, hold, release, settle, tell_changes
from playwright.sync_api import Route, expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def refuse(route: Route, status: int) -> None:
    route.fulfill(status=status, json={"error": {"message": "refused"}})


@pytest.mark.parametrize(
    ("view", "values", "target", "was"),
    [
        ("note", {"path": "Home.md"}, r"view\?", "Start with"),
        ("note", {"path": "Home.md"}, r"related\?", "Sourdough"),
        ("note", {"path": "Home.md"}, r"links\?path=Home.md&limit", "Sourdough"),
        ("note", {"path": "Garden/Kale.md"}, r"links\?.*view=mentions", "Beds"),
        ("health", {}, "health", "Unwritten"),
    ],
    ids=["text", "related", "links", "mentions", "health"],
)
def test_an_older_answer_never_replaces_a_later_one(
    visit: Visit, view: str, values: dict[str, str], target: str, was: str
) -> None:
    page = visit.page
    visit.show(view, **values)
    main = page.locator("#main")
    expect(main).to_contain_text(was)
    expect(page.locator(".rail, .cards .card").first).to_be_visible()
    expect(page.locator(".rail li", has_text="…")).to_have_count(0)
    held = hold(page, target)
    for _ in range(2):
        with page.expect_request(re.compile(target)):
            tell_changes(page, values.get("path", ""))
    release(page, held[1])
    release(page, held[0], was, "Older")
    assert "Older" not in main.inner_text()


def test_a_change_is_shown_whatever_else_changes_meanwhile(visit: Visit) -> None:
    page = visit.page
    visit.show("note", path="Home.md")
    expect(page.locator(".rail")).to_contain_text("Sourdough")
    held = hold(page, r"view\?")
    tell_changes(page, "Home.md")
    tell_changes(page, "Garden/Kale.md")
    for route in held:
        release(page, route, "Start with", "Begin with")
    expect(page.locator(".note-text")).to_contain_text("Begin with")


def test_a_note_that_changes_while_it_is_opened_is_fetched_again(visit: Visit) -> None:
    page = visit.page
    held = hold(page, r"view\?")
    with page.expect_request(re.compile(r"/v1/view\?")):
        visit.show("note", path="Home.md")
    tell_changes(page, "Home.md")
    with page.expect_request(re.compile(r"/v1/view\?")):
        release(page, held[0], "Start with", "Older")
    settle(page)
    release(page, held[1])
    expect(page.locator(".note-text")).to_contain_text("Start with")


def test_a_note_that_is_there_again_is_not_said_to_be_gone(visit: Visit) -> None:
    page = visit.page
    visit.show("note", path="Home.md")
    expect(page.locator(".rail")).to_contain_text("Sourdough")
    held = hold(page, r"view\?")
    for _ in range(2):
        tell_changes(page, "Home.md")
    release(page, held[1])
    refuse(held[0], 404)
    settle(page)
    assert page.locator(".gone").count() == 0
    visit.errors.clear()  # Chromium logs the status 404


def test_chunks_that_nobody_waits_for_any_more_are_not_shown(visit: Visit) -> None:
    page = visit.page
    visit.show("note", path="Home.md")
    held = hold(page, "chunks")
    page.get_by_role("button", name="Show chunks").click()
    page.get_by_role("button", name="Show the text").click()
    release(page, held[0])
    expect(page.locator(".note-text")).to_be_visible()
    assert page.locator(".chunks").count() == 0

    page.get_by_role("button", name="Show chunks").click()
    settle(page)
    release(page, held[1])
    page.get_by_label("Compare with").select_option("paragraph")
    page.get_by_label("Compare with").select_option("nothing")
    settle(page)
    release(page, held[2])
    assert page.locator(".chunk-list").count() == 1


def test_enter_is_forgotten_when_the_search_changes(visit: Visit) -> None:
    page = visit.page
    held = hold(page, r"search\?q=telescope&")
    page.fill("#q", "telescope")
    page.keyboard.press("Enter")
    page.get_by_text("Places", exact=True).click()
    settle(page)
    for route in held:
        release(page, route)
    expect(page.locator(".hit-title").first).to_have_text("Telescope")
    assert "#/search" in page.url


def test_back_leaves_the_focus_where_a_person_moves_it(visit: Visit) -> None:
    page = visit.page
    visit.type("flour")
    expect(page.locator(".hit-title").nth(2)).to_have_attribute("href", re.compile(r"q=flour\b"))
    page.locator(".hit-title").nth(2).click()
    expect(page.locator(".found")).to_be_focused()
    held = hold(page, "search")
    page.go_back()
    expect(page.locator("#q")).to_be_visible()
    page.keyboard.press("/")
    settle(page)
    release(page, held[0])
    expect(page.locator(".hit").nth(2)).to_be_visible()
    expect(page.locator("#q")).to_be_focused()


def test_enter_in_the_names_opens_the_note_that_is_chosen_unless_they_are_closed(visit: Visit) -> None:
    page = visit.page
    page.keyboard.press("Control+k")
    page.keyboard.type("kitchen")
    options = page.get_by_role("dialog").get_by_role("option")
    expect(options).to_have_count(4)
    held = hold(page, r"notes\?name=kitche&")
    page.keyboard.press("ArrowDown")
    chosen = options.nth(1).locator(".named-title").inner_text()
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    settle(page)
    release(page, held[0])
    expect(page.locator("h1.note-title")).to_have_text(chosen)

    page.keyboard.press("Control+k")
    page.keyboard.type("kitche")
    late = held[1]
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    settle(page)
    release(page, late)
    expect(page.locator("h1.note-title")).to_have_text(chosen)


def test_a_late_refusal_does_not_forget_a_new_token(site: Site, visit: Visit) -> None:
    page = visit.page
    held = hold(page, r"search\?q=kale&")
    page.fill("#q", "kale")
    settle(page)
    page.route(re.compile("q=telescope&"), lambda route: refuse(route, 401), times=1)
    page.fill("#q", "telescope")
    expect(page.locator("#token")).to_be_visible()
    page.fill("#token", site.token)
    opening = hold(page, "vaults")
    with page.expect_request("**/v1/vaults"):
        page.keyboard.press("Enter")
    refuse(held[0], 401)
    settle(page)
    release(page, opening[0])
    expect(page.locator(".hit-title").first).to_have_text("Telescope")
    visit.errors.clear()  # Chromium logs the status 401
