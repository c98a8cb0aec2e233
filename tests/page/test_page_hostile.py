"""A note never runs in the page, and never makes it ask another host: hostile notes in every view."""

from collections.abc import Iterator, Mapping

import pytest
from code_in_notes import FAULTS, hostile_notes
from page_site import ServeVault, Site, Visit
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NOTES: Mapping[str, str] = hostile_notes()


@pytest.fixture(scope="module")
def hostile(serve_vault: ServeVault) -> Iterator[Site]:
    with serve_vault("hostile", NOTES) as found:
        yield found


@pytest.fixture
def visit(hostile: Site) -> Iterator[Visit]:
    # Chromium logs what the content security policy stops: no error means that nothing was tried.
    with hostile.checked_visit(reduced_motion="reduce") as found:
        yield found
        assert found.dialogs == []
        assert found.page.evaluate(FAULTS) == []


def indexed(site: Site) -> list[str]:
    """The notes as the daemon knows them."""
    found = site.api("clusters")
    assert found["notes"] == len([path for path in NOTES if not path.endswith(".svg")])
    return [path for path in NOTES if not path.endswith(".svg")]


def test_no_note_runs_when_it_is_read(hostile: Site, visit: Visit) -> None:
    page = visit.page
    for path in indexed(hostile):
        visit.show("note", path=path)
        expect(page.locator(".note .hit-path").first).to_have_text(path)
        expect(page.locator(".rail .quiet-text", has_text="…")).to_have_count(0)
        for summary in page.locator(".properties summary").all():
            summary.click()
        assert page.evaluate(FAULTS) == [], path
    assert hostile.token not in page.url


@pytest.mark.parametrize("part", ["HOSTILE_PICTURE", "pic <svg"])
def test_no_picture_runs(hostile: Site, visit: Visit, part: str) -> None:
    """An SVG that holds scripts, handlers and other addresses is drawn, and nothing more."""
    page = visit.page
    embedding = [path for path in indexed(hostile) if f"![[{part}" in NOTES[path]]
    assert embedding
    for path in embedding:
        visit.show("note", path=path)
        picture = page.locator(".note-text img")
        expect(picture).to_have_js_property("complete", True)
        assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") > 0
        assert page.evaluate(FAULTS) == [], path


def test_no_chunk_runs(hostile: Site, visit: Visit) -> None:
    page = visit.page
    for path in indexed(hostile)[::4]:
        visit.show("note", path=path)
        expect(page.locator(".note .hit-path").first).to_have_text(path)
        page.get_by_role("button", name="Show chunks").click()
        page.locator(".chunk").first.wait_for()
        assert page.evaluate(FAULTS) == [], path


def test_no_hit_runs(visit: Visit) -> None:
    page = visit.page
    for query in (
        *("kestrel", "kestrel onerror", "script alert", "javascript", "img src", "[title]", "file:svg"),
    ):
        visit.type(query)
        page.locator(".hit").first.wait_for()
        page.evaluate("document.querySelectorAll('.hit-foot [aria-controls]').forEach(one => one.click())")
        assert page.evaluate(FAULTS) == [], query


@pytest.mark.parametrize("part", ["tag:", "path:", "["])
def test_no_completion_runs(visit: Visit, part: str) -> None:
    visit.type(f"kestrel {part}")
    visit.page.locator("#completions").get_by_role("option").first.wait_for()
    assert visit.page.evaluate(FAULTS) == []


def test_a_hostile_query_in_the_address_does_not_run(visit: Visit) -> None:
    attack = "<img src=x onerror=window.pwned=1>"
    visit.show("search", q=attack, f=attack, by=attack)
    expect(visit.page.locator(".chip")).to_contain_text(attack)
    visit.show("graph", q=attack)
    expect(visit.page.locator(".graph .rail h2").first).to_contain_text(attack)
    assert visit.page.evaluate(FAULTS) == []


def test_no_name_runs_in_the_graph_or_the_figures(visit: Visit) -> None:
    page = visit.page
    for values in ({}, {"by": "community"}, {"q": "kestrel"}, {"path": "text 00.md", "depth": "3"}):
        visit.show("graph", **values)
        page.wait_for_selector(".drawing[data-done]")
        page.locator(".graph-list button").first.click()
        assert page.evaluate(FAULTS) == [], values
        visit.show("search")
        page.wait_for_selector("#q")
    visit.show("health")
    expect(page.get_by_role("region", name="Most frequent broken links")).to_contain_text("onload")
    assert page.evaluate(FAULTS) == []
