"""Bases of Obsidian in the page: their rows, their views, and bases that a note embeds."""

from collections.abc import Iterator

import pytest
from page_site import ServeVault, Site, Visit
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NOTES = {
    "Shelf/Dune.md": '---\ntags: [book]\nprice: 12\nauthor: "[[Herbert]]"\n---\n# Dune\n',
    "Shelf/Emma.md": "---\ntags: [book]\nprice: cheap\n---\n# Emma\n",
    "Herbert.md": "# Herbert\n\n![[Books.base#By this author]]\n",
    "Cheap.md": """\
---
price: 20
---
# Cheap

```base
filters: file.hasTag("book") && price < this.price
views: [{name: Below, order: [file.name, price]}, {name: "None", filters: "false"}]
```

```base
views: [{filters: shout(1)}]
```
""",
    "Books.base": """\
filters: file.hasTag("book")
formulas: {half: price / 2}
views:
  - {name: Shelf, order: [file.name, author, formula.half], summaries: {formula.half: Sum}}
  - {name: By this author, filters: author == this, groupBy: {property: price}}
""",
}


@pytest.fixture(scope="module")
def bases(serve_vault: ServeVault) -> Iterator[Site]:
    with serve_vault("bases", NOTES) as found:
        yield found


@pytest.fixture
def visit(bases: Site) -> Iterator[Visit]:
    found = bases.visit()
    yield found
    assert found.foreign() == []


def test_a_base_shows_its_rows_with_links_and_its_views_as_buttons(visit: Visit) -> None:
    visit.show("note", path="Books.base")
    base = visit.page.locator(".base")
    expect(base.locator("thead th")).to_have_text(["name", "author", "half"])
    expect(base.locator("tbody tr")).to_have_text(["DuneHerbert6", "Emmaerror"])
    expect(base.locator("tfoot td")).to_have_text(["", "", "Sum: 6"])
    expect(base.get_by_title("/ takes two numbers")).to_have_count(1)
    base.get_by_role("button", name="By this author").click()
    expect(base.get_by_role("button", pressed=True)).to_have_text("By this author")
    expect(base.locator("tbody tr")).to_have_count(0)
    base.get_by_role("button", name="Shelf").click()
    base.get_by_role("link", name="Herbert").click()
    expect(visit.page.locator(".note-title")).to_have_text("Herbert")


def test_a_base_in_a_block_of_code_shows_its_rows_or_what_is_wrong(visit: Visit) -> None:
    visit.show("note", path="Cheap.md")
    blocks = visit.page.locator("[data-base]")
    expect(blocks).to_have_count(2)
    own, wrong = blocks.all()
    expect(own.locator("tbody tr")).to_have_text(["Dune12"])
    own.get_by_role("button", name="None").click()
    expect(own.locator("tbody tr")).to_have_count(0)
    own.get_by_text("Source").click()
    expect(own.get_by_text("this.price")).to_be_visible()
    expect(wrong.get_by_role("note")).to_contain_text("Cheap.md, line 11: views[0].filters: shout() is not")


def test_a_note_that_embeds_a_base_is_this_in_its_filters(visit: Visit) -> None:
    visit.show("note", path="Herbert.md")
    expect(visit.page.locator(".embedded .base tbody tr")).to_have_text(["price: 12", "Dune"])
