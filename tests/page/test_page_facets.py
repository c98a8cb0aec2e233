"""Finding by looking: what the hits have in common, their order, searches that are kept."""

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import pytest
from page_site import ServeVault, Site, Visit, axe_violations
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NOTES: Mapping[str, tuple[int, str]] = {
    "Birds/Owls/Barn owl.md": (2021, "---\ntags: [bird, night]\n---\nThe owl hunts voles at dusk.\n"),
    "Birds/Owls/Tawny owl.md": (2023, "---\ntags: [bird, night]\n---\nThe owl calls in the wood.\n"),
    "Birds/Hawks/Kestrel.md": (2023, "---\ntags: [bird]\n---\nUnlike an owl, it hovers by day.\n"),
    "Birds/Owl board.canvas": (
        2024,
        '{"nodes": [{"id": "1", "type": "text", "text": "owl", '
        '"x": 0, "y": 0, "width": 10, "height": 10}], "edges": []}',
    ),
}


@pytest.fixture(scope="module")
def birds(serve_vault: ServeVault) -> Iterator[Site]:
    with serve_vault("birds", {path: text for path, (_, text) in NOTES.items()}) as site:
        for path, (year, _) in NOTES.items():
            then = datetime(year, 6, 1, tzinfo=UTC).timestamp()
            os.utime(site.sandbox.vault / path, (then, then))
        assert site.sandbox.indexer("rebuild").code == 0
        yield site


@pytest.fixture
def visit(birds: Site) -> Iterator[Visit]:
    with birds.checked_visit() as found:
        yield found


def facets(visit: Visit) -> dict[str, list[str]]:
    """Each list of the facets, with its values and counts."""
    found: dict[str, list[str]] = visit.page.evaluate(
        "() => Object.fromEntries([...document.querySelectorAll('.facets section')].map(one => ["
        "one.ariaLabel, [...one.querySelectorAll('.facet')].map(e => e.innerText.replace(/\\s+/, ' '))]))"
    )
    return found


def test_facets_count_the_listed_hits_and_narrow_them(visit: Visit) -> None:
    page = visit.page
    visit.show("search", q="owl")
    expect(page.locator(".facets summary")).to_have_text("In these 4 hits")
    assert facets(visit) == {
        "Folders": ["Owls 2", "Hawks 1"],
        "Tags": ["#bird 3", "#night 2"],
        "Kinds": ["note 3", "canvas 1"],
        "Years": ["2023 2", "2021 1", "2024 1"],
    }
    for name, filter_, titles in (
        ("2023", "after:2023 before:2024", {"Tawny owl", "Kestrel"}),
        ("Owls", 'path:"Birds/Owls/"', {"Tawny owl"}),
    ):
        page.get_by_role("button", name=f"{name}, ").click()
        expect(page.locator(".chip").last).to_have_text(f"{filter_} ×")
        expect(page.locator(".hit-title")).to_have_count(len(titles))
        assert set(visit.titles()) == titles
    expect(page.locator(".facets details")).to_have_count(0)
    page.go_back()
    page.go_back()
    expect(page.locator(".hit-title")).to_have_count(4)


def test_the_listed_hits_are_ordered_by_date(visit: Visit) -> None:
    page = visit.page
    visit.show("search", q="owl", f="tag:#bird")
    expect(page.locator(".hit-title")).to_have_count(3)
    best = visit.titles()
    page.get_by_label("Order of the hits").select_option("newest first")
    expect(page.locator(".summary")).to_contain_text("by date")
    likely = page.locator(".hits .hit-title").count()
    newest = sorted(best[:likely], key=lambda title: (title == "Barn owl", best.index(title)))
    assert visit.titles()[:likely] == newest
    assert "sort=date" in page.url
    page.reload()
    expect(page.get_by_label("Order of the hits")).to_have_value("date")
    page.go_back()
    expect(page.get_by_label("Order of the hits")).to_have_value("")


def test_a_search_is_kept_until_it_is_removed(birds: Site, visit: Visit) -> None:
    page = visit.page
    visit.show("search", q="owl", f="tag:#night")
    star = page.get_by_role("button", name="Save this search")
    star.click()
    expect(star).to_have_attribute("aria-pressed", "true")
    kept = page.url
    page.locator(".chip").click()
    expect(star).to_have_attribute("aria-pressed", "false")
    page.fill("#q", "")
    expect(star).to_be_hidden()
    page.reload()
    page.get_by_role("link", name="tag:#night owl").click()
    expect(star).to_have_attribute("aria-pressed", "true")
    assert page.url == kept
    visit.show("search")
    page.get_by_role("button", name="Remove tag:#night owl").click()
    expect(page.get_by_role("heading", name="Saved searches")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", name="Changed last")).to_be_visible()
    expect(page.get_by_role("heading", name="Saved searches")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_facets_are_folded_in_a_narrow_window(birds: Site, scheme: str) -> None:
    options = {"viewport": {"width": 400, "height": 800}, "has_touch": True, "is_mobile": True}
    with birds.checked_visit(color_scheme=scheme, **options) as visit:
        page = visit.page
        visit.show("search", q="owl")
        expect(page.locator(".facet").first).to_be_hidden()
        page.get_by_text("In these 4 hits").tap()
        expect(page.locator(".facet").first).to_be_visible()
        assert axe_violations(page) == []
        page.get_by_role("button", name="#night, 2").tap()
        expect(page.locator(".hit-title")).to_have_count(2)
