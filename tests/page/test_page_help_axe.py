"""axe-core on each note of a real vault, the documentation of Obsidian, in the reading view."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_site import WAIT_MS, ServeVault, axe_violations
from playwright.sync_api import expect

VAULT = Path(__file__).parents[3] / "shared/data/vaults/obsidian-help"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.data,
    pytest.mark.skipif(not VAULT.is_dir(), reason="needs ../shared/data"),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_note(serve_vault: ServeVault, scheme: str) -> None:
    notes = sorted(
        path.relative_to(VAULT)
        for path in VAULT.rglob("*.md")
        if not any(part.startswith(".") for part in path.relative_to(VAULT).parts)
    )
    assert len(notes) > 100
    with serve_vault(f"axe-{scheme}", VAULT) as site:
        visit = site.visit(color_scheme=scheme, reduced_motion="reduce")
        found: dict[str, list[str]] = {}
        for note in notes:
            visit.show("note", path=note.as_posix())
            expect(visit.page.locator(".note .hit-path")).to_have_text(note.as_posix(), timeout=WAIT_MS)
            expect(visit.page.locator(".rail .quiet-text", has_text="…")).to_have_count(0, timeout=WAIT_MS)
            if violations := axe_violations(visit.page):
                found[note.as_posix()] = violations
        assert found == {}
        visit.page.context.close()
