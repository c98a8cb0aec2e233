"""Reading a note in the page: text, outline, what is around it, chunks."""

import re
from collections.abc import Iterator

import pytest
from page_site import NOTES, ServeVault, Site, Visit, axe_violations, hold, release, settle, tell_changes
from playwright.sync_api import Locator, expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture
def visit(site: Site) -> Iterator[Visit]:
    with site.checked_visit() as found:
        found.show("note", path="Kitchen/Sourdough.md")
        expect(found.page.locator("h1.note-title")).to_have_text("Sourdough")
        yield found


def test_markdown_and_properties_are_rendered(visit: Visit) -> None:
    text = visit.page.locator(".note-text")
    expect(text.locator("em")).to_have_text("ripe")
    expect(text.locator("strong")).to_have_text("smooth")
    expect(text.locator("h2:visible")).to_have_text(["Kneading", "Baking"])
    expect(text.locator("td")).to_have_text(["flour", "500", "water", "350"])
    expect(text.locator("pre")).to_have_text("ratio = 350 / 500")
    expect(text.locator(".callout-kind")).to_have_text("Steam")
    expect(text.locator(".task")).to_have_text(["Heat the oven", "Score the loaf"])
    expect(text.locator(".box")).to_have_count(2)
    expect(text.locator(".box.done")).to_have_accessible_name("done")
    expect(text.locator("a.external")).to_have_attribute("rel", "noreferrer noopener")
    expect(text.locator(".unresolved")).to_have_text("Nowhere to go")
    expect(text.locator("a.tag")).to_have_text("#kitchen")
    visit.page.locator(".properties summary").click()
    expect(visit.page.locator(".properties th")).to_have_text(["aliases", "tags", "rating", "status"])
    expect(visit.page.locator(".properties .tag").first).to_have_text("#kitchen/bread")


def test_a_link_leads_to_the_note_and_its_heading(visit: Visit) -> None:
    page = visit.page
    page.locator(".note-text a.wikilink", has_text="Feeding").click()
    expect(page.locator("h1.note-title")).to_have_text("Starter")
    expect(page.locator(".found")).to_have_text("Feeding")
    page.go_back()
    page.locator(".note-text a.wikilink", has_text="rye").click()
    expect(page.locator("h1.note-title")).to_have_text("Rye bread")


@pytest.mark.parametrize(
    ("link", "found", "line"),
    [
        ("Months#January#Money", "Money", 5),
        ("Months#February#Money", "Money", 13),
        ("m", "Money", 13),
        ("Long#^needle", "a needle", 603),
        ("Long#Year 1990#Keeper", "Keeper", 545),
        ("Long#Year 1990", "Year 1990", 543),
    ],
)
def test_a_link_to_a_part_opens_that_part(followed: Site, link: str, found: str, line: int) -> None:
    """Also if another part has its name, and in a note that is shown in parts."""
    with followed.checked_visit() as visit:
        page = visit.page
        visit.show("note", path="Ways.md")
        page.locator(".note-text").get_by_role("link", name=link, exact=True).click()
        expect(page.locator(".found")).to_have_text(found)
        expect(page.locator(".found")).to_have_attribute("data-line", str(line))


@pytest.mark.parametrize("place", [{"line": "7"}, {"at": "#Sourdough"}])
def test_the_title_is_shown_once(visit: Visit, place: dict[str, str]) -> None:
    """Its heading in the text is hidden; links and the outline lead to the title."""
    page = visit.page
    expect(page.get_by_role("heading", name="Sourdough")).to_have_count(1)
    assert page.locator(".note-text").inner_text().startswith("Flour, water")
    visit.show("note", path="Kitchen/Sourdough.md", **place)
    expect(page.locator("h1.note-title")).to_be_focused()
    outline = page.get_by_role("navigation", name="Outline")
    expect(outline.get_by_role("button")).to_have_text(["Sourdough", "Kneading", "Baking"])
    outline.get_by_role("button", name="Baking").click()
    expect(page.get_by_role("heading", name="Baking")).to_be_focused()
    outline.get_by_role("button", name="Sourdough").click()
    expect(page.locator("h1.note-title")).to_be_focused()


def test_what_is_around_the_note(visit: Visit) -> None:
    rail = visit.page.get_by_role("complementary", name="Around this note")
    parts = rail.locator("details")
    expect(parts.nth(0).locator("li")).to_have_count(3)
    expect(parts.nth(0)).to_contain_text("Nowhere to go leads nowhere")
    expect(parts.nth(1)).to_contain_text("Start with Sourdough, the Night sky")
    expect(parts.nth(1).get_by_role("link", name="Night sky")).to_have_attribute(
        "href", "#/note?path=Sky%2FNight+sky.md"
    )
    expect(parts.nth(1).locator(".unresolved")).to_have_text("Unwritten")
    expect(parts.nth(2)).to_contain_text("linked from here")
    expect(parts.nth(2)).to_contain_text("close in meaning")
    expect(parts.nth(2)).not_to_contain_text(re.compile(r"similarity|\d\.\d"), use_inner_text=True)
    parts.nth(2).get_by_role("button").first.click()
    expect(parts.nth(2)).to_contain_text(re.compile(r"similarity \d\.\d"), use_inner_text=True)
    expect(parts.nth(3)).to_contain_text("Sourdough discard")
    expect(parts.nth(3).locator("mark")).to_have_text("Sourdough")


def test_mentions_are_rendered_with_the_name_marked(followed: Site) -> None:
    with followed.checked_visit() as visit:
        visit.show("note", path="Sky.md")
        mention = visit.page.locator(".rail li", has=visit.page.get_by_role("link", name="Rendered")).last
        expect(mention.locator("li strong mark")).to_have_text("sky")
        expect(mention.get_by_role("link", name="itself")).to_have_attribute(
            "href", "#/note?path=Rendered.md"
        )
        expect(mention).not_to_contain_text("**")


def test_a_mention_has_its_footnotes_in_its_line(followed: Site) -> None:
    with followed.checked_visit() as visit:
        visit.show("note", path="Flour.md")
        mention = visit.page.locator(".rail li", has=visit.page.get_by_role("link", name="Foot")).last
        expect(mention.locator("p").first).to_have_text("The flour (White flour, sifted.) and more.")
        expect(mention.locator(".footnotes, .footnote-mark")).to_have_count(0)


def test_a_link_to_a_part_that_is_not_there_says_so_in_the_text(followed: Site) -> None:
    with followed.checked_visit() as visit:
        visit.show("note", path="Ways.md")
        broken = visit.page.locator(".note-text a.unresolved")
        expect(broken).to_have_text(["nope", "nix"])
        titles = [one.get_attribute("title") for one in broken.all()]
        assert titles == ["no heading Nope", "no block ^nix"]


def test_a_row_of_a_table_is_shown_without_its_bars(followed: Site) -> None:
    with followed.checked_visit() as visit:
        visit.show("note", path="Flour.md")
        places = visit.page.locator(".rail li", has=visit.page.get_by_role("link", name="Loaf"))
        expect(places).to_have_count(3)  # the backlink, the related note and the mentions are fetched apart
        expect(places.first.locator("div.line")).to_have_text("white flour · 500")
        expect(places.first.get_by_role("link", name="white flour")).to_be_visible()
        expect(places.last.locator("div.line p")).to_have_text(
            ["water for the flour · 350", "The flour | the water"]
        )
        expect(places.last.locator("mark")).to_have_text(["flour", "flour"])


def test_chunks_of_the_index_beside_those_of_another_strategy(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("button", name="Show chunks").click()
    stored = page.get_by_role("region", name="The index: header_based")
    expect(stored.locator(".chunk").first).to_contain_text("lines")
    count = stored.locator(".chunk").count()
    page.get_by_label("Compare with").select_option("paragraph")
    other = page.get_by_role("region", name="paragraph")
    expect(other.locator(".chunk").first).to_be_visible()
    assert other.locator(".chunk").count() != count
    page.get_by_role("button", name="Show the text").click()
    expect(page.get_by_role("heading", name="Kneading")).to_be_visible()


def test_a_note_that_is_not_there_is_said_in_words(visit: Visit) -> None:
    visit.show("note", path="Missing.md")
    expect(visit.page.get_by_role("alert")).to_contain_text("no such note")
    expect(visit.page.get_by_role("link", name="Search for “Missing”")).to_be_visible()
    visit.errors.clear()  # Chromium logs the status 404


FOLLOWED = {
    "Sky.md": "# Sky\n\nClear tonight.\n\nThe rings of Saturn ![[Moon]]\n\n> [!note]- Folded\n> Inside.\n",
    "Moon.md": "# Moon\n\nFull.\n",
    "Hub.md": "# Hub\n\nThe hub.\n",
    "Rendered.md": "# Rendered\n\n- A **clear sky** over [[Rendered|itself]].\n",
    "Brief.md": "# Brief\n",
    "Flour.md": "# Flour\n\nWhite.\n",
    "Loaf.md": (
        "# Loaf\n\n| what | grams |\n| --- | --- |\n| [[Flour\\|white flour]] | 500 |\n\n"
        "> | what | grams |\n> | --- | --- |\n> | water for the flour | 350 |\n\nThe flour | the water\n"
    ),
    "Months.md": "# Months\n\n"
    + "".join(
        f"## {month}\n\n### Money\n\n{text}\n\n{'Filler text.' * 90}\n\n"
        for month, text in {
            "January": "The bill was ninety.",
            "February": "Olaf cancelled the zeppelin insurance.",
        }.items()
    ),
    "Long.md": "# Long\n\n"
    + "".join(
        f"## Year {year}\n\n### Keeper\n\n{'About a lighthouse. ' * 40}Year {year}.\n\n"
        for year in range(1900, 2000)
    )
    + "- a needle ^needle\n",
    "Ways.md": (
        "[[Months#January#Money]] [[Months#February#Money]] [m](Months.md#money-1) [[Long#^needle]] "
        "[[Long#Year 1990#Keeper]] [[Long#Year 1990]] [[Months#Nope|nope]] [[Months#^nix|nix]]\n"
    ),
    "Foot.md": "# Foot\n\nThe flour^[White *flour*, sifted.] and more.\n",
    **{f"Spoke {number}.md": "To the [[Hub]]. A moon over the sky.\n" for number in range(1, 131)},
}


@pytest.fixture(scope="module")
def followed(serve_vault: ServeVault) -> Iterator[Site]:
    with serve_vault("followed", FOLLOWED) as found:
        yield found


def test_an_embedded_note_that_changes_while_it_is_fetched_is_fetched_again(followed: Site) -> None:
    with followed.checked_visit() as visit:
        page = visit.page
        held = hold(page, r"view\?path=Moon")
        with page.expect_request(re.compile(r"/v1/view\?path=Moon")):
            visit.show("note", path="Sky.md")
        expect(page.locator(".rail")).to_contain_text("none")
        with page.expect_request(re.compile(r"/v1/view\?path=Moon")):
            tell_changes(page, "Moon.md")
        settle(page)
        release(page, held[1], "Full", "New")
        release(page, held[0])
        expect(page.locator(".embedded")).to_contain_text("New.")


def test_the_match_that_is_shown_stays_the_same_when_an_embed_brings_others(followed: Site) -> None:
    with followed.checked_visit() as visit:
        page = visit.page
        held = hold(page, r"view\?path=Moon")
        with page.expect_request(re.compile(r"/v1/view\?path=Moon")):
            page.evaluate("location.hash = '#/note?path=Sky.md&m=full&m=inside'")
        place = page.locator(".matches [role=status]")
        expect(place).to_have_text("1")
        page.keyboard.press("n")
        expect(place).to_have_text("1 of 1")
        release(page, held[0])
        expect(place).to_have_text("2 of 2")


def test_an_open_note_and_its_hits_follow_the_files(followed: Site) -> None:
    """What has not changed is left as it is: the folded part stays open, and its element is the same."""
    context = followed.context(viewport={"width": 1280, "height": 500})
    search = followed.visit_in(context)
    search.type("saturn")
    expect(search.page.locator(".hit").first).to_contain_text("Clear tonight")
    note = followed.visit_in(context, f"{followed.address}#/note?path=Sky.md").page
    expect(note.locator(".embedded")).to_contain_text("Full.")
    note.locator("summary.callout-kind").click()
    note.evaluate("document.querySelector('.callout').dataset.same = ''")
    scrolled = note.evaluate("(scrollTo(0, 120), scrollY)")

    followed.sandbox.write("Sky.md", FOLLOWED["Sky.md"].replace("Clear tonight.", "Cloudy.\n\nAll night."))
    expect(note.locator(".note-text")).to_contain_text("All night.")
    expect(note.locator("#announce")).to_have_text("The note has changed.")
    expect(note.locator(".callout[data-same][open]")).to_have_attribute("data-line", "9")
    assert abs(note.evaluate("scrollY") - scrolled) < 80  # the browser keeps what is in sight in its place
    followed.sandbox.write("Moon.md", "# Moon\n\nWaning.\n")
    expect(note.locator(".embedded")).to_contain_text("Waning.")
    search.page.bring_to_front()
    expect(search.page.locator(".hit").first).to_contain_text("Cloudy.")

    sky = followed.sandbox.vault / "Sky.md"
    sky.rename(sky.with_name("Heaven.md"))
    expect(search.page.locator(".hit-path").first).to_have_text("Heaven.md")
    note.bring_to_front()
    expect(note.locator(".gone")).to_contain_text("Sky.md is no longer in the vault")
    note.get_by_role("link", name="Search for “Sky”").click()
    expect(note.locator("#q")).to_have_value("Sky")


def test_several_tabs_share_one_stream(followed: Site) -> None:
    context = followed.context()
    tabs = [followed.visit_in(context, f"{followed.address}#/note?path=Hub.md") for _ in range(10)]
    for tab in tabs:
        expect(tab.page.locator(".note-text")).to_contain_text("The hub")
    followed.sandbox.write("Hub.md", "# Hub\n\nThe new hub.\n")
    for tab in tabs:
        expect(tab.page.locator(".note-text")).to_contain_text("The new hub")
    asked = [one for tab in tabs for one in tab.requests if one.url.endswith("/v1/events")]
    assert len(asked) == 1
    tabs[[asked[0] in tab.requests for tab in tabs].index(True)].page.close()
    with tabs[-1].page.expect_response(lambda one: "/v1/view" in one.url):
        followed.sandbox.write("Hub.md", "# Hub\n\nThe hub.\n")


def test_lists_around_a_note_show_all_on_demand(followed: Site) -> None:
    with followed.checked_visit() as visit:
        page = visit.page
        visit.show("note", path="Hub.md")
        part = page.locator(".rail details", has=page.get_by_role("heading", name="Backlinks"))
        expect(part.locator("summary")).to_contain_text("130")
        for number in (30, 60, 90, 120):
            expect(part.locator("li > a")).to_have_count(number)
            part.get_by_role("button", name=f"{min(30, 130 - number)} more", exact=True).click()
            expect(part.locator("li > a").nth(number)).to_be_focused()
        expect(part.locator("li > a")).to_have_count(130)
        expect(part.get_by_role("button")).to_have_count(0)
        visit.show("note", path="Moon.md")
        part = page.locator(".rail details", has=page.get_by_role("heading", name="Mentions"))
        expect(part.locator("summary")).to_contain_text("31+")
        part.get_by_role("button", name="More").click()
        expect(part.locator("li > a")).to_have_count(60)


@pytest.mark.parametrize(
    ("place", "focused", "announced"),
    [
        ({}, "h1.note-title", "Sourdough"),
        ({"line": "13"}, "p.found", "Sourdough: Kneading"),
        ({"at": "#Baking"}, ".heading.found", "Sourdough: Baking"),
        ({"at": "#Nowhere"}, "h1.note-title", "Sourdough has no heading “Nowhere”."),
        ({"at": "^gone"}, "h1.note-title", "Sourdough has no block “^gone”."),
    ],
)
def test_what_is_opened_has_the_focus_and_is_announced(
    site: Site, place: dict[str, str], focused: str, announced: str
) -> None:
    with site.checked_visit() as visit:
        visit.show("note", path="Kitchen/Sourdough.md", **place)
        expect(visit.page.locator(focused)).to_be_focused()
        expect(visit.page.locator("#announce")).to_have_text(announced)
        if " has no " in announced:
            expect(visit.page.locator("#announce")).to_be_in_viewport()
            visit.errors.clear()  # Chromium logs the status 404


def test_back_leads_to_the_hit_that_was_opened(site: Site) -> None:
    with site.checked_visit() as visit:
        page = visit.page
        visit.show("search", q="flour")
        expect(page.locator(".hit").first).to_be_visible()
        opened = page.locator(".hit-title").nth(2)
        title = opened.text_content() or ""
        opened.click()
        expect(page.locator(".found")).to_be_focused()
        page.go_back()
        expect(page.locator(".hit-title").nth(2)).to_be_focused()
        expect(page.locator(".hit-title").nth(2)).to_have_text(title)


def test_matched_words_are_marked_and_gone_through(site: Site) -> None:
    marked = "() => [...CSS.highlights.get('match') ?? []].map(String)"
    with site.checked_visit() as visit:
        page = visit.page
        visit.type("turning compost heaps")
        hit = page.locator(".hit-title", has_text="Compost").first
        expect(hit).to_have_attribute("href", re.compile(r"q=turning\+compost\+heaps\b"))
        hit.click()
        expect(page.locator(".matches")).to_contain_text(re.compile(r"\d"))
        words = page.evaluate(marked)
        assert set(map(str.lower, words)) <= {"turn", "compost", "heap"}
        page.keyboard.press("n")
        expect(page.locator(".matches [role=status]")).to_have_text(re.compile(rf"^\d+ of {len(words)}$"))
        first = int((page.locator(".matches [role=status]").text_content() or "").split()[0])
        page.get_by_role("button", name="Next match").click()
        expect(page.locator(".matches [role=status]")).to_have_text(f"{first + 1} of {len(words)}")
        page.keyboard.press("Shift+N")
        expect(page.locator(".matches [role=status]")).to_have_text(f"{first} of {len(words)}")
        visit.show("note", path="Kitchen/Starter.md")
        expect(page.locator("h1.note-title")).to_have_text("Starter")
        assert page.evaluate(marked) == []
        expect(page.locator(".matches")).to_be_hidden()


def test_a_link_is_previewed(site: Site) -> None:
    """For a mouse that rests on it and for the focus; not for a finger."""
    with site.checked_visit(viewport={"width": 1280, "height": 800}) as visit:
        page = visit.page
        visit.show("note", path="Kitchen/Sourdough.md")
        link, card = page.locator(".note-text a.wikilink", has_text="Feeding"), page.get_by_role("tooltip")
        link.hover()
        expect(card).to_contain_text("Feed the starter every day")
        expect(card).not_to_contain_text("wild yeast")
        expect(link).to_have_accessible_description(re.compile("Feed the starter"))
        assert axe_violations(page) == []
        page.keyboard.press("Escape")
        expect(card).to_be_hidden()
        page.locator(".note-title").focus()
        page.keyboard.press("Tab")
        page.locator(".note-text a.wikilink", has_text="rye").focus()
        expect(page.get_by_role("tooltip")).to_contain_text("Rye flour ferments fast")
        page.keyboard.press("Tab")
        expect(page.get_by_role("tooltip").filter(has_text="Rye flour")).to_be_hidden()
    with site.checked_visit(has_touch=True, viewport={"width": 400, "height": 800}) as visit:
        visit.show("note", path="Kitchen/Sourdough.md")
        visit.page.locator(".note-text a.wikilink", has_text="rye").tap()
        expect(visit.page.locator(".note-title")).to_have_text("Rye bread")
        expect(visit.page.locator(".preview")).to_be_hidden()


def test_the_note_is_copied_as_markdown_and_a_heading_as_a_link(site: Site) -> None:
    with site.checked_visit(permissions=["clipboard-read", "clipboard-write"]) as visit:
        page = visit.page
        visit.show("note", path="Kitchen/Sourdough.md")
        page.get_by_role("button", name="Copy as Markdown").click()
        expect(page.locator("#announce")).to_have_text("Copied.")
        assert page.evaluate("navigator.clipboard.readText()") == NOTES["Kitchen/Sourdough.md"]
        page.get_by_role("button", name="Link to Baking").click()
        page.wait_for_function("() => navigator.clipboard.readText().then(text => text.startsWith('http'))")
        page.goto(page.evaluate("navigator.clipboard.readText()"))
        expect(page.locator(".heading.found")).to_have_text("Baking")
        # As a browser has it that came over HTTP from another machine.
        page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        page.get_by_role("button", name="Copy as Markdown").click()
        expect(page.locator("#announce")).to_contain_text("Not copied")


def test_a_text_that_cannot_be_copied_is_not_said_to_be(followed: Site) -> None:
    visit = followed.visit(permissions=["clipboard-read", "clipboard-write"])
    page = visit.page
    visit.show("note", path="Brief.md")
    copy_button = page.get_by_role("button", name="Copy as Markdown")
    page.evaluate("navigator.clipboard.writeText('before')")
    (followed.sandbox.vault / "Brief.md").unlink()
    expect(page.locator(".gone")).to_be_visible()
    copy_button.click()
    expect(page.locator("#announce")).to_have_text(re.compile("Not copied: no such"))
    page.route("**/v1/file?*", lambda route: route.abort())
    copy_button.click()
    expect(page.locator("#announce")).to_have_text("Not copied: The daemon does not answer.")
    assert page.evaluate("navigator.clipboard.readText()") == "before"


def test_copied_links_lead_to_the_part_that_has_the_headings_above(followed: Site) -> None:
    with followed.checked_visit(permissions=["clipboard-read", "clipboard-write"]) as visit:
        page = visit.page
        visit.show("note", path="Months.md")
        page.get_by_role("button", name="Link to Money").last.click()
        expect(page.locator("#announce")).to_have_text("Copied.")
        page.goto(page.evaluate("navigator.clipboard.readText()"))
        expect(page.locator(".found")).to_have_attribute("data-line", "13")
        visit.show("ask", q="Who cancelled the zeppelin insurance?")
        page.get_by_role("button", name="Copy with links").click()
        expect(page.locator("#announce")).to_have_text("Copied.")
        assert "(Months.md#February#Money)" in page.evaluate("navigator.clipboard.readText()")


def test_the_size_and_width_of_texts_are_kept(site: Site) -> None:
    with site.checked_visit(viewport={"width": 1440, "height": 800}) as visit:
        page = visit.page
        visit.show("note", path="Kitchen/Sourdough.md")
        text = page.locator(".note-text").first
        before = text.evaluate("one => [parseFloat(getComputedStyle(one).fontSize), one.clientWidth]")
        page.get_by_text("Settings").click()
        page.get_by_label("Text size").select_option("larger")
        page.get_by_label("Text width").select_option("wide")
        page.reload()
        page.locator(".note-title").wait_for()
        after = text.evaluate("one => [parseFloat(getComputedStyle(one).fontSize), one.clientWidth]")
        assert after[0] > before[0]
        assert after[1] > before[1]
        assert page.evaluate("document.documentElement.scrollWidth") <= 1440


def test_three_places_of_a_note_are_listed_first(followed: Site) -> None:
    followed.sandbox.write("Often.md", "To [[Moon]].\n\n" * 5)
    with followed.checked_visit() as visit:
        visit.show("note", path="Moon.md")
        often = visit.page.locator(".rail li", has=visit.page.get_by_role("link", name="Often"))
        expect(often.locator("div.line")).to_have_count(3)
        often.get_by_role("button", name="2 more").click()
        expect(often.locator("div.line")).to_have_count(5)


def related(visit: Visit) -> Locator:
    part = visit.page.locator(".rail details")
    return part.filter(has=visit.page.get_by_role("heading", name="Related")).get_by_role("listitem")


def test_related_notes_say_why_in_words_and_those_not_near_are_folded(visit: Visit) -> None:
    page, rows = visit.page, related(visit)
    visit.show("note", path="Kitchen/Rye bread.md")
    expect(rows.filter(has_text="Sourdough")).to_contain_text(
        re.compile("links here · same tag #kitchen/bread · .*meaning")
    )
    expect(rows.filter(has_text="Starter").first).to_contain_text("linked from here")
    expect(rows.filter(has_text="Kale")).to_have_count(0)
    expect(rows.last).to_have_text(re.compile(r"\d less close"))
    before = rows.count()
    rows.last.get_by_role("button").click()
    assert rows.count() > before
    assert page.evaluate("document.activeElement.closest('.rail li a') !== null")


def test_related_notes_are_pinned_and_hidden_for_this_note(site: Site) -> None:
    with site.checked_visit() as visit:
        page, rows = visit.page, related(visit)
        visit.show("note", path="Kitchen/Rye bread.md")
        expect(rows.first).to_contain_text("Sourdough")
        rows.first.hover()
        page.get_by_role("button", name="Hide Sourdough").click()
        expect(rows.filter(has_text="Sourdough")).to_have_count(0)
        expect(rows.filter(has_text="1 hidden")).to_be_visible()
        page.get_by_role("button", name=re.compile("less close")).click()
        last = rows.filter(has_text="meaning").last
        title = last.get_by_role("link").inner_text()
        last.get_by_role("button", name="Pin").focus()
        page.keyboard.press("Enter")
        expect(rows.first).to_contain_text(title)
        page.reload()
        expect(rows.first).to_contain_text(title)
        page.get_by_role("button", name="1 hidden").click()
        page.get_by_role("button", name="Show Sourdough").focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name=f"Unpin {title}").focus()
        page.keyboard.press("Enter")
        expect(rows.first).to_contain_text("Sourdough")
        assert page.evaluate("localStorage.getItem('related:')") == "{}"
