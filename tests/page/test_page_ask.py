"""Questions in the page: sentences with citations, what is sent where, answers that stop, fail or arrive in
parts."""

import json
import re
from collections.abc import Iterator

import pytest
from openai_server import Answer, ModelServer, model_server
from page_site import NOTES, ServeVault, Site, Visit, axe_violations
from playwright.sync_api import expect
from waiting import DEADLINE_S, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.browser]

QUESTION = "What shows the rings of Saturn?"
SAID = "The telescope shows the rings of Saturn on a clear night 🪐 and the moons of Jupiter."


def ask(visit: Visit, question: str) -> None:
    visit.page.fill("#question", question)
    visit.page.locator("#question").press("Enter")


def questions(visit: Visit) -> list[dict[str, object]]:
    """The bodies of the requests that asked."""
    return [json.loads(one.post_data or "") for one in visit.requests if one.url.endswith("/v1/ask")]


def test_an_answer_cites_the_place_that_it_opens(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("link", name="Ask", exact=True).click()
    expect(page.locator("#question")).to_be_focused()
    expect(page.locator(".ask")).to_contain_text("nothing is sent")
    ask(visit, QUESTION)
    expect(page.locator(".answer-kind")).to_have_text("Quoted from your notes")
    expect(page.locator(".sentence").first).to_have_text(re.compile(rf"^{SAID} 1$"))
    expect(page.get_by_role("status").first).to_contain_text(SAID)
    expect(page.locator(".sources li").first).to_contain_text("Night sky")
    expect(page.locator(".sources blockquote").first).to_contain_text("rings of Saturn")
    cite = page.get_by_role("link", name="Source 1: Night sky")
    cite.click()
    expect(page.locator(".note-text .found")).to_contain_text(SAID)
    expect(page.locator(".matches")).to_contain_text("1")
    page.go_back()
    expect(cite).to_be_focused()
    assert [one["q"] for one in questions(visit)] == [QUESTION], "Back asks nothing again"
    page.reload()
    expect(page.locator(".sentence").first).to_contain_text(SAID)


def test_a_question_that_no_note_answers_gets_the_nearest_passages(visit: Visit) -> None:
    page = visit.page
    visit.show("ask", q="Who won the chess olympiad in Reykjavik?")
    expect(page.locator(".answer-kind")).to_contain_text("No note answers this")
    expect(page.locator(".answer")).to_contain_text("No note contains:")
    expect(page.locator(".sentence")).to_have_count(0)
    page.locator(".passages a").first.click()
    expect(page.locator("h1.note-title")).to_be_visible()


def test_a_follow_up_is_a_new_question_and_the_first_stays(visit: Visit) -> None:
    page = visit.page
    visit.show("ask", q=QUESTION)
    page.get_by_role("button", name="Follow-up question").click()
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type("What is fermented by wild yeast?")
    page.keyboard.press("Enter")
    expect(page.locator(".answer-place .sentence").first).to_contain_text("wild yeast")
    earlier = page.get_by_role("region", name="Earlier questions")
    expect(earlier).to_contain_text("answered on its own")
    earlier.get_by_text(QUESTION).click()
    expect(earlier.locator(".sentence").first).to_contain_text(SAID)
    assert [one["q"] for one in questions(visit)] == [QUESTION, "What is fermented by wild yeast?"]
    page.go_back()
    expect(page.locator(".answer-place .sentence").first).to_contain_text(SAID)


def test_a_copy_has_links_to_the_notes(visit: Visit) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit.page
    visit.show("ask", q="How often should I feed the starter?")
    page.get_by_role("button", name="Copy with links").click()
    page.wait_for_function("() => document.querySelector('#announce').textContent === 'Copied.'")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == (
        "**How often should I feed the starter?**\n\n"
        "Feed the starter every day with flour and water. [1](Kitchen/Starter.md#Feeding)\n\n"
        "1. [Starter › Feeding](Kitchen/Starter.md#Feeding)\n"
    )


def test_a_failure_is_said_and_the_question_is_asked_again(site: Site) -> None:
    visit = site.visit()
    page = visit.page
    visit.show("ask")
    page.locator("#question").wait_for()
    page.route("**/v1/ask", lambda route: route.abort())
    ask(visit, QUESTION)
    expect(page.locator(".answer .detail")).to_have_text("The daemon does not answer.")
    page.unroute("**/v1/ask")
    page.evaluate("document.dispatchEvent(new CustomEvent('renewed', {detail: null}))")
    expect(page.locator(".sentence").first).to_contain_text(SAID)
    ask(visit, "x" * 5000)
    expect(page.locator(".answer .detail")).to_contain_text("4096")


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    pytest.importorskip("llama_index.llms.openai_like")
    with model_server() as running:
        yield running


@pytest.fixture(scope="module")
def written_site(serve_vault: ServeVault, model: ModelServer) -> Iterator[Site]:
    """A vault whose answers are written by a model."""
    with serve_vault("written", NOTES) as found:
        config = found.sandbox.root / "config" / "vault-indexer" / "config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f'[llm]\nprovider = "openai"\nmodel = "m"\nurl = "{model.url}/v1"\n', "utf-8")
        wait_until(lambda: found.api("status")["language_model"] is not None, "the daemon reads the setting")
        yield found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_sent_to_a_model_before_that_is_chosen(
    written_site: Site, model: ModelServer, scheme: str
) -> None:
    model.requests.clear()
    with written_site.checked_visit(color_scheme=scheme) as visit:
        page = visit.page
        visit.show("ask", q=QUESTION)
        choice = page.get_by_role("region", name="Before the first question")
        expect(choice).to_contain_text(f"{model.url.removeprefix('http://')}, on this computer")
        page.get_by_role("button", name="Show what would be sent").click()
        expect(page.locator(".prompt")).to_contain_text("rings of Saturn")
        assert axe_violations(page) == []
        page.get_by_role("button", name="Only quote my notes, send nothing").click()
        expect(page.locator(".answer-kind")).to_have_text("Quoted from your notes")
        assert axe_violations(page) == []
        assert model.requests == []
        assert [one.get("model") for one in questions(visit)] == [None, False]
        page.reload()
        expect(page.locator(".answer-kind")).to_have_text("Quoted from your notes")
        assert model.requests == []


def test_sentences_arrive_while_the_model_writes_and_it_can_be_stopped(
    written_site: Site, model: ModelServer
) -> None:
    claim = {"text": SAID, "ids": ["s1"], "quote": SAID}
    text = json.dumps({"sentences": [claim, {**claim, "text": "The end."}]})
    model.script[:] = [Answer(text, held_from="The end."), Answer(text)]
    with written_site.checked_visit() as visit:
        page = visit.page
        visit.show("ask", q=QUESTION)
        page.get_by_role("button", name="Send and let openai/m write").click()
        expect(page.locator(".sentence")).to_contain_text(SAID)
        page.get_by_role("button", name="Stop").click()
        expect(page.locator(".answer-state")).to_have_text("Stopped. The answer is not complete.")
        assert model.left.acquire(timeout=DEADLINE_S), "the model can stop, too"
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.locator(".answer-kind")).to_have_text("Written by openai/m, checked against your notes")
        page.get_by_text("1 sentence left out").click()
        expect(page.locator(".dropped li")).to_contain_text("The end.")
        assert axe_violations(page) == []
