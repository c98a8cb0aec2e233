"""A note in the page looks as people know it."""

import importlib.util
import itertools
import re
from collections.abc import Iterator

import pytest
from page_site import PNG, ServeVault, Site, Visit, axe_violations
from playwright.sync_api import Locator, expect

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LONG_LINES = 30_000
"""Of a note that is longer than what is shown at a time."""

LONG_WORDS = ["internationalisation", "characteristically", "responsibilities"] * 6
WIDE_ROW = f"| {' | '.join(LONG_WORDS)} |"
"""A table with a column for each is wider than any window of these tests."""

NOTES = {
    "Marks.md": "# Marks\n\n- [ ] to do\n- [x] done\n\n"
    "H<sub>2</sub>O, <kbd>Esc</kbd>, a<br>b. <!-- hidden -->\n\n"
    "<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby> and <abbr title='x'>TLA</abbr>.\n\n"
    "See https://example.org/a_(b). A note[^1] and ^[another].\n\n[^1]: The *first*.\n",
    "Formulas.md": "# Formulas\n\nHere $\\frac{a}{b}$ and $\\nosuchcommand$.\n\n$$\ne^{i\\pi}\n$$\n",
    "Diagrams.md": "# Diagrams\n\n"
    "```mermaid\ngraph TD\n  A[Start] --> B\n```\n\n```mermaid\nno diagram\n```\n",
    "Callouts.md": "# Callouts\n\n> [!tip]- Folded\n> Inside the fold.\n\n> [!danger] Open\n> x\n\n"
    "> [!caution]+ Unfolded\n> y\n\n> [!quote]- See [[Code]]\n> In the linked fold.\n",
    "Code.md": "# Code\n\n```python\ndef f():\n    return 'x'\n```\n\n```nosuchlanguage\nplain\n```\n",
    "Table.md": "# Table\n\n| left | right | words | more | and more |\n"
    "| --- | ---: | --- | --- | --- |\n"
    "| a | 1 | internationalisation | characteristically | responsibilities |\n",
    "Wide.md": f"# Wide\n\n{WIDE_ROW}\n|{' --- |' * len(LONG_WORDS)}\n{WIDE_ROW}\n",
    "Within.md": "# Within\n\nTo [[#Far below|far]] and [[#^mark|the mark]].\n\n"
    + "Text.\n\n" * 120
    + "Marked.\n^mark\n\n## Far below\n\nThe end.\n",
    "Links.md": "# Links\n\n"
    "[[Code]], [[Code|again]], [[Code#Code]] [[nowhere]] [[nowhere]] [[dot.png]] [[paper.pdf]]\n",
    "Properties.md": '---\nup: "[[Code]]"\nsite: https://example.org\ndone: true\nlist: [one, two]\n'
    "deep: {key: value}\n---\nx\n",
    "Arabic.md": "# ملاحظة\n\nهذه فقرة باللغة العربية عن القطط والكلاب والطيور في الحديقة.\n\n"
    "- عنصر أول\n\nEnglish words.\n",
    "Folder/Apps.md": "---\ntags: ["
    + ", ".join(f"t{number}" for number in range(1, 16))
    + "]\n---\n# Apps\n\n"
    "[z](zotero://select/1) [web](https://example.org) [file](file:///a/b.pdf) <odd:thing>\n\n"
    '<img src="../dot.png" width="40">\n\nThe mass $m^2$ is small.\n\n- [x] done\n- [?] asked\n\n'
    "```python\nx = 1\n```\n\n$$\n" + "x + " * 200 + "y\n$$\n",
    "Broken.md": "---\ntags: [one\nkey: value\n---\n# Broken\n\nText.\n",
    "Jumps.md": "### Deep first\n\n# Top\n\n#### Jump\n\n![[Code]]\n\n| a |\n| --- |\n| b |\n\n| c | |\n"
    "| --- | --- |\n| d | |\n\n> [!bug] x\n> ##### In a callout\n\n```\na\n```\n\n```\nb\n```\n",
    "Headings.md": "# First\n\n"
    + "".join(f"## Part {number}\n\n{'Of some length. ' * 5}\n\n" for number in range(1, 1001))
    + "# Last\n",
}


@pytest.fixture(scope="module")
def notes(serve_vault: ServeVault) -> Iterator[Site]:
    lines = [
        f"Line {number} of this very long note." if number % 2 else "" for number in range(1, LONG_LINES + 1)
    ]
    lines[0], lines[LONG_LINES - 11] = "# Long", "## Near the end"
    others: dict[str, str | bytes] = {"Long.md": "\n".join(lines), "dot.png": PNG, "paper.pdf": b"%PDF-1.4"}
    others["Paper.md"] = (
        f"{'| a column ' * 20}|\n{'| --- ' * 20}|\n{'| a value ' * 20}|\n\n"
        f"$$a = {' + '.join(f'x_{{{number}}}^2' for number in range(60))}$$\n\n"
        f"$$\\frac{{{' + '.join(f'y_{{{number}}}' for number in range(40))}}}{{2}}$$\n\n"
        f"```\n{'code ' * 60}\n```\n\n> [!note]- Folded\n> Inside.\n"
    )
    with serve_vault("reading", {**NOTES, **others}) as found:
        yield found


@pytest.fixture
def visit(notes: Site) -> Iterator[Visit]:
    with notes.checked_visit(reduced_motion="reduce", viewport={"width": 1300, "height": 800}) as found:
        yield found


def text_of(visit: Visit, note: str, **values: str) -> Locator:
    visit.show("note", path=f"{note}.md", **values)
    expect(visit.page.locator(".note .hit-path")).to_have_text(f"{note}.md")
    return visit.page.locator(".note-text")


def middle(one: Locator) -> float:
    box = one.bounding_box()
    assert box is not None
    return float(box["y"] + box["height"] / 2)


def test_the_box_of_a_task_stands_beside_its_text(visit: Visit) -> None:
    tasks = text_of(visit, "Marks").locator("li.task")
    expect(tasks).to_have_count(2)
    for task in tasks.all():
        assert abs(middle(task.locator(".box")) - middle(task.locator("p"))) < 4


def test_harmless_html_and_addresses(visit: Visit) -> None:
    text = text_of(visit, "Marks")
    expect(text.locator("sub")).to_have_text("2")
    expect(text.locator("kbd")).to_have_text("Esc")
    expect(text.locator("ruby > rt")).to_have_text("かんじ")
    expect(text.get_by_text("TLA")).to_have_text("TLA")
    expect(text.locator("p > br")).to_have_count(1)
    expect(text).not_to_contain_text("hidden")
    expect(text.locator("a.external")).to_have_attribute("href", "https://example.org/a_(b)")


def test_footnotes_lead_there_and_back(visit: Visit) -> None:
    page, text = visit.page, text_of(visit, "Marks")
    expect(text.locator(".footnotes li")).to_have_count(2)
    text.get_by_role("button", name="Footnote 1", exact=True).click()
    expect(text.locator(".footnotes li").first).to_be_focused()
    expect(text.locator(".footnotes em")).to_have_text("first")
    text.get_by_role("button", name="Back to the reference of footnote 1").click()
    assert page.evaluate("document.activeElement.dataset.footnoteRef") == "1"


def test_formulas_are_set(visit: Visit) -> None:
    text = text_of(visit, "Formulas")
    expect(text.locator(".set .katex")).to_have_count(2)
    expect(text.locator(".formula .katex-display")).to_have_count(1)
    expect(text.get_by_role("math")).to_have_count(2)
    expect(text.get_by_role("math").first).to_have_accessible_name("\\frac{a}{b}")
    left = text.locator("[data-formula]:not(.set)")
    expect(left).to_have_text("\\nosuchcommand")
    expect(left).to_have_attribute("title", re.compile("nosuchcommand"))
    assert visit.page.evaluate("document.fonts.check('16px KaTeX_Math')")


def test_diagrams_are_pictures(visit: Visit) -> None:
    text = text_of(visit, "Diagrams")
    places = text.locator("[data-diagram]")
    if importlib.util.find_spec("mermaidx") is None:
        expect(places.first).to_contain_text("pip install")
        expect(places.first.locator("pre")).to_contain_text("graph TD")
        return
    picture = places.first.locator("img")
    expect(picture).to_have_accessible_name(re.compile("Start"))
    assert picture.evaluate("one => one.decode().then(() => one.naturalWidth > 20 && one.naturalHeight > 20)")
    expect(places.first.locator("pre")).to_be_hidden()
    expect(places.nth(1)).to_contain_text("cannot be drawn")
    expect(places.nth(1).locator("pre")).to_be_visible()


def test_callouts_have_their_kind_and_fold(visit: Visit) -> None:
    text = text_of(visit, "Callouts")
    expect(text.get_by_role("img")).to_have_count(4)
    expect(text.locator(".callout-icon")).to_have_count(4)
    assert [one.get_attribute("aria-label") for one in text.locator(".callout-icon").all()] == [
        "tip", "danger", "warning", "quote"
    ]  # fmt: skip
    hues = text.locator(".callout").evaluate_all(
        "all => all.map(one => getComputedStyle(one).borderLeftColor)"
    )
    assert len(set(hues)) == 4
    expect(text.get_by_text("Inside the fold.")).to_be_hidden()
    expect(text.get_by_text("y", exact=True)).to_be_visible()
    text.get_by_text("Folded", exact=True).click()
    expect(text.get_by_text("Inside the fold.")).to_be_visible()
    expect(text.get_by_text("In the linked fold.")).to_be_hidden()
    text.get_by_text("Contents").click()
    expect(text.get_by_text("In the linked fold.")).to_be_visible()
    assert axe_violations(visit.page) == []
    visit.page.reload()
    expect(text_of(visit, "Callouts", line="4").get_by_text("Inside the fold.")).to_be_visible()


def test_code_has_its_language_its_colours_and_a_copy(visit: Visit) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = text_of(visit, "Code")
    expect(text.locator(".code-language")).to_have_text(["python", "nosuchlanguage"])
    expect(text.locator(".hl-keyword")).to_have_text(["def", "return"])
    expect(text.locator("pre")).to_have_text(["def f():\n    return 'x'", "plain"])
    text.get_by_role("button", name="Copy").first.click()
    said = visit.page.locator("#announce")
    expect(said).to_have_class("shown")
    expect(said).to_have_text("Copied.")
    expect(said).to_have_class("hidden", timeout=10_000)
    assert visit.page.evaluate("navigator.clipboard.readText()") == "def f():\n    return 'x'\n"


def lines_of_cells(text: Locator) -> list[int]:
    """Of each cell of the body, the lines that it takes."""
    found: list[int] = text.locator("td").evaluate_all(
        """all => all.map(one => {
          const range = document.createRange();
          range.selectNodeContents(one);
          return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
        })"""
    )
    return found


@pytest.mark.parametrize("width", [320, 1440])
def test_words_in_a_table_stay_whole(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 700})
    text = text_of(visit, "Table")
    assert lines_of_cells(text) == [1, 1, 1, 1, 1]
    aligned = text.locator("td, th").evaluate_all("all => all.map(one => getComputedStyle(one).textAlign)")
    assert aligned == ["start", "right", "start", "start", "start"] * 2
    text = text_of(visit, "Wide")
    assert lines_of_cells(text) == [1] * len(LONG_WORDS)
    wide = text.locator(".scroll").evaluate("one => [one.scrollWidth, one.clientWidth]")
    assert wide[0] > 1440 > wide[1]  # it scrolls, and the page does not
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width


def test_links_within_a_note_lead_to_their_place_and_the_outline_marks_it(visit: Visit) -> None:
    page, text = visit.page, text_of(visit, "Within")
    outline = page.get_by_role("navigation", name="Outline")
    expect(outline.locator("[aria-current]")).to_have_text("Within")
    page.mouse.move(600, 400)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(outline.locator("[aria-current]")).to_have_text("Far below")
    asked = len(visit.requests)
    text.get_by_role("link", name="far").click()
    expect(text.get_by_role("heading", name="Far below")).to_be_in_viewport()
    expect(text.locator(".found")).to_have_text("Far below")
    assert "at=Far" in page.url
    text.get_by_role("link", name="the mark").click()
    expect(text.locator(".found")).to_have_text("Marked.")
    assert not [one for one in visit.requests[asked:] if "/v1/view" in one.url]
    visit.show("note", path="Within.md", at="^mark")
    expect(page.locator(".found")).to_be_in_viewport()


def test_each_target_of_links_is_listed_once_and_attachments_are_links_and_pictures(visit: Visit) -> None:
    text = text_of(visit, "Links")
    expect(visit.page.locator(".rail details").first.locator("li")).to_have_text(
        ["Code 2 times", "Code#Code", "nowhere leads nowhere 2 times", "dot.png", "paper.pdf"]
    )
    expect(text.get_by_role("link", name="paper.pdf")).to_have_attribute("href", "#/note?path=paper.pdf")
    for shown in (1, 0):
        text.get_by_role("button", name="dot.png", exact=True).click()
        expect(text.locator("img")).to_have_count(shown)


def test_links_to_other_programs_open_or_show_their_address(notes: Site) -> None:
    with notes.checked_visit(permissions=["clipboard-read", "clipboard-write"]) as visit:
        text = text_of(visit, "Folder/Apps")
        opens = text.locator("a.external").evaluate_all(
            "all => all.map(one => [one.getAttribute('href'), one.getAttribute('target')])"
        )
        assert opens == [["zotero://select/1", None], ["https://example.org", "_blank"]]
        closed = text.locator(".closed-address")
        expect(closed).to_have_text(["file file:///a/b.pdf", "odd:thing"])
        closed.first.get_by_role("button").click()
        expect(visit.page.locator("#announce")).to_have_text("Copied.")
        assert visit.page.evaluate("navigator.clipboard.readText()") == "file:///a/b.pdf"


def test_a_picture_has_its_width_a_wide_formula_scrolls_and_tags_are_folded(visit: Visit) -> None:
    page, text = visit.page, text_of(visit, "Folder/Apps")
    expect(text.locator("img")).to_have_js_property("naturalWidth", 1)
    expect(text.locator("img")).to_have_attribute("width", "40")
    text.locator(".formula.set").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('.formula.set').scrollLeft > 0")
    tags = page.locator(".properties > .tags")
    expect(tags.locator(".tag")).to_have_count(12)
    tags.get_by_role("button", name="3 more").click()
    expect(tags.locator(".tag")).to_have_count(15)
    expect(tags.locator(".tag").nth(12)).to_be_focused()


def test_a_copy_has_what_is_written(notes: Site) -> None:
    with notes.checked_visit(permissions=["clipboard-read", "clipboard-write"]) as visit:
        page, text = visit.page, text_of(visit, "Folder/Apps")
        expect(text.locator(".set .katex")).to_have_count(2)
        page.evaluate("getSelection().selectAllChildren(document.querySelector('.note-text'))")
        page.keyboard.press("Control+c")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert "The mass $m^2$ is small." in copied
        assert "- [x] done\n" in copied
        assert "- [?] asked\n" in copied
        assert "Copy" not in copied
        assert text.locator(".copy").count() == 1  # the note itself is as it was


def test_properties_that_are_not_valid_are_shown_as_written(visit: Visit) -> None:
    text = text_of(visit, "Broken")
    expect(visit.page.get_by_role("note")).to_contain_text("Not everything is read as written: line 3")
    expect(text.locator("pre")).to_have_text("---\ntags: [one\nkey: value\n---\n")
    expect(text.locator(".heading")).to_have_text(["Broken"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_printed_note_is_black_on_white_without_controls(notes: Site, scheme: str) -> None:
    visit = notes.visit(color_scheme=scheme)
    page, text = visit.page, text_of(visit, "Folder/Apps")
    page.emulate_media(media="print")
    for part in (".bar", ".outline", ".rail", ".note-main .tools", ".copy"):
        expect(page.locator(part).first).to_be_hidden()
    style = page.evaluate(
        "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))"
    )
    assert style == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    assert (text.bounding_box() or {})["width"] > 1000
    address = "getComputedStyle(document.querySelectorAll('a.external')[1], '::after').content"
    assert "https://example.org" in page.evaluate(address)


def test_paper_has_all_of_a_note_or_says_which_part(visit: Visit) -> None:
    page, text = visit.page, text_of(visit, "Paper")
    expect(text.locator(".formula.set")).to_have_count(2)
    page.set_viewport_size({"width": 700, "height": 900})
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    parts = text.locator(".scroll, .formula, pre")
    expect(parts).to_have_count(4)
    for part in parts.all():
        assert part.evaluate("one => one.scrollWidth <= one.clientWidth + 1"), part
    expect(text.get_by_text("Inside.")).to_be_visible()
    lines = text_of(visit, "Long").locator(".long-note").first
    expect(lines.get_by_text(re.compile("Lines 1 to .* of a long note"))).to_be_visible()
    expect(lines.get_by_role("link")).to_have_count(0)


def test_properties_are_a_table(visit: Visit) -> None:
    text_of(visit, "Properties")
    place = visit.page.locator(".properties")
    place.locator("summary").click()
    rows = place.locator(".property-table").first.locator("> tbody > tr")
    expect(rows.locator("> th")).to_have_text(["up", "site", "done", "list", "deep"])
    expect(rows.nth(0).get_by_role("link", name="Code")).to_have_attribute("href", "#/note?path=Code.md")
    expect(rows.nth(1).get_by_role("link")).to_have_attribute("href", "https://example.org")
    expect(rows.nth(2).get_by_role("img", name="yes")).to_be_visible()
    expect(rows.nth(3).locator("li")).to_have_text(["one", "two"])
    expect(rows.nth(4).locator("td table")).to_contain_text("value")


def test_a_hit_far_down_in_a_long_note_is_marked(visit: Visit) -> None:
    text = text_of(visit, "Long", line=str(LONG_LINES - 1999))
    expect(text.locator(".found")).to_have_text(f"Line {LONG_LINES - 1999} of this very long note.")
    expect(text.locator(".found")).to_be_in_viewport()


def test_the_outline_leads_to_what_is_not_shown_yet(visit: Visit) -> None:
    text = text_of(visit, "Long")
    expect(text.locator(".long-note").first).to_contain_text("Lines 1 to")
    outline = visit.page.get_by_role("navigation", name="Outline")
    outline.get_by_role("button", name="Near the end").click()
    expect(text.locator(".found")).to_have_text("Near the end")
    expect(text.get_by_role("link", name="After")).to_have_count(0)
    text.get_by_role("link", name="Before").first.click()
    expect(text.get_by_role("heading", name="Near the end")).to_have_count(0)


def test_only_what_is_near_the_window_is_laid_out(visit: Visit) -> None:
    text = text_of(visit, "Long")
    far = text.locator("> p[data-line]").nth(-9)
    height = "one => one.getBoundingClientRect().height"
    line = text.locator("> p[data-line]").first.evaluate(height)
    assert far.evaluate(height) > line  # a guess until it is near
    far.scroll_into_view_if_needed()
    expect(far).to_be_in_viewport()
    # The browser lays it out in a later frame.
    visit.page.wait_for_function(
        f"([one, line]) => ({height})(one) === line", arg=[far.element_handle(), line]
    )


def test_of_very_many_headings_the_outline_has_those_of_the_part_and_the_highest(visit: Visit) -> None:
    text_of(visit, "Headings")
    items = visit.page.get_by_role("navigation", name="Outline").get_by_role("button")
    texts = items.all_text_contents()
    assert (texts[:2], texts[-1]) == (["First", "Part 1"], "Last")
    assert 100 < len(texts) < 900
    items.last.click()
    expect(visit.page.locator(".note-text .found")).to_have_text("Last")
    assert "Part 1000" in items.all_text_contents()


def test_arabic_runs_from_right_to_left(visit: Visit) -> None:
    text = text_of(visit, "Arabic")
    expect(text).to_have_attribute("lang", "ar")
    directions = text.locator("> h2, > p, > ul").evaluate_all(
        "all => all.map(one => getComputedStyle(one).direction)"
    )
    assert directions == ["rtl", "rtl", "rtl", "ltr"]
    title = visit.page.locator(".note-title")
    assert title.evaluate("one => getComputedStyle(one).unicodeBidi") in ("plaintext", "isolate")
    expect(visit.page.locator(".outline button").first).to_have_attribute("dir", "auto")


def test_headings_have_no_gap_in_their_levels(visit: Visit) -> None:
    text = text_of(visit, "Jumps")
    expect(text.locator(".embedded h4, .embedded h5")).to_have_text("Code")
    levels = (
        visit.page.locator(".note-main")
        .locator("h1, h2, h3, h4, h5, h6")
        .evaluate_all("all => all.map(one => Number(one.localName[1]))")
    )
    assert all(below <= above + 1 for above, below in itertools.pairwise(levels)), levels
    assert levels == [1, 2, 2, 3, 4, 4]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_what_a_note_holds(notes: Site, scheme: str) -> None:
    visit = notes.visit(color_scheme=scheme, reduced_motion="reduce")
    apps = "Folder/Apps"
    for note in ("Marks", "Callouts", "Code", "Formulas", "Properties", "Jumps", "Links", apps, "Broken"):
        text_of(visit, note)
        expect(visit.page.locator(".rail .quiet-text", has_text="…")).to_have_count(0)
        assert axe_violations(visit.page) == [], note
