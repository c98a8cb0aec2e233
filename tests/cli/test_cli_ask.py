"""`indexer ask QUESTION`: an answer a person can read and a program can check, and what it says otherwise."""

from __future__ import annotations

import pytest
from cli_sandbox import Sandbox

pytestmark = pytest.mark.long


@pytest.fixture
def indexed(reader: Sandbox) -> Sandbox:
    """Both ways to an answer have to be alike."""
    return reader


def test_quotes_with_their_places(indexed: Sandbox) -> None:
    ran = indexed.indexer("ask", "What does the telescope show on a clear night?")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[:3] == [
        "From your notes, word for word:",
        '  "The telescope shows the rings of Saturn on a clear night."',
        "      Sky/Night sky.md:3",
    ]


def test_json_has_each_sentence_with_its_citations(indexed: Sandbox) -> None:
    ran = indexed.indexer("ask", "--json", "-n", "3", "What does the telescope show on a clear night?")
    assert ran.code == 0, ran.err
    assert ran.data["kind"] == "quotes"
    assert ran.data["verdict"] in ("strong", "likely")
    sentences = ran.data["sentences"]
    assert isinstance(sentences, list)
    citation = sentences[0]["citations"][0]
    text = (indexed.vault / citation["path"]).read_text("utf-8")
    assert text[citation["start_pos"] : citation["end_pos"]] == citation["quote"] == sentences[0]["text"]
    assert (sentences[0]["verdict"], sentences[0]["reason"]) == ("quoted", "")
    passages = ran.data["passages"]
    assert isinstance(passages, list)
    assert 0 < len(passages) <= 3


def test_a_question_without_an_answer_is_declined(indexed: Sandbox) -> None:
    ran = indexed.indexer("ask", "Which quarterback won the Superbowl against Denver?")
    assert ran.code == 1
    assert ran.complains("No note answers this. No note has the words ", '"quarterback"', '"Superbowl"')
    assert ran.complains("Closest")
    assert ".md  " in ran.out
    told = indexed.indexer("ask", "--json", "Which quarterback won the Superbowl against Denver?")
    assert (told.code, told.data["kind"]) == (1, "declined")


def test_a_model_that_is_not_set_up_is_one_clear_line(copied: Sandbox) -> None:
    copied.write(".indexer.toml", "")
    config = copied.root / "config.toml"
    config.write_text(
        '[llm]\nprovider = "openai"\nmodel = "none"\nurl = "http://127.0.0.1:9/v1"\n'
        'api_key_env = "NO_SUCH_KEY"\n'
    )
    asked = ("ask", "--config", str(config), "What does the telescope show on a clear night?")
    ran = copied.indexer(*asked)
    assert (ran.code, ran.out) == (3, "")
    assert ran.complains("indexer:")
    assert len(ran.err.strip().splitlines()) == 1, ran.err
    without = copied.indexer(*asked, "--no-model")
    assert without.code == 0, without.err
    assert "rings of Saturn" in without.out
