"""The graph in the page: drawn, named, moved, and the same as a list."""

import re
from collections.abc import Iterator

import pytest
from page_site import Site, Visit
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]

OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll('.label:not(.off)')].map(one => one.getBoundingClientRect());
  return boxes.filter((one, at) => boxes.some((other, number) => number > at && one.left < other.right
    && other.left < one.right && one.top < other.bottom - 2 && other.top < one.bottom - 2)).length;
}"""


@pytest.fixture
def visit(site: Site) -> Iterator[Visit]:
    with site.checked_visit(reduced_motion="reduce") as found:
        yield found


def drawn(visit: Visit, **values: str) -> None:
    visit.show("graph", **values)
    visit.page.wait_for_selector(".drawing[data-done]")


def test_the_neighbourhood_of_a_note(visit: Visit) -> None:
    drawn(visit, path="Kitchen/Sourdough.md", related="no")
    page = visit.page
    assert page.locator("circle.node").count() == 4
    expect(page.locator("circle.centre title")).to_have_text("Sourdough")
    names = page.locator(".graph-list button").all_inner_texts()
    assert names[0] == "Sourdough"
    assert set(names[1:]) == {"Starter", "Home", "Rye bread"}
    assert page.evaluate(OVERLAPS) == 0
    page.get_by_label("Steps").select_option("2")
    expect(page.locator(".graph-list button", has_text="Night sky")).to_be_visible()


def test_a_click_chooses_a_node_and_a_key_reads_it(visit: Visit) -> None:
    drawn(visit, path="Kitchen/Sourdough.md", related="no")
    page = visit.page
    page.locator("circle.node:has(title:text-is('Starter'))").click()
    expect(page.locator(".chosen-node h2")).to_have_text("Starter")
    page.locator(".graph-list button", has_text="Rye bread").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".chosen-node h2")).to_have_text("Rye bread")
    page.get_by_role("link", name="Read").click()
    expect(page.locator("h1.note-title")).to_have_text("Rye bread")


def test_zoom_and_pan(visit: Visit) -> None:
    drawn(visit, path="Kitchen/Sourdough.md", related="no")
    page = visit.page
    space = page.locator(".drawing > g").first
    before = space.get_attribute("transform")
    page.get_by_role("button", name="Zoom in").click()
    zoomed = space.get_attribute("transform")
    assert zoomed != before
    box = page.locator(".drawing").bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 60)
    page.mouse.up()
    panned = space.get_attribute("transform")
    assert panned != zoomed
    page.mouse.wheel(0, 300)
    page.wait_for_function(
        "before => document.querySelector('.drawing > g').getAttribute('transform') !== before", arg=panned
    )
    page.get_by_role("button", name="Fit").click()
    assert space.get_attribute("transform") == before


def test_the_drawing_has_a_legend_dashed_related_notes_and_fits_the_window(visit: Visit) -> None:
    drawn(visit, path="Kitchen/Sourdough.md")
    page = visit.page
    expect(page.get_by_role("list", name="Legend").get_by_role("listitem")).to_have_text(
        ["the note", "a note", "a link", "near in meaning"]
    )
    page.locator("circle.node:has(title:text-is('Pancakes'))").hover()
    expect(page.locator(".label.near", has_text="Pancakes")).to_be_visible()
    assert page.locator("circle.node:not(.near)").count() > 0
    page.mouse.move(0, 0)
    expect(page.locator(".near")).to_have_count(0)
    expect(page.locator("line.edge.related").first).to_be_attached()
    expect(page.locator(".graph-list")).to_contain_text("near in meaning")
    expect(page.locator(".graph-list")).not_to_contain_text(re.compile(r"0\.\d"))
    page.get_by_label("Related notes").uncheck()
    expect(page.get_by_role("list", name="Legend").get_by_role("listitem")).to_have_text(
        ["the note", "a note", "a link"]
    )
    expect(page.locator("line.edge.related")).to_have_count(0)
    page.set_viewport_size({"width": 420, "height": 700})
    page.wait_for_function(
        "() => { const room = document.querySelector('.drawing').getBoundingClientRect();"
        " return [...document.querySelectorAll('circle.node')].map(one => one.getBoundingClientRect())"
        ".every(one => one.left >= room.left && one.right <= room.right); }"
    )


def test_the_graph_of_a_query(visit: Visit) -> None:
    visit.show("graph")
    visit.page.get_by_label("Draw the hits of a query").fill("telescope")
    visit.page.get_by_label("Draw the hits of a query").press("Enter")
    expect(visit.page.get_by_role("heading", name="Around the hits of “telescope”")).to_be_visible()
    expect(visit.page.locator("circle.centre").first).to_be_attached()


def test_the_vault_by_folder_and_by_links(visit: Visit) -> None:
    drawn(visit)
    page = visit.page
    names = page.locator(".graph-list button").all_inner_texts()
    assert names[0] == "Kitchen"
    assert set(names) == {"Kitchen", "Sky", "Garden", "in no folder"}
    page.locator(".graph-list button", has_text="Kitchen").click()
    expect(page.locator(".members")).to_contain_text("Sourdough")
    page.get_by_role("link", name="Search in it").click()
    expect(page.locator(".chip")).to_contain_text('path:"Kitchen/"')
    drawn(visit, by="community")
    expect(page.get_by_role("heading", name="The vault by links")).to_be_visible()
    expect(page.locator(".graph-list")).to_contain_text("notes without links")


def test_with_motion_the_drawing_is_shown_while_it_settles(site: Site) -> None:
    moving, still = site.visit(), site.visit(reduced_motion="reduce")
    counts = []
    for visit in (moving, still):
        visit.page.add_init_script(
            "window.drawn = 0; const own = Worker.prototype.addEventListener;"
            "Worker.prototype.addEventListener = function (name, listener) {"
            " return own.call(this, name, event => { window.drawn += 1; listener(event); }); };"
        )
        visit.page.goto(f"{site.address}#/graph")
        visit.page.reload()
        visit.page.wait_for_selector(".drawing[data-done]")
        counts.append(visit.page.evaluate("window.drawn"))
    assert counts[0] > 1
    assert counts[1] == 1
