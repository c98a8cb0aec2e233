"""An answer without a model: verbatim quotes, each with a citation that its file confirms."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from asked_vault import AskedVault, asked_vault
from golden_cases import check_golden

from vault_indexer import open_vault
from vault_indexer.model import AnswerSentence, AskAnswer


def test_the_sentence_that_answers_is_quoted_first_as_it_stands_in_its_file(notes: AskedVault) -> None:
    def first(question: str) -> str:
        answer = notes.ask(question)
        assert (answer.kind, answer.model) == ("quotes", "")
        assert len(answer.sentences) <= 3
        for sentence in answer.sentences:
            (citation,) = sentence.citations
            text = notes.file(citation.path)
            assert sentence.verdict == "quoted"
            assert text[citation.start_pos : citation.end_pos] == citation.quote
            assert sentence.text == citation.quote.replace("**", "")
            assert citation.sha256 == hashlib.sha256(citation.quote.encode()).hexdigest()
            assert citation.quote in text.split("\n")[citation.start_line - 1]
            assert citation.start_line == citation.end_line
            assert citation.uri.startswith("file://")
        return answer.sentences[0].text

    check_golden(Path(__file__).parent / "fixtures" / "quotes.md", {"": first})


@pytest.mark.parametrize(
    "question", ["Which line: when was the lighthouse built?", 'When was the "lighthouse built?']
)
def test_punctuation_of_prose_is_no_mistake_in_a_query(notes: AskedVault, question: str) -> None:
    answer = notes.ask(question)
    assert answer.question == question
    assert answer.sentences[0].text == "The lighthouse was built in 1887 by Helen Marsh."


def test_a_citation_names_headings_and_block(notes: AskedVault) -> None:
    (lantern, *_) = notes.ask("How often does the lantern of the lighthouse turn?").sentences
    citation = lantern.citations[0]
    assert (citation.path, citation.block) == ("Places/Sumner Point.md", "lantern")
    assert citation.header_path == "Sumner Point > The lighthouse"
    assert citation.id.startswith("Places/Sumner Point.md#^lantern@")
    (sale, *_) = notes.ask("To whom was the keeper's cottage sold in 1991?").sentences
    assert sale.citations[0].block == "sale"
    (stairs, *_) = notes.ask("How many steps do the stairs have?").sentences
    assert stairs.citations[0].block == ""


def test_neither_headings_nor_frontmatter_nor_comments_are_quoted(notes: AskedVault) -> None:
    for question in ("lighthouse of Sumner Point", "Was the keeper a ghost?", "lighthouse comment hidden"):
        for sentence in notes.ask(question).sentences:
            assert "ghost" not in sentence.text
            assert "hidden" not in sentence.text
            assert not sentence.text.startswith("#")
            assert sentence.text != "The lighthouse"


def test_a_question_on_nothing_here_is_declined(notes: AskedVault) -> None:
    answer = notes.ask("Which quarterback won the Superbowl against Denver?")
    assert (answer.kind, answer.verdict) == ("declined", "none")
    assert answer.sentences == ()
    assert answer.passages  # the nearest, as such
    assert {"quarterback", "Superbowl", "Denver"} <= set(answer.missing_words)
    assert not {"which", "the"} & {word.lower() for word in answer.missing_words}


QUESTION_WITHOUT_ANSWER = (
    "does whiskey contain rye starter barley malt distillery bourbon cask oak peat smoke smell"
)


def test_a_weak_verdict_gives_passages_only(notes: AskedVault, tmp_path: Path) -> None:
    with open_vault(notes.vault, tmp_path / "index", embedding={"provider": "wordllama"}) as vault:
        answer = vault.ask(QUESTION_WITHOUT_ANSWER, use_model=False)
    assert (answer.kind, answer.verdict, answer.sentences) == ("passages", "weak", ())
    assert answer.passages


def test_a_weak_verdict_without_a_sentence_that_says_enough_is_declined(notes: AskedVault) -> None:
    """The passages are there to be read all the same."""
    answer = notes.ask("how many grams of flour does the parliament tax by law")
    assert (answer.kind, answer.verdict, answer.sentences) == ("declined", "weak", ())
    assert {"parliament", "tax", "law"} <= set(answer.missing_words)
    assert answer.passages


def test_the_events_are_passages_then_sentences_then_the_answer(notes: AskedVault) -> None:
    first, *sentences, last = notes.events("When was the lighthouse at Sumner Point built?")
    assert isinstance(first, AskAnswer)
    assert first.passages
    assert not first.sentences
    assert isinstance(last, AskAnswer)
    assert tuple(sentences) == last.sentences
    assert all(isinstance(one, AnswerSentence) for one in sentences)


def test_the_options_of_answers_rebuild_nothing(notes: AskedVault) -> None:
    index = notes.vault.parent / "index"
    with open_vault(notes.vault, index, ask={"sentences": 1, "limit": 4}, index={"workers": 1}) as vault:
        answer = vault.ask("What grows in the beds that are watered at dusk?", use_model=False)
    with notes.reader.holder.lease() as snapshot:
        assert answer.index.generation == snapshot.generation
    assert len(answer.sentences) <= 1
    assert len(answer.passages) <= 4


@pytest.mark.parametrize(
    "harbour",
    [
        "# Harbour\n\n- The crane lifts forty tons.\n- The crane is painted red. ^crane",
        "The crane is painted red. ^crane\n\nIt lifts forty tons.\n",
    ],
    ids=["last line without a line break", "first line"],
)
def test_the_block_of_the_first_and_last_line_of_a_file_is_known(tmp_path: Path, harbour: str) -> None:
    with asked_vault(tmp_path, {"Harbour.md": harbour, "Other.md": "# Other\n\nNothing of that."}) as asked:
        first = asked.ask("What colour is the crane painted, red?").sentences[0]
    assert (first.text, first.citations[0].block) == ("The crane is painted red.", "crane")
