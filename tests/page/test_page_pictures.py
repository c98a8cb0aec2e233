"""The words of a query in a picture: marked where OCR has read them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from drawn_text import FONT, as_file, drawn
from page_site import ServeVault, Site
from playwright.sync_api import expect
from waiting import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(not Path(FONT).exists(), reason="the font DejaVu is not installed"),
]

TEXT = "The harbour opens at dawn.\n\nBoats with lanterns leave the harbour later."


@pytest.fixture(scope="module")
def pictures(serve_vault: ServeVault) -> Iterator[Site]:
    pytest.importorskip("rapidocr")
    pytest.importorskip("onnxruntime")
    picture = as_file(drawn(TEXT, width=1000, height=400))
    with serve_vault("pictures", {"Note.md": "# Note\n", "sign.png": picture}) as site:
        assert site.sandbox.indexer("documents", "ocr", "on").code == 0
        wait_until(lambda: "sign.png" in json.dumps(site.api("search?q=lanterns+kind:image")))
        yield site


def test_the_words_of_a_query_are_marked_in_the_picture(pictures: Site) -> None:
    with pictures.checked_visit() as visit:
        visit.type("harbour kind:image")
        visit.page.locator(".hit-title").first.click()
        expect(visit.page.locator(".boxed img")).to_be_visible()
        marks = visit.page.locator(".picture-mark")
        expect(marks).to_have_count(2)
        picture = visit.page.locator(".boxed img").bounding_box()
        assert picture
        places = []
        for mark in marks.all():
            box = mark.bounding_box()
            assert box
            left = (box["x"] - picture["x"]) / picture["width"]
            top = (box["y"] - picture["y"]) / picture["height"]
            places += [left, top, left + box["width"] / picture["width"]]
        # As the words are drawn; the letters of a line count as equally wide.
        assert places == pytest.approx([0.146, 0.205, 0.26, 0.508, 0.378, 0.623], abs=0.03)
