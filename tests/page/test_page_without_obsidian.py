"""A vault that Obsidian has never opened: the page reads notes and files, and links to no other program."""

from collections.abc import Iterator

import pytest
from page_site import ServeVault, Site, Visit
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NOTES = {
    "Sub/Bread.md": "# Bread\n\nThe recipe is [[paper.pdf]], and so is this.\n\n![[paper.pdf]]\n",
    "Water.md": "# Water\n\nA quokka drinks it now and then, as other animals of the island do.\n",
    "paper.pdf": "%PDF-1.4",
    "Quokka paper.pdf": "%PDF-1.4",
}


@pytest.fixture(scope="module")
def folder(serve_vault: ServeVault) -> Iterator[Site]:
    with serve_vault("folder", NOTES, in_obsidian=False) as found:
        assert not (found.sandbox.vault / ".obsidian").exists()
        yield found


@pytest.fixture
def visit(folder: Site) -> Iterator[Visit]:
    with folder.checked_visit(reduced_motion="reduce") as found:
        yield found


def test_a_note_has_no_link_into_obsidian(visit: Visit) -> None:
    visit.show("note", path="Sub/Bread.md")
    page = visit.page
    expect(page.locator("h1.note-title")).to_have_text("Bread")
    expect(page.get_by_role("link", name="Graph").last).to_be_visible()
    expect(page.get_by_text("Open in Obsidian")).to_have_count(0)


def test_a_file_is_opened_in_the_page(visit: Visit) -> None:
    visit.show("note", path="Sub/Bread.md")
    page = visit.page
    expect(page.locator(".note-text")).to_contain_text("The recipe is paper.pdf, and so is this.")
    page.get_by_role("link", name="paper.pdf").first.click()
    expect(page.locator("h1.note-title")).to_have_text("paper.pdf")
    expect(page.get_by_role("link", name="Open the file")).to_be_visible()
    expect(page.get_by_text("Open in Obsidian")).to_have_count(0)


def test_enter_opens_the_first_hit_or_nothing(visit: Visit) -> None:
    page = visit.page
    page.keyboard.type("quokka paper")
    hits = page.locator(".hit")
    expect(hits.first.locator(".hit-title")).to_have_text("Quokka paper.pdf")
    expect(hits.nth(1).locator("a.hit-title")).to_have_text("Water")
    page.keyboard.press("Enter")
    assert "#/search" in page.url  # an address changes with the click
    page.keyboard.press("ArrowDown")
    expect(hits.first.locator(".hit-title")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("h1.note-title")).to_have_text("Water")
