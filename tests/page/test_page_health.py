"""The health of the vault in the page: figures, and orders with live progress."""

from collections.abc import Iterator

import pytest
from page_site import NOTES, ServeVault, Site, Visit
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def own_site(serve_vault: ServeVault) -> Iterator[Site]:
    """A vault that these tests change."""
    with serve_vault("health", NOTES) as found:
        yield found


@pytest.fixture
def visit(own_site: Site) -> Iterator[Visit]:
    with own_site.checked_visit() as found:
        found.show("health")
        expect(found.page.locator(".pill")).to_have_text("ready")
        yield found


def test_the_figures(visit: Visit) -> None:
    page = visit.page
    expect(page.locator("#state")).to_contain_text(f"Notes{len(NOTES)}")
    chunks = page.get_by_role("region", name="Chunks")
    expect(chunks.get_by_role("row")).to_have_count(10)
    wanted = page.get_by_role("region", name="Most frequent broken links")
    expect(wanted).to_contain_text("Unwritten")
    expect(wanted).to_contain_text("Nowhere to go")
    expect(page.get_by_role("region", name="Orphans")).to_contain_text("Loose thought")
    expect(page.get_by_role("region", name="Index")).to_contain_text("MB")
    expect(page.get_by_role("region", name="Index")).to_contain_text("header_based")


def test_the_figures_follow_the_buttons_without_a_gap(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 400, "height": 800})
    expect(visit.page.locator(".cards .card").first).to_be_visible()
    gap = visit.page.evaluate(
        "() => document.querySelector('.cards').getBoundingClientRect().top"
        " - document.querySelector('.health .tools').getBoundingClientRect().bottom"
    )
    assert 8 < gap < 24


def test_an_edit_shows_without_a_reload(own_site: Site, visit: Visit) -> None:
    expect(visit.page.locator("#state")).to_contain_text(f"Notes{len(NOTES)}")
    own_site.sandbox.write("New.md", "# New\n\nWritten while the page is open.\n")
    own_site.sandbox.write("Broken.md", "")
    (own_site.sandbox.vault / "Broken.md").write_bytes(b"\xff\xfe\x00binary\x00" * 40)
    expect(visit.page.locator("#state")).to_contain_text("1 file skipped")
    (own_site.sandbox.vault / "Broken.md").unlink()
    expect(visit.page.locator("#state")).to_contain_text("No note is skipped")
    expect(visit.page.locator("#state")).to_contain_text(f"Notes{len(NOTES) + 1}")


def test_pause_and_resume(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("button", name="Pause indexing").click()
    expect(page.locator("#order-result")).to_have_text("Indexing is paused.")
    expect(page.locator(".pill")).to_have_text("paused")
    page.get_by_role("button", name="Resume indexing").click()
    expect(page.locator(".pill")).to_have_text("ready")


def test_rebuild_with_live_progress(visit: Visit) -> None:
    page = visit.page
    # The stream may skip the state in between on a slow machine, so all states that were shown are collected.
    page.evaluate(
        "() => { window.seen = new Set(); new MutationObserver(() => window.seen.add("
        "document.querySelector('.pill')?.textContent)).observe(document.querySelector('#state'),"
        " {childList: true, subtree: true}); }"
    )
    page.get_by_role("button", name="Rebuild").click()
    expect(page.locator("#order-result")).to_contain_text("Rebuilt:")
    expect(page.locator(".pill")).to_have_text("ready")
    assert "rebuilding" in page.evaluate("[...window.seen]")


def test_verify(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("button", name="Verify", exact=True).click()
    expect(page.locator("#order-result")).to_have_text("Vault and index agree.")
