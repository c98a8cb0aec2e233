"""Files of the vault that the page shows at their place: PDFs, sound, films."""

import io
import json
import re
import wave
from collections.abc import Iterator
from dataclasses import replace

import pytest
from page_site import WAIT_MS, ServeVault, Site, Visit, axe_violations
from pdfs import pdf_of
from playwright.sync_api import Browser, expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PAGES = [["Dances of the bee", "", "A round dance."], ["Flowers", "", "The hive waggles far."], ["The end."]]
FLOW = [
    ["Many people live near them because the soil is fertile, and farmers",
     "grow grapes and coffee on the slopes of the mountain, which is why"],
    ["every eruption is watched closely by geologists with seismographs."],
    ["The end."],
]  # fmt: skip
"""A paragraph goes over the end of a page."""


CANVAS = {
    "nodes": [
        {"id": "g", "type": "group", "x": -50, "y": -50, "width": 900, "height": 400, "label": "All of it"},
        {"id": "a", "type": "text", "x": 0, "y": 0, "width": 250, "height": 160, "color": "4",
         "text": "## Start\n\nWith *care* and [[Hive]].\n\n<script>alert(1)</script>"},
        {"id": "b", "type": "file", "x": 500, "y": 200, "width": 300, "height": 100, "file": "Hive.md"},
        {"id": "c", "type": "link", "x": 0, "y": 500, "width": 300, "height": 80,
         "url": "javascript:alert(1)"},
        {"id": "far", "type": "text", "x": 9e11, "y": -9e99, "width": -1, "height": None, "text": "Far off."},
        {"id": "lost", "type": "file", "x": 500, "y": 500, "width": 200, "height": 60, "file": "Lost.md"},
        "no card",
    ],
    "edges": [{"id": "e", "fromNode": "a", "toNode": "b", "label": "leads to"},
              {"id": "f", "fromNode": "a", "toNode": "nowhere"}],
}  # fmt: skip
"""Also with what no program writes."""


def sound() -> bytes:
    """Two seconds of silence."""
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setparams((1, 1, 8000, 16000, "NONE", ""))
        file.writeframes(bytes([128] * 16000))
    return made.getvalue()


def picture(width: int) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="10"/>'


@pytest.fixture(scope="module")
def files(serve_vault: ServeVault, with_viewer: Browser) -> Iterator[Site]:
    notes: dict[str, str | bytes] = {
        "Papers/Bees & flowers.pdf": pdf_of(PAGES),
        "Flow.pdf": pdf_of(FLOW),
        "locked.pdf": b"%PDF-1.4",
        "hum.wav": sound(),
        "data.zip": b"PK",
        "page.html": "<script>alert(1)</script><p>Some words of a page.</p>",
        "Hive.md": "# Hive\n\nSee [[Bees & flowers.pdf#page=2|page two]], [[data.zip]], [[locked.pdf]].\n\n"
        "![[Bees & flowers.pdf#page=3]]\n\n![[hum.wav#t=1]]\n",
        "Plan.canvas": json.dumps(CANVAS),
        "dot.svg": picture(10),
        "Album.md": "# Album\n\n![[dot.svg]]\n\n![[Flow.pdf]]\n",
    }
    with serve_vault("files", notes) as found:
        yield replace(found, browser=with_viewer)


@pytest.fixture
def visit(files: Site) -> Iterator[Visit]:
    with files.checked_visit(viewport={"width": 1280, "height": 800}) as found:
        yield found


def expect_page(visit: Visit, page: int) -> None:
    """Chromium's viewer of PDFs comes to be at this page."""
    toolbar = "document.querySelector('pdf-viewer')?.shadowRoot?.querySelector('viewer-toolbar')"
    found: object = None
    for _ in range(WAIT_MS // 100):
        for frame in visit.page.frames:
            if frame.url.startswith("chrome-extension:"):
                found = frame.evaluate(f"{toolbar}?.pageNo")
                if found == page:
                    return
        visit.page.wait_for_timeout(100)
    raise AssertionError(f"at page {found}")


def test_a_hit_in_a_pdf_opens_it_at_its_page_beside_its_text(visit: Visit) -> None:
    page = visit.page
    visit.type("waggles")
    hit = page.locator(".hit-title").first
    expect(hit).to_have_attribute("href", re.compile(r"q=waggles\b"))  # not one of "wagg"
    hit.click()
    expect_page(visit, 2)
    expect(page.locator(".found")).to_have_text("The hive waggles far.")
    expect(page.locator(".matches")).to_contain_text("1")
    expect(page.get_by_role("link", name="Open the file")).to_have_attribute(
        "href", re.compile(r"^/v1/file\?path=Papers%2FBees.*pass=[0-9a-f]{64}$")
    )
    page.get_by_role("button", name="page 3").click()
    expect(page.locator("iframe.pdf")).to_have_attribute("src", re.compile("#page=3"))
    expect_page(visit, 3)


def test_a_hit_behind_a_page_break_within_its_paragraph_opens_its_page(visit: Visit) -> None:
    page = visit.page
    visit.type("seismographs")
    page.locator(".hit-title").first.click()
    expect_page(visit, 2)
    expect(page.locator(".found")).to_contain_text("with seismographs.")
    labels = page.locator(".note-text [data-part]")
    expect(labels).to_have_text(["page 1", "page 2", "page 3"])
    assert "\f" not in page.locator(".note-text").inner_text()
    labels.first.get_by_role("button").click()
    expect_page(visit, 1)
    visit.show("note", path="Flow.pdf", at="page=2")
    expect(page.locator(".found")).to_have_text("page 2")
    expect_page(visit, 2)


def test_links_and_embeds_show_a_file_at_its_place(visit: Visit) -> None:
    page = visit.page
    visit.show("note", path="Hive.md")
    expect(page.locator(".embedded-file iframe")).to_have_attribute("src", re.compile("#page=3"))
    expect_page(visit, 3)
    hum = page.locator(".embedded-file audio")
    expect(hum).to_have_js_property("duration", 2)
    assert hum.evaluate("one => one.currentTime") == 1
    page.locator(".note-text").get_by_role("link", name="page two").click()
    expect(page.locator(".found")).to_have_text("page 2")
    expect_page(visit, 2)


@pytest.mark.parametrize(
    ("path", "shown", "link"),
    [
        ("hum.wav", "audio", "Open the file"),
        ("locked.pdf", "iframe", "Open the file"),
        ("data.zip", "", "Save the file"),
        ("page.html", "", "Save the file"),
    ],
)
def test_a_file_without_a_note_is_shown_or_saved(visit: Visit, path: str, shown: str, link: str) -> None:
    page = visit.page
    visit.show("note", path=path)
    expect(page.locator("h1.note-title")).to_be_visible()
    expect(page.locator(".viewer > *")).to_have_count(1 if shown else 0)
    if shown:
        expect(page.locator(f".viewer > {shown}")).to_be_visible()
    opened = page.get_by_role("link", name=link)
    expect(opened).to_have_attribute("href", re.compile("pass="))
    if link == "Save the file":
        with page.expect_download() as saved:
            opened.click()
        assert saved.value.suggested_filename == path
    assert visit.dialogs == []
    assert axe_violations(page) == []


def test_a_narrow_window_has_the_pdf_above_its_text(files: Site) -> None:
    with files.checked_visit(viewport={"width": 400, "height": 800}, has_touch=True) as visit:
        visit.show("note", path="Papers/Bees & flowers.pdf", line="13")
        expect(visit.page.locator(".found")).to_be_in_viewport()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_a_canvas_is_drawn_and_read(files: Site) -> None:
    with files.checked_visit(viewport={"width": 1280, "height": 800}) as visit:
        page = visit.page
        visit.show("note", path="Plan.canvas")
        cards = page.locator(".canvas-card")
        expect(cards).to_have_count(6)
        start = page.locator(".canvas-card", has_text="care")
        expect(start.locator("em")).to_have_text("care")
        expect(start.get_by_role("heading", name="Start")).to_be_visible()
        expect(page.locator(".card-label")).to_have_text("All of it")
        expect(page.locator(".canvas-edge")).to_have_count(1)
        expect(page.locator(".canvas-label")).to_have_text("leads to")
        expect(page.locator(".canvas-card .unresolved")).to_have_text("Lost.md")
        assert page.locator("a[href^='javascript']").count() == 0
        view = page.get_by_role("region", name="Canvas")
        assert view.evaluate("one => one.scrollWidth <= one.clientWidth + 1")  # it fits
        for _ in range(20):
            page.get_by_role("button", name="Zoom in").click()
        assert axe_violations(page) == []
        view.focus()
        assert view.evaluate("one => one.scrollWidth > one.clientWidth")
        page.keyboard.press("0")
        assert view.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
        page.get_by_role("button", name="Show the text").click()
        expect(page.locator(".note-text")).to_contain_text("Far off.")
        page.get_by_role("button", name="Show the canvas").click()
        page.locator(".canvas-card").get_by_role("link", name="Hive").last.dispatch_event("click")
        expect(page.locator("h1.note-title")).to_have_text("Hive")
        visit.show("note", path="Plan.canvas", line="1")
        expect(page.locator(".found")).to_be_focused()
        assert visit.dialogs == []


def test_pictures_and_files_follow_what_is_on_the_disk(files: Site) -> None:
    files_on_disk = files.sandbox.vault
    context = files.context()
    album = files.visit_in(context, f"{files.address}#/note?path=Album.md").page
    alone = files.visit_in(context, f"{files.address}#/note?path=dot.svg").page
    paper = files.visit_in(context, f"{files.address}#/note?path=Flow.pdf").page
    later = files.visit_in(context, f"{files.address}#/note?path=Later.md").page
    expect(later.get_by_role("alert")).to_contain_text("no such note")
    for page in (album, paper):
        page.locator("iframe").first.evaluate("one => { one.dataset.same = ''; }")
    expect(album.locator(".note-text img")).to_have_js_property("naturalWidth", 10)
    expect(alone.locator(".viewer img")).to_have_js_property("naturalWidth", 10)

    files.sandbox.write("dot.svg", picture(20))
    files.sandbox.write("Later.md", "# Later\n\nIt has come.\n")
    (files_on_disk / "Flow.pdf").write_bytes(pdf_of([["Another text."]]))
    expect(album.locator(".note-text img")).to_have_js_property("naturalWidth", 20)
    expect(alone.locator(".viewer img")).to_have_js_property("naturalWidth", 20)
    expect(later.locator(".note-text")).to_contain_text("It has come.")
    for page in (album, paper):
        expect(page.locator("iframe:not([data-same])")).to_be_visible()

    (files_on_disk / "dot.svg").unlink()
    expect(album.locator(".note-text .unresolved")).to_have_text("Attachment: dot.svg")
    expect(alone.locator(".gone")).to_contain_text("dot.svg is no longer in the vault")
