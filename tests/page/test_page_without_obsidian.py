"""A vault that Obsidian has never opened: the page reads notes and files, and links to no other program."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from page_site import ServeVault, Site, Visit
from playwright.sync_api import Browser, expect
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NOTES = {
    "Sub/Bread.md": "# Bread\n\nThe recipe is [[paper.pdf]], and so is this.\n\n![[paper.pdf]]\n",
    "Water.md": "# Water\n\nA quokka drinks it now and then, as other animals of the island do.\n",
    "paper.pdf": "%PDF-1.4",
    "Quokka paper.pdf": "%PDF-1.4",
}


@pytest.fixture(scope="module")
def folder(serve_vault: ServeVault, with_viewer: Browser) -> Iterator[Site]:
    with serve_vault("folder", NOTES, in_obsidian=False) as found:
        assert not (found.sandbox.vault / ".obsidian").exists()
        yield replace(found, browser=with_viewer)


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


def test_a_hit_that_is_no_note_is_opened_in_place_too(visit: Visit) -> None:
    page = visit.page
    page.keyboard.type("quokka paper")
    hits = page.locator(".hit")
    expect(hits.first.locator(".hit-title")).to_have_text("Quokka paper.pdf")
    expect(hits.nth(1).locator(".hit-title")).to_have_text("Water")
    page.keyboard.press("Enter")
    expect(page.locator("h1.note-title")).to_have_text("Quokka paper.pdf")
    expect(page.locator(".viewer iframe.pdf")).to_be_visible()
    page.go_back()
    expect(hits.first.locator(".hit-title")).to_be_focused()


@pytest.mark.parametrize(
    ("setting", "name", "address"),
    [
        ("vscode", "VS Code", "^vscode://file/.*/Sub/Bread[.]md:3$"),
        ("obsidian", "Obsidian", "^obsidian://open[?]path=%2F.*%2FSub%2FBread[.]md$"),
        ("own+ed:x?f={file}&l={line}&v={vault}", "Editor", "^own[+]ed:x[?]f=Sub/Bread[.]md&l=3&v=vault$"),
    ],
)
def test_notes_open_in_the_editor_of_the_configuration(
    folder: Site, setting: str, name: str, address: str
) -> None:
    config = folder.sandbox.root / "config" / "vault-indexer" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'page.editor = "{setting}"\n', encoding="utf-8")
    expected = re.compile(address)
    wait_until(lambda: expected.search(str(folder.api("view?path=Sub/Bread.md&line=3")["uri"])))
    with folder.checked_visit(reduced_motion="reduce") as visit:
        page = visit.page
        page.keyboard.type("the recipe is")
        in_hit = page.locator(".hit", has_text="Bread").get_by_role("link", name=name)
        expect(in_hit).to_have_attribute("href", expected)
        page.locator(".hit-title", has_text="Bread").click()
        opened = page.get_by_role("link", name=f"Open in {name.replace('Editor', 'the editor')}")
        expect(opened).to_have_attribute("href", expected)
