"""Pictures and notes that a note embeds, shown in the page."""

from collections.abc import Iterator

import pytest
from page_site import PNG, ServeVault, Site, Visit, axe_violations
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NOTES = {
    "Pictures.md": "# Pictures\n\n![[dot.png|40x30]]\n\n![a square|24](files/square.svg)\n\n![[page.png]]\n",
    "Reading.md": "# Reading\n\nBefore.\n\n![[Recipe#Baking]]\n\n![[Recipe#^salt]]\n\n![[Ring]]\n\nAfter.\n",
    "Recipe.md": "# Recipe\n\nNot this.\n\n## Baking\n\nBake until *brown*. ![[dot.png]]\n\n## Serving\n\n"
    "Add salt at last. ^salt\n",
    "Ring.md": "# Ring\n\nThe ring begins. ![[Chain]]\n",
    "Chain.md": "# Chain\n\nThe chain follows. ![[Ring]] ![[Reading]]\n",
    "files/square.svg": "<svg xmlns='http://www.w3.org/2000/svg' width='12' height='12'>"
    "<rect width='9' height='9'/></svg>",
    "page.png": "<html><script>alert(1)</script>",
}


@pytest.fixture(scope="module")
def embeds(serve_vault: ServeVault) -> Iterator[Site]:
    with serve_vault("embedding", {**NOTES, "dot.png": PNG}) as found:
        yield found


@pytest.fixture
def visit(embeds: Site) -> Iterator[Visit]:
    found = embeds.visit()
    yield found
    assert found.foreign() == []
    assert found.dialogs == []


def test_pictures_of_the_vault_are_shown(visit: Visit) -> None:
    visit.show("note", path="Pictures.md")
    pictures = visit.page.locator(".note-text img")
    expect(pictures).to_have_count(2)
    assert pictures.evaluate_all("all => all.map(one => [one.naturalWidth, one.width, one.height])") == [
        [1, 40, 30],
        [12, 24, 24],
    ]
    expect(pictures.nth(1)).to_have_accessible_name("a square")
    links = visit.page.locator(".rail details").first.locator("li > a")
    expect(links).to_have_text(["dot.png", "a square", "page.png"])
    left = visit.page.locator(".note-text .embed.unresolved")
    expect(left).to_have_text("page.png")
    expect(left).to_have_attribute("title", "the content of page.png does not match its suffix")


def test_a_picture_is_enlarged(visit: Visit) -> None:
    page = visit.page
    visit.show("note", path="Pictures.md")
    opener = page.get_by_role("button", name="Enlarge a square")
    for close in ("Escape", "Enter"):
        opener.focus()
        page.keyboard.press("Enter")
        large = page.get_by_role("dialog", name="a square")
        expect(large.locator("img")).to_have_js_property("naturalWidth", 12)
        assert axe_violations(page) == []
        page.keyboard.press(close)
        expect(large).to_have_count(0)
        expect(opener).to_be_focused()


def test_an_embedded_part_is_read_in_place(visit: Visit) -> None:
    page = visit.page
    visit.show("note", path="Reading.md")
    parts = page.locator(".note-text > p > .embedded")
    expect(parts).to_have_count(3)
    expect(parts.nth(0)).to_contain_text("Bake until brown.")
    expect(parts.nth(0).locator("em")).to_have_text("brown")
    expect(parts.nth(0).locator("img")).to_have_count(1)
    expect(parts.nth(1)).to_contain_text("Add salt at last.")
    expect(page.locator(".note-text")).not_to_contain_text("Not this.")
    parts.nth(0).locator(".embedded-name").click()
    expect(page.locator("h1.note-title")).to_have_text("Recipe")
    expect(page.locator(".found")).to_have_text("Baking")


def test_notes_that_embed_each_other_end(visit: Visit) -> None:
    page = visit.page
    visit.show("note", path="Ring.md")
    expect(page.locator(".embedded .embed")).to_have_text(["Embedded: Ring", "Embedded: Ring"])
    expect(page.locator(".embedded", has_text="The chain follows.").first).to_be_visible()
    assert page.locator(".note-text").inner_text().count("The ring begins.") == 1
