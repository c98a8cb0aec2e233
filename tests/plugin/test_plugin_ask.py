"""Questions in the Obsidian plugin: sentences with citations, what is sent where, copying and inserting."""

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from plugin_page import PluginPage

QUESTION = "When does the ferry leave the harbour?"
QUOTE = "A boat that leaves the harbour at noon."
FERRY = "Places/Ferry.md"


def ask(plugin: PluginPage, question: str) -> Locator:
    """The place of the answer to a question that was typed into the view."""
    plugin.run("ask")
    field = plugin.page.get_by_label("Question", exact=True)
    expect(field).to_be_focused()
    field.fill(question)
    field.press("Enter")
    return plugin.page.locator(".vault-indexer-answer")


def questions(plugin: PluginPage) -> list[dict[str, Any]]:
    """The bodies of the questions that were sent."""
    return [json.loads(one["body"]) for one in plugin.requests if one["url"].endswith("/v1/ask")]


def test_an_answer_cites_places_that_open_and_is_inserted_with_one_undo(plugin: PluginPage) -> None:
    plugin.open_note("Kitchen/Ledger.md")
    before = plugin.tabs()[0]["text"]
    answer = ask(plugin, "What leaves the harbour at noon?")
    expect(answer).to_contain_text("Quoted from your notes")
    expect(answer.locator(".vault-indexer-sentence").first).to_contain_text(QUOTE)
    expect(plugin.page.locator(".vault-indexer-ask")).to_contain_text("Nothing is sent to a language model")
    assert [one["model"] for one in questions(plugin)] == [False]

    answer.get_by_role("button", name="Copy with links").click()
    expect(plugin.page.locator(".notice")).to_have_text("Copied")
    copied = plugin.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith("**What leaves the harbour at noon?**\n\n")
    assert f"{QUOTE} [[Ferry|1]]" in copied
    assert "\n1. [[Ferry|Ferry" in copied
    answer.get_by_role("button", name="Insert into the note").click()
    plugin.wait("copied => window.host.tabs()[0].text.includes(copied)", copied)
    plugin.evaluate("() => window.host.editor.undo()")
    assert plugin.tabs()[0]["text"] == before

    answer.locator(".vault-indexer-cite").first.click(modifiers=["Control"])
    plugin.wait("() => window.host.tabs().length === 2 && window.host.tabs()[1].marks.length > 0")
    opened = plugin.tabs()[1]
    assert (opened["path"], opened["marks"]) == (FERRY, [QUOTE])


def test_a_question_that_nothing_answers_shows_the_nearest_passages(plugin: PluginPage) -> None:
    answer = ask(plugin, "Who won the chess olympiad in Reykjavik?")
    expect(answer).to_contain_text("No note answers this. These passages are the nearest:")
    expect(answer.locator(".vault-indexer-sentence")).to_have_count(0)
    answer.locator(".vault-indexer-passage a").first.click()
    plugin.wait("() => window.host.tabs()[0]?.path")


MODEL = {"name": "openai/m", "host": "example.org", "is_local": False}


@pytest.fixture
def modelled(plugin: PluginPage) -> PluginPage:
    """A daemon that names a language model. Its answers are lines that the test lets go on."""
    plugin.evaluate(
        """model => {
            const ask = window.hostRequest;
            window.hostRequest = async (url, ...rest) => {
                const answer = await ask(url, ...rest);
                if (!url.endsWith("/v1/status")) return answer;
                const status = { ...JSON.parse(answer.text), language_model: model };
                return { ...answer, text: JSON.stringify(status) };
            };
        }""",
        MODEL,
    )
    return plugin


def test_nothing_goes_to_a_model_before_that_is_chosen(modelled: PluginPage) -> None:
    answer = ask(modelled, QUESTION)
    choice = answer.get_by_role("region", name="Before the first question")
    expect(choice).to_contain_text("are sent to example.org, another computer")
    assert questions(modelled) == []
    choice.get_by_role("button", name="Only quote my notes, send nothing").click()
    expect(answer.locator(".vault-indexer-reason").first).not_to_have_text("Searching…")
    expect(modelled.page.get_by_role("button", name="Let openai/m write them")).to_be_visible()
    expect(ask(modelled, QUESTION)).to_contain_text("notes")
    assert [one["model"] for one in questions(modelled)] == [False, False]


def test_sentences_arrive_one_by_one_and_the_answer_can_be_stopped(modelled: PluginPage) -> None:
    modelled.evaluate(
        """() => {
            window.parts = [];
            window.closings = 0;
            window.hostOpen = async () => ({ id: 1, status: 200 });
            window.hostNext = () => new Promise((resolve) => window.parts.push(resolve));
            window.hostClose = async () => { window.closings += 1; };
            window.send = (event, data) => window.parts.shift()(JSON.stringify({ event, data }) + "\\n");
        }"""
    )
    cited = {"path": FERRY, "title": "Ferry", "header_path": "", "start_line": 3, "quote": QUOTE}
    sentence = {"text": QUOTE, "citations": [{**cited, "id": "a"}], "unchecked": [], "reason": ""}
    answer = ask(modelled, QUESTION)
    answer.get_by_role("button", name="Send and let openai/m write").click()
    send = "([event, data]) => window.send(event, data)"
    modelled.wait("() => window.parts.length === 1")
    modelled.evaluate(send, ["passages", {"passages": [{}, {}]}])
    expect(answer).to_contain_text("openai/m reads 2 passages…")
    modelled.wait("() => window.parts.length === 1")
    modelled.evaluate(send, ["sentence", sentence])
    expect(answer.locator(".vault-indexer-sentence")).to_have_text(f"{QUOTE} 1")
    modelled.page.get_by_role("button", name="Stop").click()
    expect(answer).to_contain_text("Stopped. The answer is not complete.")
    assert modelled.evaluate("() => window.closings") == 1

    modelled.evaluate("() => { window.parts = []; }")
    ask(modelled, QUESTION)
    modelled.wait("() => window.parts.length === 1")
    dropped = {**sentence, "text": "It leaves at dawn.", "reason": "no passage says so"}
    whole = {"kind": "written", "model": "openai/m", "sentences": [sentence], "dropped": [dropped]}
    modelled.evaluate(send, ["answer", {**whole, "passages": [], "missing_words": [], "notices": []}])
    modelled.wait("() => window.parts.length === 1")
    modelled.evaluate("() => window.parts.shift()('')")
    expect(answer).to_contain_text("Written by openai/m, checked against your notes")
    answer.get_by_text("Left out (1)").click()
    expect(answer.get_by_text("It leaves at dawn. (no passage says so)")).to_be_visible()
    assert [one["model"] for one in questions(modelled)] == [True, True]
