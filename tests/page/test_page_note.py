"""Reading a note in the page: text, outline, what is around it, chunks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from page_site import Site, Visit
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture
def visit(site: Site) -> Iterator[Visit]:
    with site.checked_visit() as found:
        found.show("note", path="Kitchen/Sourdough.md")
        expect(found.page.locator("h1.note-title")).to_have_text("Sourdough")
        yield found


def test_markdown_is_rendered(visit: Visit) -> None:
    text = visit.page.locator(".note-text")
    expect(text.locator("em")).to_have_text("ripe")
    expect(text.locator("strong")).to_have_text("smooth")
    expect(text.locator("h3")).to_have_text(["Kneading", "Baking"])
    expect(text.locator("td")).to_have_text(["flour", "500", "water", "350"])
    expect(text.locator("pre")).to_have_text("ratio = 350 / 500")
    expect(text.locator(".callout-kind")).to_have_text("Steam")
    expect(text.locator(".task")).to_have_text(["Heat the oven", "Score the loaf"])
    expect(text.locator(".box")).to_have_count(2)
    expect(text.locator(".box.done")).to_have_accessible_name("done")
    expect(text.locator("a.external")).to_have_attribute("rel", "noreferrer noopener")
    expect(text.locator(".unresolved")).to_have_text("Nowhere to go")
    expect(text.locator("a.tag")).to_have_text("#kitchen")


def test_a_link_leads_to_the_note_and_its_heading(visit: Visit) -> None:
    page = visit.page
    page.locator(".note-text a.wikilink", has_text="Feeding").click()
    expect(page.locator("h1.note-title")).to_have_text("Starter")
    expect(page.locator(".found")).to_have_text("Feeding")
    page.go_back()
    page.locator(".note-text a.wikilink", has_text="rye").click()
    expect(page.locator("h1.note-title")).to_have_text("Rye bread")


def test_a_hit_opens_at_its_line(visit: Visit) -> None:
    visit.show("note", path="Kitchen/Sourdough.md", line="13")
    expect(visit.page.locator(".found")).to_contain_text("Knead the dough")


def test_the_outline_leads_to_headings(visit: Visit) -> None:
    page = visit.page
    outline = page.get_by_role("navigation", name="Outline")
    expect(outline.get_by_role("button")).to_have_text(["Sourdough", "Kneading", "Baking"])
    outline.get_by_role("button", name="Baking").click()
    expect(page.get_by_role("heading", name="Baking")).to_be_focused()


def test_properties_and_tags_are_shown(visit: Visit) -> None:
    page = visit.page
    page.locator(".properties summary").click()
    expect(page.locator(".properties th")).to_have_text(["aliases", "tags", "rating", "status"])
    expect(page.locator(".properties .tag").first).to_have_text("#kitchen/bread")


def test_what_is_around_the_note(visit: Visit) -> None:
    rail = visit.page.get_by_role("complementary", name="Around this note")
    parts = rail.locator("details")
    expect(parts.nth(0).locator("li")).to_have_count(3)
    expect(parts.nth(0)).to_contain_text("Nowhere to go leads nowhere")
    expect(parts.nth(1)).to_contain_text("Start with [[Sourdough]]")
    expect(parts.nth(1)).to_contain_text("[[Sourdough]] needs it ripe")
    expect(parts.nth(2)).to_contain_text("links to")
    expect(parts.nth(2)).to_contain_text("meaning")
    expect(parts.nth(3)).to_contain_text("Sourdough discard")
    expect(parts.nth(3).locator("mark")).to_have_text("Sourdough")


def test_chunks_of_the_index_beside_those_of_another_strategy(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("button", name="Show chunks").click()
    stored = page.get_by_role("region", name="The index: header_based")
    expect(stored.locator(".chunk").first).to_contain_text("lines")
    count = stored.locator(".chunk").count()
    page.get_by_label("Compare with").select_option("paragraph")
    other = page.get_by_role("region", name="paragraph")
    expect(other.locator(".chunk").first).to_be_visible()
    assert other.locator(".chunk").count() != count
    page.get_by_role("button", name="Show the text").click()
    expect(page.locator(".note-text h3").first).to_be_visible()


def test_a_note_that_is_not_there_is_said_in_words(visit: Visit) -> None:
    visit.show("note", path="Missing.md")
    expect(visit.page.get_by_role("alert")).to_contain_text("no such note")
    visit.errors.clear()  # Chromium logs the status 404
