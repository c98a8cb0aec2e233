"""Notes with the same text are one row of the page."""

from __future__ import annotations

import pytest
from page_site import ServeVault
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]

TEXT = "# Kestrel\n\nA kestrel hovers over the verge of the motorway and looks for voles.\n"


def test_a_hit_says_how_many_copies_its_note_has(serve_vault: ServeVault) -> None:
    notes = dict.fromkeys(("Bird.md", "Bird 2.md", "Archive/Bird.md"), TEXT)
    with serve_vault("copies", notes) as site:
        visit = site.visit()
        visit.type("kestrel over the motorway")
        expect(visit.page.locator(".hit")).to_have_count(1)
        expect(visit.page.locator(".hit-head")).to_contain_text("and 2 copies")
        assert visit.errors == []
        visit.page.context.close()
