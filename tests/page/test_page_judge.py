"""Grades by hand in the page, and clicks, which are sent only where the user wants it."""

import json
from collections.abc import Iterator

import pytest
from page_site import NOTES, ServeVault, Site, hold, release, settle
from playwright.sync_api import expect
from waiting import wait_until

from vault_evals.questions import Judgements, judged_folder, load_questions

pytestmark = [pytest.mark.slow, pytest.mark.browser]

QUESTION = "how do I feed a starter"


@pytest.fixture
def own_site(serve_vault: ServeVault) -> Iterator[Site]:
    """A vault whose grades and clicks are those of one test."""
    with serve_vault("judged", NOTES) as found:
        yield found


def judgements(site: Site) -> Judgements:
    return Judgements.load(judged_folder(site.sandbox.index_dir / "evals"))


def test_notes_are_graded_by_keyboard_and_judging_goes_on(own_site: Site) -> None:
    visit = own_site.visit()
    visit.show("judge")
    page = visit.page
    page.get_by_label("Question", exact=True).fill(QUESTION)
    page.keyboard.press("Enter")
    place = page.locator("#judge-place")
    expect(place).to_contain_text("1 of ")
    expect(place).to_contain_text("0 notes graded")
    shown = page.locator("article .hit-path")
    first = shown.text_content()
    page.keyboard.press("2")
    expect(place).to_contain_text("2 of ")
    second = shown.text_content()
    page.keyboard.press("s")
    expect(place).to_contain_text("3 of ")
    third = shown.text_content()
    page.get_by_role("button", name="0 does not help").click()
    expect(place).to_contain_text("2 notes graded")
    (graded,) = judgements(own_site).grades.values()
    assert graded == {first: 2, third: 0}
    page.reload()
    expect(place).to_contain_text("2 notes graded")
    assert shown.text_content() not in (first, third)
    assert second not in graded
    page.get_by_role("link", name="All questions").click()
    expect(page.get_by_role("link", name=QUESTION)).to_be_visible()
    assert visit.errors == []
    assert visit.foreign() == []


def test_a_grade_that_is_stored_late_skips_no_note_and_brings_no_view_back(own_site: Site) -> None:
    visit = own_site.visit()
    page = visit.page
    visit.show("judge", q=QUESTION)
    place = page.locator("#judge-place")
    expect(place).to_contain_text("1 of ")
    held = hold(page, "judge")
    page.keyboard.press("1")
    page.keyboard.press("s")
    settle(page)
    release(page, held[0])
    expect(place).to_contain_text("2 of ")
    expect(place).to_contain_text("1 note graded")
    page.keyboard.press("1")
    settle(page)
    visit.show("health")
    expect(page.locator(".pill")).to_be_visible()
    release(page, held[1])
    expect(page.locator(".pill")).to_be_visible()
    (graded,) = judgements(own_site).grades.values()
    assert len(graded) == 2
    assert visit.errors == []


def test_the_last_note_ends_the_question(own_site: Site) -> None:
    visit = own_site.visit()
    visit.show("judge", q=QUESTION)
    place = visit.page.locator("#judge-place")
    expect(place).to_contain_text("1 of ")
    total = int(place.inner_text().split(" of ")[1].split()[0])
    for number in range(1, total + 1):
        visit.page.keyboard.press("1")
        expect(place).to_contain_text(f"{number} note")
    expect(place).to_contain_text("No note is left")
    visit.page.keyboard.press("1")
    (graded,) = judgements(own_site).grades.values()
    assert list(graded.values()) == [1] * total


def test_clicks_are_sent_only_where_the_user_wants_it(own_site: Site) -> None:
    cases = own_site.sandbox.index_dir / "evals"
    for wanted in (False, True):
        if wanted:
            config = own_site.sandbox.root / "config" / "vault-indexer" / "config.toml"
            config.parent.mkdir(parents=True, exist_ok=True)
            config.write_text("[evals]\nrecord_clicks = true\n", "utf-8")
            wait_until(lambda: own_site.api("status")["records_clicks"], "the daemon reads the setting")
        visit = own_site.visit()
        visit.show("search", q="telescope")
        hit = visit.page.locator("li.hit").first
        expect(hit).to_contain_text("Telescope")
        path = str(hit.locator(".action", has_text="Graph").get_attribute("href"))
        assert "Telescope" in path
        if wanted:
            with visit.page.expect_response("**/evals/click") as answer:
                hit.locator(".hit-title").click()
            assert answer.value.status == 200
            assert json.loads(answer.value.request.post_data or "") == {
                "q": "telescope",
                "path": "Sky/Telescope.md",
                "rank": 1,
            }
        else:
            hit.locator(".hit-title").click()
        expect(visit.page.locator(".note-title")).to_have_text("Telescope")
        assert [one for one in visit.requests if one.url.endswith("/evals/click")] == [] or wanted
        assert cases.exists() == wanted
        assert visit.foreign() == []
    (question,) = load_questions(cases)
    assert (question.text, question.kind, list(question.grades)) == (
        "telescope",
        "clicked",
        ["Sky/Telescope.md"],
    )
