"""The page on a real vault, the documentation of Obsidian; the pictures of the docs are made here."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_site import ServeVault, Site, Visit, axe_violations
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
VAULT = ROOT.parent / "shared/data/vaults/obsidian-help"
IMAGES = ROOT / "docs" / "images"
PATHS = sorted(path.relative_to(VAULT).as_posix() for path in VAULT.rglob("*.md"))
MAX_IMAGE_BYTES = 150_000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.data,
    pytest.mark.skipif(not VAULT.is_dir(), reason="needs ../shared/data"),
]


@pytest.fixture(scope="module")
def help_site(serve_vault: ServeVault) -> Iterator[Site]:
    with serve_vault("help", VAULT) as found:
        yield found


@pytest.fixture
def visit(help_site: Site) -> Iterator[Visit]:
    with help_site.checked_visit(viewport={"width": 1040, "height": 680}, reduced_motion="reduce") as found:
        yield found


def picture(visit: Visit, name: str) -> None:
    """Write a picture of the docs if UPDATE_SCREENSHOTS is set; it stays small in any case."""
    taken = visit.page.screenshot(animations="disabled", caret="hide")
    assert len(taken) < MAX_IMAGE_BYTES, f"{name}: {len(taken)} bytes"
    if os.environ.get("UPDATE_SCREENSHOTS"):
        IMAGES.mkdir(exist_ok=True)
        (IMAGES / f"page-{name}.png").write_bytes(taken)


def test_a_first_hit(visit: Visit) -> None:
    visit.page.keyboard.type("link to a note")
    expect(visit.page.locator(".hit-title").first).to_have_text("Internal links")
    expect(visit.page.locator(".hit mark", has_text="note").first).to_be_visible()
    expect(visit.page.locator(".summary")).to_contain_text(re.compile("hits? ·"))
    expect(visit.page.locator("#completions")).to_be_hidden()
    picture(visit, "search")


def test_a_note(visit: Visit) -> None:
    visit.show("note", path="Plugins/Canvas.md")
    expect(visit.page.locator("h1.note-title")).to_have_text("Canvas")
    expect(visit.page.locator(".rail .quiet-text", has_text="…")).to_have_count(0)
    picture(visit, "note")


def test_every_note_can_be_read(help_site: Site, visit: Visit) -> None:
    """The page shows each note of the vault without an error."""
    assert len(PATHS) > 150
    for path in PATHS[::3]:
        visit.show("note", path=path)
        expect(visit.page.locator(".note .hit-path").first).to_have_text(path)


def test_the_graph_has_labels_that_do_not_overlap(visit: Visit) -> None:
    visit.show("graph", path="Linking notes and files/Internal links.md", depth="2")
    visit.page.wait_for_selector(".drawing[data-done]")
    nodes = visit.page.locator("circle.node").count()
    assert 50 < nodes <= 300
    shown = visit.page.locator(".label:not(.off)").count()
    assert 10 < shown < nodes
    boxes = visit.page.evaluate(
        "() => [...document.querySelectorAll('.label:not(.off)')].map(one => one.getBoundingClientRect())"
        ".map(one => [one.left, one.top + 2, one.right, one.bottom - 2])"
    )
    overlaps = [
        (one, other)
        for at, one in enumerate(boxes)
        for other in boxes[at + 1 :]
        if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    ]
    assert overlaps == []
    visit.show("graph", path="Plugins/Canvas.md")
    expect(visit.page.get_by_role("heading", name="Around Canvas")).to_be_visible()
    visit.page.wait_for_selector(".drawing[data-done]")
    picture(visit, "graph")


def test_the_health_of_a_vault(visit: Visit) -> None:
    visit.show("health")
    expect(visit.page.locator(".histogram")).to_be_visible()
    expect(visit.page.locator(".pill")).to_have_text("ready")
    picture(visit, "health")


def test_the_dark_theme(help_site: Site) -> None:
    visit = help_site.visit(
        viewport={"width": 1040, "height": 680}, reduced_motion="reduce", color_scheme="dark"
    )
    visit.show("graph", by="community")
    visit.page.wait_for_selector(".drawing[data-done]")
    picture(visit, "vault-dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_longest_and_some_other_notes(help_site: Site, scheme: str) -> None:
    visit = help_site.visit(color_scheme=scheme, reduced_motion="reduce")
    found: dict[str, list[str]] = {}
    longest = sorted(PATHS, key=lambda path: -(VAULT / path).stat().st_size)
    for path in {*longest[:6], *PATHS[::12]}:
        visit.show("note", path=path)
        expect(visit.page.locator(".note .hit-path")).to_have_text(path)
        expect(visit.page.locator(".rail .quiet-text", has_text="…")).to_have_count(0)
        if violations := axe_violations(visit.page):
            found[path] = violations
    assert found == {}
