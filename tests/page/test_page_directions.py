"""What a vault names from right to left is shown so in every view, and read in its language."""

from collections.abc import Iterator

import pytest
from page_site import ServeVault, Site, Visit
from playwright.sync_api import Locator, expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]

CATS, BIRDS, DOGS, WANTED = "القطط", "الطيور", "الكلاب", "الحديقة"
NOTES = {
    f"{CATS}.md": f"# {CATS}\n\nهذه فقرة باللغة العربية عن القطط في البيت، وعن [[{BIRDS}]] و[[{WANTED}]].\n",
    f"{BIRDS}.md": f"# {BIRDS}\n\nهذه فقرة باللغة العربية عن الطيور في السماء وعن القطط.\n",
    f"{DOGS}.md": f"# {DOGS}\n\nهذه فقرة باللغة العربية عن الكلاب في الشارع.\n",
}


@pytest.fixture(scope="module")
def arabic(serve_vault: ServeVault) -> Iterator[Site]:
    with serve_vault("arabic", NOTES) as found:
        yield found


@pytest.fixture
def visit(arabic: Site) -> Iterator[Visit]:
    with arabic.checked_visit(reduced_motion="reduce") as found:
        yield found


def expect_rtl(place: Locator, text: str) -> None:
    expect(place).to_have_text(text)
    expect(place).to_have_css("direction", "rtl")


def test_grading(visit: Visit) -> None:
    visit.show("judge", q=f"{CATS} في البيت")
    page = visit.page
    expect_rtl(page.locator("h1"), f"{CATS} في البيت")
    expect(page.locator("article .hit-title")).to_have_css("direction", "rtl")
    expect(page.locator("article .snippet")).to_have_css("direction", "rtl")


def test_the_health_of_the_vault(visit: Visit) -> None:
    visit.show("health")
    page = visit.page
    wanted = page.get_by_role("region", name="Most frequent broken links")
    expect_rtl(wanted.locator("strong"), WANTED)
    expect_rtl(wanted.get_by_role("link"), CATS)
    expect_rtl(page.get_by_role("region", name="Orphans").get_by_role("link"), DOGS)


def test_the_list_of_the_graph_and_its_chosen_node(visit: Visit) -> None:
    visit.show("graph", path=f"{CATS}.md", related="no")
    page = visit.page
    expect_rtl(page.locator(".graph-list button").first, CATS)
    page.locator(".graph-list button").first.click()
    expect_rtl(page.locator(".chosen-node h2"), CATS)
    visit.show("graph")
    page.locator(".graph-list button").first.click()
    expect(page.locator(".members a").first).to_have_css("direction", "rtl")


def test_the_links_of_a_note_are_in_its_language(visit: Visit) -> None:
    visit.show("note", path=f"{CATS}.md")
    links = visit.page.locator(".rail details").first.locator("ul")
    expect_rtl(links.get_by_role("link"), BIRDS)
    expect(links).to_have_attribute("lang", "ar")
